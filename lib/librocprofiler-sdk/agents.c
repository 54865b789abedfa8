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
struct listed {
	bool is_set, has; /* an empty variable is none */
	uint32_t index;	  /* in the list */
};

static bool is_named(const char *word, size_t length, uint32_t index, uint64_t unique_id)
{
	char copy[32];

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, word, length);
	copy[length] = '\0';
	if (strncmp(copy, "GPU-", 4) == 0)
		return copy[4] && strtoull(copy + 4, NULL, 16) == unique_id;
	return strspn(copy, "0123456789") == length && strtoul(copy, NULL, 10) == index;
}

/* Where the variable, a list of numbers and of "GPU-" with an id, names the GPU. */
static struct listed find_listed(const char *variable, uint32_t index, uint64_t unique_id)
{
	const char *text = getenv(variable);
	struct listed l = { .is_set = text && *text };

	while (l.is_set && *(text += strspn(text, ", "))) {
		size_t length = strcspn(text, ", ");

		l.has = is_named(text, length, index, unique_id);
		if (l.has)
			break;
		l.index++;
		text += length;
	}
	return l;
}

/* HIP numbers GPUs by their indices in HSA's list. */
static void find_visibility(struct agent_node *n, uint32_t index)
{
	static const char *const names[] = { "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
					     "GPU_DEVICE_ORDINAL" };
	rocprofiler_agent_v0_t *a = &n->agent;
	struct listed hip = { .is_set = false },
		      hsa = find_listed("ROCR_VISIBLE_DEVICES", index, n->unique_id);
	bool is_shown;

	a->runtime_visibility.hsa = !hsa.is_set || hsa.has;
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]) && !hip.is_set; i++)
		hip = find_listed(names[i], hsa.has ? hsa.index : index, n->unique_id);
	is_shown = a->runtime_visibility.hsa && (!hip.is_set || hip.has);
	a->runtime_visibility.hip = is_shown;
	a->runtime_visibility.rccl = is_shown;
	a->runtime_visibility.rocdecode = is_shown;
}

static void see_cpu(rocprofiler_agent_v0_t *a)
{
	a->runtime_visibility.hsa = 1;
	a->runtime_visibility.hip = 1;
	a->runtime_visibility.rccl = 1;
	a->runtime_visibility.rocdecode = 1;
}
#endif

/* What AMD's library of each ABI has, as HSA's runtime of its time; a processor runs no kernels. */
static void limit_gpu(rocprofiler_agent_v0_t *a)
{
	const uint32_t x = ROCPROFILER_SDK_ABI ? INT32_MAX : UINT32_MAX;
	const uint32_t others = ROCPROFILER_SDK_ABI ? UINT16_MAX : UINT32_MAX;

	a->workgroup_max_size = 1024;
	a->workgroup_max_dim = (rocprofiler_dim3_t){ 1024, 1024, 1024 };
	a->grid_max_size = UINT32_MAX;
	a->grid_max_dim = (rocprofiler_dim3_t){ x, others, others };
}

static void finish(struct agent_node *n, uint32_t index, uint32_t *of_type)
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
		limit_gpu(a);
	}
	a->name = n->name;
	a->vendor_name = n->vendor;
	a->product_name = n->product;
	a->model_name = n->model;
#if ROCPROFILER_SDK_ABI > 0
	if (is_cpu)
		see_cpu(a);
	else
		find_visibility(n, (uint32_t)a->logical_node_type_id);
	memcpy(a->uuid.bytes, &n->unique_id, sizeof(n->unique_id));
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
	uint32_t of_type[ROCPROFILER_AGENT_TYPE_LAST] = { 0 };
	struct list *l = alloc_zero(1, sizeof(*l));

	if (!l)
		return NULL;
	read_files(l);
	if (!l->nr)
		l->nr = agents_hsa_read(l->nodes, MAX_NODES);
	for (uint32_t i = 0; i < l->nr; i++) {
		finish(&l->nodes[i], i, of_type);
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
