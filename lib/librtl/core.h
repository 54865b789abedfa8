/* SPDX-License-Identifier: MIT */
/* core.h - what librtl.so shows to the compat libraries, which are thin and link to it
 *
 * One exported function gives a table of the core's; nothing of the core is linked in twice. The table
 * is private to the libraries of one build: it has a version, and no promise beyond that.
 */
#ifndef RTL_LIB_LIBRTL_CORE_H
#define RTL_LIB_LIBRTL_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core_version.h"
#include "event/bus.h"
#include "source/hip/live.h"
#include "source/hsa/queue/submit.h"
#include "source/hsa/table/table.h"
#include "source/roctx/range.h"

struct rtl_core {
	uint32_t version;

	/* what OnLoad() and OnUnload() do */
	bool (*on_load)(void *table);
	void (*on_unload)(void);

	uint64_t (*now_ns)(void);
	void *(*hip_find)(const char *name);
	/* what this thread calls from now on is not traced, or is again */
	void (*quiet)(bool on);

	/* table.h, submit.h have the contracts */
	bool (*table_add_layer)(const struct table_layer *layer);
	bool (*submit_listen)(submit_listener_fn fn);

	/* bus.h, call.h have the contracts */
	int (*bus_attach)(const struct sink *sink);
	uint64_t (*api_open)(uint64_t *outer);
	void (*api_close)(uint64_t outer);

	/* pause.h, corr.h, live.h have the contracts */
	void (*pause_switch)(bool recording);
	void (*corr_keep_order)(void);
	int (*live_listen)(const struct live_listener *l);
	bool (*live_turn_on)(void);
	void (*live_want)(int index, uint32_t id, bool on);
	void (*live_want_ops)(int index, bool on);
	void (*live_pause_ops)(int index, bool paused);
	void (*live_settle)(void);
	uint32_t (*live_last_id)(void);

	/* roctx: range.h has the contracts */
	void (*range_front)(const void *fn);
	int (*range_listen)(range_listener_fn fn);
	void (*range_mark)(const char *message);
	int (*range_push)(const char *message);
	int (*range_pop)(void);
	uint64_t (*range_start)(const char *message);
	void (*range_stop)(uint64_t id);
};

/* NULL: `version` is not this librtl's RTL_CORE_VERSION: it is of another build, and its table may have another layout.
 * The first call says that the process uses an API on top of the core; it is recorded only where librtl itself was
 * asked for, by LD_PRELOAD or HSA_TOOLS_LIB. */
const struct rtl_core *rtl_core_get(uint32_t version);

/* entry.c: under names that no other library's symbols come before. */
bool entry_load(void *table);
void entry_unload(void);

#endif
