/* SPDX-License-Identifier: MIT */
/* still.c - a program without a GPU and without a dynamic loader
 *
 * Prints its arguments, and ends with the status in the first one.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%s\n", argv[i]);
	fprintf(stderr, "still here\n");
	return argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
}
