/* SPDX-License-Identifier: MIT */
/* join.c - finds the call of an operation that one of HIP's own threads submitted
 *
 * A command has one or more signals, submitted one right after the other. The submitting thread
 * reports the ends of commands one by one in the order of submission. The reported times are those
 * of the signals that it read last, the command's last ones: from the first of their begins to the
 * last of their ends. Signals that it had read before (large copies wait for their parts) are
 * between those and the previous command, provided that command is known and no command in between
 * was not understood.
 *
 * Owns:     submitted operations, by signal; the read times that no command has claimed yet
 *           (answers), the last NR_ANSWERS of them.
 * Threads:  see join.h.
 * Locks:    `lock`, a leaf; the bus is called without it.
 * Hot path: join_submitted(), join_wanted(): no lock, no allocation, no system call.
 * Fails:    no free slot for a signal, or its answer was replaced by later ones: not joined.
 */
#include "event/join.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "event/bus.h"
#include "event/filter.h"
#include "event/special.h"
#include "event/life.h"

#define NR_SIGNALS 65536u
#define WINDOW 16u
#define NR_NUMBERS 4096u
#define NR_ANSWERS 65536u
#define NR_CHAINS 16384u
#define MAX_SAME 16u  /* answers with one begin, or one end: more can't be distinguished */
#define MAX_RUN 64u   /* answers that one pair of times covers */
#define MAX_OPS 1024u /* operations of one command */
#define MAX_TURNS 65536u
#define NR_CALLS (1u << 18) /* more than are in flight; ids are dense */
#define ASKED UINT64_MAX

/* Free if signal is 0; a slot keeps its signal until that is destroyed. */
struct slot {
	_Atomic uint64_t signal;
	_Atomic uint64_t correlation; /* 0: not an operation; ASKED */
	_Atomic uint64_t turn;	      /* tid << 32 | number of the thread's earlier submissions */
	uint64_t reserved;
};

#define BUSY UINT64_MAX

/* One call for each slot, the last of that id. */
struct begun {
	_Atomic uint64_t correlation; /* 0: none; BUSY: being written */
	_Atomic uint64_t marker;
	_Atomic uint32_t tid;
	uint32_t reserved;
};

enum { BY_BEGIN, BY_END, BY_TURN, NR_KEYS };

struct answer {
	uint64_t key[NR_KEYS];
	uint64_t correlation;
	uint32_t open;			       /* not claimed by a command: it is in the chains */
	uint32_t next[NR_KEYS], prev[NR_KEYS]; /* entry + 1 */
};

_Atomic bool join_on;

/* set in turn_on, constant afterwards */
static struct slot *slots;
static struct begun *begun;
static struct lock lock = LOCK_INIT(LOCK_JOIN);
static struct answer *answers RTL_GUARDED_BY(lock);
static uint32_t *chains[NR_KEYS] RTL_GUARDED_BY(lock); /* entry + 1 of the first */
static uint64_t nr_answers RTL_GUARDED_BY(lock);
/* atomic */
static _Atomic uint64_t nr_open; /* submitted and not joined */
/* State of the commands of this thread. */
static _Thread_local struct {
	uint64_t last; /* turn of the last command that was understood; initially none */
	bool known;
	bool clean; /* every command since then was understood */
} mine;

/* By thread. Two threads that share an entry have gaps in their turns, and so no commands of more
 * than one signal. */
static _Atomic uint32_t numbers[NR_NUMBERS];

bool join_turn_on(void)
{
	bool all;

	lock_take(&lock);
	if (!slots) {
		slots = alloc_pages(NR_SIGNALS * sizeof(*slots));
		answers = alloc_pages(NR_ANSWERS * sizeof(*answers));
		begun = alloc_pages(NR_CALLS * sizeof(*begun));
		for (int k = 0; k < NR_KEYS; k++)
			chains[k] = alloc_pages(NR_CHAINS * sizeof(*chains[k]));
	}
	all = slots && answers && begun;
	for (int k = 0; k < NR_KEYS; k++)
		all = all && chains[k];
	/* release: pairs with join_is_on() */
	if (all) {
		atomic_store_explicit(&join_on, true, memory_order_release);
		special_set(SPECIAL_JOINS, true);
	}
	lock_drop(&lock);
	return all;
}

static uint32_t hash_of(uint64_t n)
{
	return (uint32_t)(n * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* ---- signals --------------------------------------------------------------------------------- */

static struct slot *window_of(uint64_t signal)
{
	return &slots[hash_of(signal >> 6) & (NR_SIGNALS - WINDOW)];
}

static struct slot *find(uint64_t signal)
{
	struct slot *p = window_of(signal);

	for (uint32_t i = 0; i < WINDOW; i++)
		/* relaxed: the caller is ordered after earlier uses of its signal */
		if (atomic_load_explicit(&p[i].signal, memory_order_relaxed) == signal)
			return &p[i];
	return NULL;
}

static struct slot *claim(uint64_t signal)
{
	struct slot *p = window_of(signal);

	for (uint32_t i = 0; i < WINDOW; i++) {
		uint64_t none = 0;

		/* acquire: pairs with join_forget() */
		if (atomic_compare_exchange_strong_explicit(&p[i].signal, &none, signal,
							    memory_order_acquire,
							    memory_order_relaxed))
			return &p[i];
	}
	return NULL;
}

void join_submitted(uint64_t signal, uint32_t tid)
{
	uint64_t number =
		atomic_fetch_add_explicit(&numbers[tid % NR_NUMBERS], 1, memory_order_relaxed);
	struct slot *p = find(signal);

	if (!p)
		p = claim(signal);
	if (!p)
		return;
	atomic_store_explicit(&p->turn, (uint64_t)tid << 32 | (uint32_t)number,
			      memory_order_relaxed);
	/* release: pairs with join_asked() */
	atomic_store_explicit(&p->correlation, 0, memory_order_release);
}

void join_wanted(uint64_t signal, uint64_t correlation)
{
	struct slot *p = find(signal);

	if (correlation & EVENT_LEFT_OUT)
		return;
	atomic_fetch_add_explicit(&nr_open, 1, memory_order_relaxed);
	if (p)
		atomic_store_explicit(&p->correlation, correlation, memory_order_release);
}

void join_unwanted(uint64_t signal, uint64_t correlation)
{
	struct slot *p = find(signal);

	if (correlation & EVENT_LEFT_OUT)
		return;
	atomic_fetch_sub_explicit(&nr_open, 1, memory_order_relaxed);
	/* another operation may use it by now */
	if (p)
		atomic_compare_exchange_strong_explicit(&p->correlation, &correlation, 0,
							memory_order_release, memory_order_relaxed);
}

void join_forget(uint64_t signal)
{
	struct slot *p = find(signal);

	if (!p)
		return;
	atomic_store_explicit(&p->correlation, 0, memory_order_relaxed);
	/* release: pairs with claim() */
	atomic_store_explicit(&p->signal, 0, memory_order_release);
}

/* ---- calls ----------------------------------------------------------------------------------- */

void join_begins(const struct join_call *call)
{
	struct begun *b = &begun[call->correlation % NR_CALLS];

	/* as a sequence lock: a reader that sees the same id before and after has a consistent
	 * copy. Of two concurrent writers the second stores nothing. */
	if (atomic_exchange_explicit(&b->correlation, BUSY, memory_order_relaxed) == BUSY)
		return;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&b->marker, call->marker, memory_order_relaxed);
	atomic_store_explicit(&b->tid, call->tid, memory_order_relaxed);
	/* release: pairs with join_begun() */
	atomic_store_explicit(&b->correlation, call->correlation, memory_order_release);
}

bool join_begun(uint64_t correlation, struct join_call *call)
{
	uint64_t id = correlation & JOIN_ID;
	struct begun *b = &begun[id % NR_CALLS];
	struct join_call found = { .correlation = id };

	/* acquire: pairs with join_begins() */
	if (!id || atomic_load_explicit(&b->correlation, memory_order_acquire) != id)
		return false;
	found.marker = atomic_load_explicit(&b->marker, memory_order_relaxed);
	found.tid = atomic_load_explicit(&b->tid, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&b->correlation, memory_order_relaxed) != id)
		return false;
	*call = found;
	return true;
}

/* ---- answers, all under the lock ------------------------------------------------------------- */

RTL_REQUIRES(lock) static uint32_t *chain_of(int k, uint64_t key)
{
	return &chains[k][hash_of(key) & (NR_CHAINS - 1)];
}

RTL_REQUIRES(lock) static void unchain(struct answer *a)
{
	for (int k = 0; k < NR_KEYS; k++) {
		if (a->prev[k])
			answers[a->prev[k] - 1].next[k] = a->next[k];
		else
			*chain_of(k, a->key[k]) = a->next[k];
		if (a->next[k])
			answers[a->next[k] - 1].prev[k] = a->prev[k];
	}
	a->open = 0;
}

RTL_REQUIRES(lock) static void add(const struct answer *what)
{
	uint32_t at = (uint32_t)(nr_answers++ % NR_ANSWERS) + 1;
	struct answer *a = &answers[at - 1];

	if (a->open)
		unchain(a);
	*a = *what;
	a->open = 1;
	for (int k = 0; k < NR_KEYS; k++) {
		uint32_t *first = chain_of(k, a->key[k]);

		a->prev[k] = 0;
		a->next[k] = *first;
		if (*first)
			answers[*first - 1].prev[k] = at;
		*first = at;
	}
}

static uint32_t submitter(const struct answer *a)
{
	return (uint32_t)(a->key[BY_TURN] >> 32);
}

struct same {
	struct answer *a[MAX_SAME];
	uint32_t nr;
};

/* The answers of the thread with that key `k`; false: too many. */
RTL_REQUIRES(lock) static bool find_same(uint32_t tid, int k, uint64_t key, struct same *out)
{
	out->nr = 0;
	for (uint32_t at = *chain_of(k, key); at; at = answers[at - 1].next[k]) {
		struct answer *a = &answers[at - 1];

		if (a->key[k] != key || submitter(a) != tid)
			continue;
		if (out->nr == MAX_SAME)
			return false;
		out->a[out->nr++] = a;
	}
	return true;
}

RTL_REQUIRES(lock) static struct answer *of_turn(uint64_t turn)
{
	for (uint32_t at = *chain_of(BY_TURN, turn); at; at = answers[at - 1].next[BY_TURN])
		if (answers[at - 1].key[BY_TURN] == turn)
			return &answers[at - 1];
	return NULL;
}

/* The answers that a pair of times covers: `nr`, in their turns. */
struct group {
	struct answer *a[MAX_RUN];
	uint32_t nr;
};

/* Whether the answers from `x` to `y` can belong to one command. */
RTL_REQUIRES(lock)
static bool is_run(const struct answer *x, const struct answer *y, struct group *g)
{
	uint64_t turn = x->key[BY_TURN];

	for (g->nr = 0; g->nr < MAX_RUN && turn <= y->key[BY_TURN]; turn++) {
		struct answer *a = of_turn(turn);

		if (!a || a->key[BY_BEGIN] < x->key[BY_BEGIN] || a->key[BY_END] > y->key[BY_END])
			return false;
		g->a[g->nr++] = a;
	}
	return g->nr && g->a[g->nr - 1] == y;
}

static bool has(const struct group *g, const struct answer *a)
{
	for (uint32_t i = 0; i < g->nr; i++)
		if (g->a[i] == a)
			return true;
	return false;
}

static uint32_t next_operation(const struct group *g, uint32_t i)
{
	while (i < g->nr && !g->a[i]->correlation)
		i++;
	return i;
}

/* Whether the two groups differ only by barriers. */
static bool has_same_operations(const struct group *x, const struct group *y)
{
	uint32_t i = next_operation(x, 0), j = next_operation(y, 0);

	while (i < x->nr && j < y->nr && x->a[i] == y->a[j]) {
		i = next_operation(x, i + 1);
		j = next_operation(y, j + 1);
	}
	return i == x->nr && j == y->nr;
}

/* The only possible group with that begin and that end; false: none, or several. */
RTL_REQUIRES(lock)
static bool find_group(uint32_t tid, uint64_t begin, uint64_t end, struct group *g)
{
	struct answer *single = NULL;
	struct group run;
	struct same x, y;

	g->nr = 0;
	if (!find_same(tid, BY_BEGIN, begin, &x) || !find_same(tid, BY_END, end, &y))
		return false;
	for (uint32_t i = 0; i < x.nr; i++) {
		if (x.a[i]->key[BY_END] != end)
			continue;
		if (single)
			return false;
		single = x.a[i];
	}
	for (uint32_t i = 0; i < x.nr; i++) {
		for (uint32_t j = 0; j < y.nr; j++) {
			/* a group with the single answer: that one is the command's in any case */
			if (x.a[i] == y.a[j] || !is_run(x.a[i], y.a[j], &run) || has(&run, single))
				continue;
			if (single || (g->nr && !has_same_operations(g, &run)))
				return false;
			if (!g->nr || run.nr < g->nr)
				*g = run;
		}
	}
	if (single) {
		g->a[0] = single;
		g->nr = 1;
	}
	return g->nr > 0;
}

RTL_REQUIRES(lock) static uint32_t claim_one(struct answer *a, uint64_t *ids, uint32_t nr)
{
	if (a->correlation && nr < MAX_OPS)
		ids[nr++] = a->correlation;
	unchain(a);
	return nr;
}

/* Claims the command whose last signals are the group's; stores its operations' ids and returns
 * their number. */
RTL_REQUIRES(lock) static uint32_t claim_command(struct group *g, uint64_t *ids)
{
	uint64_t turn = mine.last + 1, first = g->a[0]->key[BY_TURN], begin = UINT64_MAX;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < g->nr; i++)
		if (g->a[i]->key[BY_BEGIN] < begin)
			begin = g->a[i]->key[BY_BEGIN];
	if (!mine.clean || first - turn > MAX_TURNS)
		turn = first;
	for (; turn < first; turn++) {
		struct answer *a = of_turn(turn);

		if (a && a->key[BY_END] <= begin)
			nr = claim_one(a, ids, nr);
	}
	mine.last = g->a[g->nr - 1]->key[BY_TURN];
	for (uint32_t i = 0; i < g->nr; i++)
		nr = claim_one(g->a[i], ids, nr);
	return nr;
}

void join_asked(uint64_t signal, uint64_t begin_ns, uint64_t end_ns)
{
	struct answer a = { .key = { begin_ns, end_ns } };
	struct slot *p = find(signal);

	if (!life_on() || !p)
		return;
	/* acquire: pairs with join_submitted(). Only the first read is of the submitted
	 * operation. */
	a.correlation = atomic_exchange_explicit(&p->correlation, ASKED, memory_order_acquire);
	if (a.correlation == ASKED)
		return;
	a.key[BY_TURN] = atomic_load_explicit(&p->turn, memory_order_relaxed);
	lock_take(&lock);
	add(&a);
	lock_drop(&lock);
}

void join_submits(uint32_t tid)
{
	uint64_t number = atomic_load_explicit(&numbers[tid % NR_NUMBERS], memory_order_relaxed);

	if (mine.known)
		return;
	mine.last = ((uint64_t)tid << 32 | (uint32_t)number) - 1;
	mine.known = mine.clean = true;
}

void join_reported(const struct join_call *call, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ids[MAX_OPS];
	struct thread *t;
	struct group g;
	uint32_t nr = 0;

	/* in a forked child the lock may never be released */
	if (!life_on())
		return;
	lock_take(&lock);
	if (find_group(thread_get()->tid, begin_ns, end_ns, &g)) {
		nr = claim_command(&g, ids);
		mine.clean = mine.known;
	} else {
		mine.clean = false;
	}
	lock_drop(&lock);
	if (!nr || !call->correlation || !life_enter(&t))
		return;
	for (uint32_t i = 0; i < nr; i++) {
		struct event ev = { .kind = EVENT_LINK };

		ev.link.operation = ids[i];
		ev.link.correlation = call->correlation;
		ev.link.marker = call->marker;
		ev.link.tid = call->tid;
		bus_emit(&ev);
	}
	life_leave(t);
	atomic_fetch_sub_explicit(&nr_open, nr, memory_order_relaxed);
}

void join_reported_other(void)
{
	mine.clean = false;
}

void join_finish(void)
{
	uint64_t nr;

	if (!join_is_on())
		return;
	nr = atomic_exchange_explicit(&nr_open, 0, memory_order_relaxed);
	/* calls that the user left out are not missed, and look the same */
	if (nr && !filter_has_calls)
		bus_loss(SPOOL_REASON_api_missed, nr);
}
