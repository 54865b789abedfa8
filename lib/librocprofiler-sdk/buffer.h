/* SPDX-License-Identifier: MIT */
/* buffer.h - buffers of records: AMD's, over those of lib/face */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_BUFFER_H
#define RTL_LIB_LIBROCPROFILER_SDK_BUFFER_H

#include "context.h"

/* NULL: there is none, or it was destroyed. */
struct sdk_buffer *buffer_find(rocprofiler_buffer_id_t id);
/* HOT: appends a record of category TRACING to the buffer that the context has for this
 * rocprofiler_buffer_tracing_kind_t, by the buffer's policy. Any thread. Of a call: may wait, 200
 * ms at most, with no lock held. Of an operation: never waits, under any lock. The tool's function
 * is called on the buffer's callback thread alone. Preserves errno. */
void buffer_put(struct context *c, uint32_t kind, const void *record, uint32_t size);
/* HOT: where buffer_put() appends them; NULL: nowhere. For records that are made in the buffer
 * itself. Any thread; valid for ever, but it may close. */
struct buffer *buffer_of(const struct context *c, uint32_t kind);
/* Without memory a record of each context in the mask can't be made: it counts as dropped. Any
 * thread. */
void buffer_lose_for(uint64_t mask, uint32_t kind);
/* Appends a record of category COUNTERS, of this rocprofiler_counter_record_kind_t. Any thread;
 * never waits. */
void buffer_put_counter(struct sdk_buffer *b, uint32_t kind, const void *record, uint32_t size);
/* Delivers what the client's buffers contain; -1: all clients'. Waits, 10 s for each at most. */
void buffer_flush_client(int client);
/* The client's buffers deliver nothing more. */
void buffer_end_client(int client);
/* Waits until the tool has got what the buffer contains, 10 s at most. */
rocprofiler_status_t buffer_flush_one(struct sdk_buffer *b);
/* Whether its client was finalised. */
bool buffer_is_ended(struct sdk_buffer *b);

#endif
