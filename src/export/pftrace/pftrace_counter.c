/* SPDX-License-Identifier: MIT */
/* pftrace_counter.c - samples of counters in Perfetto's format: a track for each counter of a
 * GPU */
#include <stdio.h>
#include <string.h>

#include "export/pftrace/pftrace_internal.h"

int pftrace_counter_put(void *trace, const struct walk_sample *sample)
{
	struct pftrace *t = trace;
	char name[sizeof(t->counter)];

	if (sample->track)
		snprintf(name, sizeof(name), "%s", sample->track);
	else
		snprintf(name, sizeof(name), "GPU %lld %s", (long long)sample->gpu,
			 sample->counter);
	if (!t->counter_track || strcmp(name, t->counter) != 0)
		t->counter_track =
			pftrace_track(t, &(struct pftrace_track){ .name = name,
								  .pid = -1,
								  .tid = -1,
								  .counter = true,
								  .is_bytes = sample->is_bytes });
	memcpy(t->counter, name, sizeof(name));
	pftrace_begin(t, TYPE_COUNTER, t->counter_track, sample->ns);
	proto_double(&t->packet, EVENT_COUNTER,
		     sample->is_bytes ? sample->value / PFTRACE_BYTES : sample->value);
	return pftrace_end(t);
}
