/* SPDX-License-Identifier: MIT */
/* library.c - librtlmpi: the library of MPI that is loaded, its functions and its binary interface
 *
 * There are three: Open MPI's, whose handles are addresses of its objects; MPICH's, whose handles
 * are ints, which Intel's and Cray's share; the standard one of MPI 5, whose library is libmpi_abi.
 * What is loaded decides, at the first call.
 *
 * Owns:     what the library is.
 * Threads:  any.
 * Fails:    a function that is not found is NULL; without those of MPI 3 calls have no arguments
 *           that depend on them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "mpi_wrap.h"

#define PATH_SIZE 4096

static struct mpi_abi the_abi;
_Atomic(const struct mpi_abi *) mpi_abi_known;

/* ---- functions ---- */

static const char *base_of(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

static bool is_mpi(const char *base)
{
	return strncmp(base, "libmpi.so", 9) == 0 || strncmp(base, "libmpich", 8) == 0 ||
	       strncmp(base, "libmpi_", 7) == 0;
}

static int find_path(struct dl_phdr_info *info, size_t size, void *path)
{
	size_t length = strlen(info->dlpi_name);

	(void)size;
	if (!is_mpi(base_of(info->dlpi_name)) || length >= PATH_SIZE)
		return 0;
	memcpy(path, info->dlpi_name, length + 1);
	return 1;
}

/* In a library that is loaded with local scope, and what it needs: a module of Python brings MPI
 * so. */
static void *find_local(const char *name)
{
	char path[PATH_SIZE];
	void *lib, *found;

	if (!dl_iterate_phdr(find_path, path))
		return NULL;
	lib = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!lib)
		return NULL;
	found = dlsym(lib, name);
	dlclose(lib);
	return found;
}

void *mpi_find(const char *name)
{
	int saved = errno;
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		found = find_local(name);
	/* the program must not find our failure in dlerror() */
	if (!found)
		dlerror();
	errno = saved;
	return found;
}

/* An object of the library, which a program that is not position-independent has a copy of. */
static mpi_handle object(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found)
		found = find_local(name);
	if (!found)
		dlerror();
	return (mpi_handle)found;
}

/* ---- the binary interface ---- */

static const struct mpi_abi open_mpi = { .kind = MPI_OPEN,
					 .any_source = -1,
					 .proc_null = -2,
					 .root = -4,
					 .any_tag = -1,
					 .source_at = 0,
					 .tag_at = 4,
					 .status_size = 24,
					 .status_ignore = NULL };
static const struct mpi_abi mpich = { .kind = MPI_MPICH,
				      .any_source = -2,
				      .proc_null = -1,
				      .root = -3,
				      .any_tag = -1,
				      .source_at = 8,
				      .tag_at = 12,
				      .status_size = 20,
				      .status_ignore = (void *)1,
				      .comm_world = 0x44000000,
				      .comm_self = 0x44000001,
				      .comm_null = 0x04000000,
				      .request_null = 0x2c000000,
				      .byte = 0x4c00010d };
static const struct mpi_abi standard = { .kind = MPI_STANDARD,
					 .any_source = -1,
					 .proc_null = -3,
					 .root = -4,
					 .any_tag = -2,
					 .source_at = 0,
					 .tag_at = 4,
					 .status_size = 32,
					 .status_ignore = NULL,
					 .comm_world = 0x101,
					 .comm_self = 0x102,
					 .comm_null = 0x100,
					 .request_null = 0x180,
					 .byte = 0x247 };

static void fill_objects(struct mpi_abi *a)
{
	a->comm_world = object("ompi_mpi_comm_world");
	a->comm_self = object("ompi_mpi_comm_self");
	a->comm_null = object("ompi_mpi_comm_null");
	a->request_null = object("ompi_request_null");
	a->byte = object("ompi_mpi_byte");
}

static bool fill_functions(struct mpi_abi *a)
{
	const struct {
		const char *name;
		void *fn; /* address of a pointer to a function */
	} list[] = {
		{ "PMPI_Type_size_x", &a->type_size },
		{ "PMPI_Get_elements_x", &a->get_elements },
		{ "PMPI_Test_cancelled", &a->test_cancelled },
		{ "PMPI_Comm_rank", &a->comm_rank },
		{ "PMPI_Comm_size", &a->comm_size },
		{ "PMPI_Comm_test_inter", &a->comm_test_inter },
		{ "PMPI_Comm_group", &a->comm_group },
		{ "PMPI_Comm_remote_group", &a->comm_remote_group },
		{ "PMPI_Group_size", &a->group_size },
		{ "PMPI_Group_translate_ranks", &a->group_translate },
		{ "PMPI_Group_free", &a->group_free },
		{ "PMPI_Initialized", &a->initialized },
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		void *fn = mpi_find(list[i].name);

		if (!fn)
			return false;
		memcpy(list[i].fn, &fn, sizeof(fn));
	}
	return true;
}

static void fill(void)
{
	void *init = mpi_find("PMPI_Init");
	struct mpi_abi a = mpich;
	int saved = errno;
	Dl_info info;

	if (init && dladdr(init, &info) && info.dli_fname &&
	    strncmp(base_of(info.dli_fname), "libmpi_abi", 10) == 0) {
		a = standard;
	} else if (object("ompi_mpi_comm_world")) {
		a = open_mpi;
		fill_objects(&a);
	}
	if (fill_functions(&a)) {
		the_abi = a;
		/* release: pairs with mpi_abi() */
		atomic_store_explicit(&mpi_abi_known, &the_abi, memory_order_release);
	}
	errno = saved;
}

const struct mpi_abi *mpi_abi_slow(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill);
	/* relaxed: this thread has waited for fill() */
	return atomic_load_explicit(&mpi_abi_known, memory_order_relaxed);
}

uint64_t mpi_value(const void *handle)
{
	const struct mpi_abi *a = mpi_abi();
	mpi_handle wide;
	uint32_t narrow;

	if (!handle || !a)
		return 0;
	if (a->kind == MPI_MPICH) {
		memcpy(&narrow, handle, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, handle, sizeof(wide));
	return wide;
}

/* ---- arguments ---- */

int mpi_peer_special(int rank)
{
	const struct mpi_abi *a = mpi_abi();

	return !a		     ? rank :
	       rank == a->any_source ? MPI_PEER_ANY :
	       rank == a->proc_null  ? MPI_PEER_NULL :
	       rank == a->root	     ? MPI_PEER_ROOT :
				       rank;
}

int mpi_tag_special(int tag)
{
	const struct mpi_abi *a = mpi_abi();

	return a && tag == a->any_tag ? MPI_TAG_ANY : tag;
}

uint64_t mpi_bytes(int64_t count, mpi_handle datatype)
{
	const struct mpi_abi *a = mpi_abi();
	int saved = errno;
	int64_t size = 0;
	uint64_t bytes;

	if (!a || count <= 0 || a->type_size(datatype, &size) != 0 || size <= 0)
		size = count = 0;
	errno = saved;
	return __builtin_mul_overflow((uint64_t)count, (uint64_t)size, &bytes) ? UINT64_MAX : bytes;
}

void *mpi_status(void *status, union mpi_status *own)
{
	const struct mpi_abi *a = mpi_abi();

	if (!a || status != a->status_ignore)
		return status;
	*own = (union mpi_status){ { 0 } };
	return own;
}

struct mpi_from mpi_received(bool has, const void *status)
{
	const struct mpi_abi *a = has ? mpi_abi() : NULL;
	struct mpi_from from = { .is_known = a != NULL };
	int saved = errno;
	int64_t bytes = 0;

	if (!a)
		return from;
	memcpy(&from.source, (const char *)status + a->source_at, sizeof(from.source));
	memcpy(&from.tag, (const char *)status + a->tag_at, sizeof(from.tag));
	from.source = mpi_peer(from.source);
	from.tag = mpi_tag(from.tag);
	if (a->get_elements(status, a->byte, &bytes) == 0 && bytes > 0)
		from.bytes = (uint64_t)bytes;
	errno = saved;
	return from;
}
