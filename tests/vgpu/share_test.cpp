/* SPDX-License-Identifier: MIT */
/* share_test.cpp - memory and events that processes and GPUs share, and what kernels ask of the
 * host
 *
 *	share_test [PART...]
 *
 * The program starts itself as the second process. Any wrong result is printed.
 */
#include "hip_parts.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace
{

void check(bool good, const char *what)
{
	if (!good) {
		printf("wrong %s\n", what);
		failures++;
	}
}

__global__ void add_to(uint32_t *p, uint32_t n, uint32_t v)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] += v + i;
}

/* Waits for *flag to become `want`, then answers. */
__global__ void answer(uint32_t *flag, uint32_t want, uint32_t reply)
{
	while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != want)
		;
	__hip_atomic_store(flag, reply, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

std::string hex(const void *p, size_t n)
{
	std::string out;
	char two[3];

	for (size_t i = 0; i < n; i++) {
		snprintf(two, sizeof(two), "%02x", ((const unsigned char *)p)[i]);
		out += two;
	}
	return out;
}

void unhex(const char *text, void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((unsigned char *)p)[i] =
			(unsigned char)strtoul(std::string(text + 2 * i, 2).c_str(), NULL, 16);
}

/* Starts this program again. */
pid_t start(std::vector<std::string> args)
{
	std::vector<char *> argv;
	static std::string self = "/proc/self/exe";
	pid_t child;

	argv.push_back(&self[0]);
	for (auto &a : args)
		argv.push_back(&a[0]);
	argv.push_back(nullptr);
	fflush(stdout);
	child = fork();
	if (!child) {
		execv("/proc/self/exe", argv.data());
		_exit(127);
	}
	return child;
}

void end(pid_t child, const char *what)
{
	int status = -1;

	waitpid(child, &status, 0);
	check(status == 0, what);
}

constexpr uint32_t count = 5000;

/* ---- memory of another process ---- */

void ipc_memory()
{
	hipIpcMemHandle_t handle;
	std::vector<uint32_t> host(count, 7);
	uint32_t *block, *p;
	pid_t child;

	/* small ones have a handle with an offset */
	HIP(hipMalloc(&block, 4096));
	HIP(hipMalloc(&p, (count + 1) * 4));
	HIP(hipMemcpy(p, host.data(), count * 4, hipMemcpyHostToDevice));
	HIP(hipMemset(p + count, 0, 4));
	HIP(hipIpcGetMemHandle(&handle, p));
	child = start({ "--memory", hex(&handle, sizeof(handle)) });
	/* while the other process runs, a kernel here and one there talk to each other */
	answer<<<1, 1>>>(p + count, 1, 2);
	HIP(hipDeviceSynchronize());
	end(child, "end of the process that opened the memory");
	HIP(hipMemcpy(host.data(), p, count * 4, hipMemcpyDeviceToHost));
	for (uint32_t i = 0; i < count; i++) {
		if (host[i] != 7 + 100 + i) {
			check(false, "memory that the other process has changed");
			break;
		}
	}
	HIP(hipFree(p));
	HIP(hipFree(block));
}

/* The one flag that there is has the value 0 in older versions, 1 in newer ones. */
hipError_t open_memory(uint32_t **p, hipIpcMemHandle_t handle)
{
	return hipIpcOpenMemHandle((void **)p, handle, 0) == hipSuccess ?
		       hipSuccess :
		       hipIpcOpenMemHandle((void **)p, handle, 1);
}

int opened_memory(const char *text)
{
	hipIpcMemHandle_t handle;
	uint32_t *p, flag = 1;
	int version;

	unhex(text, &handle, sizeof(handle));
	HIP(open_memory(&p, handle));
	add_to<<<(count + 255) / 256, 256>>>(p, count, 100);
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(p + count, &flag, 4, hipMemcpyHostToDevice));
	answer<<<1, 1>>>(p + count, 2, 3);
	HIP(hipDeviceSynchronize());
	HIP(hipIpcCloseMemHandle(p));
	/* a handle of a process that does not exist; newer runtimes ask the other process, which
	 * never answers that it has no such */
	HIP(hipRuntimeGetVersion(&version));
	((uint32_t *)&handle)[1] = 0x7ffffff0;
	if (version < 60000000)
		check(open_memory(&p, handle) != hipSuccess, "handle of no process");
	return failures;
}

/* HIP 5.2 can't unregister memory that the GPU has at the host's address: it aborts. */
void destroy(hipEvent_t event)
{
	int version;

	HIP(hipRuntimeGetVersion(&version));
	if (version >= 50300000)
		HIP(hipEventDestroy(event));
}

void ipc_event()
{
	hipIpcEventHandle_t handle;
	hipEvent_t event;
	uint32_t *p;
	pid_t child;

	HIP(hipMalloc(&p, count * 4));
	HIP(hipMemset(p, 0, count * 4));
	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventInterprocess));
	HIP(hipIpcGetEventHandle(&handle, event));
	add_to<<<(count + 255) / 256, 256>>>(p, count, 1);
	HIP(hipEventRecord(event, nullptr));
	child = start({ "--event", hex(&handle, sizeof(handle)) });
	end(child, "end of the process that opened the event");
	destroy(event);
	HIP(hipFree(p));
}

int opened_event(const char *text)
{
	hipIpcEventHandle_t handle;
	hipEvent_t event;

	unhex(text, &handle, sizeof(handle));
	HIP(hipIpcOpenEventHandle(&event, handle));
	HIP(hipEventSynchronize(event));
	HIP(hipStreamWaitEvent(nullptr, event, 0));
	HIP(hipDeviceSynchronize());
	check(hipEventQuery(event) == hipSuccess, "query of the other process's event");
	destroy(event);
	return failures;
}

/* ---- several GPUs ---- */

void peers()
{
	std::vector<uint32_t> host(count);
	uint32_t *near, *far;
	int nr, can;

	HIP(hipGetDeviceCount(&nr));
	check(nr > 1, "number of GPUs");
	HIP(hipDeviceCanAccessPeer(&can, 0, 1));
	check(can, "peer access");
	HIP(hipSetDevice(1));
	HIP(hipMalloc(&far, count * 4));
	HIP(hipMemset(far, 0, count * 4));
	HIP(hipDeviceSynchronize());
	HIP(hipSetDevice(0));
	HIP(hipDeviceEnablePeerAccess(1, 0));
	HIP(hipMalloc(&near, count * 4));
	/* a kernel of GPU 0 in the memory of GPU 1 */
	add_to<<<(count + 255) / 256, 256>>>(far, count, 5);
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpyPeer(near, 0, far, 1, count * 4));
	HIP(hipMemcpyPeerAsync(far, 1, near, 0, count * 4, nullptr));
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(host.data(), far, count * 4, hipMemcpyDeviceToHost));
	for (uint32_t i = 0; i < count; i++) {
		if (host[i] != 5 + i) {
			check(false, "memory of the other GPU");
			break;
		}
	}
	check(hipDeviceEnablePeerAccess(1, 0) == hipErrorPeerAccessAlreadyEnabled,
	      "second enabling");
	HIP(hipDeviceDisablePeerAccess(1));
	HIP(hipFree(near));
	HIP(hipFree(far));
}

/* ---- values that streams write and wait for ---- */

void stream_values()
{
	hipStream_t first, second;
	uint32_t *p, word = 0;
	uint64_t *wide;
	void *signal;

	HIP(hipExtMallocWithFlags(&signal, 8, hipMallocSignalMemory));
	wide = (uint64_t *)signal;
	HIP(hipMalloc(&p, count * 4));
	HIP(hipMemset(p, 0, count * 4));
	HIP(hipStreamCreate(&first));
	HIP(hipStreamCreate(&second));
	*wide = 0;
	HIP(hipStreamWaitValue32(second, signal, 3, hipStreamWaitValueGte, 0xff));
	add_to<<<(count + 255) / 256, 256, 0, second>>>(p, count, 9);
	usleep(20000);
	check(hipStreamQuery(second) == hipErrorNotReady, "stream that waits for a value");
	HIP(hipStreamWriteValue32(first, signal, 4, 0));
	HIP(hipStreamSynchronize(second));
	HIP(hipMemcpy(&word, p + 3, 4, hipMemcpyDeviceToHost));
	check(word == 12, "kernel behind the value");
	HIP(hipStreamWaitValue64(second, signal, 1ull << 40, hipStreamWaitValueAnd, 1ull << 40));
	HIP(hipStreamWriteValue64(first, signal, 1ull << 40, 0));
	HIP(hipStreamSynchronize(second));
	HIP(hipStreamSynchronize(first));
	check(*wide == 1ull << 40, "value of 64 bits");
	HIP(hipStreamDestroy(first));
	HIP(hipStreamDestroy(second));
	HIP(hipFree(signal));
	HIP(hipFree(p));
}

/* ---- kernels that call the host ---- */

__global__ void say(int from)
{
	printf("kernel %d lane %d: %s %.2f %lld\n", from, (int)threadIdx.x, "text", 1.5 * from,
	       (long long)from << 40);
}

void prints()
{
	say<<<1, 3>>>(1);
	say<<<1, 1>>>(2);
	HIP(hipDeviceSynchronize());
}

/* The assertion ends the process, or is an error of the next call. */
__global__ void assert_small(int n)
{
	assert(n < 10 && "small");
}

void asserts()
{
	pid_t child = start({ "--assert" });
	int status = -1;

	waitpid(child, &status, 0);
	check(status != 0, "end by an assertion");
}

int failed_assertion()
{
	assert_small<<<1, 1>>>(5);
	HIP(hipDeviceSynchronize());
	assert_small<<<1, 1>>>(50);
	HIP(hipDeviceSynchronize());
	return 0;
}

const Part all_parts[] = { { "ipc_memory", ipc_memory }, { "ipc_event", ipc_event },
			   { "peers", peers },		 { "stream_values", stream_values },
			   { "prints", prints },	 { "asserts", asserts } };

} /* namespace */

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--memory"))
		return opened_memory(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--event"))
		return opened_event(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "--assert"))
		return failed_assertion();
	run_parts(all_parts, argc, argv, [](const Part &part) {
		int before = failures;

		part.run();
		fflush(stdout);
		printf("%s %s\n", failures == before ? "ok" : "failed", part.name);
	});
	return verdict();
}
