/* SPDX-License-Identifier: MIT */
/* cmd_list_counters.c - rtl list-counters: what a GPU can count, and what at the same time */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/grid.h"
#include "cli/machine.h"
#include "cli/pmc/pmc.h"
#include "cli/ui.h"
#include "counter/metric.h"
#include "counter/plan.h"

enum { O_GPU, O_METRICS, O_RULES, O_FORMAT };

static const struct opt options[] = {
	[O_GPU] = { 'g', "gpu", OPT_TEXT, .arg = "GPU",
		    .help = "of this GPU, gfx90a for instance (those of this machine)" },
	[O_METRICS] = PMC_METRICS_OPTION,
	[O_RULES] = PMC_RULES_OPTION,
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = GRID_FORMATS,
		       .help = "form of the output: table (default), csv or json" },
};

enum {
	C_GPU,
	C_NAME,
	C_KIND,
	C_PASS,
	C_BLOCK,
	C_EVENT,
	C_INSTANCES,
	C_COUNTERS,
	C_UNIT,
	C_EXPRESSION,
	C_DESCRIPTION,
	C_MEANING,
	NR_COLUMNS
};

/* In the table for all counters. Of a plan there are the passes, too. */
static const struct sheet_column columns[] = {
	[C_GPU] = { "gpu", NULL, SHEET_NAME },
	[C_NAME] = { "name", "NAME", SHEET_NAME, .is_typed = true },
	[C_KIND] = { "kind", NULL, SHEET_NAME },
	[C_PASS] = { "pass", NULL, SHEET_NUMBER },
	[C_BLOCK] = { "block", "BLOCK", SHEET_NAME },
	[C_EVENT] = { "event", NULL, SHEET_NUMBER },
	[C_INSTANCES] = { "instances", NULL, SHEET_NUMBER },
	[C_COUNTERS] = { "counters_per_instance", NULL, SHEET_NUMBER },
	[C_UNIT] = { "unit", "UNIT", SHEET_NAME },
	[C_EXPRESSION] = { "expression", NULL, SHEET_NAME },
	[C_DESCRIPTION] = { "description", NULL, SHEET_NAME },
	[C_MEANING] = { "meaning", "MEANING", SHEET_NAME },
};

static const char *kind_name(enum metric_kind kind)
{
	static const char *const names[] = { [METRIC_BASIC] = "counter",
					     [METRIC_DERIVED] = "metric",
					     [METRIC_CONSTANT] = "constant" };

	return names[kind];
}

/* The description; where there is none, the expression or the event. */
static const char *meaning(char buf[64], const struct metric *m)
{
	if (*m->description)
		return m->description;
	if (m->expression)
		return m->expression;
	snprintf(buf, 64, "event %u of %s", m->event, m->block ? m->block->name : "the GPU");
	return buf;
}

/* `pass`: 0: it has none. */
static void add_row(struct sheet *table, const struct counter_gpu *gpu, const struct metric *m,
		    uint32_t pass)
{
	struct sheet_cell cells[NR_COLUMNS] = { 0 };
	char buf[64];

	cells[C_GPU].text = gpu->name;
	cells[C_NAME].text = m->name;
	cells[C_KIND].text = kind_name(m->kind);
	cells[C_PASS].none = !pass;
	cells[C_PASS].num = pass;
	cells[C_BLOCK].text = m->block ? m->block->name : "";
	cells[C_BLOCK].none = cells[C_EVENT].none = cells[C_INSTANCES].none =
		cells[C_COUNTERS].none = !m->block;
	cells[C_EVENT].num = m->event;
	cells[C_INSTANCES].num = m->block ? m->block->instances : 0;
	cells[C_COUNTERS].num = m->block ? m->block->counters : 0;
	cells[C_UNIT].text = m->unit;
	cells[C_EXPRESSION].text = m->expression ? m->expression : "";
	cells[C_EXPRESSION].none = !m->expression;
	cells[C_DESCRIPTION].text = m->description;
	cells[C_MEANING].text = meaning(buf, m);
	sheet_row(table, cells);
}

static void find(const struct counter_gpu *gpu, const char *name, struct metric *m)
{
	char error[METRIC_ERROR_SIZE];

	if (!metric_find(gpu, name, m, error))
		ui_die(STATUS_FAILED, "%s (rtl list-counters --gpu %s shows all)", error,
		       gpu->name);
}

static void add_all(struct sheet *table, const struct counter_gpu *gpu)
{
	struct metric m;

	for (uint32_t i = 0; i < gpu->nr_basics; i++) {
		find(gpu, gpu->basics[i].name, &m);
		add_row(table, gpu, &m, 0);
	}
	for (uint32_t i = 0; i < gpu->nr_deriveds; i++) {
		find(gpu, gpu->deriveds[i].name, &m);
		add_row(table, gpu, &m, 0);
	}
}

static void add_planned(struct sheet *table, const struct counter_gpu *gpu, char **names,
			const struct plan *plan)
{
	struct metric m;

	for (uint32_t p = 0; p < plan->nr; p++)
		for (uint32_t i = 0; i < plan->passes[p].nr_metrics; i++) {
			find(gpu, names[plan->passes[p].metrics[i]], &m);
			add_row(table, gpu, &m, p + 1);
		}
}

static void put_passes(const struct counter_gpu *gpu, char **names, const struct plan *plan)
{
	ui_putf("\n%s: %u %s%s\n", gpu->name, plan->nr, plan->nr == 1 ? "pass" : "passes",
		plan->nr > 1 && plan->is_least ? "; no fewer are possible" : "");
	for (uint32_t p = 0; p < plan->nr; p++) {
		ui_putf("  pass %u:", p + 1);
		for (uint32_t i = 0; i < plan->passes[p].nr_metrics; i++)
			ui_putf(" %s", names[plan->passes[p].metrics[i]]);
		ui_put("\n");
	}
}

static void list(const struct opt_parsed *p, const struct counter_gpu *gpu, struct sheet *table,
		 struct plan *plan)
{
	char error[METRIC_ERROR_SIZE];

	*plan = (struct plan){ 0 };
	if (!p->nr_operands) {
		add_all(table, gpu);
		return;
	}
	if (!plan_make(gpu, (const char *const *)p->operands, (uint32_t)p->nr_operands, plan,
		       error))
		ui_die(STATUS_FAILED, "%s (rtl list-counters --gpu %s shows all)", error,
		       gpu->name);
	add_planned(table, gpu, p->operands, plan);
}

/* "gfx8, gfx900, ..." */
static const char *known_gpus(char buf[256])
{
	size_t n = 0;

	for (uint32_t i = 0; i < counter_nr_gpus; i++)
		n += (size_t)snprintf(buf + n, 256 - n, "%s%s", i ? ", " : "",
				      counter_gpus[i].name);
	return buf;
}

static bool is_in(const struct counter_gpu *const *gpus, size_t nr, const struct counter_gpu *gpu)
{
	for (size_t i = 0; i < nr; i++)
		if (gpus[i] == gpu)
			return true;
	return false;
}

/* Each kind of GPU of this machine once. */
static size_t gpus_here(struct pmc_metrics *metrics, const struct counter_gpu **found)
{
	struct machine_gpu gpus[MACHINE_GPUS_MAX];
	size_t nr = machine_gpus(gpus), nr_found = 0;
	char known[256];

	for (size_t i = 0; i < nr; i++) {
		const struct counter_gpu *gpu =
			pmc_metrics_gpu(metrics, gpus[i].name, STATUS_FAILED, NULL);

		if (gpu && !is_in(found, nr_found, gpu))
			found[nr_found++] = gpu;
	}
	if (!nr_found)
		ui_die(STATUS_FAILED, "%s; name a GPU with --gpu: %s",
		       nr ? "the counters of this machine's GPUs are not known" :
			    "this machine has no GPU that ROCm's driver knows",
		       known_gpus(known));
	return nr_found;
}

static size_t choose_gpus(const struct opt_parsed *p, const struct counter_gpu **found)
{
	const char *name = p->values[O_GPU].text;
	struct pmc_metrics *metrics =
		pmc_metrics_open(p->values[O_METRICS].text,
				 (enum expression_rules)p->values[O_RULES].num, STATUS_FAILED);
	char known[256];

	if (!name)
		return gpus_here(metrics, found);
	found[0] = pmc_metrics_gpu(metrics, name, STATUS_FAILED, NULL);
	if (!found[0])
		ui_die(STATUS_USAGE, "--gpu: '%s' is not a GPU whose counters are known: %s", name,
		       known_gpus(known));
	return 1;
}

static int run_list_counters(const struct opt_parsed *p)
{
	enum grid_format format = (enum grid_format)p->values[O_FORMAT].num;
	struct grid_style style = grid_style(format);
	const struct counter_gpu *gpus[MACHINE_GPUS_MAX];
	struct plan plans[MACHINE_GPUS_MAX];
	size_t nr = choose_gpus(p, gpus);
	struct sheet table = { 0 };

	sheet_columns(&table, columns, NR_COLUMNS);
	for (size_t i = 0; i < nr; i++)
		list(p, gpus[i], &table, &plans[i]);
	grid_print(&table, &style);
	sheet_fini(&table);
	for (size_t i = 0; i < nr; i++) {
		if (p->nr_operands && format == GRID_TEXT)
			put_passes(gpus[i], p->operands, &plans[i]);
		plan_free(&plans[i]);
	}
	return 0;
}

static const struct opt_status statuses[] = {
	{ "0", "done" },
	{ "1", "the GPU has no counter of a name, or no GPU was found" },
	{ "2", "the command line is wrong" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_list_counters = {
	.name = "list-counters",
	.summary = "lists the hardware counters and metrics of a GPU",
	.usage = "[options] [NAME...]",
	.operands = "NAME: these alone, and the passes that they need",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.max_operands = -1,
	.usage_status = STATUS_USAGE,
	.statuses = statuses,
	.about =
		"A counter counts an event of a block of the hardware; a metric is computed from counters. A block with several instances is counted in each of them: "
		"NAME is the sum, NAME[3] one instance. BLOCK:EVENT, or BLOCK[3]:EVENT, is an event by its number.\n"
		"\n"
		"A block counts only so many events at the same time. With NAMEs the passes are shown: what is in one pass can be counted while a kernel runs once. A metric is never "
		"divided among passes.\n"
		"\n"
		"The names are those of AMD's rocprof; L1_MISS_RATIO and DRAM_BANDWIDTH are rtl's own, and --metrics-file adds the user's. The output in csv and json has blocks, events, instances and expressions, too.",
	.examples = "rtl list-counters --gpu gfx90a\n"
		    "rtl list-counters --gpu gfx90a --metrics-file my.xml MyRatio\n"
		    "rtl list-counters --gpu gfx900 SQ_WAVES L2CacheHit FETCH_SIZE",
	.run = run_list_counters,
};
