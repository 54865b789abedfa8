/* SPDX-License-Identifier: MIT */
/* fake_signal.c - the fake runtime's signals
 *
 * Owns:    the signals. Destruction frees the memory: the address sanitizer sees late accesses, and
 *          addresses are reused.
 * Threads: any.
 */
#include <stdlib.h>

#include "support/fake_parts.h"
#include "support/test.h"

#define ALIVE UINT64_C(0x616c697665736967)

struct fake_signal *fake_signal_check(hsa_signal_t s)
{
	struct fake_signal *sig = (struct fake_signal *)(uintptr_t)s.handle;

	CHECK(sig != NULL);
	CHECK(sig->magic == ALIVE);
	return sig;
}

hsa_signal_t fake_signal_make(int64_t kind, int64_t value, struct fake_queue *doorbell_of)
{
	struct fake_signal *sig = aligned_alloc(64, (sizeof(*sig) + 63) / 64 * 64);

	CHECK(sig != NULL);
	FAKE_KEPT(sig);
	memset(sig, 0, sizeof(*sig));
	sig->magic = ALIVE;
	sig->doorbell_of = doorbell_of;
	sig->amd.kind = kind;
	sig->amd.value = value;
	return (hsa_signal_t){ (uint64_t)(uintptr_t)sig };
}

hsa_signal_t fake_signal(int64_t value)
{
	return fake_signal_make(AMD_SIGNAL_KIND_USER, value, NULL);
}

void fake_signal_destroy(hsa_signal_t s)
{
	CHECK_EQ_INT(FAKE_CORE(signal_destroy)(s), HSA_STATUS_SUCCESS);
	atomic_fetch_sub(&fake.nr_signals_destroyed,
			 1); /* the program's destructions are not counted */
}

void fake_signal_set(hsa_signal_t s, int64_t value)
{
	__atomic_store_n(&fake_signal_check(s)->amd.value, value, __ATOMIC_RELEASE);
}

int64_t fake_signal_get(hsa_signal_t s)
{
	return __atomic_load_n(&fake_signal_check(s)->amd.value, __ATOMIC_ACQUIRE);
}

void fake_signal_complete(const struct fake_queue *q, hsa_signal_t s, uint64_t begin, uint64_t end)
{
	struct fake_signal *sig;

	if (!s.handle)
		return;
	sig = fake_signal_check(s);
	if (atomic_load(&q->profiled) && !atomic_load(&fake.no_times)) {
		if (atomic_load(&fake.inverted)) {
			uint64_t swap = begin;

			begin = end;
			end = swap;
		}
		__atomic_store_n(&sig->amd.start_ts, begin, __ATOMIC_RELAXED);
		__atomic_store_n(&sig->amd.end_ts, end, __ATOMIC_RELEASE);
	}
	__atomic_fetch_sub(&sig->amd.value, 1, __ATOMIC_RELEASE);
}

/* ---- the runtime's functions ----------------------------------------------------------------- */

static hsa_status_t create(hsa_signal_value_t value, uint32_t nr, const hsa_agent_t *who,
			   uint64_t attributes, hsa_signal_t *out)
{
	uint64_t limit = atomic_load(&fake.no_signal_after);

	(void)nr;
	(void)who;
	CHECK_EQ_UINT(attributes, HSA_AMD_SIGNAL_AMD_GPU_ONLY);
	if (limit && atomic_load(&fake.nr_signals_made) >= limit)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	atomic_fetch_add(&fake.nr_signals_made, 1);
	*out = fake_signal(value);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy(hsa_signal_t s)
{
	struct fake_signal *sig = fake_signal_check(s);

	sig->magic = 0;
	free(sig);
	atomic_fetch_add(&fake.nr_signals_destroyed, 1);
	return HSA_STATUS_SUCCESS;
}

static void store(hsa_signal_t s, hsa_signal_value_t value, enum hsa_core_id how)
{
	struct fake_signal *sig = fake_signal_check(s);

	if (sig->doorbell_of)
		fake_queue_rang(sig->doorbell_of, value, how);
	else
		fake_signal_set(s, value);
}

static bool is_met(hsa_signal_condition_t condition, int64_t value, int64_t compare)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compare;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compare;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compare;
	default:
		return value >= compare;
	}
}

#define STORES(X)                                                                                  \
	X(store_relaxed) X(store_screlease) X(silent_store_relaxed) X(silent_store_screlease)
#define LOADS(X) X(load_relaxed) X(load_scacquire)
#define WAITS(X) X(wait_relaxed) X(wait_scacquire)
#define ORDERS(X, op)                                                                              \
	X(op, relaxed)                                                                             \
	X(op, scacquire)                                                                           \
	X(op, screlease)                                                                           \
	X(op, scacq_screl)
#define CHANGES(X) ORDERS(X, and) ORDERS(X, or) ORDERS(X, xor) ORDERS(X, add) ORDERS(X, sub)

#define STORE(name)                                                                                \
	static void name(hsa_signal_t s, hsa_signal_value_t value)                                 \
	{                                                                                          \
		store(s, value, HSA_CORE_signal_##name);                                           \
	}
#define LOAD(name)                                                                                 \
	static hsa_signal_value_t name(hsa_signal_t s)                                             \
	{                                                                                          \
		return fake_signal_get(s);                                                         \
	}
/* `timeout`: maximum number of reads */
#define WAIT(name)                                                                                 \
	static hsa_signal_value_t name(hsa_signal_t s, hsa_signal_condition_t condition,           \
				       hsa_signal_value_t compare, uint64_t timeout,               \
				       hsa_wait_state_t state)                                     \
	{                                                                                          \
		(void)state;                                                                       \
		while (!is_met(condition, fake_signal_get(s), compare) && timeout--)               \
			;                                                                          \
		return fake_signal_get(s);                                                         \
	}
#define CHANGE(op, order)                                                                          \
	static void op##_##order(hsa_signal_t s, hsa_signal_value_t value)                         \
	{                                                                                          \
		__atomic_fetch_##op(&fake_signal_check(s)->amd.value, value, __ATOMIC_ACQ_REL);    \
	}
#define EXCHANGE(op, order)                                                                        \
	static hsa_signal_value_t op##_##order(hsa_signal_t s, hsa_signal_value_t value)           \
	{                                                                                          \
		return __atomic_exchange_n(&fake_signal_check(s)->amd.value, value,                \
					   __ATOMIC_ACQ_REL);                                      \
	}
#define CAS(op, order)                                                                             \
	static hsa_signal_value_t op##_##order(hsa_signal_t s, hsa_signal_value_t expected,        \
					       hsa_signal_value_t value)                           \
	{                                                                                          \
		__atomic_compare_exchange_n(&fake_signal_check(s)->amd.value, &expected, value,    \
					    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);            \
		return expected;                                                                   \
	}
STORES(STORE)
LOADS(LOAD)
WAITS(WAIT)
CHANGES(CHANGE)
ORDERS(EXCHANGE, exchange)
ORDERS(CAS, cas)

void fake_signal_fill(unsigned nr)
{
#define NAMED(name) fake.core.entry[HSA_CORE_signal_##name] = (void *)name;
#define ORDERED(op, order) fake.core.entry[HSA_CORE_signal_##op##_##order] = (void *)op##_##order;
/* the HSA function's name is longer than the compiler's */
#define HSA_CORE_signal_sub_relaxed HSA_CORE_signal_subtract_relaxed
#define HSA_CORE_signal_sub_scacquire HSA_CORE_signal_subtract_scacquire
#define HSA_CORE_signal_sub_screlease HSA_CORE_signal_subtract_screlease
#define HSA_CORE_signal_sub_scacq_screl HSA_CORE_signal_subtract_scacq_screl
	STORES(NAMED)
	LOADS(NAMED)
	WAITS(NAMED)
	CHANGES(ORDERED)
	ORDERS(ORDERED, exchange)
	ORDERS(ORDERED, cas)
	fake.core.entry[HSA_CORE_signal_destroy] = (void *)destroy;
	fake_fill_amd(nr, 31, (void *)create);
}
