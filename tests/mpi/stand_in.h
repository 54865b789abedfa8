/* SPDX-License-Identifier: MIT */
/* stand_in.h - a library of MPI that does nothing, for tests of librtlmpi without MPI
 *
 * Its kind (STAND_IN_KIND of enum mpi_kind) is that of the library whose name it has. One thread.
 */
#ifndef RTL_TESTS_MPI_STAND_IN_H
#define RTL_TESTS_MPI_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* as in lib/librtlmpi/mpi_wrap.h */
typedef uintptr_t mpi_handle;

/* The library's, which the program sets and reads. */
extern bool stand_in_fails;	  /* calls return 13 */
extern int stand_in_last;	  /* number of the function that was called last; -1: none */
extern uint64_t stand_in_got[20]; /* its arguments */
extern int stand_in_nr;
void stand_in_note(int number, const uint64_t *args, int nr);

/* The program's. */
extern void (*const each_call[])(bool standard);
extern const char *const each_name[];
extern const int each_nr;
void expect(int number, const char *name, bool standard, int ret, const uint64_t *sent, int nr);
void *stand_in_pointer(int at, const char *name);

#endif
