/* SPDX-License-Identifier: MIT */
/* fleet_file.c - the footer of a file of a data set: Thrift's compact protocol
 *
 * Not here: pages and values (fleet_page.c).
 */
#include "fleet/fleet_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fleet/fleet_page.h"

#define MAGIC "PAR1"
#define FOOTER_MAX (UINT64_C(64) << 20)
enum { COLUMNS_MAX = 1000 };

/* ---- structures ---- */

static void take_element(struct page_in *in, struct fleet_column *c, int *nr_children)
{
	struct page_field f = { 0 };
	int repetition = 0, type = -1;

	*nr_children = 0;
	while (fleet_page_field(in, &f)) {
		if (f.id == 1)
			type = (int)fleet_page_zigzag(in);
		else if (f.id == 3)
			repetition = (int)fleet_page_zigzag(in);
		else if (f.id == 4 && !c->name)
			c->name = fleet_page_string(in);
		else if (f.id == 5)
			*nr_children = (int)fleet_page_zigzag(in);
		else
			fleet_page_skip(in, f.type);
	}
	c->type = (enum fleet_type)type;
	c->optional = repetition == 1;
	if (repetition == 2)
		in->bad = true;
}

static void take_schema(struct page_in *in, struct fleet_file *f)
{
	size_t nr = fleet_page_list(in, PAGE_STRUCT);
	struct fleet_column root = { 0 };
	int nr_children;

	if (in->bad || nr < 2 || nr > COLUMNS_MAX) {
		in->bad = true;
		return;
	}
	take_element(in, &root, &nr_children);
	if (in->bad || nr_children != (int)nr - 1)
		in->bad = true;
	free(f->table);
	f->table = root.name;
	f->columns = calloc(nr, sizeof(*f->columns));
	if (!f->columns)
		in->bad = true;
	for (size_t i = 0; i < nr - 1 && !in->bad; i++) {
		struct fleet_column *c = &f->columns[f->nr_columns++];

		take_element(in, c, &nr_children);
		if (nr_children || !c->name ||
		    (c->type != FLEET_BOOL && c->type != FLEET_INT && c->type != FLEET_REAL &&
		     c->type != FLEET_TEXT))
			in->bad = true;
	}
}

static void take_meta(struct page_in *in, struct page_chunk *c)
{
	struct page_field f = { 0 };
	int64_t dictionary = 0;

	while (fleet_page_field(in, &f)) {
		if (f.id == 4)
			c->codec = (int)fleet_page_zigzag(in);
		else if (f.id == 5)
			c->nr_values = (uint64_t)fleet_page_zigzag(in);
		else if (f.id == 7)
			c->size = (uint64_t)fleet_page_zigzag(in);
		else if (f.id == 9)
			c->offset = (uint64_t)fleet_page_zigzag(in);
		else if (f.id == 11)
			dictionary = fleet_page_zigzag(in);
		else
			fleet_page_skip(in, f.type);
	}
	if (dictionary > 0 && (uint64_t)dictionary < c->offset)
		c->offset = (uint64_t)dictionary;
}

static void take_group(struct page_in *in, struct fleet_file *file, struct fleet_group *g)
{
	struct page_field f = { 0 }, inner;
	size_t nr;

	while (fleet_page_field(in, &f)) {
		if (f.id == 3) {
			g->nr_rows = (uint64_t)fleet_page_zigzag(in);
			continue;
		}
		if (f.id != 1) {
			fleet_page_skip(in, f.type);
			continue;
		}
		nr = fleet_page_list(in, PAGE_STRUCT);
		if (in->bad || nr != file->nr_columns || g->chunks) {
			in->bad = true;
			return;
		}
		g->chunks = calloc(nr, sizeof(*g->chunks));
		in->bad = !g->chunks;
		for (size_t i = 0; i < nr && !in->bad; i++) {
			inner = (struct page_field){ 0 };
			while (fleet_page_field(in, &inner)) {
				if (inner.id == 3 && inner.type == PAGE_STRUCT)
					take_meta(in, &g->chunks[i]);
				else
					fleet_page_skip(in, inner.type);
			}
		}
	}
	/* a value takes a bit of a byte at least, or a run of them a few bytes */
	for (size_t i = 0; i < file->nr_columns && !in->bad; i++)
		if (!g->chunks || g->chunks[i].nr_values != g->nr_rows ||
		    g->nr_rows > PAGE_ROWS_MAX || g->chunks[i].size > file->size ||
		    g->chunks[i].offset > file->size ||
		    g->chunks[i].offset + g->chunks[i].size > file->size)
			in->bad = true;
}

static void take_groups(struct page_in *in, struct fleet_file *f)
{
	size_t nr = fleet_page_list(in, PAGE_STRUCT);

	if (in->bad || f->groups || (nr && !f->nr_columns)) {
		in->bad = true;
		return;
	}
	f->groups = calloc(nr + 1, sizeof(*f->groups));
	if (!f->groups)
		in->bad = true;
	for (size_t i = 0; i < nr && !in->bad; i++)
		take_group(in, f, &f->groups[f->nr_groups++]);
}

static void take_pairs(struct page_in *in, struct fleet_file *file)
{
	size_t nr = fleet_page_list(in, PAGE_STRUCT);

	for (size_t i = 0; i < nr && !in->bad; i++) {
		struct page_field f = { 0 };
		char *key = NULL, *value = NULL;

		while (fleet_page_field(in, &f)) {
			if (f.id == 1 && !key)
				key = fleet_page_string(in);
			else if (f.id == 2 && !value)
				value = fleet_page_string(in);
			else
				fleet_page_skip(in, f.type);
		}
		if (key && value && strcmp(key, "rtl.schema") == 0)
			file->schema = (int)strtol(value, NULL, 10);
		free(key);
		free(value);
	}
}

static void take_footer(struct page_in *in, struct fleet_file *file)
{
	struct page_field f = { 0 };

	while (fleet_page_field(in, &f)) {
		if (f.id == 2 && f.type == PAGE_LIST && !file->columns)
			take_schema(in, file);
		else if (f.id == 3)
			file->nr_rows = (uint64_t)fleet_page_zigzag(in);
		else if (f.id == 4 && f.type == PAGE_LIST)
			take_groups(in, file);
		else if (f.id == 5 && f.type == PAGE_LIST)
			take_pairs(in, file);
		else
			fleet_page_skip(in, f.type);
	}
}

/* ---- the file ---- */

static int read_footer(struct fleet_file *f, char *error)
{
	unsigned char end[8], begin[4], *bytes;
	uint64_t size, sum = 0;
	struct page_in in;
	int err;

	snprintf(error, FLEET_ERROR, "is no Parquet file, or was cut");
	if (f->size < 12 || fd_pread(f->fd, begin, 4, 0) || fd_pread(f->fd, end, 8, f->size - 8) ||
	    memcmp(begin, MAGIC, 4) != 0 || memcmp(end + 4, MAGIC, 4) != 0)
		return -EBADMSG;
	size = end[0] | (uint64_t)end[1] << 8 | (uint64_t)end[2] << 16 | (uint64_t)end[3] << 24;
	if (size + 12 > f->size || size > FOOTER_MAX)
		return -EBADMSG;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	err = fd_pread(f->fd, bytes, size, f->size - 8 - size);
	in = (struct page_in){ .at = bytes, .end = bytes + size };
	if (!err)
		take_footer(&in, f);
	free(bytes);
	if (err) {
		snprintf(error, FLEET_ERROR, "can't be read: %s", strerror(-err));
		return err;
	}
	for (size_t i = 0; i < f->nr_groups; i++)
		sum += f->groups[i].nr_rows;
	snprintf(error, FLEET_ERROR, "its footer is damaged");
	if (in.bad || !f->columns || sum != f->nr_rows)
		return -EBADMSG;
	snprintf(error, FLEET_ERROR, "was not written by rtl");
	if (!f->schema || !f->table)
		return -EBADMSG;
	*error = '\0';
	return 0;
}

int fleet_file_open(struct fleet_file **out, const char *path, char error[FLEET_ERROR])
{
	struct fleet_file *f = calloc(1, sizeof(*f));
	struct stat st;
	int err = 0;

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0 || fstat(f->fd, &st))
		err = -errno;
	if (err)
		snprintf(error, FLEET_ERROR, "%s", err == -ENOENT ? "is missing" : strerror(-err));
	else if (!S_ISREG(st.st_mode)) {
		snprintf(error, FLEET_ERROR, "is %s", fd_kind(st.st_mode));
		err = -EBADMSG;
	} else {
		f->size = (uint64_t)st.st_size;
		err = read_footer(f, error);
	}
	if (err) {
		fleet_file_close(f);
		return err;
	}
	*out = f;
	return 0;
}

void fleet_file_close(struct fleet_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < f->nr_columns; i++)
		free(f->columns[i].name);
	for (size_t i = 0; i < f->nr_groups; i++)
		free(f->groups[i].chunks);
	free(f->columns);
	free(f->groups);
	free(f->table);
	free(f);
}

int fleet_file_column(const struct fleet_file *f, const char *name)
{
	for (size_t i = 0; i < f->nr_columns; i++)
		if (strcmp(f->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

uint64_t fleet_file_group_rows(const struct fleet_file *f, size_t group)
{
	return f->groups[group].nr_rows;
}
