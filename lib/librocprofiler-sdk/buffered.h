/* SPDX-License-Identifier: MIT */
/* buffered.h - records of calls */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_BUFFERED_H
#define RTL_LIB_LIBROCPROFILER_SDK_BUFFERED_H

#include "shown.h"

struct shown_call;
/* HOT: the records of a call that is over. */
void buffered_put_call(const struct shown_call *s);

#endif
