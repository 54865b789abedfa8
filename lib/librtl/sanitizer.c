/* SPDX-License-Identifier: MIT */
/* sanitizer.c - what the run-time of a sanitizer in the program asks librtl
 *
 * gcc's run-times, and clang's where they are shared, look for these functions in all libraries and
 * have empty ones themselves. A program's own come first, and so do those of a run-time that is
 * linked into it: rtl trace says the same by variables.
 *
 * Threads:  any, before librtl's constructor and before its relocation: nothing but addresses
 *           relative to the instruction.
 */
#include "base/compiler.h"

/* of a build with a sanitizer the options are those of its tests */
#if !defined(RTL_SANITIZE_ADDRESS) && !defined(RTL_SANITIZE_THREAD)
EXPORT const char *__asan_default_options(void);
EXPORT const char *__tsan_default_suppressions(void);

/* The run-time ends a program in which it is not the first library. librtl is in front of none of
 * its functions. */
EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* as in tsan.supp */
EXPORT const char *__tsan_default_suppressions(void)
{
	return "called_from_lib:/librtl.so.1\ncalled_from_lib:/memfd:librtl.so.1\n";
}
#endif
