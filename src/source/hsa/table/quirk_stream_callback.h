/* SPDX-License-Identifier: MIT */
/* quirk_stream_callback.h - stream callbacks of HIP 5.2 end although its activity callbacks are on
 *
 * hipStreamAddCallback() puts a signal of 2 on the stream: the GPU takes one, and HIP's handler for "below
 * 2" calls the program's function and takes the other. With an activity callback registered, the
 * handler of 5.2 first waits for 0, which is what it is to bring about itself, so the stream stands
 * still for ever (seen in 5.2.3, whoever registered). While such a handler runs, its thread reads the
 * signal as what the GPU has left of it. Later releases compare with 1 themselves, and so nothing
 * changes for them.
 */
#ifndef RTL_SOURCE_HSA_QUIRK_STREAM_CALLBACK_H
#define RTL_SOURCE_HSA_QUIRK_STREAM_CALLBACK_H

#include "hsa_table_gen.h"

/* Puts itself in front of what the table holds. Only where activity callbacks are on; in OnLoad(). */
void quirk_stream_callback_install(const struct hsa_mirror_root *root);

#endif
