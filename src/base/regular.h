/* SPDX-License-Identifier: MIT */
/* regular.h - users' regular expressions: POSIX extended ones, with the classes and escapes that
 * other tools' expressions have */
#ifndef RTL_BASE_REGULAR_H
#define RTL_BASE_REGULAR_H

#include <regex.h>

#define REGULAR_ERROR_SIZE 200

/* Compiles a POSIX extended expression, in which \d \w \s, \D \W \S, \t \n \r \f \v mean what they
 * do in ECMAScript and Perl, also within brackets. A backslash in front of another letter, which
 * POSIX would take as that letter, is refused, and so are repetitions that would take the C
 * library's memory. 0, or -EINVAL or -ENOMEM with the reason in `why`. The caller frees with
 * regfree(). */
int regular_compile(const char *text, regex_t *out, char why[REGULAR_ERROR_SIZE]);

#endif
