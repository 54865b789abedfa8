/* SPDX-License-Identifier: MIT */
/* otf2.h - a trace as an archive of OTF2, which Vampir and Cube read */
#ifndef RTL_EXPORT_OTF2_OTF2_H
#define RTL_EXPORT_OTF2_OTF2_H

#include "query/query.h"

/* An export_write_fn: `out` is NAME.otf2; the archive also has NAME.def and the directory NAME. */
int otf2_write(struct query *q, const char *out);

#endif
