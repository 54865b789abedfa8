/* SPDX-License-Identifier: MIT */
/* rebind.h - the references that the loader has bound past librtl
 *
 * librtl has functions of the names of HIP's, HSA's, RCCL's and roctx's. The loader prefers them
 * only where it searches librtl before the
 * runtime: in LD_PRELOAD, or before it on the link line. Where librtl comes as what another library
 * needs, it is searched after all libraries that the program itself is linked with.
 */
#ifndef RTL_LIB_LIBRTL_REBIND_H
#define RTL_LIB_LIBRTL_REBIND_H

#include <stdbool.h>

/* Makes every reference of the loaded libraries to such a function of a runtime refer to librtl's,
 * as if the loader had found it first. Only within a constructor: the loader's lock keeps other
 * threads from loading libraries meanwhile, and all that are loaded are bound. */
void rebind_all(void);
/* The same, unless librtl is there only for libraries that stand in for AMD's: those that want it
 * call rebind_all(). A program that is linked with roctx alone keeps its calls. */
void rebind_unless_faces(void);
/* Whether that was done, and left out none. */
bool rebind_is_done(void);

#endif
