/* SPDX-License-Identifier: MIT */
/* marker_app.c - a program that knows no tool: marks, twice, with two threads */
#include <pthread.h>
#include <stdio.h>

#include "roctracer/roctx.h"

static void *mark(void *arg)
{
	roctxMarkA("thread");
	return arg;
}

int main(void)
{
	pthread_t thread;

	roctxMarkA("main");
	pthread_create(&thread, NULL, mark, NULL);
	pthread_join(thread, NULL);
	puts("done");
	return 0;
}
