/* SPDX-License-Identifier: MIT */
/* early.h - dlsym() up to the point where the name is known to be one of librtl's */
#ifndef RTL_SOURCE_HIP_EARLY_H
#define RTL_SOURCE_HIP_EARLY_H

#include <stdbool.h>
#include <stdint.h>

/* Whose function a name is. */
enum early_kind { EARLY_OTHER, EARLY_HIP, EARLY_HSA_INIT, EARLY_FRONT };

/* Sets lookup_next. Any thread, any time; may be called again. */
void early_find(void);

/* The op of that symbol of HIP, or hip_nr_ops. */
uint32_t early_op(const char *name);

/* For RTLD_DEFAULT and RTLD_NEXT: whether `name` is a function that only librtl has, for other
 * releases of HIP. lookup_absent() is dlsym() for such a name. lookup_next is set. */
bool early_lacks(void *handle, const char *name);

/* dlsym() for handles that dlopen() returned: the C library's result; for functions of a HIP
 * runtime the wrapper of that name, where mode hip sees calls by our symbols; NULL for functions
 * that only librtl has. Any thread, any time; errno and dlerror() as dlsym() leaves them.
 * lookup_next is set. */
void *early_lookup(void *handle, const char *name);

#endif
