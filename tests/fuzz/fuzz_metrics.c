/* SPDX-License-Identifier: MIT */
/* fuzz_metrics.c - any text as a file of metrics: read, made to the list of a GPU, and its excerpt
 * read again
 *
 * The first byte chooses the GPU, the form (XML or YAML), the rules and the use.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counter/metrics_xml.h"
#include "counter/metrics_yaml.h"

#define NAMES_MAX 16u
#define AS_YAML 128u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_say_why(const char *error)
{
	if (!error[0])
		abort();
}

/* What the excerpt of the first metrics has must be understood, and the same again. */
static void excerpt(struct metrics_file *f, const struct counter_gpu *gpu, const char *agent)
{
	char error[METRICS_FILE_ERROR_SIZE] = "";
	const char *names[NAMES_MAX];
	struct metrics_file *again;
	uint32_t nr = 0;
	char *text, *twice;

	for (uint32_t i = gpu->nr_deriveds; i && nr < NAMES_MAX; i--)
		names[nr++] = gpu->deriveds[i - 1].name;
	text = metrics_xml_excerpt(f, agent, names, nr, error);
	if (!text) /* what can be used alone need not fit to the GPU's own */
		return;
	again = metrics_xml_parse("excerpt", text, strlen(text), EXPRESSION_ORDINARY, error);
	if (!again)
		abort();
	twice = metrics_xml_excerpt(again, agent, names, nr, error);
	if (!twice || strcmp(text, twice) != 0)
		abort();
	free(twice);
	free(text);
	metrics_file_close(again);
}

/* As rocprofiler_load_counter_definition() and rtl take it. */
static struct metrics_file *parse_yaml(const uint8_t *data, size_t size, const char *agent,
				       enum metrics_file_use use, char *error)
{
	char *text = malloc(size + 1);
	const struct metrics_text file = { "fuzz.yaml", text };
	struct metrics_file *f;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	f = metrics_yaml_parse(&file, 1, agent, use, error);
	free(text);
	return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? data[0] : 0;
	const char *agent = counter_gpus[((how & ~AS_YAML) >> 2) % counter_nr_gpus].name;
	enum metrics_file_use use = how & 2 ? METRICS_FILE_ALONE : METRICS_FILE_EXTENDS;
	char error[METRICS_FILE_ERROR_SIZE] = "";
	const struct counter_gpu *gpu;
	struct metrics_file *f =
		how & AS_YAML ?
			parse_yaml(data + 1, size - 1, agent, use, error) :
			metrics_xml_parse("fuzz.xml", size ? (const char *)data + 1 : "",
					  size ? size - 1 : 0,
					  how & 1 ? EXPRESSION_V1 : EXPRESSION_ORDINARY, error);

	if (!f) {
		must_say_why(error);
		return 0;
	}
	gpu = metrics_file_gpu(f, agent, use, error);
	if (gpu)
		excerpt(f, gpu, agent);
	else
		must_say_why(error);
	metrics_file_close(f);
	return 0;
}
