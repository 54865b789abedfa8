/* SPDX-License-Identifier: MIT */
/* transfer.h - copies and fills that HIP makes with kernels of its own
 */
#ifndef RTL_QUERY_TRANSFER_H
#define RTL_QUERY_TRANSFER_H

#include "query/kinds.h"
#include "query/query.h"

/* Finds such kernels for transfer_apply(): their kinds and bytes, in temp.query_transfer (op_id, type, bytes), which SQLite puts into a
 * file; the name of a type is in temp.query_type at -1 - type. rows_prepare() calls it. 0 or -errno with q->res->error. */
int transfer_prepare(struct query *q);
void transfer_end(struct query *q);
/* Makes a row of enum rows_op that is such a kernel a copy or fill with its type, bytes and GPU; OP_NAME and OP_SHAPE stay those of the
 * kernel. Other rows stay as they are. */
void transfer_apply(struct query *q, int64_t *op);
/* SQL: the name of a row's OP_TYPE, ?1. */
#define TRANSFER_TYPE_NAME                                                                         \
	"SELECT string FROM rocpd_string WHERE id = ?1 UNION ALL SELECT string FROM "              \
	"temp.query_type WHERE id = ?1"

/* SQL of the view rtl_transfer: all copies and fills, whatever did them. The bytes and the kind of a kernel of HIP's are those
 * of the call that launched it; a call that launched several has its bytes divided among them, the remainder in the first. */
#define TRANSFER_ENGINES                                                                                             \
	"SELECT K.op_id, " KINDS_VIEW_OF(                                                                            \
		"K.kind") " AS kind, K.bytes, O.gpuId AS agent, "                                                    \
			  "O.queueId AS queue, CASE WHEN K.flags & 65536 THEN 0 ELSE O.start END AS begin_ns, CASE " \
			  "WHEN K.flags & 65544 THEN 0 ELSE O.end END AS end_ns, O.correlation_id, O.roctxId AS "    \
			  "marker_id, K.flags, CASE WHEN K.engine >= 0 THEN 'copy engine ' || K.engine WHEN "        \
			  "O.correlation_id IN (SELECT correlation_id FROM rtl_op_runtime) THEN 'kernel of ROCr' "   \
			  "ELSE 'copy engine' END AS means FROM rtl_op_copy K JOIN rocpd_op O ON O.id = K.op_id"
#define TRANSFER_VIEW                                                                                                  \
	"VIEW rtl_transfer AS WITH name AS MATERIALIZED (SELECT id, string FROM rocpd_string "                         \
	"WHERE " KINDS_IS_BLIT(                                                                                        \
		"string") "), blit AS MATERIALIZED (SELECT O.id, O.gpuId, "                                            \
			  "O.queueId, O.start, O.end, O.correlation_id, O.roctxId, K.flags, S.string AS kernel FROM "  \
			  "rocpd_op O JOIN name S ON S.id = O.description_id LEFT JOIN rtl_op_kernel K ON K.op_id = "  \
			  "O.id), piece AS MATERIALIZED (SELECT correlation_id, count(*) AS n, min(id) AS first FROM " \
			  "blit GROUP BY 1) " TRANSFER_ENGINES                                                         \
			  " UNION ALL SELECT B.id, CASE WHEN B.kernel GLOB "                                           \
			  "'__amd_rocclr_fill*' THEN 'Fill' WHEN C.srcDevice >= 0 AND C.dstDevice >= 0 AND "           \
			  "C.srcDevice <> C.dstDevice THEN 'PeerToPeer' WHEN C.kind < 4 THEN " KINDS_VIEW_OF(          \
				  "C.kind") " ELSE 'Unknown' END, CASE WHEN N.string LIKE '%3D%' THEN NULL WHEN "      \
					    "C.size > 0 THEN C.size / P.n + CASE WHEN B.id = P.first THEN C.size % "   \
					    "P.n ELSE 0 END WHEN C.width * C.height > 0 THEN C.width * C.height / "    \
					    "P.n + CASE WHEN B.id = P.first THEN C.width * C.height % P.n ELSE 0 "     \
					    "END END, B.gpuId, B.queueId, CASE WHEN coalesce(B.flags, 0) & 65536 "     \
					    "THEN 0 ELSE B.start END, CASE WHEN coalesce(B.flags, 0) & 65544 THEN 0 "  \
					    "ELSE B.end END, B.correlation_id, B.roctxId, coalesce(B.flags, 0), "      \
					    "B.kernel FROM blit B JOIN piece P ON P.correlation_id = "                 \
					    "B.correlation_id LEFT JOIN rocpd_copyapi C ON C.api_ptr_id = "            \
					    "B.correlation_id LEFT JOIN rocpd_api A ON A.id = C.api_ptr_id LEFT "      \
					    "JOIN rocpd_string N ON N.id = A.apiName_id"

/* Makes the temporary view query_copy (op_id, name, agent, begin_ns, end_ns, flags, bytes, means): the copies and fills of the
 * trace, or of the part that slice_apply() left. Where no kernel copied it reads the copies of engines alone. RPD has no bytes.
 * 0 or -errno with q->res->error. */
int transfer_view(struct query *q);

#endif
