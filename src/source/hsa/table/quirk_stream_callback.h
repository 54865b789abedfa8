/* SPDX-License-Identifier: MIT */
/* quirk_stream_callback.h - makes stream callbacks of HIP 5.2 end while its activity callbacks are
 * on
 *
 * hipStreamAddCallback() puts a signal of value 2 on the stream: the GPU decrements it once, and
 * HIP's handler for "below 2" calls the program's function and decrements it again. If any activity
 * callback is registered, the handler of 5.2 first waits for value 0, which only its own later
 * decrement can produce, so the stream never continues (seen in 5.2.3). While such a handler
 * runs, librtl lets its thread read a positive value of the signal as 1 less. Later releases
 * compare with 1 instead, so nothing changes for them.
 */
#ifndef RTL_SOURCE_HSA_QUIRK_STREAM_CALLBACK_H
#define RTL_SOURCE_HSA_QUIRK_STREAM_CALLBACK_H

#include "hsa_table_gen.h"

/* Installs its functions in front of the table's. Only where activity callbacks are on; in
 * OnLoad(). */
void quirk_stream_callback_install(const struct hsa_mirror_root *root);

#endif
