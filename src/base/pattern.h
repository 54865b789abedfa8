/* SPDX-License-Identifier: MIT */
/* pattern.h - names of outputs with parts that are filled in
 *
 *	%p  %pid%	 process id		%r  %rank%	rank, 0 when there is none
 *	%h  %hostname%	 host name		%j  %job%	job id, 0 when there is none
 *	%q{VAR}  %env{VAR}%  an environment variable, empty when unset	%%  a percent sign
 *
 * A '/' in what is filled in becomes '_', but in variables.
 */
#ifndef RTL_BASE_PATTERN_H
#define RTL_BASE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/rank.h"

struct pattern_facts {
	uint32_t pid;
	const char *host;
	const struct rank *rank;
	rank_getenv_fn get; /* NULL: getenv(3) */
	/* Told of each '%' that starts nothing known; the text is kept as it is. May be NULL. */
	void (*unknown)(const char *where);
};

/* This process and host, and `rank`, which the caller keeps. `host` is valid for ever. */
void pattern_facts_read(struct pattern_facts *facts, struct rank *rank);

/* 0, or -ENAMETOOLONG when the result, with its NUL, is longer than `size`. */
int pattern_expand(char *out, size_t size, const char *pattern, const struct pattern_facts *facts);

#endif
