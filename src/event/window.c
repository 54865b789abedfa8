/* SPDX-License-Identifier: MIT */
/* window.c - the windows of time that are recorded
 *
 * Owns:     the periods; set in init, constant afterwards.
 * Threads:  any.
 */
#include "event/window.h"

#include "base/capture.h"
#include "base/env.h"

static struct capture_period once[1], periods[CAPTURE_MAX_PERIODS];
static uint32_t nr_once, nr_periods;

void window_init(void)
{
	char error[CAPTURE_ERROR_SIZE];

	nr_once = nr_periods = 0;
	if (env_is_set(ENV_DELAY) || env_is_set(ENV_DURATION)) {
		once[0].delay_ns = env_uint(ENV_DELAY);
		once[0].duration_ns = env_is_set(ENV_DURATION) ? env_uint(ENV_DURATION) :
								 WINDOW_NO_EDGE;
		once[0].repeat = 1;
		nr_once = 1;
	}
	if (env_is_set(ENV_PERIOD) &&
	    capture_periods(env_str(ENV_PERIOD), periods, &nr_periods, error))
		nr_periods = 0; /* env_init() has reported it */
}

bool window_is_used(void)
{
	return nr_once || nr_periods;
}

/* window_at() for one list. Each period is repeated, then the next one begins. */
static bool is_within(const struct capture_period *p, uint32_t nr, uint64_t t, uint64_t *edge_ns)
{
	for (uint32_t i = 0; i < nr; i++, p++) {
		uint64_t cycle;

		if (p->duration_ns == WINDOW_NO_EDGE) {
			*edge_ns = t < p->delay_ns ? p->delay_ns - t : WINDOW_NO_EDGE;
			return t >= p->delay_ns;
		}
		cycle = p->delay_ns + p->duration_ns;
		if (p->repeat && t / cycle >= p->repeat) {
			t -= p->repeat * cycle;
			continue;
		}
		t %= cycle;
		*edge_ns = t < p->delay_ns ? p->delay_ns - t : cycle - t;
		return t >= p->delay_ns;
	}
	*edge_ns = WINDOW_NO_EDGE;
	return false;
}

bool window_at(uint64_t elapsed_ns, uint64_t *edge_ns)
{
	uint64_t once_ns = WINDOW_NO_EDGE, periods_ns = WINDOW_NO_EDGE;
	bool within = !nr_once || is_within(once, nr_once, elapsed_ns, &once_ns);

	if (nr_periods && !is_within(periods, nr_periods, elapsed_ns, &periods_ns))
		within = false;
	*edge_ns = once_ns < periods_ns ? once_ns : periods_ns;
	return within;
}
