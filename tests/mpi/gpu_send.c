/* SPDX-License-Identifier: MIT */
/* gpu_send.c - rank 0 sends memory of its GPU to rank 1, which receives into that of its own
 *
 * Usage: gpu_send BYTES TIMES. The library has to know memory of a GPU: UCX does by its component
 * rocm. Status 1: the bytes that came are wrong.
 */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned char *gpu = NULL, *host = malloc(size + 1);
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!host || !size || hipMalloc((void **)&gpu, size) != hipSuccess ||
	    hipMemset(gpu, rank ? 0 : 7, size) != hipSuccess ||
	    hipDeviceSynchronize() != hipSuccess)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (long i = strtol(argv[2], NULL, 10); i > 0; i--)
		if (rank == 0)
			MPI_Send(gpu, (int)size, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
		else
			MPI_Recv(gpu, (int)size, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (hipMemcpy(host, gpu, size, hipMemcpyDeviceToHost) != hipSuccess || host[0] != 7 ||
	    host[size - 1] != 7)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Finalize();
	return 0;
}
