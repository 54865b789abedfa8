/* SPDX-License-Identifier: MIT */
/* registration.c - librocprofiler-sdk: tools, from the moment that they are found to their end
 *
 * A tool is a function rocprofiler_configure(). Tools are looked for once, at the first use of a
 * runtime: HIP's first call, roctx's first call, the tables of HSA or HIP, or
 * rocprofiler_force_configure(). Not in this library's constructor, which runs before those of the
 * tools.
 *
 * Owns:     the clients.
 * Threads:  any; one initialises, others that come meanwhile wait. Tools' functions are called one
 *           at a time, in the order in which they were found.
 * Fails:    a tool of ROCP_TOOL_LIBRARIES that can't be loaded is left out with a warning.
 */
#define LOG_TOPIC "sdk"
#include "registration.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "../face/fork_guard.h"
#include "activation.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/env.h"
#include "base/log.h"
#include "base/sys.h"
#include "buffer.h"
#include "calls.h"
#include "code_object.h"
#include "context.h"
#include "count.h"
#include "dispatch.h"
#include "effects.h"
#include "events.h"
#include "host_functions.h"
#include "intercept.h"
#include "markers.h"
#include "rccl.h"
#include "retire.h"
#include "scratch.h"
#include "state.h"

/* The program's tool, or the first of the libraries'. A linker exports the function of a program
 * that is not linked with -rdynamic only if a library on its command line refers to it, as AMD's
 * does. */
#pragma weak rocprofiler_configure

/* handles of clients begin here; 0 is none */
#define FIRST_HANDLE 1024u
#define WAIT_MS 10000

struct client {
	rocprofiler_configure_func_t configure;
	rocprofiler_client_id_t id;
	bool takes_part; /* has given a result */
	rocprofiler_tool_configure_result_t result;
	_Atomic bool is_ended;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* written by the thread that has set the phase to -1 */
static struct client clients[SDK_MAX_CLIENTS];
static _Atomic int nr_clients;
static _Thread_local bool is_initialising;
/* Looks at libraries; constructors of those that were not reached yet may run, and name their tool
 * themselves. */
static _Thread_local bool is_searching;

static void call_finalize(void *client)
{
	const struct client *c = client;

	c->result.finalize(c->result.tool_data);
}

/* It did not return. Where all tools were to end, those behind it are not called. */
static void leave_finalize(void *client)
{
	int all = -1;

	buffer_end_client((int)((struct client *)client - clients));
	state_nr_ending--;
	atomic_compare_exchange_strong(&state_end, &all, 1);
}

static void finalize_client(int i)
{
	struct client *c = &clients[i];

	if (!c->takes_part || atomic_exchange(&c->is_ended, true))
		return;
	activation_stop_client(i);
	events_settle();
	count_dispatch_settle();
	context_end_client(i);
	/* the last: with the records of calls of other threads that ended meanwhile */
	buffer_flush_client(i);
	if (c->result.finalize) {
		state_nr_ending++;
		callout(call_finalize, leave_finalize, c);
		state_nr_ending--;
	}
	buffer_end_client(i);
}

static void finalize_all(void)
{
	int none = 0, nr = atomic_load(&nr_clients);

	if (!atomic_compare_exchange_strong(&state_end, &none, -1))
		return;
	events_settle();
	count_dispatch_settle();
	retire_end();
	/* what the records are about is still loaded */
	buffer_flush_client(-1);
	code_object_end();
	for (int i = 0; i < nr; i++)
		finalize_client(i);
	atomic_store(&state_end, 1);
}

/* What a tool gets to end itself with. */
static void finalize_by_id(rocprofiler_client_id_t id)
{
	int nr = atomic_load(&nr_clients), nr_parts = 0, found = -1;

	for (int i = 0; i < nr; i++) {
		nr_parts += clients[i].takes_part;
		if (clients[i].takes_part && clients[i].id.handle == id.handle)
			found = i;
	}
	if (found < 0)
		return;
	/* from 1.0 on, the end of the only tool is the end of all */
	if (ROCPROFILER_SDK_ABI > 0 && nr_parts == 1)
		finalize_all();
	else
		finalize_client(found);
}

static bool is_known(rocprofiler_configure_func_t fn)
{
	int nr = atomic_load(&nr_clients);

	for (int i = 0; i < nr; i++)
		if (clients[i].configure == fn)
			return true;
	return false;
}

/* NULL, a function that is known, and one too many are ignored. */
static void add(rocprofiler_configure_func_t fn)
{
	int nr = atomic_load(&nr_clients);

	if (!fn || is_known(fn))
		return;
	if (nr == (int)SDK_MAX_CLIENTS) {
		log_warn("tools: there are %d already; another one is left out", nr);
		return;
	}
	clients[nr].configure = fn;
	atomic_store(&nr_clients, nr + 1);
}

static void add_library(const char *path)
{
	void *lib = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *fn;

	if (!lib)
		lib = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* the user asks for it by name */
	if (!lib) {
		log_warn("ROCP_TOOL_LIBRARIES: %s: not loaded: %s", path, dlerror());
		return;
	}
	fn = dlsym(lib, STATE_TOOL_SYMBOL);
	if (fn)
		add((rocprofiler_configure_func_t)fn);
	else
		log_warn("ROCP_TOOL_LIBRARIES: %s: no tool: it has no " STATE_TOOL_SYMBOL "()",
			 path);
	/* stays loaded, tool or not: its constructors have run */
}

static void add_named(void)
{
	const char *list = getenv("ROCP_TOOL_LIBRARIES");
	char *copy, *next, *path;

	if (!list || !*list || getauxval(AT_SECURE))
		return;
	copy = next = alloc_string(list);
	while (next && (path = strsep(&next, ":")))
		if (*path)
			add_library(path);
	alloc_free(copy);
}

struct library {
	char *path;
	uintptr_t base;
};

struct libraries {
	struct library *items;
	size_t nr, size;
};

/* Under the loader's lock: nothing is looked up yet. */
static int note_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct libraries *l = arg;
	struct library *more;

	(void)size;
	if (!info->dlpi_name[0])
		return 0;
	if (l->nr == l->size) {
		more = alloc_resize(l->items, (l->size + 64), sizeof(*more));
		if (!more)
			return 1;
		l->items = more;
		l->size += 64;
	}
	l->items[l->nr].path = alloc_string(info->dlpi_name);
	l->items[l->nr++].base = info->dlpi_addr;
	return 0;
}

/* The function of a library that has one of its own. */
static void add_of(const struct library *l)
{
	void *lib = l->path ? dlopen(l->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *fn = lib ? dlsym(lib, STATE_TOOL_SYMBOL) : NULL;
	Dl_info where;

	if (fn && dladdr(fn, &where) && (uintptr_t)where.dli_fbase == l->base)
		add((rocprofiler_configure_func_t)fn);
	if (lib)
		dlclose(lib);
}

static void add_loaded(void)
{
	void *first = dlsym(RTLD_DEFAULT, STATE_TOOL_SYMBOL);
	struct libraries l = { 0 };

	add((rocprofiler_configure_func_t)first);
	add(rocprofiler_configure);
	add((rocprofiler_configure_func_t)dlsym(RTLD_NEXT, STATE_TOOL_SYMBOL));
	if (first)
		dl_iterate_phdr(note_library, &l);
	for (size_t i = 0; i < l.nr; i++) {
		add_of(&l.items[i]);
		alloc_free(l.items[i].path);
	}
	alloc_free(l.items);
	/* what was not found is no message for the program */
	dlerror();
}

static void configure(int i)
{
	struct client *c = &clients[i];
	const rocprofiler_client_id_t id = {
#if ROCPROFILER_SDK_ABI > 0
		.size = sizeof(id),
#endif
		.handle = FIRST_HANDLE + (uint32_t)i,
	};
	const rocprofiler_tool_configure_result_t *result;

	memcpy(&c->id, &id, sizeof(id));
	result = c->configure(ROCPROFILER_VERSION, ROCPROFILER_VERSION_STRING, (uint32_t)i, &c->id);
	if (!result)
		return;
	c->result = *result;
	c->takes_part = true;
}

static void initialize(int i)
{
	struct client *c = &clients[i];
	int status;

	if (!c->takes_part || !c->result.initialize)
		return;
	atomic_store(&state_current_client, i);
	status = c->result.initialize(finalize_by_id, c->result.tool_data);
	atomic_store(&state_current_client, -1);
	/* it takes no part then, and has nothing to finalize */
	if (status < 0) {
		log_info("%s: initialize returned %d: the tool is left out",
			 c->id.name ? c->id.name : "tool", status);
		c->takes_part = false;
		activation_stop_client(i);
		context_end_client(i);
	}
}

static void finish_start(void)
{
	is_initialising = false;
	atomic_store(&state_phase_now, 1);
	/* release: pairs with state_first_use() */
	atomic_store_explicit(&state_is_done, true, memory_order_release);
	calls_update();
}

struct start {
	int from, initialised; /* clients */
};

static void call_tools(void *arg)
{
	struct start *s = arg;
	int nr = atomic_load(&nr_clients);

	for (int i = s->from; i < nr; i++)
		configure(i);
	for (int i = s->from; i < nr; i++)
		if (clients[i].takes_part) {
			state_is_too_late();
			break;
		}
	for (; s->initialised < nr; s->initialised++)
		initialize(s->initialised);
}

/* A tool did not return. It takes no part, nor do those behind it; other threads wait for this
 * start. */
static void leave_start(void *arg)
{
	const struct start *s = arg;
	int nr = atomic_load(&nr_clients);

	atomic_store(&state_current_client, -1);
	state_in_runtime = false;
	for (int i = s->initialised; i < nr; i++) {
		clients[i].takes_part = false;
		activation_stop_client(i);
		context_end_client(i);
	}
	atexit(finalize_all);
	finish_start();
	log_warn("a tool's function did not return: it and the tools behind it take no part");
}

/* From the first of new clients on. The caller has set the phase to -1. */
static void bring_up(int from)
{
	struct start s = { from, from };

	callout(call_tools, leave_start, &s);
	/* Handlers run in reverse order: before the destructors of the tools' objects, which exist
	 * by now, and after those of HIP, which as a rule is not in use yet. Where the process ends
	 * within a tool's function, the one that start_with() has registered runs. */
	atexit(finalize_all);
}

/* The caller has set the phase to -1. */
static void start_with(rocprofiler_configure_func_t forced)
{
	is_initialising = true;
	atexit(finalize_all);
	add(forced);
	is_searching = true;
	add_named();
	add_loaded();
	is_searching = false;
	bring_up(0);
	finish_start();
}

static void wait_for_start(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < WAIT_MS; i++) {
		if (atomic_load_explicit(&state_is_done, memory_order_acquire))
			return;
		sys_nap(&pause);
	}
}

static void start_tools(void)
{
	int none = 0;

	if (is_initialising)
		return;
	if (atomic_compare_exchange_strong(&state_phase_now, &none, -1))
		start_with(NULL);
	else
		wait_for_start();
}

/* Whether a tool takes part. The core patches HSA's tables if someone listens. */
static bool has_tools(void)
{
	int nr;

	state_first_use();
	nr = atomic_load(&nr_clients);
	for (int i = 0; i < nr; i++) {
		if (!clients[i].takes_part)
			continue;
		code_object_listen();
		events_start();
		calls_on_runtime();
		code_object_show();
		return true;
	}
	return false;
}

/* Of a program that has this library: a tool may come later, and is to see what was there before
 * it. */
static bool wants_tables(void)
{
	has_tools();
	/* before the core looks for sinks */
	code_object_listen();
	return true;
}

/* One more client, after the others. CONFIGURATION_LOCKED: others are configured meanwhile. */
static rocprofiler_status_t add_late(rocprofiler_configure_func_t fn)
{
	int done = 1, from;

	if (!fn || is_known(fn))
		return ROCPROFILER_STATUS_SUCCESS;
	if (!atomic_compare_exchange_strong(&state_phase_now, &done, -1))
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	is_initialising = true;
	from = atomic_load(&nr_clients);
	add(fn);
	bring_up(from);
	finish_start();
	has_tools();
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	int none = 0;

	if (state_is_over())
		return ROCPROFILER_STATUS_ERROR_FINALIZED;
	registration_attach();
	if (is_searching) {
		add(configure_func);
		return ROCPROFILER_STATUS_SUCCESS;
	}
	if (is_initialising)
		return status; /* a tool's own function called it */
	if (atomic_compare_exchange_strong(&state_phase_now, &none, -1)) {
		start_with(configure_func);
		has_tools();
		return ROCPROFILER_STATUS_SUCCESS;
	}
	for (int i = 0; i < WAIT_MS && status == ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	     i++) {
		if (i)
			sys_nap(&pause);
		if (atomic_load(&state_phase_now) == 1)
			status = add_late(configure_func);
	}
	return status;
}

EXPORT rocprofiler_status_t rocprofiler_is_initialized(int *status)
{
	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = atomic_load(&state_phase_now);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_is_finalized(int *status)
{
	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = state_finalized();
	return ROCPROFILER_STATUS_SUCCESS;
}

/* ---- the ways in ---- */

/* What AMD's library gets from rocprofiler-register. */
static void show_hsa(const struct hsa_mirror_root *root)
{
	void **slot = hsa_table_core_slot(root->core, HSA_CORE_system_get_info);
	hsa_system_get_info_fn_t get = slot ? (hsa_system_get_info_fn_t)*slot : NULL;
	uint16_t major = 0, minor = 0;

	if (!get)
		return;
	get(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
	get(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
	effects_runtime(EFFECTS_HSA, major * UINT64_C(10000) + minor * UINT64_C(100), 0);
}

/* HSA's runtime is being initialised. Whether a tool takes part. */
static bool on_runtime(void)
{
	bool before = state_in_runtime, has_any;

	state_in_runtime = true;
	has_any = has_tools();
	code_object_listen();
	state_in_runtime = before;
	return has_any;
}

/* In front of the calls that tools see, as theirs are with AMD's library. */
static bool install_tools(const struct hsa_mirror_root *root)
{
	intercept_hsa(root);
	return true;
}

static const struct table_layer tools_layer = { .name = "tools", .install = install_tools };

/* Within the calls that tools see: dispatches have their ids. */
static bool install(const struct hsa_mirror_root *root)
{
	if (on_runtime())
		show_hsa(root);
	code_object_install(root);
	dispatch_install(root);
	count_device_install(root);
	scratch_install(root);
	state_core()->table_add_layer(&tools_layer);
	return true;
}

static const struct table_layer layer = { .name = "rocprofiler-sdk",
					  .install = install,
					  .remove = count_device_remove };

static void attach_once(void)
{
	const struct rtl_core *core = state_core();

	state_on_first_use(start_tools);
	if (!core || calls_start(core) < 0) {
		state_drop_core();
		log_warn(
			"librtl.so.1 is of another build, or has too many subscribers; tools get no callbacks");
		return;
	}
	core->corr_keep_order();
	markers_start(core);
	core->table_add_layer(&layer);
	core->hsa_init_as_tool(wants_tables);
}

void registration_attach(void)
{
	pthread_once(&once, attach_once);
}

__attribute__((constructor)) static void start(void)
{
	const char *now = getenv("ROCPROFILER_LIBRARY_CTOR");

	registration_attach();
	/* the program's kernels are registered after this */
	if (state_core()) {
		state_core()->rebind();
		host_functions_listen(state_core());
	}
	if (now && *now && strcmp(now, "0") != 0)
		state_first_use();
}

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed);
EXPORT void OnUnload(void);
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables);

/* HSA_TOOLS_LIB names this library. true even when nothing is traced: else ROCr would unload it and
 * print a message. */
EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed)
{
	const struct rtl_core *core;
	bool taken;

	registration_attach();
	core = state_core();
	/* the major number alone: the version is asked for */
	(void)runtime_version;
	(void)nr_failed;
	(void)failed;
	if (!core)
		return true;
	core->hsa_past_begin();
	on_runtime();
	taken = core->on_load(table);
	core->hsa_past_end();
	return taken;
}

EXPORT void OnUnload(void)
{
	if (state_core())
		state_core()->on_unload();
}

static void take_rccl(const void *table, uint64_t version, uint64_t instance)
{
	rccl_take_table(table, version, instance);
	calls_update();
}

static int set_tables(const struct rtl_core *core, const char *name, uint64_t version,
		      uint64_t instance, void **tables, uint64_t nr_tables)
{
	if (name && strcmp(name, "hsa") == 0) {
		intercept_note_hsa(version, instance);
		if (on_runtime())
			effects_runtime(EFFECTS_HSA, version, instance);
	} else {
		has_tools();
	}
	if (name && strcmp(name, "hip") == 0)
		effects_runtime(EFFECTS_HIP, version, instance);
	if (name && strcmp(name, "rccl") == 0 && tables && nr_tables && tables[0])
		take_rccl(tables[0], version, instance);
	/* first, since librtl's symbols of HIP call what is in the table when it gets it */
	intercept_tables(name, version, instance, tables, nr_tables);
	return core ? core->set_api_table(name, version, instance, tables, nr_tables) : 0;
}

/* For rocprofiler-register: the tables of HIP and HSA, from ROCm 6 on. */
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t nr_tables)
{
	bool is_hsa = name && strcmp(name, "hsa") == 0;
	const struct rtl_core *core;
	int status;

	registration_attach();
	core = state_core();
	if (is_hsa && core)
		core->hsa_past_begin();
	status = set_tables(core, name, version, instance, tables, nr_tables);
	if (is_hsa && core)
		core->hsa_past_end();
	return status;
}
