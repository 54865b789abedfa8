/* SPDX-License-Identifier: MIT */
/* each_call.c - calls each function of MPI that librtlmpi wraps, by both of its names: arguments
 * and results go through
 *
 * Usage: each_call [fail]    fail: the calls fail, their pointers are NULL
 * Prints a line for each function, and what was wrong; status 1 if something was.
 */
#include "stand_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) char memory[20][256];
static int nr_wrong;

void *stand_in_pointer(int at, const char *name)
{
	/* NULL would be a status that is not wanted */
	return stand_in_fails && strstr(name, "status") != name ? NULL : memory[at];
}

void expect(int number, const char *name, bool standard, int ret, const uint64_t *sent, int nr)
{
	bool right = stand_in_last == number && stand_in_nr == nr &&
		     ret == (stand_in_fails ? 13 : 0) &&
		     memcmp(stand_in_got, sent, (size_t)nr * sizeof(*sent)) == 0;

	printf("%s%s%s\n", standard ? "P" : "", name, right ? "" : " WRONG");
	nr_wrong += !right;
	stand_in_last = -1;
}

int main(int argc, char **argv)
{
	stand_in_fails = argc > 1 && strcmp(argv[1], "fail") == 0;
	for (int i = 0; i < each_nr; i++)
		for (int standard = 0; standard < 2; standard++) {
			memset(memory, 0, sizeof(memory));
			each_call[i](standard);
		}
	return nr_wrong != 0;
}
