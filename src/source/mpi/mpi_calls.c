/* SPDX-License-Identifier: MIT */
/* mpi_calls.c - calls of MPI, from librtlmpi's wrappers to the recorder
 *
 * Threads:  any.
 * Hot path: mpi_calls_enter(), mpi_calls_leave(): as api_enter_around(), api_leave_at().
 */
#include "source/mpi/mpi_calls.h"

#include <errno.h>
#include <stddef.h>

#include "base/env.h"
#include "event/bus.h"
#include "event/facts.h"
#include "event/life.h"
#include "event/thread.h"

bool mpi_calls_start(const struct api_op *ops, _Atomic uint8_t *named, uint32_t nr)
{
	int saved = errno;
	bool wanted = !env_bool(ENV_DISABLE) && life_start();

	api_define(API_MPI, ops, named, NULL, NULL, nr);
	api_switch(API_MPI, wanted);
	errno = saved;
	return api_args;
}

bool mpi_calls_enter(uint32_t op, struct api_call *c, uintptr_t frame)
{
	uint32_t wanted_by = api_wanted(API_MPI, op);

	if (RTL_UNLIKELY(wanted_by & API_LEFT_OUT))
		api_leave_out(API_MPI, frame);
	return RTL_LIKELY(wanted_by & API_RECORDED) && api_enter_around(API_MPI, c, frame);
}

void mpi_calls_leave(uint32_t op, struct api_call *c, uint64_t end_ns, int32_t status,
		     const uint64_t *words, uint32_t nr_words)
{
	api_leave_at(API_MPI, op, c, end_ns, status, words, nr_words);
}

void mpi_calls_pass(uintptr_t frame)
{
	api_pass_at(frame);
}

uint64_t mpi_calls_text(const char *text)
{
	struct thread *t = thread_get();
	bool was = t->in_hook;
	int saved = errno;
	uint64_t id;

	if (!text)
		return 0;
	/* a signal handler of the program that interrupts us must not take our lock */
	t->in_hook = true;
	id = bus_string(text, SIZE_MAX);
	t->in_hook = was;
	errno = saved;
	return id;
}

void mpi_calls_rank(int64_t rank, int64_t size)
{
	struct thread *t = thread_get();
	bool was = t->in_hook;
	int saved = errno;

	t->in_hook = true;
	facts_emit_rank(rank, size);
	t->in_hook = was;
	errno = saved;
}
