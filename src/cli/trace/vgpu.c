/* SPDX-License-Identifier: MIT */
/* vgpu.c - the virtual GPU as rtl trace sees it: messages, architectures */
#include "cli/trace/vgpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/paths.h"
#include "cli/trace/childenv.h"
#include "cli/ui.h"

void vgpu_check_paths(const struct paths *paths)
{
	if (!paths->vgpu_dir[0])
		ui_die(STATUS_TRACE,
		       "--virtual-gpu: libvgpu.so not found in %s/vgpu or "
		       "%s/lib/rocm-trace-lite/vgpu; install the virtual GPU",
		       paths->root, paths->root);
}

size_t vgpu_gpus(struct machine_gpu gpus[MACHINE_GPUS_MAX])
{
	static const char *const archs[] = { "gfx900", "gfx90a", "gfx942" };
	enum { NR = sizeof(archs) / sizeof(archs[0]) };
	const char *at = childenv_get(environ, "VGPU_ARCH");
	bool wanted[NR] = { false };
	size_t nr = 0;

	do {
		size_t n = at ? strcspn(at, ",") : 0, a = 0;

		while (a < NR && (strlen(archs[a]) != n || strncmp(archs[a], at, n) != 0))
			a++;
		if (a == NR) {
			memset(wanted, 0, sizeof(wanted));
			wanted[0] = true;
			break;
		}
		wanted[a] = true;
		at = at[n] ? at + n + 1 : NULL;
	} while (at);
	for (size_t a = 0; a < NR; a++) {
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

bool vgpu_is_preloaded(void)
{
	const char *at = childenv_get(environ, "LD_PRELOAD");

	return at && strstr(at, "libvgpu.so");
}

void vgpu_check_variables(void)
{
	if (vgpu_is_preloaded())
		return;
	for (char **var = environ; *var; var++)
		if (strncmp(*var, "VGPU_", 5) == 0) {
			ui_say("%.*s: has no effect without --virtual-gpu", (int)strcspn(*var, "="),
			       *var);
			return;
		}
}
