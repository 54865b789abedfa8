/* SPDX-License-Identifier: MIT */
/* cmd_doctor.c - rtl doctor: what can be traced on this machine, what is missing, what to do about
 * it
 *
 * Each check is a function that prints its lines; the table at the end has their order.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/env.h"
#include "base/fd.h"
#include "base/rocr.h"
#include "cli/cmd/commands.h"
#include "cli/machine.h"
#include "cli/paths.h"
#include "cli/trace/probe.h"
#include "cli/trace/vgpu.h"
#include "cli/ui.h"
#include "rtl_version.h"

enum verdict_word { OK, WARN, MISSING, NOTE };

struct doctor {
	struct paths paths;
	bool colour;
	bool has_gpu, has_kfd, has_rocr, has_hip, has_librtl, has_vgpu;
	char rocr[PATH_MAX]; /* the file that the loader finds */
	unsigned int nr_warnings;
};

enum { O_QUIET, O_REQUIRE, O_PATH };

static const struct opt options[] = {
	[O_QUIET] = { 'q', "quiet", .help = "print problems only" },
	[O_REQUIRE] = { 0, "require", OPT_CHOICE, .arg = "WHAT", .choices = "gpu|virtual-gpu",
			.help = "status 1 unless this one can be traced on",
			.more = "For scripts that install or test: gpu fails where only the virtual GPU is there, and "
				"virtual-gpu where that is missing." },
	[O_PATH] = { 0, "path", OPT_CHOICE, .arg = "WHAT", .choices = "librtl|virtual-gpu",
		     .help = "print a path of this installation, and check nothing",
		     .more = "librtl: for LD_PRELOAD of a program that is to be recorded later (rtl start). virtual-gpu: for "
			     "LD_PRELOAD of one that is to run on the virtual GPU." },
};

static bool only_bad;

/* Prints one line: the word, the text, and below it `todo`, unless NULL. */
__attribute__((format(printf, 4, 5))) static void
print_line(struct doctor *d, enum verdict_word word, const char *todo, const char *fmt, ...)
{
	static const char *const words[] = { "ok", "warn", "missing", "note" };
	static const char *const colours[] = { "\033[32m", "\033[33m", "\033[31m", "" };
	char text[PATH_MAX + 512];
	va_list ap;

	d->nr_warnings += word == WARN;
	if (only_bad && (word == OK || word == NOTE))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ui_put_raw(d->colour ? colours[word] : "");
	ui_putf("%-7s", words[word]);
	ui_put_raw(d->colour && *colours[word] ? "\033[0m" : "");
	ui_putf("  %s\n", text);
	if (todo)
		ui_putf("         -> %s\n", todo);
}

static void check_driver(struct doctor *d)
{
	glob_t nodes = { 0 };

	if (vgpu_is_preloaded()) {
		/* it is the driver for programs, and not for the functions that look below */
		print_line(d, NOTE, NULL,
			   "driver and GPU: not looked at: LD_PRELOAD has libvgpu.so, so programs "
			   "see the virtual GPU alone");
		return;
	}
	if (access("/dev/kfd", F_OK)) {
		print_line(
			d, MISSING,
			"load the amdgpu driver; in a container add --device=/dev/kfd --device=/dev/dri",
			"/dev/kfd: not found: the AMD GPU driver is not loaded");
		return;
	}
	d->has_kfd = access("/dev/kfd", R_OK | W_OK) == 0;
	if (d->has_kfd) {
		print_line(d, OK, NULL, "/dev/kfd: can be opened");
	} else {
		struct group *group = NULL;
		struct stat st;
		char todo[128];

		if (stat("/dev/kfd", &st) == 0)
			group = getgrgid(st.st_gid);
		snprintf(todo, sizeof(todo),
			 "join its group: sudo usermod -aG %s $USER, then log in again",
			 group ? group->gr_name : "render");
		print_line(d, MISSING, todo, "/dev/kfd: no permission");
	}
	if (glob("/dev/dri/renderD*", 0, NULL, &nodes) == 0 && nodes.gl_pathc) {
		size_t good = 0;

		for (size_t i = 0; i < nodes.gl_pathc; i++)
			good += access(nodes.gl_pathv[i], R_OK | W_OK) == 0;
		if (good == nodes.gl_pathc)
			print_line(d, OK, NULL, "/dev/dri: %zu render node%s can be opened", good,
				   good > 1 ? "s" : "");
		else
			print_line(d, WARN, "join the group 'render', then log in again",
				   "/dev/dri: %zu of %zu render nodes can't be opened",
				   nodes.gl_pathc - good, (size_t)nodes.gl_pathc);
	} else {
		print_line(d, MISSING, "in a container add --device=/dev/dri",
			   "/dev/dri: no render node");
	}
	globfree(&nodes);
}

static void check_gpus(struct doctor *d)
{
	struct machine_gpu gpus[MACHINE_GPUS_MAX];
	size_t nr = vgpu_is_preloaded() ? 0 : machine_gpus(gpus);

	d->has_gpu = nr != 0;
	for (size_t i = 0; i < nr; i++)
		print_line(d, OK, NULL, "GPU: %s, %lu SIMDs", gpus[i].name, gpus[i].simds);
	if (d->has_kfd && !d->has_gpu)
		print_line(d, WARN, "see the kernel's messages (dmesg) of amdgpu",
			   "GPU: the driver reports none");
	if (getenv("ROCR_VISIBLE_DEVICES") || getenv("HIP_VISIBLE_DEVICES"))
		print_line(d, NOTE, NULL,
			   "ROCR_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES is set: programs see "
			   "those GPUs alone");
}

static void check_runtimes(struct doctor *d)
{
	static const char *const hip[] = { "libamdhip64.so.7", "libamdhip64.so.6",
					   "libamdhip64.so.5", "libamdhip64.so" };
	struct probe_result *r = calloc(1, sizeof(*r));
	char todo[] = "install ROCm's runtime (Debian: libhsa-runtime64-1), or set LD_LIBRARY_PATH";

	if (!r)
		ui_die_memory();
	probe_library(r, "libhsa-runtime64.so.1", NULL, "hsa_init");
	d->has_rocr = r->loaded;
	if (r->loaded) {
		memcpy(d->rocr, r->path, sizeof(d->rocr));
		print_line(d, OK, NULL, "HSA runtime: %s", r->path);
	} else {
		print_line(d, MISSING, todo, "HSA runtime: %s", r->error);
	}
	for (size_t i = 0; i < sizeof(hip) / sizeof(hip[0]) && !d->has_hip; i++) {
		probe_library(r, hip[i], NULL, NULL);
		d->has_hip = r->loaded;
	}
	if (d->has_hip)
		print_line(d, OK, NULL, "HIP runtime: %s", r->path);
	else
		print_line(
			d, WARN,
			"install it to run HIP programs (Debian: libamdhip64-5); programs that use HSA alone don't need it",
			"HIP runtime: libamdhip64 is not found by the loader");
	free(r);
}

/* How packets are intercepted, and why. */
static void check_queues(struct doctor *d, const struct rocr *r)
{
	const char *fault = rocr_intercept_fault(r->amd_ext_bytes, r->build_id);
	bool intercept = strcmp(env_str(ENV_QUEUES), "intercept") == 0;

	if (intercept && fault)
		print_line(
			d, WARN, "unset RTL_QUEUES",
			"queues: interposed, although RTL_QUEUES=intercept: this HSA runtime (build id "
			"%s) has faulty intercept queues: %s",
			r->build_id[0] ? r->build_id : "unknown", fault);
	else if (intercept)
		print_line(
			d, NOTE, NULL,
			"queues: intercepted by the runtime (RTL_QUEUES=intercept); launches cost more "
			"than with interposed queues");
	else
		print_line(
			d, OK, NULL,
			"queues: interposed: programs keep their own queues, and packets are seen as "
			"their doorbells are rung%s%s",
			fault ? "; this HSA runtime's intercept queues are faulty: " : "",
			fault ? fault : "");
}

/* How librtl gets the runtime's tables, and whether the runtime supports it. */
static void check_way(struct doctor *d)
{
	const char *way = env_str(ENV_WAY);
	struct rocr r;

	if (!d->has_rocr || !rocr_read(&r, d->rocr))
		return;
	if (strcmp(way, "register") == 0)
		print_line(d, r.registers ? OK : WARN,
			   r.registers ? NULL :
					 "unset RTL_WAY: HSA_TOOLS_LIB is set as well and suffices",
			   "way in: rocprofiler-register (RTL_WAY=register)%s",
			   r.registers ? "" : ", which this HSA runtime does not support");
	else if (!r.registers)
		print_line(
			d, OK, NULL,
			"way in: HSA_TOOLS_LIB: this HSA runtime does not support rocprofiler-register, so that "
			"no other tool can hold its tool slot");
	else if (r.takes_both)
		print_line(
			d, OK, NULL,
			"way in: HSA_TOOLS_LIB, with HSA_TOOLS_ROCPROFILER_V1_TOOLS=1: this HSA runtime "
			"offers its tables to AMD's SDK first, and gives them to both");
	else if (strcmp(way, "tools") == 0)
		print_line(
			d, WARN, "unset RTL_WAY",
			"way in: HSA_TOOLS_LIB (RTL_WAY=tools), which this HSA runtime ignores where AMD's "
			"SDK holds the tool slot");
	else
		print_line(
			d, OK, NULL,
			"way in: rocprofiler-register, because this HSA runtime ignores HSA_TOOLS_LIB where "
			"AMD's SDK holds the tool slot");
	if (getenv("ROCPROFILER_REGISTER_LIBRARY"))
		print_line(d, NOTE, NULL, "ROCPROFILER_REGISTER_LIBRARY is set and kept: %s",
			   getenv("ROCPROFILER_REGISTER_LIBRARY"));
	check_queues(d, &r);
}

/* With several copies of the runtime, programs may load different ones. */
static void check_duplicates(struct doctor *d)
{
	static const char *const patterns[] = { "/opt/rocm*/lib/libhsa-runtime64.so.1",
						"/opt/rocm*/lib64/libhsa-runtime64.so.1",
						"/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1",
						"/usr/lib64/libhsa-runtime64.so.1",
						"/usr/local/lib/libhsa-runtime64.so.1" };
	char real[PATH_MAX], seen[8][PATH_MAX];
	size_t nr = 0;
	glob_t found = { 0 };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && nr < 8; i++) {
		bool again = false;

		if (!realpath(found.gl_pathv[i], real))
			continue;
		for (size_t j = 0; j < nr; j++)
			again |= strcmp(seen[j], real) == 0;
		if (!again)
			memcpy(seen[nr++], real, sizeof(real));
	}
	globfree(&found);
	for (size_t i = 0; i < nr && nr > 1; i++)
		print_line(d, WARN,
			   i + 1 == nr ? "programs choose by their RPATH and LD_LIBRARY_PATH; "
					 "'rtl info' shows which one was traced" :
					 NULL,
			   "several HSA runtimes: %s%s", seen[i],
			   strcmp(seen[i], d->rocr) == 0 ? " (found by the loader)" : "");
}

static void check_parts(struct doctor *d)
{
	struct probe_result *r = calloc(1, sizeof(*r));
	char file[PATH_MAX];

	if (!r)
		ui_die_memory();
	if (!d->paths.librtl[0]) {
		print_line(d, MISSING,
			   "install the whole of rocm-trace-lite, or run the rtl of a build tree",
			   "librtl.so.1: not found below %s/lib", d->paths.root);
	} else {
		probe_library(r, d->paths.librtl, NULL, "OnLoad");
		d->has_librtl = r->loaded && r->has_symbol;
		if (d->has_librtl)
			print_line(d, OK, NULL, "librtl: %s", r->path);
		else
			print_line(d, MISSING, "reinstall rocm-trace-lite", "librtl: %s: %s",
				   d->paths.librtl,
				   r->loaded ? "has no OnLoad, which the runtime calls" : r->error);
	}
	if (!d->paths.vgpu_dir[0]) {
		print_line(d, WARN, "it is an optional part of the installation",
			   "virtual GPU: libvgpu.so not found below %s", d->paths.root);
	} else if (paths_join(file, d->paths.vgpu_dir, "libvgpu.so")) {
		probe_library(r, "libhsa-runtime64.so.1", file, NULL);
		d->has_vgpu = r->loaded;
		if (r->loaded)
			print_line(
				d, OK, NULL,
				"virtual GPU: %s: libvgpu.so is preloaded, and is the kernel driver for %s",
				d->paths.vgpu_dir, r->path);
		else
			print_line(d, WARN, "install the HSA runtime, which it needs",
				   "virtual GPU: %s", r->error);
	}
	free(r);
}

static void check_memory(struct doctor *d)
{
	uint64_t wanted = env_uint(ENV_BUFFER_MB) << 20, available;
	const char *dir = env_str(ENV_MEM_DIR);
	char have[UI_NUMBER_SIZE], need[UI_NUMBER_SIZE];
	struct statfs fs;

	if (strcmp(dir, "none") == 0) {
		print_line(d, WARN, "unset RTL_MEM_DIR, unless there is no memory file system",
			   "buffers: RTL_MEM_DIR=none: they are files on disk, which is slower");
		return;
	}
	if (statfs(dir, &fs) || access(dir, W_OK | X_OK)) {
		print_line(d, WARN, "mount a tmpfs on /dev/shm, or name another in RTL_MEM_DIR",
			   "buffers: %s: %s; they are files on disk, which is slower", dir,
			   strerror(errno));
		return;
	}
	available = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	ui_bytes(have, available);
	ui_bytes(need, wanted);
	if (fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC)
		print_line(d, WARN, "name a tmpfs in RTL_MEM_DIR",
			   "buffers: %s is not a memory file system", dir);
	else if (available < wanted)
		print_line(d, WARN, "in a container: --shm-size=1g; or a smaller RTL_BUFFER_MB",
			   "buffers: %s has %s free, a traced process needs %s", dir, have, need);
	else
		print_line(d, OK, NULL, "buffers: %s has %s free; a traced process needs %s", dir,
			   have, need);
}

static void check_output(struct doctor *d)
{
	char have[UI_NUMBER_SIZE];
	struct statvfs fs;

	if (access(".", W_OK | X_OK)) {
		print_line(d, WARN, "rtl trace -o DIR/trace.db",
			   "output: the current directory can't be written");
		return;
	}
	if (statvfs(".", &fs))
		return;
	ui_bytes(have, (uint64_t)fs.f_bavail * fs.f_frsize);
	if ((uint64_t)fs.f_bavail * fs.f_frsize < (UINT64_C(256) << 20))
		print_line(d, WARN,
			   "a dispatch takes about 50 bytes while tracing and 200 in the database",
			   "output: %s free in the current directory", have);
	else
		print_line(d, OK, NULL, "output: %s free in the current directory", have);
}

static void check_surroundings(struct doctor *d)
{
	char text[8192];
	ssize_t n = fd_read_file("/proc/self/status", text, sizeof(text) - 1);
	const char *at;

	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "\nSeccomp:");
	if (at && strtoul(at + strlen("\nSeccomp:"), NULL, 10) == 2)
		print_line(d, NOTE, NULL,
			   "seccomp: a filter is active (container); rtl works with it: it uses "
			   "common system calls only, not ptrace");
	if (getenv("HSA_TOOLS_LIB"))
		print_line(d, WARN,
			   "unset it, unless you want both tools: rtl trace puts librtl in front",
			   "HSA_TOOLS_LIB is set: %s", getenv("HSA_TOOLS_LIB"));
	if (getenv("LD_PRELOAD"))
		print_line(d, NOTE, NULL, "LD_PRELOAD is set and kept: %s", getenv("LD_PRELOAD"));
	if (getenv("RTL_SESSION"))
		print_line(d, NOTE, NULL, "RTL_SESSION is set: this runs below an rtl trace");
	if (env_bool(ENV_DISABLE))
		print_line(d, WARN, "unset RTL_DISABLE", "RTL_DISABLE is set: nothing is traced");
}

static int print_path(bool of_vgpu)
{
	static struct paths paths;
	const char *path;

	if (paths_find(&paths))
		ui_die(STATUS_FAILED, "/proc/self/exe: can't be read; is /proc mounted?");
	path = of_vgpu ? paths.vgpu_dir : paths.librtl;
	if (!*path)
		ui_die(STATUS_FAILED, "%s: not found below %s",
		       of_vgpu ? "the virtual GPU" : "librtl.so.1", paths.root);
	ui_putf("%s%s\n", path, of_vgpu ? "/libvgpu.so" : "");
	return 0;
}

static int run_doctor(const struct opt_parsed *p)
{
	static void (*const checks[])(struct doctor *) = {
		check_driver, check_gpus,   check_runtimes, check_way,		check_duplicates,
		check_parts,  check_memory, check_output,   check_surroundings,
	};
	struct doctor *d;
	bool real, virtual;

	if (p->values[O_PATH].count)
		return print_path(p->values[O_PATH].num == 1);
	d = calloc(1, sizeof(*d));
	if (!d)
		ui_die_memory();
	only_bad = p->values[O_QUIET].count > 0;
	d->colour = ui_colour(STDOUT_FILENO);
	if (!only_bad)
		ui_put("rtl " RTL_VERSION_STRING "\n");
	if (paths_find(&d->paths))
		ui_die(STATUS_FAILED, "/proc/self/exe: can't be read; is /proc mounted?");
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](d);
	real = d->has_gpu && d->has_kfd && d->has_rocr && d->has_librtl;
	virtual = d->has_rocr && d->has_librtl && d->has_vgpu;
	if (real)
		ui_put("GPU programs can be traced here: rtl trace ./program\n");
	else if (virtual && vgpu_is_preloaded())
		ui_put("Programs run on the virtual GPU here, and can be traced: rtl trace ./program\n");
	else if (virtual)
		ui_put("No GPU can be used here; programs can be traced on a virtual one: "
		       "rtl trace --virtual-gpu ./program\n");
	else
		ui_put("Nothing can be traced here until what is missing above is there.\n");
	free(d);
	if (p->values[O_REQUIRE].count)
		return (p->values[O_REQUIRE].num == 0 ? real : virtual) ? 0 : STATUS_FAILED;
	return real || virtual ? 0 : STATUS_FAILED;
}

static const struct opt_status statuses[] = {
	{ "0", "programs can be traced here, on a GPU or a virtual one" },
	{ "1", "they can't: something is missing" },
	{ NULL, NULL },
};

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "checks what can be traced on this machine, and what is missing",
	.usage = "[options]",
	.operands = "",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.statuses = statuses,
	.about =
		"Checks the driver, the GPUs, the ROCm runtimes that the loader finds, the way in which "
		"librtl gets their tables (RTL_WAY), how packets are intercepted and whether this runtime's "
		"intercept queues work (RTL_QUEUES), the parts of this installation, the space for "
		"buffers and output, and environment variables. Each line begins with ok, warn, "
		"missing or note; an arrow marks what to do.\n"
		"\n"
		"A program with a runtime of its own (RPATH, a Python wheel) may use another one than "
		"the loader finds; rtl info shows the runtime of a trace.",
	.examples = "rtl doctor\nrtl doctor -q\nrtl doctor -q --require gpu && ./run_gpu_tests\n",
	.usage_status = STATUS_USAGE,
	.run = run_doctor,
};
