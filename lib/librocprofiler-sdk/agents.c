/* SPDX-License-Identifier: MIT */
/* agents.c - librocprofiler-sdk: the machine's processors
 *
 * From the driver's files, as soon as a tool asks; where there are none, from HSA's runtime once it
 * is up. Ids are nodes of the driver, so that code objects and operations have the same.
 *
 * Owns:     the agents, read once, never freed.
 * Threads:  any.
 * Fails:    without files and runtime there are no agents yet; a later query looks again.
 */
#include "agents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes"
#define MAX_NODES 256u

struct list {
	uint32_t nr;
	struct agent_node nodes[MAX_NODES];
	const void *pointers[MAX_NODES];
};

static _Atomic(struct list *) the_list;

/* A line of /proc/cpuinfo, "name\t: value". NULL: it is another one. */
static char *value_of(char *line, const char *name)
{
	size_t length = strlen(name);
	char *value = strstr(line, ": ");

	if (strncmp(line, name, length) != 0 || !strchr("\t :", line[length]) || !value)
		return NULL;
	value[2 + strcspn(value + 2, "\n")] = '\0';
	return value + 2;
}

/* The model of the processor whose APIC has this number; the last one's if none has. */
static void find_cpu_model(uint32_t apic, char *out, size_t size)
{
	char line[1024], *value;
	FILE *f;

	sys_cancel_off();
	f = fopen("/proc/cpuinfo", "re");
	while (f && fgets(line, sizeof(line), f)) {
		value = value_of(line, "model name");
		if (value)
			snprintf(out, size, "%.*s", (int)size - 1, value);
		value = value_of(line, "apicid");
		if (value && strtoul(value, NULL, 10) == apic)
			break;
	}
	if (f)
		fclose(f);
	sys_cancel_on();
}

static void name_gpu(struct agent_node *n)
{
	uint32_t v = n->agent.gfx_target_version;

	snprintf(n->name, sizeof(n->name), "gfx%u%u%x", v / 10000, v / 100 % 100, v % 100);
	snprintf(n->vendor, sizeof(n->vendor), "AMD");
}

static void name_cpu(struct agent_node *n)
{
	find_cpu_model(n->agent.cpu_core_id_base, n->name, sizeof(n->name));
	find_cpu_model(n->agent.cpu_core_id_base, n->product, sizeof(n->product));
	snprintf(n->vendor, sizeof(n->vendor), "CPU");
}

/* Memory of the GPU's own; newer drivers say so in its banks alone. */
static uint64_t local_memory(const rocprofiler_agent_v0_t *a)
{
	uint64_t size = a->local_mem_size;

	/* HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, _PRIVATE */
	for (uint32_t i = 0; !a->local_mem_size && i < a->mem_banks_count; i++)
		if ((uint32_t)a->mem_banks[i].heap_type == 1 ||
		    (uint32_t)a->mem_banks[i].heap_type == 2)
			size += a->mem_banks[i].size_in_bytes;
	return size;
}

static void derive_gpu(rocprofiler_agent_v0_t *a)
{
	a->cu_count = a->simd_per_cu ? a->simd_count / a->simd_per_cu : 0;
	if (a->simd_arrays_per_engine)
		a->num_shader_banks = a->array_count / a->simd_arrays_per_engine;
	if (a->num_shader_banks)
		a->cu_per_engine = a->cu_count / a->num_shader_banks;
	a->max_waves_per_cu = a->max_waves_per_simd * a->simd_per_cu;
	/* flags are in the higher bits */
	a->fw_version.Value &= 0x3ff;
	a->sdma_fw_version.Value &= 0x3ff;
}

#if ROCPROFILER_SDK_ABI > 0
/* Whether the variable, a list of numbers or of "GPU-" with an id, names the GPU. An unset one
 * names all. */
static bool is_listed(const char *variable, uint32_t index, uint64_t unique_id)
{
	const char *text = getenv(variable);
	char id[24];

	snprintf(id, sizeof(id), "GPU-%016llx", (unsigned long long)unique_id);
	while (text && *text) {
		char *end;
		unsigned long number = strtoul(text, &end, 10);

		if (end != text ? number == index :
				  unique_id && strncasecmp(text, id, strlen(id)) == 0)
			return true;
		text += strcspn(text, ",");
		text += *text == ',';
	}
	return !getenv(variable);
}

/* HIP counts those that HSA shows. */
static void find_visibility(struct agent_node *n, uint32_t index, uint32_t *nr_shown)
{
	rocprofiler_agent_v0_t *a = &n->agent;
	uint32_t shown;

	if (!is_listed("ROCR_VISIBLE_DEVICES", index, n->unique_id))
		return;
	shown = (*nr_shown)++;
	a->runtime_visibility.hsa = 1;
	if (!is_listed("HIP_VISIBLE_DEVICES", shown, n->unique_id) ||
	    !is_listed("CUDA_VISIBLE_DEVICES", shown, n->unique_id) ||
	    !is_listed("GPU_DEVICE_ORDINAL", shown, n->unique_id))
		return;
	a->runtime_visibility.hip = 1;
	a->runtime_visibility.rccl = 1;
	a->runtime_visibility.rocdecode = 1;
}

/* As hipDeviceGetUuid() has it. */
static void fill_uuid(struct agent_node *n)
{
	char digits[17];

	if (!n->unique_id)
		return;
	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)n->unique_id);
	memcpy(n->agent.uuid.bytes, digits, 16);
}
#endif

static void finish(struct agent_node *n, uint32_t index, uint32_t *of_type, uint32_t *nr_shown)
{
	rocprofiler_agent_v0_t *a = &n->agent;
	bool is_cpu = a->cpu_cores_count != 0;

	a->size = sizeof(*a);
	a->id.handle = SDK_FIRST_AGENT + a->node_id;
	a->type = is_cpu ? ROCPROFILER_AGENT_TYPE_CPU : ROCPROFILER_AGENT_TYPE_GPU;
	a->logical_node_id = (int32_t)index;
	a->logical_node_type_id = (int32_t)of_type[a->type]++;
	/* drivers say it of GPUs with several; AMD's library has 1 for all others, processors
	 * too */
	if (!a->num_xcc)
		a->num_xcc = 1;
	if (is_cpu) {
		name_cpu(n);
		a->cu_count = a->cpu_cores_count;
	} else {
		name_gpu(n);
		derive_gpu(a);
		a->family_id = products_family(a->gfx_target_version);
		a->local_mem_size = local_memory(a);
	}
	a->workgroup_max_size = 1024;
	a->workgroup_max_dim = (rocprofiler_dim3_t){ 1024, 1024, 1024 };
	a->grid_max_size = UINT32_MAX;
	a->grid_max_dim = (rocprofiler_dim3_t){ UINT32_MAX, UINT32_MAX, UINT32_MAX };
	a->name = n->name;
	a->vendor_name = n->vendor;
	a->product_name = n->product;
	a->model_name = n->model;
#if ROCPROFILER_SDK_ABI > 0
	if (is_cpu)
		a->runtime_visibility.hsa = 1;
	else
		find_visibility(n, (uint32_t)a->logical_node_type_id, nr_shown);
	fill_uuid(n);
#else
	(void)nr_shown;
#endif
}

/* Nodes that the process may not use have no properties, and are left out. */
static void read_files(struct list *l)
{
	char dir[128];

	for (uint32_t node = 0; l->nr < MAX_NODES; node++) {
		struct agent_node *n = &l->nodes[l->nr];

		snprintf(dir, sizeof(dir), NODES "/%u", node);
		if (access(dir, F_OK) != 0)
			break;
		n->agent.node_id = node;
		if (topology_read(dir, n) && (n->agent.cpu_cores_count || n->agent.simd_count))
			l->nr++;
		else
			*n = (struct agent_node){ 0 };
	}
}

static struct list *read_list(void)
{
	uint32_t of_type[ROCPROFILER_AGENT_TYPE_LAST] = { 0 }, nr_shown = 0;
	struct list *l = alloc_zero(1, sizeof(*l));

	if (!l)
		return NULL;
	read_files(l);
	if (!l->nr)
		l->nr = agents_hsa_read(l->nodes, MAX_NODES);
	for (uint32_t i = 0; i < l->nr; i++) {
		finish(&l->nodes[i], i, of_type, &nr_shown);
		l->pointers[i] = &l->nodes[i].agent;
	}
	return l;
}

/* NULL: no memory. */
static const struct list *get_list(void)
{
	/* acquire: pairs with the exchange: the agents */
	struct list *l = atomic_load_explicit(&the_list, memory_order_acquire), *mine;

	if (l)
		return l;
	mine = read_list();
	/* none yet: it stays, since the tool may keep a pointer to it */
	if (!mine || !mine->nr ||
	    atomic_compare_exchange_strong_explicit(&the_list, &l, mine, memory_order_acq_rel,
						    memory_order_acquire))
		return mine;
	/* another thread was first; its arrays stay as well */
	alloc_free(mine);
	return l;
}

EXPORT rocprofiler_status_t rocprofiler_query_available_agents(
	rocprofiler_agent_version_t version, rocprofiler_query_available_agents_cb_t callback,
	size_t agent_size, void *user_data)
{
	const struct list *l;

	if (version != ROCPROFILER_AGENT_INFO_VERSION_0 || !callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (agent_size > sizeof(rocprofiler_agent_v0_t))
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
	l = get_list();
	if (!l)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	return callback(version, (const void **)(uintptr_t)l->pointers, l->nr, user_data);
}
