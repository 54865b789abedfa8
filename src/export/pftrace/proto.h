/* SPDX-License-Identifier: MIT */
/* proto.h - encodes messages of Protocol Buffers into memory that is used again and again
 *
 * A nested message begins with proto_begin() and ends with proto_end(). When memory is out the rest
 * is left out, and `failed` is set. No schema: field numbers and types are the caller's. One
 * thread.
 */
#ifndef RTL_EXPORT_PFTRACE_PROTO_H
#define RTL_EXPORT_PFTRACE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
	char *buf;
	size_t used, cap;
	bool failed;
};

void proto_fini(struct proto *p);

/* Fields of numbers: uint64, int64, int32, enumerations, bool; fixed64; double. */
void proto_uint(struct proto *p, uint32_t field, uint64_t value);
/* A message of two numbers, without proto_begin() and proto_end(). */
void proto_uints(struct proto *p, uint32_t field, uint32_t first, uint64_t a, uint32_t second,
		 uint64_t b);
void proto_fixed64(struct proto *p, uint32_t field, uint64_t value);
void proto_double(struct proto *p, uint32_t field, double value);
/* Bytes; of a text invalid UTF-8 becomes U+FFFD. */
void proto_bytes(struct proto *p, uint32_t field, const void *bytes, size_t size);
void proto_text(struct proto *p, uint32_t field, const char *text, size_t size);
/* A nested message; what proto_begin() returns goes to proto_end(). */
size_t proto_begin(struct proto *p, uint32_t field);
void proto_end(struct proto *p, size_t at);
/* Fields that are encoded already. */
void proto_raw(struct proto *p, const void *bytes, size_t size);

#endif
