/* SPDX-License-Identifier: MIT */
/* topology.c - librocprofiler-sdk: agents as the kernel driver describes them, in files of "name
 * number" lines
 *
 * Owns:     nothing; what it fills is the caller's.
 * Threads:  any.
 * Fails:    without memory an agent lacks its caches, links or memory banks; a file that lacks a
 *           line leaves its member 0.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents.h"

#include "base/alloc.h"
#include "base/sys.h"
_Static_assert(offsetof(struct agent_node, agent) == 0, "the table has offsets in either");

#define FILE_SIZE 8192u
#define PATH_SIZE 512u

/* Where a line's number goes. */
struct field {
	const char *name;
	uint16_t offset;
	uint8_t size;
};

#define FIELD_AS(type, name, member)                                                               \
	{                                                                                          \
		name, offsetof(type, member), sizeof(((type *)0)->member)                          \
	}
#define AGENT(name) FIELD_AS(rocprofiler_agent_v0_t, #name, name)
#define AGENT_AS(name, member) FIELD_AS(rocprofiler_agent_v0_t, name, member)

/* in a struct agent_node, whose first member is the agent */
static const struct field agent_fields[] = {
	AGENT(cpu_cores_count),
	AGENT(simd_count),
	AGENT(mem_banks_count),
	AGENT(caches_count),
	AGENT(io_links_count),
	AGENT(cpu_core_id_base),
	AGENT(simd_id_base),
	AGENT(max_waves_per_simd),
	AGENT(lds_size_in_kb),
	AGENT(gds_size_in_kb),
	AGENT(num_gws),
	AGENT(wave_front_size),
	AGENT(num_xcc),
	AGENT(array_count),
	AGENT(simd_arrays_per_engine),
	AGENT(cu_per_simd_array),
	AGENT(simd_per_cu),
	AGENT(max_slots_scratch_cu),
	AGENT(gfx_target_version),
	AGENT(vendor_id),
	AGENT(device_id),
	AGENT(location_id),
	AGENT(domain),
	AGENT(drm_render_minor),
	AGENT(num_sdma_engines),
	AGENT(num_sdma_xgmi_engines),
	AGENT(num_sdma_queues_per_engine),
	AGENT(num_cp_queues),
	AGENT(max_engine_clk_ccompute),
	AGENT(max_engine_clk_fcompute),
	AGENT(sdma_fw_version),
	AGENT(fw_version),
	AGENT(capability),
	AGENT(local_mem_size),
	AGENT(hive_id),
	FIELD_AS(struct agent_node, "unique_id", unique_id),
};

#define BANK(name, member) FIELD_AS(rocprofiler_agent_mem_bank_t, name, member)
static const struct field bank_fields[] = {
	BANK("heap_type", heap_type), BANK("size_in_bytes", size_in_bytes), BANK("flags", flags),
	BANK("width", width),	      BANK("mem_clk_max", mem_clk_max),
};

#define CACHE(name, member) FIELD_AS(rocprofiler_agent_cache_t, name, member)
static const struct field cache_fields[] = {
	CACHE("processor_id_low", processor_id_low),
	CACHE("level", level),
	CACHE("size", size),
	CACHE("cache_line_size", cache_line_size),
	CACHE("cache_lines_per_tag", cache_lines_per_tag),
	CACHE("association", association),
	CACHE("latency", latency),
	CACHE("type", type),
};

#define LINK(name, member) FIELD_AS(rocprofiler_agent_io_link_t, name, member)
static const struct field link_fields[] = {
	LINK("type", type),
	LINK("version_major", version_major),
	LINK("version_minor", version_minor),
	LINK("node_from", node_from),
	LINK("node_to", node_to),
	LINK("weight", weight),
	LINK("min_latency", min_latency),
	LINK("max_latency", max_latency),
	LINK("min_bandwidth", min_bandwidth),
	LINK("max_bandwidth", max_bandwidth),
	LINK("recommended_transfer_size", recommended_transfer_size),
	LINK("flags", flags),
};

/* false: there is no such file, or it can't be read. */
static bool read_text(const char *path, char text[FILE_SIZE])
{
	size_t n;
	FILE *f;

	sys_cancel_off();
	f = fopen(path, "re");
	n = f ? fread(text, 1, FILE_SIZE - 1, f) : 0;
	if (f)
		fclose(f);
	sys_cancel_on();
	text[n] = '\0';
	return f != NULL;
}

static void store(const struct field *f, char *to, uint64_t value)
{
	/* little-endian: the low bytes */
	memcpy(to + f->offset, &value, f->size);
}

static void parse(char *text, const struct field *fields, size_t nr, void *to)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *number = strchr(line, ' ');

		if (!number)
			continue;
		*number++ = '\0';
		for (size_t i = 0; i < nr; i++)
			if (strcmp(fields[i].name, line) == 0)
				store(&fields[i], to, strtoull(number, NULL, 10));
	}
}

/* DIR/0/properties, DIR/1/properties, ...: as many as there are, *nr at most; *nr is how many. */
static void *read_parts(const char *dir, const struct field *fields, size_t nr_fields, size_t size,
			uint32_t *nr)
{
	char path[PATH_SIZE], text[FILE_SIZE], *parts = alloc_zero(*nr ? *nr : 1, size);
	uint32_t i = 0;

	for (; parts && i < *nr; i++) {
		snprintf(path, sizeof(path), "%s/%u/properties", dir, i);
		if (!read_text(path, text))
			break;
		parse(text, fields, nr_fields, parts + i * size);
	}
	*nr = i;
	return parts;
}

static void read_all_parts(const char *dir, rocprofiler_agent_v0_t *a)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/mem_banks", dir);
	a->mem_banks = read_parts(path, bank_fields, ARRAY_SIZE(bank_fields), sizeof(*a->mem_banks),
				  &a->mem_banks_count);
	snprintf(path, sizeof(path), "%s/caches", dir);
	a->caches = read_parts(path, cache_fields, ARRAY_SIZE(cache_fields), sizeof(*a->caches),
			       &a->caches_count);
	snprintf(path, sizeof(path), "%s/io_links", dir);
	a->io_links = read_parts(path, link_fields, ARRAY_SIZE(link_fields), sizeof(*a->io_links),
				 &a->io_links_count);
}

/* The revision is in the display driver's files alone. */
static void read_product(struct agent_node *n)
{
	char path[PATH_SIZE], text[FILE_SIZE];

	snprintf(path, sizeof(path), "/sys/class/drm/renderD%d/device/revision",
		 (int)n->agent.drm_render_minor);
	if (n->agent.drm_render_minor && read_text(path, text))
		products_name(n, (uint32_t)strtoul(text, NULL, 16));
}

bool topology_read(const char *dir, struct agent_node *n)
{
	char path[PATH_SIZE], text[FILE_SIZE];
	rocprofiler_agent_v0_t *a = &n->agent;

	snprintf(path, sizeof(path), "%s/properties", dir);
	if (!read_text(path, text))
		return false;
	parse(text, agent_fields, ARRAY_SIZE(agent_fields), n);
	read_all_parts(dir, a);
	snprintf(path, sizeof(path), "%s/gpu_id", dir);
	if (read_text(path, text))
		a->gpu_id = strtoull(text, NULL, 10);
	snprintf(path, sizeof(path), "%s/name", dir);
	if (read_text(path, text)) {
		text[strcspn(text, "\n")] = '\0';
		snprintf(n->model, sizeof(n->model), "%.*s", (int)sizeof(n->model) - 1, text);
	}
	read_product(n);
	return true;
}
