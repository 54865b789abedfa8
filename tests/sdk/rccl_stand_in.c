/* SPDX-License-Identifier: MIT */
/* rccl_stand_in.c - a librccl.so.1 to link with, and for machines without AMD's: it has the
 * functions of rccl_client.cpp, and ncclCommShrink(), by which newer releases are known. Nothing is
 * reduced. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))
#define INVALID_ARGUMENT 4

EXPORT int ncclGetVersion(int *version);
EXPORT int ncclGetUniqueId(void *id);
EXPORT int ncclGroupStart(void);
EXPORT int ncclGroupEnd(void);
EXPORT int ncclCommInitAll(void **comms, int nr, const int *devices);
struct unique_id {
	char bytes[128];
};
EXPORT int ncclCommInitRank(void **comm, int nr, struct unique_id id, int rank);
EXPORT int ncclCommCount(void *comm, int *count);
EXPORT int ncclCommDestroy(void *comm);
EXPORT int ncclCommShrink(void *comm, int *ranks, int nr, void **out, void *config, int flags);
EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
			 void *stream);
EXPORT const char *ncclGetErrorString(int code);

static int nr_gpus;

int ncclGetVersion(int *version)
{
	*version = 22707;
	return 0;
}

int ncclGetUniqueId(void *id)
{
	return id ? 0 : INVALID_ARGUMENT;
}

int ncclGroupStart(void)
{
	return 0;
}

int ncclGroupEnd(void)
{
	return 0;
}

int ncclCommInitAll(void **comms, int nr, const int *devices)
{
	nr_gpus = nr;
	for (int i = 0; !devices && i < nr; i++)
		comms[i] = (char *)&nr_gpus + i;
	return 0;
}

int ncclCommInitRank(void **comm, int nr, struct unique_id id, int rank)
{
	(void)id;
	nr_gpus = nr;
	*comm = (char *)&nr_gpus + rank;
	return 0;
}

int ncclCommCount(void *comm, int *count)
{
	if (!comm)
		return INVALID_ARGUMENT;
	*count = nr_gpus;
	return 0;
}

int ncclCommDestroy(void *comm)
{
	return comm ? 0 : INVALID_ARGUMENT;
}

int ncclCommShrink(void *comm, int *ranks, int nr, void **out, void *config, int flags)
{
	(void)ranks;
	(void)nr;
	(void)config;
	(void)flags;
	*out = comm;
	return 0;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
		  void *stream)
{
	(void)type;
	(void)op;
	(void)stream;
	return from && to && count && comm ? 0 : INVALID_ARGUMENT;
}

const char *ncclGetErrorString(int code)
{
	return code ? "invalid argument" : "no error";
}
