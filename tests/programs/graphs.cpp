/* SPDX-License-Identifier: MIT */
/* graphs.cpp - replays graphs of many kernels from many threads on several devices
 *
 *	graphs threads=1 gpus=1 nodes=10 launches=100
 *
 * Thread t works on device t % gpus, with a stream and a graph of its own: a chain of `nodes`
 * kernels, of which node i has i + 1 workgroups. It is launched `launches` times, with an ordinary
 * launch before each, and waited for after every tenth.
 *
 * stdout: the number of kernels.
 */
#include "hip_common.hpp"

#include <mutex>
#include <thread>
#include <vector>

enum { GROUP = 64 };

extern "C" __global__ void graph_node(int *p)
{
	p[threadIdx.x] = 1;
}

extern "C" __global__ void graph_between(int *p)
{
	p[threadIdx.x] = 2;
}

static long nr_threads, nr_gpus, nr_nodes, nr_launches;
/* HIP 5.2.3 and 5.7.1 damage their own heap where threads make or launch graphs at once (untraced 9
 * and 6 of 40 runs of 4 threads died), so one thread at a time does. */
static std::mutex one_at_a_time;
static int runtime_version;

static hipGraphExec_t build(int *memory)
{
	void *args[] = { &memory };
	hipKernelNodeParams params = {};
	hipGraphNode_t last, node;
	hipGraphExec_t exec;
	hipGraph_t graph;

	params.func = (void *)graph_node;
	params.blockDim = dim3(GROUP);
	params.kernelParams = args;
	HIP(hipGraphCreate(&graph, 0));
	for (long i = 0; i < nr_nodes; i++) {
		params.gridDim = dim3((unsigned int)i + 1);
		HIP(hipGraphAddKernelNode(&node, graph, i ? &last : NULL, i ? 1 : 0, &params));
		last = node;
	}
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphDestroy(graph));
	return exec;
}

struct worker {
	std::thread thread;
	hipGraphExec_t exec;
	hipStream_t stream;
	int *memory;
};

static void launch(worker &w)
{
	std::unique_lock<std::mutex> held(one_at_a_time, std::defer_lock);

	if (runtime_version < 70000000)
		held.lock();
	HIP(hipGraphLaunch(w.exec, w.stream));
}

static void replay(worker &w, long t)
{
	HIP(hipSetDevice((int)(t % nr_gpus)));
	{
		std::lock_guard<std::mutex> held(one_at_a_time);

		HIP(hipStreamCreateWithFlags(&w.stream, hipStreamNonBlocking));
		HIP(hipMalloc((void **)&w.memory, 4096));
		w.exec = build(w.memory);
	}
	for (long i = 0; i < nr_launches; i++) {
		graph_between<<<1, GROUP, 0, w.stream>>>(w.memory);
		launch(w);
		if (i % 10 == 9)
			HIP(hipStreamSynchronize(w.stream));
	}
	HIP(hipStreamSynchronize(w.stream));
}

int main(int argc, char **argv)
{
	nr_threads = arg_num(argc, argv, "threads", 1);
	nr_gpus = arg_num(argc, argv, "gpus", 1);
	nr_nodes = arg_num(argc, argv, "nodes", 10);
	nr_launches = arg_num(argc, argv, "launches", 100);
	HIP(hipRuntimeGetVersion(&runtime_version));
	std::vector<worker> workers((size_t)nr_threads);
	for (long t = 0; t < nr_threads; t++)
		workers[(size_t)t].thread = std::thread(replay, std::ref(workers[(size_t)t]), t);
	for (worker &w : workers)
		w.thread.join();
	/* In this order, at the end: HIP 5.2.3's hipFree() reads destroyed streams, and crashes. */
	for (worker &w : workers)
		HIP(hipFree(w.memory));
	for (worker &w : workers) {
		HIP(hipStreamDestroy(w.stream));
		HIP(hipGraphExecDestroy(w.exec));
	}
	printf("graphs: %ld in graphs, %ld between\n", nr_threads * nr_launches * nr_nodes,
	       nr_threads * nr_launches);
	return 0;
}
