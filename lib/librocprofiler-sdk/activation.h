/* SPDX-License-Identifier: MIT */
/* activation.h - contexts are started and stopped */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_ACTIVATION_H
#define RTL_LIB_LIBROCPROFILER_SDK_ACTIVATION_H

#include "sdk.h"

/* Stops all contexts of a client. */
void activation_stop_client(int client);

#endif
