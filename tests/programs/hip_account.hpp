/* SPDX-License-Identifier: MIT */
/* hip_account.hpp - a HIP program's account of its calls, to compare with a trace
 *
 *	CALL(hipSetDevice, 1);                                       a call that must succeed
 *	CALL_OPS(stream, { kernel("k", grid, group) }, hipLaunchKernel, ...);     and what it puts
 *	on the GPU
 *
 * account_write() writes one JSON object per call, thread by thread, each thread's in the order of
 * its
 * calls: {"tid", "api", "status", "stream", "exec", "ops"}. An op is ["kernel", name, x, y, z, gx,
 * gy, gz] (grid in work-items, workgroup) or [what, bytes, direction] with "copy" for a copy by an
 * engine, "move", "move_rows", "fill", "fill_rows" for a kernel of the runtime, "either" for a copy
 * that is done by an engine in one release and by a kernel in another.
 */
#ifndef TESTS_PROGRAMS_HIP_ACCOUNT_H
#define TESTS_PROGRAMS_HIP_ACCOUNT_H

#include "hip_common.hpp"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <vector>

struct account_op {
	const char *kind, *name;
	uint64_t bytes;
	dim3 grid, group; /* grid in work-items */
};

static inline account_op kernel(const char *name, dim3 blocks, dim3 group)
{
	return { "kernel", name, 0,
		 dim3(blocks.x * group.x, blocks.y * group.y, blocks.z * group.z), group };
}

static inline account_op copied(uint64_t bytes, const char *kind)
{
	return { "copy", kind, bytes, dim3(), dim3() };
}

typedef std::vector<account_op> account_ops;

struct account_call {
	const char *api;
	int status;
	void *stream, *exec;
	account_ops ops;
};

struct account_thread {
	long tid;
	std::deque<account_call> calls;
};

static std::mutex account_lock;
static std::deque<account_thread> account_threads;

static inline account_thread *account_mine()
{
	static thread_local account_thread *mine;

	if (!mine) {
		std::lock_guard<std::mutex> hold(account_lock);

		account_threads.push_back({ syscall(SYS_gettid), {} });
		mine = &account_threads.back();
	}
	return mine;
}

static inline int account_add(const char *api, void *stream, void *exec, account_ops ops,
			      int status)
{
	account_mine()->calls.push_back({ api, status, stream, exec, std::move(ops) });
	return status;
}

static inline void account_must(const char *file, int line, const char *api, int status)
{
	if (!status)
		return;
	fprintf(stderr, "%s:%d: %s: %d\n", file, line, api, status);
	fflush(NULL);
	_exit(1);
}

#define CALL_EXEC(stream, exec, ops, fn, ...)                                                      \
	account_must(__FILE__, __LINE__, #fn,                                                      \
		     account_add(#fn, (void *)(stream), (void *)(exec), ops,                       \
				 (int)fn(__VA_ARGS__)))
#define OPS(...) (account_ops{ __VA_ARGS__ })
#define CALL_OPS(stream, ops, fn, ...) CALL_EXEC(stream, NULL, ops, fn, __VA_ARGS__)
#define CALL(fn, ...) CALL_EXEC(NULL, NULL, OPS(), fn, __VA_ARGS__)
/* name<<<blocks, group, 0, stream>>>(...) is three calls. */
#define LAUNCH(stream, ops, name, blocks, group, ...)                                              \
	do {                                                                                       \
		name<<<blocks, group, 0, stream>>>(__VA_ARGS__);                                   \
		account_add("__hipPushCallConfiguration", stream, NULL, OPS(), 0);                 \
		account_add("__hipPopCallConfiguration", NULL, NULL, OPS(), 0);                    \
		account_add("hipLaunchKernel", stream, NULL, ops, 0);                              \
		CALL(hipGetLastError);                                                             \
	} while (0)

/* Calls by name, to stdout; the same on every run. */
static inline void account_print()
{
	std::map<std::string, long> counts;
	long ops = 0, calls = 0;

	for (account_thread &t : account_threads) {
		for (account_call &c : t.calls) {
			counts[c.api]++;
			calls++;
			ops += (long)c.ops.size();
		}
	}
	for (auto &c : counts)
		printf("%s: %ld\n", c.first.c_str(), c.second);
	printf("account: %ld calls, %ld operations\n", calls, ops);
}

static inline int account_write(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		return 1;
	}
	for (account_thread &t : account_threads) {
		for (account_call &c : t.calls) {
			const char *sep = "";

			fprintf(f,
				"{\"tid\": %ld, \"api\": \"%s\", \"status\": %d, \"stream\": \"%#lx\", "
				"\"exec\": \"%#lx\", \"ops\": [",
				t.tid, c.api, c.status, (unsigned long)c.stream,
				(unsigned long)c.exec);
			for (account_op &o : c.ops) {
				if (!strcmp(o.kind, "kernel"))
					fprintf(f, "%s[\"kernel\", \"%s\", %u, %u, %u, %u, %u, %u]",
						sep, o.name, o.grid.x, o.grid.y, o.grid.z,
						o.group.x, o.group.y, o.group.z);
				else
					fprintf(f, "%s[\"%s\", %lu, \"%s\"]", sep, o.kind,
						(unsigned long)o.bytes, o.name);
				sep = ", ";
			}
			fprintf(f, "]}\n");
		}
	}
	return fclose(f) ? 1 : 0;
}

#endif
