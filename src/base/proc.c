/* SPDX-License-Identifier: MIT */
/* proc.c - whether a process is running
 *
 * Threads:  any. Not in a traced process: opendir() allocates.
 */
#include "base/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/sys.h"

/* When the process of that name in /proc was started; 0: it is gone, or a zombie. */
static uint64_t started(const char *name)
{
	char path[300], text[1024];
	const char *state;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/stat", name);
	n = fd_read_file(path, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	state = proc_stat_field(text, PROC_STATE);
	/* a first thread that has ended is a zombie while other threads run */
	if (!state || (strchr("ZXx", *state) && proc_stat_number(text, PROC_NR_THREADS) <= 1))
		return 0;
	return clock_boot_ticks(proc_stat_number(text, PROC_START_TICKS));
}

/* Whether the process of that name in /proc is the wanted one. */
static bool matches(const char *name, uint64_t start_ticks)
{
	uint64_t has = started(name);

	/* another time namespace's may be rounded down */
	return has && (!start_ticks || has == start_ticks || has == start_ticks + 1);
}

uint64_t proc_start_ticks(uint32_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", pid);
	return started(name);
}

/* Whether its pid in the innermost of several namespaces is `pid`. */
static bool is_inner_pid(const char *name, uint32_t pid)
{
	char path[300], text[4096], *at, *end;
	unsigned long number = 0;
	int levels = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/status", name);
	n = fd_read_file(path, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strstr(text, "\nNSpid:");
	if (!at)
		return false;
	for (at += strlen("\nNSpid:"); *at == '\t' || *at == ' '; at = end, levels++)
		number = strtoul(at, &end, 10);
	return levels > 1 && number == pid;
}

bool proc_alive(uint32_t pid, uint64_t start_ticks)
{
	char name[16];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(name, sizeof(name), "%u", pid);
	if (matches(name, start_ticks))
		return true;
	dir = start_ticks ? opendir("/proc") : NULL;
	while (dir && !found && (entry = readdir(dir)))
		found = *entry->d_name >= '1' && *entry->d_name <= '9' &&
			matches(entry->d_name, start_ticks) && is_inner_pid(entry->d_name, pid);
	if (dir)
		closedir(dir);
	return found;
}

bool proc_maps(uint32_t pid, uint64_t start_ticks, const char *part)
{
	size_t length = strlen(part), kept = 0;
	char name[32], text[8192];
	bool found = false, any = false;
	ssize_t n = -1;
	int fd;

	snprintf(name, sizeof(name), "%u", pid);
	if (!matches(name, start_ticks))
		return true;
	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	fd = sys_open(name, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return true;
	while (!found && length < sizeof(text) / 2 &&
	       (n = sys_read(fd, text + kept, sizeof(text) - kept)) > 0) {
		any = true;
		found = memmem(text, kept + (size_t)n, part, length) != NULL;
		/* it may go on in what is read next */
		kept += (size_t)n;
		if (kept >= length) {
			memmove(text, text + kept - length + 1, length - 1);
			kept = length - 1;
		}
	}
	sys_close(fd);
	return found || !any || n < 0;
}
