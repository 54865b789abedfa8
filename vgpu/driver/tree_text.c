/* SPDX-License-Identifier: MIT */
/* tree_text.c - what is in the kernel driver's files in /sys that describe the virtual GPUs
 *
 * The names and units are those of the Linux kernel's amdkfd and amdgpu: in a topology a line "name
 * number" for each property. Node 0 is the CPU, the GPUs follow. Runtimes depend on many of the
 * values: they assert them, divide by them or select their protocol by them; those are marked.
 *
 * Threads:  any; the settings are read.
 */
#include "tree_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

#define UNIQUE_ID 0x7667707500000000ull

enum { HEAP_SYSTEM = 0, HEAP_VRAM = 1 };
enum { LINK_PCIE = 2, LINK_XGMI = 11 };
enum { CACHE_DATA = 1, CACHE_CPU = 4, CACHE_GPU = 8 };

static void begin_file(struct tree_text *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The text follows by fprintf(f->out). */
static void begin_file(struct tree_text *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(f->out, format, args);
	va_end(args);
	fputc('\0', f->out);
}

static void end_file(struct tree_text *f)
{
	fputc('\0', f->out);
}

static void line(struct tree_text *f, const char *name, uint64_t value)
{
	fprintf(f->out, "%s %llu\n", name, (unsigned long long)value);
}

#define NODE "class/kfd/topology/nodes/%u/"

static void put_cpu(struct tree_text *f)
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

/* Two GPUs of one hive have links of their own; the others meet at the host's PCIe. */
static bool is_hive(unsigned int gpu, unsigned int peer)
{
	uint64_t hive = gpu_kind(gpu)->hive;

	return hive && gpu_kind(peer)->hive == hive;
}

static unsigned int nr_peers(unsigned int gpu, bool in_hive)
{
	unsigned int nr = 0;

	for (unsigned int peer = 0; peer < knobs.devices; peer++)
		nr += peer != gpu && is_hive(gpu, peer) == in_hive;
	return nr;
}

static void put_gpu(struct tree_text *f, unsigned int gpu)
{
	const struct gpu_kind *k = gpu_kind(gpu);

	begin_file(f, NODE "properties", gpu + 1);
	line(f, "cpu_cores_count", 0);
	line(f, "simd_count", (uint64_t)k->nr_cus * GPU_SIMDS_PER_CU);
	line(f, "mem_banks_count", 1);		   /* LDS and scratch memory are the thunk's own */
	line(f, "caches_count", k->l3_kb ? 3 : 2); /* asserted */
	line(f, "io_links_count", 1 + nr_peers(gpu, true));
	line(f, "p2p_links_count", nr_peers(gpu, false));
	line(f, "cpu_core_id_base", 0);
	line(f, "simd_id_base", 0x80000000u + gpu * 0x1000);
	line(f, "max_waves_per_simd", k->waves_per_simd);
	line(f, "lds_size_in_kb", GPU_LDS_KB);
	line(f, "gds_size_in_kb", 0);
	line(f, "num_gws", GPU_GWS);		   /* 0: no cooperative launches */
	line(f, "wave_front_size", 64);		   /* 0 crashes a runtime */
	line(f, "array_count", k->shader_engines); /* divided by */
	line(f, "simd_arrays_per_engine", 1);
	line(f, "cu_per_simd_array", k->cus_per_array);
	line(f, "simd_per_cu", GPU_SIMDS_PER_CU);
	line(f, "max_slots_scratch_cu", 32); /* 0: no scratch memory */
	line(f, "gfx_target_version", 90000 + k->stepping);
	line(f, "vendor_id", GPU_VENDOR);
	line(f, "device_id", k->device_id);
	line(f, "location_id", (gpu + 1) << 8);
	line(f, "domain", 0);
	line(f, "drm_render_minor", TREE_RENDER_FIRST + gpu);
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
	line(f, "unique_id", UNIQUE_ID + gpu);
	line(f, "num_xcc", k->nr_xccs); /* divided by */
	end_file(f);
}

static void put_bank(struct tree_text *f, unsigned int node)
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

/* Of a GPU at `level`, from 1 on. */
static uint32_t cache_kb(const struct gpu_kind *k, unsigned int level)
{
	return level == 1 ? k->l1_kb : level == 2 ? k->l2_kb : k->l3_kb;
}

static void put_cache(struct tree_text *f, unsigned int node, unsigned int level)
{
	const struct gpu_kind *k = node ? gpu_kind(node - 1) : NULL;

	begin_file(f, NODE "caches/%u/properties", node, level - 1);
	line(f, "processor_id_low", node ? 0x80000000u + (node - 1) * 0x1000 : 0);
	line(f, "level", level);
	line(f, "size", k ? cache_kb(k, level) : 1024);
	line(f, "cache_line_size", k ? k->cache_line : 64);
	line(f, "cache_lines_per_tag", 0);
	line(f, "association", 16);
	line(f, "latency", 0);
	line(f, "type", CACHE_DATA | (node ? CACHE_GPU : CACHE_CPU)); /* asserted of a GPU's */
	end_file(f);
}

/* As the kernel's: links of the hardware are io_links, a way from GPU to GPU by the host's PCIe is
 * in p2p_links. librocm_smi64 ends the process at an io_link of two GPUs that is not XGMI. */
static void put_link(struct tree_text *f, unsigned int node, unsigned int to, unsigned int number)
{
	bool is_peer = node && to, xgmi = is_peer && is_hive(node - 1, to - 1);

	begin_file(f, NODE "%s/%u/properties", node, is_peer && !xgmi ? "p2p_links" : "io_links",
		   number);
	line(f, "type", xgmi ? LINK_XGMI : LINK_PCIE);
	line(f, "version_major", xgmi ? 0 : 3);
	line(f, "version_minor", 0);
	line(f, "node_from", node);
	line(f, "node_to", to);
	line(f, "weight", xgmi ? 15 : is_peer ? 40 : 20);
	line(f, "min_latency", 0);
	line(f, "max_latency", 0);
	line(f, "min_bandwidth", xgmi ? 50000 : 312);
	line(f, "max_bandwidth", xgmi ? 100000 : 15754);
	line(f, "recommended_transfer_size", 0);
	line(f, "flags", LINK_ENABLED | (knobs.no_atomics ? LINK_NO_ATOMICS : 0));
	end_file(f);
}

static void put_node(struct tree_text *f, unsigned int node)
{
	unsigned int nr_io = 0, nr_p2p = 0;

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
	if (node && gpu_kind(node - 1)->l3_kb)
		put_cache(f, node, 3);
	for (unsigned int to = 0; to <= knobs.devices; to++) {
		bool is_p2p = node && to && !is_hive(node - 1, to - 1);

		if (to != node)
			put_link(f, node, to, is_p2p ? nr_p2p++ : nr_io++);
	}
}

/* A GPU is a PCI device, on a bus of its own. */
#define PCI "devices/pci0000:00/0000:%02x:00.0/"

static void put_value(struct tree_text *f, unsigned int gpu, const char *name, const char *format,
		      ...) __attribute__((format(printf, 4, 5)));

static void put_value(struct tree_text *f, unsigned int gpu, const char *name, const char *format,
		      ...)
{
	va_list args;

	begin_file(f, PCI "%s", gpu + 1, name);
	va_start(args, format);
	vfprintf(f->out, format, args);
	va_end(args);
	fputc('\n', f->out);
	end_file(f);
}

/* A symbolic link of the device's folder for graphics, and one from there back. */
static void put_drm(struct tree_text *f, unsigned int gpu, const char *name, unsigned int minor)
{
	const unsigned int bus = gpu + 1;

	begin_file(f, PCI "drm/%s/dev", bus, name);
	fprintf(f->out, "226:%u\n", minor);
	end_file(f);
	begin_file(f, "@" PCI "drm/%s/device", bus, name);
	fprintf(f->out, "../../../0000:%02x:00.0", bus);
	end_file(f);
	begin_file(f, "@drm/%s", name);
	fprintf(f->out, "../" PCI "drm/%s", bus, name);
	end_file(f);
	begin_file(f, "@dev/char/226:%u", minor);
	fprintf(f->out, "../../" PCI "drm/%s", bus, name);
	end_file(f);
}

/* What tools of system management read. There is no model of heat: the temperature is constant. The
 * memory in use is 0 in the file, and that of the process when it opens it (files.c). */
static void put_state(struct tree_text *f, unsigned int gpu)
{
	const struct gpu_kind *k = gpu_kind(gpu);
	const unsigned long long vram = (unsigned long long)knobs.vram_mb << 20;
	char name[64];

	snprintf(name, sizeof(name), "hwmon/hwmon%u/name", gpu);
	put_value(f, gpu, name, "amdgpu");
	snprintf(name, sizeof(name), "hwmon/hwmon%u/temp1_input", gpu);
	put_value(f, gpu, name, "%u", TREE_MILLIDEGREES);
	snprintf(name, sizeof(name), "hwmon/hwmon%u/temp1_label", gpu);
	put_value(f, gpu, name, "edge");
	put_value(f, gpu, "mem_info_vram_total", "%llu", vram);
	put_value(f, gpu, "mem_info_vis_vram_total", "%llu", vram);
	put_value(f, gpu, TREE_VRAM_USED, "0");
	put_value(f, gpu, TREE_VIS_VRAM_USED, "0");
	put_value(f, gpu, "power/runtime_status", "active");
	put_value(f, gpu, "power_dpm_force_performance_level", "auto");
	put_value(f, gpu, "pp_dpm_sclk", "0: %uMhz *", k->gpu_mhz);
	put_value(f, gpu, "pp_dpm_mclk", "0: %uMhz *", k->memory_mhz);
	put_value(f, gpu, "unique_id", "%016llx", UNIQUE_ID + gpu);
}

static void put_pci(struct tree_text *f, unsigned int gpu)
{
	const unsigned int id = gpu_kind(gpu)->device_id;
	char name[32];

	snprintf(name, sizeof(name), "card%u", gpu);
	put_drm(f, gpu, name, gpu);
	snprintf(name, sizeof(name), "renderD%u", TREE_RENDER_FIRST + gpu);
	put_drm(f, gpu, name, TREE_RENDER_FIRST + gpu);
	put_value(
		f, gpu, "uevent",
		"DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:%04X\nPCI_SLOT_NAME=0000:%02x:00.0",
		id, id, gpu + 1);
	put_value(f, gpu, "vendor", "0x%04x", GPU_VENDOR);
	put_value(f, gpu, "device", "0x%04x", id);
	put_value(f, gpu, "subsystem_vendor", "0x%04x", GPU_VENDOR);
	put_value(f, gpu, "subsystem_device", "0x%04x", id);
	put_value(f, gpu, "revision", "0x%04x", 0u);
	put_state(f, gpu);
}

int tree_describe(struct tree_text *f)
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
	/* modules that use it: libkmod asks */
	begin_file(f, "module/amdgpu/holders/");
	end_file(f);
	for (unsigned int node = 0; node <= knobs.devices; node++)
		put_node(f, node);
	for (unsigned int gpu = 0; gpu < knobs.devices; gpu++)
		put_pci(f, gpu);
	return fclose(f->out) ? -ENOMEM : 0;
}
