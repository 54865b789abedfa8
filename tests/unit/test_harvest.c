/* SPDX-License-Identifier: MIT */
/* test_harvest.c - producers, a slow GPU and the harvester at once: each dispatch is recorded once
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/testpoint.h"
#include "event/life.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/queue/queue_calls.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

#ifdef RTL_SANITIZE_THREAD
#define SCALE 4
#else
#define SCALE 1
#endif
#define NR_QUEUES 4u
#define NR_PRODUCERS 4u
#define PER_PRODUCER (20000u / SCALE)
#define NR_IDS (NR_PRODUCERS * PER_PRODUCER)

static const hsa_signal_t none;

struct gpu {
	pthread_t thread;
	struct fake_queue *q;
	_Atomic bool stop;
	unsigned seed;
};

/* Executes packets in batches of random size, with random pauses. */
static void *run_gpu(void *arg)
{
	struct gpu *g = arg;

	while (!atomic_load(&g->stop) || fake_in_ring(g->q)) {
		uint64_t n = fake_gpu_run(g->q, 1 + (uint64_t)rand_r(&g->seed) % 100);

		if (!n)
			usleep(50);
		else if (rand_r(&g->seed) % 64 == 0)
			usleep(300);
	}
	return NULL;
}

static struct gpu gpus[NR_QUEUES];

static void start_gpus(unsigned nr, uint32_t size)
{
	for (unsigned i = 0; i < nr; i++) {
		gpus[i].q = fake_queue_create(size);
		gpus[i].seed = i + 1;
		atomic_store(&gpus[i].stop, false);
		CHECK_OK(pthread_create(&gpus[i].thread, NULL, run_gpu, &gpus[i]));
	}
}

static void stop_gpus(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		atomic_store(&gpus[i].stop, true);
	for (unsigned i = 0; i < nr; i++)
		pthread_join(gpus[i].thread, NULL);
}

/* Each id is recorded once, with its own times. `ids`: [1, n]. */
static void check_all(uint32_t n)
{
	uint8_t *seen = calloc(n + 1, 1);
	uint64_t nr = sink_record_count(EVENT_DISPATCH), at = 0;
	const struct event **d = calloc(nr, sizeof(*d));

	CHECK(seen && d);
	CHECK_EQ_UINT(nr, n);
	sink_record_each(EVENT_DISPATCH, d, nr);
	for (at = 0; at < nr; at++) {
		const struct event_dispatch *e = &d[at]->dispatch;
		uint32_t id = e->grid[0];

		CHECK_GE_UINT(id, 1);
		CHECK_LE_UINT(id, n);
		CHECK_EQ_UINT(seen[id]++, 0);
		CHECK_EQ_UINT(e->begin_ticks, fake_begin_ticks(id));
		CHECK_EQ_UINT(e->end_ticks, fake_end_ticks(id));
	}
	free(seen);
	free(d);
}

struct producer {
	pthread_t thread;
	uint32_t first;
	bool with_signals;
	hsa_signal_t counting;
};

static void wait_for(hsa_signal_t s)
{
	while (fake_signal_get(s) > 0)
		usleep(20);
}

static void *produce(void *arg)
{
	struct producer *p = arg;
	hsa_signal_t own[16];
	bool used[16] = { false };

	for (int i = 0; i < 16; i++)
		own[i] = fake_signal(1);
	for (uint32_t i = 0; i < PER_PRODUCER; i++) {
		struct fake_queue *q = gpus[(i / 8 + p->first) % NR_QUEUES].q;
		union fake_packet packet = fake_dispatch(p->first + i, none);
		unsigned k = i % 16;

		if (p->with_signals && i % 3 == 1) {
			if (used[k])
				wait_for(own[k]);
			if (used[k] && i % 5 == 0) {
				fake_signal_destroy(own[k]);
				own[k] = fake_signal(1);
			}
			fake_signal_set(own[k], 1);
			used[k] = true;
			packet.dispatch.completion_signal = own[k];
		} else if (p->with_signals && i % 7 == 2) {
			packet.dispatch.completion_signal = p->counting;
		}
		fake_submit(q, &packet, 1);
	}
	return NULL;
}

static void produce_and_check(uint32_t ring, bool with_signals)
{
	struct producer producers[NR_PRODUCERS];
	uint64_t shared = 0;

	fake_open_live(NULL, 0);
	start_gpus(NR_QUEUES, ring);
	for (uint32_t i = 0; i < NR_PRODUCERS; i++) {
		producers[i] = (struct producer){ .first = 1 + i * PER_PRODUCER,
						  .with_signals = with_signals,
						  .counting = fake_signal(1 << 20) };
		CHECK_OK(pthread_create(&producers[i].thread, NULL, produce, &producers[i]));
	}
	for (uint32_t i = 0; i < NR_PRODUCERS; i++)
		pthread_join(producers[i].thread, NULL);
	stop_gpus(NR_QUEUES);
	life_stop();
	for (uint32_t i = 0; i < NR_PRODUCERS; i++)
		shared += (1 << 20) - (uint64_t)fake_signal_get(producers[i].counting);
	for (int r = 0; r < SPOOL_NR_REASONS; r++)
		CHECK_MSG(r == SPOOL_REASON_shared_signal ||
				  sink_record_loss((enum spool_reason)r) == 0,
			  "%llu lost for reason %d",
			  (unsigned long long)sink_record_loss((enum spool_reason)r), r);
	CHECK_GE_UINT(sink_record_loss(SPOOL_REASON_shared_signal), shared);
	CHECK_LE_UINT(sink_record_loss(SPOOL_REASON_shared_signal), shared + NR_IDS / 100);
	check_all(NR_IDS);
}

TEST(slow_gpu_loses_no_dispatch)
{
	produce_and_check(64, false);
}

TEST(owners_signals_lose_no_dispatch)
{
	produce_and_check(256, true);
}

/* The harvester is preempted in the middle of a tick, while other threads take queues' locks. */
TEST(stalled_harvester_loses_no_dispatch)
{
#ifdef RTL_DEBUG_CHECKS
	testpoint_set("harvest", 30);
#endif
	produce_and_check(256, true);
}

/* ---- queues made and destroyed while the harvester runs -----------------------------------------
 */

static _Atomic uint32_t next_id = 1;

static void *make_and_destroy_queues(void *arg)
{
	for (int i = 0; i < 300 / SCALE; i++) {
		struct fake_queue *q = fake_queue_create(64);

		for (int k = 0; k < 20; k++) {
			fake_submit_dispatch(q, atomic_fetch_add(&next_id, 1));
			fake_gpu_run(q, 1);
		}
		fake_queue_destroy(q);
	}
	return arg;
}

TEST(queue_destroyed_while_harvesting_loses_no_dispatch)
{
	pthread_t threads[3];
	uint32_t n;

	fake_open_live(NULL, 0);
	for (int i = 0; i < 3; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, make_and_destroy_queues, NULL));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	life_stop();
	n = atomic_load(&next_id) - 1;
	CHECK_EQ_UINT(sink_record_losses(), 0);
	check_all(n);
	CHECK_LE_UINT(queue_count(), 3);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_made), atomic_load(&fake.nr_signals_destroyed));
}

TEST(runtime_shutdown_while_harvesting_loses_no_dispatch)
{
	fake_open_live(NULL, 0);
	for (uint32_t i = 0; i < 60 / SCALE; i++) {
		struct fake_queue *q = fake_queue_create(64);

		for (uint32_t k = 0; k < 30; k++)
			fake_submit_dispatch(q, atomic_fetch_add(&next_id, 1));
		fake_gpu_run(q, UINT64_MAX);
		table_drop();
		CHECK_EQ_UINT(atomic_load(&fake.nr_signals_made),
			      atomic_load(&fake.nr_signals_destroyed));
		fake_build_tables(48);
		CHECK(table_take(&fake.root));
	}
	life_stop();
	CHECK_EQ_UINT(sink_record_losses(), 0);
	check_all(atomic_load(&next_id) - 1);
}

/* ---- reads of dispatch times while the harvester runs -------------------------------------------
 */

static void *query_times(void *arg)
{
	struct producer *p = arg;
	hsa_amd_profiling_get_dispatch_time_fn_t fn =
		(hsa_amd_profiling_get_dispatch_time_fn_t)fake.amd.entry[4];

	for (uint32_t i = 0; i < 1500 / SCALE; i++) {
		hsa_signal_t s = i % 2 ? fake_signal(1) : fake_signal(2);
		union fake_packet packet = fake_dispatch(p->first + i, s);
		hsa_amd_profiling_dispatch_time_t time;

		fake_submit(gpus[i % NR_QUEUES].q, &packet, 1);
		while (fake_signal_get(s) == (i % 2 ? 1 : 2))
			sched_yield();
		CHECK_EQ_INT(fn(fake_agent(1), s, &time), HSA_STATUS_SUCCESS);
		CHECK_EQ_UINT(time.start, fake_ticks_to_ns(fake_begin_ticks(p->first + i)));
		CHECK_EQ_UINT(time.end, fake_ticks_to_ns(fake_end_ticks(p->first + i)));
		fake_signal_destroy(s);
	}
	return NULL;
}

TEST(dispatch_time_query_returns_exact_times)
{
	struct producer p[2];

	fake_open_live(NULL, 0);
	start_gpus(NR_QUEUES, 64);
	for (uint32_t i = 0; i < 2; i++) {
		p[i] = (struct producer){ .first = 1 + i * 100000 };
		CHECK_OK(pthread_create(&p[i].thread, NULL, query_times, &p[i]));
	}
	for (uint32_t i = 0; i < 2; i++)
		pthread_join(p[i].thread, NULL);
	stop_gpus(NR_QUEUES);
	life_stop();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2 * (1500 / SCALE));
}

/* ---- system calls on the hot path ------------------------------------------------------------ */

#if !defined(RTL_SANITIZE_THREAD) && !defined(RTL_SANITIZE_ADDRESS)
static _Atomic uint64_t nr_syscalls;
static _Atomic int last_syscall;

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	atomic_fetch_add(&nr_syscalls, 1);
	atomic_store(&last_syscall, info->si_syscall);
	uc->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

/* From here on each system call of this thread is counted and refused, except for the return from
 * the counting handler and the thread's end. */
static bool forbid_syscalls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };
	struct sigaction sa = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };

	sigaction(SIGSYS, &sa, NULL);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

/* Submits dispatches of each kind; the GPU and the harvester run in between. */
static void dispatch_all_kinds(struct fake_queue *q, hsa_signal_t own, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		union fake_packet p = fake_dispatch(i + 1, none);

		if (i % 4 == 1) {
			fake_signal_set(own, 1);
			p.dispatch.completion_signal = own;
		} else if (i % 4 == 3) {
			p = fake_barrier(none, none);
		}
		fake_submit(q, &p, 1);
		if (i % 4 == 1)
			fake_gpu_run(q, UINT64_MAX);
		if (i % 200 == 0)
			fake_tick(0);
	}
	fake_gpu_run(q, UINT64_MAX);
}
#endif

TEST(steady_state_dispatch_makes_no_system_call)
{
#if defined(RTL_SANITIZE_THREAD) || defined(RTL_SANITIZE_ADDRESS)
	SKIP("the sanitizer makes system calls of its own");
#else
	struct fake_queue *q;
	hsa_signal_t own;

	fake_open(NULL, 0);
	q = fake_queue_create(1024);
	own = fake_signal(1);
	dispatch_all_kinds(q, own, 3000);
	alloc_fail_at(0);
	if (!forbid_syscalls())
		SKIP("no seccomp here");
	dispatch_all_kinds(q, own, 20000);
	CHECK_MSG(atomic_load(&nr_syscalls) == 0, "%llu system calls, the last was number %d",
		  (unsigned long long)atomic_load(&nr_syscalls), atomic_load(&last_syscall));
	CHECK_EQ_UINT(alloc_nr_calls(), 0);
	/* the counter works */
	CHECK_EQ_INT(syscall(SYS_getppid), -1);
	CHECK_EQ_UINT(atomic_load(&nr_syscalls), 1);
#endif
}
