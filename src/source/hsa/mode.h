/* SPDX-License-Identifier: MIT */
/* mode.h - which packets are traced, and how queues are made for that
 *
 * Set within hsa_init(), constant until hsa_shut_down().
 */
#ifndef RTL_SOURCE_HSA_MODE_H
#define RTL_SOURCE_HSA_MODE_H

#include <stdbool.h>

#include "base/compiler.h"
#include "hsa_table_gen.h"

enum mode { MODE_LITE, MODE_STANDARD, MODE_FULL };

extern RTL_HIDDEN enum mode mode_packets;

/* Queues are made as intercept queues instead of being interposed. */
extern RTL_HIDDEN bool mode_intercepts;

/* Reads RTL_MODE and RTL_QUEUES, and the runtime's abilities. After real_read(). */
void mode_choose(const struct hsa_mirror_root *root);

#endif
