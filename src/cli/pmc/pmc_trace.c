/* SPDX-License-Identifier: MIT */
/* pmc_trace.c - the options of rtl trace that are about counters */
#include "cli/pmc/pmc_trace.h"

#include <stddef.h>

#include "cli/checks.h"
#include "cli/exit_status.h"
#include "cli/ui.h"

/* The option or the file's, but not both. */
static const char *either(const char *option, const char *from_file, const char *line,
			  const char *name)
{
	if (option && from_file)
		ui_die(STATUS_TRACE,
		       "--pmc-file: the file has a line %s; leave the option --%s out", line, name);
	return from_file ? from_file : option;
}

/* What a file has is checked like the option for which it stands, before the program runs. */
static void check_value(const char *path, const char *line, const char *value,
			const char *(*why_not)(const char *value))
{
	const char *why = value ? why_not(value) : NULL;

	if (why)
		ui_die(STATUS_TRACE, "%s: %s: %s", path, line, why);
}

static void check_file(const char *path, const struct pmc_file *f)
{
	check_value(path, "kernel_include_regex", f->kernels, checks_regex);
	check_value(path, "kernel_exclude_regex", f->not_kernels, checks_regex);
	check_value(path, "gpu", f->gpus, checks_list);
}

/* Options that do nothing without counters. */
static void check_alone(const struct pmc_given *g)
{
	if (g->metrics || g->rerun || g->replay || g->dispatches || g->iterations)
		ui_die(STATUS_TRACE, "--%s is about counters; name them with --pmc",
		       g->metrics	     ? "metrics-file" :
		       g->rerun || g->replay ? "passes" :
		       g->dispatches	     ? "pmc-dispatches" :
					       "pmc-iterations");
}

void pmc_choose(const struct pmc_given *g, struct pmc_chosen *c)
{
	struct pmc_metrics *metrics;
	const char *set = g->names;
	struct pmc_file file = { .names = { &set, g->names != NULL } };
	struct pmc_names passes;

	if (g->names && g->file)
		ui_die(STATUS_TRACE, "--pmc-file names the counters; leave --pmc out");
	if (!g->names && !g->file)
		check_alone(g);
	if (g->file)
		pmc_file_read(g->file, &file);
	if (g->file)
		check_file(g->file, &file);
	*c = (struct pmc_chosen){
		.kernels = either(g->kernels, file.kernels, "kernel", "kernels"),
		.not_kernels = either(g->not_kernels, file.not_kernels, "kernel_exclude_regex",
				      "not-kernels"),
		.gpus = either(g->gpus, file.gpus, "gpu", "gpus"),
		.dispatches = either(g->dispatches, file.dispatches, "range", "pmc-dispatches"),
		.iterations = either(g->iterations, file.iterations, "kernel_iteration_range",
				     "pmc-iterations"),
	};
	if (!g->names && !g->file)
		return;
	metrics = pmc_metrics_open(g->metrics, g->rules, STATUS_TRACE);
	if (g->rerun || g->run) {
		passes = pmc_passes(&file.names, metrics, g->is_virtual);
		if (g->run > passes.nr)
			ui_die(STATUS_TRACE, "--pmc-run: there are %u passes", passes.nr);
		if (!g->run && passes.nr > 1) {
			c->nr_runs = passes.nr;
			return;
		}
		file.names = (struct pmc_names){ &passes.sets[g->run ? g->run - 1 : 0], 1 };
	}
	c->variables = pmc_variables(&file.names, metrics, g->is_virtual, g->replay);
	/* replay changes what HIP sees of the GPU: not without need */
	c->is_replayed = g->replay && c->variables.nr_passes > 1;
}
