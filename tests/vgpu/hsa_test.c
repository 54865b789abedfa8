/* SPDX-License-Identifier: MIT */
/* hsa_test.c - scenarios of an HSA program on the virtual GPU
 *
 * First argument: the scenario. Results are lines on stdout that test_vgpu.py reads; any failure
 * ends the program with status 1 and a line on stderr.
 */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "hsa_machine.h"

static struct kernel nothing;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void open_machine(void)
{
	open_agents();
	nothing = load_kernel("kernels.co", "nothing.kd");
}

static void put_dispatch(hsa_queue_t *q, uint64_t index, bool barrier, hsa_signal_t done)
{
	hsa_kernel_dispatch_packet_t p = dispatch_of(&nothing, 256, 64, NULL);

	p.header = header(HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier);
	p.completion_signal = done;
	put(q, index, &p);
}

static void put_barrier(hsa_queue_t *q, uint64_t index, hsa_packet_type_t type,
			const hsa_signal_t *deps, unsigned int nr, hsa_signal_t done)
{
	hsa_barrier_and_packet_t p = { 0 };

	p.header = header(type, true);
	for (unsigned int i = 0; i < nr; i++)
		p.dep_signal[i] = deps[i];
	p.completion_signal = done;
	put(q, index, &p);
}

static void dispatch(hsa_queue_t *q, hsa_signal_t done)
{
	uint64_t i = take(q, 1);

	put_dispatch(q, i, true, done);
	ring(q, i);
}

static const hsa_signal_t none = { 0 };

/* Batches of 1 to 1000 packets, each announced by one doorbell, all packets with the same
 * signal. */
static void batches(void)
{
	hsa_queue_t *q = new_queue(0, 1024);
	uint64_t total = 0;

	for (unsigned int n = 1; n <= 1000; n += n < 16 ? 1 : n / 3) {
		hsa_signal_t s = new_signal(n);
		uint64_t first = take(q, n);

		for (unsigned int i = 0; i < n; i++)
			put_dispatch(q, first + i, i & 1, s);
		ring(q, first + n - 1);
		wait_zero(s);
		CHECK(hsa_signal_load_relaxed(s) == 0);
		CHECK(hsa_queue_load_read_index_scacquire(q) == first + n);
		HSA(hsa_signal_destroy(s));
		total += n;
	}
	printf("queue %llu dispatches %llu\n", (unsigned long long)q->id,
	       (unsigned long long)total);
	HSA(hsa_queue_destroy(q));
}

struct producer {
	hsa_queue_t *q;
	hsa_signal_t done;
	unsigned int n;
};

static void *produce(void *arg)
{
	struct producer *p = arg;

	for (unsigned int i = 0; i < p->n; i++)
		dispatch(p->q, p->done);
	return NULL;
}

/* Four threads fill a ring of 64 packets as fast as they can. */
static void flood(unsigned int n)
{
	hsa_queue_t *q = new_queue(0, 64);
	hsa_signal_t done = new_signal((int64_t)n * 4);
	struct producer p = { q, done, n };
	pthread_t t[4];

	for (unsigned int i = 0; i < 4; i++)
		CHECK(!pthread_create(&t[i], NULL, produce, &p));
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	wait_zero(done);
	printf("queue %llu dispatches %u\n", (unsigned long long)q->id, n * 4);
	HSA(hsa_queue_destroy(q));
}

static void put_value_barrier(hsa_queue_t *q, hsa_signal_t watch, int64_t value, hsa_signal_t done)
{
	hsa_amd_barrier_value_packet_t p;
	uint64_t i = take(q, 1);

	memset(&p, 0, sizeof(p));
	p.header.header = header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true);
	p.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
	p.signal = watch;
	p.value = value;
	p.mask = 0xff;
	p.cond = HSA_SIGNAL_CONDITION_GTE;
	p.completion_signal = done;
	put(q, i, &p);
	ring(q, i);
}

static void barriers(void)
{
	hsa_queue_t *q = new_queue(0, 256), *r = new_queue(0, 256);
	hsa_signal_t done = new_signal(1000), dep[5], fin = new_signal(1);
	uint64_t i;

	for (unsigned int n = 0; n < 1000; n++) {
		i = take(q, 1);
		put_barrier(q, i, HSA_PACKET_TYPE_BARRIER_AND, NULL, 0, done);
		ring(q, i);
	}
	wait_zero(done);

	/* AND: not before the last of five, which come from the other queue, and from the host */
	for (unsigned int n = 0; n < 5; n++)
		dep[n] = new_signal(1);
	i = take(q, 1);
	put_barrier(q, i, HSA_PACKET_TYPE_BARRIER_AND, dep, 5, fin);
	ring(q, i);
	for (unsigned int n = 0; n < 4; n++)
		dispatch(r, dep[n]);
	for (unsigned int n = 0; n < 4; n++)
		wait_zero(dep[n]);
	usleep(3000);
	CHECK(hsa_signal_load_relaxed(fin) == 1);
	hsa_signal_store_screlease(dep[4], 0);
	wait_zero(fin);

	/* OR: one of two is enough */
	hsa_signal_store_relaxed(fin, 1);
	for (unsigned int n = 0; n < 2; n++)
		hsa_signal_store_relaxed(dep[n], 1);
	i = take(q, 1);
	put_barrier(q, i, HSA_PACKET_TYPE_BARRIER_OR, dep, 2, fin);
	ring(q, i);
	usleep(3000);
	CHECK(hsa_signal_load_relaxed(fin) == 1);
	hsa_signal_store_screlease(dep[1], 0);
	wait_zero(fin);

	/* a masked value */
	hsa_signal_store_relaxed(fin, 1);
	hsa_signal_store_relaxed(dep[0], 0x1004);
	put_value_barrier(q, dep[0], 5, fin);
	usleep(3000);
	CHECK(hsa_signal_load_relaxed(fin) == 1);
	hsa_signal_store_screlease(dep[0], 5);
	wait_zero(fin);
	printf("queue %llu barriers 1003\n", (unsigned long long)q->id);

	/* a queue that never stops waiting can be destroyed */
	hsa_signal_store_relaxed(dep[0], 1);
	i = take(q, 1);
	put_barrier(q, i, HSA_PACKET_TYPE_BARRIER_AND, dep, 1, none);
	ring(q, i);
	HSA(hsa_queue_destroy(q));
	HSA(hsa_queue_destroy(r));
}

/* Times of each dispatch of two queues on every GPU, in ns of the system clock. */
static void times(unsigned int n)
{
	uint64_t before, after;

	HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before));
	for (unsigned int g = 0; g < nr_gpus; g++) {
		hsa_queue_t *q = new_queue(g, 64);
		hsa_signal_t s = new_signal(1);

		HSA(hsa_amd_profiling_set_profiler_enabled(q, 1));
		for (unsigned int i = 0; i < n; i++) {
			hsa_amd_profiling_dispatch_time_t t = { 0 };

			hsa_signal_store_relaxed(s, 1);
			dispatch(q, s);
			wait_zero(s);
			HSA(hsa_amd_profiling_get_dispatch_time(gpus[g], s, &t));
			printf("time gpu %u queue %llu index %u start %llu end %llu\n", g,
			       (unsigned long long)q->id, i, (unsigned long long)t.start,
			       (unsigned long long)t.end);
		}
		HSA(hsa_queue_destroy(q));
	}
	HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after));
	printf("span %llu %llu\n", (unsigned long long)before, (unsigned long long)after);
}

/* Raw time stamps of signals, for faults of time stamps. */
static void stamps(unsigned int n)
{
	hsa_queue_t *q = new_queue(0, 64);

	HSA(hsa_amd_profiling_set_profiler_enabled(q, 1));
	for (unsigned int i = 0; i < n; i++) {
		hsa_signal_t s = new_signal(1);
		const uint64_t *words = (const uint64_t *)s.handle;

		dispatch(q, s);
		wait_zero(s);
		printf("stamp %u %llu %llu\n", i + 1, (unsigned long long)words[4],
		       (unsigned long long)words[5]);
		fflush(stdout);
		HSA(hsa_signal_destroy(s));
	}
	HSA(hsa_queue_destroy(q));
}

static void rate(unsigned int n)
{
	hsa_queue_t *q = new_queue(0, 4096);
	hsa_signal_t done = new_signal(1);
	uint64_t t0 = now_ns();

	for (unsigned int i = 0; i < n; i += 64) {
		uint64_t first = take(q, 64);

		for (unsigned int j = 0; j < 64; j++)
			put_dispatch(q, first + j, true, i + 64 >= n && j == 63 ? done : none);
		ring(q, first + 63);
	}
	wait_zero(done);
	printf("rate %.0f per second\n", n / ((double)(now_ns() - t0) / 1e9));
	HSA(hsa_queue_destroy(q));
}

/* CPU time of the process with 4 idle queues on each GPU. */
static long at_start; /* resident() */

/* Memory of the process that is no file's, in KiB. */
static long resident(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	long kib, sum = 0;
	char line[256];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "RssAnon: %ld", &kib) == 1 ||
		    sscanf(line, "RssShmem: %ld", &kib) == 1)
			sum += kib;
	}
	fclose(f);
	return sum;
}

static void idle(unsigned int ms)
{
	struct rusage a, b;
	uint64_t t0;
	double cpu_s;

	for (unsigned int g = 0; g < nr_gpus; g++) {
		for (unsigned int i = 0; i < 4; i++) {
			hsa_signal_t s = new_signal(1);

			dispatch(new_queue(g, 1024), s);
			wait_zero(s);
		}
	}
	usleep(50000);
	getrusage(RUSAGE_SELF, &a);
	t0 = now_ns();
	usleep(ms * 1000);
	getrusage(RUSAGE_SELF, &b);
	cpu_s = (double)(b.ru_utime.tv_sec - a.ru_utime.tv_sec + b.ru_stime.tv_sec -
			 a.ru_stime.tv_sec) +
		(double)(b.ru_utime.tv_usec - a.ru_utime.tv_usec + b.ru_stime.tv_usec -
			 a.ru_stime.tv_usec) /
			1e6;
	printf("idle %.3f percent\n", 100 * cpu_s / ((double)(now_ns() - t0) / 1e9));
	printf("memory %ld\n", resident() - at_start);
}

/* Dispatches one by one, and waits for each; prints how many completed. */
static void serial(unsigned int n, bool patient)
{
	hsa_queue_t *q = new_queue(0, 64);
	hsa_signal_t s = new_signal(1);
	unsigned int i;

	printf("queue %llu\n", (unsigned long long)q->id);
	fflush(stdout);
	for (i = 0; i < n; i++) {
		uint64_t t0 = now_ns();

		hsa_signal_store_relaxed(s, 1);
		dispatch(q, s);
		if (hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1,
					      patient ? 20000000000 : 300000000,
					      HSA_WAIT_STATE_BLOCKED) > 0)
			break;
		if (n <= 20)
			printf("took %u %llu\n", i + 1, (unsigned long long)(now_ns() - t0));
	}
	printf("completed %u\n", i);
	fflush(stdout);
	HSA(hsa_queue_destroy(q));
	HSA(hsa_shut_down());
}

/* Two queues: which completes first? */
static void order(void)
{
	hsa_queue_t *q[2];
	hsa_signal_t s[2];

	for (unsigned int i = 0; i < 2; i++) {
		q[i] = new_queue(0, 64);
		s[i] = new_signal(1);
	}
	printf("queues %llu %llu\n", (unsigned long long)q[0]->id, (unsigned long long)q[1]->id);
	dispatch(q[0], s[0]);
	usleep(20000);
	printf("first alone %lld\n", (long long)hsa_signal_load_scacquire(s[0]));
	dispatch(q[1], s[1]);
	wait_zero(s[1]);
	wait_zero(s[0]);
	printf("both done\n");
	fflush(stdout);
	_exit(0);
}

/* Copies to the GPU and back, with the times that the runtime reports. */
static void copy_times(unsigned int n)
{
	char *host, *device;

	HSA(hsa_amd_profiling_async_copy_enable(true));
	HSA(hsa_amd_memory_pool_allocate(host_pool, 8 << 20, 0, (void **)&host));
	HSA(hsa_amd_agents_allow_access(1, &gpus[0], NULL, host));
	HSA(hsa_amd_memory_pool_allocate(gpu_pool, 8 << 20, 0, (void **)&device));
	for (unsigned int i = 0; i < n; i++) {
		size_t size = 1000 + (size_t)i * 700001 % (7 << 20);
		hsa_signal_t s = new_signal(1);
		hsa_amd_profiling_async_copy_time_t t;

		if (i & 1)
			HSA(hsa_amd_memory_async_copy(host, cpu, device, gpus[0], size, 0, NULL,
						      s));
		else
			HSA(hsa_amd_memory_async_copy(device, gpus[0], host, cpu, size, 0, NULL,
						      s));
		wait_zero(s);
		HSA(hsa_amd_profiling_get_async_copy_time(s, &t));
		printf("copy %llu bytes %zu start %llu end %llu\n", (unsigned long long)s.handle,
		       size, (unsigned long long)t.start, (unsigned long long)t.end);
	}
}

/* Creates and destroys queues: in each destruction two threads of the runtime wait for one
 * event. */
static void churn(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		hsa_queue_t *q[3];
		hsa_signal_t s = new_signal(3);

		for (unsigned int j = 0; j < 3; j++) {
			q[j] = new_queue(0, 64);
			dispatch(q[j], s);
		}
		wait_zero(s);
		for (unsigned int j = 0; j < 3; j++)
			HSA(hsa_queue_destroy(q[j]));
		HSA(hsa_signal_destroy(s));
	}
	printf("churn ok\n");
}

static void alloc(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		void *p = NULL;
		hsa_status_t status = hsa_amd_memory_pool_allocate(gpu_pool, 32 << 20, 0, &p);

		printf("alloc %u %s\n", i + 1, status == HSA_STATUS_SUCCESS ? "ok" : "failed");
	}
}

static void queues(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		hsa_queue_t *q;
		hsa_status_t status = hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL,
						       NULL, UINT32_MAX, UINT32_MAX, &q);

		printf("queue %u %s\n", i + 1, status == HSA_STATUS_SUCCESS ? "ok" : "failed");
	}
}

static void pointers(void)
{
	hsa_amd_pointer_info_t info = { .size = sizeof(info) };
	hsa_agent_t *agents = NULL;
	uint32_t nr = 0;
	char *p;

	HSA(hsa_amd_memory_pool_allocate(host_pool, 1 << 20, 0, (void **)&p));
	HSA(hsa_amd_agents_allow_access(nr_gpus, gpus, NULL, p));
	HSA(hsa_amd_pointer_info(p + 4096, &info, malloc, &nr, &agents));
	CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA);
	CHECK(info.hostBaseAddress == p && info.sizeInBytes == 1 << 20);
	CHECK(nr >= nr_gpus);
	HSA(hsa_amd_memory_pool_free(p));
	printf("pointers ok\n");
}

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
		 size_t bytes)
{
	hsa_signal_t s = new_signal(1);

	HSA(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, NULL, s));
	wait_zero(s);
}

/* Two locks of one range: one unlock leaves it to the device. With AMD's thunk two ranges of one
 * address are another matter: which of them an unlock ends is not said. */
static void locks(void)
{
	const size_t size = 4 << 20;
	char *from = aligned_alloc(4096, size), *to = aligned_alloc(4096, size), *device;
	void *at;

	HSA(hsa_amd_memory_pool_allocate(gpu_pool, size, 0, (void **)&device));
	for (size_t i = 0; i < size; i++)
		from[i] = (char)(i * 7);
	for (char *host = from; host; host = host == from ? to : NULL) {
		HSA(hsa_amd_memory_lock(host, size, gpus, 1, &at));
		HSA(hsa_amd_memory_lock(host, size, gpus, 1, &at));
		HSA(hsa_amd_memory_unlock(host));
		if (host == from)
			copy(device, gpus[0], at, cpu, size);
		else
			copy(at, cpu, device, gpus[0], size);
		HSA(hsa_amd_memory_unlock(host));
	}
	CHECK(!memcmp(from, to, size));
	HSA(hsa_amd_memory_pool_free(device));
	free(from);
	free(to);
	printf("locks ok\n");
}

/* A child that leaves by exit() and one that execs, while the parent's engine is busy. */
static void forks(void)
{
	hsa_queue_t *q = new_queue(0, 64);
	hsa_signal_t s = new_signal(20000);
	struct producer p = { q, s, 20000 };
	pthread_t t;
	int status;

	CHECK(!pthread_create(&t, NULL, produce, &p));
	for (unsigned int i = 0; i < 10; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid && i % 2)
			_exit(7);
		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(8);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (i % 2 ? 7 : 0));
	}
	pthread_join(t, NULL);
	wait_zero(s);
	printf("forks ok\n");
}

static void reopen(unsigned int n)
{
	HSA(hsa_shut_down());
	nr_gpus = 0;
	open_machine();
	serial(n, false);
}

/* The driver is closed, then opened by a child and by its parent, one of which uses the GPU while
 * the other does. */
static void child_opens(unsigned int n)
{
	int status;
	pid_t pid;

	/* ends with hsa_shut_down() */
	serial(n, false);
	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	nr_gpus = 0;
	open_machine();
	serial(n, false);
	if (!pid) {
		fflush(stdout);
		_exit(7);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int n = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 0;

	at_start = resident();
	open_machine();
	if (!strcmp(what, "batches")) {
		batches();
	} else if (!strcmp(what, "flood")) {
		flood(n);
	} else if (!strcmp(what, "barriers")) {
		barriers();
	} else if (!strcmp(what, "churn")) {
		churn(n);
	} else if (!strcmp(what, "copytimes")) {
		copy_times(n);
	} else if (!strcmp(what, "times")) {
		times(n);
	} else if (!strcmp(what, "stamps")) {
		stamps(n);
	} else if (!strcmp(what, "rate")) {
		rate(n);
	} else if (!strcmp(what, "idle")) {
		idle(n);
	} else if (!strcmp(what, "serial")) {
		serial(n, false);
	} else if (!strcmp(what, "patient")) {
		serial(n, true);
	} else if (!strcmp(what, "order")) {
		order();
	} else if (!strcmp(what, "fault")) {
		HSA(hsa_amd_register_system_event_handler(on_system_event, NULL));
		serial(n, false);
	} else if (!strcmp(what, "alloc")) {
		alloc(n);
	} else if (!strcmp(what, "queues")) {
		queues(n);
	} else if (!strcmp(what, "pointers")) {
		pointers();
	} else if (!strcmp(what, "locks")) {
		locks();
	} else if (!strcmp(what, "forks")) {
		forks();
	} else if (!strcmp(what, "killed")) {
		serial(n, false);
		raise(9);
	} else if (!strcmp(what, "restart")) {
		reopen(n);
	} else if (!strcmp(what, "child_opens")) {
		child_opens(n);
	} else if (!strcmp(what, "leave")) {
		/* exit() with packets still running */
		dispatch(new_queue(0, 64), none);
		exit(5);
	} else {
		fprintf(stderr, "no such scenario\n");
		return 2;
	}
	return 0;
}
