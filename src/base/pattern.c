/* SPDX-License-Identifier: MIT */
/* pattern.c - expands %p and similar parts, in the spelling of nsys and in that of rocprofv3
 *
 * Threads:  as getenv(3); pattern_facts_read() before threads.
 * Fails:    -ENAMETOOLONG; unknown parts are kept literally.
 */
#include "base/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/str.h"

enum part {
	PART_NONE,
	PART_PID,
	PART_HOST,
	PART_RANK,
	PART_JOB,
	PART_ENV,
	PART_PERCENT,
	PART_PPID,
	PART_NID,
	PART_SIZE
};

struct spelling {
	const char *text;
	enum part part;
};

/* Longer ones first: "%pid%" also begins with "%p". */
static const struct spelling spellings[] = {
	{ "%pid%", PART_PID },	 { "%hostname%", PART_HOST }, { "%rank%", PART_RANK },
	{ "%ppid%", PART_PPID }, { "%nid%", PART_NID },	      { "%size%", PART_SIZE },
	{ "%job%", PART_JOB },	 { "%env{", PART_ENV },	      { "%q{", PART_ENV },
	{ "%p", PART_PID },	 { "%h", PART_HOST },	      { "%r", PART_RANK },
	{ "%j", PART_JOB },	 { "%%", PART_PERCENT },
};

static void add_name(struct str *s, const char *text)
{
	for (; *text; text++)
		str_add_n(s, *text == '/' ? "_" : text, 1);
}

/* `p` is behind the brace. Returns what follows the whole part, NULL if it has no end. */
static const char *add_env(struct str *s, const char *p, char end, const struct pattern_facts *f)
{
	const char *brace = strchr(p, '}');
	char name[128];
	const char *value;
	struct str n;

	if (!brace || (end && brace[1] != end))
		return NULL;
	str_init(&n, name, sizeof(name));
	str_add_n(&n, p, (size_t)(brace - p));
	value = n.cut ? NULL : f->get ? f->get(name) : getenv(name);
	if (value)
		str_add(s, value);
	return brace + 1 + (end ? 1 : 0);
}

static void add_part(struct str *s, enum part part, const struct pattern_facts *f)
{
	bool has_rank = f->rank && f->rank->rank >= 0;

	if (part == PART_PID || (part == PART_NID && !has_rank))
		str_add_uint(s, f->pid);
	else if (part == PART_PPID)
		str_add_uint(s, f->ppid);
	else if (part == PART_SIZE)
		str_add_uint(s, f->rank && f->rank->world_size > 0 ? (uint64_t)f->rank->world_size :
								     1);
	else if (part == PART_HOST)
		add_name(s, f->host ? f->host : "");
	else if (part == PART_RANK || part == PART_NID)
		str_add_uint(s, has_rank ? (uint64_t)f->rank->rank : 0);
	else if (part == PART_JOB)
		add_name(s, f->rank && *f->rank->job ? f->rank->job : "0");
	else
		str_add(s, "%");
}

int pattern_expand(char *out, size_t size, const char *pattern, const struct pattern_facts *facts)
{
	struct str s;

	if (!size)
		return -ENAMETOOLONG;
	str_init(&s, out, size);
	for (const char *p = pattern; *p;) {
		const char *next = NULL;

		for (size_t i = 0;
		     *p == '%' && !next && i < sizeof(spellings) / sizeof(spellings[0]); i++) {
			const struct spelling *w = &spellings[i];
			size_t n = strlen(w->text);

			if (strncmp(p, w->text, n) != 0)
				continue;
			if (w->part == PART_ENV) {
				next = add_env(&s, p + n, n > 3 ? '%' : 0, facts);
				continue;
			}
			add_part(&s, w->part, facts);
			next = p + n;
		}
		if (*p == '%' && !next && facts->unknown)
			facts->unknown(p);
		if (!next) {
			str_add_n(&s, p, 1);
			next = p + 1;
		}
		p = next;
	}
	return s.cut ? -ENAMETOOLONG : 0;
}

void pattern_facts_read(struct pattern_facts *facts, struct rank *rank)
{
	static struct utsname names;

	if (uname(&names) != 0)
		names.nodename[0] = '\0';
	rank_read(rank, NULL);
	facts->pid = (uint32_t)getpid();
	facts->host = names.nodename;
	facts->rank = rank;
	facts->get = NULL;
	facts->unknown = NULL;
	facts->ppid = (uint32_t)getppid();
}
