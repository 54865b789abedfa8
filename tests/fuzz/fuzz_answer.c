/* SPDX-License-Identifier: MIT */
/* fuzz_answer.c - any bytes as what an engine of rtl fleet answers: a server by HTTP, or CSV
 *
 * The first byte chooses the question, and which of the two.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_ask.h"

#define BY_HTTP 128u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned int seen;

static void look_at(const struct sheet *t)
{
	for (size_t row = 0; row < t->nr_rows; row++) {
		for (size_t column = 0; column < t->nr_columns; column++) {
			const struct sheet_cell *cell = sheet_cell(t, row, column);

			if (cell->text)
				seen += (unsigned int)strlen(cell->text);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? data[0] : 0;
	char error[FLEET_MESSAGE] = "", *text = malloc(size + 1), *body = text;
	struct fleet_question q;
	struct sheet t = { 0 };
	size_t nr = 0;

	while (fleet_texts[nr].name)
		nr++;
	/* behind the questions are scripts, which are none */
	if (!text || fleet_question_open(&q, fleet_texts[(how & ~BY_HTTP) % nr].name)) {
		free(text);
		return 0;
	}
	if (size)
		memcpy(text, data + 1, size - 1);
	text[size ? size - 1 : 0] = '\0';
	if (how & BY_HTTP)
		body = fleet_clickhouse_body(text, size ? size - 1 : 0, error);
	fleet_question_columns(&q, &t);
	if (body && fleet_csv_text(body, &q, &t, error) == 0)
		look_at(&t);
	else if (!*error)
		abort();
	sheet_fini(&t);
	fleet_question_close(&q);
	free(text);
	return 0;
}
