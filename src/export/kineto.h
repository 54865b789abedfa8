/* SPDX-License-Identifier: MIT */
/* kineto.h - traces as PyTorch's profiler (kineto) writes them: for HTA, TraceLens, TensorBoard
 *
 * One process in a file: where a trace holds several, each gets a file of its own, beside OUT.
 * docs/formats/kineto.md describes it. Memory as in perfetto.h.
 */
#ifndef RTL_EXPORT_KINETO_H
#define RTL_EXPORT_KINETO_H

#include "export/export.h"

/* Contract: export_fn. Where several files were written res->warning names them. */
int kineto_write(const char *const *inputs, size_t nr, const char *out,
		 const struct rpd_options *opt, struct rpd_result *res);

#endif
