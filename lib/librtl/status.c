/* SPDX-License-Identifier: MIT */
/* status.c - what the statuses of include/rtl/rtl.h mean */
#include <rtl/rtl.h>

#include <stddef.h>

#include "base/compiler.h"

EXPORT const char *rtl_status_text(rtl_status_t status)
{
	static const struct {
		rtl_status_t status;
		const char *text;
	} texts[] = {
		{ RTL_OK, "done" },
		{ RTL_SHARED,
		  "rtl trace records this process: the session has no trace of its own" },
		{ RTL_ERROR_ARGUMENT,
		  "an argument is NULL, has a wrong size, or is a path that is too long" },
		{ RTL_ERROR_SESSION, "no such session: it was never opened, or is closed" },
		{ RTL_ERROR_BUSY,
		  "another session has an output, or too many are open: close one first" },
		{ RTL_ERROR_DISABLED,
		  "librtl is switched off: unset RTL_DISABLE; or the process ends" },
		{ RTL_ERROR_TOO_LATE,
		  "the GPU was used before: call rtl_prepare() before the first HIP or HSA call, or set "
		  "LD_PRELOAD=librtl.so.1" },
		{ RTL_ERROR_NOT_IN_FRONT,
		  "librtl is behind the HIP or HSA runtime: link with -lrtl before -lamdhip64, load it with "
		  "RTLD_GLOBAL before the runtime, or set LD_PRELOAD=librtl.so.1" },
		{ RTL_ERROR_OUTPUT,
		  "the output can't be written, or exists: set RTL_LOG=warn for the reason, or use "
		  "RTL_SESSION_REPLACE" },
		{ RTL_ERROR_IN_CALLBACK, "not allowed in a callback of a session" },
		{ RTL_ERROR_FORKED, "this is a forked child: sessions are its parent's" },
		{ RTL_ERROR_MEMORY, "no memory, or no thread" },
		{ RTL_ERROR_END, "there is no loss with that index" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "a status that is unknown to this version";
}

EXPORT uint32_t rtl_api_version(void)
{
	return RTL_API_VERSION;
}
