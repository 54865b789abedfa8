/* SPDX-License-Identifier: MIT */
/* load_state.c - whether the traced process still runs, and the names of reasons */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/load_internal.h"

static const struct {
	const char *name, *text;
	enum load_class class;
} reasons[SPOOL_NR_REASONS] = {
#define X(ident, kind, words) { #ident, words, LOAD_##kind },
	SPOOL_REASONS(X)
#undef X
};

/* Field 22 of /proc/PID/stat; 0 when there is no such process. */
static uint64_t start_ticks(uint32_t pid)
{
	char path[64];
	char text[1024];
	const char *p;
	int64_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = load_read(fd, text, sizeof(text) - 1, 0);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* the name in parentheses may hold anything, so fields are counted behind the last one */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

enum load_state load_state_of(const struct load_facts *facts, bool closed)
{
	char boot_id[40] = "";
	int fd;

	if (closed)
		return LOAD_CLOSED;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (load_read(fd, boot_id, sizeof(boot_id) - 1, 0) <= 0)
			boot_id[0] = '\0';
		close(fd);
	}
	boot_id[strcspn(boot_id, "\n")] = '\0';
	if (strncmp(boot_id, facts->boot_id, strcspn(facts->boot_id, "\n")) != 0 ||
	    !facts->boot_id[0])
		return LOAD_FOREIGN;
	return start_ticks(facts->pid) == facts->proc_start_ticks && facts->proc_start_ticks ?
		       LOAD_RUNNING :
		       LOAD_KILLED;
}

const char *load_reason_name(unsigned int reason)
{
	return reason < SPOOL_NR_REASONS ? reasons[reason].name : NULL;
}

const char *load_reason_text(unsigned int reason)
{
	return reason < SPOOL_NR_REASONS ? reasons[reason].text : NULL;
}

enum load_class load_reason_class(unsigned int reason)
{
	return reason < SPOOL_NR_REASONS ? reasons[reason].class : LOAD_LOSS;
}

const char *load_class_name(enum load_class class)
{
	static const char *const names[] = { "loss", "skipped", "note" };

	return names[class];
}
