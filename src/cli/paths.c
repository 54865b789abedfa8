/* SPDX-License-Identifier: MIT */
/* paths.c - the directories of this installation */
#include "cli/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/temporary.h"

bool paths_join(char buf[PATH_MAX], const char *dir, const char *name)
{
	size_t n = strlen(dir);
	int len = snprintf(buf, PATH_MAX, "%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);

	return len > 0 && len < PATH_MAX;
}

void paths_dirname(char buf[PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (!slash)
		snprintf(buf, PATH_MAX, ".");
	else
		snprintf(buf, PATH_MAX, "%.*s", n ? (int)n : 1, path);
}

const char *paths_suffix(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	return dot && dot > (slash ? slash + 1 : path) ? dot : path + strlen(path);
}

int paths_absolute(char buf[PATH_MAX], const char *path)
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	paths_dirname(dir, path);
	if (!realpath(dir, real))
		return -errno;
	return paths_join(buf, real, slash ? slash + 1 : path) ? 0 : -ENAMETOOLONG;
}

int paths_try_output(const char *path)
{
	char tmp[PATH_MAX + 32];
	int fd;

	snprintf(tmp, sizeof(tmp), "%s.tmp-%ld", path, (long)getpid());
	fd = temporary_create(tmp);
	if (fd < 0)
		return fd;
	close(fd);
	temporary_delete(tmp);
	return 0;
}

void paths_find_below(struct paths *p, const char *root)
{
	static const char *const lib_dirs[] = { "lib", "lib64", "lib/x86_64-linux-gnu" };
	static const char *const vgpu_dirs[] = { "vgpu", "lib/rocm-trace-lite/vgpu",
						 "lib64/rocm-trace-lite/vgpu",
						 "lib/x86_64-linux-gnu/rocm-trace-lite/vgpu" };
	char dir[PATH_MAX], file[PATH_MAX];

	snprintf(p->root, sizeof(p->root), "%s", root);
	p->lib_dir[0] = p->librtl[0] = p->librtlmpi[0] = p->vgpu_dir[0] = 0;
	p->tsan_suppressions[0] = 0;
	for (size_t i = 0; i < sizeof(lib_dirs) / sizeof(lib_dirs[0]); i++) {
		if (!paths_join(dir, root, lib_dirs[i]) || !paths_join(file, dir, "librtl.so.1") ||
		    access(file, R_OK) != 0)
			continue;
		memcpy(p->lib_dir, dir, sizeof(dir));
		memcpy(p->librtl, file, sizeof(file));
		if (paths_join(file, dir, "librtlmpi.so.1") && access(file, R_OK) == 0)
			memcpy(p->librtlmpi, file, sizeof(file));
		if (paths_join(file, dir, "rocm-trace-lite/tsan.supp") && access(file, R_OK) == 0)
			memcpy(p->tsan_suppressions, file, sizeof(file));
		break;
	}
	for (size_t i = 0; i < sizeof(vgpu_dirs) / sizeof(vgpu_dirs[0]); i++) {
		if (!paths_join(dir, root, vgpu_dirs[i]) || !paths_join(file, dir, "libvgpu.so") ||
		    access(file, R_OK) != 0)
			continue;
		memcpy(p->vgpu_dir, dir, sizeof(dir));
		break;
	}
}

int paths_find(struct paths *p)
{
	char dir[PATH_MAX], root[PATH_MAX];
	ssize_t n;

	memset(p, 0, sizeof(*p));
	n = readlink("/proc/self/exe", p->exe, sizeof(p->exe) - 1);
	if (n < 0)
		return -errno;
	p->exe[n] = 0;
	paths_dirname(dir, p->exe);
	paths_dirname(root, dir);
	paths_find_below(p, root);
	return 0;
}
