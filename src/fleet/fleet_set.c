/* SPDX-License-Identifier: MIT */
/* fleet_set.c - the folders of a data set */
#include "fleet/fleet_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/parquet/parquet.h"

#define ENDING ".parquet"

const char *const fleet_tables[FLEET_TABLES] = { "dispatches", "copies",    "calls",
						 "ranges",     "processes", "losses",
						 "agents",     "counters",  "clocks" };

const struct fleet_added fleet_added[] = {
	{ "dispatches", "tid", false, 2 },
	{ "dispatches", "communicator", true, 2 },
	{ NULL, NULL, false, 0 },
};

char *fleet_set_columns(size_t table)
{
	return parquet_columns(fleet_tables[table]);
}

/* ---- names ---- */

const char *fleet_set_value(const char *name, const char *key)
{
	size_t n = strlen(key);

	return strncmp(name, key, n) == 0 && name[n] == '=' && name[n + 1] ? name + n + 1 : NULL;
}

bool fleet_set_number(const char *text, int64_t *number)
{
	char again[24];
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	snprintf(again, sizeof(again), "%lld", (long long)*number);
	return !errno && *number >= -1 && strcmp(again, text) == 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %XX as the byte. */
static char *decoded(const char *value)
{
	char *out = malloc(strlen(value) + 1), *to = out;

	for (; out && *value; value++) {
		if (*value == '%' && hex(value[1]) >= 0 && hex(value[2]) >= 0) {
			*to++ = (char)(hex(value[1]) * 16 + hex(value[2]));
			value += 2;
		} else {
			*to++ = *value;
		}
	}
	if (out)
		*to = '\0';
	return out;
}

/* ---- what is wrong ---- */

void fleet_set_problem(struct fleet_set *s, const char *fmt, ...)
{
	char **more = reallocarray(s->problems, s->nr_problems + 1, sizeof(*more));
	char *text = NULL;
	va_list ap;

	if (!more)
		return;
	s->problems = more;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		s->problems[s->nr_problems++] = text;
}

static void count_asked(struct fleet_set *s)
{
	s->nr_asked = 0;
	s->is_mixed = false;
	s->schema = 0;
	memset(s->rows, 0, sizeof(s->rows));
	for (size_t i = 0; i < s->nr; i++) {
		if (!fleet_set_asks(&s->ranks[i]))
			continue;
		s->nr_asked++;
		s->is_mixed |= (s->schema && s->schema != s->ranks[i].newest) ||
			       s->ranks[i].schema != s->ranks[i].newest;
		if (s->ranks[i].newest > s->schema)
			s->schema = s->ranks[i].newest;
		for (size_t t = 0; t < FLEET_TABLES; t++)
			s->rows[t] += s->ranks[i].rows[t];
	}
}

int fleet_set_newest(const struct fleet_set *s, size_t first, size_t end)
{
	int newest = 0;

	for (size_t i = first; i < end; i++)
		if (fleet_set_asks(&s->ranks[i]) && s->ranks[i].newest > newest)
			newest = s->ranks[i].newest;
	return newest;
}

void fleet_set_leave_out(struct fleet_set *s, struct fleet_rank *r, const char *what)
{
	fleet_set_problem(
		s,
		"%s/%s: %s; the rank is left out: convert it again with --force, or delete its folder",
		s->dir, r->folder, what);
	r->bad = true;
	s->nr_bad++;
	count_asked(s);
}

void fleet_set_ask(struct fleet_set *s, const char *job, const int64_t *ranks, size_t nr_ranks)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct fleet_rank *r = &s->ranks[i];
		bool named = !ranks;

		for (size_t k = 0; k < nr_ranks && !named; k++)
			named = ranks[k] == r->rank;
		r->is_hidden = !named || (job && strcmp(job, r->job) != 0);
	}
	count_asked(s);
}

/* ---- folders ---- */

static int compare_ranks(const void *a, const void *b)
{
	const struct fleet_rank *x = a, *y = b;
	int by = strcmp(x->job, y->job);

	return by ? by : x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int add_rank(struct fleet_set *s, const char *job, int64_t rank)
{
	struct fleet_rank *more = reallocarray(s->ranks, s->nr + 1, sizeof(*more));
	struct fleet_rank *r;

	if (!more)
		return -ENOMEM;
	s->ranks = more;
	r = &more[s->nr];
	memset(r, 0, sizeof(*r));
	r->rank = rank;
	r->job = decoded(job);
	if (asprintf(&r->folder, "job=%s/rank=%lld", job, (long long)rank) < 0)
		r->folder = NULL;
	if (!r->job || !r->folder) {
		free(r->job);
		free(r->folder);
		return -ENOMEM;
	}
	s->nr++;
	return 0;
}

static int list_job(struct fleet_set *s, const char *name)
{
	const char *job = fleet_set_value(name, "job"), *value;
	char path[PATH_MAX + NAME_MAX + 2];
	struct dirent *entry;
	int64_t rank;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	dir = opendir(path);
	if (!dir) {
		fleet_set_problem(s, "%s: %s", path,
				  errno == ENOTDIR ? "is no folder; move it away" :
						     strerror(errno));
		return 0;
	}
	while (!err && (entry = readdir(dir))) {
		value = fleet_set_value(entry->d_name, "rank");
		if (value && fleet_set_number(value, &rank))
			err = add_rank(s, job, rank);
		else if (value)
			fleet_set_problem(s, "%s/%s: is no number of a rank; move it away", path,
					  entry->d_name);
		else if (strncmp(entry->d_name, ".rank=", 6) == 0)
			fleet_set_problem(
				s,
				"%s/%s: a rank that is being written, or whose writer was killed; convert it again, "
				"and delete it when nothing writes to it",
				path, entry->d_name);
	}
	closedir(dir);
	return err;
}

/* The footers of a rank's files. */
static int look_at(struct fleet_set *s, struct fleet_rank *r)
{
	char path[PATH_MAX + NAME_MAX * 2], error[FLEET_ERROR], what[FLEET_ERROR + 64];
	struct fleet_file *f;

	for (size_t i = 0; i < FLEET_TABLES; i++) {
		int err;

		snprintf(path, sizeof(path), "%s/%s/%s" ENDING, s->dir, r->folder, fleet_tables[i]);
		err = fleet_file_open(&f, path, error);
		if (err == -ENOMEM)
			return err;
		if (!err && strcmp(f->table, fleet_tables[i]) != 0) {
			snprintf(error, sizeof(error), "has the table %.80s", f->table);
			fleet_file_close(f);
			err = -EBADMSG;
		}
		if (err) {
			snprintf(what, sizeof(what), "%s" ENDING " %s", fleet_tables[i], error);
			fleet_set_leave_out(s, r, what);
			return 0;
		}
		if (!r->schema || f->schema < r->schema)
			r->schema = f->schema;
		if (f->schema > r->newest)
			r->newest = f->schema;
		r->rows[i] = f->nr_rows;
		fleet_file_close(f);
	}
	return 0;
}

int fleet_set_open(struct fleet_set *s, const char *path)
{
	char *real = realpath(path, NULL);
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	memset(s, 0, sizeof(*s));
	if (!real)
		return -errno;
	snprintf(s->dir, sizeof(s->dir), "%s", real);
	free(real);
	dir = opendir(s->dir);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (fleet_set_value(entry->d_name, "job"))
			err = list_job(s, entry->d_name);
	closedir(dir);
	if (s->nr)
		qsort(s->ranks, s->nr, sizeof(*s->ranks), compare_ranks);
	for (size_t i = 0; i < s->nr && !err; i++)
		err = look_at(s, &s->ranks[i]);
	count_asked(s);
	return err;
}

static int verify_file(const char *path, char error[FLEET_ERROR])
{
	struct fleet_values v = { 0 };
	struct fleet_file *f;
	int err = fleet_file_open(&f, path, error);

	for (size_t g = 0; !err && g < f->nr_groups; g++)
		for (size_t c = 0; !err && c < f->nr_columns; c++)
			err = fleet_page_read(f, g, c, &v, error);
	fleet_page_fini(&v);
	if (f)
		fleet_file_close(f);
	return err;
}

size_t fleet_set_verify(struct fleet_set *s)
{
	char path[PATH_MAX + NAME_MAX * 2], error[FLEET_ERROR], what[FLEET_ERROR + 64];
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct fleet_rank *r = &s->ranks[i];

		for (size_t t = 0; t < FLEET_TABLES && fleet_set_asks(r); t++) {
			snprintf(path, sizeof(path), "%s/%s/%s" ENDING, s->dir, r->folder,
				 fleet_tables[t]);
			if (verify_file(path, error) == 0)
				continue;
			snprintf(what, sizeof(what), "%s" ENDING " %s", fleet_tables[t], error);
			fleet_set_leave_out(s, r, what);
			nr++;
		}
	}
	return nr;
}

void fleet_set_close(struct fleet_set *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->ranks[i].job);
		free(s->ranks[i].folder);
	}
	for (size_t i = 0; i < s->nr_problems; i++)
		free(s->problems[i]);
	free(s->ranks);
	free(s->problems);
	memset(s, 0, sizeof(*s));
}
