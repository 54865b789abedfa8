/* SPDX-License-Identifier: MIT */
/* buffer.h - record buffers: two halves and a thread that delivers them to the program
 *
 * Writers fill one half while the thread delivers the other. Entries of one size grow from the begin of a half, data that
 * they point to (a name, a payload) from its end. A writer reserves entries with one atomic operation, in the order in
 * which they are delivered, fills them, and marks them as filled; the thread waits for the marks. The half is handed over
 * when an entry does not fit, at the watermark, by buffer_flush() and by buffer_close().
 *
 *  operation    | any thread    | the buffer's own thread, in deliver()
 *  -------------+---------------+-----------------------------------------------------------
 *  buffer_write | may wait      | what does not fit is delivered next, by the same thread
 *  buffer_flush | waits         | returns at once
 *  buffer_close | waits         | -EDEADLK
 */
#ifndef RTL_LIB_FACE_BUFFER_H
#define RTL_LIB_FACE_BUFFER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/lock.h"
#include "event/format.h"

struct rtl_core;

enum buffer_policy {
	BUFFER_WAIT, /* a writer waits while both halves are full */
	BUFFER_DROP, /* its entries are dropped and counted */
};

struct buffer_config {
	size_t half_size, entry_size; /* bytes */
	size_t link;		      /* where in an entry the pointer to its data is */
	size_t watermark; /* bytes in a half from which on it is handed over; SIZE_MAX: when it is full */
	enum buffer_policy policy;
	/* On the buffer's thread, all signals blocked, no lock held: a whole number of entries, never 0. NULL: nothing is kept. */
	void (*deliver)(const char *begin, const char *end, void *arg);
	void *arg;
	/* *memory NULL: sets it to `size` bytes; else frees it. NULL: malloc() and free() */
	void (*allocate)(char **memory, size_t size, void *arg);
	void *allocate_arg;
	/* Counts losses for `reason`, and keeps the fast clock going, on the buffer's thread. NULL: neither. */
	const struct rtl_core *core;
	enum spool_reason reason;
};

/* What deliver() has written while the halves were full. */
struct buffer_aside {
	char *entries;
	size_t nr, size;
};

struct buffer {
	_Atomic uint64_t word; /* what is used of the half that is written: see BUFFER_WORD */
	/* relaxed: they change only while `word` is BUFFER_CLOSED. A writer reads them before it exchanges `word`, which
	 * succeeds only in the same opening of the buffer */
	_Atomic size_t half_size, entry_size, watermark;
	/* set in open, constant until close */
	char *memory;		/* two halves */
	_Atomic uint8_t *marks; /* of each entry of either half: it is filled */
	size_t nr_marks;	/* of a half */
	struct buffer_config config;
	pthread_t thread;

	struct buffer *next, *next_closed; /* under buffer.c's buffers_lock */
	struct lock lock;
	pthread_cond_t work, idle;
	/* under lock */
	bool is_open; /* also where nothing is kept */
	bool is_busy; /* a half was handed over and is not free again */
	bool stop;
	uint64_t given; /* `word` of the half that was handed over */
	uint64_t nr_given, nr_done;
	uint64_t nr_lost; /* since the last buffer_take_lost() */
	struct buffer_aside aside;
};

/* BUFFER_WORD: entries of the half, 8 bytes of its data, which half, the number of the opening, closed. */
#define BUFFER_MAX_ENTRIES UINT64_C(0xffffff)
#define BUFFER_DATA_SHIFT 24
#define BUFFER_MAX_DATA UINT64_C(0xfffffff)
#define BUFFER_HALF (UINT64_C(1) << 52)
#define BUFFER_OPENING (UINT64_C(1) << 53)
#define BUFFER_CLOSED (UINT64_C(1) << 63)

struct buffer_space {
	char *entries, *data;
	_Atomic uint8_t *marks;
	uint32_t nr;
	size_t used; /* bytes of the half, these included */
};

/* 0, -ENOMEM: no memory or no thread. */
int buffer_open(const struct buffer_config *config, struct buffer **out);
/* Delivers what is there and ends the thread. *nr_lost: as buffer_take_lost(). The structure is used again by a later
 * buffer_open(), but stays valid: a write that comes too late is dropped. */
int buffer_close(struct buffer *b, uint64_t *nr_lost);
/* Returns when everything that was written before was delivered. */
void buffer_flush(struct buffer *b);
/* Entries that were dropped, since the last call. */
uint64_t buffer_take_lost(struct buffer *b);
/* This thread is in a buffer's deliver(). */
bool buffer_is_delivering(void);

/* HOT but where it waits: writes `nr` entries together. `data` is copied and the last entry's pointer leads to the copy;
 * NULL: there is none. Data that fits into no half stays where it is, and is delivered before this returns. */
void buffer_write(struct buffer *b, const void *entries, uint32_t nr, const void *data,
		  size_t size);

/* A half has reached the watermark: it is handed over if the other one is free. */
void buffer_hand_over(struct buffer *b);

static inline uint64_t buffer_word_nr(uint64_t word)
{
	return word & BUFFER_MAX_ENTRIES;
}

static inline size_t buffer_word_data(uint64_t word)
{
	return (word >> BUFFER_DATA_SHIFT & BUFFER_MAX_DATA) * 8;
}

/* HOT: `nr` entries and `data` bytes, a multiple of 8. false: the
 * half is full or the buffer is closed, and buffer_write() is to be called. Else buffer_commit() follows soon: the thread waits for it. */
static RTL_INLINE bool buffer_reserve(struct buffer *b, uint32_t nr, size_t data,
				      struct buffer_space *s)
{
	size_t half_size = atomic_load_explicit(&b->half_size, memory_order_relaxed);
	size_t entry_size = atomic_load_explicit(&b->entry_size, memory_order_relaxed);
	/* acquire, both: pair with the release of those who publish a half */
	uint64_t word = atomic_load_explicit(&b->word, memory_order_acquire), after, at;
	char *begin;

	do {
		after = word + nr + ((uint64_t)data / 8 << BUFFER_DATA_SHIFT);
		s->used = buffer_word_nr(after) * entry_size + buffer_word_data(after);
		if (RTL_UNLIKELY(word & BUFFER_CLOSED || s->used > half_size))
			return false;
	} while (RTL_UNLIKELY(!atomic_compare_exchange_weak_explicit(&b->word, &word, after,
								     memory_order_acquire,
								     memory_order_acquire)));
	at = buffer_word_nr(word);
	begin = b->memory + (word & BUFFER_HALF ? half_size : 0);
	s->entries = begin + at * entry_size;
	s->data = begin + half_size - buffer_word_data(after);
	/* fetched by the time that it is written */
	RTL_PREFETCH_WRITE(s->entries + 8 * entry_size);
	s->marks = b->marks + at + (word & BUFFER_HALF ? b->nr_marks : 0);
	s->nr = nr;
	return true;
}

/* HOT: the entries are filled. */
static RTL_INLINE void buffer_mark(const struct buffer_space *s)
{
	/* release: pairs with the acquire of the buffer's thread */
	for (uint32_t i = 0; i < s->nr; i++)
		atomic_store_explicit(&s->marks[i], 1, memory_order_release);
}

/* HOT: the same, and hands the half over at the watermark. */
static RTL_INLINE void buffer_commit(struct buffer *b, const struct buffer_space *s)
{
	buffer_mark(s);
	/* the buffer may be closed by now, even opened anew: then a half is handed over early */
	if (RTL_UNLIKELY(s->used >= atomic_load_explicit(&b->watermark, memory_order_relaxed)))
		buffer_hand_over(b);
}

#endif
