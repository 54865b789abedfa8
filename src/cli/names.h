/* SPDX-License-Identifier: MIT */
/* names.h - shorter names of kernels that still differ
 *
 * A name is C++: "void a::b::f<float, 128>(float*)". Its short form has neither return type, scope
 * nor parameters, and only the template arguments in which names of the same function differ:
 * "f<..., 128>". Scope and parameters come back where names would be the same without them.
 */
#ifndef RTL_CLI_NAMES_H
#define RTL_CLI_NAMES_H

#include <stddef.h>

enum names_form { NAMES_AUTO, NAMES_SHORT, NAMES_MEDIUM, NAMES_FULL, NAMES_MANGLED };
#define NAMES_FORMS "auto|short|medium|full|mangled" /* in the order of enum names_form */

/* One text for each of the `nr` names, all to be freed with names_free(). Names that differ have
 * texts that differ. width 0: no limit, or the bytes of the longest text; a name longer than that
 * gets the longest form that fits, or is cut in the middle with "...". */
char **names_make(const char *const *names, size_t nr, enum names_form form, size_t width);
void names_free(char **texts, size_t nr);
/* The bytes of the longest short form. */
size_t names_width(const char *const *names, size_t nr);

#endif
