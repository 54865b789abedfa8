/* SPDX-License-Identifier: MIT */
/* ending.cpp - HIP programs that end in every way
 *
 *	ending HOW [launches=50] [open=0] [pause=0]
 *
 * Does `launches` kernels and waits, prints "ready", leaves `open` kernels in flight,
 * sleeps `pause` ms, and then: return,
 * exit, _exit, quick_exit, abort, throw, segv, kill, pthread_exit, thread_exit (exit from another
 * thread), atexit (work in an exit handler), fork (both go on, the child without GPU), fork_busy
 * (fork while other threads launch), fork_exec, vfork_exec, exec, thread_death, detached (_exit
 * while a thread still launches), detached_exit (exit while three do).
 */
#include "hip_common.hpp"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" __global__ void ending_work(int *p)
{
	p[threadIdx.x] = 1;
}

extern "C" __global__ void ending_open(int *p)
{
	p[threadIdx.x] = 2;
}

extern char **environ;
static int *memory;
static hipStream_t stream;
static long nr_launches;
static std::atomic<bool> stop_flag;

static void work(long n)
{
	for (long i = 0; i < n; i++)
		ending_work<<<1 + (unsigned)(i % 10), 64, 0, stream>>>(memory);
	HIP(hipGetLastError());
	HIP(hipStreamSynchronize(stream));
}

static void say(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

static void last_work()
{
	work(5);
	say("work in the exit handler\n");
}

static int wait_child(pid_t pid)
{
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "ending: no child: %s\n", strerror(errno));
		return 1;
	}
	printf("child: %s %d\n", WIFEXITED(status) ? "exit" : "signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

static int do_fork(bool busy)
{
	std::vector<std::thread> threads;
	int failed = 0;

	if (busy)
		for (int t = 0; t < 3; t++)
			threads.emplace_back([] {
				hipStream_t s;
				HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
				for (int i = 0; i < 200 || !stop_flag; i++) {
					ending_work<<<1, 64, 0, s>>>(memory);
					if (i % 20 == 19)
						HIP(hipStreamSynchronize(s));
				}
				HIP(hipStreamSynchronize(s));
			});
	for (int i = 0; i < (busy ? 10 : 1); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			/* a forked worker may compute, without the GPU */
			volatile long sum = 0;

			for (long k = 0; k < 1000000; k++)
				sum = sum + k;
			if (busy)
				_exit(9);
			say("the child goes on\n");
			exit(9);
		}
		failed |= wait_child(pid);
		fflush(stdout);
	}
	stop_flag = true;
	for (std::thread &t : threads)
		t.join();
	work(nr_launches);
	say("the parent goes on\n");
	return failed ? 1 : 4;
}

static int do_exec(const char *how)
{
	char *const args[] = { (char *)"sh", (char *)"-c", (char *)"echo executed; exit 6", NULL };

	if (!strcmp(how, "exec")) {
		execv("/bin/sh", args);
		return 1;
	}
	pid_t pid = !strcmp(how, "vfork_exec") ? vfork() : fork();
	if (pid == 0) {
		execv("/bin/sh", args);
		_exit(127);
	}
	if (wait_child(pid))
		return 1;
	work(nr_launches);
	return 5;
}

static int do_thread_death()
{
	for (int round = 0; round < 8; round++) {
		std::vector<std::thread> threads;

		for (int t = 0; t < 4; t++)
			threads.emplace_back([] {
				for (int i = 0; i < 10; i++)
					ending_work<<<1, 64, 0, stream>>>(memory);
			});
		for (std::thread &t : threads)
			t.join();
	}
	HIP(hipStreamSynchronize(stream));
	say("threads died\n");
	return 0;
}

static void forever()
{
	hipStream_t s;

	if (hipStreamCreateWithFlags(&s, hipStreamNonBlocking) != hipSuccess)
		return;
	for (;;) {
		ending_work<<<1, 64, 0, s>>>(memory);
		if (hipStreamSynchronize(s) != hipSuccess)
			return;
	}
}

static int end_now(const char *how)
{
	if (!strcmp(how, "return"))
		return 3;
	if (!strcmp(how, "exit"))
		exit(3);
	end_suddenly(how);
	if (!strcmp(how, "throw"))
		throw std::runtime_error("escapes main");
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "pthread_exit")) {
		std::thread([] {
			sleep_ms(1200); /* longer than the watcher's period */
			work(nr_launches);
			say("the other thread goes on\n");
			exit(3);
		}).detach();
		pthread_exit(NULL);
	}
	if (!strcmp(how, "thread_exit")) {
		std::thread([] { exit(3); }).join();
		return 1;
	}
	if (!strcmp(how, "atexit")) {
		atexit(last_work);
		return 3;
	}
	if (!strcmp(how, "fork") || !strcmp(how, "fork_busy"))
		return do_fork(!strcmp(how, "fork_busy"));
	if (!strcmp(how, "fork_exec") || !strcmp(how, "vfork_exec") || !strcmp(how, "exec"))
		return do_exec(how);
	if (!strcmp(how, "thread_death"))
		return do_thread_death();
	if (!strcmp(how, "detached")) {
		std::thread(forever).detach();
		sleep_ms(100);
		_exit(3);
	}
	if (!strcmp(how, "detached_exit")) {
		for (int t = 0; t < 3; t++)
			std::thread(forever).detach();
		sleep_ms(100);
		exit(3);
	}
	fprintf(stderr, "ending: unknown '%s'; see the head of ending.cpp\n", how);
	return 2;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	nr_launches = arg_num(argc, argv, "launches", 50);
	HIP(hipMalloc((void **)&memory, 1 << 16));
	HIP(hipStreamCreate(&stream));
	work(nr_launches);
	say("ready\n");
	for (long i = 0; i < arg_num(argc, argv, "open", 0); i++)
		ending_open<<<1, 64, 0, stream>>>(memory);
	sleep_ms(arg_num(argc, argv, "pause", 0));
	return end_now(how);
}
