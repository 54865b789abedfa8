/* SPDX-License-Identifier: MIT */
/* fake_hsa.c - a runtime without a GPU: tables, agents, code objects, ticks of the source under
 * test */
#include "support/fake_hsa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "event/life.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/core_layer.h"
#include "source/hsa/table/table.h"
#include "support/fake_parts.h"
#include "support/sink_record.h"
#include "support/test.h"

#define FIRST_STRANGER UINT64_C(0x10000)

struct fake_hsa fake;

struct executable {
	const struct fake_symbol *symbols;
	unsigned nr;
};

static struct executable executables[4096];
static unsigned nr_executables;
static const struct table_layer *const layers[] = { &core_layer, NULL };

/* ---- agents and facts ----------------------------------------------------------------------- */

hsa_agent_t fake_agent(unsigned index)
{
	return (hsa_agent_t){ FAKE_AGENT_BASE + index };
}

static hsa_status_t iterate_agents(hsa_status_t (*fn)(hsa_agent_t, void *), void *data)
{
	for (unsigned i = 0; i < FAKE_NR_AGENTS; i++)
		if (fn(fake_agent(i), data) != HSA_STATUS_SUCCESS)
			return HSA_STATUS_ERROR;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent_get_info(hsa_agent_t agent, hsa_agent_info_t what, void *value)
{
	uint32_t i = (uint32_t)(agent.handle - FAKE_AGENT_BASE);

	switch ((uint32_t)what) {
	case HSA_AGENT_INFO_DEVICE:
		*(hsa_device_type_t *)value = i ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
		break;
	case HSA_AGENT_INFO_NAME:
	case HSA_AGENT_INFO_VENDOR_NAME:
		snprintf(value, 64, "%s", i ? "gfx900" : "CPU");
		break;
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		snprintf(value, 64, "Product %u", i);
		break;
	case HSA_AMD_AGENT_INFO_UUID:
		snprintf(value, 21, "GPU-%u", i);
		break;
	case HSA_AMD_AGENT_INFO_BDFID:
		*(uint32_t *)value = i << 8;
		break;
	case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
		*(uint32_t *)value = i;
		break;
	default:
		*(uint32_t *)value = 4;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t system_get_info(hsa_system_info_t what, void *value)
{
	if (what == HSA_SYSTEM_INFO_TIMESTAMP)
		*(uint64_t *)value = clock_read_ns(CLOCK_BOOTTIME);
	else if (what == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)
		*(uint64_t *)value = 1000000000;
	else
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t status_string(hsa_status_t status, const char **text)
{
	*text = status == HSA_STATUS_ERROR_EXCEPTION ? "AN EXCEPTION" : "?";
	return HSA_STATUS_SUCCESS;
}

/* ---- executables ----------------------------------------------------------------------------- */

hsa_executable_t fake_executable(const struct fake_symbol *symbols, unsigned nr)
{
	CHECK_LT_UINT(nr_executables, sizeof(executables) / sizeof(executables[0]));
	executables[nr_executables] = (struct executable){ symbols, nr };
	return (hsa_executable_t){ (uint64_t)(uintptr_t)&executables[nr_executables++] };
}

static hsa_status_t executable_freeze(hsa_executable_t ex, const char *options)
{
	(void)ex;
	(void)options;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t executable_destroy(hsa_executable_t ex)
{
	(void)ex;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t
iterate_symbols(hsa_executable_t ex,
		hsa_status_t (*fn)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
	const struct executable *e = (const struct executable *)(uintptr_t)ex.handle;

	for (unsigned i = 0; i < e->nr; i++)
		fn(ex, (hsa_executable_symbol_t){ (uint64_t)(uintptr_t)&e->symbols[i] }, data);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbol_get_info(hsa_executable_symbol_t sym, hsa_executable_symbol_info_t what,
				    void *value)
{
	const struct fake_symbol *s = (const struct fake_symbol *)(uintptr_t)sym.handle;

	switch ((uint32_t)what) {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		*(hsa_symbol_kind_t *)value = s->object ? HSA_SYMBOL_KIND_KERNEL :
							  HSA_SYMBOL_KIND_VARIABLE;
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
		*(uint64_t *)value = s->object;
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
		*(hsa_agent_t *)value = fake_agent(s->agent);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		*(uint32_t *)value = (uint32_t)strlen(s->name);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
		memcpy(value, s->name, strlen(s->name)); /* without a NUL, as the runtime's */
		break;
	default:
		*(uint32_t *)value = 8;
	}
	return HSA_STATUS_SUCCESS;
}

static const uint32_t descriptor[16] = { 512, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x33, 0x11, 0x22 };

static hsa_status_t query_host_address(const void *device, const void **host)
{
	(void)device;
	*host = descriptor;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t
iterate_objects(hsa_executable_t ex,
		hsa_status_t (*fn)(hsa_executable_t, hsa_loaded_code_object_t, void *), void *data)
{
	return fn(ex, (hsa_loaded_code_object_t){ ex.handle }, data);
}

static hsa_status_t object_get_info(hsa_loaded_code_object_t o,
				    hsa_ven_amd_loader_loaded_code_object_info_t what, void *value)
{
	static const char uri[] = "file:///a.co";

	switch ((uint32_t)what) {
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
		*(hsa_agent_t *)value = fake_agent(1);
		break;
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
		*(uint32_t *)value = sizeof(uri) - 1;
		break;
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
		memcpy(value, uri, sizeof(uri) - 1);
		break;
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
		*(uint32_t *)value = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
		break;
	default:
		*(uint64_t *)value = o.handle;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_extension_table(uint16_t extension, uint16_t major, size_t size, void *out)
{
	hsa_ven_amd_loader_1_01_pfn_t table;

	(void)major;
	CHECK_EQ_INT(extension, HSA_EXTENSION_AMD_LOADER);
	memset(&table, 0, sizeof(table));
	table.hsa_ven_amd_loader_query_host_address = query_host_address;
	table.hsa_ven_amd_loader_executable_iterate_loaded_code_objects = iterate_objects;
	table.hsa_ven_amd_loader_loaded_code_object_get_info = object_get_info;
	memcpy(out, &table, size < sizeof(table) ? size : sizeof(table));
	return HSA_STATUS_SUCCESS;
}

/* ---- tables --------------------------------------------------------------------------------- */

void *fake_stranger(unsigned index)
{
	return (void *)(uintptr_t)(FIRST_STRANGER + 16 * index);
}

/* 5.6 inserted two functions before the 17th. */
void fake_fill_amd(unsigned nr, unsigned index, void *fn)
{
	fake.amd.entry[index >= 16 && nr >= 55 ? index + 2 : index] = fn;
}

static hsa_status_t register_system_event_handler(hsa_amd_system_event_callback_t fn, void *data)
{
	(void)data;
	fake.fault_handler = fn;
	return HSA_STATUS_SUCCESS;
}

static void fill_amd(unsigned nr)
{
	for (unsigned i = 0; i < FAKE_MAX_AMD; i++)
		fake.amd.entry[i] = fake_stranger(1000 + i);
	fake_fill_amd(nr, 34, (void *)register_system_event_handler);
	fake.amd.version.major_id = nr >= 67 ? 2 : 1;
	fake.amd.version.minor_id = 16 + 8 * nr;
}

static void fill_core(void)
{
	const struct {
		unsigned index;
		void *fn;
	} fns[] = {
		{ 2, (void *)system_get_info },	     { 5, (void *)iterate_agents },
		{ 6, (void *)agent_get_info },	     { 84, (void *)executable_destroy },
		{ 86, (void *)executable_freeze },   { 93, (void *)symbol_get_info },
		{ 94, (void *)iterate_symbols },     { 95, (void *)status_string },
		{ 98, (void *)get_extension_table },
	};

	for (unsigned i = 0; i < HSA_CORE_NR; i++)
		fake.core.entry[i] = fake_stranger(i);
	for (unsigned i = 0; i < sizeof(fns) / sizeof(fns[0]); i++)
		fake.core.entry[fns[i].index] = fns[i].fn;
	fake.core.version.major_id = 1;
	fake.core.version.minor_id = 16 + 8 * 125;
}

void fake_build_tables(unsigned nr_amd)
{
	fill_core();
	fill_amd(nr_amd);
	fake_signal_fill(nr_amd);
	fake_queue_fill(nr_amd);
	fake_copy_fill(nr_amd);
	memset(&fake.root, 0, sizeof(fake.root));
	fake.root.version.major_id = nr_amd >= 68 ? 3 : nr_amd >= 67 ? 2 : 1;
	fake.root.version.minor_id = nr_amd >= 70 ? 64 : nr_amd >= 68 ? 56 : 48;
	fake.root.core = &fake.core;
	fake.root.amd_ext = &fake.amd;
}

void fake_setup(const char *mode)
{
	setenv("RTL_MODE", mode ? mode : "standard", 1);
	env_init();
	log_init();
	table_init(layers);
	sink_record_open();
}

void fake_open(const char *mode, unsigned nr_amd)
{
	fake_setup(mode);
	fake_build_tables(nr_amd ? nr_amd : 48);
	CHECK(table_take(&fake.root));
}

void fake_open_intercept(const char *mode, unsigned nr_amd)
{
	setenv("RTL_QUEUES", "intercept", 1);
	fake_open(mode, nr_amd);
}

const struct source *fake_source;

void fake_open_live(const char *mode, unsigned nr_amd)
{
	static const struct source *sources[] = { &harvest_source, NULL, NULL };
	static const struct sink *const sinks[] = { &sink_record, NULL };

	sources[1] = fake_source;
	setenv("RTL_MODE", mode ? mode : "standard", 1);
	table_init(layers);
	life_init(sources, sinks);
	CHECK(life_start());
	fake_build_tables(nr_amd ? nr_amd : 48);
	CHECK(table_take(&fake.root));
}

void fake_tick(unsigned ms)
{
	static uint64_t now_ns;

	if (!now_ns)
		now_ns = clock_now_ns();
	now_ns += ms * UINT64_C(1000000);
	harvest_source.tick(now_ns);
}

void fake_harvest(void)
{
	for (int i = 0; i < 6; i++)
		fake_tick(25);
}

void fake_run_all(struct fake_queue *q)
{
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_UINT(fake_in_ring(q), 0);
	fake_harvest();
}

void fake_check_dispatches(uint32_t first, uint32_t n, uint16_t flags, uint16_t no_flags)
{
	uint64_t nr = sink_record_count(EVENT_DISPATCH);
	const struct event **all = calloc(nr + 1, sizeof(*all));
	uint8_t *seen = calloc(n + 1, 1);

	CHECK(all && seen);
	sink_record_each(EVENT_DISPATCH, all, nr);
	for (uint64_t i = 0; i < nr; i++) {
		const struct event_dispatch *d = &all[i]->dispatch;
		uint32_t id = d->grid[0];

		CHECK_EQ_UINT(d->flags & (flags | no_flags), flags);
		if (id < first || id >= first + n)
			continue;
		CHECK_MSG(seen[id - first]++ == 0, "dispatch %u was recorded twice", id);
		CHECK_EQ_UINT(d->begin_ticks, fake_begin_ticks(id));
		CHECK_EQ_UINT(d->end_ticks, fake_end_ticks(id));
		CHECK_EQ_UINT(d->begin_ns, fake_ticks_to_ns(fake_begin_ticks(id)));
		CHECK_EQ_UINT(d->end_ns, fake_ticks_to_ns(fake_end_ticks(id)));
	}
	for (uint32_t id = first; id < first + n; id++)
		CHECK_MSG(seen[id - first] == 1, "dispatch %u is missing", id);
	free(seen);
	free(all);
}
