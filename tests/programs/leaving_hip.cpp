/* SPDX-License-Identifier: MIT */
/* leaving_hip.cpp - a HIP program one of whose functions does not return
 *
 *	part=begin	of a session (rtl.h), for a launch, before it
 *	part=end	the same, after it
 *	part=operation	of a session, for a kernel that is over: on librtl's own thread
 *
 * Without librtl (WITHOUT_RTL) its function is that of hipStreamAddCallback(), on a thread of the
 * runtime's: prints what becomes of the stream, which may be waited for in vain, traced or not.
 */
#include "hip_common.hpp"
#include "leaving.h"

static int *device;

__global__ void lv_add(int *v)
{
	v[threadIdx.x] += 1;
}

static void launch()
{
	lv_add<<<dim3(1), dim3(64), 0, nullptr>>>(device);
}

#ifndef WITHOUT_RTL

#include "rtl/rtl.h"

#define OK(call)                                                                                   \
	do {                                                                                       \
		rtl_status_t ok_ = (call);                                                         \
		if (ok_ != RTL_OK) {                                                               \
			printf("%s: %d\n", #call, (int)ok_);                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const char *part;

static bool is_part(const char *name)
{
	return !strcmp(part, name);
}

static void on_call(const rtl_call_t *call, void *)
{
	if (!strcmp(call->name, "hipLaunchKernel") &&
	    call->phase == (is_part("begin") ? RTL_CALL_BEGIN : RTL_CALL_END))
		leaving_called();
}

static void on_operation(const rtl_operation_t *op, void *)
{
	if (op->kind == RTL_KERNEL && op->grid[0] == 64)
		leaving_called();
}

/* Ten of a hundred callbacks are left, on the thread that has to go on. */
static void leave_own_thread()
{
	for (int i = 0; i < LEAVING_MORE; i++) {
		if (i % 10 == 0)
			leaving_arm();
		launch();
		HIP(hipDeviceSynchronize());
		while (leaving_nr_called() <= i)
			usleep(100);
	}
	printf("left %d\n", leaving_nr_left());
}

int main(int argc, char **argv)
{
	rtl_session_t session;

	part = arg_text(argc, argv, "part", "begin");
	leaving_how = arg_text(argc, argv, "how", "exception");
	OK(rtl_session_open(nullptr, &session));
	HIP(hipMalloc(&device, 4096));
	if (is_part("operation"))
		OK(rtl_session_on_operations(session, on_operation, nullptr));
	else
		OK(rtl_session_on_calls(session, on_call, nullptr));
	if (is_part("operation"))
		leave_own_thread();
	else
		leaving_try(launch);
	printf("called %d\n", leaving_nr_called());
	HIP(hipDeviceSynchronize());
	OK(rtl_session_close(session));
	HIP(hipFree(device));
	return 0;
}

#else

static void on_stream(hipStream_t, hipError_t, void *)
{
	leaving_called();
}

int main(int argc, char **argv)
{
	hipStream_t stream;

	leaving_how = arg_text(argc, argv, "how", "exception");
	HIP(hipMalloc(&device, 4096));
	HIP(hipStreamCreate(&stream));
	launch();
	HIP(hipDeviceSynchronize());
	printf("launched\n");
	fflush(stdout);
	leaving_arm();
	HIP(hipStreamAddCallback(stream, on_stream, nullptr, 0));
	while (!leaving_nr_left())
		usleep(100);
	/* what a dead thread of the runtime's does not do, it does not do in 2 s */
	for (int i = 0; i < 2000 && hipStreamQuery(stream) == hipErrorNotReady; i++)
		usleep(1000);
	printf("stream: %s\n", hipGetErrorString(hipStreamQuery(stream)));
	launch();
	printf("launch: %s\n", hipGetErrorString(hipGetLastError()));
	fflush(stdout);
	_exit(7);
}

#endif
