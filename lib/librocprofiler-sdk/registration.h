/* SPDX-License-Identifier: MIT */
/* registration.h - tools: found, configured, initialised, finalised; the way in */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_REGISTRATION_H
#define RTL_LIB_LIBROCPROFILER_SDK_REGISTRATION_H

#include "sdk.h"

/* Connects the library to the core and the runtimes. From its constructor, or a way in that is
 * called before. */
void registration_attach(void);

#endif
