/* SPDX-License-Identifier: MIT */
/* buffer.h - record buffers: two halves, and a thread that delivers them to the program
 *
 * Writers fill one half while the thread delivers the other. Entries of one size grow from the
 * begin of a half, data that they point to (a name, a payload) from its end. A writer reserves
 * entries with one atomic operation, in the order in which they are delivered, fills them, and
 * marks them as filled; the thread waits for the marks. The half is handed over when an entry does
 * not fit, at the watermark, by buffer_flush() and by buffer_close().
 *
 * While both halves are full a writer waits, but not for ever: what deliver() does may need what
 * the writer holds. After 200 ms its entries are put aside, in memory that grows, and while the
 * same half is being delivered each further write waits for 1 ms. A thread that delivers a buffer,
 * this one or another, never waits. Each thread's entries stay in their order.
 *
 *  operation         | any thread       | a thread that delivers, in deliver()
 *  ------------------+------------------+-----------------------------------------
 *  buffer_write      | may wait, 200 ms | what does not fit is put aside
 *  buffer_write_now  | never waits      | the same
 *  buffer_flush      | waits            | its own buffer: returns at once
 *  buffer_flush_for  | waits, a bound   | never waits
 *  buffer_close      | waits            | its own buffer: -EDEADLK
 *  buffer_discard    | never waits      | its own buffer: -EBUSY
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
#include "buffer_aside.h"
#include "buffer_thread.h"
#include "spool/format.h"

struct rtl_core;

enum buffer_policy {
	BUFFER_WAIT, /* while both halves are full a writer waits, then puts its entries aside */
	BUFFER_DROP, /* its entries are dropped and counted */
};

struct buffer_config {
	size_t half_size, entry_size; /* bytes */
	size_t link;		      /* where in an entry the pointer to its data is */
	/* bytes in a half from which on it is handed over; SIZE_MAX: when it is full */
	size_t watermark;
	bool watermark_of_data; /* entries do not count for it */
	enum buffer_policy policy;
	/* Bytes that are put aside at most: further entries are dropped and counted. 0: what memory
	 * there is. */
	size_t max_aside;
	/* On the buffer's thread, all signals blocked, no lock held: a whole number of entries,
	 * never 0. NULL: nothing is kept. */
	void (*deliver)(const char *begin, const char *end, void *arg);
	void *arg;
	/* *memory NULL: sets it to `size` bytes; else frees it. NULL: malloc() and free() */
	void (*allocate)(char **memory, size_t size, void *arg);
	void *allocate_arg;
	/* Counts losses for `reason`, and keeps the fast clock going, on the buffer's thread. NULL:
	 * neither. */
	const struct rtl_core *core;
	enum spool_reason reason;
	struct buffer_thread *thread; /* NULL: one of its own, which ends with the buffer */
};

struct buffer {
	_Atomic uint64_t word; /* what is used of the half that is written: see BUFFER_WORD */
	/* relaxed: they change only while `word` is BUFFER_CLOSED. A writer reads them before it
	 * exchanges `word`, which succeeds only in the same opening of the buffer */
	_Atomic size_t half_size, entry_size, watermark;
	_Atomic size_t entry_weight; /* bytes of an entry that count for the watermark */
	/* set in open, constant until close */
	char *memory;		/* two halves */
	_Atomic uint8_t *marks; /* of each entry of either half: it is filled */
	size_t nr_marks;	/* of a half */
	struct buffer_config config;

	struct buffer *next, *next_closed; /* under buffer.c's buffers_lock */
	struct buffer_job job;		   /* a half was handed over */
	struct lock lock;
	pthread_cond_t idle; /* a half was delivered */
	/* under lock */
	struct buffer_thread *thread;
	bool owns_thread;
	bool is_open;		    /* also where nothing is kept */
	bool is_busy;		    /* a half was handed over and is not free again */
	uint64_t given;		    /* `word` of the half that was handed over */
	uint64_t nr_given, nr_done; /* halves */
	uint64_t stalled; /* the last half, by nr_given, that a writer has waited for in vain */
	uint64_t nr_lost; /* since the last buffer_take_lost() */
	struct buffer_aside aside; /* empty unless is_busy */
	bool is_pressed;	   /* counted in buffer_nr_pressed */
};

/* BUFFER_WORD: entries of the half, 8 bytes of its data, which half, the number of the opening,
 * closed. */
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
	size_t used; /* bytes of the half that count for the watermark, these included */
};

/* 0, -ENOMEM: no memory or no thread. */
int buffer_open(const struct buffer_config *config, struct buffer **out);
/* Delivers what is there and ends the thread. *nr_lost: as buffer_take_lost(). The structure is
 * used again by a later buffer_open(), but stays valid: a write that comes too late is dropped. */
int buffer_close(struct buffer *b, uint64_t *nr_lost);
/* Closes it without delivering what is there. The structure is not used again. The number of
 * entries that were there; -EBUSY: a half is being delivered, and nothing was changed. */
int buffer_discard(struct buffer *b);
/* It is delivered by `t` from now on. -EDEADLK: in a deliver(). */
int buffer_move(struct buffer *b, struct buffer_thread *t);
/* Returns when everything that was written before was delivered. */
void buffer_flush(struct buffer *b);
/* The same, for `ns` at most. -EBUSY: not everything was delivered by then, but will be. */
int buffer_flush_for(struct buffer *b, uint64_t ns);
/* Entries that were not even made count among those that were dropped. */
void buffer_lose(struct buffer *b, uint32_t nr);
/* Entries that were dropped, since the last call. */
uint64_t buffer_take_lost(struct buffer *b);
/* How many buffers have put aside more than half of what they may. */
extern RTL_HIDDEN _Atomic uint32_t buffer_nr_pressed;
/* The function that is called after each change of buffer_nr_pressed, under the buffer's lock;
 * NULL: none. */
extern RTL_HIDDEN _Atomic(void (*)(void)) buffer_on_pressed;
/* HOT: while there is such a buffer: waits for it, 1 ms at most. For threads that write what others
 * collect, with no lock held. */
void buffer_relieve_slowly(void);
static inline void buffer_relieve(void)
{
	/* relaxed: a hint */
	if (RTL_UNLIKELY(atomic_load_explicit(&buffer_nr_pressed, memory_order_relaxed)))
		buffer_relieve_slowly();
}
/* This thread is in a buffer's deliver(). */
bool buffer_is_delivering(void);

/* HOT but where it waits: writes `nr` entries together. `data` is copied and the last entry's
 * pointer leads to the copy;
 * NULL: there is none. Data that fits into no half stays where it is, and is delivered before this
 * returns. */
void buffer_write(struct buffer *b, const void *entries, uint32_t nr, const void *data,
		  size_t size);

/* The same, but never waits: for a thread that others wait for. */
void buffer_write_now(struct buffer *b, const void *entries, uint32_t nr, const void *data,
		      size_t size);

/* A half has reached the watermark: it is handed over if the other one is free; else when that is
 * delivered. */
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
 * half is full or the buffer is closed, and buffer_write() is to be called. Else buffer_commit()
 * follows soon: the thread waits for it. */
static RTL_INLINE bool buffer_reserve(struct buffer *b, uint32_t nr, size_t data,
				      struct buffer_space *s)
{
	size_t half_size = atomic_load_explicit(&b->half_size, memory_order_relaxed);
	size_t entry_size = atomic_load_explicit(&b->entry_size, memory_order_relaxed);
	/* acquire, both: pair with the release of those who publish a half */
	uint64_t word = atomic_load_explicit(&b->word, memory_order_acquire), after, at;
	size_t used;
	char *begin;

	do {
		after = word + nr + ((uint64_t)data / 8 << BUFFER_DATA_SHIFT);
		used = buffer_word_nr(after) * entry_size + buffer_word_data(after);
		if (RTL_UNLIKELY(word & BUFFER_CLOSED || used > half_size))
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
	s->used = buffer_word_nr(after) *
			  atomic_load_explicit(&b->entry_weight, memory_order_relaxed) +
		  buffer_word_data(after);
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
