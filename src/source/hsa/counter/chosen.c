/* SPDX-License-Identifier: MIT */
/* chosen.c - the hardware events that the user wants counted, and of which dispatches: RTL_PMC,
 * RTL_PMC_DISPATCHES, RTL_PMC_ITERATIONS
 *
 * Owns:     the number of the next dispatch.
 * Threads:  any.
 */
#include "source/hsa/counter/chosen.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/capture.h"
#include "base/env.h"
#include "source/hsa/code/code_object.h"

static _Atomic uint64_t nr_dispatches;

bool chosen_any(void)
{
	return env_str(ENV_PMC)[0] != 0;
}

/* The text behind "ISA:", NULL if there is none. It ends at ';' or NUL. */
static const char *find(const char *isa)
{
	const char *at = env_str(ENV_PMC);
	size_t n = strlen(isa);

	at += strcspn(at, "=");
	at += *at == '=';
	while (*at) {
		if (strncmp(at, isa, n) == 0 && at[n] == ':')
			return at + n + 1;
		at += strcspn(at, ";");
		at += *at == ';';
	}
	return NULL;
}

uint32_t chosen_passes(const char *isa)
{
	const char *at = find(isa);
	uint32_t n = 0;

	if (!at || !*at || *at == ';')
		return 0;
	for (n = 1; *at && *at != ';'; at++)
		n += *at == '/';
	return n < CHOSEN_MAX_PASSES ? n : CHOSEN_MAX_PASSES;
}

/* Reads a number and the character behind it. */
static bool read_number(const char **at, char behind, uint32_t *number)
{
	char *end;

	*number = (uint32_t)strtoul(*at, &end, 10);
	if (end == *at || (behind && *end != behind))
		return false;
	*at = end + (behind != 0);
	return true;
}

uint32_t chosen_events(const char *isa, uint32_t pass, struct profile_event *events)
{
	const char *at = find(isa);
	uint32_t n = 0;

	for (; at && pass; pass--) {
		at = strchr(at, '/');
		at += at != NULL;
	}
	while (at && n < PROFILE_MAX_EVENTS) {
		struct profile_event *e = &events[n];

		if (!read_number(&at, '.', &e->block) || !read_number(&at, '.', &e->instance) ||
		    !read_number(&at, 0, &e->event))
			return 0;
		n++;
		if (*at != ',')
			break;
		at++;
	}
	return n;
}

/* ---- which dispatches ------------------------------------------------------------------------ */

bool chosen_is_limited(void)
{
	return env_is_set(ENV_PMC_DISPATCHES) || env_is_set(ENV_PMC_ITERATIONS);
}

bool chosen_dispatch(uint64_t object, uint32_t agent)
{
	bool is_chosen = true;

	/* relaxed: queues submit at the same time, in no order */
	if (env_is_set(ENV_PMC_DISPATCHES))
		is_chosen = capture_list_has(env_str(ENV_PMC_DISPATCHES),
					     atomic_fetch_add_explicit(&nr_dispatches, 1,
								       memory_order_relaxed));
	if (env_is_set(ENV_PMC_ITERATIONS))
		is_chosen = capture_list_has(env_str(ENV_PMC_ITERATIONS),
					     code_object_launch(object, agent)) &&
			    is_chosen;
	return is_chosen;
}

bool chosen_is_over(void)
{
	return env_is_set(ENV_PMC_DISPATCHES) &&
	       atomic_load_explicit(&nr_dispatches, memory_order_relaxed) >
		       capture_list_last(env_str(ENV_PMC_DISPATCHES));
}
