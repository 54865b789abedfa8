/* SPDX-License-Identifier: MIT */
/* fuzz_input.c - any text as one of the files that users give to rtl: what to count, jobs, metrics,
 * a program
 *
 * The first byte chooses the reader and the form: text, XML, JSON, YAML of rocprof and rocprofv3,
 * rocprof's metrics, a program or script that rtl trace is to run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/rocprofv3_input.h"
#include "cli/pmc/pmc_file.h"
#include "cli/trace/program.h"
#include "cli/ui.h"
#include "command.h"

struct use {
	void (*read)(const char *path);
	const char *path;
};

static void read_counters(const char *path)
{
	struct pmc_file file = { .gpus = NULL };

	pmc_file_read(path, &file);
	for (uint32_t i = 0; i < file.names.nr; i++)
		if (!file.names.sets[i][0])
			abort();
}

static void read_jobs(const char *path)
{
	struct rocprofv3_input in = { .nr = 0 };

	rocprofv3_input_read(path, cmd_rocprofv3.opts, cmd_rocprofv3.nr_opts, &in);
	for (size_t i = 0; i < in.nr; i++) {
		struct opt_parsed *parsed = malloc(sizeof(*parsed));
		char error[OPTS_ERROR_SIZE], **words;
		size_t nr = in.jobs[i].nr;

		/* what the command makes of a job's words */
		words = calloc(nr + 4, sizeof(*words));
		if (!words || !parsed)
			abort();
		words[0] = (char *)(uintptr_t) "rocprofv3";
		if (nr) /* else the array may be NULL */
			memcpy(words + 1, in.jobs[i].words, nr * sizeof(*words));
		words[nr + 1] = (char *)(uintptr_t) "--";
		words[nr + 2] = (char *)(uintptr_t) "true";
		opts_parse(&cmd_rocprofv3, (int)nr + 3, words, parsed, error);
	}
}

static void list_metrics(const char *path)
{
	const char *const words[] = { "list-counters",	"--gpu", "gfx90a",
				      "--metrics-file", path,	 NULL };

	command_main(words);
}

static void read_program(const char *path)
{
	struct program program;
	char text[32];

	program_read(path, &program);
	for (int error = 1; error < 40; error++)
		snprintf(text, sizeof(text), "%s", program_cant_run(path, error));
}

static const struct use uses[] = {
	{ read_counters, "../in/a.txt" },  { read_counters, "../in/a.xml" },
	{ read_counters, "../in/a.json" }, { read_counters, "../in/a.yaml" },
	{ read_jobs, "../in/a.txt" },	   { read_jobs, "../in/a.json" },
	{ read_jobs, "../in/a.yaml" },	   { list_metrics, "../in/a.xml" },
	{ list_metrics, "../in/b.yaml" },  { read_program, "../in/a.out" },
};
#define NR_USES (sizeof(uses) / sizeof(uses[0]))

static void run(void *arg)
{
	const struct use *use = arg;

	ui_init("rtl");
	use->read(use->path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	command_setup();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, data + size };
	const struct use *use = &uses[take_byte(&in) % NR_USES];

	command_write(use->path + 3, in.at, (size_t)(in.end - in.at));
	command_run(run, (void *)(uintptr_t)use);
	return 0;
}
