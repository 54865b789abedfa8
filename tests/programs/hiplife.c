/* SPDX-License-Identifier: MIT */
/* hiplife.c - HIP calls at every time of a program's life
 *
 *	hiplife PLUGIN
 *
 * In constructors, before main(), on 16 threads and in their destructors, in a plugin that is
 * loaded, unloaded and loaded again, in exit handlers, in destructors, after HIP's own. Each call
 * of hipGetErrorString() has a unique number; 080_hip_life.py has the list.
 */
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_THREADS 16
#define NR_EACH 50

void hiplife_part_work(int load);

static pthread_key_t key;

static void call(int number)
{
	(void)hipGetErrorString((hipError_t)number);
}

static void calls(int first, int nr)
{
	for (int i = 0; i < nr; i++)
		call(first + i);
}

__attribute__((constructor)) static void before_main(void)
{
	calls(10000, 10);
}

__attribute__((destructor)) static void after_main(void)
{
	calls(10200, 10);
}

static void at_exit(void)
{
	calls(10100, 10);
}

static void at_exit_with_gpu(void)
{
	void *p;

	if (hipMalloc(&p, 7 * 4096) == hipSuccess)
		(void)hipFree(p);
}

static void thread_ends(void *arg)
{
	int id = (int)(long)arg - 1;

	calls(30000 + 100 * id, 5);
}

static void *work(void *arg)
{
	int id = (int)(long)arg - 1;
	void *p;

	pthread_setspecific(key, arg);
	for (int i = 0; i < NR_EACH; i++) {
		call(20000 + 100 * id + i);
		if (hipMalloc(&p, 256) == hipSuccess)
			(void)hipFree(p);
	}
	return NULL;
}

static int use_plugin(const char *path, int load)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*fn)(int);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	fn = (void (*)(int))dlsym(lib, "hiplife_part_work");
	fn(load);
	return dlclose(lib);
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_THREADS];
	int bad = 0;

	if (argc != 2)
		return 2;
	atexit(at_exit);
	calls(10300, 10);
	hiplife_part_work(0);
	pthread_key_create(&key, thread_ends);
	for (long i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	atexit(at_exit_with_gpu);
	for (int load = 0; load < 3; load++)
		bad |= use_plugin(argv[1], load);
	printf("hiplife: %s\n", bad ? "wrong" : "right");
	return bad ? 1 : 7;
}
