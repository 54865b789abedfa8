/* SPDX-License-Identifier: MIT */
/* otf2.h - a trace as an archive of OTF2, which Vampir and Cube read */
#ifndef RTL_EXPORT_OTF2_OTF2_H
#define RTL_EXPORT_OTF2_OTF2_H

#include "export/export.h"

/* An export_write_fn: `out` is NAME.otf2; the archive also has NAME.def and the directory NAME. */
int otf2_write(struct query *q, const char *out);

/* One archive of several traces, each of a rank or more. `open` opens one for reading. `opt` is not
 * NULL. 0 or -errno with res->error. */
int otf2_write_job(const char *const *inputs, size_t nr, const char *out, export_open_fn open,
		   const struct job_options *opt, struct job_result *res);

#endif
