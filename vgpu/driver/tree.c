/* SPDX-License-Identifier: MIT */
/* tree.c - the kernel driver's files in /sys that describe the virtual GPUs
 *
 * The names and units are those of the Linux kernel's amdkfd: a line "name number" for each
 * property. Node 0 is the CPU, the GPUs follow. Runtimes depend on many of the values: they assert
 * them, divide by them or select their protocol by them; those are marked.
 *
 * The folder is shared by the user's processes with the same settings, each of which holds a lock
 * on it (flock, shared). The one that ends last removes it. What a process left that was killed is
 * removed when the next folder is made.
 *
 * Owns:     a descriptor of the folder, and its files. A file that exists with its size is right:
 *           names and sizes follow from the content.
 * Threads:  any.
 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../engine/gpu.h"
#include "../engine/knobs.h"

/* of a GPU's capabilities */
#define CAPABILITY_POWER_OF_TWO 0x8u /* the sizes of queues */
#define CAPABILITY_DOORBELL                                                                        \
	0x2000u /* of 64 bits: others have another protocol of write pointer and doorbell */
#define CAPABILITY_SRAM_ECC 0x4000000u /* of the target id */
#define CAPABILITY_SVM 0x08000000u     /* user memory is registered at its own address */
#define CAPABILITY_TRAPS 0x20000000u   /* queue errors are reported as exceptions */

#define LINK_ENABLED 1u
#define LINK_NO_ATOMICS 0xcu /* of 32, of 64 bits */

enum { HEAP_SYSTEM = 0, HEAP_VRAM = 1 };
enum { LINK_PCIE = 2, LINK_XGMI = 11 };
enum { CACHE_DATA = 1, CACHE_CPU = 4, CACHE_GPU = 8 };

#define RENDER_FIRST 128u

/* All files: "path\0text\0" for each. */
struct files {
	char *bytes;
	size_t len;
	FILE *out;
};

static void begin_file(struct files *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The text follows by fprintf(f->out). */
static void begin_file(struct files *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(f->out, format, args);
	va_end(args);
	fputc('\0', f->out);
}

static void end_file(struct files *f)
{
	fputc('\0', f->out);
}

static void line(struct files *f, const char *name, uint64_t value)
{
	fprintf(f->out, "%s %llu\n", name, (unsigned long long)value);
}

#define NODE "class/kfd/topology/nodes/%u/"

static void put_cpu(struct files *f)
{
	static const char *const of_gpus[] = {
		"p2p_links_count",
		"cpu_core_id_base",
		"simd_id_base",
		"max_waves_per_simd",
		"lds_size_in_kb",
		"gds_size_in_kb",
		"num_gws",
		"wave_front_size",
		"array_count",
		"simd_arrays_per_engine",
		"cu_per_simd_array",
		"simd_per_cu",
		"max_slots_scratch_cu",
		"gfx_target_version",
		"vendor_id",
		"device_id",
		"location_id",
		"domain",
		"drm_render_minor",
		"hive_id",
		"num_sdma_engines",
		"num_sdma_xgmi_engines",
		"num_sdma_queues_per_engine",
		"num_cp_queues",
	};
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	begin_file(f, NODE "properties", 0u);
	line(f, "cpu_cores_count", cores > 0 ? (uint64_t)cores : 1);
	line(f, "simd_count", 0);
	line(f, "mem_banks_count", 1);
	line(f, "caches_count", 1); /* asserted */
	line(f, "io_links_count", knobs.devices);
	for (size_t i = 0; i < sizeof(of_gpus) / sizeof(of_gpus[0]); i++)
		line(f, of_gpus[i], 0);
	line(f, "max_engine_clk_ccompute", 2000);
	end_file(f);
}

static void put_gpu(struct files *f, unsigned int gpu)
{
	const struct gpu_kind *k = gpu_kind(gpu);

	begin_file(f, NODE "properties", gpu + 1);
	line(f, "cpu_cores_count", 0);
	line(f, "simd_count", (uint64_t)k->nr_cus * GPU_SIMDS_PER_CU);
	line(f, "mem_banks_count", 1); /* LDS and scratch memory are the thunk's own */
	line(f, "caches_count", 2);    /* asserted */
	line(f, "io_links_count", knobs.devices);
	line(f, "p2p_links_count", 0);
	line(f, "cpu_core_id_base", 0);
	line(f, "simd_id_base", 0x80000000u + gpu * 0x1000);
	line(f, "max_waves_per_simd", k->waves_per_simd);
	line(f, "lds_size_in_kb", GPU_LDS_KB);
	line(f, "gds_size_in_kb", 0);
	line(f, "num_gws", GPU_GWS);		   /* 0: no cooperative launches */
	line(f, "wave_front_size", 64);		   /* 0 crashes a runtime */
	line(f, "array_count", k->shader_engines); /* divided by; CUs a multiple of it: asserted */
	line(f, "simd_arrays_per_engine", 1);
	line(f, "cu_per_simd_array", k->nr_cus / k->shader_engines);
	line(f, "simd_per_cu", GPU_SIMDS_PER_CU);
	line(f, "max_slots_scratch_cu", 32); /* 0: no scratch memory */
	line(f, "gfx_target_version", 90000 + k->stepping);
	line(f, "vendor_id", GPU_VENDOR);
	line(f, "device_id", k->device_id);
	line(f, "location_id", (gpu + 1) << 8);
	line(f, "domain", 0);
	line(f, "drm_render_minor", RENDER_FIRST + gpu);
	line(f, "hive_id", k->hive);
	line(f, "num_sdma_engines", 2);
	line(f, "num_sdma_xgmi_engines", k->xgmi_sdma_engines);
	line(f, "num_sdma_queues_per_engine", 2);
	line(f, "num_cp_queues", 24);
	line(f, "max_engine_clk_ccompute", 2000);
	line(f, "max_engine_clk_fcompute", k->gpu_mhz);
	line(f, "local_mem_size", 0); /* in the memory bank */
	line(f, "fw_version", k->ucode);
	line(f, "capability",
	     CAPABILITY_POWER_OF_TWO | CAPABILITY_DOORBELL | CAPABILITY_SVM |
		     (k->sram_ecc ? CAPABILITY_SRAM_ECC : 0) |
		     (knobs.exceptions ? CAPABILITY_TRAPS : 0));
	line(f, "debug_prop", 0);
	line(f, "sdma_fw_version", k->sdma_ucode);
	line(f, "unique_id", 0x7667707500000000ull + gpu);
	line(f, "num_xcc", 1); /* divided by */
	end_file(f);
}

static void put_bank(struct files *f, unsigned int node)
{
	const struct gpu_kind *k = node ? gpu_kind(node - 1) : NULL;
	uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	begin_file(f, NODE "mem_banks/0/properties", node);
	line(f, "heap_type", k ? HEAP_VRAM : HEAP_SYSTEM);
	line(f, "size_in_bytes", k ? knobs.vram_mb << 20 : host);
	line(f, "flags", 0);
	line(f, "width", k ? k->memory_bits : 64);
	line(f, "mem_clk_max", k ? k->memory_mhz : 1600);
	end_file(f);
}

/* `level`: from 1 on. */
static void put_cache(struct files *f, unsigned int node, unsigned int level)
{
	begin_file(f, NODE "caches/%u/properties", node, level - 1);
	line(f, "processor_id_low", node ? 0x80000000u + (node - 1) * 0x1000 : 0);
	line(f, "level", level);
	line(f, "size", !node ? 1024 : level == 1 ? 16 : gpu_kind(node - 1)->l2_kb);
	line(f, "cache_line_size", 64);
	line(f, "cache_lines_per_tag", 0);
	line(f, "association", 16);
	line(f, "latency", 0);
	line(f, "type", CACHE_DATA | (node ? CACHE_GPU : CACHE_CPU)); /* asserted of a GPU's */
	end_file(f);
}

/* Two GPUs of one hive have links of their own; the others meet at the host's PCIe. */
static void put_link(struct files *f, unsigned int node, unsigned int to, unsigned int number)
{
	uint64_t hive = node && to ? gpu_kind(node - 1)->hive : 0;
	bool xgmi = hive && gpu_kind(to - 1)->hive == hive;

	begin_file(f, NODE "io_links/%u/properties", node, number);
	line(f, "type", xgmi ? LINK_XGMI : LINK_PCIE);
	line(f, "version_major", xgmi ? 0 : 3);
	line(f, "version_minor", 0);
	line(f, "node_from", node);
	line(f, "node_to", to);
	line(f, "weight", xgmi ? 15 : node && to ? 40 : 20);
	line(f, "min_latency", 0);
	line(f, "max_latency", 0);
	line(f, "min_bandwidth", xgmi ? 50000 : 312);
	line(f, "max_bandwidth", xgmi ? 100000 : 15754);
	line(f, "recommended_transfer_size", 0);
	line(f, "flags", LINK_ENABLED | (knobs.no_atomics ? LINK_NO_ATOMICS : 0));
	end_file(f);
}

static void put_node(struct files *f, unsigned int node)
{
	unsigned int nr = 0;

	begin_file(f, NODE "gpu_id", node);
	fprintf(f->out, "%u\n", node ? gpu_number(node - 1) : 0);
	end_file(f);
	begin_file(f, NODE "name", node);
	fprintf(f->out, "%s\n", node ? gpu_kind(node - 1)->name : "");
	end_file(f);
	if (node)
		put_gpu(f, node - 1);
	else
		put_cpu(f);
	put_bank(f, node);
	put_cache(f, node, 1);
	if (node)
		put_cache(f, node, 2);
	for (unsigned int to = 0; to <= knobs.devices; to++) {
		if (to != node)
			put_link(f, node, to, nr++);
	}
}

static void put_value(struct files *f, unsigned int minor, const char *name, unsigned int value)
{
	begin_file(f, "char/226:%u/device/%s", minor, name);
	fprintf(f->out, "0x%04x\n", value);
	end_file(f);
}

/* What is known of a GPU by its render node. */
static void put_render(struct files *f, unsigned int gpu)
{
	unsigned int minor = RENDER_FIRST + gpu, id = gpu_kind(gpu)->device_id;

	begin_file(f, "char/226:%u/device/drm/card%u/dev", minor, gpu);
	fprintf(f->out, "226:%u\n", gpu);
	end_file(f);
	begin_file(f, "char/226:%u/device/drm/renderD%u/dev", minor, minor);
	fprintf(f->out, "226:%u\n", minor);
	end_file(f);
	begin_file(f, "char/226:%u/device/uevent", minor);
	fprintf(f->out,
		"DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:%04X\nPCI_SLOT_NAME=0000:%02x:00.0\n",
		id, id, gpu + 1);
	end_file(f);
	put_value(f, minor, "vendor", GPU_VENDOR);
	put_value(f, minor, "device", id);
	put_value(f, minor, "subsystem_vendor", GPU_VENDOR);
	put_value(f, minor, "subsystem_device", id);
	put_value(f, minor, "revision", 0);
}

/* 0, or -ENOMEM. */
static int describe(struct files *f)
{
	f->out = open_memstream(&f->bytes, &f->len);
	if (!f->out)
		return -ENOMEM;
	begin_file(f, "class/kfd/topology/generation_id");
	fputs("1\n", f->out);
	end_file(f);
	begin_file(f, "class/kfd/topology/system_properties");
	line(f, "platform_oem", 0);
	line(f, "platform_id", 0);
	line(f, "platform_rev", 0);
	end_file(f);
	begin_file(f, "module/amdgpu/initstate");
	fputs("live\n", f->out);
	end_file(f);
	for (unsigned int node = 0; node <= knobs.devices; node++)
		put_node(f, node);
	for (unsigned int gpu = 0; gpu < knobs.devices; gpu++)
		put_render(f, gpu);
	return fclose(f->out) ? -ENOMEM : 0;
}

static uint64_t checksum(const struct files *f)
{
	uint64_t sum = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < f->len; i++)
		sum = (sum ^ (unsigned char)f->bytes[i]) * 0x100000001b3u;
	return sum;
}

/* Kept until the process ends; -1: no folder was made. Under files.c's `once`, constant
 * afterwards. */
static int root_fd = -1;
static char root_path[PATH_MAX];
static struct files shown;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	remove(path);
	return 0;
}

/* Removes a folder of the user's that no process holds; it may be gone already. */
static void remove_unused(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	close(fd);
}

/* A file, and the folders that are empty then. */
static void remove_file(int root, const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	if (strlen(path) >= sizeof(dir))
		return;
	memcpy(dir, path, strlen(path) + 1);
	unlinkat(root, dir, 0);
	while ((slash = strrchr(dir, '/'))) {
		*slash = '\0';
		if (unlinkat(root, dir, AT_REMOVEDIR))
			break;
	}
}

/* A forked child holds the folder, too, by the same description: its lock stays until both have
 * closed it. */
void tree_leave(void)
{
	int root;

	if (root_fd < 0)
		return;
	syscall(SYS_close, root_fd);
	root = (int)syscall(SYS_openat, AT_FDCWD, root_path,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (root < 0)
		return;
	if (!flock(root, LOCK_EX | LOCK_NB)) {
		for (const char *at = shown.bytes; at < shown.bytes + shown.len;) {
			remove_file(root, at);
			at += strlen(at) + 1;
			at += strlen(at) + 1;
		}
		unlinkat(AT_FDCWD, root_path, AT_REMOVEDIR);
	}
	syscall(SYS_close, root);
}

static __attribute__((destructor)) void at_exit(void)
{
	tree_leave();
}

/* What was left by processes that were killed. */
static void remove_others(const char *folder, const char *start, const char *own)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	char path[PATH_MAX];

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, start, strlen(start)) == 0 &&
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < PATH_MAX &&
		    strcmp(path, own) != 0)
			remove_unused(path);
	}
	if (dir)
		closedir(dir);
}

#define LOCK_TRIES 2000
#define LOCK_WAIT_NS 1000000

/* Whether the folder is held now, and still there. 0, -EAGAIN: it is being removed, or -errno. */
static int hold(int fd, const char *path)
{
	struct stat st, now;

	if (fstat(fd, &st))
		return -errno;
	/* the user's own: others can't have put anything there */
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return -EPERM;
	if (flock(fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return stat(path, &now) || now.st_ino != st.st_ino || now.st_dev != st.st_dev ? -EAGAIN : 0;
}

/* 1: it was made; 0: it was there; or -errno. */
static int make_root(const char *path, int *fd)
{
	int made = mkdir(path, 0700) ? 0 : 1, err;

	if (!made && errno != EEXIST)
		return -errno;
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	err = hold(*fd, path);
	if (err)
		syscall(SYS_close, *fd);
	return err ? err : made;
}

static int open_root(char path[PATH_MAX], uint64_t sum)
{
	const struct timespec pause = { 0, LOCK_WAIT_NS };
	const char *tmp = getenv("TMPDIR");
	char start[48];
	int fd = -1, high, made = -EAGAIN;

	if (!tmp || tmp[0] != '/' || strlen(tmp) > PATH_MAX / 2)
		tmp = "/tmp";
	snprintf(start, sizeof(start), "vgpu-sysfs-%u-", (unsigned int)geteuid());
	snprintf(path, PATH_MAX, "%s/%s%016llx", tmp, start, (unsigned long long)sum);
	for (int n = 0; n < LOCK_TRIES && made == -EAGAIN; n++) {
		if (n)
			nanosleep(&pause, NULL);
		made = make_root(path, &fd);
	}
	if (made < 0)
		return made;
	/* above those that programs use */
	high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
	if (high >= 0) {
		syscall(SYS_close, fd);
		fd = high;
	}
	if (made)
		remove_others(tmp, start, path);
	return fd;
}

static int make_parents(int root, const char *path)
{
	char dir[PATH_MAX];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
		if (mkdirat(root, dir, 0700) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* No listing shows a file that is being written: it gets its name when it is whole. */
static int put_file(int root, const char *path, const char *text)
{
	size_t len = strlen(text);
	char temporary[32];
	struct stat st;
	ssize_t n;
	int fd, err = make_parents(root, path);

	if (err)
		return err;
	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && (size_t)st.st_size == len)
		return 0;
	snprintf(temporary, sizeof(temporary), ".%d", (int)getpid());
	fd = openat(root, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	err = n < 0 ? -errno : (size_t)n < len ? -ENOSPC : 0;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(root, temporary, root, path))
		err = -errno;
	if (err)
		unlinkat(root, temporary, 0);
	return err;
}

int tree_make(char path[PATH_MAX])
{
	struct files f = { 0 };
	int root, err;

	knobs_init_quietly();
	err = describe(&f);
	if (err) {
		free(f.bytes);
		snprintf(path, PATH_MAX, "a description of the GPUs");
		return err;
	}
	root = open_root(path, checksum(&f));
	err = root < 0 ? root : 0;
	for (const char *at = f.bytes; !err && at < f.bytes + f.len;) {
		const char *text = at + strlen(at) + 1;

		err = put_file(root, at, text);
		at = text + strlen(text) + 1;
	}
	if (root < 0) {
		free(f.bytes);
		return err;
	}
	snprintf(root_path, sizeof(root_path), "%s", path);
	shown = f;
	root_fd = root;
	return err;
}

/* What follows `prefix` in the path if that is whole: the end, or a slash; NULL: another path. */
static const char *after(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* The same for a path with the minor number of a virtual GPU's render node behind the prefix. */
static const char *after_minor(const char *path, const char *prefix, unsigned long *minor)
{
	size_t n = strlen(prefix);
	char *end;

	if (strncmp(path, prefix, n) != 0 || path[n] < '0' || path[n] > '9')
		return NULL;
	*minor = strtoul(path + n, &end, 10);
	if ((*end && *end != '/') || *minor < RENDER_FIRST)
		return NULL;
	knobs_init_quietly();
	return *minor - RENDER_FIRST < knobs.devices ? end : NULL;
}

bool tree_has(const char *path, char rest[PATH_MAX])
{
	const char *tail;
	unsigned long minor;

	tail = after(path, "/sys/class/kfd");
	if (!tail)
		tail = after(path, "/sys/devices/virtual/kfd");
	if (tail)
		return snprintf(rest, PATH_MAX, "class%s", tail) < PATH_MAX;
	tail = after_minor(path, "/sys/dev/char/226:", &minor);
	if (!tail)
		tail = after_minor(path, "/sys/class/drm/renderD", &minor);
	if (tail)
		return snprintf(rest, PATH_MAX, "char/226:%lu%s", minor, tail) < PATH_MAX;
	tail = after(path, "/sys/module/amdgpu");
	return tail && snprintf(rest, PATH_MAX, "module/amdgpu%s", tail) < PATH_MAX;
}
