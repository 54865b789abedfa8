/* SPDX-License-Identifier: MIT */
/* exec.h - the exec functions in front of the C library's */
#ifndef RTL_LIBRTL_EXEC_H
#define RTL_LIBRTL_EXEC_H

/* Looks the C library's functions up. In librtl's constructor. */
void exec_init(void);

#endif
