/* SPDX-License-Identifier: MIT */
/* play_hip.c - scenarios of HIP: counted kernels, copies, graphs, events, the cost of a launch
 *
 * Threads: those of a scenario; each has its own streams.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "selftest/account.h"
#include "selftest/play.h"

#define STREAMS_MAX 16
#define THREADS_MAX 64
#define GROUPS 4 /* of 64 work-items, of each launch */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* Loads the kernels on a device: those for the ISA that it has. HIP may number GPUs otherwise than
 * HSA, or hide some. */
static hip_module load_module(const struct runtime_gpus *found, int device)
{
	hip_module module = NULL;
	int status = -1;

	for (unsigned int i = 0; i < found->nr && status; i++) {
		struct kernels_code code;

		play_code(found->gpus[((unsigned int)device + i) % found->nr].isa, &code);
		/* the code stays: the runtime may refer to it */
		status = hip.ModuleLoadData(&module, code.bytes);
	}
	if (status)
		account_fail("hipModuleLoadData: HIP error %d %s", status,
			     hip.GetErrorString(status));
	return module;
}

unsigned int play_open(struct play_gpu gpus[RUNTIME_GPUS_MAX], unsigned int devices)
{
	static const uint32_t zeros[PLAY_COUNTERS];
	struct runtime_gpus found;
	int nr = 0;

	runtime_load_hip();
	runtime_load_hsa();
	if (hip.GetDeviceCount(&nr) || nr < 1)
		account_lack("HIP shows no GPU");
	HSA(init());
	runtime_find_gpus(&found);
	if (!found.nr)
		account_lack("HSA shows no GPU");
	if (devices && (unsigned int)nr > devices)
		nr = (int)devices;
	if (nr > RUNTIME_GPUS_MAX)
		nr = RUNTIME_GPUS_MAX;
	for (int i = 0; i < nr; i++) {
		struct play_gpu *g = &gpus[i];
		hip_module module;

		g->device = i;
		HIP(SetDevice(i));
		module = load_module(&found, i);
		HIP(ModuleGetFunction(&g->count_a, module, KERNELS_COUNT_A));
		HIP(ModuleGetFunction(&g->count_b, module, KERNELS_COUNT_B));
		HIP(ModuleGetFunction(&g->spin, module, KERNELS_SPIN));
		HIP(Malloc((void **)&g->counters, PLAY_COUNTERS * sizeof(uint32_t)));
		/* a fill would make HIP compile its own kernels, which takes half a second */
		HIP(Memcpy(g->counters, zeros, sizeof(zeros), HIP_HOST_TO_DEVICE));
	}
	account_number("gpus", (uint64_t)nr);
	return (unsigned int)nr;
}

void play_read(const struct play_gpu *gpu, uint32_t out[PLAY_COUNTERS])
{
	HIP(SetDevice(gpu->device));
	HIP(Memcpy(out, gpu->counters, PLAY_COUNTERS * sizeof(uint32_t), HIP_DEVICE_TO_HOST));
}

void play_launch(const struct play_gpu *gpu, hip_function kernel, int counter, hip_stream stream)
{
	uint32_t *at = gpu->counters + counter;
	void *args[] = { &at };

	HIP(ModuleLaunchKernel(kernel, GROUPS, 1, 1, 64, 1, 1, 0, stream, args, NULL));
}

/* ---- counted kernels ------------------------------------------------------------------------- */

struct launcher {
	pthread_t thread;
	const struct play_gpu *gpu;
	unsigned int streams, launches;
};

static void *launch_all(void *arg)
{
	const struct launcher *l = arg;
	hip_stream streams[STREAMS_MAX];

	HIP(SetDevice(l->gpu->device));
	for (unsigned int i = 0; i < l->streams; i++)
		HIP(StreamCreateWithFlags(&streams[i], HIP_STREAM_NON_BLOCKING));
	for (unsigned int i = 0; i < l->launches; i++) {
		bool b = i / l->streams % 2;

		play_launch(l->gpu, b ? l->gpu->count_b : l->gpu->count_a, b ? PLAY_B : PLAY_A,
			    streams[i % l->streams]);
	}
	for (unsigned int i = 0; i < l->streams; i++) {
		HIP(StreamSynchronize(streams[i]));
		HIP(StreamDestroy(streams[i]));
	}
	return NULL;
}

/* What the kernels have counted, of all GPUs and of each. */
static void report_counts(const struct play_gpu *gpus, unsigned int nr)
{
	uint64_t a = 0, b = 0;

	for (unsigned int i = 0; i < nr; i++) {
		uint32_t counters[PLAY_COUNTERS];
		char key[32];

		play_read(&gpus[i], counters);
		a += counters[PLAY_A];
		b += counters[PLAY_B];
		snprintf(key, sizeof(key), "gpu%u_counted", i);
		account_number(key, counters[PLAY_A] + counters[PLAY_B]);
	}
	account_number("counted_a", a);
	account_number("counted_b", b);
}

void play_counts(const struct play_gpu *gpus, unsigned int nr, unsigned int threads,
		 unsigned int streams, unsigned int launches)
{
	struct launcher launchers[THREADS_MAX];
	uint64_t a = 0;

	threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	streams = streams < STREAMS_MAX ? streams : STREAMS_MAX;
	account_number("first_ns", runtime_now_ns());
	for (unsigned int i = 0; i < threads; i++) {
		launchers[i] = (struct launcher){ .gpu = &gpus[i % nr],
						  .streams = streams,
						  .launches = launches };
		if (pthread_create(&launchers[i].thread, NULL, launch_all, &launchers[i]))
			account_fail("a thread can't be made");
		for (unsigned int k = 0; k < launches; k++)
			a += k / streams % 2 == 0;
	}
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(launchers[i].thread, NULL);
	account_number("last_ns", runtime_now_ns());
	account_number("threads", threads);
	account_number("launched_a", a);
	account_number("launched_b", (uint64_t)threads * launches - a);
	report_counts(gpus, nr);
}

void play_count(void)
{
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	unsigned int nr = play_open(gpus, (unsigned int)play_number("devices", 0));
	unsigned int threads = (unsigned int)play_number("threads", 2);

	play_counts(gpus, nr, threads < nr ? nr : threads, (unsigned int)play_number("streams", 2),
		    (unsigned int)play_number("launches", 50));
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Sizes that differ, so that a copy can be recognised by its bytes. */
#define COPY_BYTES(n) ((size_t)(1 << 20) + 64 * (size_t)(n))

static void expect(const unsigned char *bytes, size_t size, unsigned int seed, const char *what)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != (unsigned char)(i * seed >> 3))
			account_fail("%s: byte %zu is %u, not %u", what, i, bytes[i],
				     (unsigned char)(i * seed >> 3));
}

void play_copies(void)
{
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	unsigned int rounds = (unsigned int)play_number("rounds", 4);
	unsigned char *host, *back, *first, *second;
	hip_stream stream;
	size_t size = COPY_BYTES(4);

	play_open(gpus, 1);
	HIP(SetDevice(0));
	HIP(StreamCreateWithFlags(&stream, HIP_STREAM_NON_BLOCKING));
	HIP(HostMalloc((void **)&host, size, 0));
	HIP(HostMalloc((void **)&back, size, 0));
	HIP(Malloc((void **)&first, size));
	HIP(Malloc((void **)&second, size));
	account_number("first_ns", runtime_now_ns());
	for (unsigned int r = 1; r <= rounds; r++) {
		for (size_t i = 0; i < size; i++)
			host[i] = (unsigned char)(i * r >> 3);
		memset(back, 0, size);
		HIP(MemcpyAsync(first, host, COPY_BYTES(0), HIP_HOST_TO_DEVICE, stream));
		HIP(MemcpyAsync(second, first, COPY_BYTES(0), HIP_DEVICE_TO_DEVICE, stream));
		HIP(MemcpyAsync(back, second, COPY_BYTES(0), HIP_DEVICE_TO_HOST, stream));
		HIP(StreamSynchronize(stream));
		expect(back, COPY_BYTES(0), r, "copied to the GPU, on it, and back");
		HIP(MemsetAsync(first, (int)(r + 100), COPY_BYTES(1), stream));
		HIP(MemcpyAsync(back, first, COPY_BYTES(1), HIP_DEVICE_TO_HOST, stream));
		HIP(StreamSynchronize(stream));
		for (size_t i = 0; i < COPY_BYTES(1); i++)
			if (back[i] != (unsigned char)(r + 100))
				account_fail("filled: byte %zu is %u, not %u", i, back[i], r + 100);
	}
	account_number("last_ns", runtime_now_ns());
	account_number("to_device", rounds);
	account_number("on_device", rounds);
	account_number("to_host", 2 * (uint64_t)rounds);
	account_number("fills", rounds);
	account_number("bytes_to_device", rounds * COPY_BYTES(0));
	account_number("bytes_on_device", rounds * COPY_BYTES(0));
	account_number("bytes_to_host", rounds * (COPY_BYTES(0) + COPY_BYTES(1)));
	account_number("bytes_filled", rounds * COPY_BYTES(1));
	HIP(StreamDestroy(stream));
}

/* ---- graphs ---------------------------------------------------------------------------------- */

void play_graphs(void)
{
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	unsigned int nodes = (unsigned int)play_number("nodes", 10);
	unsigned int replays = (unsigned int)play_number("replays", 20);
	uint32_t counters[PLAY_COUNTERS];
	hip_stream stream;
	hip_graph graph;
	hip_exec exec;

	play_open(gpus, 1);
	HIP(SetDevice(0));
	HIP(StreamCreateWithFlags(&stream, HIP_STREAM_NON_BLOCKING));
	HIP(StreamBeginCapture(stream, HIP_CAPTURE_THREAD_LOCAL));
	for (unsigned int i = 0; i < nodes; i++)
		play_launch(&gpus[0], gpus[0].count_a, PLAY_A, stream);
	HIP(StreamEndCapture(stream, &graph));
	HIP(StreamSynchronize(stream));
	play_read(&gpus[0], counters);
	if (counters[PLAY_A])
		account_lack(
			"this HIP runs kernels of modules instead of capturing them in a graph "
			"(seen with 5.2)");
	HIP(GraphInstantiate(&exec, graph, NULL, NULL, 0));
	account_number("first_ns", runtime_now_ns());
	for (unsigned int i = 0; i < replays; i++) {
		play_launch(&gpus[0], gpus[0].count_b, PLAY_B, stream);
		HIP(GraphLaunch(exec, stream));
	}
	HIP(StreamSynchronize(stream));
	account_number("last_ns", runtime_now_ns());
	account_number("launched_a", (uint64_t)nodes * replays);
	account_number("launched_b", replays);
	play_read(&gpus[0], counters);
	account_number("counted_a", counters[PLAY_A]);
	account_number("counted_b", counters[PLAY_B]);
	account_number("replays", replays);
	/* the graph and its stream stay: HIP 7.2.4 may hang in its exit handlers if they were
	 * destroyed (2 of 14 untraced runs on the virtual GPU, none without) */
}

/* ---- events ---------------------------------------------------------------------------------- */

static void spin(const struct play_gpu *gpu, uint32_t rounds, hip_stream stream)
{
	uint32_t *at = gpu->counters + PLAY_SPIN;
	void *args[] = { &at, &rounds };

	HIP(ModuleLaunchKernel(gpu->spin, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
}

/* The time between two events with `kernels` kernels in between, in us. */
static double time_events(const struct play_gpu *gpu, uint32_t rounds, unsigned int kernels,
			  hip_stream stream)
{
	hip_event begin, end;
	float ms = 0;

	HIP(EventCreate(&begin));
	HIP(EventCreate(&end));
	HIP(EventRecord(begin, stream));
	for (unsigned int i = 0; i < kernels; i++)
		spin(gpu, rounds, stream);
	HIP(EventRecord(end, stream));
	HIP(EventSynchronize(end));
	HIP(EventElapsedTime(&ms, begin, end));
	HIP(EventDestroy(begin));
	HIP(EventDestroy(end));
	return (double)ms * 1e3;
}

/* Rounds for which a kernel lasts about 200 us; 1000 to begin with. */
static uint32_t calibrate(const struct play_gpu *gpu, hip_stream stream)
{
	double us;

	time_events(gpu, 1000, 1, stream); /* the first one loads the code */
	us = time_events(gpu, 100000, 1, stream) - time_events(gpu, 1000, 1, stream);
	if (us < 1)
		return 100000;
	return (uint32_t)(99000 / us * 200) + 1;
}

void play_events(void)
{
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	unsigned int pairs = (unsigned int)play_number("pairs", 20);
	unsigned int kernels = (unsigned int)play_number("kernels", 8);
	uint32_t rounds = (uint32_t)play_number("rounds", 0), counters[PLAY_COUNTERS];
	hip_stream stream;

	play_open(gpus, 1);
	HIP(SetDevice(0));
	HIP(StreamCreateWithFlags(&stream, HIP_STREAM_NON_BLOCKING));
	if (!rounds)
		rounds = calibrate(&gpus[0], stream);
	time_events(&gpus[0], rounds, kernels, stream);
	account_number("rounds", rounds);
	account_number("kernels", kernels);
	account_number("first_ns", runtime_now_ns());
	for (unsigned int i = 0; i < pairs; i++)
		account_add("elapsed_us", "%.3f", time_events(&gpus[0], rounds, kernels, stream));
	account_number("last_ns", runtime_now_ns());
	play_read(&gpus[0], counters);
	account_number("counted_spin", counters[PLAY_SPIN]);
	HIP(StreamDestroy(stream));
}

/* ---- the cost of a launch -------------------------------------------------------------------- */

void play_overhead(void)
{
	struct play_gpu gpus[RUNTIME_GPUS_MAX];
	unsigned int batches = (unsigned int)play_number("batches", 20);
	unsigned int launches = (unsigned int)play_number("launches", 100);
	hip_stream stream;

	play_open(gpus, 1);
	HIP(SetDevice(0));
	HIP(StreamCreateWithFlags(&stream, HIP_STREAM_NON_BLOCKING));
	for (unsigned int b = 0; b <= batches; b++) {
		uint64_t begin = now_ns(), ns;

		for (unsigned int i = 0; i < launches; i++)
			play_launch(&gpus[0], gpus[0].count_a, PLAY_A, stream);
		ns = now_ns() - begin;
		HIP(StreamSynchronize(stream));
		if (b) /* the first one warms up */
			account_add("launch_ns", "%.1f", (double)ns / launches);
	}
	HIP(StreamDestroy(stream));
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* HIP is not needed here: without it the checks of HSA remain. */
static void probe_hip(void)
{
	int nr = 0, version = 0;

	runtime_load_hip();
	if (hip.GetDeviceCount(&nr))
		nr = 0;
	account_number("hip_gpus", (uint64_t)nr);
	if (hip.RuntimeGetVersion(&version) == 0)
		account_number("hip_version", (uint64_t)version);
	account_add("hip_path", "%s", runtime_path_of((const void *)hip.GetDeviceCount));
}

void play_probe(void)
{
	struct runtime_gpus found;
	uint16_t major = 0, minor = 0;

	runtime_load_hsa();
	if (hsa.init() != HSA_STATUS_SUCCESS)
		account_lack("hsa_init() fails: HSA finds no GPU that it can use");
	runtime_find_gpus(&found);
	HSA(system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major));
	HSA(system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor));
	account_add("hsa_version", "%u.%u", major, minor);
	account_add("hsa_path", "%s", runtime_path_of((const void *)hsa.init));
	account_number("gpus", found.nr);
	for (unsigned int i = 0; i < found.nr; i++) {
		char key[32];

		snprintf(key, sizeof(key), "gpu%u_isa", i);
		account_add(key, "%s", found.gpus[i].isa);
		snprintf(key, sizeof(key), "gpu%u_name", i);
		account_add(key, "%s", found.gpus[i].name);
		snprintf(key, sizeof(key), "gpu%u_units", i);
		account_number(key, found.gpus[i].units);
	}
	if (!found.nr)
		account_lack("HSA shows no GPU");
	account_write(); /* a compiler may crash */
	for (unsigned int i = 0; i < found.nr; i++) {
		struct kernels_code code;

		play_code(found.gpus[i].isa, &code);
		if (code.compiler[0])
			account_add("compiler", "%s", code.compiler);
		account_number("code_bytes", code.size);
	}
	account_write();
	probe_hip();
}
