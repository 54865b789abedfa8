/* SPDX-License-Identifier: MIT */
/* spool_api.h - records of calls and functions for spools that spool_make.h makes */
#ifndef RTL_SUPPORT_SPOOL_API_H
#define RTL_SUPPORT_SPOOL_API_H

#include <string.h>

#include "support/spool_make.h"

struct spool_api {
	uint32_t tid, domain, op, nr_words, flags;
	int32_t status;
	uint64_t begin_ns, end_ns, correlation, parent;
	const uint64_t *words;
};

/* A function; its name gets the string id `string`, its signature the next one. */
static inline void spool_api_op(struct spool_make *m, uint32_t domain, uint32_t number,
				uint32_t string, const char *name, const char *signature)
{
	struct rec_op rec = { { REC_OP, sizeof(rec) / 8, 0, domain << 16 | number },
			      string,
			      string + 1 };

	/* a string may be used before its definition */
	spool_make_raw(m, &rec, sizeof(rec));
	spool_make_string(m, string, name);
	spool_make_string(m, string + 1, signature);
}

static inline void spool_api_call(struct spool_make *m, const struct spool_api *call)
{
	_Alignas(8) uint8_t bytes[REC_MAX_SIZE];
	size_t size = sizeof(struct rec_api) + call->nr_words * 8u;
	struct rec_api rec = {
		.h = { REC_API, (uint8_t)(size / 8), (uint16_t)call->flags, call->tid },
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.correlation = call->correlation,
		.parent = call->parent,
		.op = (uint16_t)call->op,
		.domain = (uint8_t)call->domain,
		.nr_words = (uint8_t)call->nr_words,
		.status = call->status,
	};

	memcpy(bytes, &rec, sizeof(rec));
	if (call->nr_words)
		memcpy(bytes + sizeof(rec), call->words, call->nr_words * 8u);
	spool_make_raw(m, bytes, size);
}

/* Functions of the sample: number, name, signature, as the generated wrappers have them. */
#define SPOOL_API_FUNCTIONS(X)                                                                     \
	X(LAUNCH, HIP, "hipLaunchKernel",                                                          \
	  "function_address:p:kernel,kernel:s:name,numBlocks:d:grid,dimBlocks:d:block,args:p,"     \
	  "sharedMemBytes:z:shared,stream:h:stream")                                               \
	X(MODULE, HIP, "hipModuleLaunchKernel",                                                    \
	  "f:h:kernel,name:s:name,gridDimX:u:gridx,gridDimY:u:gridy,gridDimZ:u:gridz,"             \
	  "blockDimX:u:blockx,blockDimY:u:blocky,blockDimZ:u:blockz,sharedMemBytes:u:shared,"      \
	  "stream:h:stream")                                                                       \
	X(EXT, HIP, "hipExtModuleLaunchKernel",                                                    \
	  "f:h:kernel,name:s:name,globalWorkSizeX:u:globalx,globalWorkSizeY:u:globaly,"            \
	  "globalWorkSizeZ:u:globalz,localWorkSizeX:u:blockx,localWorkSizeY:u:blocky,"             \
	  "localWorkSizeZ:u:blockz,sharedMemBytes:z:shared,hStream:h:stream")                      \
	X(COPY, HIP, "hipMemcpy",                                                                  \
	  "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind")                       \
	X(COPY_ASYNC, HIP, "hipMemcpyDtoHAsync",                                                   \
	  "dst:p:dst,src:p:src,sizeBytes:z:bytes,stream:h:stream")                                 \
	X(COPY_2D, HIP, "hipMemcpy2D",                                                             \
	  "dst:p:dst,dpitch:z,src:p:src,spitch:z,width:z:width,height:z:height,"                   \
	  "kind:e=hipMemcpyKind:kind")                                                             \
	X(COPY_PEER, HIP, "hipMemcpyPeer",                                                         \
	  "dst:p:dst,dstDeviceId:i:dstdev,src:p:src,srcDeviceId:i:srcdev,sizeBytes:z:bytes")       \
	X(SET, HIP, "hipMemsetAsync", "dst:p:dst,value:i,sizeBytes:z:bytes,stream:h:stream")       \
	X(SYMBOL, HIP, "hipMemcpyToSymbol",                                                        \
	  "symbol:p,src:p:src,sizeBytes:z:bytes,offset:z,kind:e=hipMemcpyKind:kind")               \
	X(SET_D32, HIP, "hipMemsetD32", "dest:p:dst,value:i,count:u")                              \
	X(MALLOC, HIP, "hipMalloc", "ptr:p,size:z:bytes,*ptr:p")                                   \
	X(CAPTURE, HIP, "hipStreamBeginCapture", "stream:h:stream,mode:e=hipStreamCaptureMode")    \
	X(CAPTURED, HIP, "hipStreamEndCapture", "stream:h:stream,pGraph:p,*pGraph:h:graph")        \
	X(NODE, HIP, "hipGraphAddMemcpyNode1D",                                                    \
	  "*pGraphNode:h:node,graph:h:graph,dst:p:dst,src:p:src,count:z:bytes")                    \
	X(INSTANTIATE, HIP, "hipGraphInstantiate",                                                 \
	  "pGraphExec:p,*pGraphExec:h:exec,graph:h:graph")                                         \
	X(GRAPH_LAUNCH, HIP, "hipGraphLaunch", "graphExec:h:exec,stream:h:stream")                 \
	X(LOAD, HIP, "hipModuleGetFunction", "*function:h,module:h,kname:s")                       \
	X(QUEUE, HSA, "hsa_queue_create", "size:u")

enum {
	SPOOL_API_NONE,
#define X(id, domain, name, signature) SPOOL_API_##id,
	SPOOL_API_FUNCTIONS(X)
#undef X
};

#define SPOOL_API_T UINT64_C(2000000000)
#define SPOOL_API_GRAPH 0xabc0u
#define SPOOL_API_EXEC 0xabd0u

/* A call by thread tid whose correlation id also gives its time: t + 100 * id, for 50 ns. */
static inline void spool_api_say(struct spool_make *m, uint32_t tid, uint32_t op,
				 uint64_t correlation, int32_t status, const uint64_t *words,
				 uint32_t nr)
{
	struct spool_api call = {
		.tid = tid,
		.domain = op == SPOOL_API_QUEUE ? REC_API_HSA : REC_API_HIP,
		.op = op,
		.nr_words = nr,
		.words = words,
		.status = status,
		.correlation = correlation,
		.begin_ns = SPOOL_API_T + 100 * correlation,
		.end_ns = SPOOL_API_T + 100 * correlation + 50,
		.parent = op == SPOOL_API_QUEUE ? correlation - 1 : 0,
	};

	spool_api_call(m, &call);
}
#define SPOOL_API_SAY(m, tid, op, correlation, status, ...)                                        \
	spool_api_say(m, tid, op, correlation, status, (const uint64_t[]){ __VA_ARGS__ },          \
		      sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static inline void spool_api_dispatch(struct spool_make *m, uint32_t shape, uint32_t packet,
				      uint32_t correlation)
{
	struct spool_make_op op = {
		.tid = 70, .shape = shape, .packet = packet, .correlation = correlation, .marker = 2
	};

	op.begin_ns = SPOOL_API_T + 100 * correlation + 1000;
	op.end_ns = op.begin_ns + 80;
	spool_make_dispatch(m, &op);
}

static inline void spool_api_sample_calls(struct spool_make *m)
{
	/* kernels of the names 3 and 4; 201: a kernel that was never loaded */
	SPOOL_API_SAY(m, 70, SPOOL_API_LAUNCH, 10, 0, 0x4000, 3, 256 | UINT64_C(2) << 32, 1,
		      256 | UINT64_C(1) << 32, 1, 0x7ff0, 64, 0xa000);
	SPOOL_API_SAY(m, 70, SPOOL_API_MODULE, 11, 0, 0xf000, 0, 8, 2, 1, 128, 1, 1, 0, 0xa000);
	SPOOL_API_SAY(m, 71, SPOOL_API_EXT, 12, 0, 0xf010, 4, 1000, 2, 1, 64, 1, 1, 32, 0);
	SPOOL_API_SAY(m, 71, SPOOL_API_LAUNCH, 13, 719, 0x4000, 200, 1, 1, 1, 1, 0, 0, 0xb000);
	SPOOL_API_SAY(m, 70, SPOOL_API_COPY, 14, 0, 0xd000, 0x5000, 4096, 1);
	SPOOL_API_SAY(m, 70, SPOOL_API_COPY_ASYNC, 15, 0, 0x5000, 0xd000, 8192, 0xa000);
	SPOOL_API_SAY(m, 70, SPOOL_API_COPY_2D, 16, 0, 0xd000, 512, 0x5000, 256, 100, 30, 4);
	SPOOL_API_SAY(m, 70, SPOOL_API_COPY_PEER, 17, 0, 0xd000, 1, 0xd100, 0, 16384);
	SPOOL_API_SAY(m, 70, SPOOL_API_SET, 18, 0, 0xd000, (uint64_t)-1, 65536, 0xb000);
	SPOOL_API_SAY(m, 70, SPOOL_API_MALLOC, 19, 0, 0x7ffe00, 4096, 0xd000);
	/* an HSA call in a HIP call, and one without arguments */
	SPOOL_API_SAY(m, 70, SPOOL_API_QUEUE, 20, 4096, 1024);
	spool_api_say(m, 70, SPOOL_API_LAUNCH, 21, 0, NULL, 0);
	SPOOL_API_SAY(m, 72, SPOOL_API_LOAD, 22, 500, 0, 0xe000, 202);
	SPOOL_API_SAY(m, 72, 999, 23, -1, 1, 2);
	SPOOL_API_SAY(m, 70, SPOOL_API_SYMBOL, 24, 0, 0x600, 0x5000, 64, 0, 1);
	SPOOL_API_SAY(m, 70, SPOOL_API_SET_D32, 25, 0, 0xd000, 7, 100);
	SPOOL_API_SAY(m, 70, SPOOL_API_CAPTURE, 30, 0, 0xa000, 0);
	SPOOL_API_SAY(m, 70, SPOOL_API_CAPTURED, 31, 0, 0xa000, 0x7ffe10, SPOOL_API_GRAPH);
	SPOOL_API_SAY(m, 70, SPOOL_API_NODE, 32, 0, 0xabcd, SPOOL_API_GRAPH, 1, 2, 3);
	SPOOL_API_SAY(m, 70, SPOOL_API_INSTANTIATE, 33, 0, 0x7ffe18, SPOOL_API_EXEC,
		      SPOOL_API_GRAPH);
	SPOOL_API_SAY(m, 70, SPOOL_API_GRAPH_LAUNCH, 34, 0, SPOOL_API_EXEC, 0xa000);
	SPOOL_API_SAY(m, 70, SPOOL_API_GRAPH_LAUNCH, 35, 0, SPOOL_API_EXEC, 0xb000);
	/* the same handle for another graph; and an instantiation that failed */
	SPOOL_API_SAY(m, 70, SPOOL_API_INSTANTIATE, 36, 0, 0x7ffe18, SPOOL_API_EXEC, 0xabe0);
	SPOOL_API_SAY(m, 70, SPOOL_API_INSTANTIATE, 37, 1, 0x7ffe18, 0, 0xabe0);
	SPOOL_API_SAY(m, 70, SPOOL_API_GRAPH_LAUNCH, 38, 0, SPOOL_API_EXEC, 0xa000);
}

static inline void spool_api_sample_ops(struct spool_make *m)
{
	struct spool_make_op op = { .tid = 70 };
	uint32_t vadd = spool_make_shape(m, 1, 0, 65536, 256);
	uint32_t plain = spool_make_shape(m, 2, 1, 1024, 128);
	uint32_t other = spool_make_shape(m, 1, 1, 1024, 64);

	spool_api_dispatch(m, vadd, 0, 10);
	spool_api_dispatch(m, plain, 0, 11);
	spool_api_dispatch(m, plain, 1, 12);
	/* one call, two operations: a copy in two pieces, the second by a kernel */
	op.correlation = 14;
	op.begin_ns = SPOOL_API_T + 2500;
	op.end_ns = SPOOL_API_T + 2600;
	spool_make_copy(m, &op, REC_COPY_H2D, 0, 1, 4000);
	spool_api_dispatch(m, vadd, 1, 14);
	op.correlation = 15;
	spool_make_copy(m, &op, REC_COPY_D2H, 1, 0, 8192);
	op.correlation = 16;
	spool_make_copy(m, &op, REC_COPY_H2D, 0, 1, 3000);
	spool_api_dispatch(m, vadd, 2, 18);
	spool_api_dispatch(m, vadd, 3, 21);
	/* replays: two kernels on one queue and one on another, written in any order */
	for (uint32_t i = 0; i < 3; i++) {
		static const uint32_t ids[] = { 34, 35, 38 };

		spool_api_dispatch(m, other, 10 + i, ids[i]);
		spool_api_dispatch(m, vadd, 21 + 2 * i, ids[i]);
		spool_api_dispatch(m, vadd, 20 + 2 * i, ids[i]);
	}
	/* correlation id of an unrecorded call, and no correlation id */
	spool_api_dispatch(m, vadd, 40, 50);
	spool_api_dispatch(m, vadd, 41, 0);
}

/* Calls of all kinds and their operations; calls first or operations first. */
static inline void spool_api_sample(const char *path, bool calls_first, bool functions_last)
{
	static const char *const text[] = { "_Z7missingv", "", "quoted \"name\", x=1" };
	static struct spool_make m;

	spool_make_begin(&m, path, 70, false);
	for (int part = 0; part < 3; part++) {
		spool_make_chunk(&m, 70);
		if ((part == 0) == calls_first && part < 2)
			spool_api_sample_calls(&m);
		else if (part < 2)
			spool_api_sample_ops(&m);
		if (part == (functions_last ? 2 : 0)) {
#define X(id, domain, name, signature)                                                             \
	spool_api_op(&m, REC_API_##domain, SPOOL_API_##id, 300 + 2 * SPOOL_API_##id, name,         \
		     signature);
			SPOOL_API_FUNCTIONS(X)
#undef X
			for (uint32_t i = 0; i < 3; i++)
				spool_make_string(&m, 200 + i, text[i]);
			spool_make_string(&m, 1, "gfx90a");
			spool_make_string(&m, 3, "_Z4vaddPKfS0_Pfi.kd");
			spool_make_string(&m, 4, "plain_name");
			spool_make_agent(&m, 0, REC_AGENT_CPU, UINT32_MAX, 1);
			spool_make_agent(&m, 1, REC_AGENT_GPU, 0, 1);
			spool_make_queue(&m, 0, 1, 0, SPOOL_API_T);
			spool_make_queue(&m, 1, 1, 0, SPOOL_API_T);
			spool_make_kernel(&m, 1, 3, 1, 0);
			spool_make_kernel(&m, 2, 4, 1, 0);
			spool_make_thread(&m, 70, "main", SPOOL_API_T);
			spool_make_marker(&m, REC_MARKER_PUSH, 70, 2, 0, 0, SPOOL_API_T, "range");
			spool_make_end_of(&m, REC_MARKER_END, 70, SPOOL_API_T + 9000, 2);
		}
		spool_make_chunk_end(&m);
	}
	spool_make_end(&m, true);
}

#endif
