/* SPDX-License-Identifier: MIT */
/* fleet_file.h - reads a file of a data set: what src/export/parquet/ writes of Parquet, and no
 * more
 *
 * The file may be anyone's: sizes, counts and offsets in it are checked before they are used.
 *
 * Threads:  one at a time for each file.
 * Fails:    -EBADMSG with `error`, which says what is wrong, or another -errno.
 */
#ifndef RTL_FLEET_FLEET_FILE_H
#define RTL_FLEET_FLEET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLEET_ERROR 256

enum fleet_type { FLEET_BOOL = 0, FLEET_INT = 2, FLEET_REAL = 5, FLEET_TEXT = 6 };

struct fleet_column {
	char *name;
	enum fleet_type type;
	bool optional;
};

struct fleet_file {
	int fd;
	uint64_t size, nr_rows;
	char *table; /* its name; "": unknown */
	int schema;  /* version of the tables; 0: unknown, the file is of another program */
	struct fleet_column *columns;
	size_t nr_columns;
	struct fleet_group *groups;
	size_t nr_groups;
};

/* Opens it and reads what it says about itself. */
int fleet_file_open(struct fleet_file **out, const char *path, char error[FLEET_ERROR]);
void fleet_file_close(struct fleet_file *f);
/* The number of a column; -1: the file has none of that name. */
int fleet_file_column(const struct fleet_file *f, const char *name);
uint64_t fleet_file_group_rows(const struct fleet_file *f, size_t group);

/* The values of a column of a row group. Begins zeroed. */
struct fleet_values {
	size_t nr;
	unsigned char *there; /* 0: NULL */
	int64_t *numbers;     /* integers and bools; the bits of real ones */
	const char **texts;   /* of FLEET_TEXT, in the memory below */
	uint32_t *sizes;
	unsigned char *bytes;	  /* of the file */
	unsigned char **unpacked; /* pages that were compressed */
	size_t nr_unpacked;
};

/* Decodes one; values of one before are released. */
int fleet_page_read(struct fleet_file *f, size_t group, size_t column, struct fleet_values *v,
		    char error[FLEET_ERROR]);
void fleet_page_fini(struct fleet_values *v);

#endif
