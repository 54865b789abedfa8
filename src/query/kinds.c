/* SPDX-License-Identifier: MIT */
/* kinds.c - what an operation is, and what copies are called */
#include "query/kinds.h"

#include <string.h>

#define PREFIX "__amd_rocclr_"

_Static_assert(REC_COPY_H2H == 0 && REC_COPY_H2D == 1 && REC_COPY_D2H == 2 && REC_COPY_D2D == 3 &&
		       REC_COPY_P2P == 4 && REC_COPY_FILL == 5,
	       "SQL has the numbers");
_Static_assert(QUERY_UNTIMED == 65550, "KINDS_UNTIMED");

const char *kinds_copy_name(uint32_t copy_kind)
{
#define NAME(number, view, name) [number] = (name),
	static const char *const names[] = { KINDS_NAMES(NAME) };
#undef NAME

	return copy_kind < sizeof(names) / sizeof(names[0]) ? names[copy_kind] : "Copy";
}

enum kinds_transfer kinds_transfer_of(const char *kernel)
{
	if (strncmp(kernel, PREFIX, strlen(PREFIX)) != 0)
		return KINDS_NO_TRANSFER;
	kernel += strlen(PREFIX);
	return strncmp(kernel, "copy", 4) == 0 ? KINDS_COPY :
	       strncmp(kernel, "fill", 4) == 0 ? KINDS_FILL :
						 KINDS_NO_TRANSFER;
}

bool kinds_synchronizes(const char *function)
{
	return strstr(function, "Synchronize") || strncmp(function, "hsa_signal_wait", 15) == 0;
}

int kinds_read(struct query *q, struct kinds *k)
{
	sqlite3_stmt *row = NULL;
	int ret;

	if (k->is_read)
		return 0;
	ret = query_prepare(
		q, &row,
		"SELECT id, " KINDS_IS_BLIT(
			"string") " FROM rocpd_string WHERE " KINDS_IS_TRANSFER("string",
										"string"));
	while (ret == 0 && (ret = query_step(q, row)) == 1)
		ret = map_put(&k->by_text, (uint64_t)sqlite3_column_int64(row, 0),
			      sqlite3_column_int(row, 1) ? KINDS_BLIT : KINDS_ENGINE) ?
			      query_fail_memory(q) :
			      0;
	sqlite3_finalize(row);
	k->is_read = ret == 0;
	return ret;
}

enum kinds_op kinds_of(const struct kinds *k, int64_t name, int64_t type)
{
	uint64_t kind;

	return map_get(&k->by_text, (uint64_t)name, &kind) && kind == KINDS_BLIT   ? KINDS_BLIT :
	       map_get(&k->by_text, (uint64_t)type, &kind) && kind == KINDS_ENGINE ? KINDS_ENGINE :
										     KINDS_KERNEL;
}

void kinds_fini(struct kinds *k)
{
	map_fini(&k->by_text);
	*k = (struct kinds){ 0 };
}
