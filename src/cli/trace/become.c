/* SPDX-License-Identifier: MIT */
/* become.c - root acts as the user of the process that a command is about */
#include "cli/trace/become.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/exit_status.h"
#include "cli/ui.h"

#define MAX_GROUPS 64

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t groups[MAX_GROUPS];
	size_t nr;
};

/* The number `index` of the line of /proc/PID/status; -1: there is none. */
static long long number_of(const char *text, const char *name, size_t index)
{
	const char *at = strstr(text, name);
	char *end;

	if (!at)
		return -1;
	at += strlen(name);
	for (;; index--) {
		long long value;

		at += strspn(at, "\t ");
		value = strtoll(at, &end, 10);
		if (end == at)
			return -1;
		if (!index)
			return value;
		at = end;
	}
}

/* Real, effective, saved and file system's: the last is who it is for files. */
enum { OF_FILES = 3 };

static int read_identity(uint32_t pid, struct identity *id)
{
	char path[32], text[8192];
	long long uid, gid, group;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	n = fd_read_file(path, text, sizeof(text) - 1);
	if (n <= 0)
		return n ? (int)n : -ESRCH;
	text[n] = '\0';
	uid = number_of(text, "\nUid:", OF_FILES);
	gid = number_of(text, "\nGid:", OF_FILES);
	if (uid < 0 || gid < 0)
		return -EINVAL;
	id->uid = (uid_t)uid;
	id->gid = (gid_t)gid;
	/* too many: with fewer it can do less */
	for (id->nr = 0; id->nr < MAX_GROUPS; id->nr++) {
		group = number_of(text, "\nGroups:", id->nr);
		if (group < 0)
			break;
		id->groups[id->nr] = (gid_t)group;
	}
	return 0;
}

void become_must(uint32_t pid, uid_t uid)
{
	struct identity id;
	int err;

	if (uid == geteuid())
		return;
	err = read_identity(pid, &id);
	if (!err && id.uid != uid)
		err = -EPERM;
	if (!err && (setgroups(id.nr, id.groups) || setresgid(id.gid, id.gid, id.gid) ||
		     setresuid(id.uid, id.uid, id.uid)))
		err = -errno;
	if (err || geteuid() != uid || getegid() != id.gid)
		ui_die(STATUS_FAILED,
		       "%u: is a process of another user (uid %u), whom rtl can't become: %s; "
		       "run rtl as that user",
		       pid, (unsigned int)uid, strerror(err ? -err : EPERM));
	ui_say("%u: is a process of user %u: acting as that user", pid, (unsigned int)uid);
}
