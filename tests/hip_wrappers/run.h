/* SPDX-License-Identifier: MIT */
/* run.h - one call of one wrapper: its arguments, and what its record must hold
 *
 * The generated cases name each argument and each word; run.c makes the values and compares.
 */
#ifndef RTL_HIP_WRAPPERS_RUN_H
#define RTL_HIP_WRAPPERS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/api/call.h"
#include "stand_in.h"

enum run_mode {
	RUN_GOOD,      /* the call succeeds, pointers are good */
	RUN_FAILS,     /* it fails; pointers are invalid and must not be read */
	RUN_NULL,      /* it succeeds, pointers are NULL, numbers negative */
	RUN_EMPTY,     /* it succeeds, numbers are 0; pointers that a number guards are invalid */
	RUN_NO_ARGS,   /* as RUN_GOOD, without arguments in the record */
	RUN_OFF,       /* as RUN_GOOD, calls are not recorded */
	RUN_OFF_AGAIN, /* the next one of the same function, which may take another way */
	RUN_LEFT,      /* as RUN_GOOD, the user leaves the function out */
	RUN_LEFT_AGAIN,
	RUN_NR_MODES
};

struct run {
	enum run_mode mode;
	const char *name, *called, *recorded; /* of struct run_case */
	unsigned seed;
};

/* A case runs its function once in run->mode. */
struct run_case {
	const char *name;     /* of the op, with the release of its arguments */
	const char *called;   /* the function of the stand-in */
	const char *recorded; /* the function's name in the record */
	bool has_status;      /* a function without one can't fail */
	void (*fn)(struct run *run);
};

/* The domain under test. The driver defines these. */
extern const enum api_domain run_domain;
extern const struct api_op *const run_ops;
extern const struct run_case run_cases[];
extern const unsigned run_nr_cases;
/* Switches the domain on and makes the wrappers ready. */
void run_prepare(void);
void run_forget_names(void);
/* Sets the release of HIP, by its index. */
void run_release(uint32_t index);

/* Arguments. */
void run_number(struct run *run, void *value, size_t size);
void run_bool(struct run *run, bool *value);
/* The number of elements of an array that is one object. */
void run_count(struct run *run, size_t *value);
/* A structure that is passed by value. */
void run_struct(struct run *run, void *value, size_t size);
const char *run_text(struct run *run, const char *text);
/* What a pointer parameter points to; `back`: the stand-in fills it. */
void run_object(struct run *run, void *object, size_t size, enum stand_in_what what, bool back);
/* The value of a pointer parameter: its object's address, or an invalid one. `object` NULL: it is
 * never read. */
void run_pointer(struct run *run, void *pointer, void *object, bool guarded);

/* The call; before it, how large a subscriber's structure of the arguments is, and what the
 * function returns. */
void run_expect(size_t args, size_t result);
void run_begin(struct run *run);
/* It has returned: `ret` was its status, or 0. */
void run_end(struct run *run, uint32_t op, bool has_status, int32_t status);
/* The arguments that the stand-in got, in order. */
void run_got(struct run *run, const char *name, const void *value, size_t size);
void run_got_all(struct run *run);
/* What a subscriber saw of an argument, and of what the function returned. */
void run_seen(struct run *run, const char *name, const void *value, size_t offset, size_t size);
void run_seen_result(struct run *run, const void *value, size_t size);
void run_returned(struct run *run, const void *value, size_t size, bool is_text);

/* The words, in order. `guarded`: 0 unless the call was good. */
void run_word(struct run *run, const char *name, bool guarded, const void *value, size_t size);
void run_word_text(struct run *run, const char *name, bool guarded, const char *text);
void run_word_kernel(struct run *run, bool guarded, bool has_status, uint64_t function);
/* The word that hip_word_agents() makes of two pointers, NULL: of none; the test's own run_agents()
 * stands for librtl's table. */
void run_word_agents(struct run *run, const char *name, bool guarded, const void *dst,
		     const void *src);
uint64_t run_agents(const void *dst, const void *src);
void run_words_all(struct run *run);
/* A callback decoder's words for the same call, which must be the record's. */
void run_callback(struct run *run, uint32_t op, uint32_t expected_op,
		  uint32_t (*decode)(const void *, uint64_t *, bool), const void *args);

#endif
