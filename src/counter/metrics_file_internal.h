/* SPDX-License-Identifier: MIT */
/* metrics_file_internal.h - what the readers of files of metrics share
 *
 *	metrics_file.c	entries, and the lists of a GPU that are made of them
 *	metrics_xml.c	files in rocprof's XML; excerpts
 *	metrics_yaml.c	files in rocprofiler-sdk's YAML
 */
#ifndef RTL_COUNTER_METRICS_FILE_INTERNAL_H
#define RTL_COUNTER_METRICS_FILE_INTERNAL_H

#include "counter/metrics_file.h"

#define METRICS_SCOPES_MAX 256u
#define METRICS_NAME_MAX 100u

/* Where something stands. */
struct metrics_at {
	const char *file;
	unsigned int line;
};

/* A metric as a file gives it. NULL: it does not say. */
struct metrics_given {
	const char *name, *expression, *block, *event, *description, *unit, *rules;
};

/* A metric. Its block or its expression is NULL. */
struct metrics_entry {
	const char *name, *expression, *block, *description, *unit;
	uint32_t event;
	enum expression_rules rules;
	struct metrics_at at;
};

struct metrics_scope {
	const char *name;
	struct metrics_entry **entries;
	uint32_t nr, size;
};

/* The lists of a GPU. */
struct metrics_made {
	struct metrics_made *next;
	const char *agent;
	enum metrics_file_use use;
	struct counter_gpu gpu;
	struct counter_basic *basics;
	struct counter_derived *deriveds;
	const struct metrics_entry **from; /* of each derived metric; NULL: the GPU's own */
	const struct metrics_entry **all;  /* the file's for this GPU */
	uint32_t nr_all;
};

struct metrics_kept {
	struct metrics_kept *next;
	char text[];
};

struct metrics_file {
	struct metrics_scope scopes[METRICS_SCOPES_MAX];
	uint32_t nr_scopes, nr_entries;
	struct metrics_made *made;
	struct metrics_kept *kept;
	enum expression_rules rules;
	bool lenient; /* what a GPU can't count is left out, and no error */
	char *error;  /* while it is read */
};

/* `error` says what is wrong, and where, unless `at` is NULL. False, always. */
bool metrics_file_fail(char *error, const struct metrics_at *at, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* An empty one, whose errors go to `error`. NULL: no memory, which `error` says. */
struct metrics_file *metrics_file_new(const char *name, enum expression_rules rules, char *error);
/* NULL: there is none of that name. */
struct metrics_scope *metrics_file_find(struct metrics_file *f, const char *name, size_t size);
/* The scope of that name, perhaps a new one; NULL: f->error says why. */
struct metrics_scope *metrics_file_scope(struct metrics_file *f, const char *name,
					 const struct metrics_at *at);
/* Adds a metric. False: f->error says why. */
bool metrics_file_add(struct metrics_file *f, struct metrics_scope *s,
		      const struct metrics_given *given, const struct metrics_at *at);
/* Adds what `base` has and the scope has not. */
bool metrics_file_inherit(struct metrics_file *f, struct metrics_scope *s,
			  const struct metrics_scope *base);
/* As metrics_file_gpu(), with what it is made of. */
const struct metrics_made *metrics_file_made(struct metrics_file *f, const char *agent,
					     enum metrics_file_use use, char *error);

#endif
