/* SPDX-License-Identifier: MIT */
/* tool.c - librocprofiler-sdk-tool.so: rocprofv3's settings of the environment, by rtl rocprofv3
 *
 * AMD's library of this name is a tool that traces within the program and writes files. This one
 * has `rtl rocprofv3` do it: preloaded, it replaces the program, before main(), by rtl with the
 * same settings as options and the program behind them, which then runs without this library.
 *
 * Owns:     nothing.
 * Threads:  the one that starts the program, before main().
 * Fails:    the program runs untraced, after one message.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/beside.h"
#include "base/compiler.h"
#include "base/sys.h"

/* more than the settings and the counters of several passes take */
#define MAX_OPTIONS 1024u
#define NAME "librocprofiler-sdk-tool.so"

/* What has a value is passed on with it, the others where the value is true. */
static const struct {
	const char *variable, *option;
	bool has_value;
} settings[] = {
	{ "ROCPROF_KERNEL_TRACE", "--kernel-trace", false },
	{ "ROCPROF_HIP_RUNTIME_API_TRACE", "--hip-runtime-trace", false },
	{ "ROCPROF_HIP_COMPILER_API_TRACE", "--hip-compiler-trace", false },
	{ "ROCPROF_HSA_CORE_API_TRACE", "--hsa-core-trace", false },
	{ "ROCPROF_HSA_AMD_EXT_API_TRACE", "--hsa-amd-trace", false },
	{ "ROCPROF_HSA_IMAGE_EXT_API_TRACE", "--hsa-image-trace", false },
	{ "ROCPROF_HSA_FINALIZER_EXT_API_TRACE", "--hsa-finalizer-trace", false },
	{ "ROCPROF_MARKER_API_TRACE", "--marker-trace", false },
	{ "ROCPROF_MEMORY_COPY_TRACE", "--memory-copy-trace", false },
	{ "ROCPROF_MEMORY_ALLOCATION_TRACE", "--memory-allocation-trace", false },
	{ "ROCPROF_RCCL_API_TRACE", "--rccl-trace", false },
	{ "ROCPROF_SCRATCH_MEMORY_TRACE", "--scratch-memory-trace", false },
	{ "ROCPROF_STATS", "--stats", false },
	{ "ROCPROF_TRUNCATE_KERNELS", "--truncate-kernels", false },
	{ "ROCPROF_KERNEL_RENAME", "--kernel-rename", false },
	{ "ROCPROF_OUTPUT_FORMAT", "--output-format", true },
	{ "ROCPROF_AGENT_INDEX", "--agent-index", true },
	{ "ROCPROF_KERNEL_FILTER_INCLUDE_REGEX", "--kernel-include-regex", true },
	{ "ROCPROF_KERNEL_FILTER_EXCLUDE_REGEX", "--kernel-exclude-regex", true },
	{ "ROCPROF_KERNEL_FILTER_RANGE", "--kernel-iteration-range", true },
	/* the same */
	{ "ROCPROF_PC_SAMPLING_METHOD", "--pc-sampling-method", true },
};

struct command {
	const char **words; /* `max` of them and a NULL */
	size_t nr, max;
	bool is_wanted; /* something is traced or counted */
};

static void say(const char *why)
{
	char line[256];
	int n = snprintf(line, sizeof(line), NAME ": %s; nothing is traced\n", why);

	if (n > 0 && (size_t)n < sizeof(line) && sys_write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* stderr is closed */
}

static void add(struct command *c, const char *word)
{
	if (c->nr < c->max)
		c->words[c->nr++] = word;
}

static bool is_true(const char *text)
{
	return text && *text && strcmp(text, "0") != 0 && strcasecmp(text, "false") != 0 &&
	       strcasecmp(text, "off") != 0 && strcasecmp(text, "no") != 0;
}

static const char *value_of(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text ? text : NULL;
}

static bool is_this(const char *path, size_t n)
{
	size_t base = n;

	while (base && path[base - 1] != '/')
		base--;
	return n - base >= sizeof(NAME) - 1 && strncmp(path + base, NAME, sizeof(NAME) - 1) == 0;
}

/* Of a list "VARIABLE=A:B", or with blanks: writes it without this library to `out`, of the same
 * size. The number of entries that were left out. */
static size_t without_this(const char *entry, char *out)
{
	size_t head = strcspn(entry, "=") + 1, nr = 0;
	const char *p = entry + head;
	char *end = out + head;

	memcpy(out, entry, head);
	for (size_t n; *p; p += n) {
		n = strcspn(p, ": ");
		if (n && is_this(p, n)) {
			nr++;
		} else if (n) {
			if (end != out + head)
				*end++ = ':';
			memcpy(end, p, n);
			end += n;
		}
		n += p[n] != '\0';
	}
	*end = '\0';
	return nr;
}

/* The environment without this library, NULL: it is not preloaded, or there is no memory. */
static char **environment(char **from)
{
	static const char *const lists[] = { "LD_PRELOAD=", "ROCP_TOOL_LIBRARIES=" };
	size_t nr = 0, preloaded = 0;
	char **to;

	while (from[nr])
		nr++;
	to = alloc_zero(nr + 1, sizeof(*to));
	for (size_t i = 0; to && i < nr; i++) {
		to[i] = from[i];
		for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
			char *made = strncmp(from[i], lists[k], strlen(lists[k])) == 0 ?
					     alloc_string(from[i]) :
					     NULL;

			if (made && without_this(from[i], made)) {
				preloaded += k == 0;
				to[i] = made;
			} else {
				alloc_free(made);
			}
		}
	}
	if (to && !preloaded) {
		alloc_free(to);
		to = NULL;
	}
	return to;
}

/* "pmc: A B": counters of one pass or of several, which rtl makes of them as they fit; or lines of
 * such groups. Behind # is a comment. */
static void add_counters(struct command *c)
{
	const char *one = value_of("ROCPROF_COUNTERS");
	const char *list = one ? one : value_of("ROCPROF_COUNTER_GROUPS");
	char *words = list && is_true(getenv("ROCPROF_COUNTER_COLLECTION")) ? alloc_string(list) :
									      NULL;
	char *saved;
	bool is_first = true;

	if (!words)
		return;
	for (char *p = words; (p = strchr(p, '#')) != NULL;)
		memset(p, ' ', strcspn(p, "\n"));
	for (char *p = strtok_r(words, " \t\n,;", &saved); p;
	     p = strtok_r(NULL, " \t\n,;", &saved)) {
		if (strncmp(p, "pmc:", 4) == 0)
			p += 4;
		if (!*p)
			continue;
		if (is_first)
			add(c, "--pmc");
		is_first = false;
		add(c, p);
		c->is_wanted = true;
	}
}

static void add_settings(struct command *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const char *text = value_of(settings[i].variable);

		if (!text || (!settings[i].has_value && !is_true(text)))
			continue;
		add(c, settings[i].option);
		if (settings[i].has_value)
			add(c, text);
		else
			c->is_wanted = true;
	}
	if (value_of("ROCPROF_PC_SAMPLING_METHOD"))
		c->is_wanted = true;
	add_counters(c);
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* As the program was called; of a script its interpreter, which has the script as argument. */
static const char *program(void)
{
	static char exe[PATH_MAX];
	const char *called = (const char *)getauxval(AT_EXECFN);
	ssize_t n;

	if (called && same_file(called, "/proc/self/exe"))
		return called;
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n < 0)
		return NULL;
	exe[n] = '\0';
	return exe;
}

/* The rtl that belongs to this library, else one on the PATH. In an installation the library is in
 * lib/NAME/drop-in/lib/rocprofiler-sdk/, on Debian with one folder more. */
static void run_rtl(struct command *c, char **env)
{
	const char *named = value_of("RTL_BIN");
	char path[PATH_MAX];

	if (beside_find(named ? named : "", "", 6, path))
		execve(path, (char *const *)c->words, env);
	if (!named)
		execvpe("rtl", (char *const *)c->words, env);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **from)
{
	struct command c = { .max = MAX_OPTIONS + (size_t)argc };
	const char *what = program();
	char **env = environment(from);

	c.words = env ? alloc_zero(c.max + 1, sizeof(*c.words)) : NULL;
	if (!c.words)
		return;
	add(&c, "rtl");
	add(&c, "rocprofv3");
	add_settings(&c);
	add(&c, "--");
	if (c.is_wanted && what) {
		add(&c, what);
		for (int i = 1; i < argc; i++)
			add(&c, argv[i]);
		if (c.nr < c.max)
			run_rtl(&c, env);
		say(c.nr < c.max ? "there is no rtl program beside it or on the PATH (RTL_BIN)" :
				   "too many counters");
	}
	alloc_free(c.words);
	alloc_free(env);
}

/* rocprofiler-sdk looks for it in the libraries that ROCP_TOOL_LIBRARIES names. */
EXPORT void *rocprofiler_configure(unsigned int version, const char *text, unsigned int priority,
				   void *id);
EXPORT void *rocprofiler_configure(unsigned int version, const char *text, unsigned int priority,
				   void *id)
{
	(void)version;
	(void)text;
	(void)priority;
	(void)id;
	say("it traces where LD_PRELOAD names it");
	return NULL;
}
