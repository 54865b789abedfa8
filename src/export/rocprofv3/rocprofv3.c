/* SPDX-License-Identifier: MIT */
/* rocprofv3.c - the formats of viewers, Perfetto's and OTF2, under rocprofv3's names: a file or archive for each process */
#include "export/otf2/otf2.h"
#include "export/pftrace/pftrace.h"
#include "export/rocprofv3/rocprofv3_internal.h"

static int write_pftrace(struct query *q, const char *name)
{
	int ret = pftrace_write(q, name);

	return ret ? ret : 1;
}

static int write_otf2(struct query *q, const char *name)
{
	int ret = otf2_write(q, name);

	return ret ? ret : 1;
}

static int write_files(struct query *q, const char *out, const struct rocprofv3_form *form)
{
	q->as_dispatched = true;
	return rocprofv3_files_write(q, out, form);
}

int rocprofv3_pftrace_write(struct query *q, const char *out)
{
	static const char *const endings[] = { ".pftrace", ".pftrace.gz", NULL };
	static const struct rocprofv3_form form = {
		.format = "rocprofv3-pftrace",
		.suffix = "_results.pftrace",
		.endings = endings,
		.numbers_streams = true,
		.write = write_pftrace,
	};

	return write_files(q, out, &form);
}

int rocprofv3_otf2_write(struct query *q, const char *out)
{
	static const char *const endings[] = { ".otf2", NULL };
	static const struct rocprofv3_form form = {
		.format = "rocprofv3-otf2",
		.suffix = "_results.otf2",
		.endings = endings,
		.write = write_otf2,
	};

	return write_files(q, out, &form);
}
