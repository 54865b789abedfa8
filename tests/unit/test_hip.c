/* SPDX-License-Identifier: MIT */
/* test_hip.c - the runtime's functions, names of kernels, the first call, subscribers, callbacks */
#include "source/hip/frame.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "event/corr.h"
#include "event/filter.h"
#include "event/join.h"
#include "event/left_out.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/special.h"
#include "hip_args_gen.h"
#include "hip_ops_gen.h"
#include "source/hip/callback.h"
#include "source/hip/activity.h"
#include "source/hip/dispatch_table.h"
#include "source/hip/release.h"
#include "support/fake_hip.h"
#include "support/sink_record.h"
#include "support/test.h"

void (*const hip_boot)(void) = NULL;

static void *lib;
static unsigned int (*asked)(void);
static void *(*runtime_call)(uint32_t id, void *arg);
static void (*set_status)(int status);
static unsigned int (*nr_registered)(void);

static void load(void)
{
	lib = dlopen(FAKE_HIP_5, RTLD_NOW | RTLD_LOCAL);
	CHECK_MSG(lib, "%s", dlerror());
	asked = FAKE_HIP(lib, fake_hip_nr_lookups);
	runtime_call = FAKE_HIP(lib, fake_hip_call);
	set_status = FAKE_HIP(lib, fake_hip_set_status);
	nr_registered = FAKE_HIP(lib, fake_hip_nr_registered);
}

static void begin(const char *mode, const char *backend)
{
	setenv("RTL_MODE", mode, 1);
	setenv("RTL_HIP_BACKEND", backend, 1);
	env_init();
	api_init();
	live_init();
	sink_record_open();
}

static const char *name_in_7_2(uint32_t id)
{
	const struct hip_release *r = &hip_releases[HIP_RELEASE_7_2];

	return id < r->nr_callbacks && r->callbacks[id].decode ? hip_ops[r->callbacks[id].op].name :
								 "unknown";
}

TEST(function_is_found_after_its_library_is_loaded)
{
	int (*init)(unsigned int);

	CHECK(!hip_is_loaded());
	errno = 77;
	CHECK_NULL(hip_real(HIP_OP_hipInit));
	CHECK_NULL(hip_real(HIP_OP_hipInit));
	CHECK_EQ_INT(errno, 77);
	/* the program finds no failure of ours in dlerror() */
	CHECK_NULL(dlerror());
	load();
	CHECK(hip_is_loaded());
	init = (int (*)(unsigned int))hip_real(HIP_OP_hipInit);
	CHECK_NOT_NULL((void *)init);
	CHECK_EQ_INT(init(5), 1005);
	/* not ours, which stands first in the search order */
	CHECK(init != hipInit);
	/* a function that this runtime does not have */
	CHECK_NULL(hip_real(HIP_OP_hipMallocManaged));
	CHECK_NULL(dlerror());
	/* librtl keeps the library that the program unloads */
	dlclose(lib);
	CHECK_EQ_INT(init(6), 1006);
}

/* HIP 7 has its compiler in a library of its own, which may be loaded first. The release is not
 * found by that one. */
TEST(hiprtc_function_is_found_in_libhiprtc)
{
	int (*version)(int *, int *), major = 0, minor = 0;
	void (*names)(const char *(*fn)(uint32_t));

	CHECK_NULL(hip_real(HIP_OP_hiprtcVersion));
	CHECK_NOT_NULL(dlopen(FAKE_HIPRTC, RTLD_NOW | RTLD_LOCAL));
	CHECK(!hip_is_loaded());
	CHECK_NULL(hip_real(HIP_OP_hipInit));
	version = (int (*)(int *, int *))hip_real(HIP_OP_hiprtcVersion);
	CHECK_NOT_NULL((void *)version);
	CHECK_EQ_INT(version(&major, &minor), 5);
	CHECK_EQ_INT(major, 9);
	CHECK_NULL(hip_real(HIP_OP_hipInit));
	lib = dlopen(FAKE_HIP_TRACER, RTLD_NOW | RTLD_LOCAL);
	CHECK_MSG(lib, "%s", dlerror());
	names = FAKE_HIP(lib, fake_hip_set_names);
	names(name_in_7_2);
	CHECK_NOT_NULL(hip_real(HIP_OP_hipPeekAtLastError));
	CHECK_EQ_UINT(hip_release(), HIP_RELEASE_7_2);
}

TEST(wrapper_without_runtime_returns_error)
{
	begin("hip", "auto");
	CHECK_EQ_INT(hipInit(1), HIP_NOT_LOADED);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	load();
	CHECK_EQ_INT(hipInit(1), 1001);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_INT(sink_record_at(EVENT_API, 0)->api.status, 1001);
}

TEST(wrapper_in_mode_standard_passes_call_on)
{
	load();
	begin("standard", "auto");
	CHECK_EQ_INT(hipInit(1), 1001);
	CHECK(atomic_load(&hip_started));
	CHECK_EQ_UINT(api_wanted(API_HIP, HIP_OP_hipInit), 0);
	CHECK_EQ_INT(hipInit(2), 1002);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
}

TEST(wrapper_with_callback_backend_passes_call_on)
{
	load();
	begin("hip", "callback");
	CHECK_EQ_INT(hipInit(1), 1001);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
}

TEST(kernel_name_is_requested_once)
{
	uint64_t id;

	load();
	begin("hip", "auto");
	/* the call failed: the pointer may be invalid */
	CHECK_EQ_UINT(hip_word_function((void *)0x1000, false), 0);
	CHECK_EQ_UINT(asked(), 0);
	id = hip_word_function((void *)0x1000, true);
	CHECK_STR_EQ(sink_record_string((uint32_t)id), "by_handle");
	CHECK_EQ_UINT(hip_word_function((void *)0x1000, true), id);
	CHECK_EQ_UINT(hip_word_function((void *)0x1000, false), id);
	CHECK_EQ_UINT(asked(), 1);
	id = hip_word_host_function((void *)0x2000, true);
	CHECK_STR_EQ(sink_record_string((uint32_t)id), "fake_kernel");
	/* an unknown kernel is not requested again either */
	CHECK_EQ_UINT(hip_word_function((void *)0x3001, true), 0);
	CHECK_EQ_UINT(hip_word_function((void *)0x3001, true), 0);
	CHECK_EQ_UINT(asked(), 3);
	CHECK_EQ_UINT(hip_word_function(NULL, true), 0);
	hip_forget_names();
	CHECK_NE_UINT(hip_word_function((void *)0x1000, true), 0);
	CHECK_EQ_UINT(asked(), 4);
}

/* From HIP 7.2 on. */
TEST(library_kernel_instead_of_function_has_its_name)
{
	int (*peek)(void);
	uint64_t id;

	load();
	begin("hip", "auto");
	peek = FAKE_HIP(lib, hipPeekAtLastError);
	/* a failure of ours would replace the program's error: the name is requested later */
	set_status(17);
	CHECK_EQ_UINT(hip_word_host_function((void *)0x4003, true), 0);
	CHECK_EQ_INT(peek(), 17);
	set_status(0);
	id = hip_word_host_function((void *)0x4003, true);
	CHECK_STR_EQ(sink_record_string((uint32_t)id), "of_a_library");
	CHECK_EQ_UINT(hip_word_function((void *)0x4003, true), id);
	/* not a kernel of a library: the program does not notice the request */
	CHECK_EQ_UINT(hip_word_host_function((void *)0x4005, true), 0);
	CHECK_EQ_INT(peek(), 0);
	CHECK(!thread_get()->in_hook);
}

static void *ask_many(void *arg)
{
	uint64_t (*word)(const void *, bool) = hip_word_function;

	for (uint64_t round = 0; round < 4; round++) {
		for (uint64_t i = 1; i < 20000; i++) {
			uint64_t id = word((void *)(i * 16 + (i & 1)), true);

			/* kernels at odd addresses have no name, whichever slot is replaced */
			CHECK_EQ_UINT(id != 0, !(i & 1));
		}
	}
	return arg;
}

TEST(more_kernels_than_table_slots_have_their_names)
{
	pthread_t threads[4];

	load();
	begin("hip", "auto");
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, ask_many, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

TEST(unreadable_text_gives_no_string)
{
	char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *text;
	uint64_t id;

	begin("hip", "auto");
	CHECK(pages != MAP_FAILED);
	CHECK_OK(mprotect(pages + 8192, 4096, PROT_NONE));
	errno = 77;
	CHECK_EQ_UINT(hip_word_text(NULL), 0);
	CHECK_EQ_UINT(hip_word_text(pages + 8192), 0);
	CHECK_EQ_UINT(hip_word_text((char *)16), 0);
	CHECK_STR_EQ(sink_record_string((uint32_t)hip_word_text("plain")), "plain");
	/* up to the last byte that can be read, with no NUL */
	text = pages + 8192 - 5;
	memcpy(text, "ABCDE", 5);
	CHECK_STR_EQ(sink_record_string((uint32_t)hip_word_text(text)), "ABCDE");
	memset(pages, 'x', 8192);
	id = hip_word_text(pages + 100);
	CHECK_EQ_UINT(strlen(sink_record_string((uint32_t)id)), HIP_TEXT_MAX);
	CHECK_EQ_INT(errno, 77);
	CHECK(!thread_get()->in_hook);
}

TEST(batch_size_is_sum_of_its_copies)
{
	const size_t sizes[] = { 4096, SIZE_MAX / 2, 1 };

	CHECK_EQ_UINT(hip_word_sum(NULL, 0), 0);
	CHECK_EQ_UINT(hip_word_sum(sizes, 1), 4096);
	CHECK_EQ_UINT(hip_word_sum(sizes, 3), 4097 + SIZE_MAX / 2);
}

#define BOTH (LIVE_CALLS | LIVE_RECORDS)

/* ---- subscribers ----------------------------------------------------------------------------- */

static struct {
	_Atomic unsigned int nr_enter, nr_exit, nr_records;
	_Atomic uint32_t operation;
	_Atomic uint64_t correlation, arg;
	_Atomic int result;
} seen;

static void on_enter(struct live_call *call)
{
	seen.nr_enter++;
	seen.operation = call->operation;
	seen.correlation = call->correlation;
	if (call->operation == HIP_OP_hipInit)
		seen.arg = ((struct hip_args_hipInit *)call->args)->flags;
	else if (call->operation == HIP_OP_hipFree)
		seen.arg = (uint64_t)(uintptr_t)((struct hip_args_hipFree *)call->args)->ptr;
}

static void on_exit_of_call(struct live_call *call)
{
	seen.nr_exit++;
	seen.result = call->result ? *(const int *)call->result : -1;
}

static void on_record(const struct live_call *call)
{
	CHECK_EQ_UINT(call->domain, API_HIP);
	seen.nr_records++;
}

static const struct live_subscriber of_calls = { on_enter, on_exit_of_call, on_record };

/* `nr` calls were seen since the last check, each with enter, exit and record. */
static void check_seen(unsigned int nr)
{
	CHECK_EQ_UINT(seen.nr_enter, nr);
	CHECK_EQ_UINT(seen.nr_exit, nr);
	CHECK_EQ_UINT(seen.nr_records, nr);
	seen.nr_enter = seen.nr_exit = seen.nr_records = 0;
}

TEST(seen_call_has_arguments_result_and_id_of_record)
{
	int index;

	load();
	begin("hip", "auto");
	index = live_subscribe(&of_calls);
	live_want(index, API_HIP, HIP_OP_hipInit, BOTH);
	errno = 77;
	CHECK_EQ_INT(hipInit(5), 1005);
	CHECK_EQ_INT(errno, 77);
	check_seen(1);
	CHECK_EQ_UINT(seen.operation, HIP_OP_hipInit);
	CHECK_EQ_UINT(seen.arg, 5);
	CHECK_EQ_INT(seen.result, 1005);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.correlation, seen.correlation);
	CHECK_EQ_INT(sink_record_at(EVENT_API, 0)->api.status, 1005);
	live_want(index, API_HIP, HIP_OP_hipInit, LIVE_NOTHING);
	hipInit(6);
	check_seen(0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
}

TEST(unrecorded_call_is_seen_by_subscriber)
{
	load();
	begin("standard", "auto");
	live_want(live_subscribe(&of_calls), API_HIP, HIP_OP_hipInit, BOTH);
	CHECK_EQ_INT(hipInit(5), 1005);
	check_seen(1);
	CHECK_NE_UINT(seen.correlation, 0);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
}

/* Whether the function's symbol leads to its ordinary wrapper. */
static bool is_ordinary(uint32_t op)
{
	return atomic_load(&hip_entries[op]) == hip_ordinary[op];
}

TEST(quick_wrapper_shows_calls_while_subscriber_wants_them)
{
	int index;

	load();
	begin("hip", "auto");
	index = live_subscribe(&of_calls);
	hipGetLastError();
	CHECK(!is_ordinary(HIP_OP_hipGetLastError));
	live_want(index, API_HIP, HIP_OP_hipGetLastError, BOTH);
	CHECK(is_ordinary(HIP_OP_hipGetLastError));
	hipGetLastError();
	hipGetLastError();
	check_seen(2);
	CHECK(is_ordinary(HIP_OP_hipGetLastError));
	live_want(index, API_HIP, HIP_OP_hipGetLastError, LIVE_NOTHING);
	hipGetLastError();
	hipGetLastError();
	check_seen(0);
	CHECK(!is_ordinary(HIP_OP_hipGetLastError));
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 5);
}

#define NR_CALLS 20000

static void *call_often(void *arg)
{
	for (int i = 0; i < NR_CALLS; i++)
		hipGetLastError();
	return arg;
}

static bool is_any_missed(void)
{
	return true;
}

static void *make_three_calls(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		hipGetLastError();
	return NULL;
}

static uint64_t nr_left_out(void)
{
	left_out_flush();
	return sink_record_loss(SPOOL_REASON_filtered_call);
}

static void begin_with_calls(const char *backend, const char *calls)
{
	load();
	setenv("RTL_CALLS", calls, 1);
	begin("hip", backend);
	filter_init();
	left_out_init();
}

TEST(left_out_function_is_a_jump_that_counts)
{
	const void *ordinary = hip_ordinary[HIP_OP_hipGetLastError];
	pthread_t thread;

	begin_with_calls("auto", "^hipInit$");
	CHECK(is_ordinary(HIP_OP_hipGetLastError));
	make_three_calls(NULL);
	CHECK(atomic_load(&hip_entries[HIP_OP_hipGetLastError]) != ordinary);
	CHECK_EQ_UINT(nr_left_out(), 3);
	/* a thread without a counter takes the ordinary way, and gets one */
	CHECK_EQ_INT(pthread_create(&thread, NULL, make_three_calls, NULL), 0);
	CHECK_EQ_INT(pthread_join(thread, NULL), 0);
	CHECK(thread_self.left_out != &left_out_none);
	CHECK_EQ_UINT(nr_left_out(), 6);
	CHECK_EQ_UINT(nr_left_out(), 6);
	CHECK_EQ_INT(hipInit(5), 1005);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	/* its operations are not missed */
	atomic_store(&corr_orphan, is_any_missed);
	CHECK(!(corr_take(thread_get()) & EVENT_MISSED));
}

TEST(left_out_calls_in_a_pause_are_counted_as_paused)
{
	begin_with_calls("auto", "^hipInit$");
	make_three_calls(NULL);
	pause_set(true);
	make_three_calls(NULL);
	pause_set(false);
	make_three_calls(NULL);
	CHECK_EQ_UINT(nr_left_out(), 6);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 3);
}

TEST(left_out_function_is_seen_once_a_subscriber_wants_it)
{
	begin_with_calls("auto", "^hipInit$");
	make_three_calls(NULL);
	live_want(live_subscribe(&of_calls), API_HIP, HIP_OP_hipGetLastError, BOTH);
	CHECK(is_ordinary(HIP_OP_hipGetLastError));
	hipGetLastError();
	check_seen(1);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
}

TEST(unrecorded_function_leads_to_the_runtimes)
{
	load();
	begin("standard", "auto");
	hipInit(5);
	hipInit(5);
	CHECK(atomic_load(&hip_entries[HIP_OP_hipInit]) ==
	      atomic_load(&hip_real_fns[HIP_OP_hipInit]));
	CHECK_EQ_INT(hipInit(5), 1005);
}

TEST(each_seen_call_has_enter_and_exit_while_subscriber_comes_and_goes)
{
	pthread_t threads[3];
	int index;

	load();
	begin("standard", "auto");
	index = live_subscribe(&of_calls);
	for (int i = 0; i < 3; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, call_often, NULL));
	for (int i = 0; i < 4000; i++)
		live_want(index, API_HIP, HIP_OP_hipGetLastError, i % 2 ? LIVE_NOTHING : BOTH);
	live_want(index, API_HIP, HIP_OP_hipGetLastError, BOTH);
	hipGetLastError();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK_GE_UINT(seen.nr_enter, 1);
	CHECK_EQ_UINT(seen.nr_exit, seen.nr_enter);
	CHECK_EQ_UINT(seen.nr_records, seen.nr_enter);
}

/* A dispatch table as HIP 6 and later have it, with two functions. */
static struct {
	size_t size;
	void *entries[1024];
} hip_table;
static uint32_t init_entry;
static unsigned int nr_inits;

static int init_in_runtime(unsigned int flags)
{
	nr_inits++;
	return (int)flags + 2000;
}

/* hipApiName(), the first function of the table, of the release that is shown. */
static const char *name_in_table(uint32_t id)
{
	return name_in_7_2(id);
}

/* The runtime's symbol: hands the table over when it is called first. */
static int init_symbol(unsigned int flags)
{
	if (!hip_table.size) {
		hip_table.size = sizeof(hip_table);
		hip_table.entries[0] = (void *)name_in_table;
		hip_table.entries[init_entry] = (void *)init_in_runtime;
		dispatch_table_take("hip", &hip_table);
	}
	return ((int (*)(unsigned int))hip_table.entries[init_entry])(flags);
}

static void begin_with_table(void)
{
	init_entry = 0;
	while (dispatch_runtime[init_entry].op != HIP_OP_hipInit)
		init_entry++;
	atomic_store(&hip_real_fns[HIP_OP_hipInit], (void *)init_symbol);
}

TEST(call_that_hands_over_dispatch_table_is_seen_and_recorded_once)
{
	begin("hip", "auto");
	begin_with_table();
	live_want(live_subscribe(&of_calls), API_HIP, HIP_OP_hipInit, BOTH);
	CHECK_EQ_INT(hipInit(1), 2001);
	check_seen(1);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(nr_inits, 1);
	CHECK_EQ_UINT(hip_release(), HIP_RELEASE_7_2);
}

TEST(call_by_symbol_or_dispatch_table_is_seen_and_recorded_once)
{
	begin("hip", "auto");
	begin_with_table();
	live_want(live_subscribe(&of_calls), API_HIP, HIP_OP_hipInit, BOTH);
	/* the program has the runtime's own symbol */
	CHECK_EQ_INT(init_symbol(1), 2001);
	check_seen(1);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	/* librtl's symbol does not go through the table */
	CHECK_EQ_PTR(hip_real(HIP_OP_hipInit), (void *)init_in_runtime);
	CHECK_EQ_INT(hipInit(2), 2002);
	check_seen(1);
	CHECK_EQ_UINT(seen.arg, 2);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
	CHECK_EQ_UINT(nr_inits, 2);
	/* librtl itself does not call the wrapper */
	CHECK_EQ_PTR(hip_find("hipInit"), (void *)init_in_runtime);
}

TEST(short_empty_or_unknown_dispatch_table_is_not_changed)
{
	begin("hip", "auto");
	begin_with_table();
	hip_table.entries[init_entry] = (void *)init_in_runtime;
	hip_table.size = 0;
	dispatch_table_take("hip", &hip_table);
	hip_table.size = sizeof(size_t) + init_entry * sizeof(void *);
	dispatch_table_take("hip", &hip_table);
	hip_table.size = sizeof(hip_table);
	dispatch_table_take("rccl", &hip_table);
	CHECK_EQ_PTR(hip_table.entries[init_entry], (void *)init_in_runtime);
	/* an entry without a function */
	hip_table.entries[init_entry] = NULL;
	dispatch_table_take("hip", &hip_table);
	CHECK_NULL(hip_table.entries[init_entry]);
}

TEST(dispatch_table_is_not_changed_when_librtl_is_disabled)
{
	setenv("RTL_DISABLE", "1", 1);
	begin("hip", "auto");
	begin_with_table();
	CHECK_EQ_INT(init_symbol(1), 2001);
	CHECK_EQ_PTR(hip_table.entries[init_entry], (void *)init_in_runtime);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static uint32_t id_of(uint32_t op)
{
	for (uint32_t id = 0; id < API_MAX_OPERATIONS; id++)
		if (release_callback(id) && release_callback(id)->op == op)
			return id;
	FAIL("no callback of op %u", op);
	return 0;
}

struct shown_data {
	uint64_t correlation;
	uint32_t phase, reserved;
	uint64_t args[8];
};

/* A call that the runtime makes: further down the stack than the call around it. */
static RTL_NOINLINE void *inner_call(uint32_t id)
{
	volatile char frame[256];
	void *data;

	frame[0] = 0;
	data = runtime_call(id, NULL);
	frame[255] = frame[0];
	return data;
}

TEST(call_by_callback_has_arguments_and_status)
{
	uint32_t id = id_of(HIP_OP_hipFree);
	struct shown_data *data;

	load();
	begin("hip", "callback");
	callback_on_runtime();
	CHECK_GT_UINT(nr_registered(), 300);
	data = runtime_call(id, NULL);
	CHECK_NOT_NULL(data);
	CHECK_NE_UINT(data->correlation, 0);
	CHECK_EQ_UINT(corr_take(thread_get()), data->correlation);
	data->args[0] = 0x1234;
	/* a call that the runtime makes within it */
	CHECK_NULL(inner_call(id_of(HIP_OP_hipMalloc)));
	set_status(17);
	errno = 77;
	runtime_call(id, lib);
	CHECK_EQ_INT(errno, 77);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.op, HIP_OP_hipFree);
	CHECK_EQ_INT(sink_record_at(EVENT_API, 0)->api.status, 17);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.nr_words, 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.correlation, data->correlation);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	/* hipGetLastError() resets the status */
	CHECK_NOT_NULL(runtime_call(id_of(HIP_OP_hipGetLastError), NULL));
	set_status(0);
	runtime_call(id_of(HIP_OP_hipGetLastError), lib);
	CHECK_EQ_INT(sink_record_at(EVENT_API, 1)->api.status, 17);
}

/* Whether an operation that this thread submits now is one whose call is missing. */
static bool is_missed(void)
{
	return corr_take(thread_get()) & EVENT_MISSED;
}

TEST(left_out_call_by_callback_is_counted_and_not_seen)
{
	uint32_t out = id_of(HIP_OP_hipFree), in = id_of(HIP_OP_hipMalloc);

	begin_with_calls("callback", "^hipMalloc$");
	callback_on_runtime();
	errno = 77;
	for (unsigned i = 1; i <= 3; i++) {
		CHECK_NULL(runtime_call(out, NULL));
		CHECK(!is_missed());
		CHECK_NULL(thread_get()->live_top);
		runtime_call(out, lib);
		CHECK_EQ_UINT(nr_left_out(), i);
	}
	CHECK_EQ_INT(errno, 77);
	CHECK(thread_self.left_out != &left_out_none);
	/* the next call is not within it, and a call within that is the runtime's own */
	CHECK_NOT_NULL(runtime_call(in, NULL));
	CHECK_NULL(inner_call(out));
	runtime_call(out, lib);
	runtime_call(in, lib);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(nr_left_out(), 3);
	/* in a pause */
	pause_set(true);
	runtime_call(out, NULL);
	runtime_call(out, lib);
	pause_set(false);
	CHECK_EQ_UINT(nr_left_out(), 3);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 1);
}

/* Without wrappers. */
TEST(module_unload_by_callback_forgets_kernel_names)
{
	uint32_t id = id_of(HIP_OP_hipModuleUnload);

	load();
	begin("hip", "callback");
	callback_on_runtime();
	CHECK_NE_UINT(hip_word_function((void *)0x1000, true), 0);
	CHECK_EQ_UINT(asked(), 1);
	CHECK_NOT_NULL(runtime_call(id, NULL));
	CHECK_NE_UINT(hip_word_function((void *)0x1000, true), 0);
	CHECK_EQ_UINT(asked(), 2);
	runtime_call(id, lib);
	CHECK_NE_UINT(hip_word_function((void *)0x1000, true), 0);
	CHECK_EQ_UINT(asked(), 3);
}

TEST(callbacks_stay_off_with_wrappers_and_missed_operation_is_counted)
{
	struct api_call c;

	load();
	begin("hip", "auto");
	CHECK(hip_enter(api_wanted(API_HIP, HIP_OP_hipInit), HIP_OP_hipInit, &c));
	callback_on_runtime();
	CHECK_EQ_UINT(nr_registered(), 0);
	CHECK(!is_missed());
	hip_leave(HIP_OP_hipInit, &c, 0, NULL, 0);
	CHECK(is_missed());
	CHECK(is_missed());
}

TEST(callbacks_stay_off_with_preload_and_missed_operation_is_counted)
{
	load();
	begin("hip", "preload");
	callback_on_runtime();
	CHECK_EQ_UINT(nr_registered(), 0);
	CHECK(is_missed());
}

TEST(operation_outside_callbacks_is_counted_as_missed)
{
	uint32_t id = id_of(HIP_OP_hipFree);

	load();
	begin("hip", "callback");
	CHECK(callback_on_runtime());
	CHECK(is_missed());
	CHECK_NOT_NULL(runtime_call(id, NULL));
	CHECK(!is_missed());
	runtime_call(id, lib);
	CHECK(is_missed());
}

/* The program dispatches before it loads HIP: operations count as missed from the first HIP call
 * on. */
TEST(operation_before_first_wrapped_call_is_not_missed)
{
	begin("hip", "auto");
	callback_on_runtime();
	for (int i = 0; i < 5; i++)
		CHECK(!is_missed());
	load();
	CHECK_EQ_INT(hipInit(1), 1001);
	CHECK(is_missed());
}

TEST(callbacks_stay_off_in_mode_standard)
{
	load();
	begin("standard", "callback");
	callback_on_runtime();
	CHECK_EQ_UINT(nr_registered(), 0);
	CHECK_NULL((void *)atomic_load(&corr_orphan));
}

TEST(callbacks_stay_off_with_auto_without_preload)
{
	load();
	begin("hip", "auto");
	callback_on_runtime();
	CHECK_EQ_UINT(nr_registered(), 0);
}

/* ---- the callback of 5.4 and later ----------------------------------------------------------- */

static const struct hip_release *shown;
static uint32_t nr_shown;
static int (*traced)(uint32_t id, size_t size, uint64_t arg, void (*inside)(void));

/* hipApiName() of the stand-in's release. */
static const char *name_of(uint32_t id)
{
	if (!id || id >= nr_shown || !shown->callbacks[id].decode)
		return "unknown";
	return hip_ops[shown->callbacks[id].op].name;
}

static void load_tracer(uint32_t release, int more)
{
	void (*names)(const char *(*fn)(uint32_t));

	lib = dlopen(FAKE_HIP_TRACER, RTLD_NOW | RTLD_LOCAL);
	CHECK_MSG(lib, "%s", dlerror());
	shown = &hip_releases[release];
	nr_shown = shown->nr_callbacks + (uint32_t)more;
	names = FAKE_HIP(lib, fake_hip_set_names);
	names(name_of);
	set_status = FAKE_HIP(lib, fake_hip_set_status);
	nr_registered = FAKE_HIP(lib, fake_hip_nr_registered);
	traced = FAKE_HIP(lib, fake_hip_traced);
}

static void a_call_inside(void)
{
	CHECK_NE_UINT(corr_take(thread_get()), 0);
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipMalloc), shown->data_size, 1, NULL), 1);
}

static void one_release(uint32_t release)
{
	load_tracer(release, 0);
	begin("hip", "callback");
	CHECK(callback_on_runtime());
	CHECK_EQ_UINT(nr_registered(), 1);
	CHECK_EQ_UINT(hip_release(), release);
	set_status(17);
	errno = 77;
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipFree), shown->data_size, 0x1234, a_call_inside), 0);
	CHECK_EQ_INT(errno, 77);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.op, HIP_OP_hipFree);
	CHECK_EQ_INT(sink_record_at(EVENT_API, 0)->api.status, 17);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.nr_words, 1);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	/* a number that this release does not have */
	CHECK_EQ_INT(traced(shown->nr_callbacks, shown->data_size, 0, NULL), 1);
}

TEST(tracer_callback_of_5_7_has_arguments_and_status)
{
	one_release(HIP_RELEASE_5_7);
}

TEST(tracer_callback_of_6_4_has_arguments_and_status)
{
	one_release(HIP_RELEASE_6_4);
}

TEST(tracer_callback_of_7_2_has_arguments_and_status)
{
	one_release(HIP_RELEASE_7_2);
}

TEST(call_by_callback_is_seen_unless_wrapper_shows_it)
{
	struct hip_args_hipFree args = { (void *)0x77 };
	struct live_frame *f;
	int index, status = 0;

	load_tracer(HIP_RELEASE_6_4, 0);
	begin("standard", "auto");
	index = live_subscribe(&of_calls);
	CHECK(activity_turn_on());
	live_want(index, API_HIP, HIP_OP_hipFree, BOTH);
	set_status(17);
	errno = 77;
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipFree), shown->data_size, 0x1234, NULL), 0);
	CHECK_EQ_INT(errno, 77);
	check_seen(1);
	CHECK_EQ_UINT(seen.operation, HIP_OP_hipFree);
	CHECK_EQ_UINT(seen.arg, 0x1234);
	CHECK_EQ_INT(seen.result, 17);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	CHECK_NULL(live_top(thread_get()));
	/* a call of another function */
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipMalloc), shown->data_size, 0, NULL), 1);
	check_seen(0);
	/* a wrapper shows the call: the callback does not */
	f = hip_begin_seen(HIP_OP_hipFree, &args, RTL_FRAME());
	CHECK_NOT_NULL(f);
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipFree), shown->data_size, 0x77, NULL), 1);
	live_wrapper_end(f, &status, HIP_OP_hipFree, 0, NULL, 0);
	check_seen(1);
	CHECK_EQ_UINT(seen.arg, 0x77);
	live_want(index, API_HIP, HIP_OP_hipFree, LIVE_NOTHING);
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipFree), shown->data_size, 0, NULL), 1);
}

static struct live_call recorded;
static unsigned int nr_recorded;
static uint64_t id_inside;

static void on_record_alone(const struct live_call *call)
{
	recorded = *call;
	nr_recorded++;
}

static void on_nothing(const struct activity_op *op)
{
	(void)op;
}

static const struct live_subscriber of_records = { .record = on_record_alone };

static void look_inside(void)
{
	CHECK_NOT_NULL(live_top(thread_get()));
	id_inside = thread_get()->corr_current;
	/* no call within it may be alone */
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipMalloc), shown->data_size, 1, NULL), 0);
	CHECK_EQ_UINT(recorded.operation, id_of(HIP_OP_hipMalloc));
	CHECK_GT_UINT(recorded.correlation, id_inside);
	CHECK_EQ_UINT(thread_get()->corr_current, id_inside);
}

/* A call with another one in it. */
static void check_recorded(bool alone)
{
	unsigned int before = nr_recorded;
	uint64_t number;

	errno = 77;
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipFree), shown->data_size, 0x1234, look_inside), 0);
	CHECK_EQ_INT(errno, 77);
	CHECK_EQ_UINT(nr_recorded, before + 2);
	CHECK_EQ_UINT(recorded.operation, id_of(HIP_OP_hipFree));
	CHECK_EQ_UINT(recorded.correlation, id_inside);
	CHECK_GT_UINT(recorded.begin_ns, 0);
	CHECK_GE_UINT(recorded.end_ns, recorded.begin_ns);
	number = FAKE_HIP(lib, fake_hip_number)();
	CHECK_NE_UINT(number & UINT32_MAX, 0);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	CHECK_NULL(live_top(thread_get()));
	CHECK_EQ_INT(thread_get()->live_first->is_alone, alone);
}

TEST(call_of_which_only_record_is_wanted_is_recorded_like_others)
{
	int index, other;

	load_tracer(HIP_RELEASE_6_4, 0);
	begin("standard", "auto");
	for (int i = 0; i < 10000 && !clock_is_fast() && clock_tick() != UINT64_MAX; i++)
		usleep(1000);
	special_set(SPECIAL_CLOCK, !clock_is_fast());
	index = live_subscribe(&of_records);
	other = live_subscribe(&of_calls);
	CHECK(activity_turn_on());
	live_want(index, API_HIP_CALLBACKS, id_of(HIP_OP_hipFree), LIVE_RECORDS);
	live_want(index, API_HIP_CALLBACKS, id_of(HIP_OP_hipMalloc), LIVE_RECORDS);
	/* the thread's first call makes its frame */
	check_recorded(false);
	check_recorded(clock_is_fast());
	/* operations have the numbers of such calls, too */
	activity_want_ops(index, on_nothing);
	check_recorded(clock_is_fast());
	activity_want_ops(index, NULL);
	/* the same call in API_HIP */
	live_want(other, API_HIP, HIP_OP_hipFree, BOTH);
	check_recorded(false);
	check_seen(1);
	CHECK_EQ_UINT(seen.correlation, recorded.correlation);
	CHECK_EQ_UINT(seen.arg, 0x1234);
}

/* 7.0 has the numbers of 7.2, but not all of its calls. */
TEST(release_between_known_ones_is_identified_by_its_numbers)
{
	load_tracer(HIP_RELEASE_7_2, -29);
	begin("hip", "callback");
	CHECK(!callback_on_runtime());
	CHECK_EQ_UINT(nr_registered(), 0);
	CHECK_EQ_UINT(hip_release(), HIP_RELEASE_7_2);
}

/* Its structures may be larger: their end is not known. */
TEST(tracer_is_not_set_when_release_has_fewer_calls)
{
	load_tracer(HIP_RELEASE_5_7, -1);
	begin("hip", "callback");
	CHECK(!callback_on_runtime());
	CHECK_EQ_UINT(nr_registered(), 0);
}

static const char *one_more(uint32_t id)
{
	return id == shown->nr_callbacks ? "hipSomethingNew" : name_of(id);
}

TEST(tracer_is_not_set_when_release_has_more_calls)
{
	void (*names)(const char *(*fn)(uint32_t));

	load_tracer(HIP_RELEASE_7_2, 0);
	names = FAKE_HIP(lib, fake_hip_set_names);
	names(one_more);
	begin("hip", "callback");
	CHECK(!callback_on_runtime());
	CHECK_EQ_UINT(nr_registered(), 0);
	/* the calls that it has in common with 7.2 have their numbers */
	CHECK_EQ_UINT(hip_release(), HIP_RELEASE_7_2);
}

/* AMD_DIRECT_DISPATCH=0: the runtime keeps a call's id with what the call submits. */

static uint64_t carried;
static struct join_call found;

/* What the runtime does within a wrapper. */
static int call_of_runtime(uint32_t op, void (*inside)(void))
{
	return traced(id_of(op), shown->data_size, 0, inside);
}

static void a_call_of_its_own(void)
{
	/* if it were shown, the runtime would use its id for the rest of the outer call */
	CHECK_EQ_INT(call_of_runtime(HIP_OP_hipMalloc, NULL), 1);
	carried = thread_get()->corr_current;
}

static void begin_with(const char *direct, int more)
{
	struct api_call c;

	load_tracer(HIP_RELEASE_5_7, more);
	setenv("AMD_DIRECT_DISPATCH", direct, 1);
	begin("hip", "auto");
	CHECK(hip_enter(api_wanted(API_HIP, HIP_OP_hipInit), HIP_OP_hipInit, &c));
	CHECK(!callback_on_runtime());
	hip_leave(HIP_OP_hipInit, &c, 0, NULL, 0);
}

TEST(recorded_call_is_joined_by_id_without_direct_dispatch)
{
	struct api_call c;

	begin_with("0", 0);
	CHECK(join_is_on());
	CHECK_EQ_UINT(nr_registered(), 1);
	/* a call that no wrapper records is not shown */
	CHECK_EQ_INT(call_of_runtime(HIP_OP_hipFree, NULL), 1);
	thread_get()->marker = 12;
	CHECK(hip_enter(api_wanted(API_HIP, HIP_OP_hipInit), HIP_OP_hipInit, &c));
	CHECK_EQ_INT(call_of_runtime(HIP_OP_hipFree, a_call_of_its_own), 0);
	CHECK_EQ_UINT(carried, c.correlation);
	hip_leave(HIP_OP_hipFree, &c, 0, NULL, 0);
	CHECK(join_begun(c.correlation, &found));
	CHECK_EQ_UINT(found.marker, 12);
	CHECK_EQ_UINT(found.tid, thread_get()->tid);
	/* the wrapper makes the one record of each call */
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
}

TEST(completed_command_links_operation_to_call)
{
	/* activity_record_t of a copy: its number is the call's */
	uint64_t record[8] = { 2 | UINT64_C(0x11f5) << 32, 1, 0, 1000, 2000, 1, 3, 512 };
	int (*op)(uint32_t, void *);
	struct api_call c;

	begin_with("0", 0);
	op = FAKE_HIP(lib, fake_hip_op);
	CHECK(hip_enter(api_wanted(API_HIP, HIP_OP_hipInit), HIP_OP_hipInit, &c));
	CHECK_EQ_INT(call_of_runtime(HIP_OP_hipMemcpy, NULL), 0);
	hip_leave(HIP_OP_hipMemcpy, &c, 0, NULL, 0);
	CHECK_EQ_INT(op(1, NULL), 0);
	join_submits(thread_get()->tid);
	join_submitted(0x1000, thread_get()->tid);
	join_wanted(0x1000, 4711);
	join_asked(0x1000, 1000, 2000);
	record[2] = c.correlation;
	CHECK_EQ_INT(op(1, record), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_LINK), 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_LINK, 0)->link.operation, 4711);
	CHECK_EQ_UINT(sink_record_at(EVENT_LINK, 0)->link.correlation, c.correlation);
	CHECK_EQ_UINT(sink_record_at(EVENT_LINK, 0)->link.tid, thread_get()->tid);
}

/* From 5.4 on an empty AMD_DIRECT_DISPATCH is 0. */
TEST(empty_direct_dispatch_variable_means_off)
{
	begin_with("", 0);
	CHECK(join_is_on());
}

TEST(tracer_is_not_set_with_direct_dispatch)
{
	begin_with("true", 0);
	CHECK(!join_is_on());
	CHECK_EQ_UINT(nr_registered(), 0);
}

TEST(unknown_release_is_not_joined)
{
	begin_with("0", -1);
	CHECK(!join_is_on());
	CHECK_EQ_UINT(nr_registered(), 0);
}

/* ---- operations, for subscribers ------------------------------------------------------------- */

static struct activity_op last_op;
static unsigned int nr_ops;
static const struct live_subscriber subscriber;

static void on_op(const struct activity_op *op)
{
	last_op = *op;
	nr_ops++;
}

TEST(operations_are_requested_only_while_subscriber_wants_them)
{
	/* activity_record_t of a dispatch: its number is the call's correlation id */
	uint64_t record[8] = { 2 | UINT64_C(0x11f0) << 32, 0, 4711, 1000, 2000, 1, 3, 0 };
	int (*op)(uint32_t, void *);
	int index;

	load_tracer(HIP_RELEASE_5_7, 0);
	op = FAKE_HIP(lib, fake_hip_op);
	begin("standard", "auto");
	index = live_subscribe(&subscriber);
	CHECK(activity_turn_on());
	CHECK_EQ_INT(op(0, NULL), 1);
	activity_want_ops(index, on_op);
	CHECK_EQ_INT(op(0, NULL), 0);
	record[7] = (uint64_t)(uintptr_t) "kernel";
	CHECK_EQ_INT(op(0, record), 0);
	CHECK_EQ_UINT(nr_ops, 1);
	CHECK_EQ_UINT(last_op.correlation, 4711);
	CHECK_EQ_UINT(last_op.kind, 0x11f0);
	CHECK_EQ_UINT(last_op.begin_ns, 1000);
	CHECK_EQ_UINT(last_op.end_ns, 2000);
	CHECK_EQ_UINT(last_op.queue, 3);
	CHECK_EQ_INT(last_op.device, 1);
	CHECK_STR_EQ(last_op.kernel, "kernel");
	record[7] = 512;
	CHECK_EQ_INT(op(1, record), 0);
	CHECK_EQ_UINT(last_op.bytes, 512);
	CHECK_NULL(last_op.kernel);
	activity_want_ops(index, NULL);
	CHECK_EQ_INT(op(0, record), 1);
	CHECK_EQ_UINT(nr_ops, 2);
}

static void ask_and_announce(void)
{
	int (*op)(uint32_t, void *) = FAKE_HIP(lib, fake_hip_op);

	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(op(0, NULL), 0);
	op(0, (void *)(uintptr_t)1);
}

/* HIP 7.2 asks several times whether operations are wanted, and announces one with another
 * value. */
TEST(announced_operation_is_not_reported)
{
	uint64_t record[8] = { 2 | UINT64_C(0x11f0) << 32, 0, 0, 1, 2, 0, 0, 0 };
	int (*op)(uint32_t, void *);
	struct timespec before, after;
	int index;

	load_tracer(HIP_RELEASE_7_2, 0);
	op = FAKE_HIP(lib, fake_hip_op);
	begin("standard", "auto");
	index = live_subscribe(&subscriber);
	CHECK(activity_turn_on());
	activity_want_ops(index, on_op);
	nr_ops = 0;
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(traced(id_of(HIP_OP_hipLaunchKernel), shown->data_size, 0,
				    ask_and_announce),
			     0);
	CHECK_EQ_UINT(nr_ops, 0);
	record[2] = FAKE_HIP(lib, fake_hip_number)();
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(op(0, record), 0);
	CHECK_EQ_UINT(nr_ops, 3);
	/* no operation is waited for */
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipDeviceSynchronize), shown->data_size, 0, NULL), 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	activity_settle();
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK_LT_UINT((uint64_t)(after.tv_sec - before.tv_sec) * 1000000000 +
			      (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec,
		      100000000);
	activity_want_ops(index, NULL);
}

/* Operations that complete when the test reports them. */
static int (*op_of_runtime)(uint32_t op, void *record);
static uint64_t (*number_of_runtime)(void);

static void submit(void)
{
	CHECK_EQ_INT(op_of_runtime(0, NULL), 0);
}

/* Launches a kernel; returns the number with which its operation will be reported. */
static uint64_t launch(void)
{
	CHECK_EQ_INT(traced(id_of(HIP_OP_hipLaunchKernel), shown->data_size, 0, submit), 0);
	return number_of_runtime();
}

static void *report(void *arg)
{
	uint64_t record[8] = { 2 | UINT64_C(0x11f0) << 32, 0, *(uint64_t *)arg, 1, 2, 0, 0, 0 };
	const struct timespec late = { 0, 20000000 };

	nanosleep(&late, NULL);
	op_of_runtime(0, record);
	return arg;
}

static void report_and_settle(uint64_t number)
{
	pthread_t thread;

	CHECK_EQ_INT(traced(id_of(HIP_OP_hipDeviceSynchronize), shown->data_size, 0, NULL), 0);
	CHECK_EQ_INT(pthread_create(&thread, NULL, report, &number), 0);
	activity_settle();
	/* seen before the thread is joined */
	CHECK_EQ_UINT(nr_ops, 1);
	pthread_join(thread, NULL);
	nr_ops = 0;
}

TEST(operation_is_reported_as_of_its_submission)
{
	uint64_t first, second;
	int index;

	load_tracer(HIP_RELEASE_5_7, 0);
	op_of_runtime = FAKE_HIP(lib, fake_hip_op);
	number_of_runtime = FAKE_HIP(lib, fake_hip_number);
	begin("standard", "auto");
	index = live_subscribe(&subscriber);
	activity_want_ops(index, on_op);
	/* the report comes after the call that has waited for it */
	nr_ops = 0;
	report_and_settle(launch());
	first = launch();
	second = launch();
	CHECK_NE_UINT(first, second);
	report(&second);
	CHECK_EQ_UINT(nr_ops, 1);
	nr_ops = 0;
	report_and_settle(first);
	/* submitted before a pause, and in it */
	first = launch();
	activity_pause_ops(index, true);
	second = launch();
	report(&first);
	CHECK_EQ_UINT(nr_ops, 1);
	CHECK(last_op.correlation && last_op.correlation < 1u << 20);
	activity_pause_ops(index, false);
	report(&second);
	CHECK_EQ_UINT(nr_ops, 1);
	/* submitted in no call that was seen */
	first = 0;
	report(&first);
	CHECK_EQ_UINT(nr_ops, 2);
	CHECK_EQ_UINT(last_op.correlation, 0);
	activity_want_ops(index, NULL);
}
