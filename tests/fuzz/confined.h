/* SPDX-License-Identifier: MIT */
/* confined.h - no file outside a fuzzer's own directory is touched: the kernel refuses, and the
 * fuzzer reports it
 *
 * Landlock refuses what would make, write, cut, rename or delete a file elsewhere. The functions of
 * libc that do so, also as called by shared libraries, are those of confined.c, which end the
 * process when the kernel refuses: code under test would take it for an ordinary error. Landlock
 * does not know of modes and owners; the fuzzers of commands compare those of files beside. A
 * fuzzer that calls the code itself is confined to the run's directory and the current one, which
 * has the corpus, without a word of its own.
 */
#ifndef RTL_FUZZ_CONFINED_H
#define RTL_FUZZ_CONFINED_H

/* From now on this process and its children write below these directories alone (NULL ends the
 * list), and to /dev/null. 0, or -errno: the kernel can't. Can be called again, for less. */
int confine(const char *const *dirs);
/* A directory of the run's own, which run.sh makes and removes; ends the process without one. */
const char *confined_scratch(void);

#endif
