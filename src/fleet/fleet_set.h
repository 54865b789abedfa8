/* SPDX-License-Identifier: MIT */
/* fleet_set.h - the folders of a data set: which ranks are there, whole, and which are not
 *
 * A rank whose files are not all there and whole is left out, with a reason. Other files and
 * folders than those of a data set are not looked at.
 *
 * Threads:  one.
 */
#ifndef RTL_FLEET_FLEET_SET_H
#define RTL_FLEET_FLEET_SET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/fleet_file.h"

#define FLEET_TABLES 9

/* Names of the tables, in any order; and of the columns of one, of the current version: "NAME TYPE,
 * ..." of SQL, malloc'd. */
extern const char *const fleet_tables[FLEET_TABLES];
char *fleet_set_columns(size_t table);

/* Columns that files of older versions lack; engines get them as NULL. Ends in a row whose table is
 * NULL. */
struct fleet_added {
	const char *table, *name;
	bool is_text; /* else an integer of 64 bits */
	int since;
};
extern const struct fleet_added fleet_added[];

struct fleet_rank {
	char *folder; /* job=JOB/rank=RANK, in the data set */
	char *job;    /* decoded */
	int64_t rank;
	uint64_t rows[FLEET_TABLES];
	int schema, newest; /* versions of its tables: the oldest, the newest */
	bool bad;	    /* left out */
	bool is_hidden;	    /* not asked: fleet_set_ask() */
};

struct fleet_set {
	char dir[PATH_MAX]; /* absolute */
	struct fleet_rank *ranks;
	size_t nr, nr_bad;
	uint64_t rows[FLEET_TABLES]; /* of the ranks that are asked */
	bool is_mixed;		     /* files of several versions of the tables are asked */
	int schema;		     /* the newest of them; 0: none */
	size_t nr_asked;	     /* ranks that engines are asked of */
	/* what is wrong, as lines for a user: "FILE: what; what to do" */
	char **problems;
	size_t nr_problems;
};

/* Looks at all folders and at the footer of each file. 0; -ENOENT: it is no data set; -ENOMEM, or
 * another -errno of the folder. */
int fleet_set_open(struct fleet_set *s, const char *dir);
/* Decodes every column of every file of the ranks that seem whole, and leaves out those that are
 * not. How many were found. */
size_t fleet_set_verify(struct fleet_set *s);
/* Whether engines are asked of a rank. */
static inline bool fleet_set_asks(const struct fleet_rank *r)
{
	return !r->bad && !r->is_hidden;
}
/* Only these ranks of a job are asked from now on; NULL: of any job, each rank. */
void fleet_set_ask(struct fleet_set *s, const char *job, const int64_t *ranks, size_t nr_ranks);
/* Leaves a rank out. `what`: a line. */
void fleet_set_leave_out(struct fleet_set *s, struct fleet_rank *r, const char *what);
/* The newest version of the tables of ranks from the first up to `end` that are asked; 0: none. */
int fleet_set_newest(const struct fleet_set *s, size_t first, size_t end);
/* A line of problems. */
void fleet_set_problem(struct fleet_set *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fleet_set_close(struct fleet_set *s);

/* The value of a part of a folder's name, KEY=VALUE; NULL: it is another name. */
const char *fleet_set_value(const char *name, const char *key);
/* A rank's number as it is written; false: it is none. */
bool fleet_set_number(const char *text, int64_t *number);

#endif
