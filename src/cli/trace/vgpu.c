/* SPDX-License-Identifier: MIT */
/* vgpu.c - the virtual GPU as rtl trace sees it: messages, architectures */
#include "cli/trace/vgpu.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/paths.h"
#include "cli/trace/childenv.h"
#include "cli/ui.h"

void vgpu_check_paths(const struct paths *paths)
{
	if (!paths->vgpu_dir[0])
		ui_die(STATUS_TRACE,
		       "--virtual-gpu: libhsakmt.so.1 not found in %s/vgpu or "
		       "%s/lib/rocm-trace-lite/vgpu; install the virtual GPU",
		       paths->root, paths->root);
}

const char *vgpu_driver(const struct paths *paths)
{
	char *path = ui_keep(ui_format("%s/libvgpu.so", paths->vgpu_dir));

	return paths->vgpu_dir[0] && access(path, R_OK) == 0 ? path : NULL;
}

size_t vgpu_gpus(struct machine_gpu gpus[MACHINE_GPUS_MAX])
{
	static const char *const archs[] = { "gfx900", "gfx90a" };
	const char *at = childenv_get(environ, "VGPU_ARCH");
	bool wanted[2] = { false, false };
	size_t nr = 0;

	do {
		size_t n = at ? strcspn(at, ",") : 0, a = 0;

		while (a < 2 && (strlen(archs[a]) != n || strncmp(archs[a], at, n) != 0))
			a++;
		if (a == 2) {
			wanted[0] = true;
			wanted[1] = false;
			break;
		}
		wanted[a] = true;
		at = at[n] ? at + n + 1 : NULL;
	} while (at);
	for (size_t a = 0; a < 2; a++) {
		if (wanted[a])
			snprintf(gpus[nr++].name, sizeof(gpus[0].name), "%s", archs[a]);
	}
	return nr;
}

void vgpu_explain(void)
{
	const char *exec = childenv_get(environ, "VGPU_EXEC");

	if (exec && strcmp(exec, "off") == 0)
		ui_say("on the virtual GPU: kernels are timed and not executed (VGPU_EXEC=off)");
	else
		ui_say("on the virtual GPU: kernels are executed; times are a model's, not a GPU's");
}

/* Whether the file has a text: of a thunk, whether it is the virtual GPU, as AMD's has no such names. */
static bool has_name(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	bool has = false;
	void *bytes;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			has = memmem(bytes, (size_t)st.st_size, name, strlen(name)) != NULL;
			munmap(bytes, (size_t)st.st_size);
		}
	}
	close(fd);
	return has;
}

const char *vgpu_way(const char *rocr)
{
	if (has_name(rocr, "libhsakmt.so.1"))
		return "libhsakmt.so.1, which the runtime needs, is the virtual GPU's by LD_LIBRARY_PATH; libvgpu.so is "
		       "preloaded for programs that find another one";
	if (has_name(rocr, "HSA_ENABLE_DTIF"))
		return "the runtime loads libdtif.so, by HSA_ENABLE_DTIF=1";
	return "libvgpu.so is preloaded, and is the kernel driver for the runtime";
}

/* Whether the loader finds a virtual GPU by LD_LIBRARY_PATH, in the first folder that has a thunk. */
static bool is_on_path(void)
{
	const char *at = childenv_get(environ, "LD_LIBRARY_PATH");
	char path[PATH_MAX];

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (n &&
		    snprintf(path, sizeof(path), "%.*s/libhsakmt.so.1", (int)n, at) <
			    (int)sizeof(path) &&
		    access(path, R_OK) == 0)
			return has_name(path, "VGPU_DEVICES");
		at += n + (at[n] == ':');
	}
	return false;
}

void vgpu_check_variables(void)
{
	if (is_on_path())
		return;
	for (char **var = environ; *var; var++)
		if (strncmp(*var, "VGPU_", 5) == 0) {
			ui_say("%.*s: has no effect without --virtual-gpu", (int)strcspn(*var, "="),
			       *var);
			return;
		}
}
