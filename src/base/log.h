/* SPDX-License-Identifier: MIT */
/* log.h - messages to the user from within a traced process: rare, short, never on stdout
 *
 * A file defines `LOG_TOPIC` ("hsa") above its includes. RTL_LOG=warn,hsa:debug selects levels; the
 * default is warn. RTL_LOG_FILE=path (`%p` = pid) replaces stderr. One write(2) from a stack
 * buffer, at most LOG_PER_SITE lines for each call site, no stdio streams. Async-signal-safe.
 * RTL_STRICT=1 turns an error-level line into abort(), for tests.
 */
#ifndef RTL_BASE_LOG_H
#define RTL_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

enum log_level { LOG_ERR, LOG_WARN, LOG_INFO, LOG_DBG };

#define LOG_PER_SITE 8

extern _Atomic int log_threshold; /* the highest level enabled for any topic */

/* Formats like printf. `site` counts the lines of one call site. */
void log_write(enum log_level level, const char *topic, _Atomic unsigned *site, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));

/* Reads RTL_LOG, RTL_LOG_FILE and RTL_STRICT from base/env.h. Once, before threads. */
void log_init(void);

#ifndef LOG_TOPIC
#define LOG_TOPIC "rtl"
#endif
#define log_at(level, ...)                                                                         \
	do {                                                                                       \
		static _Atomic unsigned log_site_;                                                 \
		if ((int)(level) <= atomic_load_explicit(&log_threshold, memory_order_relaxed))    \
			log_write((level), LOG_TOPIC, &log_site_, __VA_ARGS__);                    \
	} while (0)
#define log_err(...) log_at(LOG_ERR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_dbg(...) log_at(LOG_DBG, __VA_ARGS__)

#endif
