/* SPDX-License-Identifier: MIT */
/* core.h - what librtl.so shows to the compat libraries, which are thin and link to it
 *
 * One exported function gives a table of the core's; nothing of the core is linked in twice. The table
 * is private to the libraries of one build: it has a version, and no promise beyond that.
 */
#ifndef RTL_LIB_LIBRTL_CORE_H
#define RTL_LIB_LIBRTL_CORE_H

#include <stdint.h>

#include "source/roctx/range.h"

#define RTL_CORE_VERSION 1

struct rtl_core {
	uint32_t version;

	/* roctx: range.h has the contracts */
	void (*range_front)(const void *fn);
	int (*range_listen)(range_listener_fn fn);
	void (*range_mark)(const char *message);
	int (*range_push)(const char *message);
	int (*range_pop)(void);
	uint64_t (*range_start)(const char *message);
	void (*range_stop)(uint64_t id);
};

/* NULL: this librtl is of another build. The first call says that the process uses an API on top of
 * the core; it is recorded only where librtl itself was asked for, by LD_PRELOAD or HSA_TOOLS_LIB. */
const struct rtl_core *rtl_core_get(uint32_t version);

#endif
