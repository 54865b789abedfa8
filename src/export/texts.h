/* SPDX-License-Identifier: MIT */
/* texts.h - texts by number, each once; single-threaded */
#ifndef RTL_EXPORT_TEXTS_H
#define RTL_EXPORT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/map.h"

/* A zeroed one is empty. */
struct texts {
	struct map numbers; /* hash, or the next one that was free -> number */
	struct texts_text {
		char *text;
		size_t size;
	} * all; /* by number - 1 */
	size_t nr, cap;
};

/* The text's number, from 1 on, in the order in which they come. `*is_new`: it was not there. 0: no
 * memory. */
uint64_t texts_number(struct texts *t, const char *text, size_t size, bool *is_new);
/* The same with a hash of the caller's: texts that share it have numbers of their own. */
uint64_t texts_number_by(struct texts *t, uint64_t hash, const char *text, size_t size,
			 bool *is_new);
void texts_fini(struct texts *t);

#endif
