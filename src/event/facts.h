/* SPDX-License-Identifier: MIT */
/* facts.h - what a trace says about its process */
#ifndef RTL_EVENT_FACTS_H
#define RTL_EVENT_FACTS_H

/* Emits command, exe, cwd, host, kernel, boot id, version, mode, rank, ... One thread at a time. */
void facts_emit(void);

/* Emits "library" for each ROCm library that is mapped and was not emitted. One thread at a time. */
void facts_libraries(void);

/* Emits the clocks of this instant. */
void facts_clock(void);

#endif
