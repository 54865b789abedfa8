/* SPDX-License-Identifier: MIT */
/* spool_api.h - records of calls and functions for spools that spool_make.h makes */
#ifndef RTL_UNIT_SPOOL_API_H
#define RTL_UNIT_SPOOL_API_H

#include <string.h>

#include "support/spool_make.h"

struct spool_api {
	uint32_t tid, domain, op, nr_words, flags;
	int32_t status;
	uint64_t begin_ns, end_ns, correlation, parent;
	const uint64_t *words;
};

/* A function; its name gets the string id `string`, its signature the next one. */
static inline void spool_api_op(struct spool_make *m, uint32_t domain, uint32_t number,
				uint32_t string, const char *name, const char *signature)
{
	struct rec_op rec = { { REC_OP, sizeof(rec) / 8, 0, domain << 16 | number },
			      string,
			      string + 1 };

	/* a use before its definition is as good as after it */
	spool_make_raw(m, &rec, sizeof(rec));
	spool_make_string(m, string, name);
	spool_make_string(m, string + 1, signature);
}

static inline void spool_api_call(struct spool_make *m, const struct spool_api *call)
{
	_Alignas(8) uint8_t bytes[REC_MAX_SIZE];
	size_t size = sizeof(struct rec_api) + call->nr_words * 8u;
	struct rec_api rec = {
		.h = { REC_API, (uint8_t)(size / 8), (uint16_t)call->flags, call->tid },
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.correlation = call->correlation,
		.parent = call->parent,
		.op = (uint16_t)call->op,
		.domain = (uint8_t)call->domain,
		.nr_words = (uint8_t)call->nr_words,
		.status = call->status,
	};

	memcpy(bytes, &rec, sizeof(rec));
	if (call->nr_words)
		memcpy(bytes + sizeof(rec), call->words, call->nr_words * 8u);
	spool_make_raw(m, bytes, size);
}

#endif
