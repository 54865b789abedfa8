/* SPDX-License-Identifier: MIT */
/* hip_stand_in.c - a libamdhip64 that knows some names; for test_hip.c, which loads it at run time */
#include <stdint.h>

#pragma GCC visibility push(default)

const char *hipKernelNameRef(const void *handle);
const char *hipKernelNameRefByPtr(const void *function, void *stream);
int hipInit(unsigned int flags);
int hipGetLastError(void);
int hipKernelGetName(const char **name, const void *kernel);
int hipPeekAtLastError(void);
int hipRegisterActivityCallback(uint32_t id, void *fn, void *arg);
unsigned int stand_in_asked(void);
void *stand_in_call(uint32_t id, void *arg);
void stand_in_status(int status);
unsigned int stand_in_registered(void);

#define MAX_ID 1024

static _Atomic unsigned int nr_asked;
static unsigned int nr_registered;
static int last_status;
static struct {
	void *(*fn)(uint32_t id, void *record, const void *data, void *arg);
	void *arg;
} callbacks[MAX_ID];

const char *hipKernelNameRef(const void *handle)
{
	nr_asked++;
	return (uintptr_t)handle % 2 ? 0 : "by_handle";
}

const char *hipKernelNameRefByPtr(const void *function, void *stream)
{
	(void)stream;
	nr_asked++;
	return (uintptr_t)function % 2 ? 0 : "by_address";
}

/* Kernels of libraries lie at 3 modulo 4. */
int hipKernelGetName(const char **name, const void *kernel)
{
	if ((uintptr_t)kernel % 4 != 3)
		return last_status = 400;
	*name = "of_a_library";
	return 0;
}

int hipGetLastError(void)
{
	int status = last_status;

	last_status = 0;
	return status;
}

int hipInit(unsigned int flags)
{
	return (int)flags + 1000;
}

int hipPeekAtLastError(void)
{
	return last_status;
}

int hipRegisterActivityCallback(uint32_t id, void *fn, void *arg)
{
	if (id >= MAX_ID)
		return 1;
	callbacks[id].fn = (void *(*)(uint32_t, void *, const void *, void *))fn;
	callbacks[id].arg = arg;
	nr_registered++;
	return 0;
}

unsigned int stand_in_asked(void)
{
	return nr_asked;
}

/* As the runtime does at the begin (arg NULL) and at the end of a call. */
void *stand_in_call(uint32_t id, void *arg)
{
	return callbacks[id].fn ? callbacks[id].fn(id, 0, 0, arg ? callbacks[id].arg : 0) : 0;
}

void stand_in_status(int status)
{
	last_status = status;
}

unsigned int stand_in_registered(void)
{
	return nr_registered;
}
