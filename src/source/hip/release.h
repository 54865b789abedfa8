/* SPDX-License-Identifier: MIT */
/* release.h - which release of HIP the process has: its numbers of calls, its structures
 *
 * Functions keep their arguments over the releases; some structures, enumerations and the numbers
 * of the runtime's callbacks change. Codegen emits the tables of each release.
 */
#ifndef RTL_SOURCE_HIP_RELEASE_H
#define RTL_SOURCE_HIP_RELEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A call as the runtime's callbacks show it. `args` are those of its hip_api_data_t. */
struct hip_callback {
	uint16_t op; /* of its record */
	uint16_t
		/* of its wrapper: another op where the function has several (codegen/README.md) */
		function;
	bool has_status; /* it returns one */
	/* Gives the words that the wrapper gives; at most REC_API_MAX_WORDS. NULL: no such call,
	 * `op` is hip_nr_ops. */
	uint32_t (*decode)(const void *args, uint64_t *words, bool good);
	/* Makes a struct hip_args_NAME. NULL: the function has no arguments, or this release does
	 * not show them. */
	void (*copy)(const void *args, void *to);
};

struct hip_release {
	const char *version;
	const struct hip_callback *callbacks; /* by HIP_API_ID */
	uint32_t nr_callbacks;
	uint32_t data_size; /* of its hip_api_data_t */
};

/* In the order of their versions. */
extern const struct hip_release hip_releases[];
extern const uint32_t hip_nr_releases;

/* The index of the process's release; the first, before HIP is loaded. Atomic. */
extern _Atomic uint32_t release_index;

/* Reads the runtime's names of its calls by number (`api_name`: hipApiName(); NULL: there is none),
 * and takes the release that has most of them. Calls no other function of the runtime. Any thread,
 * any number of times. */
void release_find(const char *(*api_name)(uint32_t id));

/* The release that has exactly these calls; NULL: it is not known. */
const struct hip_release *release_exact(const char *(*api_name)(uint32_t id));

/* HOT: for wrappers whose record depends on the release. */
static inline uint32_t hip_release(void)
{
	/* relaxed: set once, when the runtime's first function is found */
	return atomic_load_explicit(&release_index, memory_order_relaxed);
}

/* HOT: a call by the number that the runtime's callbacks give it; NULL: not known. */
static inline const struct hip_callback *release_callback(uint32_t id)
{
	const struct hip_release *r = &hip_releases[hip_release()];

	return id < r->nr_callbacks && r->callbacks[id].decode ? &r->callbacks[id] : 0;
}

#endif
