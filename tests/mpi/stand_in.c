/* SPDX-License-Identifier: MIT */
/* stand_in.c - a library of MPI that does nothing: what librtlmpi asks beside the functions that it
 * wraps */
#include "stand_in.h"

#include <string.h>

bool stand_in_fails;
int stand_in_last = -1;
uint64_t stand_in_got[20];
int stand_in_nr;

#if STAND_IN_KIND == 0
/* Open MPI's objects */
char ompi_mpi_comm_world[8], ompi_mpi_comm_self[8], ompi_mpi_comm_null[8], ompi_mpi_byte[8];
char ompi_request_null[8];
#endif

int PMPI_Type_size_x(mpi_handle datatype, int64_t *bytes);
int PMPI_Get_elements_x(const void *status, mpi_handle datatype, int64_t *count);
int PMPI_Test_cancelled(const void *status, int *flag);
int PMPI_Comm_rank(mpi_handle comm, int *rank);
int PMPI_Comm_size(mpi_handle comm, int *size);
int PMPI_Comm_test_inter(mpi_handle comm, int *flag);
int PMPI_Comm_group(mpi_handle comm, mpi_handle *group);
int PMPI_Comm_remote_group(mpi_handle comm, mpi_handle *group);
int PMPI_Group_size(mpi_handle group, int *size);
int PMPI_Group_translate_ranks(mpi_handle from, int nr, const int *ranks, mpi_handle to, int *out);
int PMPI_Group_free(mpi_handle *group);
int PMPI_Initialized(int *flag);

void stand_in_note(int number, const uint64_t *args, int nr)
{
	stand_in_last = number;
	stand_in_nr = nr;
	memcpy(stand_in_got, args, (size_t)nr * sizeof(*args));
}

int PMPI_Type_size_x(mpi_handle datatype, int64_t *bytes)
{
	(void)datatype;
	*bytes = 8;
	return 0;
}

int PMPI_Get_elements_x(const void *status, mpi_handle datatype, int64_t *count)
{
	(void)status;
	(void)datatype;
	*count = 24;
	return 0;
}

int PMPI_Test_cancelled(const void *status, int *flag)
{
	(void)status;
	*flag = 0;
	return 0;
}

int PMPI_Comm_rank(mpi_handle comm, int *rank)
{
	(void)comm;
	*rank = 1;
	return 0;
}

int PMPI_Comm_size(mpi_handle comm, int *size)
{
	(void)comm;
	*size = 4;
	return 0;
}

int PMPI_Comm_test_inter(mpi_handle comm, int *flag)
{
	(void)comm;
	*flag = 0;
	return 0;
}

int PMPI_Comm_group(mpi_handle comm, mpi_handle *group)
{
	*group = comm;
	return 0;
}

int PMPI_Comm_remote_group(mpi_handle comm, mpi_handle *group)
{
	return PMPI_Comm_group(comm, group);
}

int PMPI_Group_size(mpi_handle group, int *size)
{
	(void)group;
	*size = 4;
	return 0;
}

int PMPI_Group_translate_ranks(mpi_handle from, int nr, const int *ranks, mpi_handle to, int *out)
{
	(void)from;
	(void)to;
	memcpy(out, ranks, (size_t)nr * sizeof(*ranks));
	return 0;
}

int PMPI_Group_free(mpi_handle *group)
{
	*group = 0;
	return 0;
}

int PMPI_Initialized(int *flag)
{
	*flag = 1;
	return 0;
}
