/* SPDX-License-Identifier: MIT */
/* pmc.c - rtl trace --pmc: from names of counters and metrics to the events that librtl counts */
#include "cli/pmc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/machine.h"
#include "cli/ui.h"
#include "counter/plan.h"

#define MAX_NAMES 256u
/* librtl's limits (source/hsa/counter/chosen.h) */
#define MAX_PASSES 32u
#define MAX_EVENTS 1024u

struct names {
	const char *all[MAX_NAMES];
	uint32_t nr;
};

/* A kind of GPU to be counted. */
struct kind {
	char isa[32];
	const struct counter_gpu *gpu;
};

static void read_names(struct names *names, const char *text)
{
	char *copy = ui_keep(ui_format("%s", text)), *save = NULL;

	names->nr = 0;
	for (char *name = strtok_r(copy, ", ", &save); name; name = strtok_r(NULL, ", ", &save)) {
		if (strpbrk(name, "=;/"))
			ui_die(STATUS_TRACE, "--pmc: '%s' is no name of a counter or metric", name);
		if (names->nr == MAX_NAMES)
			ui_die(STATUS_TRACE, "--pmc: more than %u names", MAX_NAMES);
		names->all[names->nr++] = name;
	}
	if (!names->nr)
		ui_die(STATUS_TRACE,
		       "--pmc: names of counters are missing (rtl list-counters shows them)");
}

/* The kinds of GPUs whose counters are known, each once. */
static size_t find_kinds(struct kind kinds[MACHINE_GPUS_MAX], bool is_virtual)
{
	struct machine_gpu gpus[MACHINE_GPUS_MAX] = { { .name = "gfx900" } };
	size_t nr = is_virtual ? 1 : machine_gpus(gpus), n = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		while (k < n && strcmp(kinds[k].isa, gpus[i].name) != 0)
			k++;
		if (k < n)
			continue;
		kinds[n].gpu = gpus_find(gpus[i].name);
		memcpy(kinds[n].isa, gpus[i].name, sizeof(kinds[n].isa));
		n += kinds[n].gpu != NULL;
	}
	if (!n)
		ui_die(STATUS_TRACE, "--pmc: %s",
		       nr ? "the counters of this machine's GPUs are not known" :
			    "this machine has no GPU that ROCm's driver knows; --virtual-gpu counts on the virtual one");
	return n;
}

static void append(char **text, char *more)
{
	char *all = ui_format("%s%s", *text, more);

	free(*text);
	free(more);
	*text = all;
}

static void put_pass(char **text, const struct plan_pass *pass, bool is_first)
{
	if (pass->events.nr > MAX_EVENTS)
		ui_die(STATUS_TRACE, "--pmc: a pass has %u events; at most %u can be counted",
		       pass->events.nr, MAX_EVENTS);
	for (uint32_t i = 0; i < pass->events.nr; i++) {
		const struct metric_event *e = &pass->events.all[i];
		append(text, ui_format("%s%u.%u.%u",
				       i	? "," :
				       is_first ? "" :
						  "/",
				       e->block->id, e->instance, e->event));
	}
}

static void put_kind(char **text, const struct kind *kind, const struct names *names)
{
	char error[METRIC_ERROR_SIZE];
	struct plan plan = { 0 };

	if (!plan_make(kind->gpu, names->all, names->nr, &plan, error))
		ui_die(STATUS_TRACE, "--pmc: %s (rtl list-counters --gpu %s shows all)", error,
		       kind->gpu->name);
	if (plan.nr > MAX_PASSES)
		ui_die(STATUS_TRACE,
		       "--pmc: %s needs %u passes for these counters; at most %u are possible",
		       kind->isa, plan.nr, MAX_PASSES);
	if (plan.nr > 1)
		ui_say("--pmc: %s needs %u passes for these counters: the dispatches of a kernel are "
		       "counted in one of them each, in turn",
		       kind->isa, plan.nr);
	append(text, ui_format("%s:", kind->isa));
	for (uint32_t i = 0; i < plan.nr; i++)
		put_pass(text, &plan.passes[i], i == 0);
	plan_free(&plan);
}

const char *pmc_variable(const char *text, bool is_virtual)
{
	struct kind kinds[MACHINE_GPUS_MAX];
	size_t nr = find_kinds(kinds, is_virtual);
	struct names names;
	char *value;

	read_names(&names, text);
	value = ui_format("%s", names.all[0]);
	for (uint32_t i = 1; i < names.nr; i++)
		append(&value, ui_format(",%s", names.all[i]));
	for (size_t i = 0; i < nr; i++) {
		append(&value, ui_format(i ? ";" : "="));
		put_kind(&value, &kinds[i], &names);
	}
	return ui_keep(value);
}
