/* SPDX-License-Identifier: MIT */
/* graph_client.cpp - a client that wants records of HIP's operations, and launches kernels by
 * graphs
 *
 *	graph_client [LAUNCHES]
 *
 * A chain of three kernels, LAUNCHES times, with an ordinary launch after each. Prints how many
 * records of kernels have which name.
 */
#include "../programs/hip_common.hpp"

#include <map>
#include <string>

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_hip.h"

#define ROCTRACER(call)                                                                            \
	do {                                                                                       \
		if (call) {                                                                        \
			fprintf(stderr, "%s: %s\n", #call, roctracer_error_string());              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

extern "C" __global__ void graph_first(int *p)
{
	p[threadIdx.x] = 1;
}
extern "C" __global__ void graph_second(int *p)
{
	p[threadIdx.x] = 2;
}
extern "C" __global__ void launched_alone(int *p)
{
	p[threadIdx.x] = 3;
}

static std::map<std::string, int> names;

static void on_records(const char *begin, const char *end, void *arg)
{
	const activity_record_t *r = (const activity_record_t *)begin;

	(void)arg;
	for (; r < (const activity_record_t *)end; r++) {
		if (r->op == HIP_OP_ID_DISPATCH)
			names[r->kernel_name]++;
	}
}

static hipGraphNode_t add(hipGraph_t graph, const hipGraphNode_t *after, void (*kernel)(int *),
			  int *memory)
{
	void *args[] = { &memory };
	hipKernelNodeParams params = {};
	hipGraphNode_t node;

	params.func = (void *)kernel;
	params.gridDim = dim3(1);
	params.blockDim = dim3(64);
	params.kernelParams = args;
	HIP(hipGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params));
	return node;
}

static hipGraphExec_t build(int *memory)
{
	hipGraphNode_t first, second;
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	first = add(graph, nullptr, graph_first, memory);
	second = add(graph, &first, graph_second, memory);
	add(graph, &second, graph_first, memory);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 1;
	roctracer_properties_t props = {};
	hipGraphExec_t exec;
	hipStream_t stream;
	int *memory;

	props.buffer_size = 4096;
	props.buffer_callback_fun = on_records;
	ROCTRACER(roctracer_open_pool(&props));
	ROCTRACER(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS));
	HIP(hipMalloc(&memory, 4096));
	HIP(hipStreamCreate(&stream));
	exec = build(memory);
	for (int i = 0; i < launches; i++) {
		HIP(hipGraphLaunch(exec, stream));
		launched_alone<<<1, 64, 0, stream>>>(memory);
		HIP(hipStreamSynchronize(stream));
		/* HIP 7.2 reports on a thread of its own, which may still read the graph's names */
		ROCTRACER(roctracer_flush_activity());
	}
	HIP(hipDeviceSynchronize());
	HIP(hipGraphExecDestroy(exec));
	ROCTRACER(roctracer_close_pool());
	for (const auto &n : names)
		printf("%d %s\n", n.second, n.first.c_str());
	return 0;
}
