/* SPDX-License-Identifier: MIT */
/* lifecycle.c - HSA programs that live and die in unusual ways
 *
 *	lifecycle storm [rounds=N] [threads=N]   queues created, used and destroyed by many threads
 *	lifecycle again [rounds=N]               hsa_init, work, hsa_shut_down, several times
 *	lifecycle threads [rounds=N]             threads that launch once and die, with open work
 *	lifecycle noshutdown                     returns from main with work in flight
 *	lifecycle hang                           submits one kernel that never ends, exits: its
 *						 sixth, VGPU_HANG=queue=1,n=6
 *	lifecycle files [count=N]                uses up all file descriptors, then launches
 *	lifecycle overtaken [rounds=N]           queues destroyed while another thread still rings
 *						 their doorbell
 *	lifecycle steady seconds=S [period_us=U] [die=S]  launches until then, says "ready" first
 */
#include "hsa_common.h"

#include <sys/resource.h>

static struct machine machine;
static uint64_t rounds;
static _Atomic uint64_t launched;

static void work(hsa_queue_t *queue, unsigned int gpu, unsigned int nr, bool wait)
{
	hsa_signal_t done = signal_new(1), none = { 0 };

	for (unsigned int i = 0; i < nr; i++) {
		hsa_kernel_dispatch_packet_t d =
			packet_dispatch(&machine, &machine.gpus[gpu].short_kernel, 64, 64 * (i + 1),
					true, i + 1 == nr && wait ? done : none);

		submit(queue, &d);
	}
	launched += nr;
	if (wait)
		signal_wait_le(done, 0, "work");
	HSA(hsa_signal_destroy(done));
}

static void *storm(void *arg)
{
	(void)arg;
	for (uint64_t i = 0; i < rounds; i++) {
		unsigned int gpu = (unsigned int)(i % machine.nr_gpus);
		hsa_queue_t *queue = queue_open(&machine, gpu, 64u << i % 3, HSA_QUEUE_TYPE_SINGLE);

		/* some queues are never used */
		if (i % 4)
			work(queue, gpu, 1 + (unsigned int)(i % 5), true);
		HSA(hsa_queue_destroy(queue));
	}
	return NULL;
}

static int run_storm(uint64_t nr)
{
	pthread_t t[64];

	machine_open(&machine);
	for (uint64_t i = 0; i < nr; i++)
		if (pthread_create(&t[i], NULL, storm, NULL))
			die(1, "pthread_create failed");
	for (uint64_t i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	printf("storm: %llu dispatches\n", (unsigned long long)launched);
	HSA(hsa_shut_down());
	return 0;
}

static int run_again(void)
{
	for (uint64_t i = 0; i < rounds; i++) {
		hsa_queue_t *queue;

		machine_open(&machine);
		queue = queue_open(&machine, 0, 128, HSA_QUEUE_TYPE_SINGLE);
		work(queue, 0, 10, true);
		if (i % 2) /* also with the queue left to the runtime */
			HSA(hsa_queue_destroy(queue));
		HSA(hsa_shut_down());
	}
	printf("again: %llu dispatches\n", (unsigned long long)launched);
	return 0;
}

static void *die_young(void *arg)
{
	work(arg, 0, 3, false);
	return NULL;
}

static int run_threads(void)
{
	hsa_queue_t *queue;
	hsa_signal_t done, none = { 0 };
	hsa_barrier_and_packet_t b;

	machine_open(&machine);
	queue = queue_open(&machine, 0, 256, HSA_QUEUE_TYPE_MULTI);
	for (uint64_t i = 0; i < rounds; i++) {
		pthread_t t[4];

		for (int k = 0; k < 4; k++)
			if (pthread_create(&t[k], NULL, die_young, queue))
				die(1, "pthread_create failed");
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
	done = signal_new(1);
	b = packet_barrier(HSA_PACKET_TYPE_BARRIER_AND, true, none, done);
	submit(queue, &b);
	signal_wait_le(done, 0, "threads");
	printf("threads: %llu dispatches\n", (unsigned long long)launched);
	HSA(hsa_queue_destroy(queue));
	HSA(hsa_shut_down());
	return 0;
}

static int run_noshutdown(void)
{
	hsa_queue_t *queue;

	machine_open(&machine);
	queue = queue_open(&machine, 0, 256, HSA_QUEUE_TYPE_SINGLE);
	work(queue, 0, 100, true);
	work(queue, 0, 20, false);
	printf("noshutdown: %llu dispatches\n", (unsigned long long)launched);
	return 0;
}

static int run_hang(void)
{
	hsa_queue_t *queue;

	machine_open(&machine);
	queue = queue_open(&machine, 0, 256, HSA_QUEUE_TYPE_SINGLE);
	work(queue, 0, 5, true);
	work(queue, 0, 1, false); /* the sixth on its queue */
	printf("hang: %llu dispatches\n", (unsigned long long)launched);
	return 7;
}

/* Descriptors run out before the first launch, and are free again at the end. */
static int run_files(int argc, char **argv)
{
	struct rlimit limit = { arg_num(argc, argv, "count", 64),
				arg_num(argc, argv, "count", 64) };
	int first = -1, last = -1, fd;
	hsa_queue_t *queue;

	machine_open(&machine);
	setrlimit(RLIMIT_NOFILE, &limit);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
		if (first < 0)
			first = fd;
		last = fd;
	}
	if (errno != EMFILE)
		die(1, "open: %s", strerror(errno));
	queue = queue_open(&machine, 0, 256, HSA_QUEUE_TYPE_SINGLE);
	for (uint64_t i = 0; i < rounds; i++)
		work(queue, 0, 10, true);
	sleep_ms(300);
	printf("files: %llu dispatches with all descriptors in use\n",
	       (unsigned long long)launched);
	HSA(hsa_queue_destroy(queue));
	HSA(hsa_shut_down());
	(void)first;
	(void)last; /* they stay in use until the end */
	return 0;
}

struct ringer {
	hsa_queue_t *queue;
	hsa_signal_t done;
	_Atomic bool returned; /* from the doorbell */
};

static void submit_counted(hsa_queue_t *queue, hsa_signal_t done)
{
	hsa_kernel_dispatch_packet_t d =
		packet_dispatch(&machine, &machine.gpus[0].short_kernel, 64, 64, true, done);

	submit(queue, &d);
	launched++;
}

static void *ring_slowly(void *arg)
{
	struct ringer *r = arg;

	submit_counted(r->queue, r->done);
	r->returned = true;
	return NULL;
}

/* A packet completes and its queue is destroyed before the store to the doorbell returns: HSA
 * allows that. */
static int run_overtaken(void)
{
	uint64_t nr_overtaken = 0;

	machine_open(&machine);
	for (uint64_t i = 0; i < rounds; i++) {
		bool both = i % 2; /* the destroying thread has a packet after the other's */
		struct ringer r = { .queue = queue_open(&machine, 0, 64, HSA_QUEUE_TYPE_MULTI),
				    .done = signal_new(both ? 2 : 1) };
		hsa_queue_t *next;
		pthread_t t;

		if (pthread_create(&t, NULL, ring_slowly, &r))
			die(1, "pthread_create failed");
		signal_wait_le(r.done, both ? 1 : 0, "the other thread's packet");
		if (both)
			submit_counted(r.queue, r.done);
		signal_wait_le(r.done, 0, "the last packet");
		nr_overtaken += !r.returned;
		HSA(hsa_queue_destroy(r.queue));
		/* at the same address, likely */
		next = queue_open(&machine, 0, 64, HSA_QUEUE_TYPE_MULTI);
		hsa_signal_store_relaxed(r.done, 1);
		submit_counted(next, r.done);
		signal_wait_le(r.done, 0, "the next queue's packet");
		HSA(hsa_queue_destroy(next));
		pthread_join(t, NULL);
		HSA(hsa_signal_destroy(r.done));
	}
	printf("overtaken: %llu dispatches\n", (unsigned long long)launched);
	fprintf(stderr, "overtaken: %llu of %llu doorbells\n", (unsigned long long)nr_overtaken,
		(unsigned long long)rounds);
	HSA(hsa_shut_down());
	return 0;
}

static int run_steady(int argc, char **argv)
{
	uint64_t end = now_ns() + arg_num(argc, argv, "seconds", 10) * 1000000000u;
	uint64_t period = arg_num(argc, argv, "period_us", 200) * 1000;
	hsa_queue_t *queues[2];
	bool ready = false;

	machine_open(&machine);
	for (int i = 0; i < 2; i++)
		queues[i] = queue_open(&machine, 0, 1024, HSA_QUEUE_TYPE_SINGLE);
	while (now_ns() < end) {
		struct timespec ts = { 0, (long)period };

		work(queues[launched % 2], 0, 1, launched % 8 == 0);
		if (!ready) {
			ready = true;
			if (write(STDOUT_FILENO, "ready\n", 6) != 6)
				die(1, "write: %s", strerror(errno));
		}
		if (period)
			nanosleep(&ts, NULL);
	}
	for (int i = 0; i < 2; i++)
		work(queues[i], 0, 1, true);
	printf("steady: %s\n", launched ? "done" : "nothing");
	HSA(hsa_shut_down());
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	rounds = arg_num(argc, argv, "rounds", 20);
	if (!strcmp(what, "storm"))
		return run_storm(arg_num(argc, argv, "threads", 4));
	if (!strcmp(what, "again"))
		return run_again();
	if (!strcmp(what, "threads"))
		return run_threads();
	if (!strcmp(what, "noshutdown"))
		return run_noshutdown();
	if (!strcmp(what, "hang"))
		return run_hang();
	if (!strcmp(what, "files"))
		return run_files(argc, argv);
	if (!strcmp(what, "overtaken"))
		return run_overtaken();
	if (!strcmp(what, "steady"))
		return run_steady(argc, argv);
	die(2, "lifecycle: unknown '%s'; see the head of lifecycle.c", what);
}
