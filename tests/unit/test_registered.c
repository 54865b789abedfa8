/* SPDX-License-Identifier: MIT */
/* test_registered.c - functions of the host that stand for kernels */
#include "event/registered.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum { THREADS = 4, NAMES = 2000 };

TEST(functions_of_a_name_come_in_the_order_of_their_registration)
{
	static const char a, b, c;
	uint64_t found[2] = { 0 };

	registered_add("_Z3onev", &a);
	registered_add("_Z3twov", &c);
	registered_add("_Z3onev", &b);
	registered_add("_Z3onev", &a); /* the library came again */
	CHECK_EQ_UINT(registered_find("_Z3onev.kd", 7, found, 2), 2);
	CHECK_EQ_UINT(found[0], (uintptr_t)&a);
	CHECK_EQ_UINT(found[1], (uintptr_t)&b);
	found[1] = 0;
	/* space for one: how many there are all the same */
	CHECK_EQ_UINT(registered_find("_Z3onev", 7, found, 1), 2);
	CHECK_EQ_UINT(found[1], 0);
	CHECK_EQ_UINT(registered_find("_Z3onev", 6, found, 2), 0);
}

static char functions[NAMES];

static void name_of(char *text, size_t size, int i)
{
	snprintf(text, size, "_Z4kernILi%dEEvPf", i);
}

static void *add_all(void *arg)
{
	char text[64];

	for (int i = 0; i < NAMES; i++) {
		name_of(text, sizeof(text), i);
		registered_add(text, &functions[i]);
	}
	return arg;
}

TEST(threads_that_register_the_same_note_it_once)
{
	pthread_t threads[THREADS];
	uint64_t found[THREADS + 1];
	char text[64];

	for (int i = 0; i < THREADS; i++)
		CHECK_EQ_INT(pthread_create(&threads[i], NULL, add_all, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NAMES; i++) {
		name_of(text, sizeof(text), i);
		CHECK_EQ_UINT(registered_find(text, strlen(text), found, THREADS + 1), 1);
		CHECK_EQ_UINT(found[0], (uintptr_t)&functions[i]);
	}
}
