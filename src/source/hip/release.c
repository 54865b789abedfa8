/* SPDX-License-Identifier: MIT */
/* release.c - which release of HIP the process has
 *
 * Found by the names that the runtime gives to the numbers of its calls, not by the name of its
 * file, which a wheel or a container may have changed: the numbers have to fit.
 *
 * Threads:  any.
 */
#define LOG_TOPIC "hip"
#include "source/hip/release.h"

#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "event/thread.h"
#include "source/hip/frame.h"

_Atomic uint32_t release_index;

static bool is_named(const struct hip_release *r, uint32_t id, const char *name)
{
	return id < r->nr_callbacks && r->callbacks[id].decode &&
	       strcmp(hip_ops[r->callbacks[id].op].name, name) == 0;
}

/* The runtime's name of a call. In a hook: its symbol may lead to librtl's wrapper, by a dispatch
 * table. */
static const char *ask(const char *(*api_name)(uint32_t), uint32_t id)
{
	bool was_in_hook = thread_self.in_hook;
	const char *name;

	thread_self.in_hook = true;
	name = api_name(id);
	thread_self.in_hook = was_in_hook;
	return name && strcmp(name, "unknown") != 0 ? name : NULL;
}

/* How many calls have the same number in the process's release. */
static uint32_t nr_alike(const struct hip_release *r, const char *(*api_name)(uint32_t))
{
	uint32_t nr = 0;

	for (uint32_t id = 1; id < r->nr_callbacks; id++) {
		const char *name = ask(api_name, id);

		nr += name && is_named(r, id, name);
	}
	return nr;
}

void release_find(const char *(*api_name)(uint32_t id))
{
	uint32_t best = 0, most = 0;

	for (uint32_t i = 0; api_name && i < hip_nr_releases; i++) {
		uint32_t nr = nr_alike(&hip_releases[i], api_name);

		if (nr > most) {
			most = nr;
			best = i;
		}
	}
	atomic_store_explicit(&release_index, best, memory_order_relaxed);
	if (most)
		log_info("calls as in HIP %s: %u", hip_releases[best].version, most);
}

const struct hip_release *release_exact(const char *(*api_name)(uint32_t id))
{
	for (uint32_t i = 0; api_name && i < hip_nr_releases; i++) {
		const struct hip_release *r = &hip_releases[i];
		uint32_t nr = 0;

		for (uint32_t id = 1; id < r->nr_callbacks; id++)
			nr += r->callbacks[id].decode != NULL;
		if (nr_alike(r, api_name) == nr && !ask(api_name, r->nr_callbacks))
			return r;
	}
	return NULL;
}
