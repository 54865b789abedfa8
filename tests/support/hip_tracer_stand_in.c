/* SPDX-License-Identifier: MIT */
/* hip_tracer_stand_in.c - a libamdhip64 with the callback of HIP 5.4 and later; for test_hip.c */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(default)

typedef int (*tracer_fn)(uint32_t domain, uint32_t op, void *data);
typedef const char *(*name_fn)(uint32_t id);

const char *hipApiName(uint32_t id);
int hipPeekAtLastError(void);
void hipRegisterTracerCallback(tracer_fn fn);
void stand_in_names(name_fn fn);
void stand_in_status(int status);
unsigned int stand_in_registered(void);
int stand_in_op(uint32_t op, void *record);
uint64_t stand_in_number(void);
int stand_in_traced(uint32_t id, size_t size, uint64_t arg, void (*inside)(void));

static tracer_fn tracer;
static name_fn names;
static int last_status;
static uint64_t last_number;

const char *hipApiName(uint32_t id)
{
	return names ? names(id) : "unknown";
}

int hipPeekAtLastError(void)
{
	return last_status;
}

void hipRegisterTracerCallback(tracer_fn fn)
{
	tracer = fn;
}

void stand_in_names(name_fn fn)
{
	names = fn;
}

void stand_in_status(int status)
{
	last_status = status;
}

unsigned int stand_in_registered(void)
{
	return tracer != 0;
}

int stand_in_op(uint32_t op, void *record)
{
	return tracer ? tracer(2, op, record) : -1;
}

/* What the runtime gives to all that the last call submits. */
uint64_t stand_in_number(void)
{
	return last_number;
}

/* A call as the runtime makes it, with a hip_api_data_t of `size` bytes and one argument. 0: the call was of
 * interest; 1: it was not; other: the callback wrote where it must not. */
int stand_in_traced(uint32_t id, size_t size, uint64_t arg, void (*inside)(void))
{
	struct {
		uint64_t ns, phase_data;
		void (*enter)(uint32_t id, void *block);
		void (*leave)(uint32_t id, void *block);
	} tail;
	unsigned char block[4096];
	uint64_t *phase_data;

	memset(block, 0xa5, sizeof(block));
	if (!tracer || tracer(3, id, block))
		return 1;
	memcpy(&last_number, block, sizeof(last_number));
	memcpy(&tail, block + size, sizeof(tail));
	memcpy(&phase_data, block + size - 8, sizeof(phase_data));
	if ((unsigned char *)phase_data != block + size + 8)
		return 2;
	for (size_t i = 16; i < size - 8; i++)
		if (block[i] != 0xa5)
			return 3;
	for (size_t i = size + sizeof(tail); i < sizeof(block); i++)
		if (block[i] != 0xa5)
			return 4;
	memcpy(block + 16, &arg, sizeof(arg));
	if (tail.enter)
		tail.enter(id, block);
	if (inside)
		inside();
	if (tail.leave)
		tail.leave(id, block);
	return 0;
}
