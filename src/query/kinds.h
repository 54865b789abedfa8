/* SPDX-License-Identifier: MIT */
/* kinds.h - what an operation is, and what copies are called: one definition for C and for SQL
 *
 * An operation is a kernel of the program, a copy or fill by a copy engine (its type says so), or a
 * copy or fill by a kernel of HIP's (its name says so). HIP does some copies and fills (on the same
 * GPU, small ones, all on some GPUs) with kernels that it launches like those of the program. Their
 * names are the same in HIP 4.0 to 7.2: __amd_rocclr_copyBuffer, ..._copyBufferRect,
 * ..._copyBufferAligned, ..._copyImage, ..._fillBufferAligned, ..._fillImage and so on. Other
 * kernels with that prefix (scheduler, gwsInit, streamOpsWrite) move no data of the program.
 *
 * A copy has one name in all that rtl prints (KINDS_NAMES); names that other formats prescribe are
 * in docs/formats/kinds.md.
 */
#ifndef RTL_QUERY_KINDS_H
#define RTL_QUERY_KINDS_H

#include "query/query.h"
#include "store/map.h"

/* X(value of enum rec_copy_kind, kind in the views rtl_copy and rtl_transfer, name) */
#define KINDS_NAMES(X)                                                                             \
	X(0, "HostToHost", "CopyHostToHost")                                                       \
	X(1, "HostToDevice", "CopyHostToDevice")                                                   \
	X(2, "DeviceToHost", "CopyDeviceToHost")                                                   \
	X(3, "DeviceToDevice", "CopyDeviceToDevice")                                               \
	X(4, "PeerToPeer", "CopyPeerToPeer")                                                       \
	X(5, "Fill", "FillBuffer")

/* "Copy": neither the operation nor its call says what it is. */
const char *kinds_copy_name(uint32_t copy_kind);

/* SQL: the kind in those views, of a number; and the name of such a kind. */
#define KINDS_VIEW_OF(number)                                                                      \
	"CASE " number " WHEN 0 THEN 'HostToHost' WHEN 1 THEN 'HostToDevice' WHEN 2 THEN "         \
	"'DeviceToHost' WHEN 3 THEN 'DeviceToDevice' WHEN 4 THEN 'PeerToPeer' WHEN 5 THEN 'Fill' " \
	"ELSE 'Unknown' END"
#define KINDS_NAME_OF(kind)                                                                        \
	"CASE " kind                                                                               \
	" WHEN 'Fill' THEN 'FillBuffer' WHEN 'Unknown' THEN 'Copy' ELSE 'Copy' || " kind " END"

enum kinds_transfer { KINDS_NO_TRANSFER, KINDS_COPY, KINDS_FILL };

/* What a kernel of HIP's does, by the kernel's name, mangled or not. HOT in conversions: compares
 * some bytes. */
enum kinds_transfer kinds_transfer_of(const char *kernel);

/* Whether a function of HIP or HSA returns when a GPU has done its work, and does nothing else. */
bool kinds_synchronizes(const char *function);

/* SQL: whether an operation's type is a copy or a fill (rtl uses RPD's names); whether a kernel is
 * one with which HIP copies or fills; whether one of both is true. */
#define KINDS_IS_COPY(type)                                                                        \
	"(" type " LIKE 'Copy%' OR " type " LIKE 'Fill%' OR " type " LIKE 'Mem%')"
#define KINDS_IS_BLIT(kernel)                                                                      \
	"(" kernel " GLOB '__amd_rocclr_copy*' OR " kernel " GLOB '__amd_rocclr_fill*')"
#define KINDS_IS_TRANSFER(type, kernel) "(" KINDS_IS_COPY(type) " OR " KINDS_IS_BLIT(kernel) ")"

/* SQL: the flags of operations whose times are not measured, QUERY_UNTIMED. */
#define KINDS_UNTIMED "65550"

/* What operations are, by the ids of their texts. In the caller's zeroed structure. */
enum kinds_op { KINDS_KERNEL, KINDS_BLIT, KINDS_ENGINE };
struct kinds {
	struct map by_text;
	bool is_read;
};

/* Reads the texts; later calls do nothing. 0 or -errno with q->res->error. */
int kinds_read(struct query *q, struct kinds *kinds);
/* After kinds_read(): of an operation, by the ids of its description and type. */
enum kinds_op kinds_of(const struct kinds *kinds, int64_t name, int64_t type);
void kinds_fini(struct kinds *kinds);

#endif
