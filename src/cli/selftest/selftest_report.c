/* SPDX-License-Identifier: MIT */
/* selftest_report.c - what `rtl selftest` prints and writes: verdicts, versions, cards
 *
 * The file is to be attached to a report. It has no host name, no user name and no path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/machine.h"
#include "cli/read/exporter.h"
#include "cli/selftest/selftest.h"
#include "cli/ui.h"
#include "export/json.h"
#include "rtl_version.h"

static const char *const verdicts[] = { "-", "PASS", "FAIL", "SKIP" };

/* ---- the machine ----------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* HIP's number: major * 10^7 + minor * 10^5 + patch. */
static void hip_version(char out[64], const struct selftest_account *a)
{
	uint64_t v = selftest_number(a, "hip_version");

	if (v)
		snprintf(out, 64, "%llu.%llu.%llu", (unsigned long long)(v / 10000000),
			 (unsigned long long)(v / 100000 % 100), (unsigned long long)(v % 100000));
	else
		snprintf(out, 64, "none");
}

struct fact {
	const char *key;
	char value[256];
};

#define FACTS_MAX 48

__attribute__((format(printf, 4, 5))) static void add_fact(struct fact *facts, size_t *nr,
							   const char *key, const char *fmt, ...)
{
	va_list ap;

	if (*nr == FACTS_MAX)
		return;
	facts[*nr].key = key;
	va_start(ap, fmt);
	vsnprintf(facts[*nr].value, sizeof(facts[*nr].value), fmt, ap);
	va_end(ap);
	(*nr)++;
}

static void add_gpus(const struct selftest *s, struct fact *facts, size_t *nr)
{
	struct machine_gpu gpus[MACHINE_GPUS_MAX];
	size_t nr_driver = s->virtual ? 0 : machine_gpus(gpus);
	uint64_t nr_gpus = selftest_number(&s->machine, "gpus");

	for (uint64_t i = 0; i < nr_gpus && i < 16; i++) {
		char isa[32], name[32], units[32];

		snprintf(isa, sizeof(isa), "gpu%llu_isa", (unsigned long long)i);
		snprintf(name, sizeof(name), "gpu%llu_name", (unsigned long long)i);
		snprintf(units, sizeof(units), "gpu%llu_units", (unsigned long long)i);
		add_fact(facts, nr, "gpu", "%s, %s, %s compute units",
			 selftest_text(&s->machine, name), selftest_text(&s->machine, isa),
			 selftest_text(&s->machine, units));
	}
	for (size_t i = 0; i < nr_driver && i < 16; i++)
		add_fact(facts, nr, "firmware", "%s: %lu, SDMA %lu", gpus[i].name, gpus[i].firmware,
			 gpus[i].sdma_firmware);
}

static size_t find_facts(const struct selftest *s, struct fact *facts)
{
	char line[256], hip[64];
	const time_t now = time(NULL);
	struct utsname u;
	struct tm tm;
	size_t nr = 0;

	gmtime_r(&now, &tm);
	strftime(line, sizeof(line), "%Y-%m-%d %H:%M UTC", &tm);
	add_fact(facts, &nr, "date", "%s", line);
	add_fact(facts, &nr, "rtl", "%s", RTL_VERSION_STRING);
	add_fact(facts, &nr, "run", "%s%s, %u runs in %.1f s", s->virtual ? "virtual GPU" : "GPU",
		 s->quick ? ", quick" : "", s->nr_runs, s->seconds);
	if (uname(&u) == 0)
		add_fact(facts, &nr, "kernel", "%s %s %s", u.sysname, u.release, u.machine);
	if (fd_read_line("/sys/module/amdgpu/version", line, sizeof(line)) == 0)
		add_fact(facts, &nr, "amdgpu", "%s", line);
	else
		add_fact(facts, &nr, "amdgpu", "%s",
			 access("/sys/module/amdgpu", F_OK) ? "not loaded" : "the kernel's own");
	if (fd_read_line("/opt/rocm/.info/version", line, sizeof(line)) == 0)
		add_fact(facts, &nr, "rocm", "%s", line);
	hip_version(hip, &s->machine);
	add_fact(facts, &nr, "hip", "%s %s", hip,
		 base_name(selftest_text(&s->machine, "hip_path")));
	add_fact(facts, &nr, "hsa", "%s %s", selftest_text(&s->machine, "hsa_version"),
		 base_name(selftest_text(&s->machine, "hsa_path")));
	add_fact(facts, &nr, "compiler", "%s", selftest_text(&s->machine, "compiler"));
	add_gpus(s, facts, &nr);
	return nr;
}

/* ---- table and JSON -------------------------------------------------------------------------- */

static void count_verdicts(const struct selftest *s, unsigned int nr[4])
{
	memset(nr, 0, 4 * sizeof(nr[0]));
	for (size_t i = 0; i < SELFTEST_NR; i++)
		nr[s->results[i].verdict]++;
}

static void print_table(const struct selftest *s, FILE *out, bool colour)
{
	static const char *const colours[] = { "", "\033[32m", "\033[31m", "\033[33m" };
	struct fact facts[FACTS_MAX];
	size_t nr_facts = find_facts(s, facts);
	unsigned int nr[4];

	for (size_t i = 0; i < SELFTEST_NR; i++) {
		const struct selftest_result *r = &s->results[i];

		if (r->verdict != SELFTEST_NOT_RUN)
			fprintf(out, "%s%s%s  %-16s %s\n", colour ? colours[r->verdict] : "",
				verdicts[r->verdict], colour ? "\033[0m" : "", selftest_names[i],
				r->text);
	}
	fputc('\n', out);
	for (size_t i = 0; i < nr_facts; i++)
		fprintf(out, "%-9s %s\n", facts[i].key, facts[i].value);
	count_verdicts(s, nr);
	fprintf(out, "\n%u passed, %u failed, %u skipped\n", nr[SELFTEST_PASS], nr[SELFTEST_FAIL],
		nr[SELFTEST_SKIP]);
}

static void print_json(const struct selftest *s, FILE *out)
{
	static struct json j;
	struct fact facts[FACTS_MAX];
	size_t nr_facts = find_facts(s, facts);
	unsigned int nr[4];

	count_verdicts(s, nr);
	json_init(&j, json_write_file, out);
	json_object(&j);
	json_member_text(&j, "format", "rtl selftest 1");
	json_member_int(&j, "passed", nr[SELFTEST_PASS]);
	json_member_int(&j, "failed", nr[SELFTEST_FAIL]);
	json_member_int(&j, "skipped", nr[SELFTEST_SKIP]);
	json_key(&j, "machine");
	json_array(&j);
	for (size_t i = 0; i < nr_facts; i++) {
		json_object(&j);
		json_member_text(&j, "key", facts[i].key);
		json_member_text(&j, "value", facts[i].value);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_key(&j, "checks");
	json_array(&j);
	for (size_t i = 0; i < SELFTEST_NR; i++) {
		if (s->results[i].verdict == SELFTEST_NOT_RUN)
			continue;
		json_object(&j);
		json_member_text(&j, "name", selftest_names[i]);
		json_member_text(&j, "what", selftest_whats[i]);
		json_member_text(&j, "verdict", verdicts[s->results[i].verdict]);
		json_member_text(&j, "text", s->results[i].text);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	json_flush(&j);
	fputc('\n', out);
}

/* malloc'd. */
static char *make_text(const struct selftest *s, bool json, bool colour)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		ui_die_memory();
	if (json)
		print_json(s, out);
	else
		print_table(s, out, colour);
	if (fclose(out) || !text)
		ui_die_memory();
	return text;
}

void selftest_print(const struct selftest *s, bool json)
{
	char *text = make_text(s, json, !json && ui_colour(STDOUT_FILENO));

	ui_put(text);
	free(text);
}

int selftest_write(const struct selftest *s, bool json, const char *path)
{
	char *text = make_text(s, json, false);
	int err = exporter_write(path, text);

	free(text);
	return err;
}
