/* SPDX-License-Identifier: MIT */
/* fault.c - injected faults
 *
 * Owns:     the rules.
 * Threads:  fault_parse() while the settings are read; fault_match() any thread.
 * Not here: the effects of the faults (cp_aql.c, sdma.c, the driver's memory.c and queue.c).
 */
#include "fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX 64

static struct fault_rule rules[RULES_MAX];
static unsigned int nr_rules;
static bool have[FAULT_NR];

static const char *const names[FAULT_NR] = {
	[FAULT_HANG] = "hang",
	[FAULT_SLOW] = "slow",
	[FAULT_QUEUE_ERROR] = "queue_error",
	[FAULT_MEMORY] = "memory_fault",
	[FAULT_HOLD] = "hold",
	[FAULT_NO_TIMESTAMPS] = "no_timestamps",
	[FAULT_SWAP_TIMESTAMPS] = "swap_timestamps",
	[FAULT_LOST_EVENT] = "lost_event",
	[FAULT_LOST_SIGNAL] = "lost_signal",
	[FAULT_SHIFT_TIMESTAMPS] = "shift_timestamps",
	[FAULT_STRETCH_TIMESTAMPS] = "stretch_timestamps",
	[FAULT_SKIP] = "skip",
	[FAULT_EXIT_ABORT] = "exit_abort",
	[FAULT_WRONG_COPY] = "wrong_copy",
	[FAULT_ALLOC] = "alloc_fail",
	[FAULT_QUEUE_CREATE] = "queue_fail",
};

const char *fault_name(enum fault_kind kind)
{
	return names[kind];
}

static bool moves_times(enum fault_kind kind)
{
	return kind == FAULT_SHIFT_TIMESTAMPS || kind == FAULT_STRETCH_TIMESTAMPS;
}

static bool is_of_dispatches(enum fault_kind kind)
{
	return kind != FAULT_ALLOC && kind != FAULT_WRONG_COPY && kind != FAULT_QUEUE_CREATE;
}

static const char *set_key(struct fault_rule *rule, const char *key, const char *value)
{
	char *end;
	unsigned long long v;

	errno = 0;
	if (!strcmp(key, "factor")) {
		rule->factor = strtod(value, &end);
		if (errno || end == value || *end || !(rule->factor >= 0 && rule->factor <= 1e9))
			return "factor is not a number from 0 to 1e9";
		return NULL;
	}
	if (!strcmp(key, "ns") && moves_times(rule->kind)) {
		rule->shift_ns = strtoll(value, &end, 10);
		if (errno || end == value || *end || llabs(rule->shift_ns) > 1000000000000)
			return "ns is not a whole number from -1e12 to 1e12";
		return NULL;
	}
	v = strtoull(value, &end, 0);
	if (errno || end == value || *end || *value == '-')
		return "a value is not a whole number";

	if (!strcmp(key, "gpu"))
		rule->gpu = (int64_t)v;
	else if (!strcmp(key, "queue"))
		rule->queue = (int64_t)v;
	else if (!strcmp(key, "n"))
		rule->n = v;
	else if (!strcmp(key, "count"))
		rule->count = v;
	else if (!strcmp(key, "code") &&
		 (rule->kind == FAULT_QUEUE_ERROR || rule->kind == FAULT_MEMORY))
		rule->code = v;
	else if (!strcmp(key, "until") && rule->kind == FAULT_HOLD)
		rule->until = (int64_t)v;
	else if (!strcmp(key, "done") && rule->kind == FAULT_HOLD)
		rule->done = v;
	else if (!strcmp(key, "bytes") &&
		 (rule->kind == FAULT_ALLOC || rule->kind == FAULT_WRONG_COPY))
		rule->min_bytes = v;
	else if (!strcmp(key, "signal") && is_of_dispatches(rule->kind) && v < 2)
		rule->signal = (int64_t)v;
	else
		return "no such key";
	return NULL;
}

static const char *parse_rule(enum fault_kind kind, char *text)
{
	bool every = kind == FAULT_SLOW || kind == FAULT_HOLD;
	struct fault_rule rule = {
		.kind = kind,
		.gpu = -1,
		.queue = -1,
		.n = 1,
		.count = every ? 0 : 1,
		.factor = 1,
		.code = kind == FAULT_QUEUE_ERROR ? 0x40000000 : 0,
		.until = -1,
		.signal = -1,
		.done = 1,
	};

	while (*text) {
		size_t len = strcspn(text, ",");
		char *next = text + len + (text[len] ? 1 : 0);
		char *eq;
		const char *why;

		text[len] = '\0';
		eq = strchr(text, '=');
		if (!eq)
			return "expected key=value";
		*eq = '\0';
		why = set_key(&rule, text, eq + 1);
		if (why)
			return why;
		text = next;
	}
	if (kind == FAULT_HOLD && rule.until < 0)
		return "until= is missing";
	if (kind == FAULT_SLOW && rule.factor == 1)
		return "factor= is missing";
	if (moves_times(kind) && !rule.shift_ns)
		return "ns= is missing";
	if (!rule.n)
		return "n counts from 1";
	if (nr_rules == RULES_MAX)
		return "too many rules";
	rules[nr_rules++] = rule;
	have[kind] = true;
	return NULL;
}

const char *fault_parse(enum fault_kind kind, const char *text)
{
	char buf[512];

	if (!*text)
		return "empty";
	if (strlen(text) >= sizeof(buf))
		return "too long";
	memcpy(buf, text, strlen(text) + 1);
	for (char *p = buf; *p;) {
		size_t len = strcspn(p, ";");
		char *next = p + len + (p[len] ? 1 : 0);
		const char *why;

		p[len] = '\0';
		why = parse_rule(kind, p);
		if (why)
			return why;
		p = next;
	}
	return NULL;
}

bool fault_any(enum fault_kind kind)
{
	return have[kind];
}

const struct fault_rule *fault_match(enum fault_kind kind, const struct fault_event *e)
{
	const struct fault_rule *hit = NULL;

	if (!have[kind])
		return NULL;
	for (unsigned int i = 0; i < nr_rules; i++) {
		struct fault_rule *r = &rules[i];
		uint64_t ordinal;

		if (r->kind != kind || (r->gpu >= 0 && r->gpu != e->gpu) ||
		    (r->queue >= 0 && r->queue != e->queue) || e->bytes < r->min_bytes ||
		    (r->signal >= 0 && r->signal != e->signal))
			continue;
		ordinal = __atomic_add_fetch(&r->seen, 1, __ATOMIC_RELAXED);
		if (!hit && ordinal >= r->n && (!r->count || ordinal - r->n < r->count))
			hit = r;
	}
	return hit;
}

/* ---- the end of the process ------------------------------------------------------------------ */

static _Atomic bool aborts;

void fault_abort_at_exit(void)
{
	/* relaxed: exit handlers run long after */
	atomic_store_explicit(&aborts, true, memory_order_relaxed);
}

__attribute__((destructor)) static void abort_at_exit(void)
{
	if (atomic_load_explicit(&aborts, memory_order_relaxed))
		abort();
}
