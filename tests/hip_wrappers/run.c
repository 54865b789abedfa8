/* SPDX-License-Identifier: MIT */
/* run.c - calls wrappers with distinct values, and checks each of them
 *
 * Each case runs in four ways, in each mode: recorded as an event, by the general wrapper; written
 * into the thread's lane, by the quick wrapper of functions that have one; the same with a full
 * lane; and seen by a subscriber.
 *
 * Then two calls in a row that are not recorded, and two that the user leaves out.
 *
 * Usage: DRIVER PREFIX...   runs the cases whose names begin so; none: all
 *        DRIVER --alone     all, where there is no runtime behind the wrappers
 */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "event/bus.h"
#include "event/lane.h"
#include "event/left_out.h"
#include "event/life.h"
#include "source/api/live.h"
#include "source/hip/frame.h"

#define MAX_STRINGS 65536
#define FAILED_STATUS 0x4d2
#define STRAY_ERRNO 77

static const char *const mode_names[] = { "good",      "fails",	   "null",
					  "empty",     "no_args",  "off",
					  "off again", "left out", "left out again" };
static const char *const way_names[] = { "as an event", "in the lane", "with a full lane",
					 "seen by a subscriber" };
static enum { WAY_EVENT, WAY_LANE, WAY_FULL, WAY_SEEN, NR_WAYS } way;

static struct {
	struct chunk_header header;
	uint8_t payload[8 * 256];
} chunk;
static const _Atomic int open_gate = LANE_OPEN;
static struct spool_written written;
static struct lane lane = { .gate = &open_gate, .written = &written };

static uint64_t nr_left_out;
static struct {
	unsigned nr;
	int32_t status;
	uint32_t op, domain, nr_words;
	uint64_t correlation;
	uint64_t words[REC_API_MAX_WORDS];
} api;
/* What the subscriber saw. */
static struct {
	unsigned nr_enter, nr_exit, nr_records;
	uint32_t op;
	uint64_t correlation;
	unsigned char args[STAND_IN_MAX_BYTES];
	bool has_args;
	unsigned char result[64]; /* at least as large as any returned value */
	bool has_result;
} seen;
static size_t args_size, result_size;
static int subscriber_index;
static unsigned nr_failed, nr_ops_named, at_word;
static const char *signature; /* the rest of the op's */
static char *strings[MAX_STRINGS];
static size_t at_byte;
static char current[128];
static bool alone;

__attribute__((format(printf, 2, 3))) static void bad(const struct run *run, const char *fmt, ...)
{
	va_list ap;

	printf("FAILED %s (%s, %s): ", run->name, mode_names[run->mode], way_names[way]);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	nr_failed++;
}

/* A sink instead of the recorder. */
static int sink_start(void)
{
	return 0;
}

static void sink_event(const struct event *ev)
{
	if (ev->kind == EVENT_STRING && ev->string.id < MAX_STRINGS) {
		strings[ev->string.id] = strndup(ev->string.text, ev->string.size);
	} else if (ev->kind == EVENT_OP) {
		const char *name = strings[ev->op.name], *text = strings[ev->op.signature];

		nr_ops_named++;
		if (ev->op.domain != (uint32_t)run_domain || !name || !text ||
		    strcmp(name, run_ops[ev->op.op].name) != 0 ||
		    strcmp(text, run_ops[ev->op.op].signature) != 0) {
			printf("FAILED: op %u is named %s\n", ev->op.op, name ? name : "?");
			nr_failed++;
		}
	} else if (ev->kind == EVENT_API) {
		api.nr++;
		api.status = ev->api.status;
		api.op = ev->api.op;
		api.domain = ev->api.domain;
		api.nr_words = ev->api.nr_words;
		api.correlation = ev->api.correlation;
		for (uint32_t i = 0; i < api.nr_words; i++)
			api.words[i] = ev->api.words[i];
	}
}

/* What the wrapper wrote into its thread's lane. */
static void read_lane(void)
{
	const struct rec_api *r = (const void *)chunk.payload;
	uint32_t committed = atomic_load(&chunk.header.committed);

	if (!committed)
		return;
	if (committed != r->h.size8 * 8u || lane.nr_records != 1 || r->h.type != REC_API ||
	    r->h.id != thread_get()->tid || r->parent || !r->correlation ||
	    r->end_ns < r->begin_ns || lane.busy) {
		printf("FAILED: a record of %u bytes in the lane is not whole\n", committed);
		nr_failed++;
	}
	api.nr++;
	api.status = r->status;
	api.op = r->op;
	api.domain = r->domain;
	api.nr_words = r->nr_words;
	api.correlation = r->correlation;
	memcpy(api.words, r->words, r->nr_words * sizeof(r->words[0]));
}

static void sink_loss(enum spool_reason reason, uint64_t count)
{
	if (reason == SPOOL_REASON_filtered_call) {
		nr_left_out += count;
		return;
	}
	printf("FAILED: %llu events lost, reason %d\n", (unsigned long long)count, (int)reason);
	nr_failed++;
}

static uint64_t sink_tick(uint64_t now_ns)
{
	(void)now_ns;
	return LIFE_IDLE;
}

static void sink_stop(void)
{
}

static const struct sink sink = { .name = "test",
				  .start = sink_start,
				  .event = sink_event,
				  .loss = sink_loss,
				  .tick = sink_tick,
				  .stop = sink_stop };

static void on_enter(struct live_call *call)
{
	seen.nr_enter++;
	seen.op = call->operation;
	seen.correlation = call->correlation;
	seen.has_args = call->args != NULL;
	if (call->args)
		memcpy(seen.args, call->args, args_size);
}

static void on_exit_of_call(struct live_call *call)
{
	seen.nr_exit++;
	seen.has_result = call->result != NULL;
	if (call->result)
		memcpy(seen.result, call->result, result_size);
}

static void on_record(const struct live_call *call)
{
	seen.nr_records++;
	if (call->operation != seen.op)
		seen.nr_records = 99;
}

static const struct live_subscriber subscriber = { on_enter, on_exit_of_call, on_record };

static void on_crash(int sig)
{
	ssize_t n = write(1, "FAILED, crashed: ", 17);

	n = write(1, current, strlen(current));
	(void)n;
	signal(sig, SIG_DFL);
	raise(sig);
}

static bool is_good(const struct run *run)
{
	return run->mode == RUN_GOOD || run->mode == RUN_NO_ARGS || run->mode >= RUN_OFF;
}

/* Sets what is wanted of the calls. Each change makes the next call take the ordinary way. */
static void want(const struct run *run)
{
	bool is_left = run->mode == RUN_LEFT;

	if (run->mode == RUN_OFF_AGAIN || run->mode == RUN_LEFT_AGAIN)
		return;
	api_switch(run_domain, run->mode < RUN_OFF);
	for (uint32_t op = 0; op < API_MAX_OPERATIONS; op++) {
		api_want(run_domain, op, API_LEFT_OUT, is_left);
		live_want(subscriber_index, run_domain, op,
			  way == WAY_SEEN ? LIVE_CALLS | LIVE_RECORDS : LIVE_NOTHING);
	}
}

static unsigned char base_of(const struct run *run)
{
	return run->mode == RUN_NULL ? 0xc1 : 'A';
}

void run_number(struct run *run, void *value, size_t size)
{
	if (run->mode == RUN_EMPTY)
		memset(value, 0, size);
	else
		stand_in_pattern(value, size, run->seed++, base_of(run));
}

void run_bool(struct run *run, bool *value)
{
	*value = run->mode != RUN_EMPTY;
}

void run_count(struct run *run, size_t *value)
{
	*value = run->mode != RUN_EMPTY;
}

void run_struct(struct run *run, void *value, size_t size)
{
	stand_in_pattern(value, size, run->seed++, base_of(run));
}

const char *run_text(struct run *run, const char *text)
{
	return run->mode == RUN_NULL ? NULL : text;
}

void run_object(struct run *run, void *object, size_t size, enum stand_in_what what, bool back)
{
	if (what == STAND_IN_BOOL)
		*(bool *)object = !back;
	else
		stand_in_pattern(object, size, run->seed++, base_of(run));
	if (!back || !is_good(run))
		return;
	if (stand_in.nr_back == STAND_IN_MAX_BACK)
		bad(run, "too much comes back");
	else
		stand_in.back[stand_in.nr_back++] =
			(struct stand_in_back){ object, size, what, run->seed++, NULL };
}

void run_pointer(struct run *run, void *pointer, void *object, bool guarded)
{
	uint64_t nowhere;

	/* an invalid address */
	stand_in_pattern(&nowhere, sizeof(nowhere), run->seed++, 'A');
	if (run->mode == RUN_NULL || (run->mode == RUN_EMPTY && !guarded))
		nowhere = 0;
	if (object && is_good(run))
		memcpy(pointer, &object, sizeof(object));
	else
		memcpy(pointer, &nowhere, sizeof(nowhere));
}

void run_expect(size_t args, size_t result)
{
	args_size = args;
	result_size = result;
}

void run_begin(struct run *run)
{
	memset(&seen, 0, sizeof(seen));
	/* handles may have been freed: names are looked up again */
	run_forget_names();
	snprintf(current, sizeof(current), "%s (%s)\n", run->name, mode_names[run->mode]);
	stand_in.armed = true;
	stand_in.nr_calls = 0;
	stand_in.function = "nothing";
	stand_in.base = 'a';
	stand_in.status = run->mode == RUN_FAILS ? FAILED_STATUS : 0;
	api.nr = 0;
	api_args = run->mode != RUN_NO_ARGS;
	want(run);
	nr_left_out = 0;
	lane.chunk = &chunk.header;
	lane.pos = chunk.payload;
	lane.end = chunk.payload + (way == WAY_LANE ? sizeof(chunk.payload) : 0);
	lane.nr_records = 0;
	atomic_store(&chunk.header.committed, 0);
	thread_get()->lane = way == WAY_EVENT ? &lane_none : &lane;
	/* any special bit keeps calls out of the quick wrapper */
	special_set(SPECIAL_CLOCK, way == WAY_EVENT);
	errno = STRAY_ERRNO;
}

static void check_seen(const struct run *run)
{
	unsigned expected = way == WAY_SEEN && !alone;

	if (seen.nr_enter != expected || seen.nr_exit != expected || seen.nr_records != expected)
		bad(run, "a subscriber saw %u begins, %u ends, %u after that", seen.nr_enter,
		    seen.nr_exit, seen.nr_records);
	else if (expected && strcmp(run_ops[seen.op].name, run->recorded) != 0)
		bad(run, "a subscriber saw %s", run_ops[seen.op].name);
	if (expected && api.nr && seen.correlation != api.correlation)
		bad(run, "a subscriber saw another correlation id than the record has");
}

void run_end(struct run *run, uint32_t op, bool has_status, int32_t status)
{
	int its = errno;

	thread_get()->lane = &lane_none;
	if (api.nr && way == WAY_LANE)
		bad(run, "is an event");
	read_lane();
	if (its != STRAY_ERRNO)
		bad(run, "errno became %d", its);
	check_seen(run);
	if (alone) {
		if (has_status && status != HIP_NOT_LOADED)
			bad(run, "returned %d", status);
		if (api.nr || stand_in.nr_calls)
			bad(run, "%u records, %u calls", api.nr, stand_in.nr_calls);
		return;
	}
	if (strcmp(stand_in.function, run->called) != 0 || stand_in.nr_calls != 1)
		bad(run, "the stand-in saw %u calls, of %s", stand_in.nr_calls, stand_in.function);
	if (has_status && status != stand_in.status)
		bad(run, "returned %d, not %d", status, stand_in.status);
	if (run->mode >= RUN_OFF) {
		left_out_flush();
		if (api.nr)
			bad(run, "was recorded");
		if (way != WAY_SEEN && nr_left_out != (run->mode >= RUN_LEFT))
			bad(run, "%llu calls left out", (unsigned long long)nr_left_out);
		return;
	}
	if (api.nr != 1 || api.op != op || api.domain != (uint32_t)run_domain)
		bad(run, "%u records, of op %u of domain %u", api.nr, api.op, api.domain);
	if (api.status != (has_status ? stand_in.status : 0))
		bad(run, "recorded as returning %d", api.status);
	if (strcmp(run_ops[op].name, run->recorded) != 0)
		bad(run, "its op is %s", run_ops[op].name);
	signature = run_ops[op].signature;
	at_word = 0;
	at_byte = 0;
}

void run_got(struct run *run, const char *name, const void *value, size_t size)
{
	if (alone)
		return;
	if (at_byte + size > stand_in.nr_bytes ||
	    memcmp(stand_in.bytes + at_byte, value, size) != 0)
		bad(run, "the stand-in got another %s", name);
	at_byte += size;
}

void run_got_all(struct run *run)
{
	if (at_byte != stand_in.nr_bytes)
		bad(run, "the stand-in got %zu bytes, not %zu", stand_in.nr_bytes, at_byte);
	at_byte = 0;
}

void run_seen(struct run *run, const char *name, const void *value, size_t offset, size_t size)
{
	if (way != WAY_SEEN || alone)
		return;
	if (!seen.has_args || offset + size > args_size ||
	    memcmp(seen.args + offset, value, size) != 0)
		bad(run, "a subscriber saw another %s", name);
}

void run_seen_result(struct run *run, const void *value, size_t size)
{
	if (way != WAY_SEEN || alone)
		return;
	if (!seen.has_result || size != result_size || memcmp(seen.result, value, size) != 0)
		bad(run, "a subscriber saw that another value was returned");
}

void run_returned(struct run *run, const void *value, size_t size, bool is_text)
{
	unsigned char expected[STAND_IN_MAX_BYTES];
	const char *text;

	if (alone) {
		memset(expected, 0, size);
		if (memcmp(value, expected, size) != 0)
			bad(run, "returned something");
		return;
	}
	if (is_text) {
		memcpy(&text, value, sizeof(text));
		if (!text || strcmp(text, STAND_IN_RETURN_TEXT) != 0)
			bad(run, "returned another text");
		return;
	}
	stand_in_return(expected, size);
	/* the only value of a bool that differs from none */
	if (size == 1)
		expected[0] = 1;
	if (memcmp(value, expected, size) != 0)
		bad(run, "returned something else");
}

/* The next argument of the signature: its type. '\0': it has another name. */
static char next_arg(struct run *run, const char *name)
{
	size_t length = strlen(name);
	const char *arg = signature;

	if (strncmp(arg, name, length) != 0 || arg[length] != ':') {
		bad(run, "expected the argument %s, the signature goes on with %s", name, arg);
		return '\0';
	}
	signature = strchr(arg, ',') ? strchr(arg, ',') + 1 : arg + strlen(arg);
	return arg[length + 1];
}

static uint64_t next_word(struct run *run, const char *name)
{
	if (at_word >= api.nr_words) {
		bad(run, "no word for %s", name);
		return 0;
	}
	return api.words[at_word++];
}

static void compare(struct run *run, const char *name, uint64_t expected)
{
	uint64_t word = next_word(run, name);

	if (word != expected)
		bad(run, "%s is %#llx, not %#llx", name, (unsigned long long)word,
		    (unsigned long long)expected);
}

static bool has_words(const struct run *run)
{
	return run->mode < RUN_OFF && run->mode != RUN_NO_ARGS && !alone;
}

void run_word(struct run *run, const char *name, bool guarded, const void *value, size_t size)
{
	uint64_t bits = 0, more = 0;
	char type;

	if (!has_words(run))
		return;
	type = next_arg(run, name);
	if (!guarded || is_good(run)) {
		memcpy(&bits, value, size < sizeof(bits) ? size : sizeof(bits));
		if (type == 'd')
			memcpy(&more, (const char *)value + 8, 4);
	}
	/* numbers with a sign, and enumerators, fill the word with it */
	if ((type == 'i' || type == 'e') && size < 8 && bits >> (8 * size - 1) & 1)
		bits |= ~UINT64_C(0) << 8 * size;
	compare(run, name, bits);
	if (type == 'd')
		compare(run, name, more);
	if (type != 'd' && size > 8)
		bad(run, "%s: %zu bytes in a word", name, size);
}

void run_word_text(struct run *run, const char *name, bool guarded, const char *text)
{
	const char *found;
	uint64_t word;
	char type;

	if (!has_words(run))
		return;
	type = next_arg(run, name);
	word = next_word(run, name);
	if (type != 's')
		bad(run, "%s is not a text", name);
	if ((guarded && !is_good(run)) || !text) {
		if (word)
			bad(run, "%s is text %llu, not none", name, (unsigned long long)word);
		return;
	}
	found = word < MAX_STRINGS ? strings[word] : NULL;
	if (!found || strcmp(found, text) != 0)
		bad(run, "%s is \"%s\", not \"%s\"", name, found ? found : "(none)", text);
}

void run_word_kernel(struct run *run, bool guarded, bool has_status, uint64_t function)
{
	bool known = guarded ? is_good(run) : function && !(has_status && run->mode == RUN_FAILS);

	run_word_text(run, "kernelName", false, known ? stand_in_kernel(function) : NULL);
}

uint64_t run_agents(const void *dst, const void *src)
{
	return (uint64_t)(uintptr_t)dst * 3 + (uint64_t)(uintptr_t)src;
}

void run_word_agents(struct run *run, const char *name, bool guarded, const void *dst,
		     const void *src)
{
	void *ends[2] = { NULL, NULL };
	uint64_t agents;

	memcpy(&ends[0], dst, sizeof(ends[0]));
	if (src)
		memcpy(&ends[1], src, sizeof(ends[1]));
	agents = run_agents(ends[0], ends[1]);
	run_word(run, name, guarded, &agents, sizeof(agents));
}

void run_words_all(struct run *run)
{
	if (!has_words(run)) {
		if (run->mode == RUN_NO_ARGS && !alone && api.nr_words)
			bad(run, "%u words", api.nr_words);
		return;
	}
	if (*signature || at_word != api.nr_words)
		bad(run, "%u words, %u are expected; rest of the signature: %s", api.nr_words,
		    at_word, signature);
}

void run_callback(struct run *run, uint32_t op, uint32_t expected_op,
		  uint32_t (*decode)(const void *, uint64_t *, bool), const void *args)
{
	uint64_t words[REC_API_MAX_WORDS];
	uint32_t nr;

	if (!has_words(run))
		return;
	if (op != expected_op || !decode) {
		bad(run, "its callback is of op %u", op);
		return;
	}
	nr = decode(args, words, run->mode != RUN_FAILS);
	if (nr != api.nr_words || memcmp(words, api.words, nr * sizeof(*words)) != 0)
		bad(run, "its callback has other words than its wrapper");
}

int main(int argc, char **argv)
{
	unsigned nr_run = 0;

	if (argc > 1 && strcmp(argv[1], "--alone") == 0) {
		alone = true;
		argc = 1;
	}
	signal(SIGSEGV, on_crash);
	signal(SIGBUS, on_crash);
	/* calls that belong to a launch have records of their own, too */
	setenv("RTL_INTERNAL", "1", 1);
	env_init();
	if (bus_attach(&sink) != 0)
		return 1;
	life_set_state(LIFE_ON);
	live_init();
	subscriber_index = live_subscribe(&subscriber);
	run_prepare();
	for (unsigned i = 0; i < run_nr_cases; i++) {
		const struct run_case *c = &run_cases[i];
		bool wanted = argc < 2;

		for (int a = 1; a < argc; a++)
			wanted = wanted || strncmp(c->name, argv[a], strlen(argv[a])) == 0;
		if (!wanted)
			continue;
		nr_run++;
		for (int i_run = 0; i_run < NR_WAYS * RUN_NR_MODES; i_run++) {
			int mode = i_run % RUN_NR_MODES;
			struct run run = { (enum run_mode)mode, c->name, c->called, c->recorded,
					   1000 * i };

			way = i_run / RUN_NR_MODES;
			if (mode == RUN_FAILS && !c->has_status)
				continue;
			stand_in.nr_back = 0;
			c->fn(&run);
		}
	}
	printf("%u functions, %u named, %u failed checks\n", nr_run, nr_ops_named, nr_failed);
	if (nr_ops_named != (alone ? 0 : nr_run)) {
		printf("FAILED: each function is named once\n");
		nr_failed++;
	}
	return nr_failed || !nr_run;
}
