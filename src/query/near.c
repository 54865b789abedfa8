/* SPDX-License-Identifier: MIT */
/* near.c - for messages: the names of a trace that are most like a text of the user's
 *
 * The distance is the number of letters to change, remove or add until the text is a part of the
 * name; case does not count.
 */
#include "query/near.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "query/label.h"
#include "query/rows.h"

enum { NAMES = 3, WORD_MAX = 40 };

struct found {
	char name[LABEL_SIZE];
	unsigned int distance;
};

/* The letters, digits and underscores of a regular expression, up to WORD_MAX. */
static size_t plain_letters(const char *regex, char word[WORD_MAX])
{
	size_t n = 0;

	for (; *regex && n < WORD_MAX; regex++)
		if (isalnum((unsigned char)*regex) || *regex == '_')
			word[n++] = (char)tolower((unsigned char)*regex);
	return n;
}

/* Of the word to the part of the name that is most like it. */
static unsigned int distance_within(const char *word, size_t n, const char *name)
{
	unsigned int column[WORD_MAX + 1], best = (unsigned int)n;

	for (size_t i = 0; i <= n; i++)
		column[i] = (unsigned int)i;
	for (; *name; name++) {
		int letter = tolower((unsigned char)*name);
		unsigned int diagonal = 0; /* a part may begin anywhere */

		for (size_t i = 1; i <= n; i++) {
			unsigned int least = diagonal + (word[i - 1] != letter);

			diagonal = column[i];
			if (diagonal + 1 < least)
				least = diagonal + 1;
			if (column[i - 1] + 1 < least)
				least = column[i - 1] + 1;
			column[i] = least;
		}
		if (column[n] < best)
			best = column[n];
	}
	return best;
}

/* Keeps the nearest; of the same distance those that came first. Template arguments may differ
 * behind the end of a label. */
static void keep(struct found found[NAMES], size_t *nr, const char *name, unsigned int distance)
{
	size_t at = *nr;

	for (size_t i = 0; i < *nr; i++)
		if (strcmp(found[i].name, name) == 0)
			return;
	while (at && found[at - 1].distance > distance)
		at--;
	if (at == NAMES)
		return;
	*nr += *nr < NAMES;
	memmove(&found[at + 1], &found[at], (*nr - at - 1) * sizeof(*found));
	snprintf(found[at].name, sizeof(found[at].name), "%s", name);
	found[at].distance = distance;
}

int near_kernels(struct query *q, const char *regex, char out[NEAR_SIZE], bool *alike)
{
	char word[WORD_MAX], label[LABEL_SIZE];
	struct found found[NAMES];
	size_t n = plain_letters(regex, word), nr = 0, used = 0;
	unsigned int limit = (unsigned int)(n + 1) / 3; /* more is another word */
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(
		q, &row,
		"SELECT D.string FROM (SELECT description_id AS id, opType_id AS type, count(*) AS n "
		"FROM main.rocpd_op GROUP BY 1, 2) O JOIN rocpd_string D ON D.id = O.id JOIN "
		"rocpd_string T ON T.id = O.type WHERE D.string <> '' AND NOT " KINDS_IS_TRANSFER(
			"T.string", "D.string") " ORDER BY O.n DESC, 1");

	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		const char *name = label_kernel(label, query_text(row, 0));
		unsigned int distance = distance_within(word, n, name);

		keep(found, &nr, name, distance <= limit && distance < n ? distance : UINT32_MAX);
		ret = 0;
	}
	sqlite3_finalize(row);
	*alike = nr && found[0].distance != UINT32_MAX;
	*out = 0;
	for (size_t i = 0; i < nr && (!*alike || found[i].distance != UINT32_MAX); i++)
		used += (size_t)snprintf(out + used, NEAR_SIZE - used, "%s%s", i ? ", " : "",
					 found[i].name);
	return ret;
}
