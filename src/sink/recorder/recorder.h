/* SPDX-License-Identifier: MIT */
/* recorder.h - the sink that writes the trace */
#ifndef RTL_RECORDER_RECORDER_H
#define RTL_RECORDER_RECORDER_H

#include "event/bus.h"

extern const struct sink recorder_sink;

/* Called by librtl's destructor, as its last action: reports events that came after the trace was
 * closed and could not be counted in the file. */
void recorder_last_words(void);

#endif
