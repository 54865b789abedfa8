/* SPDX-License-Identifier: MIT */
/* perfetto_internal.h - what the files of the Chrome JSON writer share
 *
 *	perfetto.c	 the interface: input, output, header, time base
 *	perfetto_gpu.c	 operations: one process for each GPU, one thread for each lane of a queue
 *	perfetto_host.c	 markers and calls: one process for each traced one, its threads
 */
#ifndef RTL_EXPORT_PERFETTO_INTERNAL_H
#define RTL_EXPORT_PERFETTO_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"
#include "export/json.h"
#include "store/map.h"

/* Process ids of GPU tracks: above any pid of a host, below 2^31. */
#define PERFETTO_GPU_PID INT64_C(2000000000)

struct perfetto_process {
	int64_t id, id_first, id_last; /* ids of its rows */
	int64_t pid;		       /* unique in the file */
	char *name;
};

/* A JSON text that is made once for each row of a small table, found by the row's id. */
struct perfetto_texts {
	struct map index;
	struct perfetto_text {
		char *json;
		size_t size;
	} * texts;
	size_t nr, size; /* size: bytes of all */
};

struct perfetto {
	sqlite3 *db;
	const char *path; /* of the input, for messages */
	const struct rocpd_options *opt;
	struct rocpd_result *res;
	bool ours; /* the database has rtl_ tables */
	bool has_ustring;
	int64_t base_ns; /* the earliest event of any kind */
	struct perfetto_process *processes;
	size_t nr_processes;
	uint64_t done, total;
	uint64_t nr_events;
	struct json json;
};

/* SQL that does not compile is an error of the file. 0 or -errno with res->error. */
int perfetto_prepare(struct perfetto *p, sqlite3_stmt **stmt, const char *sql);
/* 1: a row; 0: the end; or -errno with res->error. Counts rows for the progress bar. */
int perfetto_step(struct perfetto *p, sqlite3_stmt *stmt);
/* The process that a row of this id belongs to, or NULL. */
const struct perfetto_process *perfetto_process_of(const struct perfetto *p, int64_t id);

/* The text for key, made from the statement's row for ?1 = key by `make`, which writes one value (or
 * members) to a JSON writer. Valid until the next call. NULL: no memory, res->error is set. */
typedef void (*perfetto_make_fn)(struct json *j, sqlite3_stmt *row);
const struct perfetto_text *perfetto_text(struct perfetto *p, struct perfetto_texts *texts,
					  int64_t key, sqlite3_stmt *stmt, perfetto_make_fn make);
void perfetto_texts_fini(struct perfetto_texts *texts);

/* The beginning of an event: {"ph":"X","pid":..,"tid":..,"ts":..; the caller goes on with keys. */
void perfetto_event(struct perfetto *p, const char *phase, int64_t pid, int64_t tid, int64_t ns);
/* A whole metadata event whose argument is a text or, with NULL, a number. */
void perfetto_meta(struct perfetto *p, const char *what, int64_t pid, int64_t tid, const char *text,
		   int64_t number);

int perfetto_gpu_write(struct perfetto *p);
int perfetto_host_write(struct perfetto *p);

#endif
