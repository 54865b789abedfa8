/* SPDX-License-Identifier: MIT */
/* rocr.c - what a libhsa-runtime64 supports, from its file
 *
 * The file contains the names of its imports, exports and variables as text. It does not contain
 * its version: hsa_system's is 1.1 in every release.
 */
#include "base/rocr.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/loaded.h"
#include "base/sys.h"

#define NAME "libhsa-runtime64.so.1"

/* Sizes of the AMD extension table: from the first release whose intercept queues pass whole
 * batches to the first that does so correctly (ROCm pull requests 2185, 4066 and 7874). */
#define FIRST_STAGING_BYTES 624u
#define FIRST_MENDED_BYTES 712u

/* Looks for a build id in the notes [p, p + size). */
static bool find_build_id(const char *p, size_t size, char out[ROCR_BUILD_ID_SIZE])
{
	ElfW(Nhdr) n;

	while (size >= sizeof(n)) {
		size_t name, desc;

		memcpy(&n, p, sizeof(n));
		name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)n.n_descsz + 3) & ~(size_t)3;
		if (name > size - sizeof(n) || desc > size - sizeof(n) - name)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    memcmp(p + sizeof(n), "GNU", 4) == 0 &&
		    n.n_descsz <= (ROCR_BUILD_ID_SIZE - 1) / 2) {
			for (size_t i = 0; i < n.n_descsz; i++)
				snprintf(out + 2 * i, 3, "%02x",
					 (unsigned char)p[sizeof(n) + name + i]);
			return true;
		}
		p += sizeof(n) + name + desc;
		size -= sizeof(n) + name + desc;
	}
	return false;
}

static void read_build_id(struct rocr *out, const char *file, size_t size)
{
	const ElfW(Ehdr) *e = (const void *)file;

	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_phentsize != sizeof(ElfW(Phdr)))
		return;
	for (size_t i = 0; i < e->e_phnum; i++) {
		size_t at = e->e_phoff + i * sizeof(ElfW(Phdr));
		ElfW(Phdr) ph;

		if (at > size || size - at < sizeof(ph))
			return;
		memcpy(&ph, file + at, sizeof(ph));
		if (ph.p_type == PT_NOTE && ph.p_offset <= size &&
		    ph.p_filesz <= size - ph.p_offset &&
		    find_build_id(file + ph.p_offset, ph.p_filesz, out->build_id))
			return;
	}
}

bool rocr_read(struct rocr *out, const char *path)
{
	struct stat st;
	char *text;
	int fd;

	memset(out, 0, sizeof(*out));
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK,
		      0); /* a FIFO may be in LD_LIBRARY_PATH */
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		sys_close(fd);
		return false;
	}
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	sys_close(fd);
	if (text == MAP_FAILED)
		return false;
#define HAS(word) (memmem(text, (size_t)st.st_size, word, sizeof(word) - 1) != NULL)
	out->registers = HAS("rocprofiler_register_library_api_table");
	out->takes_both = HAS("HSA_TOOLS_ROCPROFILER_V1_TOOLS");
	out->amd_ext_bytes = HAS("\0hsa_amd_queue_create\0")   ? FIRST_MENDED_BYTES :
			     HAS("\0hsa_amd_ais_file_write\0") ? FIRST_STAGING_BYTES :
								 0;
#undef HAS
	read_build_id(out, text, (size_t)st.st_size);
	munmap(text, (size_t)st.st_size);
	return true;
}

struct search {
	const void *address;
	char *out;
};

static int search_library(struct dl_phdr_info *lib, size_t size, void *data)
{
	const struct search *s = data;
	bool is_in = loaded_has(lib, s->address);

	(void)size;
	for (size_t i = 0; is_in && i < lib->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &lib->dlpi_phdr[i];

		if (ph->p_type == PT_NOTE &&
		    find_build_id((const char *)(uintptr_t)(lib->dlpi_addr + ph->p_vaddr),
				  ph->p_memsz, s->out))
			break;
	}
	return is_in;
}

void rocr_build_id_of(const void *fn, char out[ROCR_BUILD_ID_SIZE])
{
	struct search s = { .address = fn, .out = out };

	out[0] = 0;
	dl_iterate_phdr(search_library, &s);
}

const char *rocr_intercept_fault(uint32_t amd_ext_bytes, const char *build_id)
{
	/* Builds that were seen to fail, in case one of them has another table. */
	static const char *const faulty[] = {
		"973abb449f02e6d1eab82b44df7c2165782c5e99", /* Debian, 7.2.4+dfsg-1~exp1 */
	};
	static const char why[] =
		"its intercept queues hand over batches through a buffer of 256 packets; a longer "
		"batch that crosses the end of its queue writes beyond it";

	for (size_t i = 0; i < ARRAY_SIZE(faulty); i++)
		if (strcmp(build_id, faulty[i]) == 0)
			return why;
	return amd_ext_bytes >= FIRST_STAGING_BYTES && amd_ext_bytes < FIRST_MENDED_BYTES ? why :
											    NULL;
}

static bool look(const char *dir, size_t length, char *out, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s/" NAME, (int)length, dir) >= (int)sizeof(path) ||
	    !realpath(path, real) || strlen(real) >= size)
		return false;
	memcpy(out, real, strlen(real) + 1);
	return true;
}

bool rocr_find(const char *library_path, char *out, size_t size)
{
	static const char *const folders[] = { "/opt/rocm/lib",
					       "/opt/rocm/lib64",
					       "/usr/local/lib",
					       "/usr/lib/x86_64-linux-gnu",
					       "/lib/x86_64-linux-gnu",
					       "/usr/lib64",
					       "/usr/lib" };

	while (library_path && *library_path) {
		size_t n = strcspn(library_path, ":;");

		if (n && look(library_path, n, out, size))
			return true;
		library_path += n + (library_path[n] != 0);
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (look(folders[i], strlen(folders[i]), out, size))
			return true;
	return false;
}
