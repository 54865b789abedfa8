/* SPDX-License-Identifier: MIT */
/* facts.h - facts about the process that a trace records */
#ifndef RTL_EVENT_FACTS_H
#define RTL_EVENT_FACTS_H

/* Emits command, exe, cwd, host, kernel, boot id, version, mode, rank, ... One thread at a time. */
void facts_emit(void);

/* Emits "library" for each mapped ROCm library that was not emitted yet. One thread at a time. */
void facts_libraries(void);

/* Emits the current clocks. */
void facts_clock(void);

#endif
