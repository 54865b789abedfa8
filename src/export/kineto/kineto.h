/* SPDX-License-Identifier: MIT */
/* kineto.h - traces in the format of PyTorch's profiler (kineto): for HTA, TraceLens, TensorBoard
 *
 * One process in a file: for a trace of several processes, each gets a file of its own, beside OUT.
 * docs/formats/kineto.md describes it.
 */
#ifndef RTL_EXPORT_KINETO_KINETO_H
#define RTL_EXPORT_KINETO_KINETO_H

#include "query/query.h"

/* An export_write_fn. If it writes several files, res->warning names them. */
int kineto_write(struct query *q, const char *out);

#endif
