/* SPDX-License-Identifier: MIT */
/* otf2_metric.c - samples of counters as metrics: a location for each counter of a GPU
 *
 * Samples of a counter come by the begin of their dispatches. Times of a location do not decrease:
 * the value of a dispatch that begins before the one before has ended is there from that end on.
 */
#include <errno.h>
#include <string.h>

#include "export/otf2/otf2_internal.h"

static int write_sample(struct otf2_archive *a, struct otf2_metric *m)
{
	const OTF2_Type type = OTF2_TYPE_DOUBLE;
	const OTF2_MetricValue value = { .floating_point = m->value };

	m->has_value = false;
	if ((uint64_t)m->ns > a->last_ns)
		a->last_ns = (uint64_t)m->ns;
	a->nr_events++;
	errno = 0;
	return otf2_archive_check(a, otf2_lib.EvtWriter_Metric(a->locations[m->location].writer,
							       NULL, (uint64_t)m->ns, m->metric, 1,
							       &type, &value));
}

int otf2_metric_begin(struct otf2_archive *a, struct otf2_metric *m, const char *counter,
		      const char *name, uint32_t group)
{
	int ret = otf2_metric_end(a, m);

	if (ret == 0)
		ret = otf2_archive_metric(a, counter, &m->metric);
	if (ret == 0)
		ret = otf2_archive_location(a, name, OTF2_LOCATION_TYPE_METRIC, group,
					    &m->location);
	m->is_open = ret == 0;
	return ret;
}

int otf2_metric_put(struct otf2_archive *a, struct otf2_metric *m, int64_t ns, double value)
{
	int ret = 0;

	if (ns <= 0)
		return 0;
	if (m->has_value && ns > m->ns)
		ret = write_sample(a, m);
	m->ns = ns > m->ns ? ns : m->ns;
	m->value = value;
	m->has_value = true;
	return ret;
}

int otf2_metric_end(struct otf2_archive *a, struct otf2_metric *m)
{
	int ret = m->has_value ? write_sample(a, m) : 0;

	if (ret == 0 && m->is_open)
		ret = otf2_archive_end(a, m->location);
	*m = (struct otf2_metric){ 0 };
	return ret;
}
