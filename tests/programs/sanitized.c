/* SPDX-License-Identifier: MIT */
/* sanitized.c - is compiled with each sanitizer: uses no GPU
 *
 * sanitized          prints, ends with status 4
 * sanitized bug      has the fault that its sanitizer reports
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void *race(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		shared++;
	return NULL;
}

static int have_bug(void)
{
#if defined(THREADS)
	pthread_t a, b;

	pthread_create(&a, NULL, race, NULL);
	pthread_create(&b, NULL, race, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
#else
	volatile char *bytes = malloc(8);
	volatile size_t at = 8;
#if defined(VALUES)
	if (bytes[at - 1])
		puts("set");
#elif defined(LEAKS)
	bytes = malloc(100);
#else
	bytes[at] = 1;
#endif
	(void)race;
	return bytes != NULL;
#endif
}

int main(int argc, char **argv)
{
	puts("no GPU used");
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "bug") == 0)
		return have_bug();
	return 4;
}
