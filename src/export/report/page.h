/* SPDX-License-Identifier: MIT */
/* page.h - a trace as one HTML file that needs nothing else (docs/cli/report.md) */
#ifndef RTL_EXPORT_REPORT_PAGE_H
#define RTL_EXPORT_REPORT_PAGE_H

#include "export/export.h"

/* For export_run(). It writes an open trace, after rows_prepare(). */
extern const struct export_format page_format;

/* The page of rtl diff, before and behind its data; made by web/bundle.py. */
extern const unsigned char page_diff_head[], page_diff_tail[];
extern const size_t page_diff_head_size, page_diff_tail_size;
/* The same of rtl fleet. */
extern const unsigned char page_fleet_head[], page_fleet_tail[];
extern const size_t page_fleet_head_size, page_fleet_tail_size;

#endif
