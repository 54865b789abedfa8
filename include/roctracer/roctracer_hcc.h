/* SPDX-License-Identifier: MIT */
/* roctracer_hcc.h - the old name of roctracer_hip.h */
#ifndef ROCTRACER_HCC_H_
#define ROCTRACER_HCC_H_

#include "roctracer_hip.h"

/* The function with which HIP up to 5.3 registers callbacks for its operations. */
typedef void (*hipInitAsyncActivityCallback_t)(void *id_callback, void *op_callback, void *arg);
typedef bool (*hipEnableAsyncActivityCallback_t)(unsigned op, bool enable);
typedef const char *(*hipGetOpName_t)(unsigned op);

#endif
