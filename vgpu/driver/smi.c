/* SPDX-License-Identifier: MIT */
/* smi.c - descriptors from which management programs read what happens to a GPU
 *
 * A program writes a mask of the events that it wants, 64 bits, and reads lines of text. Of the
 * kernel's events a virtual GPU has one: memory faults. Such a descriptor is an end of a pair of
 * sockets.
 *
 * Owns:     the other ends, until the program has closed its own.
 * Threads:  any.
 * Locks:    `lock`, innermost.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

#define READERS_MAX 64
#define EVENT_VMFAULT 1u /* its bit of the mask is 1 << (event - 1) */

struct reader {
	int fd; /* -1: free */
	unsigned int gpu;
	uint64_t mask;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* under lock */
static struct reader readers[READERS_MAX];
static unsigned int nr_readers;

/* Takes the masks that the program has written; closes what it has closed. */
static void look(struct reader *r)
{
	uint64_t mask;
	ssize_t n;

	while (r->fd >= 0 && (n = recv(r->fd, &mask, sizeof(mask), MSG_DONTWAIT)) >= 0) {
		if (n == (ssize_t)sizeof(mask)) {
			r->mask = mask;
		} else if (n == 0) {
			syscall(SYS_close, r->fd);
			r->fd = -1;
		}
	}
}

static struct reader *free_reader(void)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		look(&readers[i]);
		if (readers[i].fd < 0)
			return &readers[i];
	}
	return nr_readers < READERS_MAX ? &readers[nr_readers++] : NULL;
}

int smi_open(unsigned int gpu)
{
	struct reader *r;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pthread_mutex_lock(&lock);
	r = free_reader();
	if (r)
		*r = (struct reader){ .fd = ends[1], .gpu = gpu };
	pthread_mutex_unlock(&lock);
	if (r)
		return ends[0];
	syscall(SYS_close, ends[0]);
	syscall(SYS_close, ends[1]);
	return -EMFILE;
}

void smi_fault(unsigned int gpu)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%x %x:%.15s\n", EVENT_VMFAULT, (unsigned int)getpid(),
			 program_invocation_short_name);

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nr_readers; i++) {
		struct reader *r = &readers[i];

		look(r);
		if (r->fd >= 0 && r->gpu == gpu && (r->mask >> (EVENT_VMFAULT - 1) & 1))
			(void)send(r->fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	pthread_mutex_unlock(&lock);
}

/* The ends are the parent's. */
void smi_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	for (unsigned int i = 0; i < nr_readers; i++) {
		if (readers[i].fd >= 0)
			syscall(SYS_close, readers[i].fd);
	}
	nr_readers = 0;
}
