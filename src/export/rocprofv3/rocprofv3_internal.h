/* SPDX-License-Identifier: MIT */
/* rocprofv3_internal.h - shared by the writers of rocprofv3's files
 *
 *	rocprofv3_files.c   processes and names of files
 *	rocprofv3_keys.c    parts of names that rocprofv3 alone has
 *	rocprofv3_names.c   numbers of functions, names of kernels, numbers of agents: temporary
 *			    tables
 *	rocprofv3_counters.c what a counter or metric is
 *	rocprofv3_graphs.c  launches of graphs: temporary tables
 *	rocprofv3_csv.c     the tables of the CSV files
 *	rocprofv3_json.c    JSON: what describes a process
 *	rocprofv3_records.c JSON: its records
 *	rocpd3.c            the database of rocpd: its rows
 *	rocpd3_schema.c     its tables and views
 *	rocprofv3.c         Perfetto's format and OTF2, under rocprofv3's names
 */
#ifndef RTL_EXPORT_ROCPROFV3_ROCPROFV3_INTERNAL_H
#define RTL_EXPORT_ROCPROFV3_ROCPROFV3_INTERNAL_H

#include "export/json.h"
#include "export/rocprofv3/rocprofv3.h"
#include "names_sdk_gen.h"

#define ROCPROFV3_NAME_SIZE 4096

/* Numbers of kinds of records, as in rocprofiler-sdk 1.0. */
enum rocprofv3_kind {
	ROCPROFV3_KIND_HSA_CORE = 1,
	ROCPROFV3_KIND_HSA_AMD = 2,
	ROCPROFV3_KIND_HSA_IMAGE = 3,
	ROCPROFV3_KIND_HSA_FINALIZE = 4,
	ROCPROFV3_KIND_HIP_RUNTIME = 5,
	ROCPROFV3_KIND_HIP_COMPILER = 6,
	ROCPROFV3_KIND_MARKER_CORE = 7,
	ROCPROFV3_KIND_COPY = 10,
	ROCPROFV3_KIND_KERNEL = 11,
	ROCPROFV3_KIND_SCRATCH = 12,
	ROCPROFV3_KIND_RCCL = 14,
	ROCPROFV3_KIND_ALLOCATION = 16,
	ROCPROFV3_KIND_GRAPH = 33, /* of 1.3 */
};

/* ---- rocprofv3_files.c ---- */

struct rocprofv3_form {
	const char *format;	    /* its name, for messages */
	const char *suffix;	    /* "_results.json"; "": the names are the writer's */
	const char *const *endings; /* names that end so are used as they are; NULL-ended */
	/* Whether a file of that name exists; NULL: access(). */
	bool (*exists)(struct query *q, const char *name);
	/* The writer is that of another format: streams are their numbers in rocprofv3_stream, and
	 * tracks of counters are named after agents. */
	bool own_names;
	/* Writes the files of q->only (NULL: the trace has no process). The number of files, or
	 * -errno. */
	int (*write)(struct query *q, const char *name);
	int (*write_one)(struct query *q,
			 const char *name); /* instead, if there is always one: 0 or -errno */
};

/* Writes the files of each process that has events; without any, those of the first process. */
int rocprofv3_files_write(struct query *q, const char *out, const struct rocprofv3_form *form);

/* What is written: q->opt->format, or all. */
const struct rocprofv3_choice *rocprofv3_files_choice(const struct query *q);

/* ---- rocprofv3_keys.c ---- */

/* Of a process. */
struct rocprofv3_facts {
	const char *command, *cwd;
	int64_t launched; /* seconds since 1970 */
	const char *time_format, *date_format;
};

/* Replaces rocprofv3's own keys: %tag%, %argv%, %args%, %argt%, %argN%, %cwd%, %launch_date%,
 * %launch_time%, also as {tag}. 0, or -1: the result is longer than `size`. */
int rocprofv3_keys_expand(char *out, size_t size, const char *pattern,
			  const struct rocprofv3_facts *f);

/* ---- rocprofv3_counters.c ---- */

struct rocprofv3_counter {
	char description[512], expression[4096], unit[64], block[32];
	uint32_t event;
	bool is_constant, is_derived;
};

/* Reads what the counter or metric `name` of a GPU, "gfx90a", is; empty where it is not known. 0 or
 * -errno. */
int rocprofv3_counters_find(struct query *q, const char *agent, const char *name,
			    struct rocprofv3_counter *c);
/* Makes the temporary table rocprofv3_counter (id, agent: its handle, gpu: its name, name) of
 * q->only. */
int rocprofv3_counters_make(struct query *q);

/* ---- rocprofv3_json.c ---- */

/* Writes the agents of q->only to j: an array of objects with the members of rocprofiler-sdk's
 * agents. 0 or -errno. */
int rocprofv3_json_agents(struct query *q, struct json *j);

/* ---- rocprofv3_names.c ---- */

/* Makes the temporary tables
 *	rocprofv3_function  id (of the name in rocpd_string), name, kind, domain (the kind's name),
 *			    operation: of the domains that are written
 *	rocprofv3_allocation id, operation, size, address: functions that allocate, and the names of
 *	these arguments
 *	rocprofv3_pool	    block (id >> 32 of the process's rows), handle, agent_id: whose a pool
 *			    of memory is; empty without HSA's calls
 *	rocprofv3_kernel    id (rtl_kernel_symbol), name (as tables show it), truncated
 *	rocprofv3_agent     id (rtl_agent), handle, label (as tables show it: "Agent 1", "GPU 0"),
 *			    type_index
 *	rocprofv3_queue     id (rtl_queue), number
 *	rocprofv3_stream    process_id (rtl_process), name: the handle, since, until: times between
 *			    which it was that stream, number: from 1 in the order of their making.
 *			    Handles are used again for later streams. The default stream has none
 *	rocprofv3_scratch   id, operation: number, tid, start, end, agent_id (rtl_agent), queue: its
 *			    number, flags, bytes, correlation_id; empty if the trace has none
 *	rocprofv3_flags     renamed, domains: of struct rocprofv3_choice
 * and the SQL functions rocprofv3_arg(text of arguments, name): a number, NULL if there is none;
 * rocprofv3_gfx(name of an ISA): its number; rocprofv3_hash(text); rocprofv3_root(x);
 * rocprofv3_truncated(name of a kernel). */
int rocprofv3_names_make(struct query *q);
/* From here on the names and numbers of streams of an open trace (temp.query_cause, query_stream)
 * are those of rocprofv3_stream, 0: the default stream; and tracks of counters are named after
 * agents (query.h). 0 or -errno with q->res->error. */
int rocprofv3_names_for_viewer(struct query *q);
/* Operations of a kind that rocprofiler-sdk does not number, behind those that it does: calls
 * `each` in their order. */
int rocprofv3_names_more(struct query *q, int kind, void (*each)(void *arg, const char *name),
			 void *arg);

/* SQL: q->only: of its node id, hash, machine, system, host, release, version, hardware, domain; of
 * itself pid, parent, begin, end, command, state, and 32 hexadecimal digits that no other trace
 * has. */
#define ROCPROFV3_PROCESS                                                                          \
	"SELECT P.node + 1, rocprofv3_hash(coalesce(P.host, '') || coalesce(P.boot_id, '')), "     \
	"coalesce(P.boot_id, ''), 'Linux', coalesce(P.host, ''), coalesce((SELECT value FROM "     \
	"rtl_info WHERE process_id = P.id AND key = 'kernel'), ''), '', '', '', P.os_pid, "        \
	"coalesce(P.ppid, 0), coalesce(nullif(P.start_ns, 0), P.first_ns, 0), "                    \
	"max(coalesce(P.end_ns, 0), coalesce(P.last_ns, 0)), coalesce(P.command, ''), P.state, "   \
	"coalesce(P.trace_id, '') FROM rtl_process P WHERE ?1 BETWEEN P.id_first AND P.id_last"

/* SQL: a range's correlation id. Calls have numbers of their own, which ranges must not share. */
#define ROCPROFV3_MARKER_ID(api) "(" api " + 2147483648)"

#define ROCPROFV3_NR_COPY 5 /* enum rocprofiler_memory_copy_operation_t; a fill is one more */
/* SQL: the operation of a copy. */
#define ROCPROFV3_COPY_OPERATION                                                                    \
	"CASE K.kind WHEN 0 THEN 1 WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 4 WHEN 4 THEN 4 WHEN 5 " \
	"THEN 5 ELSE 0 END"

/* SQL: a kernel's dispatch with all that describes it, and a copy; the same aliases everywhere. */
#define ROCPROFV3_OF_KERNELS                                                                         \
	" FROM rtl_op_kernel K CROSS JOIN rocpd_op O ON O.id = K.op_id JOIN rtl_shape S ON S.id = "  \
	"K.shape_id JOIN rtl_kernel_symbol Y ON Y.id = S.kernel_id JOIN temp.rocprofv3_kernel N ON " \
	"N.id = Y.id JOIN rtl_thread T ON T.id = K.thread_id LEFT JOIN rtl_queue Q ON Q.id = "       \
	"S.queue_id LEFT JOIN temp.rocprofv3_queue V ON V.id = S.queue_id LEFT JOIN "                \
	"temp.rocprofv3_agent G ON G.id = Q.agent_id "
/* SQL: a queue as rocprofv3 numbers them: from 1 in the order of their making, the runtime's own
 * behind the program's. */
#define ROCPROFV3_QUEUE "coalesce(V.number, O.queueId + 1)"
/* SQL: the call that caused an operation of thread T, and its stream; M.number is NULL for the
 * default stream and where it is unknown. */
#define ROCPROFV3_STREAM                                                                           \
	"LEFT JOIN query_cause L ON L.op_id = O.id LEFT JOIN rocpd_api B ON B.id = L.api_id LEFT " \
	"JOIN temp.rocprofv3_stream M ON M.process_id = T.process_id AND M.name = L.stream AND "   \
	"M.since <= B.start AND M.until > B.start "
#define ROCPROFV3_KERNELS                                                                          \
	ROCPROFV3_OF_KERNELS                                                                       \
	ROCPROFV3_STREAM "WHERE K.op_id BETWEEN ?1 AND ?2 ORDER BY O.start, O.id"
#define ROCPROFV3_COPIES                                                                           \
	" FROM rtl_op_copy K CROSS JOIN rocpd_op O ON O.id = K.op_id JOIN rtl_thread T ON T.id = " \
	"K.thread_id LEFT JOIN temp.rocprofv3_agent F ON F.id = K.src_agent_id LEFT JOIN "         \
	"temp.rocprofv3_agent G ON G.id = K.dst_agent_id " ROCPROFV3_STREAM                        \
	"WHERE K.op_id BETWEEN ?1 AND ?2 ORDER BY O.start, O.id"
/* Calls of some kinds; and of functions that allocate. */
#define ROCPROFV3_CALLS(kinds)                                                                         \
	" FROM rocpd_api A CROSS JOIN temp.rocprofv3_function H ON H.id = A.apiName_id AND H.kind IN " \
	"(" kinds ") LEFT JOIN rtl_api_data X ON X.api_id = A.id WHERE A.id BETWEEN ?1 AND ?2 "        \
	"ORDER BY A.start, A.id"
#define ROCPROFV3_ALLOCATIONS                                                                                     \
	" FROM rocpd_api A CROSS JOIN temp.rocprofv3_allocation H ON H.id = A.apiName_id JOIN rtl_api_data "      \
	"X ON X.api_id = A.id AND X.status = 0 JOIN rocpd_ustring U ON U.id = A.args_id LEFT JOIN "               \
	"temp.rocprofv3_pool O ON O.block = A.id >> 32 AND O.handle = rocprofv3_arg(U.string, H.pool) LEFT JOIN " \
	"temp.rocprofv3_agent G ON G.id = O.agent_id WHERE A.id "                                                 \
	"BETWEEN ?1 AND ?2 ORDER BY A.start, A.id"
#define ROCPROFV3_MARKERS                                                                                   \
	" FROM rtl_marker_data M CROSS JOIN rocpd_api A ON A.id = M.api_id JOIN rocpd_ustring U ON U.id = " \
	"A.args_id WHERE M.api_id BETWEEN ?1 AND ?2 ORDER BY A.start, A.id"
/* What happened to scratch memory: W. Readers of rocpd call the third one RECLAIM. */
#define ROCPROFV3_SCRATCHES                                                                           \
	" FROM temp.rocprofv3_scratch W LEFT JOIN temp.rocprofv3_agent G ON G.id = W.agent_id WHERE " \
	"W.id BETWEEN ?1 AND ?2 ORDER BY W.start, W.id"
#define ROCPROFV3_HIP_KINDS "5, 6"
#define ROCPROFV3_HSA_KINDS "1, 2, 3, 4"
#define ROCPROFV3_RCCL_KINDS "14"

/* ---- rocprofv3_graphs.c ---- */

/* Makes the temporary tables of q->only, empty without graphs
 *	rocprofv3_launch    api_id: a launch that succeeded, exec: number of the executable graph
 *	rocprofv3_node      op_id: a kernel or copy of a launch, api_id, exec, node: its number in
 *			    the launch */
int rocprofv3_graphs_make(struct query *q);
/* SQL: these two of an operation O, 0 outside of graphs. */
#define ROCPROFV3_NODE                                                                             \
	"coalesce((SELECT D.exec FROM temp.rocprofv3_node D WHERE D.op_id = O.id), 0), "           \
	"coalesce((SELECT D.node FROM temp.rocprofv3_node D WHERE D.op_id = O.id), 0)"

/* SQL: api_id of a launch, nr: how many kernels it had, agent_id: of one of them. */
#define ROCPROFV3_LAUNCHED                                                                         \
	"SELECT D.api_id, count(*) AS nr, min(Q.agent_id) AS agent_id FROM temp.rocprofv3_node D " \
	"CROSS JOIN rtl_op_kernel K ON K.op_id = D.op_id JOIN rtl_shape S ON S.id = K.shape_id "   \
	"LEFT JOIN rtl_queue Q ON Q.id = S.queue_id GROUP BY D.api_id"

/* ---- rocprofv3_csv.c ---- */

/* A table of the CSV files, which has to be there. The columns of agent_info are fields of the
 * SDK's agents. */
struct csv_table;
const struct csv_table *rocprofv3_csv_table(const char *name);

/* ---- rocprofv3_records.c ---- */

/* The member "buffer_records" of a process. */
int rocprofv3_records_write(struct query *q, struct json *j);
/* The members "counters" and "counter_collection". */
int rocprofv3_records_counters(struct query *q, struct json *j);
int rocprofv3_records_counted(struct query *q, struct json *j);

#endif
