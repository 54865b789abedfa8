/* SPDX-License-Identifier: MIT */
/* facts.h - facts about the process that a trace records */
#ifndef RTL_EVENT_FACTS_H
#define RTL_EVENT_FACTS_H

#include <stdint.h>

/* Emits command, exe, cwd, host, kernel, boot id, version, mode, rank, ... One thread at a time. */
void facts_emit(void);

/* Emits a rank and a number of ranks that were found out later, unless facts_emit() had a rank. Any
 * thread. */
void facts_emit_rank(int64_t rank, int64_t size);

/* Emits "library" for each mapped ROCm library that was not emitted yet. One thread at a time. */
void facts_libraries(void);

/* Emits the current clocks. */
void facts_clock(void);

#endif
