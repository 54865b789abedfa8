/* SPDX-License-Identifier: MIT */
/* thunk_test.c - calls a library of the virtual GPU as a runtime of its version does
 *
 *     thunk_test layout LIBRARY 52|63|70|100    sizes and offsets of the data that the topology functions write
 *     thunk_test dtif LIBRARY NAMES         the calls of a 7.0 runtime to libdtif.so, and every name of the file NAMES
 *
 * The offsets are those of the thunk's headers of each version; nothing of vgpu/ is used.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hsakmt.h>

#include <hsa/hsa.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define OK(call) CHECK((call) == HSAKMT_STATUS_SUCCESS)

#define FILL 0xa5
#define AREA 1024
#define NODE 1u

static void *library;

static void *symbol(const char *name)
{
	void *p = dlsym(library, name);

	if (!p) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return p;
}

/* The function of this name, with its type in the headers of 5.2. */
#define KMT(name) ((__typeof__(&name))symbol(#name))

/* Later functions. */
typedef HSAKMT_STATUS (*align_fn)(HSAuint32, HSAuint64, HSAuint64, HsaMemFlags, void **);
typedef HSAKMT_STATUS (*available_fn)(HSAuint32, HSAuint64 *);
typedef HSAKMT_STATUS (*create_queue_fn)(HSAuint32, HSA_QUEUE_TYPE, HSAuint32, HSA_QUEUE_PRIORITY,
					 HSAuint32, void *, HSAuint64, HsaEvent *,
					 HsaQueueResource *);
typedef HSAKMT_STATUS (*create_queue_v2_fn)(HSAuint32, HSA_QUEUE_TYPE, HSAuint32,
					    HSA_QUEUE_PRIORITY, HSAuint32, void *, HSAuint64,
					    HSAuint64, HsaEvent *, HsaQueueResource *);
typedef HSAKMT_STATUS (*wall_clock_fn)(HSAuint32, uint64_t *);
typedef HSAKMT_STATUS (*ring_fn)(HSA_QUEUEID);
typedef HSAKMT_STATUS (*caps_fn)(HSAuint32 *);
typedef HSAKMT_STATUS (*model_fn)(bool *);
typedef HSAKMT_STATUS (*device_fn)(HSAuint32, void **);
typedef HSAKMT_STATUS (*wait_fn)(HsaEvent *, HSAuint32, uint64_t *);
typedef HSAKMT_STATUS (*waits_fn)(HsaEvent **, HSAuint32, bool, HSAuint32, uint64_t *);
typedef HSAKMT_STATUS (*event_fn)(HsaEvent *);
typedef int (*gpu_info_fn)(void *, void *);
typedef void *(*dtif_create_fn)(const char *);
typedef void (*dtif_destroy_fn)(void);

/* ---- layouts ---- */

enum { LAYOUTS = 4, NEWEST = 3 };

static const char *const layout_names[LAYOUTS] = { "52", "63", "70", "100" };
static const size_t node_sizes[LAYOUTS] = { 356, 360, 368, 396 };
static const size_t link_sizes[LAYOUTS] = { 48, 52, 52, 52 };
static const size_t cache_sizes[LAYOUTS] = { 1056, 1056, 1056, 1060 };

/* libdtif.so searches for this name in the memory of the caller of DtifCreate(), which is this program. */
static const char newest_name[] = "hsaKmtGetNodeWallclockFrequency";

/* Properties of node 1: offset by layout, bytes, value. */
static const struct field {
	const char *name;
	size_t at[LAYOUTS];
	size_t size;
	uint64_t value;
} fields[] = {
	{ "NumCPUCores", { 0, 0, 0, 0 }, 4, 0 },
	{ "NumFComputeCores", { 4, 4, 4, 4 }, 4, 256 },
	{ "NumMemoryBanks", { 8, 8, 12, 12 }, 4, 3 },
	{ "NumCaches", { 12, 12, 16, 16 }, 4, 2 },
	{ "NumIOLinks", { 16, 16, 20, 20 }, 4, 2 },
	{ "FComputeIdLo", { 24, 24, 28, 28 }, 4, 0x80000000 },
	{ "Capability", { 28, 28, 32, 32 }, 4, 2 << 12 | 1 << 3 },
	{ "MaxWavesPerSIMD", { 32, 32, 40, 40 }, 4, 10 },
	{ "LDSSizeInKB", { 36, 36, 44, 44 }, 4, 64 },
	{ "WaveFrontSize", { 44, 44, 52, 52 }, 4, 64 },
	{ "NumShaderBanks", { 48, 48, 56, 56 }, 4, 4 },
	{ "NumSIMDPerCU", { 60, 60, 68, 68 }, 4, 4 },
	{ "MaxSlotsScratchCU", { 64, 64, 72, 72 }, 4, 32 },
	{ "EngineId", { 68, 68, 76, 76 }, 4, 9 << 10 | 450 },
	{ "VendorId", { 72, 76, 84, 84 }, 2, 0x1002 },
	{ "DeviceId", { 74, 78, 86, 86 }, 2, 0x6860 },
	{ "LocationId", { 76, 80, 88, 88 }, 4, 0x100 },
	{ "DrmRenderMinor", { 96, 100, 108, 108 }, 4, 128 },
	{ "MarketingName", { 100, 104, 112, 112 }, 8, 0x0074007200690056 /* "Virt" */ },
	{ "AMDName", { 228, 232, 240, 240 }, 6, 0x303161676576 /* "vega10" */ },
	{ "uCodeEngineVersions", { 292, 296, 304, 304 }, 4, 430 },
	{ "NumSdmaEngines", { 312, 316, 324, 324 }, 4, 2 },
	{ "NumCpQueues", { 321, 325, 333, 333 }, 1, 24 },
	{ "UniqueID", { 328, 332, 340, 340 }, 8, 0x7667707500000000 },
	{ "VGPRSizePerCU", { 336, 340, 348, 348 }, 4, 256 * 1024 },
	{ "SGPRSizePerCU", { 340, 344, 352, 352 }, 4, 12800 },
	{ "NumXcc", { 344, 348, 356, 356 }, 4, 1 },
	{ "FamilyID", { 352, 356, 364, 364 }, 4, 141 },
};

/* Later members: offset by layout, 0: absent. */
static const struct field added[] = {
	{ "OverrideEngineId", { 0, 72, 80, 80 }, 4, 0 },
	{ "NumNeuralCores", { 0, 0, 8, 8 }, 4, 0 },
	{ "Capability2", { 0, 0, 36, 36 }, 4, 0 },
	{ "CtlStackSize", { 0, 0, 0, 372 }, 4, 0 },
	{ "WallClockKHz", { 0, 0, 0, 384 }, 8, 27000 },
	{ "FabricHandleSupported", { 0, 0, 0, 392 }, 4, 0 },
};

static bool is_untouched(const unsigned char *from, const unsigned char *to)
{
	while (from < to && *from == FILL)
		from++;
	return from == to;
}

static unsigned int check_field(const struct field *f, unsigned int layout, const void *props)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)props + f->at[layout], f->size);
	if (value == f->value)
		return 0;
	fprintf(stderr, "%s at %zu: %#llx, expected %#llx\n", f->name, f->at[layout],
		(unsigned long long)value, (unsigned long long)f->value);
	return 1;
}

static void check_links(unsigned int layout)
{
	unsigned char links[AREA];
	size_t size = link_sizes[layout];
	uint32_t ends[2];

	memset(links, FILL, sizeof(links));
	OK(KMT(hsaKmtGetNodeIoLinkProperties)(NODE, 2, (HsaIoLinkProperties *)links));
	for (uint32_t i = 0; i < 2; i++) {
		const unsigned char *link = links + i * size;
		uint32_t type;

		memcpy(&type, link, sizeof(type));
		memcpy(ends, link + 12, sizeof(ends));
		CHECK(type == HSA_IOLINKTYPE_PCIEXPRESS);
		CHECK(ends[0] == NODE && ends[1] == (i ? 2 : 0));
		/* RecSdmaEngIdMask: no preferred engine */
		for (size_t at = 48; at < size; at++)
			CHECK(link[at] == 0);
	}
	CHECK(is_untouched(links + 2 * size, links + AREA));
}

static void check_caches(unsigned int layout)
{
	size_t size = cache_sizes[layout];
	unsigned char caches[4 * AREA];

	memset(caches, FILL, sizeof(caches));
	OK(KMT(hsaKmtGetNodeCacheProperties)(NODE, 0, 2, (HsaCacheProperties *)caches));
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t level;

		memcpy(&level, caches + i * size + 4, sizeof(level));
		CHECK(level == i + 1);
	}
	CHECK(is_untouched(caches + 2 * size, caches + sizeof(caches)));
	CHECK(!is_untouched(caches + 2 * size - 1, caches + 2 * size));
}

static int test_layout(const char *name)
{
	unsigned char props[AREA];
	unsigned int layout = 0, wrong = 0;
	HsaSystemProperties sys;

	while (layout < LAYOUTS && strcmp(layout_names[layout], name) != 0)
		layout++;
	CHECK(layout < LAYOUTS);
	if (layout == NEWEST) {
		uint64_t hz = 0;

		CHECK(((dtif_create_fn)symbol("DtifCreate"))("HSA"));
		OK(KMT(hsaKmtOpenKFD)());
		OK(((wall_clock_fn)symbol(newest_name))(NODE, &hz));
		CHECK(hz == 27000000);
	} else {
		OK(KMT(hsaKmtOpenKFD)());
	}
	OK(KMT(hsaKmtAcquireSystemProperties)(&sys));
	CHECK(sys.NumNodes == 3);
	memset(props, FILL, sizeof(props));
	OK(KMT(hsaKmtGetNodeProperties)(NODE, (HsaNodeProperties *)props));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		wrong += check_field(&fields[i], layout, props);
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		if (added[i].at[layout])
			wrong += check_field(&added[i], layout, props);
	}
	CHECK(!wrong);
	CHECK(is_untouched(props + node_sizes[layout], props + AREA));
	CHECK(!is_untouched(props + node_sizes[layout] - 1, props + node_sizes[layout]));
	check_links(layout);
	check_caches(layout);
	OK(KMT(hsaKmtReleaseSystemProperties)());
	OK(KMT(hsaKmtCloseKFD)());
	return 0;
}

/* ---- libdtif.so ---- */

static void find_names(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[128];
	unsigned int nr = 0;

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!line[0] || line[0] == '#')
			continue;
		symbol(line);
		nr++;
	}
	fclose(f);
	printf("%u names found\n", nr);
}

/* In this mode a runtime polls its signals. */
static bool becomes(volatile int64_t *value, int64_t wanted)
{
	struct timespec ts = { .tv_nsec = 100000 };

	for (unsigned int i = 0; i < 100000; i++) {
		if (__atomic_load_n(value, __ATOMIC_ACQUIRE) == wanted)
			return true;
		nanosleep(&ts, NULL);
	}
	return false;
}

static void *memory[16];
static unsigned int nr_memory;

static void free_all(void)
{
	while (nr_memory)
		OK(KMT(hsaKmtFreeMemory)(memory[--nr_memory], 0));
}

static void *alloc(uint64_t size, uint64_t align)
{
	HsaMemFlags flags = { .Value = 0 };
	void *p = NULL;

	flags.ui32.HostAccess = 1;
	OK(((align_fn)symbol("hsaKmtAllocMemoryAlign"))(NODE, size, align, flags, &p));
	CHECK(!((uintptr_t)p & (align - 1)));
	CHECK(nr_memory < sizeof(memory) / sizeof(memory[0]));
	memory[nr_memory++] = p;
	memset(p, 0, size);
	return p;
}

static void start_up(void)
{
	HsaClockCounters clocks;
	uint64_t bytes = 0, info[64];
	uint32_t counter_khz;
	HSAuint32 caps = 1;
	HsaVersionInfo version;
	void *device = NULL;
	bool model = true;

	CHECK(((dtif_create_fn)symbol("DtifCreate"))("HSA"));
	OK(((model_fn)symbol("hsaKmtModelEnabled"))(&model));
	CHECK(!model);
	OK(KMT(hsaKmtOpenKFD)());
	CHECK(KMT(hsaKmtRuntimeEnable)(NULL, true) == HSAKMT_STATUS_NOT_SUPPORTED);
	OK(((caps_fn)symbol("hsaKmtGetRuntimeCapabilities"))(&caps));
	CHECK(caps == 0);
	OK(KMT(hsaKmtGetVersion)(&version));
	CHECK(version.KernelInterfaceMajorVersion == 1);
	OK(((device_fn)symbol("hsaKmtGetAMDGPUDeviceHandle"))(NODE, &device));
	CHECK(((gpu_info_fn)symbol("amdgpu_query_gpu_info"))(device, info) >= 0);
	memcpy(&counter_khz, (const char *)info + 72, sizeof(counter_khz));
	CHECK(counter_khz == 27000);
	OK(KMT(hsaKmtGetClockCounters)(NODE, &clocks));
	CHECK(clocks.SystemClockFrequencyHz);
	OK(((available_fn)symbol("hsaKmtAvailableMemory"))(NODE, &bytes));
	CHECK(bytes == 16ull << 30);
}

/* An AQL queue whose doorbell is a function: its memory is never written. `v2`: created as by ROCm 10. */
static void aql_queue(bool v2)
{
	const uint64_t slots = 64;
	amd_queue_t *aq = alloc(4096, 4096);
	unsigned char *ring = alloc(slots * 64, 1 << 16);
	amd_signal_t *done = alloc(4096, 4096);
	HsaQueueResource res = { .Queue_read_ptr_aql = (HSAuint64 *)&aq->read_dispatch_id };
	hsa_kernel_dispatch_packet_t *dispatch = (void *)ring;
	hsa_barrier_and_packet_t *barrier = (void *)(ring + 64);

	for (uint64_t i = 0; i < slots; i++)
		ring[i * 64] = HSA_PACKET_TYPE_INVALID;
	aq->hsa_queue.id = 1;
	aq->queue_properties = AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
	res.Queue_write_ptr_aql = (HSAuint64 *)&aq->write_dispatch_id;
	if (v2)
		OK(((create_queue_v2_fn)symbol(
			"hsaKmtCreateQueueV2"))(NODE, HSA_QUEUE_COMPUTE_AQL, 100,
						HSA_QUEUE_PRIORITY_NORMAL, 0, ring, slots * 64, 0,
						NULL, &res));
	else
		OK(((create_queue_fn)symbol("hsaKmtCreateQueueExt"))(NODE, HSA_QUEUE_COMPUTE_AQL,
								     100, HSA_QUEUE_PRIORITY_NORMAL,
								     0, ring, slots * 64, NULL,
								     &res));
	done[0].value = done[1].value = 1;
	dispatch->setup = 1;
	dispatch->workgroup_size_x = dispatch->workgroup_size_y = dispatch->workgroup_size_z = 1;
	dispatch->grid_size_x = dispatch->grid_size_y = dispatch->grid_size_z = 1;
	dispatch->kernel_object = (uintptr_t)alloc(4096, 4096);
	dispatch->completion_signal.handle = (uintptr_t)&done[0];
	barrier->completion_signal.handle = (uintptr_t)&done[1];
	__atomic_store_n(&dispatch->header, HSA_PACKET_TYPE_KERNEL_DISPATCH, __ATOMIC_RELEASE);
	__atomic_store_n(&barrier->header, HSA_PACKET_TYPE_BARRIER_AND | 1 << 8, __ATOMIC_RELEASE);
	__atomic_store_n(&aq->write_dispatch_id, 2, __ATOMIC_RELEASE);
	OK(((ring_fn)symbol("hsaKmtQueueRingDoorbell"))(res.QueueId));
	CHECK(becomes(&done[0].value, 0));
	CHECK(becomes(&done[1].value, 0));
	CHECK(done[0].end_ts > done[0].start_ts && done[0].start_ts);
	CHECK(__atomic_load_n(&aq->read_dispatch_id, __ATOMIC_ACQUIRE) == 2);
	CHECK(*res.Queue_DoorBell_aql == 0);
	OK(KMT(hsaKmtDestroyQueue)(res.QueueId));
}

/* The queue of a selected copy engine: its doorbell is memory. */
static void sdma_queue(void)
{
	enum { BY_ENGINE = 6, COPY_LINEAR = 1, FENCE = 5, BYTES = 10000 };
	uint32_t *ring = alloc(1 << 16, 1 << 16);
	unsigned char *src = alloc(BYTES, 4096), *dst = alloc(BYTES, 4096);
	uint32_t *fence = alloc(4096, 4096);
	HsaQueueResource res = { 0 };
	uint64_t size;

	for (unsigned int i = 0; i < BYTES; i++)
		src[i] = (unsigned char)(i * 7 + 1);
	OK(((create_queue_fn)symbol("hsaKmtCreateQueueExt"))(NODE, (HSA_QUEUE_TYPE)BY_ENGINE, 100,
							     HSA_QUEUE_PRIORITY_MAXIMUM, 1, ring,
							     1 << 16, NULL, &res));
	ring[0] = COPY_LINEAR;
	ring[1] = BYTES - 1;
	memcpy(&ring[3], &(uint64_t){ (uintptr_t)src }, 8);
	memcpy(&ring[5], &(uint64_t){ (uintptr_t)dst }, 8);
	ring[7] = FENCE;
	memcpy(&ring[8], &(uint64_t){ (uintptr_t)fence }, 8);
	ring[10] = 77;
	size = 11 * sizeof(ring[0]);
	__atomic_store_n(res.Queue_write_ptr_aql, size, __ATOMIC_RELEASE);
	__atomic_store_n(res.Queue_DoorBell_aql, size, __ATOMIC_RELEASE);
	CHECK(becomes((volatile int64_t *)fence, 77));
	CHECK(!memcmp(src, dst, BYTES));
	OK(KMT(hsaKmtDestroyQueue)(res.QueueId));
}

static void events(void)
{
	HsaEventDescriptor desc = { .EventType = HSA_EVENTTYPE_SIGNAL };
	wait_fn wait = (wait_fn)symbol("hsaKmtWaitOnEvent_Ext");
	event_fn query = (event_fn)symbol("hsaKmtQueryEventState");
	uint64_t age = 0;
	HsaEvent *event = NULL;

	OK(KMT(hsaKmtCreateEvent)(&desc, true, false, &event));
	CHECK(wait(event, 1, &age) == HSAKMT_STATUS_WAIT_TIMEOUT);
	CHECK(query(event) == HSAKMT_STATUS_WAIT_TIMEOUT);
	OK(KMT(hsaKmtSetEvent)(event));
	OK(query(event));
	OK(((waits_fn)symbol("hsaKmtWaitOnMultipleEvents_Ext"))(&event, 1, true, 1, &age));
	OK(KMT(hsaKmtResetEvent)(event));
	CHECK(wait(event, 1, &age) == HSAKMT_STATUS_WAIT_TIMEOUT);
	OK(KMT(hsaKmtDestroyEvent)(event));
	/* as a 7.0 runtime does at its end */
	CHECK(KMT(hsaKmtDestroyEvent)(NULL) != HSAKMT_STATUS_SUCCESS);
}

/* Two threads look at an event and then wait for it; the signal of between is taken by one, and by its age the other sees it, too. */
static void event_ages(void)
{
	HsaEventDescriptor desc = { .EventType = HSA_EVENTTYPE_SIGNAL };
	wait_fn wait = (wait_fn)symbol("hsaKmtWaitOnEvent_Ext");
	waits_fn waits = (waits_fn)symbol("hsaKmtWaitOnMultipleEvents_Ext");
	HsaEvent *events[2];
	uint64_t first = 1, second = 1, none = 0, ages[2];

	for (int i = 0; i < 2; i++)
		OK(KMT(hsaKmtCreateEvent)(&desc, false, false, &events[i]));
	/* an event begins with age 1: with another one the wait returns, and gets the present one */
	CHECK(wait(events[0], 1, &first) == HSAKMT_STATUS_WAIT_TIMEOUT && first == 1);
	OK(KMT(hsaKmtSetEvent)(events[0]));
	OK(wait(events[0], 1, &first));
	CHECK(first == 2);
	OK(wait(events[0], 1, &second));
	CHECK(second == 2);
	/* both are up to date; one without ages finds no signal that is left */
	CHECK(wait(events[0], 1, &first) == HSAKMT_STATUS_WAIT_TIMEOUT && first == 2);
	CHECK(wait(events[0], 1, &none) == HSAKMT_STATUS_WAIT_TIMEOUT && none == 0);
	/* of several events those that were signaled get theirs */
	OK(KMT(hsaKmtSetEvent)(events[1]));
	OK(KMT(hsaKmtSetEvent)(events[1]));
	ages[0] = 2;
	ages[1] = 1;
	CHECK(waits(events, 2, true, 1, ages) == HSAKMT_STATUS_WAIT_TIMEOUT && ages[1] == 1);
	OK(waits(events, 2, false, 1, ages));
	CHECK(ages[0] == 2 && ages[1] == 3);
	CHECK(waits(events, 2, false, 1, ages) == HSAKMT_STATUS_WAIT_TIMEOUT);
	for (int i = 0; i < 2; i++)
		OK(KMT(hsaKmtDestroyEvent)(events[i]));
}

static int test_dtif(const char *path, const char *names)
{
	for (unsigned int round = 0; round < 2; round++) {
		library = dlopen(path, RTLD_LAZY);
		CHECK(library);
		find_names(names);
		start_up();
		aql_queue(false);
		aql_queue(true);
		sdma_queue();
		events();
		event_ages();
		free_all();
		OK(KMT(hsaKmtReleaseSystemProperties)());
		OK(KMT(hsaKmtCloseKFD)());
		((dtif_destroy_fn)symbol("DtifDestroy"))();
		/* its thread still runs: the code must stay */
		CHECK(!dlclose(library));
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	if (strcmp(argv[1], "dtif") == 0)
		return test_dtif(argv[2], argv[3]);
	CHECK(strcmp(argv[1], "layout") == 0);
	library = dlopen(argv[2], RTLD_NOW);
	CHECK(library);
	return test_layout(argv[3]);
}
