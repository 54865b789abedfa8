/* SPDX-License-Identifier: MIT */
/* apart.c - which labels of kernels are shared
 *
 * Fails:    as the query; two labels of one hash are taken for one, and their kernels get whole
 *           names.
 */
#include "query/apart.h"

#include <string.h>

#define ALONE 1
#define SHARED 2

static int add(struct apart *a, const char *kernel)
{
	uint64_t whole = map_hash(kernel, strlen(kernel)), label, found;
	char buf[LABEL_SIZE];
	const char *text;

	if (map_get(&a->kernels, whole, &found))
		return 0;
	text = label_kernel(buf, kernel);
	label = map_hash(text, strlen(text));
	if (map_put(&a->kernels, whole, 1))
		return -1;
	return map_put(&a->labels, label, map_get(&a->labels, label, &found) ? SHARED : ALONE);
}

int apart_read(struct apart *apart, struct query *q)
{
	sqlite3_stmt *stmt;
	int ret = query_prepare(q, &stmt,
				q->ours ? "SELECT demangled FROM rtl_kernel_symbol" :
					  "SELECT string FROM rocpd_string WHERE id IN (SELECT "
					  "description_id FROM rocpd_op)");

	if (ret)
		return ret;
	while (ret == 0 && sqlite3_step(stmt) == SQLITE_ROW)
		if (add(apart, query_text(stmt, 0)))
			ret = query_fail_memory(q);
	if (sqlite3_finalize(stmt) != SQLITE_OK && ret == 0)
		ret = query_fail_sql(q);
	return ret;
}

const char *apart_label(const struct apart *apart, char buf[LABEL_SIZE], const char *kernel)
{
	const char *label = label_kernel(buf, kernel);
	uint64_t found;

	return map_get(&apart->labels, map_hash(label, strlen(label)), &found) && found == SHARED ?
		       kernel :
		       label;
}

void apart_fini(struct apart *apart)
{
	map_fini(&apart->labels);
	map_fini(&apart->kernels);
}
