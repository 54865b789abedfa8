/* SPDX-License-Identifier: MIT */
/* code_calls.h - the calls that load and unload code, as patched into the tables */
#ifndef RTL_SOURCE_HSA_CODE_CALLS_H
#define RTL_SOURCE_HSA_CODE_CALLS_H

#include <hsa/hsa.h>

hsa_status_t code_calls_freeze(hsa_executable_t executable, const char *options);
hsa_status_t code_calls_destroy(hsa_executable_t executable);

#endif
