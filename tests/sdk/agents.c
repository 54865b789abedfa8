/* SPDX-License-Identifier: MIT */
/* agents.c - prints the agents of rocprofiler-sdk: a line "agent N" for each, then one for each
 * field, cache, link and bank
 *
 * Built for each ABI. Asks twice, and prints what is not as it should be.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"

#define ERROR(name) ROCPROFILER_STATUS_ERROR_##name
#define ABI ROCPROFILER_SDK_ABI

static int nr_wrong;
static const void *first;

#define SHOW(name) printf(#name " %llu\n", (unsigned long long)a->name)
#define VALUE(name) printf(#name " %llu\n", (unsigned long long)a->name.Value)
#define WORD(name) printf(#name " %s\n", a->name ? a->name : "(NULL)")

static void show_numbers(const rocprofiler_agent_v0_t *a)
{
	SHOW(cpu_cores_count);
	SHOW(simd_count);
	SHOW(cpu_core_id_base);
	SHOW(simd_id_base);
	SHOW(max_waves_per_simd);
	SHOW(lds_size_in_kb);
	SHOW(gds_size_in_kb);
	SHOW(num_gws);
	SHOW(wave_front_size);
	SHOW(num_xcc);
	SHOW(family_id);
	SHOW(cu_count);
	SHOW(array_count);
	SHOW(num_shader_banks);
	SHOW(simd_arrays_per_engine);
	SHOW(cu_per_simd_array);
	SHOW(simd_per_cu);
	SHOW(max_slots_scratch_cu);
	SHOW(gfx_target_version);
	SHOW(vendor_id);
	SHOW(device_id);
	SHOW(location_id);
	SHOW(domain);
	SHOW(drm_render_minor);
	SHOW(num_sdma_engines);
	SHOW(num_sdma_xgmi_engines);
	SHOW(num_sdma_queues_per_engine);
	SHOW(num_cp_queues);
	SHOW(max_engine_clk_ccompute);
	SHOW(max_engine_clk_fcompute);
	VALUE(sdma_fw_version);
	VALUE(fw_version);
	VALUE(capability);
	SHOW(cu_per_engine);
	SHOW(max_waves_per_cu);
	SHOW(workgroup_max_size);
	SHOW(grid_max_size);
	SHOW(local_mem_size);
	SHOW(hive_id);
	SHOW(gpu_id);
	SHOW(node_id);
	SHOW(logical_node_id);
	SHOW(logical_node_type_id);
}

static void show_parts(const rocprofiler_agent_v0_t *a)
{
	for (uint32_t i = 0; i < a->mem_banks_count; i++)
		printf("bank %u %llu %u %u %u\n", (unsigned)a->mem_banks[i].heap_type,
		       (unsigned long long)a->mem_banks[i].size_in_bytes,
		       (unsigned)a->mem_banks[i].flags.MemoryProperty, a->mem_banks[i].width,
		       a->mem_banks[i].mem_clk_max);
	for (uint32_t i = 0; i < a->caches_count; i++)
		printf("cache %llu %u %llu %u %u %u %u %u\n",
		       (unsigned long long)a->caches[i].processor_id_low, a->caches[i].level,
		       (unsigned long long)a->caches[i].size, a->caches[i].cache_line_size,
		       a->caches[i].cache_lines_per_tag, a->caches[i].association,
		       a->caches[i].latency, (unsigned)a->caches[i].type.Value);
	for (uint32_t i = 0; i < a->io_links_count; i++)
		printf("link %u %u %u %u %u %u %u %u %u\n", (unsigned)a->io_links[i].type,
		       a->io_links[i].version_major, a->io_links[i].node_from,
		       a->io_links[i].node_to, a->io_links[i].weight, a->io_links[i].max_latency,
		       a->io_links[i].max_bandwidth, a->io_links[i].recommended_transfer_size,
		       (unsigned)a->io_links[i].flags.LinkProperty);
}

static void show(const rocprofiler_agent_v0_t *a)
{
	printf("agent %d\n", a->node_id);
	printf("type %s\n", a->type == ROCPROFILER_AGENT_TYPE_CPU ? "CPU" :
			    a->type == ROCPROFILER_AGENT_TYPE_GPU ? "GPU" :
								    "none");
	IS(a->size, sizeof(*a));
	IS(a->id.handle, 2048 + a->node_id);
	printf("workgroup_max_dim %u %u %u\n", a->workgroup_max_dim.x, a->workgroup_max_dim.y,
	       a->workgroup_max_dim.z);
	printf("grid_max_dim %u %u %u\n", a->grid_max_dim.x, a->grid_max_dim.y, a->grid_max_dim.z);
	WORD(name);
	WORD(vendor_name);
	WORD(product_name);
	WORD(model_name);
	show_numbers(a);
	show_parts(a);
#if ABI > 0
	printf("uuid ");
	for (size_t i = 0; i < sizeof(a->uuid.bytes); i++)
		printf("%02x", a->uuid.bytes[i]);
	printf("\nvisible %d %d %d %d\n", (int)a->runtime_visibility.hsa,
	       (int)a->runtime_visibility.hip, (int)a->runtime_visibility.rccl,
	       (int)a->runtime_visibility.rocdecode);
#endif
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **agents,
				      size_t nr, void *data)
{
	IS(version, ROCPROFILER_AGENT_INFO_VERSION_0);
	if (!data) {
		for (size_t i = 0; i < nr; i++)
			show(agents[i]);
		printf("agents %zu\n", nr);
		first = nr ? agents[0] : NULL;
	} else {
		/* the same ones */
		IS((nr ? agents[0] : NULL) == first, 1);
	}
	return data ? ERROR(AGENT_NOT_FOUND) : ROCPROFILER_STATUS_SUCCESS;
}

#define QUERY rocprofiler_query_available_agents
#define SIZE sizeof(rocprofiler_agent_t)

int main(void)
{
	IS(QUERY(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents, SIZE, NULL),
	   ROCPROFILER_STATUS_SUCCESS);
	/* what the callback returns */
	IS(QUERY(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents, SIZE - 100, &nr_wrong),
	   ERROR(AGENT_NOT_FOUND));
	IS(QUERY(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents, SIZE + 8, NULL),
	   ERROR(INCOMPATIBLE_ABI));
	IS(QUERY(ROCPROFILER_AGENT_INFO_VERSION_NONE, on_agents, SIZE, NULL),
	   ERROR(INVALID_ARGUMENT));
	IS(QUERY(ROCPROFILER_AGENT_INFO_VERSION_LAST, on_agents, SIZE, NULL),
	   ERROR(INVALID_ARGUMENT));
	IS(QUERY(ROCPROFILER_AGENT_INFO_VERSION_0, NULL, SIZE, NULL), ERROR(INVALID_ARGUMENT));
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
