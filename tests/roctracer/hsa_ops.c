/* SPDX-License-Identifier: MIT */
/* hsa_ops.c - a program of HSA's alone that wants records of its operations
 *
 *	hsa_ops [op=OP] [gpu=N] [hip=LIBRARY]
 *
 * Dispatches flood_short 5 times, flood_long 3 times, copies, and once more flood_short after
 * roctracer_stop(). Prints each record as a line, and at the end what is wrong. `op`: only that one
 * is enabled; `hip`: loaded before HSA is used.
 */
#include "../programs/hsa_common.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_hsa.h"

#if GENERATION == 4
#define NAME(record) ((record)->kernel_name)
#else
#define NAME(record) ((record)->bytes ? "bytes" : "")
#endif

static struct machine machine;
static int nr_wrong;
static atomic_int nr_copies;

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	nr_wrong++;
}

static void on_records(const char *begin, const char *end, void *arg)
{
	const activity_record_t *r = (const void *)begin, *last = (const void *)end;

	(void)arg;
	for (; r < last; roctracer_next_record(r, &r)) {
		if (r->domain != ACTIVITY_DOMAIN_HSA_OPS || r->kind || !r->correlation_id)
			wrong("domain, kind or id of a record");
		if (r->begin_ns == 0 || r->begin_ns >= r->end_ns)
			wrong("times of a record");
		printf("%s %llu %llu", roctracer_op_string(r->domain, r->op, r->kind),
		       (unsigned long long)r->begin_ns, (unsigned long long)r->end_ns);
		if (r->op == HSA_OP_ID_COPY) {
			printf(" bytes %zu\n", r->bytes);
			nr_copies++;
			continue;
		}
		printf(" device %d %s\n", r->device_id, NAME(r));
	}
}

static void dispatch(hsa_queue_t *queue, struct kernel *kernel, int nr)
{
	hsa_signal_t done = signal_new(nr);

	for (int i = 0; i < nr; i++) {
		hsa_kernel_dispatch_packet_t p =
			packet_dispatch(&machine, kernel, 64, 64, true, done);

		submit(queue, &p);
	}
	signal_wait_le(done, 0, "kernels");
	HSA(hsa_signal_destroy(done));
}

static void copy(struct gpu *gpu)
{
	hsa_signal_t done = signal_new(1);

	HSA(hsa_amd_memory_async_copy((char *)machine.kernarg + 2048, gpu->agent, machine.kernarg,
				      gpu->agent, 1024, 0, NULL, done));
	signal_wait_le(done, 0, "copy");
	HSA(hsa_signal_destroy(done));
}

int main(int argc, char **argv)
{
	uint64_t op = arg_num(argc, argv, "op", HSA_OP_ID_NUMBER);
	uint32_t which = (uint32_t)arg_num(argc, argv, "gpu", 0);
	const char *hip = arg_text(argc, argv, "hip", NULL);
	roctracer_properties_t props = { .buffer_size = 4096, .buffer_callback_fun = on_records };
	struct gpu *gpu;
	hsa_queue_t *queue;

	if (hip && !dlopen(hip, RTLD_NOW | RTLD_GLOBAL))
		wrong(dlerror());
	if (roctracer_open_pool(&props))
		wrong("open");
	if (op == HSA_OP_ID_NUMBER ?
		    roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_OPS) :
		    roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_OPS, (uint32_t)op))
		wrong("enable");
	machine_open(&machine);
	gpu = &machine.gpus[which];
	queue = queue_open(&machine, which, 64, HSA_QUEUE_TYPE_SINGLE);
	dispatch(queue, &gpu->short_kernel, 5);
	dispatch(queue, &gpu->long_kernel, 3);
	copy(gpu);
	HSA(hsa_queue_destroy(queue));
	/* kernels' records are there when their queue is gone, a copy's some time after its
	 * signal */
	for (int i = 0; i < 2000 && op != HSA_OP_ID_DISPATCH && !nr_copies; i++) {
		sleep_ms(1);
		if (roctracer_flush_activity())
			wrong("flush");
	}
	if (roctracer_flush_activity())
		wrong("flush");
	printf("-- stopped\n");
	roctracer_stop();
	queue = queue_open(&machine, which, 64, HSA_QUEUE_TYPE_SINGLE);
	dispatch(queue, &gpu->short_kernel, 1);
	HSA(hsa_queue_destroy(queue));
	roctracer_start();
	HSA(hsa_shut_down());
	if (roctracer_close_pool())
		wrong("close");
	printf("wrong %d\n", nr_wrong);
	return nr_wrong != 0;
}
