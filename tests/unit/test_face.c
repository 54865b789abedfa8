/* SPDX-License-Identifier: MIT */
/* test_face.c - the small parts of the kit for faces: slots, external ids, locks around forks,
 * agents */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/face/agents.h"
#include "../../lib/face/fork_guard.h"
#include "../../lib/face/id_map.h"
#include "../../lib/face/pending.h"
#include "../../lib/face/per_thread.h"
#include "../../lib/face/slot.h"
#include "base/alloc.h"
#include "base/testpoint.h"
#include "support/test.h"

GUARDED_LOCK(inner, LOCK_BUFFERS);
GUARDED_LOCK(outer, LOCK_REGISTRY);

static struct slot slot;
static _Atomic bool is_over;

static void first(uint32_t domain, uint32_t op, const void *data, void *arg)
{
	(void)domain;
	(void)op;
	(void)data;
	CHECK(arg == (void *)first);
}

static void second(uint32_t domain, uint32_t op, const void *data, void *arg)
{
	(void)domain;
	(void)op;
	(void)data;
	CHECK(arg == (void *)second);
}

static void *change(void *arg)
{
	while (!atomic_load(&is_over)) {
		slot_set(&slot, first, (void *)first);
		slot_set(&slot, second, (void *)second);
		slot_set(&slot, NULL, NULL);
	}
	return arg;
}

#define NR_PENDING 20000

static struct pending pending;
static struct pending_item items[NR_PENDING], base_item = { .key = PENDING_BUCKETS };

static _Atomic uint64_t nr_taken;

static void *put_items(void *arg)
{
	for (uint64_t i = 0; i < NR_PENDING; i++) {
		while (i > atomic_load(&nr_taken) + 2)
			sched_yield();
		pending_put(&pending, &items[i]);
	}
	return arg;
}

/* All keys are of one bucket: an item is taken while others are put in front of it. */
TEST(item_is_taken_while_others_are_put_before_it)
{
	pthread_t thread;

	pending_put(&pending, &base_item);
	for (uint64_t i = 0; i < NR_PENDING; i++)
		items[i].key = (i + 2) * PENDING_BUCKETS;
	CHECK_OK(pthread_create(&thread, NULL, put_items, NULL));
	for (uint64_t i = 0; i < NR_PENDING; i++) {
		struct pending_item *item;

		while (!(item = pending_take(&pending, (i + 2) * PENDING_BUCKETS)))
			sched_yield();
		CHECK(item == &items[i]);
		CHECK_NULL(pending_take(&pending, (i + 2) * PENDING_BUCKETS));
		atomic_store(&nr_taken, i + 1);
	}
	pthread_join(thread, NULL);
	CHECK(pending_take(&pending, PENDING_BUCKETS) == &base_item);
	for (uint64_t i = 0; i < 10; i++)
		CHECK_NULL(pending_take(&pending, i * PENDING_BUCKETS));
}

static void put_in_front(void)
{
	items[1].key = 3 * PENDING_BUCKETS;
	pending_put(&pending, &items[1]);
	items[2].key = 4 * PENDING_BUCKETS;
	pending_put(&pending, &items[2]);
}

/* The item is the first when it is found, and behind two others when it is removed. */
TEST(item_is_removed_from_behind_others_that_were_put_meanwhile)
{
#ifdef RTL_DEBUG_CHECKS
	pending_put(&pending, &base_item);
	items[0].key = 2 * PENDING_BUCKETS;
	pending_put(&pending, &items[0]);
	testpoint_run("pending_front", put_in_front);
	CHECK(pending_take(&pending, items[0].key) == &items[0]);
	CHECK_NULL(pending_take(&pending, items[0].key));
	for (uint64_t i = 1; i < 3; i++) {
		CHECK(pending_take(&pending, items[i].key) == &items[i]);
		CHECK_NULL(pending_take(&pending, items[i].key));
	}
	CHECK(pending_take(&pending, base_item.key) == &base_item);
#else
	(void)put_in_front;
	SKIP("no points to meet at in this build");
#endif
}

TEST(item_behind_others_is_taken)
{
	pending_put(&pending, &base_item);
	for (uint64_t i = 0; i < 3; i++) {
		items[i].key = (i + 2) * PENDING_BUCKETS;
		pending_put(&pending, &items[i]);
	}
	CHECK(pending_take(&pending, items[1].key) == &items[1]);
	CHECK_NULL(pending_take(&pending, items[1].key));
	CHECK(pending_take(&pending, items[0].key) == &items[0]);
	CHECK(pending_take(&pending, items[2].key) == &items[2]);
	CHECK(pending_take(&pending, base_item.key) == &base_item);
}

TEST(slot_gives_function_with_its_own_argument)
{
	unsigned nr = 0;
	pthread_t thread;
	slot_fn fn;
	void *arg;

	CHECK(!slot_get(&slot, &arg));
	pthread_create(&thread, NULL, change, NULL);
	while (nr < 100000) {
		fn = slot_get(&slot, &arg);
		if (fn) {
			fn(0, 0, NULL, arg);
			nr++;
		}
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
}

static void *has_none(void *arg)
{
	uint64_t id;

	CHECK(!per_thread_external(&id));
	CHECK(per_thread_get() != arg);
	return NULL;
}

TEST(external_ids_are_a_stack_of_each_thread)
{
	struct per_thread *t = per_thread_get();
	pthread_t thread;
	uint64_t id = 9;

	CHECK(!id_stack_pop(&t->external, &id));
	CHECK_EQ_UINT(id, 0);
	for (uint64_t i = 1; i <= 100; i++)
		CHECK(id_stack_push(&t->external, i));
	pthread_create(&thread, NULL, has_none, t);
	pthread_join(thread, NULL);
	for (uint64_t i = 100; i; i--) {
		CHECK(per_thread_external(&id));
		CHECK_EQ_UINT(id, i);
		CHECK(id_stack_pop(&t->external, &id));
		CHECK_EQ_UINT(id, i);
	}
	CHECK(!per_thread_external(&id));
}

static void *take_and_drop(void *arg)
{
	while (!atomic_load(&is_over)) {
		lock_take(&outer);
		lock_take(&inner);
		lock_drop(&inner);
		lock_drop(&outer);
	}
	return arg;
}

RTL_NO_TSA static bool locks_are_free(void)
{
	return lock_try(&outer) && lock_try(&inner);
}

TEST(child_of_a_fork_finds_guarded_locks_free)
{
	pthread_t thread;
	int status;

	fork_guard_start();
	pthread_create(&thread, NULL, take_and_drop, NULL);
	for (unsigned i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(locks_are_free() ? 0 : 1);
		CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
		CHECK_EQ_INT(status, 0);
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
}

TEST(fork_under_an_excepted_lock_leaves_it_held)
{
	int status = -1;
	pid_t pid;

	fork_guard_start();
	lock_take(&outer);
	fork_guard_except(&outer);
	pid = fork();
	if (pid == 0)
		_exit(pthread_mutex_trylock(&outer.mutex) != 0 && lock_try(&inner) ? 0 : 1);
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	CHECK_EQ_INT(status, 0);
	CHECK(pthread_mutex_trylock(&outer.mutex) != 0);
	fork_guard_except(NULL);
	lock_drop(&outer);
}

/* Two GPUs behind a CPU, and an agent that gives no type. */
static hsa_status_t iterate(hsa_status_t (*callback)(hsa_agent_t, void *), void *data)
{
	for (uint64_t i = 1; i <= 4; i++)
		callback((hsa_agent_t){ i }, data);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_info(hsa_agent_t agent, hsa_agent_info_t what, void *value)
{
	uint32_t *v = value;

	if (agent.handle == 4)
		return HSA_STATUS_ERROR;
	if (what == HSA_AGENT_INFO_DEVICE)
		*v = agent.handle == 1 ? HSA_DEVICE_TYPE_CPU : HSA_DEVICE_TYPE_GPU;
	else if ((uint32_t)what == HSA_AMD_AGENT_INFO_DRIVER_NODE_ID)
		*v = (uint32_t)agent.handle + 10;
	else
		*v = (uint32_t)agent.handle;
	return HSA_STATUS_SUCCESS;
}

TEST(agents_are_counted_by_type)
{
	struct agent agents[AGENTS_MAX];

	CHECK_EQ_UINT(agents_list(iterate, get_info, agents), 3);
	CHECK_EQ_UINT(agents[0].type, HSA_DEVICE_TYPE_CPU);
	CHECK_EQ_UINT(agents[0].index, 0);
	CHECK_EQ_UINT(agents[1].index, 0);
	CHECK_EQ_UINT(agents[2].index, 1);
	CHECK_EQ_UINT(agents[2].node, 13);
	CHECK_EQ_UINT(agents[2].bdf, 3);
	CHECK_EQ_UINT(agents_list(NULL, get_info, agents), 0);
}

static void *use_thread_without_memory(void *arg)
{
	alloc_fail_at(1);
	CHECK_NULL(per_thread_get());
	alloc_fail_at(0);
	CHECK_NOT_NULL(per_thread_get());
	return arg;
}

TEST(parts_without_memory_keep_what_they_have)
{
	static struct id_map map;
	struct id_stack stack = { 0 };
	pthread_t thread;
	uint64_t id;

	for (uint64_t i = 1; i <= 100; i++) {
		if (i % 3 == 0) {
			uint32_t nr = stack.nr;

			alloc_fail_at(1);
			if (!id_stack_push(&stack, i))
				CHECK_EQ_UINT(stack.nr, nr);
			else
				CHECK(id_stack_pop(&stack, &id));
			alloc_fail_at(0);
		}
		CHECK(id_stack_push(&stack, i));
	}
	for (uint64_t i = 100; i >= 1; i--) {
		CHECK(id_stack_pop(&stack, &id));
		CHECK_EQ_UINT(id, i);
	}
	CHECK(!id_stack_pop(&stack, &id));
	alloc_free(stack.ids);

	alloc_fail_at(1);
	id_map_set(&map, 5, 7);
	alloc_fail_at(0);
	CHECK_EQ_UINT(id_map_get(&map, 5), 0);
	for (uint32_t i = 0; i < 3 * ID_MAP_CHUNK; i++)
		id_map_set(&map, i, i + 1);
	alloc_fail_at(1);
	id_map_set(&map, 8, 1000); /* its part is there */
	alloc_fail_at(0);
	CHECK_EQ_UINT(id_map_get(&map, 8), 1000);
	for (uint32_t i = 0; i < 3 * ID_MAP_CHUNK; i++)
		CHECK_EQ_UINT(id_map_get(&map, i), i == 8 ? 1000 : i + 1);
	id_map_set(&map, ID_MAP_MAX, 1);
	CHECK_EQ_UINT(id_map_get(&map, ID_MAP_MAX), 0);

	CHECK_OK(pthread_create(&thread, NULL, use_thread_without_memory, NULL));
	pthread_join(thread, NULL);
}

static pthread_key_t late_key;
static bool was_forgotten;

/* Runs behind what frees the thread's block: its key was made before. */
static void end_late(void *arg)
{
	(void)arg;
	was_forgotten = !per_thread_own;
}

static void *end_thread(void *arg)
{
	CHECK_NOT_NULL(per_thread_get());
	CHECK_OK(pthread_setspecific(late_key, arg));
	return NULL;
}

TEST(later_destructor_of_a_thread_finds_no_freed_block)
{
	pthread_t thread;

	CHECK_NOT_NULL(per_thread_get());
	CHECK_OK(pthread_key_create(&late_key, end_late));
	CHECK_OK(pthread_create(&thread, NULL, end_thread, &late_key));
	CHECK_OK(pthread_join(thread, NULL));
	CHECK(was_forgotten);
}
