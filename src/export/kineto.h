/* SPDX-License-Identifier: MIT */
/* kineto.h - traces as PyTorch's profiler (kineto) writes them: for HTA, TraceLens, TensorBoard
 *
 * One process in a file: where a trace holds several, each gets a file of its own, beside OUT.
 * docs/formats/kineto.md describes it.
 */
#ifndef RTL_EXPORT_KINETO_H
#define RTL_EXPORT_KINETO_H

#include "query/query.h"

/* An export_write_fn. Where several files were written res->warning names them. */
int kineto_write(struct query *q, const char *out);

#endif
