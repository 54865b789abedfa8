/* SPDX-License-Identifier: MIT */
/* beside.h - the rtl program that belongs to a library of ours */
#ifndef RTL_BASE_BESIDE_H
#define RTL_BASE_BESIDE_H

#include <stdbool.h>

/* The path of rtl in out[PATH_MAX]. `named`: by the user, not replaced by a guess; "": it is looked
 * for beside `library`, in bin/ of the `levels` folders above its own, the nearest first, then in
 * its own. library "": the one that this code is in. false: there is no such program. No malloc. */
bool beside_find(const char *named, const char *library, unsigned int levels, char *out);

#endif
