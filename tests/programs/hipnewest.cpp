/* SPDX-License-Identifier: MIT */
/* hipnewest.cpp - calls functions of HIP 7 that HIP 5.2 lacks, and records each call with its
 * arguments
 *
 *	hipnewest module=KERNELS.co way=dlsym|entry|past threads=1 rounds=1 account=FILE
 *
 * It is compiled with the headers of any HIP: it declares types and prototypes of newer functions,
 * and looks the functions up at run time: by dlsym(), by hipGetDriverEntryPoint(), or by dlvsym(),
 * which no tool interposes. `threads` do the same work at once, `rounds` times.
 *
 * FILE gets one JSON object for each call of these functions: {"tid", "api", "status", "args"};
 * args are arguments as rtl writes them. Status 77: this HIP lacks the functions.
 */
#include "hip_common.hpp"

#include <dlfcn.h>
#include <initializer_list>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <vector>

struct launch_config {
	dim3 grid, block;
	size_t shared;
	hipStream_t stream;
	void *attributes;
	unsigned int nr_attributes;
};

struct driver_launch_config {
	unsigned int grid[3], block[3], shared;
	hipStream_t stream;
	void *attributes;
	unsigned int nr_attributes;
};

struct location {
	int type, id;
};
enum { ON_DEVICE = 1 };

struct copy_operand {
	int type;
	void *ptr;
	size_t row_length, layer_height;
	location hint;
};
enum { POINTER = 1 };

struct copy_3d {
	copy_operand src, dst;
	hipExtent extent;
	int order;
	unsigned int flags;
};
enum { STREAM_ORDER = 1 };

struct peer_copy_3d {
	void *src_array;
	hipPos src_pos;
	hipPitchedPtr src;
	int src_device;
	void *dst_array;
	hipPos dst_pos;
	hipPitchedPtr dst;
	int dst_device;
	hipExtent extent;
};

typedef struct newest_library *library_t;
typedef struct newest_kernel *kernel_t;
typedef unsigned long long ull;

#define FUNCTIONS(X)                                                                               \
	X(hipLaunchKernelExC, const launch_config *, const void *, void **)                        \
	X(hipDrvLaunchKernelEx, const driver_launch_config *, hipFunction_t, void **, void **)     \
	X(hipMemcpyBatchAsync, void **, void **, size_t *, size_t, void *, size_t *, size_t,       \
	  size_t *, hipStream_t)                                                                   \
	X(hipMemcpy3DBatchAsync, size_t, copy_3d *, size_t *, ull, hipStream_t)                    \
	X(hipMemcpy3DPeer, peer_copy_3d *)                                                         \
	X(hipMemcpy3DPeerAsync, peer_copy_3d *, hipStream_t)                                       \
	X(hipMemsetD2D8, void *, size_t, unsigned char, size_t, size_t)                            \
	X(hipMemsetD2D16Async, void *, size_t, unsigned short, size_t, size_t, hipStream_t)        \
	X(hipMemsetD2D32, void *, size_t, unsigned int, size_t, size_t)                            \
	X(hipModuleGetFunctionCount, unsigned int *, hipModule_t)                                  \
	X(hipModuleLoadFatBinary, hipModule_t *, const void *)                                     \
	X(hipStreamGetId, hipStream_t, ull *)                                                      \
	X(hipStreamCopyAttributes, hipStream_t, hipStream_t)                                       \
	X(hipMemPrefetchAsync_v2, const void *, size_t, location, unsigned int, hipStream_t)       \
	X(hipMemAdvise_v2, const void *, size_t, int, location)                                    \
	X(hipOccupancyAvailableDynamicSMemPerBlock, size_t *, const void *, int, int)              \
	X(hipLibraryLoadData, library_t *, const void *, int *, void **, unsigned int, int *,      \
	  void **, unsigned int)                                                                   \
	X(hipLibraryLoadFromFile, library_t *, const char *, int *, void **, unsigned int, int *,  \
	  void **, unsigned int)                                                                   \
	X(hipLibraryGetKernel, kernel_t *, library_t, const char *)                                \
	X(hipLibraryGetKernelCount, unsigned int *, library_t)                                     \
	X(hipLibraryEnumerateKernels, kernel_t *, unsigned int, library_t)                         \
	X(hipKernelGetName, const char **, kernel_t)                                               \
	X(hipKernelGetLibrary, library_t *, kernel_t)                                              \
	X(hipLibraryUnload, library_t)

static struct {
#define MEMBER(name, ...) hipError_t (*name)(__VA_ARGS__);
	FUNCTIONS(MEMBER)
#undef MEMBER
} newest;

typedef hipError_t (*entry_point_fn)(const char *symbol, void **fn, ull flags, int *result);

static std::mutex account_lock;
static FILE *account;

typedef std::initializer_list<std::string> arguments;

static std::string number(const char *name, long long value)
{
	return std::string(name) + "=" + std::to_string(value);
}

static std::string address(const char *name, const void *value)
{
	char text[128];

	snprintf(text, sizeof(text), "%s=0x%lx", name, (unsigned long)value);
	return text;
}

static std::string quoted(const char *name, const char *value)
{
	return std::string(name) + "=\\\"" + value + "\\\"";
}

static std::string size(const char *name, dim3 value)
{
	char text[128];

	snprintf(text, sizeof(text), "%s={%u,%u,%u}", name, value.x, value.y, value.z);
	return text;
}

static void note(const char *api, hipError_t status, arguments args)
{
	std::string line;

	for (const std::string &arg : args)
		line += (line.empty() ? "\"" : ", \"") + arg + "\"";
	std::lock_guard<std::mutex> guard(account_lock);
	if (account)
		fprintf(account,
			"{\"tid\": %ld, \"api\": \"%s\", \"status\": %d, \"args\": [%s]}\n",
			(long)syscall(SYS_gettid), api, (int)status, line.c_str());
}

/* CALL(function, (arguments), arguments as text); it must succeed, and one that may fail. */
#define TRY(fn, call, ...)                                                                         \
	do {                                                                                       \
		hipError_t result_ = newest.fn call;                                               \
		note(#fn, result_, { __VA_ARGS__ });                                               \
	} while (0)
#define CALL(fn, call, ...)                                                                        \
	do {                                                                                       \
		hipError_t result_ = newest.fn call;                                               \
		note(#fn, result_, { __VA_ARGS__ });                                               \
		HIP(result_);                                                                      \
	} while (0)

extern "C" __global__ void newest_add(int *p, int value)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

enum { COUNT = 4096, BYTES = COUNT * sizeof(int) };

/* A thread's resources. */
struct work {
	hipStream_t stream, other;
	int *host, *from, *to;
	const char *path;
	std::vector<char> image;
	bool good;
};

static void check(work &w, const char *what, bool good)
{
	if (!good)
		fprintf(stderr, "hipnewest: %s: wrong\n", what);
	w.good &= good;
}

static void launches(work &w)
{
	launch_config c = { dim3(8, 1, 1), dim3(64, 1, 1), 128, w.stream, NULL, 0 };
	driver_launch_config d = { { 3, 2, 1 }, { 64, 1, 1 }, 64, w.stream, NULL, 0 };
	int value = 5;
	void *args[] = { &w.from, &value };
	hipFunction_t function;
	hipModule_t module, fat;
	unsigned int nr = 0;
	size_t lds_bytes = 0;

	HIP(hipMemset(w.from, 0, BYTES));
	CALL(hipLaunchKernelExC, (&c, (const void *)newest_add, args), address("config", &c),
	     size("*config.gridDim", c.grid), size("*config.blockDim", c.block),
	     number("*config.dynamicSmemBytes", 128), address("*config.stream", w.stream),
	     number("*config.numAttrs", 0), address("args", args),
	     quoted("kernelName", "newest_add"));
	HIP(hipModuleLoad(&module, w.path));
	HIP(hipModuleGetFunction(&function, module, "flood_short"));
	CALL(hipModuleGetFunctionCount, (&nr, module), address("count", &nr), number("*count", nr),
	     address("mod", module));
	CALL(hipDrvLaunchKernelEx, (&d, function, args, NULL), number("*config.gridDimX", 3),
	     number("*config.gridDimY", 2), number("*config.blockDimX", 64),
	     number("*config.sharedMemBytes", 64), address("*config.hStream", w.stream),
	     address("f", function), quoted("kernelName", "flood_short"));
	HIP(hipStreamSynchronize(w.stream));
	HIP(hipMemcpy(w.host, w.from, BYTES, hipMemcpyDeviceToHost));
	check(w, "launches", w.host[0] == 1 && w.host[64] == 5 && w.host[511] == 5 && !w.host[512]);
	TRY(hipModuleLoadFatBinary, (&fat, w.image.data()), address("fatbin", w.image.data()));
	TRY(hipOccupancyAvailableDynamicSMemPerBlock, (&lds_bytes, (const void *)newest_add, 1, 64),
	    address("f", (const void *)newest_add), number("numBlocks", 1),
	    number("blockSize", 64));
	HIP(hipModuleUnload(module));
	/* clears the error for the next check */
	(void)hipGetLastError();
}

static void copies(work &w)
{
	int *host = w.host, *from = w.from, *to = w.to;
	void *dsts[] = { from, from + 1024, from + 2048 },
	     *srcs[] = { host, host + 1024, host + 2048 };
	size_t sizes[] = { 4096, 2048, 1024 }, failed = 0;
	hipExtent extent = { 256, 4, 2 };
	peer_copy_3d peer = {};
	copy_3d ops[2] = {};

	for (int i = 0; i < COUNT; i++)
		host[i] = i;
	HIP(hipMemset(from, 0, BYTES));
	CALL(hipMemcpyBatchAsync, (dsts, srcs, sizes, 3, NULL, NULL, 0, &failed, w.stream),
	     address("dsts", dsts), address("*dsts", from), address("*srcs", host),
	     number("*sizes", 4096), number("totalBytes", 7168), number("count", 3),
	     number("numAttrs", 0), address("stream", w.stream));
	HIP(hipStreamSynchronize(w.stream));
	for (int i = 0; i < 2; i++) {
		ops[i].src = { POINTER, from + 512 * i, 256, 4, { ON_DEVICE, 0 } };
		ops[i].dst = { POINTER, to + 512 * i, 256, 4, { ON_DEVICE, 0 } };
		ops[i].extent = extent;
		ops[i].order = STREAM_ORDER;
	}
	TRY(hipMemcpy3DBatchAsync, (2, ops, &failed, 0, w.stream), number("numOps", 2),
	    address("opList", ops), address("stream", w.stream));
	peer.src = { from, 256, 256, 4 };
	peer.dst = { to, 256, 256, 4 };
	peer.extent = extent;
	TRY(hipMemcpy3DPeer, (&peer), address("p", &peer));
	TRY(hipMemcpy3DPeerAsync, (&peer, w.stream), address("p", &peer),
	    address("stream", w.stream));
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(host, from, BYTES, hipMemcpyDeviceToHost));
	check(w, "batch",
	      host[1023] == 1023 && host[1024] == 1024 && host[1535] == 1535 && !host[1536] &&
		      host[2048] == 2048 && !host[2304]);
	(void)hipGetLastError();
}

static void fills(work &w)
{
	location here = { ON_DEVICE, 0 };
	size_t pitch = 1024;

	HIP(hipMemset(w.to, 0, BYTES));
	CALL(hipMemsetD2D8, (w.to, pitch, 7, 16, 2), address("dst", w.to),
	     number("dstPitch", pitch), number("value", 7), number("width", 16),
	     number("height", 2));
	CALL(hipMemsetD2D16Async, (w.to + 1024, pitch, 0x102, 16, 3, w.stream),
	     address("dst", w.to + 1024), number("value", 0x102), number("width", 16),
	     number("height", 3), address("stream", w.stream));
	CALL(hipMemsetD2D32, (w.to + 2048, pitch, 9, 10, 4), number("value", 9),
	     number("width", 10), number("height", 4));
	TRY(hipMemPrefetchAsync_v2, (w.to, BYTES, here, 0, w.stream), address("dev_ptr", w.to),
	    number("count", BYTES), number("location.id", 0), address("stream", w.stream));
	TRY(hipMemAdvise_v2, (w.to, BYTES, 1, here), number("count", BYTES),
	    number("location.id", 0));
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(w.host, w.to, BYTES, hipMemcpyDeviceToHost));
	check(w, "fills",
	      w.host[0] == 0x7070707 && w.host[3 + 256] == 0x7070707 && !w.host[4] &&
		      w.host[1024] == 0x1020102 && w.host[1024 + 7 + 512] == 0x1020102 &&
		      w.host[2048 + 9 + 768] == 9 && !w.host[2048 + 10]);
	(void)hipGetLastError();
}

static void libraries(work &w)
{
	driver_launch_config d = { { 2, 1, 1 }, { 64, 1, 1 }, 0, w.stream, NULL, 0 };
	launch_config c = { dim3(4, 1, 1), dim3(32, 1, 1), 0, w.stream, NULL, 0 };
	void *args[] = { &w.from };
	library_t library = NULL, its = NULL, file = NULL;
	kernel_t kernel = NULL, other = NULL, kernels[4] = {};
	const char *name = NULL;
	unsigned int nr = 0;

	CALL(hipLibraryLoadData, (&library, w.image.data(), NULL, NULL, 0, NULL, NULL, 0),
	     address("*library", library), address("code", w.image.data()),
	     address("jitOptions", NULL), number("numJitOptions", 0),
	     number("numLibraryOptions", 0));
	CALL(hipLibraryGetKernel, (&kernel, library, "flood_long"), address("pKernel", &kernel),
	     address("*pKernel", kernel), address("library", library),
	     quoted("name", "flood_long"));
	CALL(hipLibraryGetKernelCount, (&nr, library), number("*count", nr),
	     address("library", library));
	CALL(hipLibraryEnumerateKernels, (kernels, nr, library), address("kernels", kernels),
	     number("numKernels", nr), address("library", library));
	CALL(hipKernelGetName, (&name, kernel), address("name", &name), quoted("*name", name),
	     address("kernel", kernel));
	/* it was unloaded with the library */
	check(w, "libraries", nr == 2 && !strcmp(name, "flood_long"));
	TRY(hipKernelGetLibrary, (&its, kernel), address("*library", its),
	    address("kernel", kernel));
	HIP(hipMemset(w.from, 0, BYTES));
	TRY(hipDrvLaunchKernelEx, (&d, (hipFunction_t)kernel, args, NULL),
	    number("*config.gridDimX", 2), address("f", kernel),
	    quoted("kernelName", "flood_long"));
	/* one whose function was never queried */
	CALL(hipLibraryGetKernel, (&other, library, "flood_short"), address("*pKernel", other),
	     quoted("name", "flood_short"));
	TRY(hipLaunchKernelExC, (&c, (const void *)other, args), size("*config.gridDim", c.grid),
	    size("*config.blockDim", c.block), address("fPtr", other),
	    quoted("kernelName", "flood_short"));
	HIP(hipStreamSynchronize(w.stream));
	CALL(hipLibraryUnload, (library), address("library", library));
	CALL(hipLibraryLoadFromFile, (&file, w.path, NULL, NULL, 0, NULL, NULL, 0),
	     address("*library", file), quoted("fileName", w.path), number("numLibraryOptions", 0));
	CALL(hipLibraryUnload, (file), address("library", file));
	(void)hipGetLastError();
}

static void streams(work &w)
{
	ull id = 0;

	CALL(hipStreamGetId, (w.stream, &id), address("stream", w.stream), address("streamId", &id),
	     number("*streamId", (long long)id));
	TRY(hipStreamCopyAttributes, (w.other, w.stream), address("dst", w.other),
	    address("src", w.stream));
	(void)hipGetLastError();
}

static void read_image(work &w)
{
	FILE *f = fopen(w.path, "rb");
	char block[4096];
	size_t n;

	if (!f) {
		perror(w.path);
		_exit(1);
	}
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		w.image.insert(w.image.end(), block, block + n);
	fclose(f);
}

static void do_work(const char *path, long rounds, bool *good)
{
	work w = {};

	w.good = true;
	w.path = path;
	read_image(w);
	HIP(hipStreamCreate(&w.stream));
	HIP(hipStreamCreate(&w.other));
	HIP(hipHostMalloc((void **)&w.host, BYTES, 0));
	HIP(hipMalloc((void **)&w.from, BYTES));
	HIP(hipMalloc((void **)&w.to, BYTES));
	for (long i = 0; i < rounds; i++) {
		streams(w);
		launches(w);
		copies(w);
		fills(w);
		libraries(w);
	}
	HIP(hipFree(w.to));
	HIP(hipFree(w.from));
	HIP(hipHostFree(w.host));
	HIP(hipStreamDestroy(w.other));
	HIP(hipStreamDestroy(w.stream));
	*good = w.good;
}

static void *look_up(void *lib, const char *way, const char *name)
{
	static const char *const versions[] = { "hip_6.5", "hip_7.1", "hip_7.2" };
	entry_point_fn entry_point = (entry_point_fn)dlsym(lib, "hipGetDriverEntryPoint");
	void *fn = NULL;
	int result = -1;

	if (!strcmp(way, "dlsym"))
		return dlsym(lib, name);
	if (!strcmp(way, "entry"))
		return entry_point && entry_point(name, &fn, 0, &result) == hipSuccess ? fn : NULL;
	for (const char *version : versions)
		if ((fn = dlvsym(lib, name, version)))
			break;
	return fn;
}

int main(int argc, char **argv)
{
	const char *path = arg_text(argc, argv, "account", NULL);
	const char *way = arg_text(argc, argv, "way", "dlsym");
	long nr = arg_num(argc, argv, "threads", 1), devices = 0;
	void *lib = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_NOLOAD);
	std::vector<std::thread> threads;
	std::vector<char> good((size_t)nr);
	int count = 0;

#define LOOK(name, ...)                                                                            \
	newest.name = (hipError_t(*)(__VA_ARGS__))(lib ? look_up(lib, way, #name) : NULL);         \
	if (!newest.name) {                                                                        \
		printf("hipnewest: this HIP has no %s\n", #name);                                  \
		return 77;                                                                         \
	}
	FUNCTIONS(LOOK)
	if (path && !(account = fopen(path, "w"))) {
		perror(path);
		return 1;
	}
	HIP(hipGetDeviceCount(&count));
	devices = count;
	for (long i = 0; i < nr; i++)
		threads.emplace_back(do_work, arg_text(argc, argv, "module", ""),
				     arg_num(argc, argv, "rounds", 1), (bool *)&good[(size_t)i]);
	for (std::thread &t : threads)
		t.join();
	for (char g : good)
		if (!g)
			return 1;
	printf("hipnewest: %ld devices, right\n", devices);
	return account && fclose(account);
}
