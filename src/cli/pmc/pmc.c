/* SPDX-License-Identifier: MIT */
/* pmc.c - rtl trace --pmc: from names of counters and metrics to the events that librtl counts */
#include "cli/pmc/pmc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "cli/exit_status.h"
#include "cli/machine.h"
#include "cli/trace/vgpu.h"
#include "cli/ui.h"
#include "counter/metrics_xml.h"
#include "counter/plan.h"
#include "counter/view.h"

#define MAX_NAMES 256u
#define MAX_EVENTS 1024u    /* librtl's limit (source/hsa/counter/chosen.h) */
#define MAX_METRICS 100000u /* bytes of an environment variable */

struct names {
	const char *all[MAX_NAMES];
	uint32_t nr;
};

/* A kind of GPU to be counted. */
struct kind {
	char isa[32];
	const struct counter_gpu *gpu;
	struct metrics_file *metrics; /* that defines some of its counters; NULL: none */
};

struct kinds {
	struct kind all[MACHINE_GPUS_MAX];
	size_t nr;
};

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_in(const struct names *names, const char *name)
{
	for (uint32_t i = 0; i < names->nr; i++)
		if (strcmp(names->all[i], name) == 0)
			return true;
	return false;
}

static void add_name(struct names *names, const char *name)
{
	if (is_in(names, name))
		return;
	if (names->nr == MAX_NAMES)
		ui_die(STATUS_TRACE, "--pmc: more than %u names", MAX_NAMES);
	names->all[names->nr++] = name;
}

/* What rtl summary --metrics needs. */
static void add_view(struct names *names, const struct counter_gpu *gpu, const char *view)
{
	const char *all[MAX_NAMES];
	uint32_t nr = view_metrics(gpu, view, all, MAX_NAMES);

	if (!nr)
		ui_die(STATUS_TRACE, "--pmc: %s has no counters for %s", gpu->name, view);
	for (uint32_t i = 0; i < nr; i++)
		add_name(names, all[i]);
}

/* Adds the names of a set, each once. A view stands for those of `gpu`. */
static void read_names(struct names *names, const struct counter_gpu *gpu, const char *text)
{
	char *copy = ui_keep(ui_format("%s", text)), *save = NULL;

	for (char *name = strtok_r(copy, ", ", &save); name; name = strtok_r(NULL, ", ", &save)) {
		if (strpbrk(name, "=;/"))
			ui_die(STATUS_TRACE, "--pmc: '%s' is no name of a counter or metric", name);
		if (view_exists(name))
			add_view(names, gpu, name);
		else
			add_name(names, name);
	}
	if (!names->nr)
		ui_die(STATUS_TRACE,
		       "--pmc: names of counters are missing (rtl list-counters shows them)");
}

/* The kinds of GPUs whose counters are known, each once. */
static void find_kinds(struct kinds *kinds, struct pmc_metrics *metrics, bool is_virtual)
{
	struct machine_gpu gpus[MACHINE_GPUS_MAX];
	size_t nr = is_virtual ? vgpu_gpus(gpus) : machine_gpus(gpus), n = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		while (k < n && strcmp(kinds->all[k].isa, gpus[i].name) != 0)
			k++;
		if (k < n)
			continue;
		kinds->all[n].gpu = pmc_metrics_gpu(metrics, gpus[i].name, STATUS_TRACE,
						    &kinds->all[n].metrics);
		memcpy(kinds->all[n].isa, gpus[i].name, sizeof(kinds->all[n].isa));
		n += kinds->all[n].gpu != NULL;
	}
	if (!n)
		ui_die(STATUS_TRACE, "--pmc: %s",
		       nr ? "the counters of this machine's GPUs are not known" :
			    "this machine has no GPU that ROCm's driver knows; --virtual-gpu counts on the virtual one");
	kinds->nr = n;
}

static void make_plan(const struct kind *kind, const struct names *names, struct plan *plan)
{
	char error[METRIC_ERROR_SIZE];

	if (!plan_make(kind->gpu, names->all, names->nr, plan, error))
		ui_die(STATUS_TRACE, "--pmc: %s (rtl list-counters --gpu %s shows all)", error,
		       kind->gpu->name);
	if (plan->nr > PMC_MAX_PASSES)
		ui_die(STATUS_TRACE,
		       "--pmc: %s needs %u passes for these counters; at most %u are possible",
		       kind->isa, plan->nr, PMC_MAX_PASSES);
}

/* ---- the variables --------------------------------------------------------------------------- */

static void append(char **text, char *more)
{
	char *all = ui_format("%s%s", *text, more);

	free(*text);
	free(more);
	*text = all;
}

/* A pass of constants alone counts any event: its dispatches are counted ones. */
static void put_pass(char **text, const struct kind *kind, struct plan_pass *pass, bool is_first)
{
	if (!pass->events.nr && !metric_add_any_event(kind->gpu, &pass->events))
		ui_die(STATUS_TRACE,
		       "--pmc: %s has no counter with which constants can be recorded", kind->isa);
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

/* Returns the number of passes. */
static uint32_t put_kind(char **text, const struct kind *kind, const struct names *names,
			 bool is_replayed)
{
	uint32_t nr;

	struct plan plan = { 0 };

	make_plan(kind, names, &plan);
	if (plan.nr > 1 && is_replayed)
		ui_say("--pmc: %s needs %u passes for these counters: each dispatch runs %u times, and "
		       "the memory of the GPU is restored in between",
		       kind->isa, plan.nr, plan.nr);
	else if (plan.nr > 1)
		ui_say("--pmc: %s needs %u passes for these counters: the dispatches of a kernel are "
		       "counted in one of them each, in turn (--passes=replay runs each dispatch %u "
		       "times, --passes=rerun the program)",
		       kind->isa, plan.nr, plan.nr);
	append(text, ui_format("%s:", kind->isa));
	for (uint32_t i = 0; i < plan.nr; i++)
		put_pass(text, kind, &plan.passes[i], i == 0);
	nr = plan.nr;
	plan_free(&plan);
	return nr;
}

/* What the names need of the user's metrics. */
static const char *put_metrics(const struct kinds *kinds, const struct names *names)
{
	char *all = ui_format("%s", "");

	for (size_t i = 0; i < kinds->nr; i++) {
		char error[METRICS_FILE_ERROR_SIZE];
		char *one;

		if (!kinds->all[i].metrics)
			continue;
		one = metrics_xml_excerpt(kinds->all[i].metrics, kinds->all[i].isa, names->all,
					  names->nr, error);

		if (!one)
			ui_die(STATUS_TRACE, "--metrics-file: %s", error);
		append(&all, one);
	}
	if (strlen(all) > MAX_METRICS)
		ui_die(STATUS_TRACE,
		       "--metrics-file: the metrics that are used take %zu bytes; at most %u are possible",
		       strlen(all), MAX_METRICS);
	ui_keep(all);
	return *all ? all : NULL;
}

static void read_all_names(struct names *names, const struct counter_gpu *gpu,
			   const struct pmc_names *from)
{
	names->nr = 0;
	for (uint32_t i = 0; i < from->nr; i++)
		read_names(names, gpu, from->sets[i]);
	if (!from->nr)
		read_names(names, gpu, "");
}

static const char *check_length(const char *text, const char *what)
{
	if (text && strlen(text) > ENV_LONG_VALUE_MAX)
		ui_die(STATUS_TRACE,
		       "--pmc: %s need %zu bytes in the program's environment; %u are possible: name fewer counters",
		       what, strlen(text), ENV_LONG_VALUE_MAX);
	return text;
}

struct pmc_variables pmc_variables(const struct pmc_names *from, struct pmc_metrics *metrics,
				   bool is_virtual, bool is_replayed)
{
	struct kinds kinds;
	struct names names;
	uint32_t nr_passes = 0;
	char *value;

	find_kinds(&kinds, metrics, is_virtual);
	read_all_names(&names, kinds.all[0].gpu, from);
	value = ui_format("%s", names.all[0]);
	for (uint32_t i = 1; i < names.nr; i++)
		append(&value, ui_format(",%s", names.all[i]));
	for (size_t i = 0; i < kinds.nr; i++) {
		uint32_t nr;

		append(&value, ui_format(i ? ";" : "="));
		nr = put_kind(&value, &kinds.all[i], &names, is_replayed);
		nr_passes = nr > nr_passes ? nr : nr_passes;
	}
	return (struct pmc_variables){
		.pmc = check_length(ui_keep(value), "the counters"),
		.metrics = check_length(put_metrics(&kinds, &names), "the users' metrics"),
		.nr_passes = nr_passes,
	};
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void add_set(struct pmc_names *to, const struct names *names, const struct plan_pass *pass)
{
	char *set = ui_format("%s", "");

	for (uint32_t i = 0; i < pass->nr_metrics; i++)
		append(&set, ui_format(i ? ",%s" : "%s", names->all[pass->metrics[i]]));
	if (to->nr == PMC_MAX_PASSES)
		ui_die(STATUS_TRACE, "--pmc: more than %u passes", PMC_MAX_PASSES);
	to->sets[to->nr++] = ui_keep(set);
}

/* A set for each pass of the kind of GPU that needs most. */
static void split(struct pmc_names *to, const struct kinds *kinds, const struct names *names)
{
	struct plan most = { 0 };

	for (size_t i = 0; i < kinds->nr; i++) {
		struct plan plan;

		make_plan(&kinds->all[i], names, &plan);
		if (plan.nr > most.nr) {
			plan_free(&most);
			most = plan;
		} else {
			plan_free(&plan);
		}
	}
	for (uint32_t p = 0; p < most.nr; p++)
		add_set(to, names, &most.passes[p]);
	plan_free(&most);
}

static void check_sets(const struct pmc_names *sets, const struct kinds *kinds)
{
	for (uint32_t s = 0; s < sets->nr; s++)
		for (size_t i = 0; i < kinds->nr; i++) {
			struct names names = { .nr = 0 };
			struct plan plan;

			read_names(&names, kinds->all[0].gpu, sets->sets[s]);
			make_plan(&kinds->all[i], &names, &plan);
			if (plan.nr > 1)
				ui_die(STATUS_TRACE,
				       "--passes: the GPUs of this machine need different passes for these counters: %s "
				       "can't count %s in one; name the sets in a --pmc-file, one line for each",
				       kinds->all[i].isa, sets->sets[s]);
			plan_free(&plan);
		}
}

struct pmc_names pmc_passes(const struct pmc_names *from, struct pmc_metrics *metrics,
			    bool is_virtual)
{
	struct pmc_names to = { ui_keep(calloc(PMC_MAX_PASSES, sizeof(*to.sets))), 0 };
	struct kinds kinds;

	if (!to.sets)
		ui_die_memory();
	find_kinds(&kinds, metrics, is_virtual);
	for (uint32_t i = 0; i < from->nr; i++) {
		struct names names = { .nr = 0 };

		read_names(&names, kinds.all[0].gpu, from->sets[i]);
		split(&to, &kinds, &names);
	}
	check_sets(&to, &kinds);
	return to;
}
