/* SPDX-License-Identifier: MIT */
/* leaving.cpp - leaves a callback by an exception, pthread_exit(), a cancellation, longjmp() */
#include "leaving.h"

#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <pthread.h>

namespace
{
struct left {
};

std::atomic<bool> is_armed;
std::atomic<int> nr_called, nr_left, nr_caught, nr_done;
thread_local jmp_buf way_back;
void (*operation)(void);

void repeat()
{
	for (int i = 0; i < LEAVING_MORE; i++, nr_done++)
		operation();
}

void *leave_and_repeat(void *arg)
{
	is_armed = true;
	if (setjmp(way_back) == 0) {
		try {
			operation();
		} catch (const left &) {
			nr_caught++;
		}
	}
	repeat();
	pthread_testcancel();
	return arg;
}

void *repeat_alone(void *arg)
{
	repeat();
	return arg;
}
} // namespace

const char *leaving_how = "exception";

void leaving_arm(void)
{
	is_armed = true;
}

void leaving_called(void)
{
	nr_called++;
	if (!is_armed.exchange(false))
		return;
	nr_left++;
	if (!strcmp(leaving_how, "exception"))
		throw left();
	if (!strcmp(leaving_how, "exit"))
		pthread_exit(nullptr);
	if (!strcmp(leaving_how, "jump"))
		longjmp(way_back, 1);
	/* where the library has cancellation off this returns */
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

void leaving_try(void (*fn)(void))
{
	pthread_t thread;
	int here = 0;
	void *result;

	operation = fn;
	operation();
	nr_done++;
	pthread_create(&thread, nullptr, leave_and_repeat, &here);
	pthread_join(thread, &result);
	printf("left %d, caught %d, the thread %s\n", nr_left.load(), nr_caught.load(),
	       result == &here		  ? "went on" :
	       result == PTHREAD_CANCELED ? "was cancelled" :
					    "ended");
	pthread_create(&thread, nullptr, repeat_alone, nullptr);
	pthread_join(thread, &result);
	repeat();
	printf("done %d\n", nr_done.load());
	fflush(stdout);
}

int leaving_nr_called(void)
{
	return nr_called;
}

int leaving_nr_left(void)
{
	return nr_left;
}
