/* SPDX-License-Identifier: MIT */
/* parquet_columns.h - the columns that parquet_ops.c fills: position, name, type, encoding, note,
 * whether it may be NULL
 *
 * The rows of a table's array and the numbers of its columns are made of them.
 */
#ifndef RTL_EXPORT_PARQUET_PARQUET_COLUMNS_H
#define RTL_EXPORT_PARQUET_PARQUET_COLUMNS_H

/* clang-format off */
#define PARQUET_PID_NOTE "the process, as its system knew it; `processes.pid`"
#define PARQUET_OP_ID(X) \
	X(ID, "id", INT, DELTA, "of the operation in its process") \
	X(PID, "pid", INT, DICTIONARY, PARQUET_PID_NOTE, NULLABLE)
#define PARQUET_LANE(X, queue) \
	X(GPU, "gpu", INT, DICTIONARY, "number of the GPU in its process; `agents.gpu`", NULLABLE) \
	X(QUEUE, "queue", INT, DICTIONARY, queue, NULLABLE) \
	X(STREAM, "stream", INT, DICTIONARY, "number of HIP's stream in the process, from 1", NULLABLE)
/* put_times() fills them */
#define PARQUET_TIMES(X) \
	X(BEGIN, "begin_ns", INT, DELTA, "ns; begin on the GPU, in the clock of the process's boot", NULLABLE) \
	X(END, "end_ns", INT, DELTA, "ns; end on the GPU", NULLABLE) \
	X(CORRELATION, "correlation_id", INT, DELTA, "of the call that submitted it, also if calls are not recorded", NULLABLE) \
	X(CALL, "call_id", INT, DELTA, "the call that caused it, `calls.id`", NULLABLE) \
	X(RANGE, "range_id", INT, DELTA, "the innermost range around its submission, `ranges.id`", NULLABLE) \
	X(FLAGS, "flags", INT, DICTIONARY, "bits: [database.md](database.md), table rtl_flag")

#define PARQUET_DISPATCH(X) \
	PARQUET_OP_ID(X) \
	X(KERNEL, "kernel", TEXT, DICTIONARY, "demangled name with its parameters", NULLABLE) \
	PARQUET_LANE(X, "number of the queue in its process") \
	X(GRID_X, "grid_x", INT, DICTIONARY, "work-items", NULLABLE) \
	X(GRID_Y, "grid_y", INT, DICTIONARY, "work-items", NULLABLE) \
	X(GRID_Z, "grid_z", INT, DICTIONARY, "work-items", NULLABLE) \
	X(BLOCK_X, "block_x", INT, DICTIONARY, "work-items of a workgroup", NULLABLE) \
	X(BLOCK_Y, "block_y", INT, DICTIONARY, "work-items of a workgroup", NULLABLE) \
	X(BLOCK_Z, "block_z", INT, DICTIONARY, "work-items of a workgroup", NULLABLE) \
	PARQUET_TIMES(X) \
	X(TID, "tid", INT, DICTIONARY, "thread that submitted it", NULLABLE) \
	X(COMMUNICATOR, "communicator", TEXT, DICTIONARY, "of a kernel of collectives, where RCCL's calls are recorded: id of the communicator, the same on all of its ranks", NULLABLE)

#define PARQUET_COPY(X) \
	PARQUET_OP_ID(X) \
	X(KIND, "kind", TEXT, DICTIONARY, "HostToDevice, DeviceToHost, DeviceToDevice, PeerToPeer, HostToHost, Fill, Unknown; of RPD its own type") \
	X(BYTES, "bytes", INT, DICTIONARY, "bytes", NULLABLE) \
	PARQUET_LANE(X, "10000 + the number of the copy engine, 9999: an unknown one; of a copy by a kernel, its queue") \
	X(SRC, "src", TEXT, DICTIONARY, "label of the agent that has the source; `agents.label`", NULLABLE) \
	X(DST, "dst", TEXT, DICTIONARY, "label of the agent that has the destination", NULLABLE) \
	X(BY, "means", TEXT, DICTIONARY, "copy engine N, or the kernel of HIP that copied", NULLABLE) \
	PARQUET_TIMES(X)
/* clang-format on */

#define PARQUET_DISPATCH_ID(id, ...) D_##id,
enum { PARQUET_DISPATCH(PARQUET_DISPATCH_ID) PARQUET_DISPATCH_NR };
#define PARQUET_COPY_ID(id, ...) C_##id,
enum { PARQUET_COPY(PARQUET_COPY_ID) PARQUET_COPY_NR };

#endif
