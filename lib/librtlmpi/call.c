/* SPDX-License-Identifier: MIT */
/* call.c - librtlmpi: the frame around calls of MPI
 *
 * Owns:     the functions behind the wrappers; this library's core.
 * Threads:  any.
 * Fails:    with a librtl of another build, or before librtl is set up, calls go through and have
 *           no record.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../face/fork_guard.h"
#include "../librtl/core.h"
#include "../librtl/visible.h"
#include "base/str.h"
#include "mpi_wrap.h"

_Static_assert(MPI_OP_NR <= API_MAX_OPERATIONS, "a mask for each");
_Atomic(void *) mpi_real_fns[2][MPI_OP_NR];
static _Atomic uint8_t named[MPI_OP_NR];
/* set by the constructor, constant after */
static const struct rtl_core *core;
static bool has_args;
static _Atomic bool is_decided;

__attribute__((constructor)) static void start(void)
{
	visible_start();
	fork_guard_start();
	core = rtl_core_get(RTL_CORE_VERSION);
}

void *mpi_real_slow(enum mpi_op op, bool is_standard)
{
	struct str name;
	char text[64];
	void *fn;

	str_init(&name, text, sizeof(text));
	str_add(&name, is_standard ? "P" : "");
	str_add(&name, mpi_ops[op].name);
	fn = mpi_find(text);
	/* release: pairs with mpi_real() */
	atomic_store_explicit(&mpi_real_fns[is_standard][op], fn, memory_order_release);
	return fn;
}

static void decide(void)
{
	has_args = core->mpi_start(mpi_ops, named, MPI_OP_NR);
	/* release: pairs with mpi_begin() */
	atomic_store_explicit(&is_decided, true, memory_order_release);
}

bool mpi_begin(enum mpi_op op, struct api_call *call, uintptr_t frame)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (RTL_UNLIKELY(!core))
		return false;
	/* acquire: the masks are set */
	if (RTL_UNLIKELY(!atomic_load_explicit(&is_decided, memory_order_acquire)))
		pthread_once(&once, decide);
	return core->mpi_enter(op, call, frame);
}

void mpi_end(enum mpi_op op, struct api_call *call, uint64_t end_ns, int ret, const uint64_t *words,
	     uint32_t nr_words)
{
	core->mpi_leave(op, call, end_ns, ret, words, nr_words);
}

void mpi_pass(uintptr_t frame)
{
	if (core)
		core->mpi_pass(frame);
}

uint64_t mpi_now(void)
{
	return core->now_ns();
}

bool mpi_has_args(void)
{
	return has_args;
}

uint64_t mpi_text(const char *text)
{
	return core->mpi_text(text);
}

void mpi_started(bool ok)
{
	const struct mpi_abi *abi = ok ? mpi_abi() : NULL;
	int rank = 0, size = 0, saved = errno;

	if (abi && abi->comm_rank(abi->comm_world, &rank) == 0 &&
	    abi->comm_size(abi->comm_world, &size) == 0)
		core->mpi_rank(rank, size);
	errno = saved;
}
