/* SPDX-License-Identifier: MIT */
/* figure.c - numbers as people read them */
#include "query/figure.h"

#include <stdio.h>

const char *figure_count(char buf[FIGURE_SIZE], uint64_t n)
{
	char plain[24];
	int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n);
	size_t out = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = plain[i];
	}
	buf[out] = 0;
	return buf;
}

static const char *format_scaled(char buf[FIGURE_SIZE], double value, const char *unit)
{
	int digits = value < 9.9995 ? 3 : value < 99.995 ? 2 : 1;

	snprintf(buf, FIGURE_SIZE, "%.*f %s", digits, value, unit);
	return buf;
}

const char *figure_time(char buf[FIGURE_SIZE], uint64_t ns)
{
	if (ns < 1000) {
		snprintf(buf, FIGURE_SIZE, "%u ns", (unsigned int)ns);
		return buf;
	}
	if (ns < 999950)
		return format_scaled(buf, (double)ns / 1e3, "us");
	if (ns < 999950000)
		return format_scaled(buf, (double)ns / 1e6, "ms");
	return format_scaled(buf, (double)ns / 1e9, "s");
}

const char *figure_share(char buf[FIGURE_SIZE], uint64_t part, uint64_t all)
{
	return figure_percent(buf, all ? (double)part / (double)all : 0);
}

const char *figure_percent(char buf[FIGURE_SIZE], double share)
{
	double percent = 100.0 * share;

	snprintf(buf, FIGURE_SIZE,
		 percent < 1 || (percent > 99 && percent < 100) ? "%.2f%%" : "%.1f%%", percent);
	return buf;
}

const char *figure_bytes(char buf[FIGURE_SIZE], uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024.0;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(buf, FIGURE_SIZE, "%u B", (unsigned int)bytes);
		return buf;
	}
	while (value >= 1023.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024.0;
		i++;
	}
	return format_scaled(buf, value, units[i]);
}
