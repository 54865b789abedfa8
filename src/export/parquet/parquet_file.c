/* SPDX-License-Identifier: MIT */
/* parquet_file.c - a file of Parquet: row groups and the footer
 *
 * Memory: one row group as it is in the file, at most MAX_BYTES, and a page of each column. A row
 * group is written when it is full; the footer names all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "export/parquet/parquet_internal.h"
#include "rtl_version.h"

#define MAGIC "PAR1"
enum { MAX_ROWS = 1 << 19, MAX_BYTES = 8 << 20, CHECK_ROWS = 1024 };

struct parquet_file {
	struct query *q;
	const struct parquet_table *table;
	char *path;
	int fd;
	uint64_t offset, nr_rows, nr_in_group; /* nr_rows: of the groups that are written */
	size_t nr_groups;
	struct parquet_bytes groups, out;
	struct parquet_chunk columns[];
};

static int fail(const struct parquet_file *f, int error)
{
	return query_fail(f->q, error, "%s: can't be written: %s", f->path, strerror(-error));
}

static int write_bytes(struct parquet_file *f, const void *bytes, size_t size)
{
	int ret = fd_pwrite(f->fd, bytes, size, f->offset);

	f->offset += size;
	return ret ? fail(f, ret) : 0;
}

int parquet_file_create(struct parquet_file **out, struct query *q, const char *path,
			const struct parquet_table *table)
{
	struct parquet_file *f =
		alloc_zero(1, sizeof(*f) + table->nr * sizeof(struct parquet_chunk));
	char *name = alloc_string(path);

	*out = NULL;
	if (!f || !name) {
		alloc_free(f);
		alloc_free(name);
		return query_fail_memory(q);
	}
	f->q = q;
	f->table = table;
	f->path = name;
	for (size_t i = 0; i < table->nr; i++)
		parquet_chunk_begin(&f->columns[i], &table->columns[i]);
	/* in a folder of this process alone; who may read it is decided when it is published */
	f->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	*out = f;
	if (f->fd < 0)
		return fail(f, -errno);
	return write_bytes(f, MAGIC, 4);
}

struct parquet_chunk *parquet_file_columns(struct parquet_file *f)
{
	return f->columns;
}

/* Writes the row group, and adds it to the footer's list. */
static int end_group(struct parquet_file *f)
{
	struct parquet_thrift t;
	uint64_t begin = f->offset, saved = 0;
	int ret = 0;

	if (f->nr_in_group == 0)
		return 0;
	/* items of a list have no header, as the whole has none */
	parquet_begin(&t, &f->groups);
	parquet_list(&t, 1, PARQUET_STRUCTS, f->table->nr);
	for (size_t i = 0; i < f->table->nr && ret == 0; i++) {
		struct parquet_chunk *c = &f->columns[i];

		f->out.used = 0;
		parquet_chunk_end(c, &f->out, &t, f->offset);
		if (parquet_chunk_failed(c) || f->out.failed || f->groups.failed)
			return query_fail_memory(f->q);
		ret = write_bytes(f, f->out.data, f->out.used);
		saved += c->saved;
		parquet_chunk_begin(c, c->column);
	}
	parquet_i64(&t, 2, (int64_t)(f->offset - begin + saved));
	parquet_i64(&t, 3, (int64_t)f->nr_in_group);
	parquet_i64(&t, 5, (int64_t)begin);
	parquet_i64(&t, 6, (int64_t)(f->offset - begin));
	parquet_end(&t);
	f->nr_rows += f->nr_in_group;
	f->nr_in_group = 0;
	f->nr_groups++;
	return ret;
}

int parquet_file_row(struct parquet_file *f)
{
	size_t bytes = 0;

	f->nr_in_group++;
	if (f->nr_in_group % CHECK_ROWS)
		return 0;
	for (size_t i = 0; i < f->table->nr; i++) {
		bytes += parquet_chunk_size(&f->columns[i]);
		if (parquet_chunk_failed(&f->columns[i]))
			return query_fail_memory(f->q);
	}
	return f->nr_in_group >= MAX_ROWS || bytes >= MAX_BYTES ? end_group(f) : 0;
}

/* ---- the footer ---- */

static void put_element(struct parquet_thrift *t, const struct parquet_column *c)
{
	static const int types[] = {
		[PARQUET_INT] = 2, [PARQUET_REAL] = 5, [PARQUET_BOOL] = 0, [PARQUET_TEXT] = 6
	};

	parquet_item(t);
	parquet_i32(t, 1, types[c->type]);
	parquet_i32(t, 3, c->optional);
	parquet_binary(t, 4, c->name, strlen(c->name));
	if (c->type == PARQUET_TEXT) {
		parquet_i32(t, 6, 0); /* ConvertedType UTF8, for readers that don't know the next */
		parquet_struct(t, 10);
		parquet_struct(t, 1); /* LogicalType STRING */
		parquet_end(t);
		parquet_end(t);
	}
	parquet_end(t);
}

static void put_pair(struct parquet_thrift *t, const char *key, const char *value)
{
	parquet_item(t);
	parquet_binary(t, 1, key, strlen(key));
	parquet_binary(t, 2, value, strlen(value));
	parquet_end(t);
}

static void put_footer(struct parquet_file *f, struct parquet_bytes *to)
{
	static const char by[] = "rocm-trace-lite version " RTL_VERSION_STRING;
	const struct parquet_table *table = f->table;
	struct parquet_thrift t;

	parquet_begin(&t, to);
	parquet_i32(&t, 1, 1);
	parquet_list(&t, 2, PARQUET_STRUCTS, table->nr + 1);
	parquet_item(&t);
	parquet_binary(&t, 4, table->name, strlen(table->name));
	parquet_i32(&t, 5, (int64_t)table->nr);
	parquet_end(&t);
	for (size_t i = 0; i < table->nr; i++)
		put_element(&t, &table->columns[i]);
	parquet_i64(&t, 3, (int64_t)f->nr_rows);
	parquet_list(&t, 4, PARQUET_STRUCTS, f->nr_groups);
	parquet_add(to, f->groups.data, f->groups.used);
	parquet_list(&t, 5, PARQUET_STRUCTS, 2);
	put_pair(&t, "rtl.table", table->name);
	put_pair(&t, "rtl.schema", PARQUET_SCHEMA);
	parquet_binary(&t, 6, by, sizeof(by) - 1);
	/* the order of numbers and bytes, without which readers ignore the statistics */
	parquet_list(&t, 7, PARQUET_STRUCTS, table->nr);
	for (size_t i = 0; i < table->nr; i++) {
		parquet_item(&t);
		parquet_struct(&t, 1);
		parquet_end(&t);
		parquet_end(&t);
	}
	parquet_end(&t);
}

static int write_footer(struct parquet_file *f)
{
	int ret;

	f->out.used = 0;
	put_footer(f, &f->out);
	parquet_add_number(&f->out, f->out.used, 4);
	parquet_add(&f->out, MAGIC, 4);
	if (f->out.failed || f->groups.failed)
		return query_fail_memory(f->q);
	ret = write_bytes(f, f->out.data, f->out.used);
	return ret;
}

int parquet_file_close(struct parquet_file *f, int ret)
{
	if (!f)
		return ret;
	if (ret == 0)
		ret = end_group(f);
	if (ret == 0)
		ret = write_footer(f);
	if (f->fd >= 0 && close(f->fd) && ret == 0)
		ret = fail(f, -errno);
	for (size_t i = 0; i < f->table->nr; i++)
		parquet_chunk_fini(&f->columns[i]);
	parquet_fini(&f->groups);
	parquet_fini(&f->out);
	alloc_free(f->path);
	alloc_free(f);
	return ret;
}
