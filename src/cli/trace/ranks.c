/* SPDX-License-Identifier: MIT */
/* ranks.c - a database for each rank
 *
 * The rank of a process is a fact in its raw trace. The thread that noted it may fill its chunk
 * late, so that everything else can be in front of it.
 */
#include "cli/trace/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/rank.h"
#include "cli/paths.h"
#include "cli/trace/dataset.h"
#include "cli/ui.h"
#include "spool/format.h"
#include "store/load.h"
#include "store/map.h"

static bool expand(char out[PATH_MAX], const char *pattern, uint32_t pid, int64_t rank)
{
	struct pattern_facts facts;
	struct rank of;

	pattern_facts_read(&facts, &of);
	of.rank = rank;
	facts.pid = pid;
	facts.unknown = NULL;
	return pattern_expand(out, PATH_MAX, pattern, &facts) == 0;
}

bool ranks_are_split(const char *pattern)
{
	char one[PATH_MAX], other[PATH_MAX];
	struct rank rank;

	rank_read(&rank, NULL);
	return rank.rank == RANK_NONE && expand(one, pattern, 1, 1) &&
	       expand(other, pattern, 1, 2) && strcmp(one, other) != 0;
}

char *ranks_own_pattern(const char *pattern, const struct rank *rank)
{
	char one[PATH_MAX], other[PATH_MAX], restart[32] = "";
	const char *base = strrchr(pattern, '/'), *dot;
	bool is_same, is_same_again; /* for another rank; for the same one, started again */

	if (dataset_is(pattern) || rank->rank == RANK_NONE || strstr(pattern, "%q{") ||
	    strstr(pattern, "%env{") || !expand(one, pattern, 1, 1) ||
	    !expand(other, pattern, 2, 2))
		return NULL;
	is_same = rank->world_size > 1 && strcmp(one, other) == 0;
	/* the job of a rank that was started again is another one */
	is_same_again = rank->restarts > 0 && !strstr(pattern, "%j") &&
			expand(other, pattern, 2, 1) && strcmp(one, other) == 0;
	if (!is_same && !is_same_again)
		return NULL;
	base = base ? base + 1 : pattern;
	dot = strrchr(base, '.');
	if (!dot || dot == base)
		dot = base + strlen(base);
	if (is_same_again)
		snprintf(restart, sizeof(restart), "-restart%" PRId64, rank->restarts);
	return ui_format("%.*s%s%s%s", (int)(dot - pattern), pattern, is_same ? "-rank%r" : "",
			 restart, dot);
}

/* The text of a short string, which is one piece. */
static bool is_number(const struct rec_string *s, int64_t *number)
{
	char text[24], *end;

	if (s->offset || !s->total || s->total >= sizeof(text))
		return false;
	memcpy(text, s->bytes, s->total);
	text[s->total] = 0;
	*number = strtoll(text, &end, 10);
	return !*end && *number >= 0;
}

int64_t ranks_of(const char *spool)
{
	const struct chunk_header *chunk;
	const struct rec_head *rec;
	struct map numbers = { 0 };
	struct load_error error;
	uint64_t value = 0;
	uint32_t key = 0;
	struct load *load;

	if (load_open(&load, spool, &error))
		return 0;
	while (load_next(load, &rec, &chunk) == 1) {
		const struct rec_string *s = (const struct rec_string *)rec;
		const struct rec_info *info = (const struct rec_info *)rec;
		int64_t number;

		if (rec->type == REC_STRING && s->total == 4 && !s->offset &&
		    memcmp(s->bytes, "rank", 4) == 0)
			key = rec->id;
		else if (rec->type == REC_STRING && is_number(s, &number)) {
			if (map_put(&numbers, rec->id, (uint64_t)number))
				ui_die_memory();
		} else if (rec->type == REC_INFO && key && info->key == key) {
			map_get(&numbers, info->value, &value);
			break;
		}
	}
	map_fini(&numbers);
	load_close(load);
	return (int64_t)value;
}

void ranks_sort(const char **spools, int64_t *ranks, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *spool = spools[i];
		int64_t rank = ranks_of(spool);
		size_t at = i;

		for (; at && ranks[at - 1] > rank; at--) {
			ranks[at] = ranks[at - 1];
			spools[at] = spools[at - 1];
		}
		ranks[at] = rank;
		spools[at] = spool;
	}
}

bool ranks_name(struct session *s, const char *pattern, uint32_t pid, int64_t rank)
{
	return expand(s->shown, pattern, pid, rank) && paths_absolute(s->output, s->shown) == 0;
}
