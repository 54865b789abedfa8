/* SPDX-License-Identifier: MIT */
/* copyways.cpp - copies in every way that HIP and HSA have, each of a size of its own, on two GPUs
 *
 * Prints for each what the program named: "copy BYTES KIND SOURCE DESTINATION", with c for the host
 * and the number of a GPU. Every result is checked; the last line has the number of wrong ones.
 */
#include <cstdio>
#include <cstring>
#include <vector>

#include <hip/hip_runtime.h>
#include <hsa/hsa.h>

#include "hip_common.hpp"

static __device__ char table[8192];
static int wrong;

static void named(size_t bytes, const char *kind, const char *src, const char *dst)
{
	printf("copy %zu %s %s %s\n", bytes, kind, src, dst);
}

static void check_hsa(hsa_status_t status, const char *what)
{
	if (status != HSA_STATUS_SUCCESS) {
		printf("%s: %#x\n", what, status);
		wrong++;
	}
}

// The first byte of each buffer goes round all of them.
static void expect(const char *what, const char *at, char value)
{
	char seen = 0;

	HIP(hipMemcpy(&seen, at, 1, hipMemcpyDefault));
	if (seen != value) {
		printf("%s: %d instead of %d\n", what, seen, value);
		wrong++;
	}
}

int main()
{
	const size_t size = 1 << 20;
	char *a, *b, *h, *h2;
	hipStream_t s;

	HIP(hipSetDevice(1));
	HIP(hipMalloc((void **)&b, size));
	HIP(hipDeviceEnablePeerAccess(0, 0));
	HIP(hipSetDevice(0));
	HIP(hipMalloc((void **)&a, size));
	HIP(hipDeviceEnablePeerAccess(1, 0));
	HIP(hipStreamCreate(&s));
	HIP(hipHostMalloc((void **)&h, size, 0));
	HIP(hipHostMalloc((void **)&h2, size, 0));
	memset(h, 7, size);

	// linear; copies of a program that names the direction, the devices, neither
	HIP(hipMemcpy(a, h, 100000, hipMemcpyHostToDevice));
	named(100000, "HostToDevice", "c", "0");
	HIP(hipMemcpy(h2, a, 100001, hipMemcpyDeviceToHost));
	named(100001, "DeviceToHost", "0", "c");
	HIP(hipMemcpyPeer(b, 1, a, 0, 200000));
	named(200000, "PeerToPeer", "0", "1");
	HIP(hipMemcpyPeerAsync(a, 0, b, 1, 200001, s));
	named(200001, "PeerToPeer", "1", "0");
	HIP(hipMemcpyAsync(b, a, 200002, hipMemcpyDeviceToDevice, s));
	named(200002, "PeerToPeer", "0", "1");
	HIP(hipMemcpyAsync(a, b, 200003, hipMemcpyDefault, s));
	named(200003, "PeerToPeer", "1", "0");
	HIP(hipStreamSynchronize(s));
	expect("peer copies", a, 7);
	HIP(hipSetDevice(1)); // the current device is not the memory's
	HIP(hipMemcpy(h2, a, 150000, hipMemcpyDeviceToHost));
	named(150000, "DeviceToHost", "0", "c");
	HIP(hipMemcpy(b, h, 150001, hipMemcpyDefault));
	named(150001, "HostToDevice", "c", "1");

	// of two and three dimensions: HSA gets the GPU that copies, not those that have the memory
	HIP(hipMemcpy2D(b, 1024, h, 512, 300, 111, hipMemcpyHostToDevice));
	named(300 * 111, "HostToDevice", "c", "1");
	HIP(hipSetDevice(0));
	HIP(hipMemcpy2DAsync(h2, 512, a, 1024, 301, 112, hipMemcpyDeviceToHost, s));
	HIP(hipStreamSynchronize(s));
	named(301 * 112, "DeviceToHost", "0", "c");
	hipMemcpy3DParms p = {};
	p.srcPtr = make_hipPitchedPtr(h, 256, 256, 16);
	p.dstPtr = make_hipPitchedPtr(a, 512, 256, 16);
	p.extent = make_hipExtent(250, 16, 8);
	p.kind = hipMemcpyHostToDevice;
	HIP(hipMemcpy3D(&p));
	named(250 * 16 * 8, "HostToDevice", "c", "0");

	HIP(hipMemcpy2D(b, 1024, a, 1024, 303, 113, hipMemcpyDefault));
	named(303 * 113, "PeerToPeer", "0", "1");

	// small ones of memory that HIP has not made: it may copy them itself
	std::vector<char> own(8192, 7);
	HIP(hipMemcpy(a, own.data(), 7777, hipMemcpyHostToDevice));
	named(7777, "HostToDevice", "c", "0");
	HIP(hipMemcpyAsync(a, own.data(), 4097, hipMemcpyDefault, s));
	HIP(hipStreamSynchronize(s));
	named(4097, "HostToDevice", "c", "0");
	HIP(hipMemcpy(own.data(), a, 7778, hipMemcpyDefault));
	named(7778, "DeviceToHost", "0", "c");

	// on a GPU by the queue of another one
	HIP(hipSetDevice(1));
	HIP(hipMemcpy(a + size / 2, a, 200005, hipMemcpyDeviceToDevice));
	named(200005, "DeviceToDevice", "0", "0");
	HIP(hipSetDevice(0));

	// a symbol: the call has no address of it
	HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), h, 5001, 0, hipMemcpyHostToDevice));
	named(5001, "HostToDevice", "c", "0");
	HIP(hipMemcpyFromSymbol(h2, HIP_SYMBOL(table), 5002, 0, hipMemcpyDeviceToHost));
	named(5002, "DeviceToHost", "0", "c");

	// by HSA's blocking call, which names neither, and its fill
	check_hsa(hsa_memory_copy(b, h, 50001), "hsa_memory_copy to the GPU");
	named(50001, "HostToDevice", "c", "1");
	check_hsa(hsa_memory_copy(h2, b, 50002), "hsa_memory_copy to the host");
	named(50002, "DeviceToHost", "1", "c");
	check_hsa(hsa_memory_copy(a, b, 50003), "hsa_memory_copy between GPUs");
	named(50003, "PeerToPeer", "1", "0");
	std::vector<char> plain(50004);
	check_hsa(hsa_memory_copy(plain.data(), h, 50004), "hsa_memory_copy by the host");
	named(50004, "HostToHost", "c", "c");
	wrong += plain[50003] != 7 || h2[50001] != 7;
	expect("hsa_memory_copy", a, 7);

	HIP(hipDeviceSynchronize());
	printf("copyways: %d wrong\n", wrong);
	return wrong != 0;
}
