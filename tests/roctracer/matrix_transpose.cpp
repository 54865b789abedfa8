/* SPDX-License-Identifier: MIT */
/* matrix_transpose.cpp - the usage examples of roctracer's specification, section 4
 *
 *	matrix_transpose launch|all|control ITERATIONS
 *
 * launch: callbacks and records of one function, and kernels; all: every domain; control:
 * everything is enabled, and tracing runs around the launch alone. Transposes a matrix each time
 * and says PASSED.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

#include <roctracer/roctracer_ext.h>
#include <roctracer/roctracer_hcc.h>
#include <roctracer/roctracer_hip.h>
#include <roctracer/roctracer_roctx.h>
#include <roctracer/roctx.h>

#define ROCTRACER_CALL(call)                                                                       \
	do {                                                                                       \
		int err = call;                                                                    \
		if (err != 0) {                                                                    \
			std::cerr << roctracer_error_string() << std::endl;                        \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static const int width = 64, per_block = 4;

__global__ void matrixTranspose(float *out, const float *in, int n)
{
	int x = blockDim.x * blockIdx.x + threadIdx.x;
	int y = blockDim.y * blockIdx.y + threadIdx.y;

	out[y * n + x] = in[x * n + y];
}

/* A line is printed in pieces, by the program's thread and the pool's. */
struct WholeLine {
	WholeLine()
	{
		flockfile(stdout);
	}
	~WholeLine()
	{
		funlockfile(stdout);
	}
};

static void api_callback(uint32_t domain, uint32_t cid, const void *callback_data, void *arg)
{
	(void)arg;
	if (domain == ACTIVITY_DOMAIN_ROCTX) {
		const roctx_api_data_t *data = static_cast<const roctx_api_data_t *>(callback_data);

		printf("roctx %u %s\n", cid, data->args.message ? data->args.message : "");
		return;
	}
	if (domain != ACTIVITY_DOMAIN_HIP_API)
		return;

	const hip_api_data_t *data = static_cast<const hip_api_data_t *>(callback_data);
	WholeLine whole;

	printf("<%s id(%u) correlation_id(%lu) %s>",
	       roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, cid, 0), cid, data->correlation_id,
	       data->phase == ACTIVITY_API_PHASE_ENTER ? "on-enter" : "on-exit");
	if (data->phase == ACTIVITY_API_PHASE_ENTER) {
		switch (cid) {
		case HIP_API_ID_hipMemcpy:
			printf(" size(0x%x) kind(%u)", (uint32_t)data->args.hipMemcpy.sizeBytes,
			       (uint32_t)data->args.hipMemcpy.kind);
			break;
		case HIP_API_ID_hipMalloc:
			printf(" size(0x%x)", (uint32_t)data->args.hipMalloc.size);
			break;
		case HIP_API_ID_hipLaunchKernel:
			printf(" kernel(%s)",
			       hipKernelNameRefByPtr(data->args.hipLaunchKernel.function_address,
						     data->args.hipLaunchKernel.stream));
			break;
		default:
			break;
		}
	} else if (cid == HIP_API_ID_hipMalloc) {
		printf(" *ptr(%s)", *data->args.hipMalloc.ptr ? "set" : "NULL");
	}
	printf("\n");
}

static void activity_callback(const char *begin, const char *end, void *arg)
{
	const roctracer_record_t *record = reinterpret_cast<const roctracer_record_t *>(begin);
	const roctracer_record_t *end_record = reinterpret_cast<const roctracer_record_t *>(end);

	(void)arg;
	while (record < end_record) {
		WholeLine whole;

		printf("record %s correlation_id(%lu) time_ns(%s)",
		       roctracer_op_string(record->domain, record->op, record->kind),
		       record->correlation_id,
		       record->begin_ns <= record->end_ns ? "ordered" : "not ordered");
		if (record->domain == ACTIVITY_DOMAIN_HIP_OPS)
			printf(" device_id(%d) queue_id(%lu)", record->device_id, record->queue_id);
		else if (record->domain == ACTIVITY_DOMAIN_EXT_API)
			printf(" external_id(%lu)", record->external_id);
		printf("\n");
		ROCTRACER_CALL(roctracer_next_record(record, &record));
	}
}

static void open_pool(size_t size)
{
	roctracer_properties_t properties{};

	properties.buffer_size = size;
	properties.buffer_callback_fun = activity_callback;
	ROCTRACER_CALL(roctracer_open_pool(&properties));
}

static void start_tracing(const char *mode)
{
	if (!strcmp(mode, "launch")) {
		open_pool(12);
		ROCTRACER_CALL(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API,
							    HIP_API_ID_hipLaunchKernel,
							    api_callback, NULL));
		ROCTRACER_CALL(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HIP_API,
							    HIP_API_ID_hipLaunchKernel));
		ROCTRACER_CALL(
			roctracer_enable_op_activity(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH));
		return;
	}
	open_pool(0x1000);
	ROCTRACER_CALL(roctracer_enable_callback(api_callback, NULL));
	ROCTRACER_CALL(roctracer_enable_activity());
}

static void stop_tracing()
{
	ROCTRACER_CALL(roctracer_disable_callback());
	ROCTRACER_CALL(roctracer_disable_activity());
	ROCTRACER_CALL(roctracer_close_pool());
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "all";
	int iterations = argc > 2 ? (int)strtol(argv[2], nullptr, 10) : 1;
	const size_t count = width * width, bytes = count * sizeof(float);
	int errors = 0;

	for (int iteration = 0; iteration < iterations; iteration++) {
		std::vector<float> matrix(count), transposed(count);
		float *gpu_matrix, *gpu_transposed;

		if (!strcmp(mode, "control"))
			roctracer_stop();
		start_tracing(mode);
		for (size_t i = 0; i < count; i++)
			matrix[i] = (float)i * 10.0f;
		if (hipMalloc((void **)&gpu_matrix, bytes) ||
		    hipMalloc((void **)&gpu_transposed, bytes))
			return 2;
		ROCTRACER_CALL(roctracer_activity_push_external_correlation_id(31));
		roctxRangePush("copy");
		if (hipMemcpy(gpu_matrix, matrix.data(), bytes, hipMemcpyHostToDevice))
			return 2;
		roctxRangePop();
		if (!strcmp(mode, "control"))
			roctracer_start();
		hipLaunchKernelGGL(matrixTranspose, dim3(width / per_block, width / per_block),
				   dim3(per_block, per_block), 0, 0, gpu_transposed, gpu_matrix,
				   width);
		if (!strcmp(mode, "control")) {
			if (hipDeviceSynchronize())
				return 2;
			roctracer_stop();
		}
		roctxMark("after");
		if (hipMemcpy(transposed.data(), gpu_transposed, bytes, hipMemcpyDeviceToHost))
			return 2;
		ROCTRACER_CALL(roctracer_activity_pop_external_correlation_id(NULL));
		for (int y = 0; y < width; y++) {
			for (int x = 0; x < width; x++)
				errors += transposed[y * width + x] != matrix[x * width + y];
		}
		if (hipFree(gpu_matrix) || hipFree(gpu_transposed))
			return 2;
		stop_tracing();
		if (errors)
			printf("FAILED: %d errors\n", errors);
		else
			printf("PASSED!\n");
	}
	return errors != 0;
}
