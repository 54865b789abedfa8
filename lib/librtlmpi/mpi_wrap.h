/* SPDX-License-Identifier: MIT */
/* mpi_wrap.h - librtlmpi: calls of MPI, as its wrappers record them
 *
 * The library is preloaded behind librtl, for rtl trace --mpi alone, and stands in front of MPI_X
 * and PMPI_X. MPI_X is what programs in C call, and MPICH's bindings for Fortran; PMPI_X is what
 * Open MPI's bindings for Fortran call, of each kind (mpif.h, use mpi, use mpi_f08). A call within
 * a call has no record, so that both count once. Each wrapper (mpi_wrap_gen.c) does
 *
 *	if (!mpi_begin(op, &call, RTL_FRAME())) {
 *		ret = real(arguments);
 *		mpi_pass(RTL_FRAME());
 *		return ret;
 *	}
 *	ret = real(arguments);
 *	end = mpi_now();
 *	... the words, of a call that succeeded also what MPI says of its arguments, which are known
 *	to be valid by then ... mpi_end(op, &call, end, ret, words, nr_words);
 *
 * real is the next function of that name behind this library: MPI's, or that of another tool with
 * wrappers.
 *
 * All functions: any thread; they preserve errno. None fails visibly: what can't be found out is 0.
 */
#ifndef RTL_LIB_LIBRTLMPI_MPI_WRAP_H
#define RTL_LIB_LIBRTLMPI_MPI_WRAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mpi_ops_gen.h"
#include "source/api/call.h"

/* A handle as it is passed: of MPICH only the lower half is set. */
typedef uintptr_t mpi_handle;

/* What a wrapper returns without a library behind it: MPI_ERR_OTHER of Open MPI and of the standard
 * ABI. */
#define MPI_NOT_LOADED 16

/* In records: other values than ranks and tags, the same for all libraries. */
enum { MPI_PEER_ANY = -1, MPI_PEER_NULL = -2, MPI_PEER_ROOT = -3, MPI_TAG_ANY = -1 };

/* Emitted with the wrappers. */
extern const struct api_op mpi_ops[];

/* ---- call.c ---- */

extern RTL_HIDDEN _Atomic(void *) mpi_real_fns[2][MPI_OP_NR];
void *mpi_real_slow(enum mpi_op op, bool is_standard);
/* HOT: the next function: MPI_X, or PMPI_X if `is_standard`. NULL: there is none. */
static RTL_INLINE void *mpi_real(enum mpi_op op, bool is_standard)
{
	/* acquire: pairs with the release in mpi_real_slow() */
	void *fn = atomic_load_explicit(&mpi_real_fns[is_standard][op], memory_order_acquire);

	return RTL_LIKELY(fn != NULL) ? fn : mpi_real_slow(op, is_standard);
}
/* HOT: a call begins. false: it is not recorded. */
bool mpi_begin(enum mpi_op op, struct api_call *call, uintptr_t frame);
void mpi_end(enum mpi_op op, struct api_call *call, uint64_t end_ns, int ret, const uint64_t *words,
	     uint32_t nr_words);
void mpi_pass(uintptr_t frame);
uint64_t mpi_now(void); /* ns, of the clock of records */
/* Whether arguments are recorded. */
bool mpi_has_args(void);
/* A text as a word; NULL: 0. */
uint64_t mpi_text(const char *text);
/* MPI_Init() or MPI_Init_thread() has returned: this process has a rank. */
void mpi_started(bool ok);

/* ---- library.c ---- */

/* The next function of that name behind this library; NULL: there is none. */
void *mpi_find(const char *name);

enum mpi_kind { MPI_OPEN, MPI_MPICH, MPI_STANDARD };
/* What differs from library to library. */
struct mpi_abi {
	enum mpi_kind kind;
	int any_source, proc_null, root, any_tag;
	size_t source_at, tag_at, status_size; /* offsets in a status, bytes */
	void *status_ignore;
	mpi_handle comm_world, comm_self, comm_null, request_null, byte;
	/* MPI's own, never a tool's */
	int (*type_size)(mpi_handle datatype, int64_t *size);
	int (*get_elements)(const void *status, mpi_handle datatype, int64_t *count);
	int (*test_cancelled)(const void *status, int *flag);
	int (*comm_rank)(mpi_handle comm, int *rank);
	int (*comm_size)(mpi_handle comm, int *size);
	int (*comm_test_inter)(mpi_handle comm, int *flag);
	int (*comm_group)(mpi_handle comm, mpi_handle *group);
	int (*comm_remote_group)(mpi_handle comm, mpi_handle *group);
	int (*group_size)(mpi_handle group, int *size);
	int (*group_translate)(mpi_handle from, int nr, const int *ranks, mpi_handle to, int *out);
	int (*group_free)(mpi_handle *group);
	int (*initialized)(int *flag);
};
extern RTL_HIDDEN _Atomic(const struct mpi_abi *) mpi_abi_known;
const struct mpi_abi *mpi_abi_slow(void);
/* HOT: the library's that is loaded. NULL: it lacks a function of MPI 3. */
static RTL_INLINE const struct mpi_abi *mpi_abi(void)
{
	/* acquire: pairs with the release in mpi_abi_slow() */
	const struct mpi_abi *a = atomic_load_explicit(&mpi_abi_known, memory_order_acquire);

	return RTL_LIKELY(a != NULL) ? a : mpi_abi_slow();
}

static RTL_INLINE uint64_t mpi_handle_value(mpi_handle h)
{
	const struct mpi_abi *a = mpi_abi();

	return a && a->kind == MPI_MPICH ? (uint32_t)h : h;
}
uint64_t mpi_value(const void *handle); /* of what a pointer to a handle points to; 0: NULL */
int mpi_peer_special(int rank);
/* A rank, or MPI_PEER_ANY and so on. */
static RTL_INLINE int mpi_peer(int rank)
{
	return RTL_LIKELY(rank >= 0) ? rank : mpi_peer_special(rank);
}
int mpi_tag_special(int tag);
static RTL_INLINE int mpi_tag(int tag)
{
	return RTL_LIKELY(tag >= 0) ? tag : mpi_tag_special(tag);
}
/* Bytes of `count` elements. */
uint64_t mpi_bytes(int64_t count, mpi_handle datatype);

/* Larger than a status of any library. */
union mpi_status {
	uint64_t words[8];
};
/* The program's status, or `own` if it wants none. */
void *mpi_status(void *status, union mpi_status *own);
struct mpi_from {
	bool is_known;
	int source, tag;
	uint64_t bytes;
};
/* What a status says, if it `has` been set. */
struct mpi_from mpi_received(bool has, const void *status);

/* ---- requests.c ---- */

#define MPI_WORDS REC_API_MAX_WORDS
enum { MPI_FEW = 16 };
/* The requests that a call is for, as they are before it, which takes their handles away. */
struct mpi_list {
	int64_t nr;	   /* 0: they are not kept */
	uint64_t *handles; /* few, or in the memory */
	struct mpi_memory *memory;
	uint64_t few[MPI_FEW];
	union mpi_status own[MPI_FEW];
};
/* HOT, but with more than MPI_FEW requests. Returns the statuses to be passed: the program's, or
 * own ones if it wants none and `nr_statuses` of them can be had. mpi_list_end() follows. */
void *mpi_list_begin(struct mpi_list *list, int64_t nr, const void *requests, void *statuses,
		     int64_t nr_statuses);
/* HOT: appends `nr` of them to `words`: those at `indices`, or the first ones. statuses[i] is the
 * status of the i-th; NULL: there is none. Returns how many words these are. */
uint32_t mpi_list_words(const struct mpi_list *list, int64_t nr, const int *indices,
			const void *statuses, uint64_t *words);
void mpi_list_end(struct mpi_list *list);

/* ---- comm.c ---- */

/* A communicator. Its number is the same on all ranks of a job: 1 is MPI_COMM_WORLD, 2
 * MPI_COMM_SELF; those of others are made of the ranks in MPI_COMM_WORLD that it has, the number of
 * the one that it was made from, and how many of the same it has made before: a call that makes one
 * is made by all of its ranks, in the same order. Numbers are this process's own where
 * MPI_COMM_WORLD has not all of its ranks. */
struct mpi_comm {
	uint64_t id;	  /* 0: none, or not known */
	uint64_t members; /* a hash of them */
	int32_t size, rank;
	bool is_inter; /* size and rank are those of this side */
};
/* HOT */
struct mpi_comm mpi_comm_of(bool ok, mpi_handle comm);
/* A call on `parent` (NULL: on none) has made `*comm`; the second form: with the same ranks, and it
 * may not be there yet. */
struct mpi_comm mpi_comm_new(bool ok, const struct mpi_comm *parent, const void *comm);
struct mpi_comm mpi_comm_copy(bool ok, const struct mpi_comm *parent, const void *comm);
/* The program frees it: its handle may mean another one from now on. The call has failed, if not
 * `ok`: it stays. `comm` points to the handle in the first one. */
struct mpi_comm mpi_comm_take(const void *comm, uint64_t *handle);
void mpi_comm_gone(bool ok, uint64_t handle, const struct mpi_comm *taken);

/* Of arguments with an element for each rank, which are ints, or MPI_Counts if `large`. */
int64_t mpi_count(const void *counts, int rank, bool large);
int64_t mpi_sum(const void *counts, const struct mpi_comm *at, bool large);
uint64_t mpi_bytes_of_types(const void *counts, const void *types, const struct mpi_comm *at,
			    bool large);
/* Whether this process is the root of a call with one, or takes no part in it though it calls
 * it. */
bool mpi_is_root(const struct mpi_comm *at, int root);
bool mpi_is_idle(const struct mpi_comm *at, int root);

#endif
