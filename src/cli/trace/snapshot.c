/* SPDX-License-Identifier: MIT */
/* snapshot.c - copies raw traces and converts the copies
 *
 * The copies have no name: nothing is left behind by a kill.
 */
#include "cli/trace/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/testpoint.h"
#include "cli/paths.h"
#include "cli/ui.h"
#include "export/rpd/rpd.h"
#include "spool/drain.h"
#include "store/load.h"

#define COPY_TRIES 20
#define HOLD_NS (DRAIN_HOLD_NS / 2)

/* The disk half that the header of a memory half names. NULL: the file is not one. */
static char *disk_of(const char *mem_path)
{
	struct spool_header *h = malloc(sizeof(*h));
	char *path = NULL;

	if (!h)
		ui_die_memory();
	if (fd_read_file(mem_path, h, sizeof(*h)) == (ssize_t)sizeof(*h) &&
	    h->magic == SPOOL_MAGIC && memchr(h->disk_path, 0, sizeof(h->disk_path)))
		path = ui_format("%s", h->disk_path);
	free(h);
	return path;
}

ssize_t snapshot_find(uint32_t pid, char ***paths)
{
	char name[32], line[PATH_MAX + 128];
	size_t nr = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	*paths = NULL;
	f = fopen(name, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		char *path = strchr(line, '/'), *disk;
		size_t size = path ? strcspn(path, "\n") : 0;

		if (size < 4 || strncmp(path + size - 4, ".mem", 4) != 0)
			continue;
		path[size] = '\0';
		disk = disk_of(path);
		/* one mapping may have several lines */
		if (!disk || (nr && strcmp((*paths)[nr - 1], disk) == 0)) {
			free(disk);
			continue;
		}
		*paths = reallocarray(*paths, nr + 1, sizeof(**paths));
		if (!*paths)
			ui_die_memory();
		(*paths)[nr++] = disk;
	}
	fclose(f);
	return (ssize_t)nr;
}

int snapshot_name(char out[PATH_MAX], const char *output, unsigned int number)
{
	const char *end = paths_suffix(output);
	int n = snprintf(out, PATH_MAX, "%.*s-%u%s", (int)(end - output), output, number, end);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* A file without a name in the directory of the output. The descriptor or -errno. */
static int make_file(const char *output)
{
	char dir[PATH_MAX], path[PATH_MAX + 32];
	int fd;

	paths_dirname(dir, output);
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* not every file system has it */
	snprintf(path, sizeof(path), "%s/.rtl-copy-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

/* Copies one trace while nothing is removed from it. 0 or -errno. */
static int copy_held(const char *path, int fd, struct load_error *err)
{
	struct drain *d = malloc(sizeof(*d));
	int ret = -ESTALE;
	bool is_open;

	if (!d)
		ui_die_memory();
	is_open = drain_open(d, path) == 0; /* else its process has ended */
	for (int i = 0; i < COPY_TRIES && ret == -ESTALE && !ui_stopped_by(); i++) {
		if (is_open)
			atomic_store_explicit(&d->header->hold_until_ns, clock_boot_ns() + HOLD_NS,
					      memory_order_release);
		RTL_TESTPOINT("snapshot_copies");
		ret = load_copy(path, fd, err);
	}
	if (is_open) {
		atomic_store_explicit(&d->header->hold_until_ns, 0, memory_order_release);
		drain_close(d);
	}
	free(d);
	return ret;
}

/* The file to convert instead of a raw trace: itself if it is complete, else a copy. Drains
 * nothing: `rtl trace` does. */
static int prepare(const char *path, const char *output, int *fd, char out[PATH_MAX],
		   struct load_error *err)
{
	struct load *load;
	bool over;
	int ret = load_open(&load, path, err);

	*fd = -1;
	if (ret)
		return ret;
	over = load_facts(load)->state == LOAD_CLOSED;
	load_close(load);
	if (over) {
		snprintf(out, PATH_MAX, "%s", path);
		return 0;
	}
	*fd = make_file(output);
	if (*fd < 0) {
		snprintf(err->text, sizeof(err->text), "%s: no copy can be made beside it: %s",
			 output, strerror(-*fd));
		return *fd;
	}
	snprintf(out, PATH_MAX, "/proc/self/fd/%d", *fd);
	return copy_held(path, *fd, err);
}

int snapshot_take(char *const *paths, size_t nr, const char *output, const struct job_options *opt,
		  struct job_result *res, char error[SNAPSHOT_ERROR_SIZE])
{
	char(*copies)[PATH_MAX] = calloc(nr, sizeof(*copies));
	const char **inputs = calloc(nr, sizeof(*inputs));
	int *fds = malloc(nr * sizeof(*fds));
	struct load_error err = { "" };
	size_t made = 0;
	int ret = 0;

	if (!copies || !inputs || !fds)
		ui_die_memory();
	while (made < nr && ret == 0) {
		inputs[made] = copies[made];
		ret = prepare(paths[made], output, &fds[made], copies[made], &err);
		made++;
	}
	snprintf(error, SNAPSHOT_ERROR_SIZE, "%s", err.text);
	if (ret == 0) {
		ret = rpd_write(inputs, nr, output, opt, res);
		snprintf(error, SNAPSHOT_ERROR_SIZE, "%s", res->error);
	}
	while (made-- > 0)
		if (fds[made] >= 0)
			close(fds[made]);
	free(fds);
	free(inputs);
	free(copies);
	return ret;
}
