/* SPDX-License-Identifier: MIT */
/* recorder.h - the sink that writes the trace */
#ifndef RTL_RECORDER_RECORDER_H
#define RTL_RECORDER_RECORDER_H

#include "event/bus.h"

extern const struct sink recorder_sink;

/* From the library's destructor, the last thing of ours to run: names what came when the trace was
 * closed already and no file could take the count. */
void recorder_last_words(void);

#endif
