/* SPDX-License-Identifier: MIT */
/* hsa_events.c - an HSA program with callbacks for HSA events
 *
 *	hsa_events [stop] [late] [quiet=EVENT]
 *
 * Prints each event as a line, with names instead of addresses, and at the end the number of
 * errors. `late`: packets are enabled after the queue was made; `quiet`: that event's callback is
 * removed.
 */
#include "../programs/hsa_common.h"

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_hsa.h"

#define SIZE 8192u

static struct machine machine;
static int argument, nr_wrong, nr_inner;
static void *pool_memory, *region_memory;
static const void *freed_last;
static hsa_queue_t *queue;
static hsa_executable_t executable;
static struct kernel kernel;
static hsa_amd_memory_pool_t gpu_pool;
static hsa_region_t gpu_region;
static hsa_kernel_dispatch_packet_t dispatch;

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	nr_wrong++;
}

static const char *name_of(const void *ptr)
{
	return !ptr		      ? "nothing" :
	       ptr == machine.kernarg ? "kernarg" :
	       ptr == pool_memory     ? "pool" :
	       ptr == region_memory   ? "region" :
					"new";
}

static void on_allocate(const hsa_evt_data_t *d)
{
	const char *what = d->allocate.is_code ? "code" : name_of(d->allocate.ptr);

	if (d->allocate.is_code && d->allocate.size)
		printf("allocate code some\n");
	else
		printf("allocate %s %zu segment %d flags %d\n", what, d->allocate.size,
		       (int)d->allocate.segment, (int)d->allocate.global_flag);
	if (!d->allocate.size)
		freed_last = d->allocate.ptr;
}

static void on_device(const hsa_evt_data_t *d)
{
	bool is_cpu = d->device.agent.handle == machine.cpu.handle;

	if ((d->device.type == HSA_DEVICE_TYPE_CPU) != is_cpu)
		wrong("type of an agent");
	printf("device %s id %u %s\n", is_cpu ? "cpu" : "gpu", d->device.id,
	       name_of(d->device.ptr));
}

static void on_code(const hsa_evt_data_t *d)
{
	if (!d->codeobj.load_base || !d->codeobj.load_size ||
	    d->codeobj.uri_length != strlen(d->codeobj.uri))
		wrong("a code object's address or URI");
	if ((d->codeobj.storage_file >= 0) != (d->codeobj.storage_type == 1))
		wrong("a code object's file");
	if ((d->codeobj.memory_base && d->codeobj.memory_size) != (d->codeobj.storage_type == 2))
		wrong("a code object's memory");
	printf("codeobj %s %.7s unload %d\n",
	       d->codeobj.storage_type == 1 ? "file" :
	       d->codeobj.storage_type == 2 ? "memory" :
					      "?",
	       d->codeobj.uri, d->codeobj.unload);
}

static void on_symbol(const hsa_evt_data_t *d)
{
	if (!d->ksymbol.object)
		wrong("a kernel without an object");
	printf("ksymbol %s length %u unload %d\n", d->ksymbol.name ? d->ksymbol.name : "(none)",
	       d->ksymbol.name_length, d->ksymbol.unload);
}

static void on_submit(const hsa_evt_data_t *d)
{
	const hsa_kernel_dispatch_packet_t *p = d->submit.packet;

	if (d->submit.queue != queue || d->submit.device_type != HSA_DEVICE_TYPE_GPU)
		wrong("queue or device of a packet");
	if (d->submit.kernel_name && memcmp(p, &dispatch, sizeof(*p)) != 0)
		wrong("a packet is not as it was written");
	printf("submit %s type %d id %u\n",
	       d->submit.kernel_name ? d->submit.kernel_name : "(none)", p->header & 0xff,
	       d->submit.device_id);
}

static void on_event(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	const hsa_evt_data_t *d = data;
	uint8_t far[256];

	if (domain != ACTIVITY_DOMAIN_HSA_EVT || arg != &argument)
		wrong("domain or argument");
	/* a client that takes it for another domain's data may read further */
	memcpy(far, data, sizeof(far));
	/* calls from a callback have no events */
	if (nr_inner++ == 0) {
		void *inner;

		if (roctracer_op_string(domain, cid, 0) == NULL)
			wrong("name of an event");
		if (gpu_pool.handle &&
		    hsa_amd_memory_pool_allocate(gpu_pool, 4096, 0, &inner) == HSA_STATUS_SUCCESS)
			hsa_amd_memory_pool_free(inner);
	}
	nr_inner--;
	switch (cid) {
	case HSA_EVT_ID_ALLOCATE:
		on_allocate(d);
		break;
	case HSA_EVT_ID_DEVICE:
		on_device(d);
		break;
	case HSA_EVT_ID_MEMCOPY:
		printf("memcopy %s %s %zu\n", name_of(d->memcopy.dst), name_of(d->memcopy.src),
		       d->memcopy.size);
		break;
	case HSA_EVT_ID_SUBMIT:
		on_submit(d);
		break;
	case HSA_EVT_ID_KSYMBOL:
		on_symbol(d);
		break;
	case HSA_EVT_ID_CODEOBJ:
		on_code(d);
		break;
	default:
		wrong("number of an event");
	}
}

static hsa_status_t on_gpu_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;

	(void)data;
	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment == HSA_AMD_SEGMENT_GLOBAL && !gpu_pool.handle)
		gpu_pool = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_region(hsa_region_t region, void *data)
{
	hsa_region_segment_t segment;
	bool may_allocate = false;

	(void)data;
	HSA(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment));
	HSA(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, &may_allocate));
	if (segment == HSA_REGION_SEGMENT_GLOBAL && may_allocate && !gpu_region.handle)
		gpu_region = region;
	return HSA_STATUS_SUCCESS;
}

static void load(void)
{
	hsa_code_object_reader_t reader;
	int fd = open_kernels();

	HSA(hsa_code_object_reader_create_from_file(fd, &reader));
	HSA(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				      NULL, &executable));
	HSA(hsa_executable_load_agent_code_object(executable, machine.gpus[0].agent, reader, NULL,
						  NULL));
	HSA(hsa_executable_freeze(executable, NULL));
	find_kernel(executable, machine.gpus[0].agent, "flood_short.kd", &kernel);
	HSA(hsa_code_object_reader_destroy(reader));
	close(fd);
}

static void memory(void)
{
	hsa_agent_t both[2] = { machine.gpus[0].agent, machine.cpu };
	hsa_signal_t done = signal_new(1);

	printf("-- memory\n");
	HSA(hsa_amd_memory_pool_allocate(gpu_pool, SIZE, 0, &pool_memory));
	HSA(hsa_amd_agents_allow_access(2, both, NULL, pool_memory));
	HSA(hsa_memory_allocate(gpu_region, SIZE, &region_memory));
	/* failed calls have no events */
	if (hsa_memory_allocate(gpu_region, (size_t)1 << 60, &(void *){ NULL }) ==
	    HSA_STATUS_SUCCESS)
		wrong("an exabyte");
	printf("-- copies\n");
	HSA(hsa_memory_copy(pool_memory, machine.kernarg, 64));
	HSA(hsa_amd_memory_async_copy(region_memory, machine.gpus[0].agent, pool_memory,
				      machine.gpus[0].agent, 128, 0, NULL, done));
	signal_wait_le(done, 0, "copy");
	HSA(hsa_signal_destroy(done));
}

static void packets(bool late)
{
	hsa_signal_t done, none = { 0 };
	hsa_barrier_and_packet_t barrier;

	printf("-- packets\n");
	if (late && roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_EVT, HSA_EVT_ID_SUBMIT))
		wrong("disable");
	queue = queue_open(&machine, 0, 64, HSA_QUEUE_TYPE_SINGLE);
	if (late && roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_EVT, HSA_EVT_ID_SUBMIT,
						 on_event, &argument))
		wrong("enable");
	done = signal_new(2);
	dispatch = packet_dispatch(&machine, &kernel, 64, 64, true, done);
	submit(queue, &dispatch);
	barrier = packet_barrier(HSA_PACKET_TYPE_BARRIER_AND, true, none, done);
	submit(queue, &barrier);
	signal_wait_le(done, 0, "packets");
	/* only enabled events are reported */
	if (roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_EVT, HSA_EVT_ID_SUBMIT))
		wrong("disable");
	hsa_signal_store_relaxed(done, 1);
	dispatch.completion_signal = done;
	submit(queue, &dispatch);
	signal_wait_le(done, 0, "packet");
	HSA(hsa_queue_destroy(queue));
	HSA(hsa_signal_destroy(done));
}

static void tear_down(void)
{
	printf("-- end\n");
	HSA(hsa_executable_destroy(executable));
	HSA(hsa_memory_free(region_memory));
	if (freed_last && freed_last != region_memory)
		wrong("what was freed");
	HSA(hsa_amd_memory_pool_free(pool_memory));
}

int main(int argc, char **argv)
{
	bool stop = argc > 1 && strcmp(argv[1], "stop") == 0;
	bool late = argc > 1 && strcmp(argv[1], "late") == 0;
	uint64_t quiet = arg_num(argc, argv, "quiet", HSA_EVT_ID_NUMBER);

	if (roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT, on_event, &argument))
		wrong("enable");
	if (quiet < HSA_EVT_ID_NUMBER &&
	    roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_EVT, (uint32_t)quiet))
		wrong("disable");
	if (stop)
		roctracer_stop();
	machine_open(&machine);
	HSA(hsa_amd_agent_iterate_memory_pools(machine.gpus[0].agent, on_gpu_pool, NULL));
	HSA(hsa_agent_iterate_regions(machine.gpus[0].agent, on_region, NULL));
	printf("-- code\n");
	load();
	memory();
	packets(late);
	tear_down();
	if (roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT))
		wrong("disable");
	HSA(hsa_amd_memory_pool_free(machine.kernarg));
	HSA(hsa_shut_down());
	/* a second life of the runtime */
	if (roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_EVT, HSA_EVT_ID_CODEOBJ, on_event,
					 &argument))
		wrong("enable");
	printf("-- again\n");
	machine_open(&machine);
	HSA(hsa_shut_down());
	printf("wrong %d\n", nr_wrong);
	return nr_wrong != 0;
}
