/* SPDX-License-Identifier: MIT */
/* otf2_part.h - what an archive has of one trace, which a process of its own wrote
 *
 *	otf2_define.c	definitions
 *	otf2_part.c	all of it: from there to here, and into the archive
 *	otf2_workers.c	the processes
 *
 * Bytes go between processes of one program: structures are as they are in memory.
 */
#ifndef RTL_EXPORT_OTF2_OTF2_PART_H
#define RTL_EXPORT_OTF2_OTF2_PART_H

#include "export/otf2/otf2_internal.h"
#include "export/otf2/otf2_mpi.h"

/* A zeroed one is empty. */
struct otf2_bytes {
	char *data;
	size_t size, max;
	size_t at; /* what is read next */
};

/* 0 or -ENOMEM. */
int otf2_bytes_put(struct otf2_bytes *b, const void *data, size_t size);
/* false: there are not so many. */
bool otf2_bytes_get(struct otf2_bytes *b, void *data, size_t size);
void otf2_bytes_fini(struct otf2_bytes *b);

/* References of the archive, by those of a trace. */
enum otf2_defined {
	OTF2_A_TEXT,
	OTF2_AN_ATTRIBUTE,
	OTF2_A_NODE,
	OTF2_A_REGION,
	OTF2_A_METRIC,
	OTF2_NR_DEFINED
};
struct otf2_refs {
	uint32_t *all;
	size_t nr, max;
};

/* Defines what `size` bytes of a log have; adds its references. */
int otf2_definitions_adopt(struct otf2_archive *a, struct otf2_bytes *from, size_t size,
			   struct otf2_refs refs[OTF2_NR_DEFINED]);

/* A trace's clock, as the only one of `c`; and into those of a job. */
int otf2_clocks_put(const struct otf2_clocks *c, struct otf2_bytes *to);
int otf2_clocks_adopt(struct otf2_clocks *c, struct otf2_bytes *from, size_t *clock);
int otf2_comms_put(const struct otf2_comms *c, struct otf2_bytes *to);
/* The communicators' references are added to `refs`. */
int otf2_comms_adopt(struct otf2_comms *c, struct otf2_bytes *from, struct otf2_refs *refs);

/* What a trace says of itself. */
struct otf2_summary {
	uint64_t nr_untimed, nr_lost;
	int64_t first_ns, last_ns;
	bool has_args, is_complete;
	char verdict[sizeof(((struct job_result *)0)->verdict)];
	char warning[sizeof(((struct job_result *)0)->warning)];
};

/* The events are written. `comms` and `clocks` are the trace's own. 0 or -ENOMEM. */
int otf2_part_put(const struct otf2_archive *a, const struct otf2_comms *comms,
		  const struct otf2_clocks *clocks, const struct otf2_summary *summary,
		  struct otf2_bytes *to);
/* Adds it to a job's archive, in the order of the traces. 0 or -errno with the error of the
 * result. */
int otf2_part_adopt(struct otf2_archive *a, struct otf2_comms *comms, struct otf2_clocks *clocks,
		    struct otf2_bytes *from, struct otf2_summary *summary);
/* Writes which references of the archive those of its trace are, for a location. */
int otf2_part_map(struct otf2_archive *a, uint32_t part, OTF2_DefWriter *writer);
void otf2_parts_end(struct otf2_archive *a);

/* ---- processes ---- */

/* What a process does for a trace: its part, or -errno with the error of the result. `note` gets
 * the other side of it before: of what, and of its progress. */
struct otf2_worker_ops {
	int (*write)(void *arg, size_t trace, struct otf2_bytes *part, struct job_result *res);
	/* What `write` reported; a part, by the order of the traces: in the caller's process, 0 or
	 * -errno with the error of the result. */
	int (*note)(void *arg, size_t trace, const int64_t *numbers, size_t nr);
	int (*take)(void *arg, size_t trace, struct otf2_bytes *part);
	/* Every tenth of a second; not 0: stop. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	/* For messages: "1001.rtl (rank 1)". */
	const char *(*name)(void *arg, size_t trace);
};

/* How many parts of the progress a trace has. */
#define OTF2_PROGRESS 20u

/* Writes traces in as many processes as there are processors. One that fails or is killed ends all
 * of them: when it returns there is none. 0 or -errno with res->error. */
int otf2_workers_run(const struct otf2_worker_ops *ops, void *arg, size_t nr_traces,
		     struct job_result *res);
/* In `write`: reports numbers; and how far it is, of OTF2_PROGRESS. */
void otf2_worker_report(const int64_t *numbers, size_t nr);
void otf2_worker_progress(uint64_t done);

#endif
