/* SPDX-License-Identifier: MIT */
/* rocprofv3.c - the formats of viewers, Perfetto's and OTF2, under rocprofv3's names: a file or
 * archive for each process */
#include "export/rocprofv3/rocprofv3_internal.h"

/* The kinds of rows that were not asked for; all of HIP's calls are one choice here, and all of
 * HSA's. */
static uint32_t left_out(uint32_t domains)
{
	static const struct {
		uint32_t domains;
		enum query_kind kind;
	} kinds[] = {
		{ ROCPROFV3_KERNEL, QUERY_KERNEL }, { ROCPROFV3_COPY, QUERY_COPY },
		{ ROCPROFV3_MARKER, QUERY_MARKER }, { ROCPROFV3_HIP, QUERY_HIP },
		{ ROCPROFV3_HSA, QUERY_HSA },	    { ROCPROFV3_SCRATCH, QUERY_SCRATCH },
	};
	uint32_t out = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!(domains & kinds[i].domains))
			out |= (uint32_t)kinds[i].kind;
	return out;
}

int rocprofv3_viewer_write(struct query *q, const char *out, const struct rocprofv3_viewer *viewer)
{
	const struct rocprofv3_form form = {
		.format = viewer->format,
		.suffix = viewer->suffix,
		.endings = viewer->endings,
		.write_one = viewer->write,
		.own_names = viewer->own_names,
	};

	q->as_dispatched = true;
	q->left_out = left_out(rocprofv3_files_choice(q)->domains);
	return rocprofv3_files_write(q, out, &form);
}
