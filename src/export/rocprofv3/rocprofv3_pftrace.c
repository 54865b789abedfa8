/* SPDX-License-Identifier: MIT */
/* rocprofv3_pftrace.c - Perfetto's format under rocprofv3's names: a file for each process */
#include "export/pftrace/pftrace.h"
#include "export/rocprofv3/rocprofv3_internal.h"

static int write_file(struct query *q, const char *name)
{
	int ret = pftrace_write(q, name);

	return ret ? ret : 1;
}

int rocprofv3_pftrace_write(struct query *q, const char *out)
{
	static const char *const endings[] = { ".pftrace", ".pftrace.gz", NULL };
	static const struct rocprofv3_form form = {
		.format = "rocprofv3-pftrace",
		.suffix = "_results.pftrace",
		.endings = endings,
		.write = write_file,
	};

	q->as_dispatched = true;
	return rocprofv3_files_write(q, out, &form);
}
