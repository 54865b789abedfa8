/* SPDX-License-Identifier: MIT */
/* index.h - a trace with its references resolved: metadata first, then the operations as a stream
 *
 * index_open() reads the whole trace once and keeps what records refer to: strings, infos, agents,
 * queues, code objects, kernels, threads, clock samples. index_visit() reads it again and passes
 * every operation to a visitor, in the order of the file. Memory grows with the metadata
 * (kernels, queues, open markers), never with the number of operations; a call takes less than a
 * bit (ids.h). All strings are kept: the traced process interns those of arguments, so that each
 * distinct one is in its memory, too.
 */
#ifndef RTL_STORE_INDEX_H
#define RTL_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records_store_gen.h"
#include "store/flow.h"
#include "store/load.h"

/* Structures that hold exactly a record's fields are generated (records_store_gen.h), the others
 * are below. Strings are borrowed, end in NUL, are never NULL ("" when unknown) and live as long as
 * the index. */

struct store_thread {
	uint32_t tid;
	uint64_t first_ns; /* 0: other records refer to it, its REC_THREAD is missing */
	char name[17];
	bool has_record; /* in this part of the trace or an earlier one */
};

/* Operations. `flags` is enum rec_flags. end_ns is as recorded (0 when unfinished). */
struct store_dispatch {
	const struct store_kernel *kernel;
	const struct store_queue *queue;
	uint64_t begin_ticks, end_ticks, begin_ns, end_ns, packet, correlation, marker;
	uint32_t grid[3], private_size, group_size, tid, flags;
	uint16_t group[3];
	/* the visitor's: 0 at first, shared by dispatches of the same shape and chunk */
	uint64_t *shape_cookie;
};

struct store_marker {
	uint64_t time_ns, marker, parent;
	uint32_t kind, level, tid, size;
	const char *text; /* ends in NUL; valid until the callback returns */
};

struct store_marker_end {
	uint64_t time_ns, marker;
	uint32_t tid;
};

/* One argument of a function: see rec_op of spool/format.h. */
struct store_arg {
	const char *name;      /* as in the signature, "*ptr" and "parms.kind" included */
	char type;	       /* p h i u x b f g s z e d */
	const char *enum_name; /* type e, else "" */
	const char *role;      /* "" when it has none */
	uint32_t word;	       /* index of its (first) word */
};

struct store_op {
	uint32_t domain, number;
	const char *name;      /* "hip#NUMBER", "hsa#NUMBER" when its record is missing */
	const char *signature; /* as recorded */
	const struct store_arg *args;
	uint32_t nr_args, nr_words; /* words of all args */
	bool known;
};

struct store_api {
	const struct store_op *op;
	uint64_t begin_ns, end_ns, correlation, parent;
	uint32_t tid, domain, flags;
	int32_t status;
	uint32_t
		/* 0: recorded without arguments; else at least op->nr_words, or op is not known */
		nr_words;
	const uint64_t *words; /* valid until the callback returns */
};

/* Values of hardware counters of a dispatch, or a part of them. */
struct store_counters {
	uint32_t queue;	    /* id */
	uint64_t packet;    /* of the dispatch in its queue */
	const char *events; /* as in REC_COUNTERS */
	uint32_t shader_engines, xccs;
	uint32_t first, nr;	/* index of values[0] among all of the dispatch */
	const uint64_t *values; /* valid until the callback returns */
};

/* Callbacks return 0, or a negative errno that ends the visit. Any may be NULL. */
struct store_visitor {
	int (*dispatch)(void *arg, const struct store_dispatch *op);
	int (*marker_begin)(void *arg, const struct store_marker *marker);
	int (*marker_end)(void *arg, const struct store_marker_end *end);
	int (*api)(void *arg, const struct store_api *api);
	int (*counters)(void *arg, const struct store_counters *counters);
#define X(kind) int (*kind)(void *arg, const struct store_##kind *op);
	STORE_VISITED(X)
#undef X
	/* every few thousand records; done and total are bytes */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
};

/* Counted by index_open(). */
struct store_totals {
	uint64_t dispatches, internal_dispatches, copies, barriers, markers, records;
	uint64_t apis, api_args; /* calls; those recorded with arguments */
	uint64_t unfinished;
	uint64_t clocks, max_marker, max_correlation;
	/* operations, calls and markers in chunks that were removed, and their times */
	uint64_t evicted, evicted_first_ns, evicted_last_ns;
	uint64_t first_ns, last_ns; /* over all times seen, host and GPU; 0 when there are none */
};

struct index;

/* path as for load_open(). 0 or -errno with *err filled. */
int index_open(struct index **out, const char *path, struct load_error *err);

/* A trace that still grows is read in parts, each of them an index of its own. What earlier parts
 * had is given to the next one, so that its totals are those of all; a zeroed structure is the one
 * before the first part. */
struct index_past {
	uint64_t offset; /* in the disk half, of the first chunk behind the earlier parts */
	uint64_t most;	 /* bytes of the next part; 0: INDEX_PART */
	char *records;	 /* that define what later ones refer to, as they were recorded */
	size_t size, cap;
	struct rec_link *links; /* the last of them */
	size_t nr_links, cap_links;
	uint64_t *recent; /* keys of the last operations */
	size_t nr_recent, cap_recent;
	uint64_t bad_chunks;
	struct store_totals totals;
	struct flow flow;
};
void index_past_fini(struct index_past *past);

/* Opens what follows `past`, as far as it is on disk and what it refers to is known, past->most
 * bytes or a chunk more; all that was recorded if `whole`, as in the last part. */
#define INDEX_PART (UINT64_C(2) << 20)
int index_open_part(struct index **out, const char *path, const struct index_past *past, bool whole,
		    struct load_error *err);
/* Adds the part to `past`. 0 or -ENOMEM. */
int index_pass(struct index *index, struct index_past *past);
void index_close(struct index *index);

/* 0, the callback's error, or -EIO with *err filled. May be called again. Records that were written
 * after index_open() (a trace that still grows) are not visited. -ESTALE: chunks were removed since
 * then. */
int index_visit(struct index *index, const struct store_visitor *visitor, void *arg,
		struct load_error *err);
/* The same, and the records that the part has seen and a later one will visit. */
int index_visit_ahead(struct index *index, const struct store_visitor *visitor, void *arg,
		      struct load_error *err);

/* Arrays in the order of their ids; valid until index_close(). */
const struct store_agent *index_agents(const struct index *index, size_t *nr);
const struct store_queue *index_queues(const struct index *index, size_t *nr);
const struct store_code_object *index_code_objects(const struct index *index, size_t *nr);
const struct store_kernel *index_kernels(const struct index *index, size_t *nr);
const struct store_thread *index_threads(const struct index *index, size_t *nr);
const struct store_info *index_infos(const struct index *index, size_t *nr);
/* In the order of domain and number. index_string(): text of a string id, "" for 0 or unknown. */
const struct store_op *index_ops(const struct index *index, size_t *nr);
const char *index_string(const struct index *index, uint64_t id);
/* Whether the call of that correlation id is anywhere in the trace, or in this part of it. */
bool index_called(const struct index *index, uint64_t correlation);
/* The call of an operation that was recorded apart from it. */
bool index_link(const struct index *index, uint64_t operation, uint64_t *correlation,
		uint64_t *marker, uint32_t *tid);
bool index_has_links(const struct index *index);
/* Whether two calls of this part have the same correlation id, in a damaged trace. */
bool index_has_doubles(const struct index *index);
/* The first and the last sample of each agent and of the host, by time. */
const struct store_clock *index_clocks(const struct index *index, size_t *nr);
const struct store_totals *index_totals(const struct index *index);
/* The value of the first info with that key, or "". */
const char *index_info(const struct index *index, const char *key);

/* Submitted, written and read records. */
const struct flow *index_flow(const struct index *index);

struct load *index_load(struct index *index); /* for facts, losses, warnings */

#endif
