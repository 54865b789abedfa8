/* SPDX-License-Identifier: MIT */
/* buffer_thread.h - threads that deliver record buffers: one for each buffer, or shared
 *
 *  operation           | any thread                    | the thread itself
 *  --------------------+-------------------------------+------------------
 *  buffer_thread_post  | yes, under the buffer's lock  | yes
 *  buffer_thread_end   | waits, with nothing posted    | no
 */
#ifndef RTL_LIB_FACE_BUFFER_THREAD_H
#define RTL_LIB_FACE_BUFFER_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct buffer_thread;
struct rtl_core;

/* What a thread is to do once; part of the buffer that wants it. */
struct buffer_job {
	struct buffer_job *next; /* buffer_thread.c's */
	void (*run)(struct buffer_job *job);
};

/* 0, -ENOMEM: no memory or no thread. It blocks all signals. `core`: the thread keeps the fast
 * clock going; NULL: it does not. */
int buffer_thread_start(const struct rtl_core *core, struct buffer_thread **out);
/* Returns when the thread has ended. Nothing was posted that it has not run. */
void buffer_thread_end(struct buffer_thread *t);
/* The thread runs `job`, after what was posted before. It is not posted already; it may be posted
 * again as soon as it runs. */
void buffer_thread_post(struct buffer_thread *t, struct buffer_job *job);
bool buffer_thread_is_self(const struct buffer_thread *t);
/* false: it is a thread of the process that this one was forked from. */
bool buffer_thread_is_here(const struct buffer_thread *t);

#endif
