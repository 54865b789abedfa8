/* SPDX-License-Identifier: MIT */
/* rocpd3_internal.h - shared by the writer of rocpd's database and its schema */
#ifndef RTL_EXPORT_ROCPROFV3_ROCPD3_INTERNAL_H
#define RTL_EXPORT_ROCPROFV3_ROCPD3_INTERNAL_H

#include <sqlite3.h>

#include "export/rocprofv3/rocprofv3.h"

/* What distinguishes a file from all others. */
struct rocpd3_id {
	char guid[40];	 /* "01234567-89ab-..." */
	char suffix[40]; /* of its tables: "_01234567_89ab_..." */
};

/* SQL that makes all tables and views; and a statement in which '@' is the suffix. The caller frees
 * it with sqlite3_free(); NULL: out of memory. */
char *rocpd3_schema_sql(const struct rocpd3_id *id);
char *rocpd3_sql(const char *text, const struct rocpd3_id *id);

#endif
