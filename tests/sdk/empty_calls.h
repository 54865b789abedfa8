/* SPDX-License-Identifier: MIT */
/* empty_calls.h - functions of HIP and HSA, called with arguments that are all zero */
#ifndef RTL_SDK_EMPTY_CALLS_H
#define RTL_SDK_EMPTY_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum empty_result { EMPTY_ABSENT, EMPTY_STATUS, EMPTY_OTHER };

struct empty_call {
	const char *name;
	enum empty_result (*call)(long long *result);
};

/* Each ends with a name of NULL. */
extern const struct empty_call empty_hip[], empty_hsa[];

/* Of functions that end the process when their arguments are zero, with what they need. */
extern const struct empty_call empty_given[];
/* Makes that, of a runtime that is in use. */
void empty_give_hip(void);
void empty_give_hsa(void);

/* Zeros; a signal's handle; a queue. For functions that end the process without them. */
extern char empty_memory[4096];
extern uint64_t empty_signal;
extern void *empty_queue;

/* NULL: no library has it. */
void *empty_find(const char *symbol);

#endif
