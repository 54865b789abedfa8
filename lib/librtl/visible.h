/* SPDX-License-Identifier: MIT */
/* visible.h - other libraries find librtl's symbols of HIP, RCCL and HSA, and librtlmpi's of MPI,
 * only where a library has the real ones */
#ifndef RTL_LIB_LIBRTL_VISIBLE_H
#define RTL_LIB_LIBRTL_VISIBLE_H

/* In librtl's constructor. The work is done before, while librtl is relocated. */
void visible_start(void);

#endif
