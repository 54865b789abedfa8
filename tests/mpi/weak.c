/* SPDX-License-Identifier: MIT */
/* weak.c - a program without MPI that asks whether it has it, as libraries do that work with and
 * without */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv) __attribute__((weak));
int PMPI_Send(void) __attribute__((weak));

int main(void)
{
	printf("%s %s\n", &MPI_Init ? "MPI" : "none", &PMPI_Send ? "MPI" : "none");
	return 0;
}
