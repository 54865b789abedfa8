/* SPDX-License-Identifier: MIT */
/* export.h - the formats that a trace can be written in: one row each in export.c */
#ifndef RTL_EXPORT_EXPORT_H
#define RTL_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "export/rpd/rpd.h"

/* Same contract as rpd_merge(): inputs are spools or databases. */
typedef int (*export_fn)(const char *const *inputs, size_t nr, const char *out,
			 const struct rpd_options *opt, struct rpd_result *res);

struct export_format {
	const char *name;   /* as in `rtl convert -f NAME` */
	const char *suffix; /* of the default output: ".db" */
	const char *help;
	export_fn write;
	bool per_process; /* of a trace of several processes it makes res->nr_processes files */
	bool several; /* it makes res->nr_processes files of any trace, and sees to it that none is there */
};

/* Ends in a row whose name is NULL. */
extern const struct export_format export_formats[];
const struct export_format *export_find(const char *name);

#endif
