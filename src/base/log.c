/* SPDX-License-Identifier: MIT */
/* log.c - one line, one write(2)
 *
 * Owns:     the thresholds, the name of the log file; no descriptor, since the program may close
 *           it.
 * Threads:  log_write() any; log_init() before threads.
 * Fails:    a line that can't be written is dropped.
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/env.h"
#include "base/pattern.h"
#include "base/sys.h"
#include "base/text.h"

#define LINE_SIZE 1024
#define MAX_TOPICS 16

struct topic {
	char name[24];
	int level;
};

_Atomic int log_threshold = LOG_WARN;

/* set in init, constant afterwards */
static struct topic topics[MAX_TOPICS];
static unsigned int nr_topics;
static int default_level = LOG_WARN;
static char file_path[PATH_MAX];
static bool strict;

static const char *const level_names[] = { "error", "warn", "info", "debug" };

static int level_of(const char *text, size_t size)
{
	static const char *const other[] = { "err", "warning", "information", "dbg" };

	for (int i = LOG_ERR; i <= LOG_DBG; i++) {
		if ((strlen(level_names[i]) == size &&
		     strncasecmp(text, level_names[i], size) == 0) ||
		    (strlen(other[i]) == size && strncasecmp(text, other[i], size) == 0))
			return i;
	}
	return -1;
}

/* One item of RTL_LOG: "level" or "topic:level". */
static void select_item(const char *item, size_t size)
{
	const char *colon = memchr(item, ':', size);
	size_t name_size = colon ? (size_t)(colon - item) : 0;
	const char *word = colon ? colon + 1 : item;
	int level = level_of(word, size - (size_t)(word - item));

	if (level < 0) {
		log_warn("RTL_LOG: \"%.*s\" has no level (error, warn, info, debug)", (int)size,
			 item);
		return;
	}
	if (!colon) {
		default_level = level;
		return;
	}
	if (nr_topics == MAX_TOPICS || name_size >= sizeof(topics[0].name))
		return;
	memcpy(topics[nr_topics].name, item, name_size);
	topics[nr_topics].name[name_size] = '\0';
	topics[nr_topics++].level = level;
}

void log_init(void)
{
	const char *p = env_str(ENV_LOG);
	struct pattern_facts facts;
	struct rank rank;
	int highest;

	nr_topics = 0;
	default_level = LOG_WARN;
	strict = env_bool(ENV_STRICT);
	file_path[0] = '\0';
	if (*env_str(ENV_LOG_FILE)) {
		pattern_facts_read(&facts, &rank);
		if (pattern_expand(file_path, sizeof(file_path), env_str(ENV_LOG_FILE), &facts) !=
		    0)
			file_path[0] = '\0';
	}
	while (*p) {
		size_t n = strcspn(p, ",");

		if (n)
			select_item(p, n);
		p += n + (p[n] == ',');
	}
	highest = default_level;
	for (unsigned int i = 0; i < nr_topics; i++) {
		if (topics[i].level > highest)
			highest = topics[i].level;
	}
	/* relaxed: librtl has no thread yet, and a stale value costs one line */
	atomic_store_explicit(&log_threshold, highest, memory_order_relaxed);
}

static bool wanted(enum log_level level, const char *topic)
{
	for (unsigned int i = 0; i < nr_topics; i++) {
		if (strcmp(topics[i].name, topic) == 0)
			return (int)level <= topics[i].level;
	}
	return (int)level <= default_level;
}

static void put(const char *line, size_t size)
{
	int fd = STDERR_FILENO;
	ssize_t n;

	/* opened for each line: the program may have closed a descriptor kept open; O_NONBLOCK: a
	 * FIFO without a reader */
	if (*file_path) {
		fd = sys_open(file_path,
			      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			      0600);
		if (fd < 0)
			return;
	}
	do
		n = sys_write(fd, line, size);
	while (n < 0 && errno == EINTR);
	if (fd != STDERR_FILENO)
		sys_close(fd);
}

void log_write(enum log_level level, const char *topic, _Atomic unsigned *site, const char *fmt,
	       ...)
{
	char line[LINE_SIZE];
	int saved = errno;
	unsigned int nr;
	int used;
	int more;
	va_list ap;

	if (!wanted(level, topic))
		return;
	/* relaxed: a counter */
	nr = site ? atomic_fetch_add_explicit(site, 1, memory_order_relaxed) : 0;
	if (nr >= LOG_PER_SITE)
		return;
	used = snprintf(line, sizeof(line), "rtl[%d] %s %s: ", (int)getpid(), level_names[level],
			topic);
	/* vsnprintf without floating point and wide characters neither allocates nor locks */
	va_start(ap, fmt);
	more = vsnprintf(line + used, sizeof(line) - (size_t)used - 1, fmt, ap);
	va_end(ap);
	if (more > 0)
		used += more;
	if (used > LINE_SIZE - 2)
		used = LINE_SIZE - 2;
	if (nr == LOG_PER_SITE - 1 && used < LINE_SIZE - 32) {
		more = snprintf(line + used, 24, " (no more of these)");
		used += more;
	}
	line[used] = '\0';
	used = (int)text_clean(line, "\n\t");
	line[used++] = '\n';
	put(line, (size_t)used);
	if (level == LOG_ERR && strict)
		abort();
	errno = saved;
}
