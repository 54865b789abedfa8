/* SPDX-License-Identifier: MIT */
/* test_kinds.c - what is a kernel, a copy, a fill, by engines and by kernels of HIP: in C and in
 * SQL, what copies are called, and which kernel a user may have meant */
#include "analysis/digest.h"

#include <stdio.h>
#include <string.h>

#include "query/kinds.h"
#include "query/near.h"
#include "query/rows.h"
#include "support/db.h"
#include "support/test.h"

static const struct slice all;

TEST(kernels_of_hip_copy_or_fill_or_do_neither)
{
	CHECK_EQ_INT(kinds_transfer_of("__amd_rocclr_copyBufferRectAligned.kd"), KINDS_COPY);
	CHECK_EQ_INT(kinds_transfer_of("__amd_rocclr_copyImageToBuffer"), KINDS_COPY);
	CHECK_EQ_INT(kinds_transfer_of("__amd_rocclr_fillBufferAligned.kd"), KINDS_FILL);
	CHECK_EQ_INT(kinds_transfer_of("__amd_rocclr_fillImage"), KINDS_FILL);
	CHECK_EQ_INT(kinds_transfer_of("__amd_rocclr_scheduler"), KINDS_NO_TRANSFER);
	CHECK_EQ_INT(kinds_transfer_of("__amd_rocclr_"), KINDS_NO_TRANSFER);
	CHECK_EQ_INT(kinds_transfer_of("copyBuffer"), KINDS_NO_TRANSFER);
	CHECK_EQ_INT(kinds_transfer_of("fillBuffer"), KINDS_NO_TRANSFER);
}

TEST(copies_and_fills_have_names_of_their_own)
{
	CHECK_STR_EQ(kinds_copy_name(REC_COPY_H2H), "CopyHostToHost");
	CHECK_STR_EQ(kinds_copy_name(REC_COPY_H2D), "CopyHostToDevice");
	CHECK_STR_EQ(kinds_copy_name(REC_COPY_D2H), "CopyDeviceToHost");
	CHECK_STR_EQ(kinds_copy_name(REC_COPY_D2D), "CopyDeviceToDevice");
	CHECK_STR_EQ(kinds_copy_name(REC_COPY_P2P), "CopyPeerToPeer");
	CHECK_STR_EQ(kinds_copy_name(REC_COPY_FILL), "FillBuffer");
	CHECK_STR_EQ(kinds_copy_name(REC_COPY_FILL + 1), "Copy");
	CHECK_STR_EQ(kinds_copy_name(UINT32_MAX), "Copy");
}

/* Two kernels; a copy and two fills by engines; a copy and a fill by kernels of HIP; one of HIP's
 * that does neither. */
static struct query *open_made(void)
{
	static struct job_options opt;
	static struct job_result res;
	const char *path = test_tmpfile("made.db");
	struct query *q;

	remove(path);
	db_make_rpd(
		path,
		"INSERT INTO rocpd_string VALUES(1, 'KernelExecution'), (2, 'CopyHostToDevice'), (3, 'FillBuffer'), (4, 'work'), (5, ''), "
		"(6, '__amd_rocclr_copyBuffer.kd'), (7, '__amd_rocclr_fillBufferAligned.kd'), (8, '__amd_rocclr_scheduler.kd');"
		"INSERT INTO rocpd_op VALUES(1, 0, 0, 0, 100, 200, 4, 1), (2, 0, 0, 0, 300, 400, 4, 1), (3, 0, 0, 0, 500, 600, 5, 2), "
		"(4, 0, 0, 0, 700, 800, 5, 3), (5, 0, 0, 0, 900, 1000, 5, 3), (6, 0, 0, 0, 1100, 1200, 6, 1), "
		"(7, 0, 0, 0, 1300, 1400, 7, 1), (8, 0, 0, 0, 1500, 1600, 8, 1);");
	CHECK_OK(query_open(&q, &path, 1, NULL, &opt, &res));
	return q;
}

TEST(operations_are_what_their_texts_say)
{
	struct query *q = open_made();
	struct kinds kinds = { 0 };

	CHECK_OK(kinds_read(q, &kinds));
	CHECK_EQ_INT(kinds_of(&kinds, 4, 1), KINDS_KERNEL);
	CHECK_EQ_INT(kinds_of(&kinds, 5, 2), KINDS_ENGINE);
	CHECK_EQ_INT(kinds_of(&kinds, 5, 3), KINDS_ENGINE);
	CHECK_EQ_INT(kinds_of(&kinds, 6, 1), KINDS_BLIT);
	CHECK_EQ_INT(kinds_of(&kinds, 7, 1), KINDS_BLIT);
	CHECK_EQ_INT(kinds_of(&kinds, 8, 1), KINDS_KERNEL);
	kinds_fini(&kinds);
	query_close(q);
}

struct types {
	struct query *q;
	char text[512];
};

static int add_type(void *arg, const struct rows_op *op)
{
	struct types *t = arg;
	size_t used = strlen(t->text);
	sqlite3_stmt *name;

	CHECK_OK(query_prepare(t->q, &name, ROWS_TYPE_NAME));
	CHECK(query_row(name, op->type));
	snprintf(t->text + used, sizeof(t->text) - used, "%d %s\n", (int)op->id,
		 query_text(name, 0));
	sqlite3_finalize(name);
	return 0;
}

TEST(rows_of_kernels_that_copy_or_fill_have_the_types_of_engines)
{
	struct types types = { .q = open_made() };

	CHECK_OK(rows_prepare(types.q));
	CHECK_OK(rows_ops(types.q, ROWS_BY_QUEUE, add_type, &types));
	CHECK_STR_EQ(types.text, "1 KernelExecution\n2 KernelExecution\n3 CopyHostToDevice\n"
				 "4 FillBuffer\n5 FillBuffer\n6 Copy\n7 FillBuffer\n"
				 "8 KernelExecution\n");
	query_close(types.q);
}

TEST(names_that_are_like_a_text_are_given_without_others)
{
	struct query *q = open_made();
	char names[NEAR_SIZE];
	bool alike;

	CHECK_OK(near_kernels(q, "worx", names, &alike));
	CHECK(alike);
	CHECK_STR_EQ(names, "work");
	/* copies are no kernels, and nothing is like this */
	CHECK_OK(near_kernels(q, "copyBuffer", names, &alike));
	CHECK(!alike);
	CHECK_STR_EQ(names, "work, __amd_rocclr_scheduler.kd");
	query_close(q);
}

static uint64_t calls_of(const struct digest_sums *sums, const char *name)
{
	for (size_t i = 0; i < sums->nr; i++)
		if (strcmp(sums->sums[i].name, name) == 0)
			return sums->sums[i].calls;
	return 0;
}

TEST(fills_are_counted_as_fills)
{
	struct query *q = open_made();
	struct digest d = { 0 };

	CHECK_OK(digest_read(&d, q, &all));
	CHECK_EQ_UINT(d.gpus[0].kernels, 3);
	CHECK_EQ_UINT(d.gpus[0].copies, 5);
	CHECK_EQ_UINT(calls_of(&d.copies, "FillBuffer"), 3);
	CHECK_EQ_UINT(calls_of(&d.copies, "CopyHostToDevice"), 1);
	CHECK_EQ_UINT(d.copies.nr, 3);
	digest_fini(&d);
	query_close(q);
}
