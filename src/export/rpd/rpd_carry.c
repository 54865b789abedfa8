/* SPDX-License-Identifier: MIT */
/* rpd_carry.c - the tables that a merge takes over, and how each of their columns is carried
 *
 * A column that the other file does not have (older generations of RPD) gets a default. Nothing is looked
 * up row by row: an id that refers to a row and the row's own id move by the same amount.
 */
#include "export/rpd/rpd_internal.h"

#include <stdio.h>
#include <string.h>

/* Columns, separated by spaces: NAME, or NAME:KIND, or NAME:KIND:DEFAULT (SQL).
 *	+  an id: moved		?  an id, or 0 or NULL for none: moved unless so
 *	p  a pid of the row with the id in the first column; g a GPU id of it
 *	-  carried over as it is (the same as no kind)
 * The default of a column without one is 0 for ids and '' for the rest. */
static const struct rpd_carry tables[] = {
	{ "rocpd_string", "id:+ string", false },
	{ "rocpd_ustring", "id:+ string", true },
	{ "rocpd_api",
	  "id:+ pid:p tid start end apiName_id:+ category_id:+:$empty domain_id:+:$empty "
	  "args_id:+",
	  true },
	{ "rocpd_op",
	  "id:+ gpuId:g queueId sequenceId start end description_id:+ opType_id:+ "
	  "completionSignal:-:'' roctxId:?:0 correlation_id:?:0",
	  true },
	{ "rocpd_api_ops", "id:+ api_id:+ op_id:+", true },
	{ "rocpd_kernelapi",
	  "api_ptr_id:+ stream gridX gridY gridZ workgroupX workgroupY workgroupZ "
	  "groupSegmentSize privateSegmentSize kernelName_id:+",
	  true },
	{ "rocpd_copyapi",
	  "api_ptr_id:+ stream size width:-:0 height:-:0 kind dst src dstDevice:-:-1 "
	  "srcDevice:-:-1 sync pinned:-:0",
	  true },
	{ "rocpd_graphapi", "api_ptr_id:+ graph graphExec stream", true },
	{ "rocpd_graphLaunchapi", "api_ptr_id:+ graph graphExec stream", true },
	{ "rocpd_monitor", "id:+ deviceType deviceId monitorType start end value", true },
	{ "rocpd_counter", "id:+ value op_id:+ name_id:+", true },
	{ "rocpd_stackframe", "id:+ api_ptr_id:+ depth name_id:+", true },
	{ "rtl_thread", "id:+ process_id:+ tid name first_ns", false },
	{ "rtl_agent",
	  "id:+ process_id:+ agent_index type gpu_index gpu_id:g label driver_node name "
	  "product vendor uuid handle nr_cu simd_per_cu wave_size max_waves_per_cu "
	  "clock_mhz bdf",
	  false },
	{ "rtl_queue",
	  "id:+ process_id:+ queue_id hsa_id handle agent_id:? tid size queue_type internal "
	  "traced create_ns destroy_ns",
	  false },
	{ "rtl_code_object",
	  "id:+ process_id:+ code_object_id uri agent_id:? load_base load_size "
	  "load_delta load_ns unload_ns",
	  false },
	{ "rtl_kernel_symbol",
	  "id:+ process_id:+ kernel_id name demangled object code_object_id:? "
	  "agent_id:? kernarg_size group_size private_size vgpr_count "
	  "accum_vgpr_count sgpr_count rsrc1 rsrc2 rsrc3",
	  false },
	{ "rtl_shape",
	  "id:+ process_id:+ kernel_id:+ queue_id:+ grid_x grid_y grid_z group_x group_y "
	  "group_z private_size group_size",
	  false },
	{ "rtl_op_kernel", "op_id:+ thread_id:+ shape_id:+ flags begin_ticks end_ticks", false },
	{ "rtl_op_runtime",
	  "op_id:+ gpu_id:g queue_id packet_index begin_ns end_ns correlation_id:? "
	  "marker_id:? thread_id:+ shape_id:+ flags begin_ticks end_ticks",
	  false },
	{ "rtl_op_copy",
	  "op_id:+ thread_id:+ flags kind bytes src_agent_id:? dst_agent_id:? src dst "
	  "engine",
	  false },
	{ "rtl_op_barrier",
	  "op_id:+ thread_id:+ gpu_id:g queue_id packet_index begin_ns end_ns "
	  "correlation_id:? packet_type flags",
	  false },
	{ "rtl_marker_data", "api_id:+ kind level parent_id:? unclosed end_tid", false },
	{ "rtl_api_data", "api_id:+ status correlation_id:? parent_id:?", false },
	{ "rtl_clock",
	  "id:+ process_id:+ agent_id:? system_ns monotonic_ns boottime_ns realtime_ns "
	  "ticks",
	  false },
	{ "rtl_info", "id:+ process_id:? key value", false },
	{ "rtl_loss_data", "id:+ process_id:+ reason class text count first_ns last_ns", false },
};

bool rpd_carry_has(struct rpd *r, const char *table, const char *column)
{
	if (!column)
		return rpd_db_int(r, 0,
				  "SELECT count(*) FROM src.sqlite_master WHERE type = 'table' AND "
				  "name = %Q",
				  table) > 0;
	return rpd_db_int(r, 0,
			  "SELECT count(*) FROM pragma_table_info(%Q, 'src') WHERE name = %Q "
			  "COLLATE NOCASE",
			  table, column) > 0;
}

const struct rpd_carry *rpd_carry_tables(size_t *nr)
{
	*nr = sizeof(tables) / sizeof(tables[0]);
	return tables;
}

/* Appends the expression that carries one column over. `first` is the table's first column. */
static void add_column(const struct rpd_carry_to *to, sqlite3_str *list, const char *table,
		       const char *name, char kind, const char *fallback, const char *first)
{
	if (!rpd_carry_has(to->r, table, name)) {
		if (fallback && strcmp(fallback, "$empty") == 0)
			sqlite3_str_appendf(list, "%lld", (long long)to->empty);
		else
			sqlite3_str_appendf(list, "%s",
					    fallback		       ? fallback :
					    kind == '+' || kind == '?' ? "0" :
									 "''");
		return;
	}
	switch (kind) {
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
		sqlite3_str_appendf(list, "\"%w\"", name);
		break;
	}
}

char *rpd_carry_sql(const struct rpd_carry_to *to, const struct rpd_carry *table)
{
	sqlite3_str *names = sqlite3_str_new(to->r->db);
	sqlite3_str *values = sqlite3_str_new(to->r->db);
	const char *p = table->columns;
	char first[64] = "";
	char *name_list, *value_list, *sql = NULL;

	while (*p) {
		char item[64];
		char *kind, *fallback = NULL;
		size_t len = strcspn(p, " ");

		snprintf(item, sizeof(item), "%.*s", (int)len, p);
		p += len + (p[len] == ' ');
		kind = strchr(item, ':');
		if (kind) {
			*kind++ = '\0';
			fallback = strchr(kind, ':');
			if (fallback)
				*fallback++ = '\0';
		}
		if (!first[0])
			snprintf(first, sizeof(first), "%s", item);
		else
			sqlite3_str_appendall(names, ", "), sqlite3_str_appendall(values, ", ");
		sqlite3_str_appendf(names, "\"%w\"", item);
		add_column(to, values, table->name, item, kind ? *kind : '-', fallback, first);
	}
	name_list = sqlite3_str_finish(names);
	value_list = sqlite3_str_finish(values);
	if (name_list && value_list)
		sql = sqlite3_mprintf("INSERT INTO main.\"%w\"(%s) SELECT %s FROM src.\"%w\"",
				      table->name, name_list, value_list, table->name);
	sqlite3_free(name_list);
	sqlite3_free(value_list);
	return sql;
}
