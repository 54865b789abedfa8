/* SPDX-License-Identifier: MIT */
/* knobs.c - settings of the virtual GPU, read once from VGPU_* environment variables
 *
 * Owns:     `knobs`, the one table of names.
 * Threads:  knobs_init() under the lock of the driver's start; the values are constant after.
 * Fails:    prints one warning for a bad value or an unknown name and ignores it.
 */
#include "knobs.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

struct knobs knobs;

extern char **environ;

enum knob_type {
	KNOB_U64,
	KNOB_DOUBLE,
	KNOB_CHOICE,
	KNOB_STRING,
	KNOB_PPM_LIST,
	KNOB_U64_LIST,
	KNOB_CHOICE_LIST,
	KNOB_FAULT
};

#define CHOICES_MAX 4

struct knob {
	const char *name;
	enum knob_type type;
	size_t at; /* offset in struct knobs; the fault kind for KNOB_FAULT */
	double dflt;
	double min, max;
	const char *choices[CHOICES_MAX];
};

#define AT(field) offsetof(struct knobs, field)

static const struct knob table[] = {
	{ "VGPU_DEVICES", KNOB_U64, AT(devices), 1, 1, KNOBS_DEVICES_MAX, { NULL } },
	{ "VGPU_ARCH", KNOB_CHOICE_LIST, AT(arch), 0, 0, 0, { "gfx900", "gfx90a", "gfx942" } },
	{ "VGPU_VRAM_MB", KNOB_U64, AT(vram_mb), 16384, 64, 1 << 20, { NULL } },
	{ "VGPU_CLOCK", KNOB_CHOICE, AT(clock), 0, 0, 0, { "real", "deterministic" } },
	{ "VGPU_CLOCK_HZ", KNOB_U64, AT(clock_hz), 0, 1e6, 1e9, { NULL } },
	{ "VGPU_SETTLE_US", KNOB_U64, AT(settle_us), 5000, 0, 1000000, { NULL } },
	{ "VGPU_CLOCK_OFFSET", KNOB_U64_LIST, AT(offset), 0, 0, 1e18, { NULL } },
	{ "VGPU_DRIFT_PPM", KNOB_PPM_LIST, AT(drift_ppb), 0, -100000, 100000, { NULL } },
	{ "VGPU_THREADS", KNOB_U64, AT(threads), 0, 1, KNOBS_THREADS_MAX, { NULL } },
	{ "VGPU_EXEC", KNOB_CHOICE, AT(exec), KNOBS_EXEC_AUTO, 0, 0, { "off", "on", "auto" } },
	{ "VGPU_COUNTERS", KNOB_U64, AT(counters), 0, 0, 1, { NULL } },
	{ "VGPU_KERNEL_MODEL",
	  KNOB_CHOICE,
	  AT(model),
	  0,
	  0,
	  0,
	  { "fixed", "grid", "insts", "measured" } },
	{ "VGPU_KERNEL_NS", KNOB_U64, AT(kernel_ns), 10000, 0, 1e15, { NULL } },
	{ "VGPU_SIGNAL_NS", KNOB_U64, AT(signal_ns), 0, 0, 1e12, { NULL } },
	{ "VGPU_NS_PER_ITEM", KNOB_DOUBLE, AT(ns_per_item), 0.1, 0, 1e9, { NULL } },
	{ "VGPU_NS_PER_GROUP", KNOB_DOUBLE, AT(ns_per_group), 0, 0, 1e12, { NULL } },
	{ "VGPU_NS_PER_INST", KNOB_DOUBLE, AT(ns_per_inst), 0.5, 0, 1e9, { NULL } },
	{ "VGPU_COPY_GBPS", KNOB_DOUBLE, AT(copy_gbps), 12, 0, 1e6, { NULL } },
	{ "VGPU_OVERLAP", KNOB_U64, AT(overlap), 1, 1, 32, { NULL } },
	{ "VGPU_DOORBELL", KNOB_CHOICE, AT(doorbell), 0, 0, 0, { "lenient", "strict", "alone" } },
	{ "VGPU_EXCEPTIONS", KNOB_U64, AT(exceptions), 1, 0, 1, { NULL } },
	{ "VGPU_NO_ATOMICS", KNOB_U64, AT(no_atomics), 0, 0, 1, { NULL } },
	{ "VGPU_NO_EVENTS", KNOB_U64, AT(no_events), 0, 0, 1, { NULL } },
	{ "VGPU_NAP_US", KNOB_U64, AT(nap_us), 2000, 20, 100000, { NULL } },
	{ "VGPU_LOG", KNOB_STRING, AT(log), 0, 0, 0, { NULL } },
	{ "VGPU_LOG_SYNC", KNOB_U64, AT(log_sync), 0, 0, 1, { NULL } },
	{ "VGPU_HANG", KNOB_FAULT, FAULT_HANG, 0, 0, 0, { NULL } },
	{ "VGPU_SLOW", KNOB_FAULT, FAULT_SLOW, 0, 0, 0, { NULL } },
	{ "VGPU_QUEUE_ERROR", KNOB_FAULT, FAULT_QUEUE_ERROR, 0, 0, 0, { NULL } },
	{ "VGPU_MEMORY_FAULT", KNOB_FAULT, FAULT_MEMORY, 0, 0, 0, { NULL } },
	{ "VGPU_HOLD", KNOB_FAULT, FAULT_HOLD, 0, 0, 0, { NULL } },
	{ "VGPU_NO_TIMESTAMPS", KNOB_FAULT, FAULT_NO_TIMESTAMPS, 0, 0, 0, { NULL } },
	{ "VGPU_SWAP_TIMESTAMPS", KNOB_FAULT, FAULT_SWAP_TIMESTAMPS, 0, 0, 0, { NULL } },
	{ "VGPU_LOST_EVENT", KNOB_FAULT, FAULT_LOST_EVENT, 0, 0, 0, { NULL } },
	{ "VGPU_LOST_SIGNAL", KNOB_FAULT, FAULT_LOST_SIGNAL, 0, 0, 0, { NULL } },
	{ "VGPU_SHIFT_TIMESTAMPS", KNOB_FAULT, FAULT_SHIFT_TIMESTAMPS, 0, 0, 0, { NULL } },
	{ "VGPU_STRETCH_TIMESTAMPS", KNOB_FAULT, FAULT_STRETCH_TIMESTAMPS, 0, 0, 0, { NULL } },
	{ "VGPU_SKIP", KNOB_FAULT, FAULT_SKIP, 0, 0, 0, { NULL } },
	{ "VGPU_EXIT_ABORT", KNOB_FAULT, FAULT_EXIT_ABORT, 0, 0, 0, { NULL } },
	{ "VGPU_WRONG_COPY", KNOB_FAULT, FAULT_WRONG_COPY, 0, 0, 0, { NULL } },
	{ "VGPU_ALLOC_FAIL", KNOB_FAULT, FAULT_ALLOC, 0, 0, 0, { NULL } },
	{ "VGPU_QUEUE_FAIL", KNOB_FAULT, FAULT_QUEUE_CREATE, 0, 0, 0, { NULL } },
};

#define NR_KNOBS (sizeof(table) / sizeof(table[0]))

static bool quiet;

static void complain(const char *name, const char *why)
{
	if (quiet)
		return;
	fprintf(stderr, "vgpu: %s: ignored: %s\n", name, why);
}

/* with the choices that there are */
static void complain_choices(const struct knob *k, const char *why)
{
	char text[128];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s; it is", why);

	for (size_t i = 0; i < CHOICES_MAX && k->choices[i] && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s", i ? " or" : "",
					k->choices[i]);
	complain(k->name, text);
}

static const char *parse_u64(const struct knob *k, const char *text, uint64_t *out)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		return "not a whole number";
	if ((double)v < k->min || (double)v > k->max)
		return "out of range";
	*out = v;
	return NULL;
}

static const char *parse_double(const struct knob *k, const char *text, double *out)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (errno || end == text || *end)
		return "not a number";
	if (!(v >= k->min && v <= k->max))
		return "out of range";
	*out = v;
	return NULL;
}

static const char *parse_choice(const struct knob *k, const char *text, uint64_t *out)
{
	for (uint64_t i = 0; i < CHOICES_MAX && k->choices[i]; i++) {
		if (!strcmp(text, k->choices[i])) {
			*out = i;
			return NULL;
		}
	}
	return "no such choice";
}

static bool has_choices(const struct knob *k)
{
	return k->type == KNOB_CHOICE || k->type == KNOB_CHOICE_LIST;
}

/* One value per GPU, separated by commas; the last one also applies to the GPUs behind it. */
static const char *parse_list(const struct knob *k, const char *text, void *field)
{
	uint64_t u64[KNOBS_DEVICES_MAX] = { 0 };
	int64_t ppb[KNOBS_DEVICES_MAX] = { 0 };
	unsigned int nr = 0;
	char item[64];

	while (nr < KNOBS_DEVICES_MAX) {
		size_t len = strcspn(text, ",");
		const char *why;
		double ppm = 0;

		if (len >= sizeof(item))
			return "value too long";
		memcpy(item, text, len);
		item[len] = '\0';
		if (k->type == KNOB_U64_LIST) {
			why = parse_u64(k, item, &u64[nr]);
		} else if (k->type == KNOB_CHOICE_LIST) {
			why = parse_choice(k, item, &u64[nr]);
		} else {
			why = parse_double(k, item, &ppm);
			ppb[nr] = (int64_t)(ppm * 1000);
		}
		if (why)
			return why;
		nr++;
		if (!text[len])
			break;
		text += len + 1;
	}
	for (unsigned int i = nr; i < KNOBS_DEVICES_MAX; i++) {
		u64[i] = u64[nr - 1];
		ppb[i] = ppb[nr - 1];
	}
	if (k->type != KNOB_PPM_LIST)
		memcpy(field, u64, sizeof(u64));
	else
		memcpy(field, ppb, sizeof(ppb));
	return NULL;
}

static void set_default(const struct knob *k)
{
	void *field = (char *)&knobs + k->at;

	if (k->type == KNOB_U64 || k->type == KNOB_CHOICE)
		*(uint64_t *)field = (uint64_t)k->dflt;
	else if (k->type == KNOB_DOUBLE)
		*(double *)field = k->dflt;
}

static void set_value(const struct knob *k, const char *text)
{
	void *field = (char *)&knobs + k->at;
	const char *why = NULL;

	switch (k->type) {
	case KNOB_U64:
		why = parse_u64(k, text, field);
		break;
	case KNOB_DOUBLE:
		why = parse_double(k, text, field);
		break;
	case KNOB_CHOICE:
		why = parse_choice(k, text, field);
		break;
	case KNOB_STRING:
		/* a copy: the program may change its environment later */
		*(const char **)field = *text ? strdup(text) : NULL;
		break;
	case KNOB_PPM_LIST:
	case KNOB_U64_LIST:
	case KNOB_CHOICE_LIST:
		why = parse_list(k, text, field);
		break;
	case KNOB_FAULT:
		why = fault_parse((enum fault_kind)k->at, text);
		break;
	}
	if (why && has_choices(k))
		complain_choices(k, why);
	else if (why)
		complain(k->name, why);
}

/* Letters to change, add or leave out to make one name of another. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], nr = strlen(b);

	if (nr >= sizeof(row) / sizeof(row[0]))
		return SIZE_MAX;
	for (size_t n = 0; n <= nr; n++)
		row[n] = n;
	for (size_t k = 1; a[k - 1]; k++) {
		size_t corner = row[0];

		row[0] = k;
		for (size_t n = 1; n <= nr; n++) {
			size_t change = corner + (a[k - 1] != b[n - 1]);

			corner = row[n];
			row[n] = row[n] < row[n - 1] ? row[n] + 1 : row[n - 1] + 1;
			row[n] = change < row[n] ? change : row[n];
		}
	}
	return row[nr];
}

/* The setting that is meant by a name that is none; NULL: no idea. */
static const char *suggestion(const char *name)
{
	/* what others call it, in the order in which they are looked for */
	static const struct {
		const char *word, *setting;
	} others[] = {
		{ "ARCH", "VGPU_ARCH" },      { "TARGET", "VGPU_ARCH" },
		{ "GFX", "VGPU_ARCH" },	      { "MEM", "VGPU_VRAM_MB" },
		{ "VRAM", "VGPU_VRAM_MB" },   { "CORE", "VGPU_THREADS" },
		{ "CPU", "VGPU_THREADS" },    { "WORKER", "VGPU_THREADS" },
		{ "JOBS", "VGPU_THREADS" },   { "TRACE", "VGPU_LOG" },
		{ "DEVICE", "VGPU_DEVICES" }, { "GPUS", "VGPU_DEVICES" },
		{ "COUNT", "VGPU_DEVICES" },
	};
	const char *best = NULL, *own = name + strlen("VGPU_");
	/* as many wrong letters as in options of the command line, and one more */
	size_t least = strlen(own) <= 3 ? 2 : 3;

	for (size_t i = 0; i < NR_KNOBS; i++) {
		size_t d = distance(name, table[i].name);

		if (d < least) {
			least = d;
			best = table[i].name;
		}
	}
	for (size_t i = 0; !best && i < sizeof(others) / sizeof(others[0]); i++) {
		if (strstr(own, others[i].word))
			best = others[i].setting;
	}
	return best;
}

static void complain_unknown(const char *name)
{
	const char *near = suggestion(name);
	char why[128];

	snprintf(why, sizeof(why), "no such setting%s%s%s", near ? "; did you mean " : "",
		 near ? near : "", near ? "?" : "");
	complain(name, why);
}

static void read_variable(const char *var)
{
	const char *eq = strchr(var, '=');
	size_t len = eq ? (size_t)(eq - var) : 0;
	char name[64];

	for (size_t i = 0; eq && i < NR_KNOBS; i++) {
		if (strlen(table[i].name) == len && !memcmp(table[i].name, var, len)) {
			set_value(&table[i], eq + 1);
			return;
		}
	}
	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	memcpy(name, var, len);
	name[len] = '\0';
	complain_unknown(name);
}

/* Processors that the process may use. */
static uint64_t nr_processors(void)
{
	cpu_set_t set;
	int nr;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	nr = CPU_COUNT(&set);
	return nr < 1 ? 1 : nr > KNOBS_THREADS_MAX ? KNOBS_THREADS_MAX : (uint64_t)nr;
}

void knobs_init(void)
{
	static bool done;

	if (done)
		return;
	done = true;

	for (size_t i = 0; i < NR_KNOBS; i++)
		set_default(&table[i]);
	/* far apart, so that a time of one GPU converted with another's clock is obviously wrong */
	for (uint64_t i = 0; i < KNOBS_DEVICES_MAX; i++)
		knobs.offset[i] = 1000000000ull + i * 777777777777ull;

	for (char **var = environ; var && *var; var++) {
		if (!strncmp(*var, "VGPU_", 5))
			read_variable(*var);
	}
	if (knobs.overlap > 1 && knobs.clock == KNOBS_CLOCK_DETERMINISTIC) {
		complain("VGPU_OVERLAP", "not with VGPU_CLOCK=deterministic");
		knobs.overlap = 1;
	}
	if (knobs.model == KNOBS_MODEL_MEASURED && knobs.clock == KNOBS_CLOCK_DETERMINISTIC) {
		complain("VGPU_KERNEL_MODEL", "measured: not with VGPU_CLOCK=deterministic; insts");
		knobs.model = KNOBS_MODEL_INSTS;
	}
	/* counts and times that repeat need an order of the workgroups that does */
	if (!knobs.threads)
		knobs.threads = knobs.clock == KNOBS_CLOCK_DETERMINISTIC ? 1 : nr_processors();
	/* ten ns to the tick: conversions are exact, so times repeat to the last digit */
	if (!knobs.clock_hz)
		knobs.clock_hz = knobs.clock == KNOBS_CLOCK_DETERMINISTIC ? 100000000 : 27000000;
}

void knobs_init_quietly(void)
{
	quiet = true;
	knobs_init();
}
