/* SPDX-License-Identifier: MIT */
/* comgr_cache.c - a cache in front of AMD's compiler library, for the tests of the dev preset
 *
 * HIP 5 compiles its own kernels for fills and copies at the start of every program: more than half
 * of the processor time of a short one, of which the tests run thousands. comgr has a cache for
 * that from its version 3 on; this library is one for the versions before. It stands in front of
 * the real library, which it links by path: a program that loads libamd_comgr.so.2 from the virtual
 * GPU's folder finds amd_comgr_do_action() here, and all other functions in the real library.
 *
 * Files:    one for each input, in the folder comgr/ beside this library: the key, which is all
 *           that the result depends on, then the result. It is used if the whole key is the same,
 *           byte for byte.
 * Threads:  any. A file appears complete, by rename().
 * Failures: the real library does the work, as it does for sources that include others, which may
 * be any file.
 */
#include <amd_comgr.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes {
	char *at;
	size_t size, capacity;
	bool failed; /* no memory, or a function of comgr's that did not succeed */
};

static void put(struct bytes *b, const void *from, size_t size)
{
	if (b->failed)
		return;
	if (b->capacity - b->size < size) {
		size_t capacity = (b->size + size) * 2;
		char *at = realloc(b->at, capacity);

		if (!at) {
			b->failed = true;
			return;
		}
		b->at = at;
		b->capacity = capacity;
	}
	memcpy(b->at + b->size, from, size);
	b->size += size;
}

static void put_number(struct bytes *b, uint64_t number)
{
	put(b, &number, sizeof(number));
}

/* A text or the bytes of a data object, by a function that gives the size first. */
#define PUT_BY(b, call)                                                                            \
	do {                                                                                       \
		size_t size = 0;                                                                   \
		char *to = NULL;                                                                   \
                                                                                                   \
		if (call != AMD_COMGR_STATUS_SUCCESS || !(to = malloc(size + 1)) ||                \
		    call != AMD_COMGR_STATUS_SUCCESS)                                              \
			(b)->failed = true;                                                        \
		put_number(b, size);                                                               \
		if (!(b)->failed)                                                                  \
			put(b, to, size);                                                          \
		free(to);                                                                          \
	} while (0)

/* comgr's functions can't make an empty log: a result from the cache has none then, which HIP
 * accepts. */
static void put_data_set(struct bytes *b, amd_comgr_data_set_t set)
{
	for (int kind = AMD_COMGR_DATA_KIND_SOURCE; kind <= AMD_COMGR_DATA_KIND_LAST; kind++) {
		size_t count = 0;

		/* there are gaps between the kinds */
		if (amd_comgr_action_data_count(set, (amd_comgr_data_kind_t)kind, &count))
			count = 0;
		for (size_t i = 0; i < count; i++) {
			amd_comgr_data_t data;
			size_t length = 0;

			if (amd_comgr_action_data_get_data(set, (amd_comgr_data_kind_t)kind, i,
							   &data)) {
				b->failed = true;
				return;
			}
			if (kind != AMD_COMGR_DATA_KIND_LOG ||
			    amd_comgr_get_data(data, &length, NULL) || length) {
				put_number(b, (uint64_t)kind);
				PUT_BY(b, amd_comgr_get_data_name(data, &size, to));
				PUT_BY(b, amd_comgr_get_data(data, &size, to));
			}
			amd_comgr_release_data(data);
		}
	}
	put_number(b, 0);
}

/* The real library's file: a new version of it makes results of its own. */
static void put_library(struct bytes *b)
{
	struct stat st;
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)amd_comgr_get_version, &info) || stat(info.dli_fname, &st)) {
		b->failed = true;
		return;
	}
	put_number(b, (uint64_t)st.st_size);
	put_number(b, (uint64_t)st.st_mtim.tv_sec);
	put_number(b, (uint64_t)st.st_mtim.tv_nsec);
}

static void put_key(struct bytes *b, amd_comgr_action_kind_t kind, amd_comgr_action_info_t info,
		    amd_comgr_data_set_t input)
{
	amd_comgr_language_t language = AMD_COMGR_LANGUAGE_NONE;
	bool logging = false;
	size_t options = 0;

	put_library(b);
	put_number(b, (uint64_t)kind);
	if (amd_comgr_action_info_get_language(info, &language) ||
	    amd_comgr_action_info_get_logging(info, &logging) ||
	    amd_comgr_action_info_get_option_list_count(info, &options))
		b->failed = true;
	put_number(b, (uint64_t)language);
	put_number(b, logging);
	PUT_BY(b, amd_comgr_action_info_get_isa_name(info, &size, to));
	/* without the working directory: no file is looked for in it, and comgr 2.4 can't say that
	 * it has none */
	put_number(b, options);
	for (size_t i = 0; i < options; i++)
		PUT_BY(b, amd_comgr_action_info_get_option_list_item(info, i, &size, to));
	put_data_set(b, input);
}

/* The name of a key's file, by a hash: two keys may have one name. */
static bool name_file(const struct bytes *key, char *path, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325, word;
	const char *end;
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)name_file, &info))
		return false;
	for (size_t i = 0; i < key->size; i += sizeof(word)) {
		size_t left = key->size - i;

		word = 0;
		memcpy(&word, key->at + i, left < sizeof(word) ? left : sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	end = strrchr(info.dli_fname, '/');
	return end && snprintf(path, size, "%.*s/comgr/%016llx", (int)(end - info.dli_fname),
			       info.dli_fname, (unsigned long long)hash) < (int)size;
}

static bool take_number(const char **at, const char *end, uint64_t *number)
{
	if ((size_t)(end - *at) < sizeof(*number))
		return false;
	memcpy(number, *at, sizeof(*number));
	*at += sizeof(*number);
	return true;
}

static bool take_data(const char **at, const char *end, uint64_t kind, amd_comgr_data_set_t result)
{
	const char *name;
	uint64_t size;
	amd_comgr_data_t data;
	bool ok;

	if (!take_number(at, end, &size) || size == 0 || (uint64_t)(end - *at) < size)
		return false;
	name = *at;
	*at += size;
	if (name[size - 1] || !take_number(at, end, &size) || (uint64_t)(end - *at) < size ||
	    amd_comgr_create_data((amd_comgr_data_kind_t)kind, &data))
		return false;
	ok = !amd_comgr_set_data(data, size, *at) && !amd_comgr_set_data_name(data, name) &&
	     !amd_comgr_data_set_add(result, data);
	amd_comgr_release_data(data);
	*at += size;
	return ok;
}

static bool take(const char *at, const char *end, const struct bytes *key,
		 amd_comgr_data_set_t result)
{
	uint64_t number;

	if (!take_number(&at, end, &number) || number != key->size ||
	    (uint64_t)(end - at) < number || memcmp(at, key->at, number) != 0)
		return false;
	at += number;
	while (take_number(&at, end, &number) && number)
		if (!take_data(&at, end, number, result))
			return false;
	return at == end;
}

/* Adds the result in the file `path` to `result`, if it is that of `key`. */
static bool load(const char *path, const struct bytes *key, amd_comgr_data_set_t result)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	struct stat st;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > 0) {
		char *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (at != MAP_FAILED) {
			found = take(at, at + st.st_size, key, result);
			munmap(at, (size_t)st.st_size);
		}
	}
	close(fd);
	/* what was added from a file that turned out to be damaged */
	if (!found)
		amd_comgr_data_set_remove(result, AMD_COMGR_DATA_KIND_UNDEF);
	return found;
}

static void store(const char *path, const struct bytes *key, amd_comgr_data_set_t result)
{
	struct bytes b = { 0 };
	char new[PATH_MAX + 8];
	bool written = false;
	int fd;

	put_number(&b, key->size);
	put(&b, key->at, key->size);
	put_data_set(&b, result);
	snprintf(new, sizeof(new), "%s.XXXXXX", path);
	fd = b.failed ? -1 : mkostemp(new, O_CLOEXEC);
	if (fd >= 0) {
		written = write(fd, b.at, b.size) == (ssize_t)b.size && !fchmod(fd, 0644);
		close(fd);
		if (!written || rename(new, path))
			unlink(new);
	}
	free(b.at);
}

/* Whether a source may include files, which are not in the key. HIP's own kernels, in OpenCL, do
 * not; hipRTC's may. */
static bool includes_files(amd_comgr_action_info_t info, amd_comgr_data_set_t input)
{
	amd_comgr_language_t language;
	size_t count = 0;
	bool found = false;

	if (amd_comgr_action_info_get_language(info, &language) ||
	    (language != AMD_COMGR_LANGUAGE_OPENCL_1_2 &&
	     language != AMD_COMGR_LANGUAGE_OPENCL_2_0) ||
	    amd_comgr_action_data_count(input, AMD_COMGR_DATA_KIND_SOURCE, &count))
		return true;
	for (size_t i = 0; i < count && !found; i++) {
		struct bytes text = { 0 };
		amd_comgr_data_t data;

		if (amd_comgr_action_data_get_data(input, AMD_COMGR_DATA_KIND_SOURCE, i, &data))
			return true;
		PUT_BY(&text, amd_comgr_get_data(data, &size, to));
		amd_comgr_release_data(data);
		found = text.failed || memmem(text.at, text.size, "include", strlen("include"));
		free(text.at);
	}
	return found;
}

static amd_comgr_status_t work(amd_comgr_action_kind_t kind, amd_comgr_action_info_t info,
			       amd_comgr_data_set_t input, amd_comgr_data_set_t result)
{
	amd_comgr_status_t (*real)(amd_comgr_action_kind_t, amd_comgr_action_info_t,
				   amd_comgr_data_set_t, amd_comgr_data_set_t);

	/* it is there already; RTLD_NEXT looks where the program looks, which may not include it */
	void *library = dlopen(REAL_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);

	*(void **)&real = library ? dlsym(library, "amd_comgr_do_action") : NULL;
	return real ? real(kind, info, input, result) : AMD_COMGR_STATUS_ERROR;
}

__attribute__((visibility("default"))) amd_comgr_status_t
amd_comgr_do_action(amd_comgr_action_kind_t kind, amd_comgr_action_info_t info,
		    amd_comgr_data_set_t input, amd_comgr_data_set_t result)
{
	struct bytes key = { 0 };
	amd_comgr_status_t status;
	char path[PATH_MAX];
	bool known;

	/* the result is added to the input */
	if (input.handle == result.handle)
		return work(kind, info, input, result);
	switch (kind) {
	case AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC:
	case AMD_COMGR_ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC:
		if (includes_files(info, input))
			return work(kind, info, input, result);
		put_key(&key, kind, info, input);
		break;
	case AMD_COMGR_ACTION_ADD_DEVICE_LIBRARIES:
	case AMD_COMGR_ACTION_LINK_BC_TO_BC:
	case AMD_COMGR_ACTION_OPTIMIZE_BC_TO_BC:
	case AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE:
	case AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE:
		put_key(&key, kind, info, input);
		break;
	default:
		return work(kind, info, input, result);
	}
	known = !key.failed && name_file(&key, path, sizeof(path));
	if (known && load(path, &key, result)) {
		status = AMD_COMGR_STATUS_SUCCESS;
	} else {
		status = work(kind, info, input, result);
		if (known && status == AMD_COMGR_STATUS_SUCCESS)
			store(path, &key, result);
	}
	free(key.at);
	return status;
}
