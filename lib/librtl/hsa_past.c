/* SPDX-License-Identifier: MIT */
/* hsa_past.c - whether HSA's runtime was initialised before librtl could get its tables: then no
 * operation is seen, and the trace says so
 *
 * Threads:  any.
 */
#include "hsa_past.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/env.h"
#include "base/location.h"
#include "base/notice.h"
#include "event/life.h"
#include "source/hip/frame.h"
#include "source/hip/lookup.h"
#include "source/hsa/table/real.h"

static int find_runtime(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libhsa-runtime64.so", strlen("libhsa-runtime64.so")) != 0)
		return 0;
	*(const char **)arg = info->dlpi_name;
	return 1;
}

void *hsa_past_find(const char *name)
{
	const char *path = NULL;
	void *lib, *fn;

	dl_iterate_phdr(find_runtime, (void *)&path);
	lib = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	fn = lib ? lookup_libc()(lib, name) : NULL;
	if (lib)
		dlclose(lib);
	/* what was not found is no message for the program */
	dlerror();
	return fn;
}

/* calls, of several threads, in which the tables come: hsa_init() in front, OnLoad() */
static _Atomic int nr_coming;

void hsa_past_begin(void)
{
	atomic_fetch_add(&nr_coming, 1);
}

void hsa_past_end(void)
{
	atomic_fetch_sub(&nr_coming, 1);
}

bool hsa_past_is(void)
{
	hsa_status_t (*get_info)(hsa_system_info_t attribute, void *value);
	uint16_t version;

	if (!lookup_next)
		early_find();
	if (!lookup_next || atomic_load(&nr_coming) || real_ready())
		return false;
	get_info = (hsa_status_t(*)(hsa_system_info_t, void *))hsa_past_find("hsa_system_get_info");
	/* Fails where the runtime was not initialised. A constant: another thread may be within
	 * hsa_init(), where the runtime answers already but divides by a clock period of 0 if it is
	 * asked for the time. */
	return get_info && get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version) == HSA_STATUS_SUCCESS;
}

/* A trace without calls of HIP: else the reader counts them. */
static void stop(uint64_t deadline_ns)
{
	(void)deadline_ns;
	if (hsa_past_is())
		bus_loss(SPOOL_REASON_no_tables, 1);
}

const struct source hsa_past_source = { .name = "runtime", .stop = stop };

void hsa_past_conclude(void)
{
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_OFF &&
	    location_is_session() && !env_bool(ENV_DISABLE) && !life_is_idle() && hsa_past_is())
		notice_send(env_str(ENV_SESSION), NOTICE_NO_TABLES, 0);
}
