/* SPDX-License-Identifier: MIT */
/* selftest.c - the verdicts of the self-test's checks
 *
 * Texts lose host name, user name and paths when they are stored: the file is to be attached to a
 * report.
 */
#include "cli/selftest/selftest.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/ui.h"

const char *const selftest_names[SELFTEST_NR] = {
#define X(id, name, what) [SELFTEST_##id] = name,
	SELFTEST_CHECKS(X)
#undef X
};

const char *const selftest_whats[SELFTEST_NR] = {
#define X(id, name, what) [SELFTEST_##id] = what,
	SELFTEST_CHECKS(X)
#undef X
};

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The text with each `what` of it replaced; the old one is freed. */
static char *replace(char *text, const char *what, const char *with)
{
	char *at, *next = ui_format("%s", ""), *rest = text;

	if (!what || strlen(what) < 2)
		what = "\n"; /* which no text has */
	while ((at = strstr(rest, what))) {
		char *more = ui_format("%s%.*s%s", next, (int)(at - rest), rest, with);

		free(next);
		next = more;
		rest = at + strlen(what);
	}
	at = ui_format("%s%s", next, rest);
	free(next);
	free(text);
	return at;
}

static char *without_names(const struct selftest *s, char *text)
{
	const struct passwd *user = getpwuid(getuid());
	struct utsname u;

	text = replace(text, s->dir, "DIRECTORY");
	text = replace(text, s->paths.root, "PREFIX");
	if (getenv("HOME") && strcmp(getenv("HOME"), "/") != 0)
		text = replace(text, getenv("HOME"), "HOME");
	/* short names and "root" are parts of words */
	if (user && strlen(user->pw_name) > 3 && strcmp(user->pw_name, "root") != 0)
		text = replace(text, user->pw_name, "USER");
	if (uname(&u) == 0 && strlen(u.nodename) > 3)
		text = replace(text, u.nodename, "HOST");
	return text;
}

/* Whether a word of the list names the check, its group, or all of a name up to a dot. */
static bool is_chosen(const char *only, const char *name)
{
	while (*only) {
		size_t n = strcspn(only, ", ");

		if (n && strncmp(only, name, n) == 0 && (!name[n] || name[n] == '.'))
			return true;
		only += n + (only[n] != 0);
	}
	return false;
}

bool selftest_wants(const struct selftest *s, enum selftest_id first, enum selftest_id last)
{
	for (unsigned int i = first; i <= last; i++)
		if (!s->only || is_chosen(s->only, selftest_names[i]))
			return true;
	return false;
}

void selftest_set(struct selftest *s, enum selftest_id id, enum selftest_verdict verdict,
		  const char *fmt, ...)
{
	struct selftest_result *r = &s->results[id];
	char text[1024];
	va_list ap;

	if (!selftest_wants(s, id, id))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	free(r->text);
	r->verdict = verdict;
	r->text = without_names(s, ui_format("%s", text));
}

void selftest_rest(struct selftest *s, enum selftest_id first, enum selftest_id last,
		   enum selftest_verdict verdict, const char *why)
{
	for (unsigned int i = first; i <= last; i++)
		if (s->results[i].verdict == SELFTEST_NOT_RUN)
			selftest_set(s, (enum selftest_id)i, verdict, "%s", why);
}
