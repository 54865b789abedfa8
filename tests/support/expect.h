/* SPDX-License-Identifier: MIT */
/* expect.h - what is not as it should be is printed and counted, in the program's own `nr_wrong` */
#ifndef RTL_TESTS_SUPPORT_EXPECT_H
#define RTL_TESTS_SUPPORT_EXPECT_H

#include <stdio.h>
#include <string.h>

#define IS(what, value)                                                                            \
	do {                                                                                       \
		long long is_ = (long long)(what), be_ = (long long)(value);                       \
		if (is_ != be_) {                                                                  \
			printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #what, is_,    \
			       be_);                                                               \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)

#define TEXT(what, value)                                                                          \
	do {                                                                                       \
		const char *is_ = (what);                                                          \
		if (!is_ || strcmp(is_, (value)) != 0) {                                           \
			printf("%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #what,     \
			       is_ ? is_ : "(NULL)", value);                                       \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)

#endif
