/* SPDX-License-Identifier: MIT */
/* kmt_topology.c - the topology: a CPU node and VGPU_DEVICES nodes with a GPU each
 *
 * The runtime depends on many of these values: it asserts them, divides by them or selects its protocol
 * by them. Those are marked.
 *
 * Threads:  any; everything is constant.
 */
#include <string.h>
#include <unistd.h>

#include "kmt.h"
#include "kmt_layout.h"
#include "knobs.h"
#include "gcn/arch.h"

#define SIMDS_PER_CU 4u
#define FAMILY_AI 141u /* of Vega and Aldebaran, as HIP's image library numbers them */

static const struct kmt_gpu_kind kinds[GCN_ARCH_NR] = {
	[GCN_GFX900] = { .name = "vega10",
			 .stepping = 0,
			 .device_id = 0x6860,
			 .nr_cus = 64,
			 .shader_engines = 4,
			 .waves_per_simd = 10,
			 .vgpr_kb = 256,
			 .l2_kb = 4096,
			 .memory_mhz = 945,
			 .memory_bits = 2048,
			 .gpu_mhz = 1500,
			 .ucode = 450,
			 .sdma_ucode = 430 },
	/* as an MI210 has it */
	[GCN_GFX90A] = { .name = "aldebaran",
			 .stepping = 10,
			 .device_id = 0x740f,
			 .nr_cus = 104,
			 .shader_engines = 8,
			 .waves_per_simd = 8,
			 .vgpr_kb = 512,
			 .l2_kb = 8192,
			 .memory_mhz = 1600,
			 .memory_bits = 4096,
			 .gpu_mhz = 1700,
			 .ucode = 78,
			 .sdma_ucode = 8,
			 .sram_ecc = true,
			 .xgmi_sdma_engines = 3,
			 .hive = 0x7667707568697665 },
};

const struct kmt_gpu_kind *kmt_topology_kind(HSAuint32 gpu)
{
	return &kinds[knobs.arch[gpu]];
}

bool kmt_topology_is_gpu(HSAuint32 node)
{
	return node >= 1 && node <= knobs.devices;
}

HSAuint32 kmt_topology_gpu_id(HSAuint32 node)
{
	return kmt_topology_is_gpu(node) ? 0x7600u + node : 0;
}

KMT_API HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *props)
{
	if (!props)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(props, 0, sizeof(*props));
	props->NumNodes = (HSAuint32)knobs.devices + 1;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

static void set_name(HsaNodeProperties *p, const char *marketing, const char *name)
{
	for (size_t i = 0; marketing[i]; i++)
		p->MarketingName[i] = (HSAuint16)marketing[i];
	memcpy(p->AMDName, name, strlen(name));
}

static void cpu_node(HsaNodeProperties *p)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	p->NumCPUCores = cores > 0 ? (HSAuint32)cores : 1;
	p->NumMemoryBanks = 1;
	p->NumCaches = 1; /* asserted */
	p->NumIOLinks = (HSAuint32)knobs.devices;
	p->MaxEngineClockMhzCCompute = 2000;
	set_name(p, "Host processor", "");
}

static void gpu_node(HSAuint32 gpu, HsaNodeProperties *p)
{
	const struct kmt_gpu_kind *k = kmt_topology_kind(gpu);

	p->NumFComputeCores =
		k->nr_cus * SIMDS_PER_CU; /* CUs a multiple of the shader engines: asserted */
	p->NumMemoryBanks = 3;
	p->NumCaches = 2; /* asserted */
	p->NumIOLinks = (HSAuint32)knobs.devices;
	p->FComputeIdLo = 0x80000000u + gpu * 0x1000;
	p->Capability.ui32.QueueSizePowerOfTwo = 1;
	p->Capability.ui32.DoorbellType =
		2; /* 1 means another protocol of write pointer and doorbell */
	p->Capability.ui32.SRAM_EDCSupport = k->sram_ecc; /* of the target id */
	p->MaxWavesPerSIMD = k->waves_per_simd;
	p->LDSSizeInKB = 64;
	p->WaveFrontSize = 64;		       /* 0 crashes the runtime */
	p->NumShaderBanks = k->shader_engines; /* divided by */
	p->NumArrays = 1;
	p->NumCUPerArray = k->nr_cus / k->shader_engines;
	p->NumSIMDPerCU = SIMDS_PER_CU;
	p->MaxSlotsScratchCU = 32; /* 0: no scratch memory */
	p->EngineId.ui32.uCode = k->ucode;
	p->EngineId.ui32.Major = 9;
	p->EngineId.ui32.Stepping = k->stepping;
	p->VendorId = 0x1002;
	p->DeviceId = k->device_id;
	p->LocationId = (gpu + 1) << 8;
	p->LocalMemSize = 0; /* in the memory bank */
	p->MaxEngineClockMhzFCompute = k->gpu_mhz;
	p->MaxEngineClockMhzCCompute = 2000;
	p->DrmRenderMinor = (HSAint32)(128 + gpu);
	p->uCodeEngineVersions.uCodeSDMA = k->sdma_ucode;
	p->NumSdmaEngines = 2;
	p->NumSdmaXgmiEngines = k->xgmi_sdma_engines;
	p->HiveID = k->hive;
	p->NumSdmaQueuesPerEngine = 2;
	p->NumCpQueues = 24;
	p->NumGws = KMT_GWS; /* 0: no cooperative launches */
	p->UniqueID = 0x7667707500000000ull + gpu;
	p->VGPRSizePerCU = k->vgpr_kb * 1024;
	p->SGPRSizePerCU = 12800;
	set_name(p, "Virtual GPU", k->name);
}

KMT_API HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *props)
{
	struct kmt_layout_tail tail = { 0 };
	HsaNodeProperties whole;

	if (!props || node > knobs.devices)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(&whole, 0, sizeof(whole));
	if (node) {
		gpu_node(node - 1, &whole);
		tail.nr_xcc = 1; /* divided by */
		tail.kfd_gpu_id = kmt_topology_gpu_id(node);
		tail.family_id = FAMILY_AI;
	} else {
		cpu_node(&whole);
	}
	kmt_layout_node(&whole, &tail, node ? knobs.clock_hz / 1000 : 0, props);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtGetNodeWallclockFrequency(HSAuint32 node, HSAuint64 *hz)
{
	if (!hz || node > knobs.devices)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	*hz = node ? knobs.clock_hz : 0;
	return HSAKMT_STATUS_SUCCESS;
}

static void bank(HsaMemoryProperties *p, HSA_HEAPTYPE type, uint64_t size, uint64_t base,
		 const struct kmt_gpu_kind *k)
{
	p->HeapType = type;
	p->SizeInBytes = size;
	p->VirtualBaseAddress = base;
	p->Width = type == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC ? k->memory_bits : 64;
	p->MemoryClockMax = type == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC ? k->memory_mhz : 1600;
}

KMT_API HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 nr,
						    HsaMemoryProperties *props)
{
	HsaMemoryProperties banks[3];

	if (!props || node > knobs.devices)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(banks, 0, sizeof(banks));
	if (!node) {
		uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);

		bank(&banks[0], HSA_HEAPTYPE_SYSTEM, pages * (uint64_t)sysconf(_SC_PAGESIZE), 0,
		     NULL);
		nr = nr < 1 ? nr : 1;
	} else {
		const struct kmt_gpu_kind *k = kmt_topology_kind(node - 1);

		/* high halves of the apertures must not be zero, and device code rebuilds them from 16 bits */
		bank(&banks[0], HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, knobs.vram_mb << 20, 0, k);
		bank(&banks[1], HSA_HEAPTYPE_GPU_LDS, 64 * 1024, 1ull << 48, k);
		bank(&banks[2], HSA_HEAPTYPE_GPU_SCRATCH, 1ull << 32, 2ull << 48, k);
		nr = nr < 3 ? nr : 3;
	}
	memcpy(props, banks, nr * sizeof(*props));
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor,
						   HSAuint32 nr, HsaCacheProperties *props)
{
	if (!props || node > knobs.devices)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	for (HSAuint32 i = 0; i < nr; i++) {
		HsaCacheProperties cache = { 0 };

		cache.ProcessorIdLow = processor;
		cache.CacheLevel = i + 1; /* 1 to 4: an index */
		cache.CacheSize = !node ? 1024 : i ? kmt_topology_kind(node - 1)->l2_kb : 16;
		cache.CacheLineSize = 64;
		cache.CacheAssociativity = 16;
		cache.CacheType.ui32.Data = 1;
		if (node)
			cache.CacheType.ui32.HSACU = 1; /* asserted */
		else
			cache.CacheType.ui32.CPU = 1;
		kmt_layout_cache(&cache, props, i);
	}
	return HSAKMT_STATUS_SUCCESS;
}

/* Two GPUs of one hive have links of their own; the others meet at the host's PCIe. */
static void link_to(HSAuint32 node, HSAuint32 to, HsaIoLinkProperties *link)
{
	HSAuint64 hive = node && to ? kmt_topology_kind(node - 1)->hive : 0;
	bool xgmi = hive && kmt_topology_kind(to - 1)->hive == hive;

	link->IoLinkType = xgmi ? HSA_IOLINK_TYPE_XGMI : HSA_IOLINKTYPE_PCIEXPRESS;
	link->VersionMajor = xgmi ? 0 : 3;
	link->NodeFrom = node;
	link->NodeTo = to;
	link->Weight = xgmi ? 15 : node && to ? 40 : 20;
	link->MinimumBandwidth = xgmi ? 50000 : 312;
	link->MaximumBandwidth = xgmi ? 100000 : 15754;
}

KMT_API HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 nr,
						    HsaIoLinkProperties *props)
{
	HSAuint32 to = 0;

	if (!props || node > knobs.devices)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	for (HSAuint32 i = 0; i < nr; i++, to++) {
		HsaIoLinkProperties link = { 0 };

		if (to == node)
			to++;
		link_to(node, to, &link);
		if (knobs.no_atomics) {
			link.Flags.ui32.Override = 1;
			link.Flags.ui32.NoAtomics32bit = 1;
			link.Flags.ui32.NoAtomics64bit = 1;
		}
		kmt_layout_io_link(&link, props, i);
	}
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig *config)
{
	if (!config || !kmt_topology_is_gpu(node))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (config->TileConfig)
		memset(config->TileConfig, 0, config->NumTileConfigs * sizeof(*config->TileConfig));
	if (config->MacroTileConfig)
		memset(config->MacroTileConfig, 0,
		       config->NumMacroTileConfigs * sizeof(*config->MacroTileConfig));
	config->GbAddrConfig = 0x2a114042;
	config->NumBanks = 16;
	config->NumRanks = 1;
	return HSAKMT_STATUS_SUCCESS;
}
