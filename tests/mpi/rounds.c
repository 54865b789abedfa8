/* SPDX-License-Identifier: MIT */
/* rounds.c - a program whose ranks come to collectives at different times
 *
 * Usage: rounds N    N all-reduces; before each the rank sleeps for up to 1.5 ms, by its own random
 * numbers, so that each rank is the last one in some.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double one = 1, sum = 0;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	srand((unsigned int)rank + 1);
	for (long i = argc > 1 ? strtol(argv[1], NULL, 10) : 100; i > 0; i--) {
		usleep((useconds_t)(rand() % 1500));
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (sum != ranks)
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
	return 0;
}
