/* SPDX-License-Identifier: MIT */
/* pattern.h - expands the variable parts of output names
 *
 * \t%p  %pid%\t process id\t\t%r  %rank%\trank, 0 if there is none
 * \t%h  %hostname%\t host name\t\t%j  %job%\tjob id, 0 if there is none
 * \t%ppid%\tof the parent\t\t%size%\tof the job, 1 if there is none
 * \t%nid%\trank, or process id if there is none
 * \t%q{VAR}  %env{VAR}%  an environment variable, empty if unset\t%%  a percent sign
 *
 * A '/' in a substituted value becomes '_', except in variables.
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
	/* Called for each '%' that starts no known part, which is kept literally. May be NULL. */
	void (*unknown)(const char *where);
	uint32_t ppid;
};

/* Reads this process and host, and `rank`, which the caller keeps. `host` is static. */
void pattern_facts_read(struct pattern_facts *facts, struct rank *rank);

/* 0, or -ENAMETOOLONG when the result, with its NUL, is longer than `size`. */
int pattern_expand(char *out, size_t size, const char *pattern, const struct pattern_facts *facts);

#endif
