/* SPDX-License-Identifier: MIT */
/* otf2_internal.h - shared by the writer of OTF2
 *
 *	otf2.c		calls, ranges and operations of a trace, as events
 *	otf2_job.c	an archive of several traces
 *	otf2_clock.c	the clocks of their hosts
 *	otf2_archive.c	the archive: groups, locations, events
 *	otf2_define.c	other definitions, each once
 *	otf2_part.c	what an archive has of one trace (otf2_part.h)
 *	otf2_workers.c	processes that write traces
 *	otf2_comm.c	communicators of MPI (otf2_mpi.h)
 *	otf2_mpi.c	messages and collectives
 *	otf2_metric.c	samples of counters
 *	otf2_rma.c	copies as accesses to remote memory (otf2_rma.h)
 *	otf2_note.c	annotations as attributes
 *	otf2_files.c	the files, which get their names when all are complete
 *	otf2_lib.c	the library
 */
#ifndef RTL_EXPORT_OTF2_OTF2_INTERNAL_H
#define RTL_EXPORT_OTF2_OTF2_INTERNAL_H

#include "analysis/clock_align.h"
#include "export/otf2/otf2_lib.h"
#include "export/texts.h"
#include "export/walk.h"
#include "query/query.h"
#include "store/map.h"

/* ---- the archive: one thread; functions return 0 or -errno with q->res->error ---- */

enum otf2_group { OTF2_GROUP_OF_PROCESS, OTF2_GROUP_OF_GPU };

/* Whose a location group is. Groups and locations have the order of their keys: ranks. */
struct otf2_owner {
	uint64_t key;  /* below 2^32 */
	uint32_t node; /* of the system's tree */
	size_t clock;  /* in otf2_times */
};

struct otf2_comms; /* otf2_mpi.h */

struct otf2_location_group {
	struct otf2_owner owner;
	OTF2_LocationGroupType type;
	uint32_t name; /* of a text */
	size_t order;
	uint32_t part;	/* number of its trace + 1, if that has references of its own */
	uint32_t self;	/* when it is defined */
	uint64_t first; /* number of its first location + 1; 0: it has none */
};

struct otf2_location {
	OTF2_EvtWriter *writer; /* NULL: closed */
	uint64_t id;		/* the key of its owner, and its number in the trace */
	uint32_t name, group;	/* of a text; an index */
	OTF2_LocationType type;
	uint64_t nr_events;
};

/* Memory that copies read and write. */
struct otf2_window {
	uint32_t name;	   /* of a text */
	uint64_t *members; /* numbers of locations */
	size_t nr, max;
};

struct otf2_bytes; /* otf2_part.h */
struct otf2_part_maps;

struct otf2_archive {
	struct job_result *res;
	OTF2_Archive *handle;
	OTF2_GlobalDefWriter *defs;
	struct otf2_bytes *log; /* definitions go there: it is one trace of a job's */
	struct otf2_part_maps *parts;
	size_t nr_parts, max_parts;
	OTF2_AttributeList *attributes;
	struct texts texts; /* a text's reference is its number - 1 */
	struct map regions; /* text and paradigm -> region */
	struct map named;   /* text -> attribute */
	struct map nodes;   /* text -> node below the root */
	struct map metrics; /* text -> metric */
	OTF2_AttributeRef nr_attributes;
	struct map groups_of[2]; /* by enum otf2_group: id of a process, or a GPU -> group */
	struct otf2_location_group *groups;
	struct otf2_location *locations;
	size_t nr_groups, max_groups, nr_locations, max_locations;
	struct otf2_window *windows;
	size_t nr_windows, max_windows;
	uint32_t nr_regions, nr_nodes, nr_metrics;
	bool has_mpi;	      /* a region of MPI */
	uint64_t nr_of_trace; /* locations */
	uint64_t last_ns;     /* of the trace */
	uint64_t nr_events;
};

/* What is added to a clock's time for that of the archive, from a time to the next; ns. */
struct otf2_offset {
	int64_t time, offset;
	double error;
};

/* What is known when all events are written. Times of the archive, but for those of offsets. */
struct otf2_times {
	uint64_t first_ns, last_ns;
	int64_t realtime_ns; /* 0: unknown */
	const struct otf2_clock {
		struct otf2_offset *offsets;
		size_t nr_offsets;
	} * clocks; /* by otf2_owner.clock */
	size_t nr_clocks;
	struct otf2_comms *comms; /* NULL: none */
};

/* Makes the files of `name` in a directory. With `log` it makes those of locations alone, in an
 * archive that another process has opened. */
int otf2_archive_open(struct otf2_archive *a, struct job_result *res, const char *folder,
		      const char *name, struct otf2_bytes *log);
/* Writes what is defined at the end. The archive is freed after an error, too. */
int otf2_archive_close(struct otf2_archive *a, const struct otf2_times *times, int ret);
/* Of one with a log: completes the files. Its groups and locations stay until
 * otf2_archive_free(). */
int otf2_archive_complete(struct otf2_archive *a, int ret);
void otf2_archive_free(struct otf2_archive *a);
int otf2_archive_fail_memory(struct otf2_archive *a);

/* A node of the system's tree. Below the root, of which `parent` is undefined, those of one name
 * are one. */
int otf2_archive_node(struct otf2_archive *a, const char *name, const char *class, uint32_t parent,
		      uint32_t *node);
/* Ids of processes and GPUs are those of another trace from here on. */
void otf2_archive_next_trace(struct otf2_archive *a);
int otf2_archive_group(struct otf2_archive *a, enum otf2_group kind, int64_t id, const char *name,
		       const struct otf2_owner *owner, uint32_t *group);
/* NULL: there is none of that id. */
const struct otf2_location_group *otf2_archive_find_group(const struct otf2_archive *a,
							  enum otf2_group kind, int64_t id);
/* A thread's, or a queue's. `location` is its index; it is open until otf2_archive_end(). */
int otf2_archive_location(struct otf2_archive *a, const char *name, OTF2_LocationType type,
			  uint32_t group, size_t *location);
int otf2_archive_end(struct otf2_archive *a, size_t location);
/* A text's reference. */
int otf2_archive_text(struct otf2_archive *a, const char *text, uint32_t *ref);
/* An attribute of that name; all of one name have one type. */
int otf2_archive_attribute(struct otf2_archive *a, const char *name, const char *description,
			   OTF2_Type type, OTF2_AttributeRef *self);
/* The library's answer as 0 or -errno with a message. */
int otf2_archive_check(struct otf2_archive *a, OTF2_ErrorCode error);
int otf2_archive_region(struct otf2_archive *a, const char *name, OTF2_RegionRole role,
			OTF2_Paradigm paradigm, uint32_t *region);

int otf2_archive_metric(struct otf2_archive *a, const char *counter, uint32_t *metric);

/* Annotations as attributes, of which an archive defines each once. */
struct otf2_attribute {
	OTF2_AttributeRef self;
	OTF2_Type type;
	OTF2_AttributeValue value;
};
#define OTF2_NOTES_MAX 64
/* Converts at most OTF2_NOTES_MAX annotations; what the archive says itself is left out. 0 or
 * -errno. */
int otf2_archive_convert(struct otf2_archive *a, const struct walk_note *notes, size_t nr,
			 struct otf2_attribute *out, size_t *nr_out);

/* Times of a location must not decrease. `category`: "hip_api", "kernel_dispatch", ... as rocprofv3
 * has them. Parts are arrays of struct otf2_attribute. */
int otf2_archive_enter(struct otf2_archive *a, size_t location, int64_t ns, uint32_t region,
		       const char *category, const struct walk_notes *notes);
int otf2_archive_leave(struct otf2_archive *a, size_t location, int64_t ns, uint32_t region);

/* A counter of a GPU; a zeroed one is none. */
struct otf2_metric {
	bool is_open, has_value;
	size_t location;
	uint32_t metric;
	int64_t ns; /* of the value that is not written yet */
	double value;
};
/* Another counter follows, in a location of that name. */
int otf2_metric_begin(struct otf2_archive *a, struct otf2_metric *m, const char *counter,
		      const char *name, uint32_t group);
/* Its value from `ns` on. */
int otf2_metric_put(struct otf2_archive *a, struct otf2_metric *m, int64_t ns, double value);
int otf2_metric_end(struct otf2_archive *a, struct otf2_metric *m);

/* ---- the files ---- */

#define OTF2_NAME_SIZE 4096

/* NAME.otf2, which names the others, NAME.def, and NAME with files for each location. */
struct otf2_files {
	char stem[OTF2_NAME_SIZE]; /* DIR/NAME */
	char tmp[OTF2_NAME_SIZE +
		 32];	      /* a directory that they are made in, DIR/NAME.tmp-PID; "": none */
	const char *name;     /* the last part of stem */
	const char *tmp_name; /* and of tmp */
	int dir_fd;	      /* DIR */
};

/* `out` is DIR/NAME.otf2. */
int otf2_files_create(struct otf2_files *f, const struct job_options *opt, struct job_result *res,
		      const char *out);
/* Gives them their names, or removes them if `ret` is an error. `is_private`: they can be read by
 * their owner alone. */
int otf2_files_publish(struct otf2_files *f, const struct job_options *opt, struct job_result *res,
		       bool is_private, int ret);

/* ---- clocks ---- */

struct otf2_clocks {
	/* its processes stand for the clocks, of which the first is the reference */
	struct query q;
	struct otf2_clocks_span {
		int64_t first_ns, last_ns; /* of all traces of the clock */
	} * spans;
	/* by clock: the first collectives of all ranks for which clock_align_waits() */
	struct otf2_clocks_side {
		struct clock_side side;
		int op; /* 0: none on this clock, -1: other ones on other ranks */
	} * *sides;
	struct otf2_clock *clocks;
	size_t nr;
	struct clock_align align;
	int64_t error_ns; /* of all of them, at most */
};

int otf2_clocks_begin(struct otf2_clocks *c, const struct job_options *opt, struct job_result *res);
/* The number of an open trace's clock. 0 or -errno with q->res->error. */
int otf2_clocks_find(struct otf2_clocks *c, struct query *q, size_t *clock);
void otf2_clocks_extend(struct otf2_clocks *c, size_t clock, int64_t first_ns, int64_t last_ns);
/* A collective of all ranks for which clock_align_waits(), the `number`th of its rank, from 0;
 * `op`: which one, from 1. Later ones than the first OTF2_CLOCKS_SIDES are not used. */
#define OTF2_CLOCKS_SIDES 4096
int otf2_clocks_add(struct otf2_clocks *c, size_t clock, uint64_t number, int op, int64_t begin,
		    int64_t end);
/* When all traces were read. `times` lives as long as the clocks. 0, or -errno with the error of
 * the result: clocks are apart by an unknown time. */
int otf2_clocks_solve(struct otf2_clocks *c, struct otf2_times *times);
/* Accepts zeroed ones. */
void otf2_clocks_end(struct otf2_clocks *c);

/* ---- a trace ---- */

/* What distinguishes a trace from others of an archive. */
struct otf2_trace {
	bool is_one_of_several;
	/* what belongs to a process without a rank, and to the GPUs */
	struct otf2_owner owner;
	const char *name;	  /* "rank 3": of these; "": it is alone */
	uint64_t nr_untimed;	  /* set: operations that were left out */
	struct otf2_comms *comms; /* NULL: calls of MPI have no records */
};

#define OTF2_UNTIMED "%llu operations without valid times were left out"
/* Writes the events of an open trace, after rows_prepare(). */
int otf2_write_trace(struct otf2_archive *a, struct query *q, struct otf2_trace *trace);

#endif
