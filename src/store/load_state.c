/* SPDX-License-Identifier: MIT */
/* load_state.c - whether the traced process still runs; names of reasons and clocks */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "store/load_internal.h"

static const struct {
	const char *name, *text;
	enum load_class class;
} reasons[SPOOL_NR_REASONS] = {
#define X(ident, kind, words) { #ident, words, LOAD_##kind },
	SPOOL_REASONS(X)
#undef X
};

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
	return facts->proc_start_ticks && proc_alive(facts->pid, facts->proc_start_ticks) ?
		       LOAD_RUNNING :
		       LOAD_KILLED;
}

const char *load_state_name(const struct load_facts *f)
{
	if (f->state == LOAD_RUNNING)
		return "running";
	switch (f->end_kind) {
	case SPOOL_END_EXIT:
	case SPOOL_END_CLOSED:
		/* the process may have ended normally without a drainer for the rest */
		return f->state == LOAD_CLOSED ? "closed" : "ended";
	case SPOOL_END_SIGNAL:
		return "killed";
	case SPOOL_END_SUDDEN:
		return "exited";
	case SPOOL_END_EXEC:
		return "executed";
	case SPOOL_END_COPY:
		return "running";
	default:
		return "unknown";
	}
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
