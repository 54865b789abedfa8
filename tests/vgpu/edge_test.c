/* SPDX-License-Identifier: MIT */
/* edge_test.c - memory and code that is freed under running kernels, scratch memory, copies from
 * invalid memory
 *
 *	edge_test freed|unloaded|overlap|stray
 *	edge_test form NUMBER
 *
 * Prints what test_exec.py reads; any failure ends the program with status 1.
 */
#include "hsa_machine.h"
#include "work.h"

enum { ITEMS = 64, BIG = 32 << 20, NR = 8 };

/* The memory that a kernel reads is freed, or its code is: a memory fault, as on hardware. */
static void freed(bool code)
{
	struct kernel watch = load_kernel("kernels.co", "watch.kd");
	hsa_queue_t *q = new_queue(0, 64);
	uint64_t *kernarg = allocate(4096);
	hsa_kernel_dispatch_packet_t p = dispatch_of(&watch, ITEMS, ITEMS, kernarg);
	void *data = allocate(BIG);

	HSA(hsa_amd_register_system_event_handler(on_system_event, NULL));
	kernarg[0] = (uintptr_t)data;
	submit(q, &p);
	usleep(30000);
	printf("%s %p\n", code ? "code" : "data", code ? (void *)(uintptr_t)watch.object : data);
	fflush(stdout);
	if (code)
		HSA(hsa_executable_destroy(watch.exec));
	else
		HSA(hsa_amd_memory_pool_free(data));
	sleep(20);
}

/* Several simultaneous kernels of one queue with scratch memory, which the runtime has to enlarge
 * twice. */
static void overlap(void)
{
	struct kernel work[] = { load_kernel("kernels.co", "work.kd"),
				 load_kernel("kernels.co", "work_more.kd") };
	static int own[WORK_MORE];
	hsa_queue_t *q = new_queue(0, 64);
	hsa_signal_t done[NR];
	int *out = allocate(NR * 4096);

	CHECK(work[0].private_size >= WORK * 4 && work[1].private_size >= WORK_MORE * 4);
	for (int n = 0; n < NR; n++) {
		uint64_t *kernarg = allocate(4096);
		hsa_kernel_dispatch_packet_t p =
			dispatch_of(&work[n / 2 % 2], ITEMS, ITEMS, kernarg);
		int seed = n * 1000 + 7;

		kernarg[0] = (uintptr_t)(out + n * 1024);
		memcpy(&kernarg[1], &seed, sizeof(seed));
		done[n] = submit(q, &p);
	}
	for (int n = 0; n < NR; n++) {
		int want = worked(own, n / 2 % 2 ? WORK_MORE : WORK, n * 1000 + 7);

		wait_done(done[n]);
		for (int i = 0; i < ITEMS; i++)
			CHECK(out[n * 1024 + i] == want);
	}
	printf("overlap ok\n");
}

/* A copy from an invalid address. */
static void stray(void)
{
	void *data = allocate(BIG);

	HSA(hsa_amd_register_system_event_handler(on_system_event, NULL));
	HSA(hsa_amd_memory_async_copy(data, gpus[0], (void *)0x123456000, cpu, 1 << 20, 0, NULL,
				      new_signal(1)));
	sleep(20);
}

/* A packet of a wrong form: the queue ends with the runtime's status for it. */
static void form(int number)
{
	static const hsa_status_t expected[] = {
		HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
		HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
		HSA_STATUS_ERROR_INVALID_ARGUMENT,	 HSA_STATUS_ERROR_INVALID_ARGUMENT,
		HSA_STATUS_ERROR_INVALID_ALLOCATION,	 HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
		HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,	 HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
	};
	struct kernel nothing = load_kernel("kernels.co", "nothing.kd");
	hsa_kernel_dispatch_packet_t good = dispatch_of(&nothing, 64, 64, NULL), p = good;
	hsa_queue_t *q = new_queue(0, 64);

	if (number < 3)
		p.setup = (uint16_t[]){ 0, 4, 7 }[number];
	else if (number == 3)
		p.grid_size_y = 0;
	else if (number == 4)
		p.workgroup_size_z = 0;
	else if (number == 5)
		p.workgroup_size_y = 17; /* of 1088 work-items */
	else if (number == 6)
		p.group_segment_size = (64 << 10) + 4;
	else if (number == 7)
		p.header = header(HSA_PACKET_TYPE_AGENT_DISPATCH, false);
	else if (number == 8)
		p.header = header((hsa_packet_type_t)9, false);
	else /* the third 16 bits are of a vendor packet's format */
		p.header = header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, false), p.setup = 77;
	/* and with more scratch memory than there is, which is not asked for */
	if (number < 7)
		p.private_segment_size = 1u << 31;
	printf("queue %llu error 0x%x\n", (unsigned long long)q->id,
	       (unsigned int)expected[number]);
	fflush(stdout);
	/* kernels before it run, and it does not */
	wait_done(submit(q, &good));
	submit(q, &p);
	sleep(20);
	printf("no error\n");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	open_agents();
	if (!strcmp(what, "freed") || !strcmp(what, "unloaded"))
		freed(!strcmp(what, "unloaded"));
	else if (!strcmp(what, "overlap"))
		overlap();
	else if (!strcmp(what, "stray"))
		stray();
	else if (!strcmp(what, "form") && argc > 2)
		form((int)strtol(argv[2], NULL, 10));
	else
		CHECK(!"what to do");
	return 0;
}
