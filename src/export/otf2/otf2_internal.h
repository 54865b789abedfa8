/* SPDX-License-Identifier: MIT */
/* otf2_internal.h - shared by the writer of OTF2
 *
 *	otf2.c		calls, ranges and operations of a trace, as events
 *	otf2_archive.c	the archive: locations, and definitions, each once
 *	otf2_note.c	annotations as attributes
 *	otf2_files.c	the files, which get their names when all are complete
 *	otf2_lib.c	the library
 */
#ifndef RTL_EXPORT_OTF2_OTF2_INTERNAL_H
#define RTL_EXPORT_OTF2_OTF2_INTERNAL_H

#include "export/otf2/otf2_lib.h"
#include "export/texts.h"
#include "export/walk.h"
#include "query/query.h"
#include "store/map.h"

/* ---- the archive: one thread; functions return 0 or -errno with q->res->error ---- */

enum otf2_group { OTF2_GROUP_OF_PROCESS, OTF2_GROUP_OF_GPU };

struct otf2_location {
	OTF2_EvtWriter *writer; /* NULL: closed */
	uint32_t name, group;	/* of a text; of a location group */
	OTF2_LocationType type;
	uint64_t nr_events;
};

struct otf2_archive {
	struct query *q;
	OTF2_Archive *handle;
	OTF2_GlobalDefWriter *defs;
	OTF2_AttributeList *attributes;
	struct texts texts; /* a text's reference is its number - 1 */
	struct map regions; /* text -> region */
	struct map named;   /* text -> attribute */
	OTF2_AttributeRef nr_attributes;
	struct map groups[2]; /* by enum otf2_group: id of a process, or a GPU -> group */
	struct otf2_location *locations;
	size_t nr_locations, max_locations;
	uint32_t nr_regions, nr_groups;
	uint64_t last_ns, nr_events;
};

/* Makes the files of `name` in a directory. */
int otf2_archive_open(struct otf2_archive *a, struct query *q, const char *folder,
		      const char *name);
/* Writes what is defined at the end. The archive is freed after an error, too. */
int otf2_archive_close(struct otf2_archive *a, int ret);

int otf2_archive_group(struct otf2_archive *a, enum otf2_group kind, int64_t id, const char *name,
		       uint32_t *group);
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
			uint32_t *region);

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
int otf2_files_create(struct otf2_files *f, struct query *q, const char *out);
/* Gives them their names, or removes them if `ret` is an error. */
int otf2_files_publish(struct otf2_files *f, struct query *q, int ret);

#endif
