/* SPDX-License-Identifier: MIT */
/* flood.c - fills HSA queues as fast as it can, without synchronisation
 *
 *	flood threads=1 queues=1 count=20000 size=64 kinds=d shared=0 ring=1 gpus=1 until= largest=
 *
 * Each thread owns `queues` queues (shared=1: all threads write to the same queues) and puts
 * `count` packets on them in turn. `kinds` is repeated over the packets:
 *	d dispatch without signal        D dispatch that lasts longer (its own kernel)
 *	s dispatch with its own signal   c dispatch with the thread's counting signal
 *	b barrier-and without signal     o barrier-or without dependencies
 *	B barrier-and with its own signal   w barrier-and that waits for the thread's last own
 *					    signal
 *	n dispatch without the barrier bit
 * ring=K rings the doorbell once for K packets. until=FILE goes on until there is such a file; with
 * kinds=d and ring=1 alone. largest=BYTES limits the size of files, once the GPU is open. One line
 * on stdout counts the packets; every signal is checked at the end.
 */
#include <sys/resource.h>

#include "hsa_common.h"

#define MAX_THREADS 64
#define MAX_QUEUES 64

static struct machine machine;
static uint64_t nr_threads, nr_queues, count, size, shared, ring, nr_gpus;
static const char *kinds, *until;
static hsa_queue_t *queues[MAX_THREADS * MAX_QUEUES];
static unsigned int queue_gpu[MAX_THREADS * MAX_QUEUES];
static _Atomic uint64_t done_dispatches, done_barriers, wrong_signals;

static hsa_queue_t *queue_of(uint64_t thread, uint64_t i, unsigned int *gpu)
{
	uint64_t at = shared ? i % nr_queues : thread * nr_queues + i % nr_queues;

	*gpu = queue_gpu[at];
	return queues[at];
}

static bool goes_on(uint64_t i)
{
	return i < count || (*until && access(until, F_OK) != 0);
}

static void *flood(void *arg)
{
	uint64_t thread = (uint64_t)(uintptr_t)arg, nr_own = 0, nr_counted = 0;
	uint64_t dispatches = 0, barriers = 0;
	hsa_signal_t *own = calloc(count + 1, sizeof(*own)), none = { 0 };
	hsa_signal_t counting = signal_new(0);
	size_t nr_kinds = strlen(kinds);

	/* its initial value, before the first packet */
	for (uint64_t i = 0; i < count; i++)
		nr_counted += kinds[i % nr_kinds] == 'c';
	hsa_signal_store_screlease(counting, (hsa_signal_value_t)nr_counted);

	for (uint64_t i = 0; goes_on(i); i++) {
		unsigned int gpu;
		hsa_queue_t *queue = queue_of(thread, i / ring, &gpu);
		char kind = kinds[i % nr_kinds];
		const struct kernel *k = &machine.gpus[gpu].short_kernel;
		hsa_signal_t signal = none;
		hsa_kernel_dispatch_packet_t d;
		hsa_barrier_and_packet_t b;
		const void *packet = &d;
		uint64_t index;
		void *slot;

		if (kind == 's' || kind == 'B')
			signal = own[nr_own++] = signal_new(1);
		else if (kind == 'c')
			signal = counting;
		if (kind == 'D')
			k = &machine.gpus[gpu].long_kernel;
		if (strchr("bBow", kind)) {
			b = packet_barrier(kind == 'o' ? HSA_PACKET_TYPE_BARRIER_OR :
							 HSA_PACKET_TYPE_BARRIER_AND,
					   true, kind == 'w' && nr_own ? own[nr_own - 1] : none,
					   signal);
			packet = &b;
			barriers++;
		} else {
			d = packet_dispatch(&machine, k, 64, 64 * (1 + (uint32_t)(i % 7)),
					    kind != 'n', signal);
			dispatches++;
		}
		slot = slot_take(queue, &index);
		slot_publish(slot, packet);
		if (i % ring == ring - 1 || i + 1 == count)
			hsa_signal_store_screlease(queue->doorbell_signal,
						   (hsa_signal_value_t)index);
	}
	/* the last packet on each of its queues */
	for (uint64_t q = 0; q < nr_queues; q++) {
		unsigned int gpu;
		hsa_queue_t *queue = queue_of(thread, q, &gpu);
		hsa_signal_t last = signal_new(1);
		hsa_barrier_and_packet_t b =
			packet_barrier(HSA_PACKET_TYPE_BARRIER_AND, true, none, last);

		submit(queue, &b);
		barriers++;
		signal_wait_le(last, 0, "last barrier");
		HSA(hsa_signal_destroy(last));
	}
	for (uint64_t i = 0; i < nr_own; i++) {
		hsa_signal_value_t v = hsa_signal_load_scacquire(own[i]);

		if (v != 0) {
			fprintf(stderr, "thread %llu: signal %llu of %llu is %lld, expected 0\n",
				(unsigned long long)thread, (unsigned long long)i,
				(unsigned long long)nr_own, (long long)v);
			atomic_fetch_add(&wrong_signals, 1);
		}
		HSA(hsa_signal_destroy(own[i]));
	}
	if (hsa_signal_load_scacquire(counting) != 0) {
		fprintf(stderr, "thread %llu: the counting signal is %lld, expected 0\n",
			(unsigned long long)thread, (long long)hsa_signal_load_scacquire(counting));
		atomic_fetch_add(&wrong_signals, 1);
	}
	HSA(hsa_signal_destroy(counting));
	free(own);
	atomic_fetch_add(&done_dispatches, dispatches);
	atomic_fetch_add(&done_barriers, barriers);
	return NULL;
}

/* The virtual GPU's memory is in files, which are larger. */
static void limit_files(uint64_t bytes)
{
	const struct rlimit limit = { bytes, bytes };

	if (open("/dev/kfd", O_RDWR | O_CLOEXEC) < 0 ||
	    open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &limit) != 0)
		die(1, "flood: no limit of file sizes");
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	uint64_t nr_all;

	nr_threads = arg_num(argc, argv, "threads", 1);
	nr_queues = arg_num(argc, argv, "queues", 1);
	count = arg_num(argc, argv, "count", 20000);
	size = arg_num(argc, argv, "size", 64);
	shared = arg_num(argc, argv, "shared", 0);
	ring = arg_num(argc, argv, "ring", 1);
	nr_gpus = arg_num(argc, argv, "gpus", 1);
	kinds = arg_text(argc, argv, "kinds", "d");
	until = arg_text(argc, argv, "until", "");
	if (!nr_threads || nr_threads > MAX_THREADS || !nr_queues || nr_queues > MAX_QUEUES ||
	    !ring || !*kinds || (*until && (ring != 1 || strcmp(kinds, "d") != 0)) ||
	    strspn(kinds, "dDscboBwn") != strlen(kinds))
		die(2, "flood: bad arguments; see the head of flood.c");
	if (shared)
		ring = 1; /* the threads' packets are interleaved */

	if (arg_num(argc, argv, "largest", 0))
		limit_files(arg_num(argc, argv, "largest", 0));
	machine_open(&machine);
	if (nr_gpus > machine.nr_gpus)
		die(1, "flood: %llu GPUs asked for, %u there", (unsigned long long)nr_gpus,
		    machine.nr_gpus);
	nr_all = shared ? nr_queues : nr_threads * nr_queues;
	for (uint64_t q = 0; q < nr_all; q++) {
		queue_gpu[q] = (unsigned int)(q % nr_gpus);
		queues[q] = queue_open(&machine, queue_gpu[q], (uint32_t)size,
				       shared ? HSA_QUEUE_TYPE_MULTI : HSA_QUEUE_TYPE_SINGLE);
	}
	for (uint64_t t = 0; t < nr_threads; t++)
		if (pthread_create(&threads[t], NULL, flood, (void *)(uintptr_t)t))
			die(1, "pthread_create failed");
	for (uint64_t t = 0; t < nr_threads; t++)
		pthread_join(threads[t], NULL);
	for (uint64_t q = 0; q < nr_all; q++)
		HSA(hsa_queue_destroy(queues[q]));
	printf("flood: %llu dispatches, %llu barriers, %llu wrong signals\n",
	       (unsigned long long)done_dispatches, (unsigned long long)done_barriers,
	       (unsigned long long)wrong_signals);
	HSA(hsa_shut_down());
	return wrong_signals ? 5 : 0;
}
