/* SPDX-License-Identifier: MIT */
/* test_metrics_file.c - users' counters and metrics, in the XML that rocprof takes */
#include "counter/metrics_xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "counter/plan.h"
#include "support/test.h"

static char error[METRICS_FILE_ERROR_SIZE];

static struct metrics_file *parse(const char *text)
{
	struct metrics_file *f =
		metrics_xml_parse("my.xml", text, strlen(text), EXPRESSION_ORDINARY, error);

	if (!f)
		fprintf(stderr, "%s\n", error);
	return f;
}

static const struct counter_gpu *gpu_of(struct metrics_file *f, const char *agent,
					enum metrics_file_use use)
{
	const struct counter_gpu *gpu = f ? metrics_file_gpu(f, agent, use, error) : NULL;

	if (f && !gpu)
		fprintf(stderr, "%s\n", error);
	return gpu;
}

static bool count(const struct metric_event *e, void *arg, double *value)
{
	(void)arg;
	*value = e->event;
	return true;
}

static bool constant(const char *name, void *arg, double *value)
{
	(void)name;
	(void)arg;
	*value = 64;
	return true;
}

static double value_of(const struct counter_gpu *gpu, const char *name)
{
	const struct metric_values from = { count, constant, NULL };
	char why[METRIC_ERROR_SIZE] = "no list";
	double value = -1e9;

	if (!gpu || !metric_value(gpu, name, &from, &value, why))
		fprintf(stderr, "%s\n", why);
	return value;
}

static bool is(double a, double b)
{
	return a >= b - 1e-9 && a <= b + 1e-9;
}

static const char rocprof_like[] =
	"# as rocprof has it\n"
	"<gfx9>\n"
	"  <metric name=SQ_WAVES block=SQ event=4 descr=\"Waves. \\\"quoted\\\" # no comment\" ></metric>\n"
	"  <metric name=TCC_HIT block=TCC event=20 descr=\"hits\"></metric> # a comment\n"
	"</gfx9>\n"
	"<gfx9_expr>\n"
	"  <metric name=TCC_HIT_all expr=sum(TCC_HIT,16) descr=\"& all\" ></metric>\n"
	"  <metric name=SQ_WAVES expr=1 ></metric>\n"
	"</gfx9_expr>\n"
	"<gfx9 base=\"gfx9_expr\"></gfx9>\n"
	"<const><metric name=TEN expr=10 ></metric></const>\n"
	"<global>\n"
	"  <metric name=Waves10 expr=SQ_WAVES*TEN ></metric>\n"
	"  <metric name=Later expr=After+1 ></metric>\n"
	"  <metric name=After expr=CU_NUM-10-3 ></metric>\n"
	"</global>\n";

TEST(metrics_of_rocprofs_form_are_a_list_of_their_own)
{
	struct metrics_file *f = parse(rocprof_like);
	const struct counter_gpu *gpu = gpu_of(f, "gfx900:xnack-", METRICS_FILE_ALONE);
	char why[METRIC_ERROR_SIZE];
	struct metric m;

	CHECK(gpu && gpu->nr_basics == 2 && gpu->nr_deriveds == 5);
	CHECK(gpu && metric_find(gpu, "SQ_WAVES", &m, why) && m.kind == METRIC_BASIC &&
	      strcmp(m.description, "Waves. \"quoted\" # no comment") == 0);
	CHECK(gpu && metric_find(gpu, "TCC_HIT_all", &m, why) &&
	      strcmp(m.description, "& all") == 0);
	CHECK(is(value_of(gpu, "TCC_HIT_all"), 16 * 20));
	CHECK(is(value_of(gpu, "Waves10"), 40));
	CHECK(is(value_of(gpu, "Later"), 52));
	CHECK(gpu && !metric_find(gpu, "FETCH_SIZE", &m, why));
	CHECK(gpu == gpu_of(f, "gfx900:xnack-", METRICS_FILE_ALONE));
	metrics_file_close(f);
}

TEST(metrics_extend_and_replace_those_of_the_gpu)
{
	struct metrics_file *f = parse("<gfx900><metric name=SQ_WAVES block=SQ event=5/></gfx900>"
				       "<global><metric name=FETCH_SIZE expr=7></metric>"
				       "<metric name='Both' expr='WRITE_SIZE + 0.5' /></global>");
	const struct counter_gpu *gpu = gpu_of(f, "gfx900", METRICS_FILE_EXTENDS);
	const struct counter_gpu *other = gpu_of(f, "gfx90a", METRICS_FILE_EXTENDS);

	CHECK(gpu && gpu->nr_basics == gpus_find("gfx900")->nr_basics);
	CHECK(gpu && gpu->nr_deriveds == gpus_find("gfx900")->nr_deriveds + 1);
	CHECK(is(value_of(gpu, "SQ_WAVES"), 5));
	CHECK(is(value_of(gpu, "FETCH_SIZE"), 7));
	CHECK(is(value_of(gpu, "Both"), value_of(gpu, "WRITE_SIZE") + 0.5));
	CHECK(is(value_of(other, "SQ_WAVES"), 4));
	CHECK(is(value_of(other, "FETCH_SIZE"), 7));
	metrics_file_close(f);
}

TEST(rules_of_v1_are_the_files_or_the_metrics)
{
	static const char text[] = "<global><metric name=A expr=10-3-2 ></metric>"
				   "<metric name=B expr=10-3-2 rules=ordinary ></metric></global>";
	struct metrics_file *f =
		metrics_xml_parse("v1.xml", text, strlen(text), EXPRESSION_V1, error);
	const struct counter_gpu *gpu = gpu_of(f, "gfx900", METRICS_FILE_ALONE);

	CHECK(is(value_of(gpu, "A"), 9));
	CHECK(is(value_of(gpu, "B"), 5));
	metrics_file_close(f);
}

TEST(global_metrics_of_other_gpus_are_left_out_and_names_of_none_refused)
{
	struct metrics_file *f = parse("<global><metric name=A expr=B*2 ></metric>"
				       "<metric name=B expr=SQ_INSTS_MFMA ></metric></global>");
	const struct counter_gpu *old = gpu_of(f, "gfx900", METRICS_FILE_ALONE);
	const struct counter_gpu *new = gpu_of(f, "gfx90a", METRICS_FILE_EXTENDS);
	char why[METRIC_ERROR_SIZE];
	struct metric m;

	CHECK(old && old->nr_deriveds == 0);
	CHECK(new &&metric_find(new, "A", &m, why));
	metrics_file_close(f);
	f = parse("<global>\n<metric name=A expr=SQ_WAVESS*2 ></metric></global>");
	CHECK(f && !metrics_file_gpu(f, "gfx900", METRICS_FILE_EXTENDS, error));
	CHECK(strstr(error, "my.xml:2: metric A: gfx900 has no counter 'SQ_WAVESS'"));
	CHECK(strstr(error, "did you mean 'SQ_WAVES'"));
	CHECK(f && !metrics_file_gpu(f, "gfx1250", METRICS_FILE_EXTENDS, error));
	CHECK(strstr(error, "gfx1250 are not known"));
	metrics_file_close(f);
}

static const struct {
	const char *text, *error;
} wrong[] = {
	{ "<metric name=A expr=1 ></metric>", "my.xml:1: a metric stands in a scope" },
	{ "<global>\n\n<metrics/></global>", "my.xml:3: <metrics>" },
	{ "<global><metric name=A ></metric></global>", "metric A: it has expr=" },
	{ "<global><metric expr=1 ></metric></global>", "name=" },
	{ "<global><metric name=sum expr=1 ></metric></global>", "name=sum" },
	{ "<global>\n<metric name=A expr=1+ ></metric></global>",
	  "my.xml:2: metric A: an operand" },
	{ "<global><metric name=A block=SQ event=x ></metric></global>", "event=" },
	{ "<global><metric name=A expr=1 rules=v2 ></metric></global>", "rules=" },
	{ "<a base=b ></a>", "base=b" },
	{ "<global>\n<metric name=\"A\nB ></metric></global>", "my.xml:2: a quote is not closed" },
	{ "<global>\n<metric name=A expr=1 ></global>", "my.xml:2: mismatched tag" },
	{ "<global>", "my.xml:1: " },
	{ "metrics:\n  - A\n", "my.xml:1: 'metrics:' stands outside" },
	{ "\n#include \"no/such.xml\"\n", "no/such.xml: can't be read" },
	{ "\n<!DOCTYPE x [<!ENTITY y \"z\">]><global/>", "my.xml:2: " },
};

TEST(what_is_wrong_in_a_file_is_named_with_its_line)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct metrics_file *f = metrics_xml_parse("my.xml", wrong[i].text,
							   strlen(wrong[i].text),
							   EXPRESSION_ORDINARY, error);

		CHECK(!f);
		if (!strstr(error, wrong[i].error))
			fprintf(stderr, "'%s': '%s'\n", wrong[i].error, error);
		CHECK(strstr(error, wrong[i].error));
		metrics_file_close(f);
	}
}

static const struct {
	const char *text, *error;
} unusable[] = {
	{ "<global><metric name=A expr=1/>\n<metric name=A expr=2/></global>",
	  "my.xml:2: metric A: it is defined already at my.xml:1" },
	{ "<gfx9><metric name=A block=NOT event=1/></gfx9>", "gfx900 has no block 'NOT'" },
	{ "<gfx9><metric name=A expr=B/><metric name=B expr=A/></gfx9>", "need each other" },
	{ "<gfx9><metric name=A expr=sum(TCC_HIT,17) /></gfx9>", "instances 0 to 15" },
	{ "<const><metric name=CU_NUM expr=1/></const>", "a constant of that name" },
};

TEST(what_a_gpu_can_not_use_is_named_with_its_line)
{
	for (size_t i = 0; i < sizeof(unusable) / sizeof(unusable[0]); i++) {
		struct metrics_file *f = parse(unusable[i].text);

		CHECK(f && !metrics_file_gpu(f, "gfx900", METRICS_FILE_EXTENDS, error));
		if (!strstr(error, unusable[i].error))
			fprintf(stderr, "'%s': '%s'\n", unusable[i].error, error);
		CHECK(strstr(error, unusable[i].error));
		metrics_file_close(f);
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	CHECK(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

TEST(includes_are_relative_to_the_file_and_may_not_be_circular)
{
	char dir[] = "/tmp/metrics_file_XXXXXX", main_path[64], other[64];
	struct metrics_file *f;

	CHECK(mkdtemp(dir));
	snprintf(main_path, sizeof(main_path), "%s/main.xml", dir);
	snprintf(other, sizeof(other), "%s/other.xml", dir);
	write_file(main_path, "#include \"other.xml\"\n<gfx9 base=gfx9_more ></gfx9>\n");
	write_file(
		other,
		"<?xml version=\"1.0\"?>\n<!-- more\n --><gfx9_more><metric name=A expr=3/></gfx9_more>\n");
	f = metrics_xml_open(main_path, EXPRESSION_ORDINARY, error);
	CHECK(is(value_of(gpu_of(f, "gfx900", METRICS_FILE_EXTENDS), "A"), 3));
	metrics_file_close(f);
	write_file(other, "#include \"main.xml\"\n");
	CHECK(!metrics_xml_open(main_path, EXPRESSION_ORDINARY, error));
	CHECK(strstr(error, "files include each other"));
	unlink(main_path);
	unlink(other);
	rmdir(dir);
}

TEST(excerpt_has_what_the_names_need_and_reads_back)
{
	static const char *const names[] = { "Later", "TCC_HIT_all[2]", "FETCH_SIZE", "Odd" };
	struct metrics_file *f = parse("<gfx9><metric name=Odd expr='10-3-2' rules=v1 "
				       "descr='&quot;&lt;\\\\' /><metric name=Not expr=1/></gfx9>"
				       "<global><metric name=Later expr=TCC_EA_RDREQ_sum+Part />"
				       "<metric name=Part expr=2/>"
				       "<metric name=TCC_EA_RDREQ_sum expr=5/></global>");
	char *text = f ? metrics_xml_excerpt(f, "gfx900:xnack-", names, 4, error) : NULL;
	struct metrics_file *again;
	const struct counter_gpu *gpu;
	char why[METRIC_ERROR_SIZE];
	struct metric m;

	CHECK(text && !strstr(text, "Not"));
	again = parse(text ? text : "");
	gpu = gpu_of(again, "gfx900", METRICS_FILE_EXTENDS);
	CHECK(is(value_of(gpu, "Later"), 7));
	CHECK(is(value_of(gpu, "Odd"), 9));
	CHECK(is(value_of(gpu, "FETCH_SIZE"),
		 value_of(gpu_of(f, "gfx900", METRICS_FILE_EXTENDS), "FETCH_SIZE")));
	CHECK(gpu && metric_find(gpu, "Odd", &m, why) && strcmp(m.description, "\"<\\") == 0);
	free(text);
	text = metrics_xml_excerpt(f, "gfx900", (const char *const[]){ "SQ_WAVES" }, 1, error);
	CHECK(text && !*text);
	free(text);
	metrics_file_close(again);
	metrics_file_close(f);
}

/* Each allocation fails in turn. */
TEST(file_without_memory_is_refused_with_that_reason)
{
	static const char text[] =
		"<gfx900>\n<metric name=MINE block=SQ event=4 descr=\"x\"></metric>\n</gfx900>\n"
		"<global>\n<metric name=TWICE expr=2*MINE+L2CacheHit></metric>\n</global>\n";
	static const char *const names[] = { "TWICE" };
	bool good = false;

	for (uint64_t n = 1; !good; n++) {
		const struct counter_gpu *gpu = NULL;
		struct metrics_file *f;
		char *excerpt = NULL;

		CHECK_LT_UINT(n, 100000);
		error[0] = '\0';
		alloc_fail_at(n);
		f = metrics_xml_parse("my.xml", text, strlen(text), EXPRESSION_ORDINARY, error);
		gpu = f ? metrics_file_gpu(f, "gfx900", METRICS_FILE_EXTENDS, error) : NULL;
		if (gpu)
			excerpt = metrics_xml_excerpt(f, "gfx900", names, 1, error);
		alloc_fail_at(0);
		good = excerpt != NULL;
		if (good)
			CHECK_STR_HAS(excerpt, "TWICE");
		else
			CHECK_STR_HAS(error, "memory");
		free(excerpt);
		metrics_file_close(f);
	}
}
