/* SPDX-License-Identifier: MIT */
/* order_test.cpp - memory that kernels, host threads and processes use at the same time
 *
 *	order_test PART SIDES ROUNDS
 *
 * PART: message, store_buffer, load_buffer, iriw, tear (20 times the rounds), or all. SIDES: who
 * runs the roles of a part:
 *
 *	gpus	   a kernel on each of the process's GPUs
 *	host	   a kernel and host threads
 *	processes  a kernel in each of two processes, or two kernels where there are four roles
 *
 * A role is a kernel of one wave that lives for all rounds. Roles meet at the begin of a round,
 * each round has variables of its own, and what a role has read is checked at the end: outcomes
 * that the memory model forbids are counted.
 */
#include "hip_parts.hpp"

#include <cstdlib>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace
{

constexpr int roles_max = 4, line = 16, lanes = 64;

/* Variables of a round, on lines of their own. */
struct Round {
	uint32_t x[line], y[line];
	uint32_t noise[lanes][line]; /* written by all roles: it delays a store behind it */
	uint32_t seen[roles_max][2];
	uint32_t rest[line - 2 * roles_max];
};

constexpr int window = 64; /* rounds that have variables at the same time */

struct Shared {
	uint32_t met[line];
	uint32_t bad[line];
	uint32_t ends[line];
	alignas(64) uint32_t wide[64][4];
	alignas(4096) Round rounds[window];
};

enum { message, store_buffer, load_buffer, iriw, tear };

__host__ __device__ inline uint32_t get(const uint32_t *p)
{
#ifdef __HIP_DEVICE_COMPILE__
	return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
	return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

__host__ __device__ inline void set(uint32_t *p, uint32_t v)
{
#ifdef __HIP_DEVICE_COMPILE__
	__hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
#endif
}

__host__ __device__ inline void add(uint32_t *p, uint32_t v)
{
#ifdef __HIP_DEVICE_COMPILE__
	__hip_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM);
#else
	__atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
#endif
}

__host__ __device__ inline void fence()
{
#ifdef __HIP_DEVICE_COMPILE__
	__threadfence_system();
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Stores 1, then loads, with as little between them as there may be. */
__host__ __device__ inline uint32_t store_load(uint32_t *to, const uint32_t *from)
{
#ifdef __HIP_DEVICE_COMPILE__
	uint32_t v;

	__asm__ volatile("global_store_dword %1, %3, off\n\t"
			 "s_waitcnt vmcnt(0)\n\t"
			 "global_load_dword %0, %2, off glc\n\t"
			 "s_waitcnt vmcnt(0)"
			 : "=&v"(v)
			 : "v"(to), "v"(from), "v"(1)
			 : "memory");
	return v;
#else
	set(to, 1);
	fence();
	return get(from);
#endif
}

__host__ __device__ inline void meet(Shared *s, uint32_t roles, uint32_t times)
{
	add(s->met, 1);
	while (get(s->met) < roles * times) {
#ifndef __HIP_DEVICE_COMPILE__
		/* there may be more threads than processors */
		sched_yield();
#endif
	}
	fence();
}

/* Outcomes that are forbidden, by what the roles have seen. */
__host__ __device__ inline bool forbidden(int part, const Round *r)
{
	uint32_t a = get(&r->seen[0][0]), b = get(&r->seen[1][0]), c = get(&r->seen[1][1]);

	switch (part) {
	case message:
		return b == 1 && c == 0; /* the flag, but not the data */
	case store_buffer:
		return a == 0 && b == 0;
	case load_buffer:
		return a == 1 && b == 1;
	default: /* two readers see two stores in different orders */
		return get(&r->seen[2][0]) == 1 && get(&r->seen[2][1]) == 0 &&
		       get(&r->seen[3][0]) == 1 && get(&r->seen[3][1]) == 0;
	}
}

/* What the last lane of a role does in a round. */
__host__ __device__ inline void act(int part, int role, Round *r)
{
	uint32_t *seen = r->seen[role];

	if (part == message && role == 0) {
		set(r->x, 1);
		fence();
		set(r->y, 1);
	} else if (part == message || (part == iriw && role == 2)) {
		uint32_t first = get(r->y), second;

		fence();
		second = get(r->x);
		set(&seen[0], first);
		set(&seen[1], second);
	} else if (part == store_buffer) {
		set(&seen[0], store_load(role ? r->y : r->x, role ? r->x : r->y));
	} else if (part == load_buffer) {
		uint32_t v = get(role ? r->x : r->y);

		fence();
		set(role ? r->y : r->x, 1);
		set(&seen[0], v);
	} else if (role < 2) {
		set(role ? r->y : r->x, 1);
	} else {
		uint32_t first = get(r->x), second;

		fence();
		second = get(r->y);
		set(&seen[0], first);
		set(&seen[1], second);
	}
}

__host__ __device__ inline void clear(Round *r)
{
	set(r->x, 0);
	set(r->y, 0);
	for (int n = 0; n < roles_max; n++) {
		set(&r->seen[n][0], 0);
		set(&r->seen[n][1], 0);
	}
}

/* Before a round the first role checks the one before the last, which all roles have left, and
 * clears the one that is half a window ahead. */
__host__ __device__ inline void settle(Shared *s, int part, uint32_t n)
{
	if (n > 1 && forbidden(part, &s->rounds[(n - 2) % window]))
		add(s->bad, 1);
	clear(&s->rounds[(n + window / 2) % window]);
}

__global__ void litmus(Shared *s, int part, int role, int roles, uint32_t rounds)
{
	uint32_t lane = threadIdx.x;

	for (uint32_t n = 0; n < rounds + 2; n++) {
		Round *r = &s->rounds[n % window];

		if (!lane && !role)
			settle(s, part, n);
		if (!lane)
			meet(s, roles, n + 1);
		if (n >= rounds)
			continue;
		/* these stores are in front of the last lane's, which is held back the longer */
		if (part == store_buffer)
			set(r->noise[lane], n);
		if (lane == lanes - 1)
			act(part, role, r);
	}
}

void host_litmus(Shared *s, int part, int role, int roles, uint32_t rounds)
{
	for (uint32_t n = 0; n < rounds + 2; n++) {
		meet(s, roles, n + 1);
		/* a kernel takes longer to begin */
		for (volatile uint32_t i = 0; i < n * 7919 % 4096; i = i + 1)
			;
		if (n < rounds)
			act(part, role, &s->rounds[n % window]);
	}
}

/* ---- aligned accesses are whole ---- */

/* Writes {v, v} as 8 bytes and {v, v, v, v} as 16. */
__global__ void write_wide(Shared *s, uint32_t rounds)
{
	if (!threadIdx.x)
		meet(s, 2, 1);
	for (uint32_t n = 1; n <= rounds; n++) {
		uint64_t pair = (uint64_t)n << 32 | n;

		*(volatile uint64_t *)s->wide[threadIdx.x & 31] = pair;
		*(uint4 *)s->wide[32 + (threadIdx.x & 31)] = make_uint4(n, n, n, n);
		__asm__ volatile("" ::: "memory");
	}
	if (!threadIdx.x)
		add(s->ends, 1);
}

/* Halves of each 8 bytes are equal. */
__global__ void read_wide(Shared *s)
{
	if (!threadIdx.x)
		meet(s, 2, 1);
	while (!get(s->ends)) {
		uint64_t pair = *(volatile uint64_t *)s->wide[threadIdx.x & 31];
		uint4 four = *(uint4 *)s->wide[32 + (threadIdx.x & 31)];

		__asm__ volatile("" ::: "memory");
		if ((uint32_t)pair != pair >> 32 || four.x != four.y || four.z != four.w)
			add(s->bad, 1);
	}
}

void host_write_wide(Shared *s, uint32_t rounds)
{
	meet(s, 2, 1);
	for (uint32_t n = 1; n <= rounds * 4; n++) {
		for (auto &w : s->wide) {
			uint64_t pair = (uint64_t)n << 32 | n;

			__atomic_store_n((uint64_t *)w, pair, __ATOMIC_RELAXED);
			__atomic_store_n((uint64_t *)w + 1, pair, __ATOMIC_RELAXED);
		}
	}
	add(s->ends, 1);
}

void host_read_wide(Shared *s)
{
	meet(s, 2, 1);
	while (!get(s->ends)) {
		for (auto &w : s->wide) {
			for (int n = 0; n < 2; n++) {
				uint64_t pair =
					__atomic_load_n((uint64_t *)w + n, __ATOMIC_RELAXED);

				if ((uint32_t)pair != pair >> 32)
					add(s->bad, 1);
			}
		}
	}
}

/* ---- sides ---- */

const struct {
	const char *name;
	int roles;
} parts[] = { { "message", 2 },
	      { "store_buffer", 2 },
	      { "load_buffer", 2 },
	      { "iriw", 4 },
	      { "tear", 2 } };

Shared *on_gpu(Shared *s)
{
	void *p;

	HIP(hipHostRegister(s, sizeof(*s), hipHostRegisterPortable | hipHostRegisterMapped));
	HIP(hipHostGetDevicePointer(&p, s, 0));
	return (Shared *)p;
}

/* A role on a GPU; role 0 of a tear writes. */
void launch(Shared *s, int part, int role, uint32_t rounds)
{
	int gpus;

	HIP(hipGetDeviceCount(&gpus));
	HIP(hipSetDevice(role % gpus));
	if (part != tear)
		litmus<<<1, lanes>>>(s, part, role, parts[part].roles, rounds);
	else if (role)
		read_wide<<<1, lanes>>>(s);
	else
		write_wide<<<1, lanes>>>(s, rounds);
	HIP(hipGetLastError());
}

void wait_all()
{
	int gpus;

	HIP(hipGetDeviceCount(&gpus));
	for (int n = 0; n < gpus; n++) {
		HIP(hipSetDevice(n));
		/* the runtime's wait would take a processor from the roles */
		while (hipStreamQuery(nullptr) == hipErrorNotReady)
			usleep(500);
		HIP(hipDeviceSynchronize());
	}
}

void with_gpus(Shared *s, int part, uint32_t rounds)
{
	Shared *d = on_gpu(s);

	for (int n = 0; n < parts[part].roles; n++)
		launch(d, part, n, rounds);
	wait_all();
}

void with_host(Shared *s, int part, uint32_t rounds)
{
	Shared *d = on_gpu(s);
	std::vector<std::thread> threads;

	for (int gpu_role = 0; gpu_role < (part == tear ? 2 : 1); gpu_role++) {
		threads.clear();
		s->ends[0] = s->met[0] = 0;
		launch(d, part, gpu_role, rounds);
		for (int n = 0; n < parts[part].roles; n++) {
			if (n == gpu_role)
				continue;
			if (part == tear && n)
				threads.emplace_back(host_read_wide, s);
			else if (part == tear)
				threads.emplace_back(host_write_wide, s, rounds);
			else
				threads.emplace_back(host_litmus, s, part, n, parts[part].roles,
						     rounds);
		}
		for (auto &t : threads)
			t.join();
		wait_all();
	}
}

void with_processes(Shared *s, int part, uint32_t rounds, bool is_child)
{
	Shared *d = on_gpu(s);

	for (int n = is_child; n < parts[part].roles; n += 2)
		launch(d, part, n, rounds);
	wait_all();
}

void run_all(Shared *all, const char *wanted, const char *sides, uint32_t rounds, bool is_child)
{
	for (int n = 0; n < 5; n++) {
		uint32_t nr = n == tear ? rounds * 20 : rounds;

		if (strcmp(wanted, "all") != 0 && strcmp(wanted, parts[n].name) != 0)
			continue;
		if (!strcmp(sides, "gpus"))
			with_gpus(&all[n], n, nr);
		else if (!strcmp(sides, "host"))
			with_host(&all[n], n, nr);
		else
			with_processes(&all[n], n, nr, is_child);
		if (is_child)
			continue;
		printf("%s %s: %u rounds, %u forbidden\n", parts[n].name, sides, nr, all[n].bad[0]);
		failures += all[n].bad[0] != 0;
	}
}

} /* namespace */

int main(int argc, char **argv)
{
	void *p = mmap(NULL, 5 * sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	pid_t child = 1;
	int status = 0;

	if (argc != 4 || p == MAP_FAILED)
		return 2;
	/* before any use of HIP */
	if (!strcmp(argv[2], "processes"))
		child = fork();
	if (child < 0)
		return 2;
	run_all((Shared *)p, argv[1], argv[2], (uint32_t)strtoul(argv[3], nullptr, 10), !child);
	if (!child)
		_exit(0);
	if (child > 1 && (waitpid(child, &status, 0) != child || status)) {
		printf("wrong: the child's status is %#x\n", (unsigned int)status);
		return 1;
	}
	return verdict();
}
