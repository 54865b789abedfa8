/* SPDX-License-Identifier: MIT */
/* values.c - the values of all metrics of all GPUs, of counts that are made from the event:
 * test_values.py computes them, too
 *
 * A line for each: GPU, name, value. Constants are 8 CU_NUM, 32 SIMD_NUM, 4 SE_NUM, 2 XCC_NUM, 64
 * MAX_WAVE_SIZE.
 */
#include <stdio.h>
#include <string.h>

#include "counter/metric.h"

static bool count(const struct metric_event *e, void *arg, double *value)
{
	(void)arg;
	*value = (e->block->id * 131 + e->instance * 17 + e->event * 7) % 1009 + 1;
	return true;
}

static bool constant(const char *name, void *arg, double *value)
{
	static const struct {
		const char *name;
		double value;
	} all[] = { { "CU_NUM", 8 },
		    { "SIMD_NUM", 32 },
		    { "SE_NUM", 4 },
		    { "XCC_NUM", 2 },
		    { "MAX_WAVE_SIZE", 64 } };

	(void)arg;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].name, name) == 0) {
			*value = all[i].value;
			return true;
		}
	return false;
}

int main(void)
{
	static const struct metric_values from = { count, constant, NULL };

	for (uint32_t g = 0; g < counter_nr_gpus; g++)
		for (uint32_t i = 0; i < counter_gpus[g].nr_deriveds; i++) {
			const char *name = counter_gpus[g].deriveds[i].name;
			char error[METRIC_ERROR_SIZE];
			double value;

			if (!metric_value(&counter_gpus[g], name, &from, &value, error)) {
				fprintf(stderr, "%s\n", error);
				return 1;
			}
			printf("%s %s %.17g\n", counter_gpus[g].name, name, value);
		}
	return 0;
}
