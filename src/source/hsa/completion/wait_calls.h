/* SPDX-License-Identifier: MIT */
/* wait_calls.h - the calls by which a program learns that an operation has completed
 *
 * Each records what has completed before it returns: what the program can know to have completed is
 * in the trace, whatever its next instruction is (decision 025).
 */
#ifndef RTL_SOURCE_HSA_WAIT_CALLS_H
#define RTL_SOURCE_HSA_WAIT_CALLS_H

#include "hsa_table_gen.h"

/* Puts the calls into the tables. */
void wait_calls_install(const struct hsa_mirror_root *root);

#endif
