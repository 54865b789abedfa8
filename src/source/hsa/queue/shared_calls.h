/* SPDX-License-Identifier: MIT */
/* shared_calls.h - the calls by which a program reads or changes a signal, once signals are shared
 *
 * The signal of a dispatch that shares it is completed by a queue of ours (completer.h), microseconds after the dispatch.
 * A program that knows by something else that the dispatch is over (a later packet's signal) must find the signal completed,
 * as it would untraced. So these calls wait until the queues of ours have caught up. They are put into the tables when the
 * first dispatch shares a signal, which hardly any program does: others pay nothing.
 */
#ifndef RTL_SOURCE_HSA_SHARED_CALLS_H
#define RTL_SOURCE_HSA_SHARED_CALLS_H

#include "hsa_table_gen.h"

/* The tables that shared_calls_arm() may patch. Inside of hsa_init(). */
void shared_calls_init(const struct hsa_mirror_root *root);

/* From now on. Any thread, any number of times. */
void shared_calls_arm(void);

/* The tables hold again what they held. Inside of hsa_shut_down(). */
void shared_calls_disarm(void);

/* Waits until what has completed is completed for its owners, too. At once where no signals are shared. */
void shared_calls_settle(void);

#endif
