/* SPDX-License-Identifier: MIT */
/* command.h - runs commands of rtl in processes of their own, for the fuzzers of what commands read
 *
 * A command may end its process; so each run is a fork, whose counters of coverage are in memory
 * that it shares with the fuzzer. The child writes below out/ of the run's directory alone
 * (confined.h), and its inputs are in in/, beside victim, a file that nothing may touch. A run
 * fails if the child dies by a signal or of a sanitizer, takes RUN_SECONDS of processor time, or if
 * victim changed. out/ is emptied after each run.
 */
#ifndef RTL_FUZZ_COMMAND_H
#define RTL_FUZZ_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#define RUN_SECONDS 20

/* Makes the directories, once; the current directory is out/ from then on. Where the kernel has no
 * Landlock, says so and ends the fuzzer with the status of a skipped test. */
void command_setup(void);
/* Runs the function in a child, which may call exit(). */
void command_run(void (*run)(void *arg), void *arg);
/* As `rtl` with these words, the last NULL. For command_run()'s function. */
void command_main(const char *const *words);
/* A file below the run's directory, "in/a.db"; failures end the fuzzer. */
void command_write(const char *name, const void *data, size_t size);

/* The bytes of an input, taken from the front; 0 behind the end. */
struct bytes {
	const uint8_t *at, *end;
};
uint8_t take_byte(struct bytes *b);
/* Up to `size` bytes; their number in *nr. */
const uint8_t *take_bytes(struct bytes *b, size_t size, size_t *nr);

#endif
