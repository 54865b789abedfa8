/* SPDX-License-Identifier: MIT */
/* test_rpd_feed.c - rows of operations and calls as pages that SQLite copies */
#include "export/rpd/rpd_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/rpd/rpd_page.h"
#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"

static enum { AS_IT_IS, REFUSES, READS_A_COPY } deserialize_how;
static void *kept;

/* In front of SQLite's. */
int sqlite3_deserialize(sqlite3 *db, const char *schema, unsigned char *data, sqlite3_int64 size,
			sqlite3_int64 space, unsigned int flags)
{
	union {
		void *address;
		__typeof__(&sqlite3_deserialize) call;
	} real = { dlsym(RTLD_NEXT, "sqlite3_deserialize") };

	if (deserialize_how == REFUSES) {
		sqlite3_free(data);
		return SQLITE_ERROR;
	}
	if (deserialize_how == READS_A_COPY) {
		kept = data;
		data = sqlite3_malloc64((sqlite3_uint64)size);
		CHECK(data);
		memcpy(data, kept, (size_t)size);
	}
	return real.call(db, schema, data, size, space, flags);
}

static sqlite3 *open_memory(const char *sql)
{
	sqlite3 *db;

	CHECK_EQ_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

/* A database whose table t(id, a, b) is in the page. */
static sqlite3 *open_page(struct rpd_page *page)
{
	sqlite3_int64 size;
	sqlite3 *db = open_memory("PRAGMA page_size = 16384;"
				  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)");
	unsigned char *image = sqlite3_serialize(db, "main", &size, 0);

	CHECK_EQ_INT(size, 2 * RPD_PAGE_SIZE);
	sqlite3_close(db);
	page->bytes = image + RPD_PAGE_SIZE;
	rpd_page_clear(page);
	db = open_memory("");
	CHECK_EQ_INT(sqlite3_deserialize(db, "main", image, size, size,
					 SQLITE_DESERIALIZE_FREEONCLOSE),
		     SQLITE_OK);
	return db;
}

static sqlite3_stmt *first_row(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;

	CHECK_EQ_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_step(stmt), SQLITE_ROW);
	return stmt;
}

static void check_sound(sqlite3 *db)
{
	sqlite3_stmt *stmt = first_row(db, "PRAGMA integrity_check");

	CHECK_STR_EQ((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
}

TEST(numbers_and_ids_of_every_size_are_read_as_written)
{
	struct rpd_page page;
	struct rpd_cell cell;
	sqlite3 *db = open_page(&page);
	sqlite3_stmt *stmt;

	/* around each power of two; ids in their order, which is that of the page */
	for (int i = 0; i < 63; i++) {
		for (int64_t d = i < 2 ? 0 : -1; d < (i ? 2 : 1) && (i != 1 || d < 1); d++) {
			int64_t value = (INT64_C(1) << i) + d;

			rpd_cell_begin(&cell, value);
			rpd_cell_int(&cell, value);
			rpd_cell_int(&cell, -value);
			CHECK(rpd_page_add(&page, &cell));
		}
	}
	for (int i = 0; i < 2; i++) {
		rpd_cell_begin(&cell, INT64_MAX - 1 + i);
		rpd_cell_int(&cell, i ? INT64_MIN : 0);
		rpd_cell_null(&cell);
		CHECK(rpd_page_add(&page, &cell));
	}
	check_sound(db);
	stmt = first_row(
		db, "SELECT count(*), count(*) FILTER (WHERE typeof(a) = 'integer' AND typeof(b) = "
		    "'integer' AND a = id AND b = -id), count(*) FILTER (WHERE b IS NULL), "
		    "min(a) FROM t");
	CHECK_EQ_INT(sqlite3_column_int(stmt, 0), (int)page.nr);
	CHECK_EQ_INT(sqlite3_column_int(stmt, 1), (int)page.nr - 2);
	CHECK_EQ_INT(sqlite3_column_int(stmt, 2), 2);
	CHECK_EQ_INT(sqlite3_column_int64(stmt, 3), INT64_MIN);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

TEST(page_takes_rows_up_to_its_end)
{
	static const char text[] = "0x123456789abcdef0";
	struct rpd_page page;
	struct rpd_cell cell;
	sqlite3 *db = open_page(&page);
	sqlite3_stmt *stmt;
	int64_t id = 0;

	do {
		rpd_cell_begin(&cell, ++id);
		rpd_cell_text(&cell, text, (size_t)id % (RPD_PAGE_TEXT + 1));
		rpd_cell_int(&cell, id);
	} while (rpd_page_add(&page, &cell));
	/* less than a row is free */
	CHECK(page.begin - (8 + 2 * page.nr) < 30);
	check_sound(db);
	stmt = first_row(db,
			 "SELECT count(*), count(*) FILTER (WHERE b = id AND a = "
			 "substr('0x123456789abcdef0', 1, id % 19) AND typeof(a) = 'text') FROM t");
	CHECK_EQ_INT(sqlite3_column_int64(stmt, 0), id - 1);
	CHECK_EQ_INT(sqlite3_column_int64(stmt, 1), id - 1);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

/* How many instructions of that name the statement has. */
static int nr_of(sqlite3 *db, const char *sql, const char *name)
{
	char *text = sqlite3_mprintf("EXPLAIN %s", sql);
	sqlite3_stmt *stmt = first_row(db, text);
	int nr = 0;

	do {
		nr += strcmp((const char *)sqlite3_column_text(stmt, 1), name) == 0;
	} while (sqlite3_step(stmt) == SQLITE_ROW);
	sqlite3_finalize(stmt);
	sqlite3_free(text);
	return nr;
}

/* As in rpd_feed.c, of a file that grows. */
TEST(sqlite_copies_rows_as_they_are)
{
	static const char *const tables[] = { "rocpd_op",      "rtl_op_copy",	"rtl_op_runtime",
					      "rocpd_api",     "rocpd_copyapi", "rtl_api_copy",
					      "rocpd_graphapi" };
	const char *file = test_tmpfile("feed.db");
	sqlite3 *both[2];
	char *sql;

	CHECK_EQ_INT(sqlite3_open(file, &both[0]), SQLITE_OK);
	both[1] = open_memory("");
	for (int i = 0; i < 2; i++) {
		for (const struct rpd_table *t = rpd_tables; t->name; t++) {
			sql = rpd_tables_create_sql(t, true);
			CHECK_EQ_INT(sqlite3_exec(both[i], sql, NULL, NULL, NULL), SQLITE_OK);
			sqlite3_free(sql);
		}
		for (const char *const *s = rpd_schema_untimed; *s; s++)
			CHECK_EQ_INT(sqlite3_exec(both[i], *s, NULL, NULL, NULL), SQLITE_OK);
	}
	sqlite3_close(both[0]);
	sql = sqlite3_mprintf("ATTACH %Q AS f", file);
	CHECK_EQ_INT(sqlite3_exec(both[1], sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_free(sql);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		sql = sqlite3_mprintf("INSERT INTO main.%s SELECT * FROM f.%s", tables[i],
				      tables[i]);
		/* before and since SQLite 3.37 */
		CHECK_MSG(nr_of(both[1], sql, "RowData") + nr_of(both[1], sql, "RowCell") > 0, "%s",
			  sql);
		sqlite3_free(sql);
	}
	sqlite3_close(both[1]);
}

static const char *convert(const char *spool, const char *name)
{
	static const struct job_options options = { .force = true };
	struct job_result res;
	const char *db = test_tmpfile(name);
	int ret = rpd_write(&spool, 1, db, &options, &res);

	CHECK_MSG(ret == 0, "%s", res.error);
	return db;
}

TEST(rows_are_the_same_where_sqlite_maps_nothing)
{
	static const char *const tables[] = {
		"rocpd_op",
		"rtl_op_copy",
		"rtl_op_runtime",
		"rocpd_api",
		"rocpd_copyapi",
		"rtl_api_copy",
		"rocpd_graphapi",
		"rocpd_graphLaunchapi",
		"rtl_api",
		"rtl_dispatch",
		"sqlite_sequence ORDER BY name",
	};
	const char *spool = test_tmpfile("a.rtl"), *dbs[3];
	struct spool_make_sample s = { .pid = 100, .closed = false };
	char sql[100], *expected;

	spool_make_sample(spool, &s);
	dbs[0] = convert(spool, "a.db");
	deserialize_how = REFUSES;
	dbs[1] = convert(spool, "b.db");
	deserialize_how = READS_A_COPY;
	dbs[2] = convert(spool, "c.db");
	CHECK(kept);
	CHECK_EQ_INT(db_int(dbs[0], "SELECT count(*) > 0 FROM rocpd_op WHERE rtl_shape_id > 0"), 1);
	CHECK_STR_EQ(db_text(dbs[0], "SELECT engine FROM rtl_op_copy ORDER BY op_id"),
		     "1\nNULL\nNULL\n");
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT * FROM %s", tables[i]);
		expected = strdup(db_text(dbs[0], sql));
		CHECK_STR_EQ(db_text(dbs[1], sql), expected);
		CHECK_STR_EQ(db_text(dbs[2], sql), expected);
		free(expected);
	}
}
