/* SPDX-License-Identifier: MIT */
/* expect.h - what is not as it should be is printed and counted, in the program's own `nr_wrong` */
#ifndef RTL_TESTS_ROCTRACER_EXPECT_H
#define RTL_TESTS_ROCTRACER_EXPECT_H

#include <stdio.h>

#define IS(what, value)                                                                            \
	do {                                                                                       \
		long long is_ = (long long)(what), be_ = (long long)(value);                       \
		if (is_ != be_) {                                                                  \
			printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #what, is_,    \
			       be_);                                                               \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)

#endif
