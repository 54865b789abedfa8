/* SPDX-License-Identifier: MIT */
/* roctx.h - annotations of a program: marks, nested ranges of a thread, ranges of the process
 *
 * Link with -lroctx64. Messages are borrowed for the call; NULL is taken for the empty text.
 * Without a tracer a call takes nanoseconds. Any thread.
 */
#ifndef ROCTX_H_
#define ROCTX_H_

#include <stdint.h>

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

/* Empty, as in AMD's headers. */
#define ROCTX_VERSION_4_1
#if defined(__GNUC__)
#define ROCTX_EXPORT_DECORATOR __attribute__((visibility("default")))
#else
#define ROCTX_EXPORT_DECORATOR
#endif
#define ROCTX_IMPORT_DECORATOR
#define ROCTX_CALL
#define ROCTX_EXPORT ROCTX_EXPORT_DECORATOR ROCTX_CALL
#define ROCTX_IMPORT ROCTX_IMPORT_DECORATOR ROCTX_CALL
#define ROCTX_API ROCTX_IMPORT

#ifdef __cplusplus
extern "C" {
#endif

/* The library's version. */
ROCTX_API uint32_t roctx_version_major(void);
ROCTX_API uint32_t roctx_version_minor(void);

/* Marks this moment. */
ROCTX_API void roctxMarkA(const char *message);
#define roctxMark(message) roctxMarkA(message)

/* Opens a range in this thread. Returns its level, 0 for the outermost. */
ROCTX_API int roctxRangePushA(const char *message);
#define roctxRangePush(message) roctxRangePushA(message)

/* Closes the innermost range of this thread. Returns its level, -1 if none is open. */
ROCTX_API int roctxRangePop(void);

typedef uint64_t roctx_range_id_t;

/* Begins a range that any thread may end. Returns its id, from 1. */
ROCTX_API roctx_range_id_t roctxRangeStartA(const char *message);
#define roctxRangeStart(message) roctxRangeStartA(message)

ROCTX_API void roctxRangeStop(roctx_range_id_t id);

#ifdef __cplusplus
}
#endif

#endif
