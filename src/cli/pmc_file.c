/* SPDX-License-Identifier: MIT */
/* pmc_file.c - rocprof's input files: what is to be counted, of which kernels and GPUs */
#include "cli/pmc_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/ui.h"

/* `text` and one more word. */
static const char *append(const char *text, const char *between, const char *word)
{
	return ui_keep(text ? ui_format("%s%s%s", text, between, word) : ui_format("%s", word));
}

/* A part of a kernel's name as a regular expression. */
static const char *quote(const char *word)
{
	char *quoted = malloc(2 * strlen(word) + 1), *to = quoted;

	if (!quoted)
		ui_die_memory();
	for (; *word; word++) {
		if (strchr("\\^$.[]|()?*+{}", *word))
			*to++ = '\\';
		*to++ = *word;
	}
	*to = 0;
	return ui_keep(quoted);
}

static void read_words(struct pmc_file *f, const char *key, char *words)
{
	char *save = NULL;

	/* of gpu and kernel the last line counts, as in rocprof */
	if (strcmp(key, "gpu") == 0)
		f->gpus = NULL;
	else if (strcmp(key, "kernel") == 0)
		f->kernels = NULL;
	for (char *word = strtok_r(words, ", \t", &save); word;
	     word = strtok_r(NULL, ", \t", &save)) {
		if (strcmp(key, "pmc") == 0)
			f->names = append(f->names, ",", word);
		else if (strcmp(key, "gpu") == 0)
			f->gpus = append(f->gpus, ",", word);
		else
			f->kernels = append(f->kernels, "|", quote(word));
	}
}

static void read_line(struct pmc_file *f, const char *path, unsigned int number, char *line)
{
	char *key = line + strspn(line, " \t"), *colon, *end;

	key[strcspn(key, "#\r\n")] = 0;
	if (!*key)
		return;
	colon = strchr(key, ':');
	if (!colon)
		ui_die(STATUS_TRACE, "%s:%u: '%.80s' is not KEYWORD : VALUES", path, number, key);
	for (end = colon; end > key && isblank((unsigned char)end[-1]); end--)
		;
	*end = 0;
	if (strcmp(key, "pmc") != 0 && strcmp(key, "gpu") != 0 && strcmp(key, "kernel") != 0)
		ui_die(STATUS_TRACE, "%s:%u: '%.80s': rtl reads the lines pmc, gpu and kernel; %s",
		       path, number, key,
		       strcmp(key, "range") == 0 ?
			       "choose dispatches with --kernels, or a part of the run with --range or --period" :
			       "API calls are chosen with --calls");
	read_words(f, key, colon + 1);
}

void pmc_file_read(const char *path, struct pmc_file *f)
{
	unsigned int number = 0;
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	*f = (struct pmc_file){ NULL, NULL, NULL };
	if (!in)
		ui_die(STATUS_TRACE, "--pmc-file: %s: can't be read: %s", path, strerror(errno));
	while (getline(&line, &size, in) >= 0)
		read_line(f, path, ++number, line);
	if (ferror(in))
		ui_die(STATUS_TRACE, "--pmc-file: %s: can't be read: %s", path, strerror(errno));
	free(line);
	fclose(in);
	if (!f->names)
		ui_die(STATUS_TRACE, "--pmc-file: %s: it has no line 'pmc : NAME...'", path);
}
