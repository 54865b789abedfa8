/* SPDX-License-Identifier: MIT */
/* tree.c - the kernel driver's files in /sys that describe the virtual GPUs
 *
 * The names and units are those of the Linux kernel's amdkfd: a line "name number" for each property. All values come from
 * kmt_topology.c, so that a program sees the same here and in the runtime.
 *
 * The folder is shared by the user's processes with the same settings, each of which holds a lock on it (flock, shared). The one that
 * ends last removes it. What a process left that was killed is removed when the next folder is made.
 *
 * Owns:     a descriptor of the folder, and its files. A file that exists with its size is right: names and sizes follow from the content.
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

#include "../kmt.h"
#include "../knobs.h"

#define BANKS_MAX 4
/* bits of a node's capabilities: user memory is registered at its own address; queue errors are reported as exceptions */
#define CAPABILITY_SVM 0x08000000u
#define CAPABILITY_TRAPS 0x20000000u

#define RENDER_FIRST 128u

#define LINKS_MAX (KNOBS_DEVICES_MAX + 1)

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

static uint32_t target_version(const HsaNodeProperties *p)
{
	return p->EngineId.ui32.Major * 10000u + p->EngineId.ui32.Minor * 100u +
	       p->EngineId.ui32.Stepping;
}

/* The node's banks that the driver has: LDS and scratch memory are the thunk's own. Returns their number. */
static unsigned int list_banks(unsigned int node, unsigned int nr,
			       HsaMemoryProperties banks[BANKS_MAX])
{
	unsigned int nr_listed = 0;

	if (nr > BANKS_MAX || hsaKmtGetNodeMemoryProperties(node, nr, banks))
		return 0;
	for (unsigned int i = 0; i < nr; i++)
		if (banks[i].HeapType != HSA_HEAPTYPE_GPU_LDS &&
		    banks[i].HeapType != HSA_HEAPTYPE_GPU_SCRATCH)
			banks[nr_listed++] = banks[i];
	return nr_listed;
}

static void put_node(struct files *f, unsigned int node, const HsaNodeProperties *p)
{
	HsaMemoryProperties banks[BANKS_MAX];

	begin_file(f, "class/kfd/topology/nodes/%u/gpu_id", node);
	fprintf(f->out, "%u\n", kmt_topology_gpu_id(node));
	end_file(f);
	begin_file(f, "class/kfd/topology/nodes/%u/name", node);
	fprintf(f->out, "%s\n", (const char *)p->AMDName);
	end_file(f);
	begin_file(f, "class/kfd/topology/nodes/%u/properties", node);
	line(f, "cpu_cores_count", p->NumCPUCores);
	line(f, "simd_count", p->NumFComputeCores);
	line(f, "mem_banks_count", list_banks(node, p->NumMemoryBanks, banks));
	line(f, "caches_count", p->NumCaches);
	line(f, "io_links_count", p->NumIOLinks);
	line(f, "p2p_links_count", 0);
	line(f, "cpu_core_id_base", p->CComputeIdLo);
	line(f, "simd_id_base", p->FComputeIdLo);
	line(f, "max_waves_per_simd", p->MaxWavesPerSIMD);
	line(f, "lds_size_in_kb", p->LDSSizeInKB);
	line(f, "gds_size_in_kb", p->GDSSizeInKB);
	line(f, "num_gws", p->NumGws);
	line(f, "wave_front_size", p->WaveFrontSize);
	line(f, "array_count", (uint64_t)p->NumShaderBanks * p->NumArrays);
	line(f, "simd_arrays_per_engine", p->NumArrays);
	line(f, "cu_per_simd_array", p->NumCUPerArray);
	line(f, "simd_per_cu", p->NumSIMDPerCU);
	line(f, "max_slots_scratch_cu", p->MaxSlotsScratchCU);
	line(f, "gfx_target_version", target_version(p));
	line(f, "vendor_id", p->VendorId);
	line(f, "device_id", p->DeviceId);
	line(f, "location_id", p->LocationId);
	line(f, "domain", p->Domain);
	line(f, "drm_render_minor", (uint64_t)p->DrmRenderMinor);
	line(f, "hive_id", p->HiveID);
	line(f, "num_sdma_engines", p->NumSdmaEngines);
	line(f, "num_sdma_xgmi_engines", p->NumSdmaXgmiEngines);
	line(f, "num_sdma_queues_per_engine", p->NumSdmaQueuesPerEngine);
	line(f, "num_cp_queues", p->NumCpQueues);
	line(f, "max_engine_clk_ccompute", p->MaxEngineClockMhzCCompute);
	if (kmt_topology_is_gpu(node)) {
		line(f, "max_engine_clk_fcompute", p->MaxEngineClockMhzFCompute);
		line(f, "local_mem_size", p->LocalMemSize);
		line(f, "fw_version", p->EngineId.ui32.uCode);
		line(f, "capability",
		     p->Capability.Value | CAPABILITY_SVM |
			     (knobs.exceptions ? CAPABILITY_TRAPS : 0));
		line(f, "debug_prop", 0);
		line(f, "sdma_fw_version", p->uCodeEngineVersions.uCodeSDMA);
		line(f, "unique_id", p->UniqueID);
		line(f, "num_xcc", 1);
	}
	end_file(f);
}

static void put_banks(struct files *f, unsigned int node, unsigned int nr)
{
	HsaMemoryProperties banks[BANKS_MAX];

	nr = list_banks(node, nr, banks);
	for (unsigned int i = 0; i < nr; i++) {
		begin_file(f, "class/kfd/topology/nodes/%u/mem_banks/%u/properties", node, i);
		line(f, "heap_type", banks[i].HeapType);
		line(f, "size_in_bytes", banks[i].SizeInBytes);
		line(f, "flags", banks[i].Flags.MemoryProperty);
		line(f, "width", banks[i].Width);
		line(f, "mem_clk_max", banks[i].MemoryClockMax);
		end_file(f);
	}
}

static void put_caches(struct files *f, unsigned int node, unsigned int processor, unsigned int nr)
{
	HsaCacheProperties caches[4];

	if (nr > 4 || hsaKmtGetNodeCacheProperties(node, processor, nr, caches))
		return;
	for (unsigned int i = 0; i < nr; i++) {
		begin_file(f, "class/kfd/topology/nodes/%u/caches/%u/properties", node, i);
		line(f, "processor_id_low", caches[i].ProcessorIdLow);
		line(f, "level", caches[i].CacheLevel);
		line(f, "size", caches[i].CacheSize);
		line(f, "cache_line_size", caches[i].CacheLineSize);
		line(f, "cache_lines_per_tag", caches[i].CacheLinesPerTag);
		line(f, "association", caches[i].CacheAssociativity);
		line(f, "latency", caches[i].CacheLatency);
		line(f, "type", caches[i].CacheType.Value);
		end_file(f);
	}
}

static void put_links(struct files *f, unsigned int node, unsigned int nr)
{
	HsaIoLinkProperties links[LINKS_MAX];

	if (nr > LINKS_MAX || hsaKmtGetNodeIoLinkProperties(node, nr, links))
		return;
	for (unsigned int i = 0; i < nr; i++) {
		const HsaIoLinkProperties *l = &links[i];

		begin_file(f, "class/kfd/topology/nodes/%u/io_links/%u/properties", node, i);
		line(f, "type", l->IoLinkType);
		line(f, "version_major", l->VersionMajor);
		line(f, "version_minor", l->VersionMinor);
		line(f, "node_from", l->NodeFrom);
		line(f, "node_to", l->NodeTo);
		line(f, "weight", l->Weight);
		line(f, "min_latency", l->MinimumLatency);
		line(f, "max_latency", l->MaximumLatency);
		line(f, "min_bandwidth", l->MinimumBandwidth);
		line(f, "max_bandwidth", l->MaximumBandwidth);
		line(f, "recommended_transfer_size", l->RecTransferSize);
		line(f, "flags", l->Flags.LinkProperty | 1u); /* bit 0: the link is enabled */
		end_file(f);
	}
}

static void put_value(struct files *f, unsigned int minor, const char *name, unsigned int value)
{
	begin_file(f, "char/226:%u/device/%s", minor, name);
	fprintf(f->out, "0x%04x\n", value);
	end_file(f);
}

/* What is known of a GPU by its render node. */
static void put_render(struct files *f, unsigned int gpu, const HsaNodeProperties *p)
{
	unsigned int minor = RENDER_FIRST + gpu;

	begin_file(f, "char/226:%u/device/drm/card%u/dev", minor, gpu);
	fprintf(f->out, "226:%u\n", gpu);
	end_file(f);
	begin_file(f, "char/226:%u/device/drm/renderD%u/dev", minor, minor);
	fprintf(f->out, "226:%u\n", minor);
	end_file(f);
	begin_file(f, "char/226:%u/device/uevent", minor);
	fprintf(f->out,
		"DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:%04X\nPCI_SLOT_NAME=0000:%02x:00.0\n",
		p->DeviceId, p->DeviceId, gpu + 1);
	end_file(f);
	put_value(f, minor, "vendor", p->VendorId);
	put_value(f, minor, "device", p->DeviceId);
	put_value(f, minor, "subsystem_vendor", p->VendorId);
	put_value(f, minor, "subsystem_device", p->DeviceId);
	put_value(f, minor, "revision", 0);
}

/* 0, or -ENOMEM. */
static int describe(struct files *f)
{
	HsaSystemProperties machine;
	HsaNodeProperties p;

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
	hsaKmtAcquireSystemProperties(&machine);
	for (unsigned int node = 0; node < machine.NumNodes; node++) {
		if (hsaKmtGetNodeProperties(node, &p))
			continue;
		put_node(f, node, &p);
		put_banks(f, node, p.NumMemoryBanks);
		put_caches(f, node, p.FComputeIdLo, p.NumCaches);
		put_links(f, node, p.NumIOLinks);
		if (kmt_topology_is_gpu(node))
			put_render(f, node - 1, &p);
	}
	return fclose(f->out) ? -ENOMEM : 0;
}

static uint64_t checksum(const struct files *f)
{
	uint64_t sum = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < f->len; i++)
		sum = (sum ^ (unsigned char)f->bytes[i]) * 0x100000001b3u;
	return sum;
}

/* Kept until the process ends; -1: no folder was made. Under files.c's `once`, constant afterwards. */
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

/* A forked child holds the folder, too, by the same description: its lock stays until both have closed it. */
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
