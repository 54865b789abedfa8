/* SPDX-License-Identifier: MIT */
/* kmt_topology.c - the topology: a CPU node and VGPU_DEVICES nodes with a gfx900 each
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

#define NR_CUS 64u
#define SIMDS_PER_CU 4u
#define SHADER_ENGINES 4u
#define FAMILY_AI 141u /* gfx900's family, as HIP's image library numbers them */

bool kmt_topology_is_gpu(HSAuint32 node)
{
	return node >= 1 && node <= knobs.devices;
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
	p->NumFComputeCores =
		NR_CUS * SIMDS_PER_CU; /* CUs a multiple of the shader engines: asserted */
	p->NumMemoryBanks = 3;
	p->NumCaches = 2; /* asserted */
	p->NumIOLinks = (HSAuint32)knobs.devices;
	p->FComputeIdLo = 0x80000000u + gpu * 0x1000;
	p->Capability.ui32.QueueSizePowerOfTwo = 1;
	p->Capability.ui32.DoorbellType =
		2; /* 1 means another protocol of write pointer and doorbell */
	p->MaxWavesPerSIMD = 10;
	p->LDSSizeInKB = 64;
	p->WaveFrontSize = 64;		    /* 0 crashes the runtime */
	p->NumShaderBanks = SHADER_ENGINES; /* divided by */
	p->NumArrays = 1;
	p->NumCUPerArray = NR_CUS / SHADER_ENGINES;
	p->NumSIMDPerCU = SIMDS_PER_CU;
	p->MaxSlotsScratchCU = 32; /* 0: no scratch memory */
	p->EngineId.ui32.uCode = 450;
	p->EngineId.ui32.Major = 9; /* gfx900 */
	p->VendorId = 0x1002;
	p->DeviceId = 0x6860;
	p->LocationId = (gpu + 1) << 8;
	p->LocalMemSize = 0; /* in the memory bank */
	p->MaxEngineClockMhzFCompute = 1500;
	p->MaxEngineClockMhzCCompute = 2000;
	p->DrmRenderMinor = (HSAint32)(128 + gpu);
	p->uCodeEngineVersions.uCodeSDMA = 430;
	p->NumSdmaEngines = 2;
	p->NumSdmaQueuesPerEngine = 2;
	p->NumCpQueues = 24;
	p->UniqueID = 0x7667707500000000ull + gpu;
	p->VGPRSizePerCU = 256 * 1024;
	p->SGPRSizePerCU = 12800;
	set_name(p, "Virtual GPU", "vega10");
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
		tail.kfd_gpu_id = 0x7600u + node;
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

static void bank(HsaMemoryProperties *p, HSA_HEAPTYPE type, uint64_t size, uint64_t base)
{
	p->HeapType = type;
	p->SizeInBytes = size;
	p->VirtualBaseAddress = base;
	p->Width = type == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC ? 2048 : 64;
	p->MemoryClockMax = type == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC ? 945 : 1600;
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

		bank(&banks[0], HSA_HEAPTYPE_SYSTEM, pages * (uint64_t)sysconf(_SC_PAGESIZE), 0);
		nr = nr < 1 ? nr : 1;
	} else {
		/* high halves of the apertures must not be zero, and device code rebuilds them from 16 bits */
		bank(&banks[0], HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, knobs.vram_mb << 20, 0);
		bank(&banks[1], HSA_HEAPTYPE_GPU_LDS, 64 * 1024, 1ull << 48);
		bank(&banks[2], HSA_HEAPTYPE_GPU_SCRATCH, 1ull << 32, 2ull << 48);
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
		cache.CacheSize = node ? (i ? 4096 : 16) : 1024;
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
		link.IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
		link.VersionMajor = 3;
		link.NodeFrom = node;
		link.NodeTo = to;
		link.Weight = node && to ? 40 : 20;
		link.MinimumBandwidth = 312;
		link.MaximumBandwidth = 15754;
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
