/* SPDX-License-Identifier: MIT */
/* pmc_metrics.c - what GPUs can count, by rtl's tables and the user's files
 *
 * The files of ROCPROFILER_METRICS_PATH are AMD's: they have much that rtl does not know, which is
 * left out for each kind of GPU, and so they are read once for each.
 *
 * Owns:     what was opened, until the process ends: names and lists point into it.
 */
#include "cli/pmc/pmc_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"
#include "counter/metrics_xml.h"
#include "counter/metrics_yaml.h"

/* What the folder has for an agent. */
struct of_agent {
	struct of_agent *next;
	const char *agent;
	struct metrics_file *file;
	const struct counter_gpu *gpu;
};

struct pmc_metrics {
	struct metrics_file *given;
	struct of_agent *made;
	/* of --metrics-file, if there is one and a folder, and of the folder */
	struct metrics_text texts[2];
};

static char *read_text(const char *path, int status)
{
	char error[METRICS_FILE_ERROR_SIZE];
	char *text = metrics_yaml_read(path, error);

	if (!text)
		ui_die(status, "--metrics-file: %s", error);
	return ui_keep(text);
}

static void open_given(struct pmc_metrics *m, const char *path, enum expression_rules rules,
		       int status)
{
	char error[METRICS_FILE_ERROR_SIZE];

	m->given = metrics_yaml_is(path) ? metrics_yaml_open(path, error) :
					   metrics_xml_open(path, rules, error);
	if (!m->given)
		ui_die(status, "--metrics-file: %s", error);
	ui_keep(m->given);
}

/* `given`: the path of --metrics-file, or NULL. */
static void open_folder(struct pmc_metrics *m, const char *folders, const char *given, int status)
{
	char path[METRICS_YAML_PATH_SIZE], error[METRICS_FILE_ERROR_SIZE];
	char *text;

	if (given && !metrics_yaml_is(given)) {
		ui_error("ROCPROFILER_METRICS_PATH: not read beside --metrics-file in XML");
		return;
	}
	if (!metrics_yaml_find(folders, path)) {
		ui_error(
			"ROCPROFILER_METRICS_PATH: %s: no config.yaml and no counter_defs.yaml; rtl's own counters are used",
			folders);
		return;
	}
	text = metrics_yaml_read(path, error);
	if (!text) {
		ui_error("ROCPROFILER_METRICS_PATH: %s", error);
		return;
	}
	m->texts[1] = (struct metrics_text){ ui_keep(ui_format("%s", path)), ui_keep(text) };
	if (given)
		m->texts[0] = (struct metrics_text){ given, read_text(given, status) };
}

struct pmc_metrics *pmc_metrics_open(const char *path, enum expression_rules rules, int status)
{
	struct pmc_metrics *m = ui_keep(calloc(1, sizeof(*m)));
	const char *folders = getenv("ROCPROFILER_METRICS_PATH");

	if (!m)
		ui_die_memory();
	if (path)
		open_given(m, path, rules, status);
	if (folders && *folders)
		open_folder(m, folders, path, status);
	return m;
}

/* The folder's counters, and before them those of --metrics-file. NULL: the folder's are not
 * understood, which is said. */
static const struct of_agent *make(struct pmc_metrics *m, const char *agent)
{
	char error[METRICS_FILE_ERROR_SIZE];
	bool has_given = m->texts[0].text != NULL;
	struct of_agent *o = ui_keep(calloc(1, sizeof(*o)));

	if (!o)
		ui_die_memory();
	o->file = metrics_yaml_parse(&m->texts[!has_given], has_given + 1u, agent,
				     METRICS_FILE_ALONE, error);
	if (o->file)
		o->gpu = metrics_file_gpu(o->file, agent, METRICS_FILE_ALONE, error);
	if (!o->gpu) {
		ui_error("ROCPROFILER_METRICS_PATH: %s", error);
		metrics_file_close(o->file);
		m->texts[1].text = NULL;
		return NULL;
	}
	ui_keep(o->file);
	o->agent = ui_keep(ui_format("%s", agent));
	o->next = m->made;
	m->made = o;
	return o;
}

static const struct of_agent *of_folder(struct pmc_metrics *m, const char *agent)
{
	const struct of_agent *o = m->made;

	while (o && strcmp(o->agent, agent) != 0)
		o = o->next;
	return o || !m->texts[1].text ? o : make(m, agent);
}

const struct counter_gpu *pmc_metrics_gpu(struct pmc_metrics *m, const char *agent, int status,
					  struct metrics_file **file)
{
	const struct counter_gpu *gpu = gpus_find(agent);
	const struct of_agent *o = gpu ? of_folder(m, agent) : NULL;
	char error[METRICS_FILE_ERROR_SIZE];

	if (file)
		*file = o ? o->file : m->given;
	if (o)
		return o->gpu;
	if (!gpu || !m->given)
		return gpu;
	gpu = metrics_file_gpu(m->given, agent, METRICS_FILE_EXTENDS, error);
	if (!gpu)
		ui_die(status, "--metrics-file: %s", error);
	return gpu;
}
