/* SPDX-License-Identifier: MIT */
/* rpd_carry.c - how a merge copies each column of a table
 *
 * A column that the other file lacks (older generations of RPD) gets a default, as does a NULL in
 * it. The tracer from which this project has its name (rocm-trace-lite 0.3 in C++) calls api_ptr_id
 * api_id. No id is looked up: ids and references to them change by the same amount.
 */
#include "export/rpd/rpd_internal.h"

#include <string.h>

/* Tables of the plain layout are views in the compact one. */
bool rpd_carry_has(struct rpd *r, const char *table, const char *column)
{
	return rpd_db_int(
		       r, 0,
		       column ?
			       "SELECT count(*) FROM pragma_table_info(%Q, 'src') WHERE name = %Q "
			       "COLLATE NOCASE" :
			       "SELECT count(*) FROM src.sqlite_master WHERE (type = 'table' OR (type = 'view' AND "
			       "EXISTS (SELECT 1 FROM src.sqlite_master WHERE name = 'rtl_launch'))) AND name = %Q",
		       table, column) > 0;
}

/* Appends the expression that copies one column. */
static void add_column(const struct rpd_carry_to *to, sqlite3_str *list,
		       const struct rpd_table *table, const struct rpd_column *column)
{
	const char *name = column->name, *first = table->columns[0].name;

	if (strcmp(name, "api_ptr_id") == 0 && !rpd_carry_has(to->r, table->name, name))
		name = "api_id";
	if (!rpd_carry_has(to->r, table->name, name)) {
		bool is_id = column->move == '+' || column->move == '?';

		if (column->fallback && strcmp(column->fallback, "$empty") == 0)
			sqlite3_str_appendf(list, "%lld", (long long)to->empty);
		else
			sqlite3_str_appendall(list, column->fallback ? column->fallback :
						    is_id	     ? "0" :
								       "''");
		return;
	}
	switch (column->move) {
	case '+':
		sqlite3_str_appendf(list, "\"%w\" + %lld", name, (long long)to->base);
		break;
	case '?':
		sqlite3_str_appendf(list,
				    "CASE WHEN \"%w\" <> 0 THEN \"%w\" + %lld ELSE \"%w\" END",
				    name, name, (long long)to->base, name);
		break;
	case 'p':
		sqlite3_str_appendf(list, "rtl_move_pid(\"%w\", \"%w\")", first, name);
		break;
	case 'g':
		sqlite3_str_appendf(list, "rtl_move_gpu(\"%w\", \"%w\")", first, name);
		break;
	default:
		if (column->fallback && *column->fallback != '$')
			sqlite3_str_appendf(list, "coalesce(rtl_valid(\"%w\"), %s)", name,
					    column->fallback);
		else
			sqlite3_str_appendf(list, "rtl_valid(\"%w\")", name);
		break;
	}
}

char *rpd_carry_sql(const struct rpd_carry_to *to, const struct rpd_table *table)
{
	size_t nr = rpd_tables_columns(table, to->r->is_compact);
	sqlite3_str *sql = sqlite3_str_new(to->r->db);

	sqlite3_str_appendf(sql, "INSERT INTO main.\"%w\"(", table->name);
	for (size_t i = 0; i < nr; i++)
		sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", table->columns[i].name);
	sqlite3_str_appendall(sql, ") SELECT ");
	for (size_t i = 0; i < nr; i++) {
		sqlite3_str_appendall(sql, i ? ", " : "");
		add_column(to, sql, table, &table->columns[i]);
	}
	sqlite3_str_appendf(sql, " FROM src.\"%w\"", table->name);
	return sqlite3_str_finish(sql);
}
