/* SPDX-License-Identifier: MIT */
/* threads.h - the threads that call tools' functions for buffers */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_THREADS_H
#define RTL_LIB_LIBROCPROFILER_SDK_THREADS_H

#include "sdk.h"

struct buffer_thread;

/* The thread of buffers that have no other; NULL: no memory or no thread. */
struct buffer_thread *threads_default(void);
/* NULL: there is none. */
struct buffer_thread *threads_find(rocprofiler_callback_thread_t id);

#endif
