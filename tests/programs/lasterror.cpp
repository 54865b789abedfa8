/* SPDX-License-Identifier: MIT */
/* lasterror.cpp - what HIP answers of the last error and of the last call's status, after calls
 * that fail and calls that succeed
 *
 *	lasterror
 *
 * hipExtGetLastError() is there from HIP 6 on.
 */
#include "hip_common.hpp"

#include <dlfcn.h>

static int last_call()
{
	static const auto ext = (hipError_t(*)())dlsym(RTLD_DEFAULT, "hipExtGetLastError");

	return ext ? ext() : hipPeekAtLastError();
}

int main()
{
	int device;

	// librtl finds out where the runtime keeps the status after a call that has succeeded
	HIP(hipGetDevice(&device));
	for (int i = 0; i < 3; i++) {
		int status = hipSetDevice(-1), call = last_call(), peek = hipPeekAtLastError();
		int last = hipGetLastError();

		printf("failed %d: %d of the call, then %d, taken %d, then %d\n", status, call,
		       peek, last, hipPeekAtLastError());
		status = hipGetDevice(nullptr);
		peek = hipPeekAtLastError();
		last = hipGetDevice(&device);
		call = last_call();
		printf("failed %d: last error %d; then %d, %d of the call", status, peek, last,
		       call);
		peek = hipPeekAtLastError();
		printf(", last error %d, taken %d\n", peek, hipGetLastError());
	}
	return 0;
}
