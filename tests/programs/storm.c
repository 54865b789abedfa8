/* SPDX-License-Identifier: MIT */
/* storm.c - many threads submit to the same queues in every order that the HSA specification allows
 *
 *	storm seed=1 threads=8 queues=3 gpus=1 size=64 count=2000 [single=1] [lives=1] [forks=1]
 *	[switch=LIBRARY]
 *
 * Each thread makes `count` dispatches on queues that all share (and, with single=1, on one of its
 * own that has one producer). Its steps are drawn from the seed:
 *	- reserves one packet or several, with hsa_queue_add_write_index or
 *	  hsa_queue_cas_write_index of any memory order (hsa_queue_store_write_index on its own
 *	  queue);
 *	- stalls between reserving and publishing; publishes several in any order;
 *	- rings with the index, with an older one and later the right one, with a later one, before
 *	  publishing, or only when it has to wait;
 *	- gives a dispatch no signal, one of its own, one that counts several dispatches, or one
 *	  that all threads share;
 *	- puts a barrier packet that waits for a dispatch which is not submitted yet, on a queue of
 *	  a higher number;
 *	- forks; makes a queue, uses and destroys it; another thread switches recording on and off
 *	  through LIBRARY.
 * No step makes threads wait for each other in a cycle, so it ends on every correct queue.
 *
 * The x size of a dispatch's grid is its serial number: thread * 2^20 + 1, 2, ... At the end a line
 * for each thread has its id and its number of dispatches; the last line counts signals with a
 * wrong value.
 */
#include "hsa_common.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MAX_THREADS 64
#define MAX_QUEUES 16
#define MAX_BATCH 8u
#define NR_OWN 8u
#define COUNTED ((hsa_signal_value_t)1 << 40)

static struct machine machine;
static uint64_t nr_threads, nr_queues, nr_gpus, size, count, seed, with_single, with_lives,
	with_forks;
static hsa_queue_t *shared_queues[MAX_QUEUES];
static hsa_signal_t everyones;
static _Atomic uint64_t nr_everyones, nr_wrong;
static _Atomic bool over;

struct worker {
	pthread_t thread;
	uint32_t number, tid;
	uint64_t random, made;
	hsa_queue_t *queue[MAX_QUEUES + 1]; /* the last one is its own */
	uint32_t nr_queues;
	uint64_t owed[MAX_QUEUES +
		      1]; /* index + 1 of the last packet that no doorbell announced; 0: none */
	hsa_signal_t own[NR_OWN];
	hsa_signal_t many; /* counts `nr_many` dispatches at a time */
	uint64_t nr_many;
	hsa_signal_t wanted, passed; /* of barrier packets that wait */
};

static uint64_t draw(struct worker *w, uint64_t below)
{
	uint64_t z = (w->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

static void pause_us(uint64_t us)
{
	struct timespec ts = { 0, (long)us * 1000 };

	nanosleep(&ts, NULL);
}

/* ---- doorbells ------------------------------------------------------------------------------- */

static void ring(struct worker *w, hsa_queue_t *queue, uint64_t index)
{
	hsa_signal_value_t value = (hsa_signal_value_t)index;

	switch (draw(w, 4)) {
	case 0:
		hsa_signal_store_relaxed(queue->doorbell_signal, value);
		break;
	case 1:
		hsa_signal_silent_store_screlease(queue->doorbell_signal, value);
		break;
	default:
		hsa_signal_store_screlease(queue->doorbell_signal, value);
		break;
	}
}

/* Before any wait: the awaited packet may not be announced yet. */
static void pay(struct worker *w)
{
	for (uint32_t i = 0; i < w->nr_queues; i++) {
		if (w->owed[i])
			ring(w, w->queue[i], w->owed[i] - 1);
		w->owed[i] = 0;
	}
}

static void wait_signal(struct worker *w, hsa_signal_t signal, const char *what)
{
	pay(w);
	signal_wait_le(signal, 0, what);
}

/* ---- packets --------------------------------------------------------------------------------- */

static bool is_single(const struct worker *w, uint32_t q)
{
	return with_single && q == w->nr_queues - 1;
}

static uint64_t reserve_by_cas(struct worker *w, hsa_queue_t *queue, uint64_t n)
{
	uint64_t index = hsa_queue_load_write_index_relaxed(queue);

	for (;;) {
		uint64_t was;

		switch (draw(w, 4)) {
		case 0:
			was = hsa_queue_cas_write_index_relaxed(queue, index, index + n);
			break;
		case 1:
			was = hsa_queue_cas_write_index_scacquire(queue, index, index + n);
			break;
		case 2:
			was = hsa_queue_cas_write_index_screlease(queue, index, index + n);
			break;
		default:
			was = hsa_queue_cas_write_index_scacq_screl(queue, index, index + n);
			break;
		}
		if (was == index)
			return index;
		index = was;
	}
}

static uint64_t reserve(struct worker *w, uint32_t q, uint64_t n)
{
	hsa_queue_t *queue = w->queue[q];
	uint64_t index;

	if (is_single(w, q)) {
		index = hsa_queue_load_write_index_scacquire(queue);
		if (draw(w, 2))
			hsa_queue_store_write_index_relaxed(queue, index + n);
		else
			hsa_queue_store_write_index_screlease(queue, index + n);
		return index;
	}
	switch (draw(w, 6)) {
	case 0:
		return hsa_queue_add_write_index_relaxed(queue, n);
	case 1:
		return hsa_queue_add_write_index_scacquire(queue, n);
	case 2:
		return hsa_queue_add_write_index_screlease(queue, n);
	case 3:
		return hsa_queue_add_write_index_scacq_screl(queue, n);
	default:
		return reserve_by_cas(w, queue, n);
	}
}

static void wait_for_slots(struct worker *w, hsa_queue_t *queue, uint64_t end)
{
	uint64_t started = now_ns();

	for (unsigned int round = 0; end > hsa_queue_load_read_index_scacquire(queue) + queue->size;
	     round++) {
		if (round == 64)
			pay(w);
		if (round > 64)
			sched_yield();
		if (round % 4096 == 4095 && now_ns() - started > 60000000000u)
			die(3,
			    "queue %llu: no free slot before packet %llu in 60 s (read index %llu)",
			    (unsigned long long)queue->id, (unsigned long long)end,
			    (unsigned long long)hsa_queue_load_read_index_relaxed(queue));
	}
}

static void publish(hsa_queue_t *queue, uint64_t index, const void *packet)
{
	slot_publish((char *)queue->base_address + (index & (queue->size - 1)) * 64, packet);
}

/* A free signal of this thread. */
static hsa_signal_t own_signal(struct worker *w)
{
	hsa_signal_t s = w->own[draw(w, NR_OWN)];

	wait_signal(w, s, "a signal of its own");
	if (hsa_signal_load_relaxed(s) != 0)
		nr_wrong++;
	hsa_signal_store_relaxed(s, 1);
	return s;
}

static hsa_signal_t counting_signal(struct worker *w)
{
	if (w->nr_many == 0) {
		wait_signal(w, w->many, "a counting signal");
		if (hsa_signal_load_scacquire(w->many) != 0)
			nr_wrong++;
		w->nr_many = 1 + draw(w, 12);
		hsa_signal_store_relaxed(w->many, (hsa_signal_value_t)w->nr_many);
	}
	w->nr_many--;
	return w->many;
}

/* *waited: the function waited for a signal of a dispatch that is not submitted yet; another wait
 * might need it. */
static hsa_signal_t choose_signal(struct worker *w, bool *waited)
{
	uint64_t what = draw(w, 8);

	if (what < 2 && !*waited) {
		*waited = true;
		return own_signal(w);
	}
	if (what == 2 && (w->nr_many || !*waited)) {
		*waited = true;
		return counting_signal(w);
	}
	if (what == 3) {
		nr_everyones++;
		return everyones;
	}
	return (hsa_signal_t){ 0 };
}

static hsa_kernel_dispatch_packet_t next_dispatch(struct worker *w, hsa_signal_t signal)
{
	uint32_t serial = (uint32_t)(w->number << 20 | ++w->made);

	return packet_dispatch(&machine, &machine.gpus[0].short_kernel, 1, serial, draw(w, 2),
			       signal);
}

/* The kernel of the GPU whose queue it is. */
static void put(struct worker *w, uint32_t q, uint64_t index, hsa_kernel_dispatch_packet_t *p)
{
	p->kernel_object = machine.gpus[q % nr_gpus].short_kernel.object;
	publish(w->queue[q], index, p);
}

/* Rings for the packets before `end`, at once or later; they may not be published yet. */
static void announce(struct worker *w, uint32_t q, uint64_t end)
{
	uint64_t back;

	switch (draw(w, 8)) {
	case 0: /* only before a wait */
		w->owed[q] = end;
		return;
	case 1: /* an older index; the right one later */
		back = 1 + draw(w, 8);
		ring(w, w->queue[q], end > back ? end - 1 - back : 0);
		w->owed[q] = end;
		return;
	case 2: /* packets that are not written yet */
		ring(w, w->queue[q], end - 1 + draw(w, 8));
		break;
	default:
		ring(w, w->queue[q], end - 1);
		break;
	}
	if (w->owed[q] <= end)
		w->owed[q] = 0;
}

static void shuffle(struct worker *w, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t j = (uint32_t)draw(w, i + 1), was = order[i];

		order[i] = order[j];
		order[j] = was;
	}
}

/* `n` dispatches with one reservation. */
static void submit_some(struct worker *w, uint32_t q, uint32_t n)
{
	hsa_kernel_dispatch_packet_t p[MAX_BATCH];
	uint32_t order[MAX_BATCH];
	bool early = draw(w, 8) == 0, waited = false;
	uint64_t index;

	/* waits come first: other threads wait for the slots reserved here */
	for (uint32_t i = 0; i < n; i++)
		p[i] = next_dispatch(w, choose_signal(w, &waited));
	shuffle(w, order, n);
	index = reserve(w, q, n);
	if (draw(w, 16) == 0)
		pause_us(draw(w, 300));
	if (early)
		announce(w, q, index + n);
	wait_for_slots(w, w->queue[q], index + n);
	for (uint32_t i = 0; i < n; i++) {
		put(w, q, index + order[i], &p[order[i]]);
		if (draw(w, 64) == 0)
			pause_us(draw(w, 100));
	}
	if (!early)
		announce(w, q, index + n);
}

/* A barrier packet on queue `q` that waits for a later dispatch on a higher queue. */
static void submit_wait(struct worker *w, uint32_t q)
{
	uint32_t later = q + 1 + (uint32_t)draw(w, nr_queues - q - 1);
	hsa_barrier_and_packet_t b;
	hsa_kernel_dispatch_packet_t d;
	uint64_t index;

	wait_signal(w, w->passed, "a barrier packet");
	hsa_signal_store_relaxed(w->wanted, 1);
	hsa_signal_store_relaxed(w->passed, 1);
	b = packet_barrier(draw(w, 2) ? HSA_PACKET_TYPE_BARRIER_AND : HSA_PACKET_TYPE_BARRIER_OR,
			   true, w->wanted, w->passed);
	index = reserve(w, q, 1);
	wait_for_slots(w, w->queue[q], index + 1);
	publish(w->queue[q], index, &b);
	ring(w, w->queue[q], index);
	if (draw(w, 4) == 0)
		pause_us(draw(w, 200));
	d = next_dispatch(w, w->wanted);
	index = reserve(w, later, 1);
	wait_for_slots(w, w->queue[later], index + 1);
	put(w, later, index, &d);
	ring(w, w->queue[later], index);
}

/* ---- other steps ----------------------------------------------------------------------------- */

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* A short-lived queue of this thread. */
static void live_and_die(struct worker *w)
{
	uint32_t gpu = (uint32_t)draw(w, nr_gpus);
	hsa_queue_t *queue = queue_open(&machine, gpu, 64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t none = { 0 }, last = own_signal(w);
	uint64_t n = 1 + draw(w, 40);

	for (uint64_t i = 0; i < n; i++) {
		hsa_kernel_dispatch_packet_t p = next_dispatch(w, i == n - 1 ? last : none);

		p.header |= 1 << HSA_PACKET_HEADER_BARRIER;
		p.kernel_object = machine.gpus[gpu].short_kernel.object;
		submit(queue, &p);
	}
	wait_signal(w, last, "the last dispatch of a queue");
	HSA(hsa_queue_destroy(queue));
}

static void step(struct worker *w)
{
	uint32_t q = (uint32_t)draw(w, w->nr_queues);
	uint64_t what = draw(w, 400);

	if (with_forks && what == 0) {
		fork_once();
	} else if (with_lives && what < 4) {
		live_and_die(w);
	} else if (what < 40 && q + 1 < nr_queues) {
		submit_wait(w, q);
	} else if (what < 120) {
		submit_some(w, q, 2 + (uint32_t)draw(w, MAX_BATCH - 1));
	} else {
		submit_some(w, q, 1);
	}
}

static void finish(struct worker *w)
{
	while (w->nr_many > 0)
		submit_some(w, 0, 1);
	pay(w);
	for (uint32_t i = 0; i < w->nr_queues; i++) {
		hsa_signal_t done = signal_new(1);
		hsa_barrier_and_packet_t b = packet_barrier(HSA_PACKET_TYPE_BARRIER_AND, true,
							    (hsa_signal_t){ 0 }, done);
		uint64_t index = reserve(w, i, 1);

		wait_for_slots(w, w->queue[i], index + 1);
		publish(w->queue[i], index, &b);
		ring(w, w->queue[i], index);
		signal_wait_le(done, 0, "the end of a queue");
		HSA(hsa_signal_destroy(done));
	}
	for (uint32_t i = 0; i < NR_OWN; i++)
		nr_wrong += hsa_signal_load_scacquire(w->own[i]) != 0;
	nr_wrong += hsa_signal_load_scacquire(w->many) != 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = (uint32_t)syscall(SYS_gettid);
	while (w->made < count)
		step(w);
	finish(w);
	return NULL;
}

static void *switch_recording(void *arg)
{
	void *lib = dlopen(arg, RTLD_NOW);
	void (*start)(void) = lib ? (void (*)(void))dlsym(lib, "roctracer_start") : NULL;
	void (*stop)(void) = lib ? (void (*)(void))dlsym(lib, "roctracer_stop") : NULL;

	if (!start || !stop)
		die(1, "%s: %s", (const char *)arg, dlerror());
	while (!over) {
		stop();
		pause_us(300);
		start();
		pause_us(700);
	}
	return NULL;
}

static void open_worker(struct worker *w, uint32_t number)
{
	w->number = number;
	w->random = seed << 8 ^ number;
	w->nr_queues = (uint32_t)nr_queues;
	for (uint32_t i = 0; i < nr_queues; i++)
		w->queue[i] = shared_queues[i];
	if (with_single) {
		w->queue[nr_queues] = queue_open(&machine, (unsigned)(nr_queues % nr_gpus),
						 (uint32_t)size, HSA_QUEUE_TYPE_SINGLE);
		w->nr_queues++;
	}
	for (uint32_t i = 0; i < NR_OWN; i++)
		w->own[i] = signal_new(0);
	w->many = signal_new(0);
	w->wanted = signal_new(0);
	w->passed = signal_new(0);
}

int main(int argc, char **argv)
{
	static struct worker workers[MAX_THREADS];
	const char *library = arg_text(argc, argv, "switch", NULL);
	pthread_t switcher;

	seed = arg_num(argc, argv, "seed", 1);
	nr_threads = arg_num(argc, argv, "threads", 8);
	nr_queues = arg_num(argc, argv, "queues", 3);
	nr_gpus = arg_num(argc, argv, "gpus", 1);
	size = arg_num(argc, argv, "size", 64);
	count = arg_num(argc, argv, "count", 2000);
	with_single = arg_num(argc, argv, "single", 0);
	with_lives = arg_num(argc, argv, "lives", 0);
	with_forks = arg_num(argc, argv, "forks", 0);
	machine_open(&machine);
	if (!nr_threads || nr_threads > MAX_THREADS || !nr_queues || nr_queues > MAX_QUEUES ||
	    !nr_gpus || nr_gpus > machine.nr_gpus || size < MAX_BATCH || count >= 1 << 19)
		die(1, "storm: an argument is out of range");
	for (uint32_t i = 0; i < nr_queues; i++)
		shared_queues[i] = queue_open(&machine, (unsigned)(i % nr_gpus), (uint32_t)size,
					      HSA_QUEUE_TYPE_MULTI);
	everyones = signal_new(COUNTED);
	for (uint32_t i = 0; i < nr_threads; i++)
		open_worker(&workers[i], i);
	if (library)
		pthread_create(&switcher, NULL, switch_recording, (void *)(uintptr_t)library);
	for (uint32_t i = 0; i < nr_threads; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (uint32_t i = 0; i < nr_threads; i++)
		pthread_join(workers[i].thread, NULL);
	over = true;
	if (library)
		pthread_join(switcher, NULL);
	nr_wrong += hsa_signal_load_scacquire(everyones) !=
		    COUNTED - (hsa_signal_value_t)nr_everyones;
	for (uint32_t i = 0; i < nr_threads; i++)
		printf("thread %u: tid %u, %llu dispatches\n", i, workers[i].tid,
		       (unsigned long long)workers[i].made);
	printf("storm: %llu wrong signals\n", (unsigned long long)nr_wrong);
	for (uint32_t i = 0; i < nr_queues; i++)
		HSA(hsa_queue_destroy(shared_queues[i]));
	HSA(hsa_shut_down());
	return nr_wrong != 0;
}
