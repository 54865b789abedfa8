/* SPDX-License-Identifier: MIT */
/* transfer.h - copies and fills that HIP makes with kernels of its own
 */
#ifndef RTL_QUERY_TRANSFER_H
#define RTL_QUERY_TRANSFER_H

#include "query/kinds.h"
#include "query/query.h"

struct rows_op;

/* Finds such kernels for transfer_apply(): their kinds and bytes, in temp.query_transfer (op_id,
 * type, bytes), which SQLite puts into a file; the name of a type is in temp.query_type at -1 -
 * type. rows_prepare() calls it. 0 or -errno with q->res->error. */
int transfer_prepare(struct query *q);
void transfer_end(struct query *q);
/* Makes an operation that is such a kernel a copy or fill with its type, bytes and GPU; `name` and
 * `shape` stay those of the kernel. Others stay as they are. */
void transfer_apply(struct query *q, struct rows_op *op);
/* SQL: the name of an operation's type, ?1. */
#define TRANSFER_TYPE_NAME                                                                         \
	"SELECT string FROM rocpd_string WHERE id = ?1 UNION ALL SELECT string FROM "              \
	"temp.query_type WHERE id = ?1"

/* SQL of the view rtl_transfer: all copies and fills, whatever did them. The bytes and the kind of
 * a kernel of HIP's are those of the call that launched it; a call that launched several has its
 * bytes divided among them, the remainder in the first. The agents are those that have the memory
 * (rtl_api_copy); where they are not known, that of the kernel's queue is one of them, and a CPU
 * that is the only one the other. */
#define TRANSFER_AGENT(id) "coalesce((SELECT label FROM rtl_agent WHERE id = " id "), '')"
#define TRANSFER_ENGINES                                                                                             \
	"SELECT K.op_id, " KINDS_VIEW_OF(                                                                            \
		"K.kind") " AS kind, K.bytes, O.gpuId AS agent, "                                                    \
			  "O.queueId AS queue, CASE WHEN K.flags & 65536 THEN 0 ELSE O.start END AS begin_ns, CASE " \
			  "WHEN K.flags & 65544 THEN 0 ELSE O.end END AS end_ns, O.correlation_id, O.roctxId AS "    \
			  "marker_id, K.flags, CASE WHEN K.engine >= 0 THEN 'copy engine ' || K.engine WHEN "        \
			  "O.correlation_id IN (SELECT correlation_id FROM rtl_op_runtime) THEN 'kernel of ROCr' "   \
			  "ELSE 'copy engine' END AS means, " TRANSFER_AGENT(                                        \
				  "K.src_agent_id") " AS src, " TRANSFER_AGENT("K.dst_agent_id") " AS dst, "         \
												 "K.src_agent_id, K.dst_agent_id FROM rtl_op_copy K JOIN rocpd_op O ON O.id = K.op_id"
/* The number of a copy's kind, as in rtl_op_copy, by its call: C, X, S, D are its rocpd_copyapi,
 * rtl_api_copy, and the agents of both ends. -1: not known. */
#define TRANSFER_CALLED                                                                                    \
	"CASE WHEN X.src_agent_id <> X.dst_agent_id AND S.type = 'GPU' AND D.type = 'GPU' THEN 4 WHEN "    \
	"C.srcDevice >= 0 AND C.dstDevice >= 0 AND C.srcDevice <> C.dstDevice THEN 4 WHEN C.kind BETWEEN " \
	"0 AND 3 THEN C.kind WHEN S.id > 0 AND D.id > 0 THEN (S.type = 'GPU') * 2 + (D.type = 'GPU') ELSE -1 END"
/* The one CPU of the process; NULL: it has several. */
#define TRANSFER_HOST                                                                              \
	"(SELECT CASE count(*) WHEN 1 THEN min(H.id) END FROM rtl_agent H JOIN rtl_agent G ON "    \
	"G.process_id = H.process_id WHERE G.id = own AND H.type = 'CPU')"
#define TRANSFER_NUMBER                                                                            \
	"CASE WHEN B.kernel GLOB '__amd_rocclr_fill*' THEN 5 ELSE " TRANSFER_CALLED " END"
#define TRANSFER_VIEW                                                                                                 \
	"VIEW rtl_transfer AS WITH name AS MATERIALIZED (SELECT id, string FROM rocpd_string "                        \
	"WHERE " KINDS_IS_BLIT(                                                                                       \
		"string") "), blit AS MATERIALIZED (SELECT O.id, O.gpuId, "                                           \
			  "O.queueId, O.start, O.end, O.correlation_id, O.roctxId, K.flags, S.string AS kernel, "     \
			  "nullif(Q.agent_id, 0) AS own FROM rocpd_op O JOIN name S ON S.id = O.description_id LEFT " \
			  "JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_shape H ON H.id = K.shape_id LEFT "   \
			  "JOIN rtl_queue Q ON Q.id = H.queue_id), piece AS MATERIALIZED (SELECT correlation_id, "    \
			  "count(*) AS n, min(id) AS first FROM blit GROUP BY 1), known AS (SELECT B.id, B.gpuId, "   \
			  "B.queueId, B.start, B.end, B.correlation_id, B.roctxId, coalesce(B.flags, 0) AS flags, "   \
			  "B.kernel, B.own, X.src_agent_id, X.dst_agent_id, " TRANSFER_NUMBER                         \
			  " AS number, CASE WHEN N.string LIKE '%3D%' THEN NULL WHEN C.size > 0 THEN C.size / P.n + " \
			  "CASE WHEN B.id = P.first THEN C.size % P.n ELSE 0 END WHEN C.width * C.height > 0 THEN "   \
			  "C.width * C.height / P.n + CASE WHEN B.id = P.first THEN C.width * C.height % P.n ELSE 0 " \
			  "END END AS bytes FROM blit B JOIN piece P ON P.correlation_id = B.correlation_id LEFT "    \
			  "JOIN rocpd_copyapi C ON C.api_ptr_id = B.correlation_id LEFT JOIN rtl_api_copy X ON "      \
			  "X.api_id = B.correlation_id LEFT JOIN rtl_agent S ON S.id = X.src_agent_id LEFT JOIN "     \
			  "rtl_agent D ON D.id = X.dst_agent_id LEFT JOIN rocpd_api A ON A.id = B.correlation_id "    \
			  "LEFT JOIN rocpd_string N ON N.id = A.apiName_id), located AS (SELECT *, coalesce("         \
			  "src_agent_id, CASE WHEN number IN (2, 3) THEN own WHEN number = 1 THEN " TRANSFER_HOST     \
			  " END) AS src_id, coalesce(dst_agent_id, CASE WHEN number IN (1, 3, 5) THEN own WHEN "      \
			  "number = 2 THEN " TRANSFER_HOST                                                            \
			  " END) AS dst_id FROM known) " TRANSFER_ENGINES                                             \
			  " UNION ALL SELECT id, " KINDS_VIEW_OF(                                                     \
				  "number") ", bytes, gpuId, queueId, CASE WHEN flags & 65536 THEN 0 ELSE start "     \
					    "END, CASE WHEN flags & 65544 THEN 0 ELSE end END, correlation_id, "      \
					    "roctxId, flags, kernel, " TRANSFER_AGENT(                                \
						    "src_id") ", " TRANSFER_AGENT("dst_id") ", src_id, dst_id FROM "  \
											    "located"

/* Makes the view in the temporary schema, as this version has it: the file's may be that of an
 * earlier one, which had no agents. 0 or -errno with q->res->error. */
int transfer_define(struct query *q);

/* Makes the temporary view query_copy (op_id, name, agent, begin_ns, end_ns, flags, bytes, means):
 * the copies and fills of the trace, or of the part that slice_apply() left. Where no kernel copied
 * it reads the copies of engines alone. RPD has no bytes. 0 or -errno with q->res->error. */
int transfer_view(struct query *q);

#endif
