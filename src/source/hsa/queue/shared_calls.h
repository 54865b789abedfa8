/* SPDX-License-Identifier: MIT */
/* shared_calls.h - the calls that read or change a signal, patched when the first signal is shared
 *
 * librtl's completer completes a shared signal (completer.h), microseconds after its dispatch. A
 * program may learn otherwise that the dispatch is over (from a later packet's signal), and must
 * then find the signal completed, as untraced. So these calls wait until the completers have caught
 * up. They are patched into the tables when the first dispatch shares a signal, which hardly any
 * program does: other programs pay nothing.
 */
#ifndef RTL_SOURCE_HSA_SHARED_CALLS_H
#define RTL_SOURCE_HSA_SHARED_CALLS_H

#include "hsa_table_gen.h"

/* Sets the tables that shared_calls_arm() may patch. Within hsa_init(). */
void shared_calls_init(const struct hsa_mirror_root *root);

/* Patches the tables. Any thread, any number of times. */
void shared_calls_arm(void);

/* Restores the tables. Within hsa_shut_down(). */
void shared_calls_disarm(void);

/* Waits until the owners' signals of completed dispatches are completed, too. Returns at once if no
 * signals are shared. */
void shared_calls_settle(void);

#endif
