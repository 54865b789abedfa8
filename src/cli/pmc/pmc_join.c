/* SPDX-License-Identifier: MIT */
/* pmc_join.c - the counters of several runs of a program in one database */
#include "cli/pmc/pmc_join.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/pmc/pmc_database.h"
#include "cli/ui.h"
#include "store/load.h"

/* Every dispatch of a database with what it has in common with the same one of another run. */
static int number_dispatches(struct pmc_database *d, const char *table, const char *from)
{
	return pmc_database_run(
		d,
		"CREATE TEMP TABLE %s AS WITH ranked AS (SELECT id, row_number() OVER (ORDER BY coalesce(rank, -1), "
		"start_ns, id) AS process FROM %s.rtl_process WHERE id IN (SELECT process_id FROM %s.rtl_shape)), "
		"queues AS (SELECT Q.id, R.process, row_number() OVER (PARTITION BY Q.process_id ORDER BY Q.id) AS queue "
		"FROM %s.rtl_queue Q JOIN ranked R ON R.id = Q.process_id WHERE NOT Q.internal) SELECT K.op_id, "
		"V.process, V.queue, Y.demangled AS kernel, row_number() OVER (PARTITION BY V.process, V.queue, "
		"Y.demangled ORDER BY O.sequenceId) AS number, S.grid_x, S.grid_y, S.grid_z, S.group_x, S.group_y, "
		"S.group_z, EXISTS (SELECT 1 FROM %s.rocpd_counter C WHERE C.op_id = K.op_id) AS counted FROM "
		"%s.rtl_op_kernel K JOIN %s.rocpd_op O ON O.id = K.op_id JOIN %s.rtl_shape S ON S.id = K.shape_id JOIN "
		"queues V ON V.id = S.queue_id JOIN %s.rtl_kernel_symbol Y ON Y.id = S.kernel_id",
		table, from, from, from, from, from, from, from, from);
}

static const char pairs[] =
	"CREATE TEMP TABLE pmc_pair AS SELECT A.op_id AS op_id, B.op_id AS other_id FROM temp.pmc_one A JOIN "
	"temp.pmc_two B ON B.process = A.process AND B.queue = A.queue AND B.kernel = A.kernel AND B.number = "
	"A.number AND B.grid_x = A.grid_x AND B.grid_y = A.grid_y AND B.grid_z = A.grid_z AND B.group_x = A.group_x "
	"AND B.group_y = A.group_y AND B.group_z = A.group_z WHERE A.counted AND B.counted";

/* Strings are in the block of the first process. */
static const char names[] =
	"INSERT INTO rocpd_string (id, string) SELECT (SELECT coalesce(max(id), 0) FROM main.rocpd_string WHERE id <= "
	"(SELECT min(id_last) FROM main.rtl_process)) + row_number() OVER (ORDER BY string), string FROM (SELECT "
	"DISTINCT string FROM other.rocpd_string WHERE id IN (SELECT name_id FROM other.rocpd_counter)) WHERE string "
	"NOT IN (SELECT string FROM main.rocpd_string)";
/* The string of a name in both files. */
static const char name_map[] =
	"CREATE TEMP TABLE pmc_name AS SELECT B.id AS other_id, min(A.id) AS id FROM other.rocpd_string B JOIN "
	"main.rocpd_string A ON A.string = B.string WHERE B.id IN (SELECT name_id FROM other.rocpd_counter) GROUP BY B.id";
static const char meanings[] =
	"INSERT OR IGNORE INTO rtl_counter_name SELECT N.id, M.unit, M.description, M.expression FROM "
	"other.rtl_counter_name M JOIN temp.pmc_name N ON N.other_id = M.id";

/* A name that both runs counted keeps the value of the first. */
#define COMES_IN                                                                                             \
	"JOIN temp.pmc_pair P ON P.other_id = C.op_id JOIN temp.pmc_name N ON N.other_id = C.name_id WHERE " \
	"N.id NOT IN (SELECT name_id FROM temp.pmc_had)"
static const char values[] =
	"INSERT INTO rocpd_counter (value, op_id, name_id) SELECT C.value, P.op_id, N.id FROM other.rocpd_counter C " COMES_IN
	" ORDER BY C.id";
static const char samples[] =
	"INSERT INTO rtl_op_counter (op_id, name_id, instance, sample, value) SELECT P.op_id, N.id, C.instance, "
	"C.sample, C.value FROM other.rtl_op_counter C " COMES_IN " ORDER BY C.id";

static int add_loss(struct pmc_database *d, uint64_t nr, uint32_t number)
{
	char *text =
		ui_format("dispatches of run %u that have no partner in the other run", number);
	int ret = pmc_database_run(
		d,
		"INSERT INTO rtl_loss_data SELECT (SELECT coalesce(max(L.id), P.id_first) + 1 FROM rtl_loss_data L WHERE "
		"L.id BETWEEN P.id_first AND P.id_last), P.id, %Q, %Q, %Q, %lld, 0, 0 FROM rtl_process P ORDER BY P.id LIMIT 1",
		load_reason_name(SPOOL_REASON_not_counted), load_class_name(LOAD_LOSS), text,
		(long long)nr);

	ui_keep(text);
	return ret;
}

static int join(struct pmc_database *d, uint32_t number, struct pmc_joined *j)
{
	const char *const statements[] = {
		pairs,
		names,
		name_map,
		meanings,
		"CREATE TEMP TABLE pmc_had AS SELECT DISTINCT name_id FROM main.rocpd_counter",
		values,
		samples,
	};
	int ret = number_dispatches(d, "pmc_one", "main");

	if (ret == 0)
		ret = number_dispatches(d, "pmc_two", "other");
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && ret == 0; i++)
		ret = pmc_database_run(d, "%s", statements[i]);
	if (ret)
		return ret;
	j->nr_joined = (uint64_t)pmc_database_number(d, "SELECT count(*) FROM temp.pmc_pair");
	j->nr_alone = (uint64_t)pmc_database_number(
		d,
		"SELECT count(*) FROM temp.pmc_one WHERE counted AND op_id NOT IN (SELECT op_id FROM temp.pmc_pair)");
	j->nr_others = (uint64_t)pmc_database_number(
		d,
		"SELECT count(*) FROM temp.pmc_two WHERE counted AND op_id NOT IN (SELECT other_id FROM temp.pmc_pair)");
	if (j->nr_alone)
		ret = add_loss(d, j->nr_alone, 1);
	if (ret == 0 && j->nr_others)
		ret = add_loss(d, j->nr_others, number);
	return ret;
}

int pmc_join(const char *path, const char *other, uint32_t number, struct pmc_joined *joined)
{
	struct pmc_database d;
	int ret = pmc_database_open(&d, path);

	*joined = (struct pmc_joined){ 0 };
	if (ret == 0)
		ret = pmc_database_attach(&d, other, "other");
	if (ret == 0)
		ret = join(&d, number, joined);
	return pmc_database_close(&d, ret);
}
