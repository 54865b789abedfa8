/* SPDX-License-Identifier: MIT */
/* childenv.c - the environment that a traced program gets */
#include "cli/trace/childenv.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"

const char *childenv_get(char *const *vars, const char *name)
{
	size_t n = strlen(name);

	for (; *vars; vars++)
		if (strncmp(*vars, name, n) == 0 && (*vars)[n] == '=')
			return *vars + n + 1;
	return NULL;
}

/* The caller leaves space for one more in vars. */
static void set_var(char **vars, const char *name, const char *value)
{
	char *text = ui_keep(ui_format("%s=%s", name, value));
	size_t n = strlen(name), i;

	for (i = 0; vars[i]; i++)
		if (strncmp(vars[i], name, n) == 0 && vars[i][n] == '=')
			break;
	if (!vars[i])
		vars[i + 1] = NULL;
	vars[i] = text;
}

static void set_var_uint(char **vars, const char *name, uint64_t value)
{
	char *text = ui_format("%llu", (unsigned long long)value);

	set_var(vars, name, text);
	free(text);
}

/* Whether `list`, split at any of `separators`, contains the library `path`. */
static bool list_contains(const char *list, const char *separators, const char *path)
{
	while (*list) {
		size_t n = strcspn(list, separators);

		if (n == strlen(path) && memcmp(list, path, n) == 0)
			return true;
		list += n + (list[n] != 0);
	}
	return false;
}

static void prepend_var(char **vars, const char *name, const char *first, const char *separators)
{
	const char *old = childenv_get(vars, name);
	char *text;

	if (!old || !*old) {
		set_var(vars, name, first);
		return;
	}
	if (list_contains(old, separators, first))
		return;
	text = ui_format("%s%c%s", first, separators[0], old);
	set_var(vars, name, text);
	free(text);
}

/* Whether a library of LD_PRELOAD is the run-time of a sanitizer, of gcc or clang. */
static bool is_sanitizer(const char *path, size_t n)
{
	static const char *const names[] = { "libasan.so",  "libtsan.so",   "liblsan.so",
					     "libubsan.so", "libhwasan.so", "libclang_rt." };
	const char *base = memrchr(path, '/', n);

	base = base ? base + 1 : path;
	n -= (size_t)(base - path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (n >= strlen(names[i]) && memcmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Writes the libraries of LD_PRELOAD that are a sanitizer's run-time, or the others, in their
 * order, each with a colon behind it. */
static char *put_preloads(char *to, const char *list, bool sanitizers)
{
	while (*list) {
		size_t n = strcspn(list, ": ");

		if (n && is_sanitizer(list, n) == sanitizers) {
			to = mempcpy(to, list, n);
			*to++ = ':';
		}
		list += n + (list[n] != 0);
	}
	return to;
}

/* A run-time that does not find itself in front of all other libraries ends the program. */
static void put_sanitizers_first(char **vars)
{
	const char *old = childenv_get(vars, "LD_PRELOAD");
	char *text = old ? calloc(1, strlen(old) + 2) : NULL, *end;

	if (!old)
		return;
	if (!text)
		ui_die_memory();
	end = put_preloads(text, old, true);
	if (end > text) {
		put_preloads(end, old, false)[-1] = '\0';
		set_var(vars, "LD_PRELOAD", text);
	}
	free(text);
}

/* One more option of a sanitizer, unless the user has given that one. */
static void add_option(char **vars, const char *name, const char *option, const char *value)
{
	const char *old = childenv_get(vars, name);
	char *text;

	if (old && strstr(old, option))
		return;
	text = ui_format("%s%s%s=%s", old ? old : "", old && *old ? ":" : "", option, value);
	set_var(vars, name, text);
	free(text);
}

/* The program, or one that it starts, may be built with a sanitizer. Which ones are is not known
 * here; others do not read these. */
static void set_sanitizers(const struct childenv_setup *s, char **vars)
{
	char *quoted;

	put_sanitizers_first(vars);
	/* a program that needs the run-time as a library has it behind librtl, which is in front of
	 * none of its functions */
	add_option(vars, "ASAN_OPTIONS", "verify_asan_link_order", "0");
	if (!s->tsan_suppressions)
		return;
	/* it would report librtl's memory as raced for: librtl's atomic accesses are not seen by
	 * it */
	quoted = ui_format("'%s'", s->tsan_suppressions);
	if (!strchr(s->tsan_suppressions, '\''))
		add_option(vars, "TSAN_OPTIONS", "suppressions", quoted);
	free(quoted);
}

/* Whether RTL_LOG_FILE was set by an outer rtl trace, not by the user. */
static bool is_outer_log(char *const *vars)
{
	const char *session = childenv_get(vars, "RTL_SESSION");
	const char *log = childenv_get(vars, "RTL_LOG_FILE");

	return session && *session && log && strncmp(log, session, strlen(session)) == 0;
}

/* what the loader does not take within a path */
#define BLANKS " \t\n\"\\"

char **childenv_build(const struct childenv_setup *s, char *const *vars, const char **why)
{
	const char *name = s->librtl, *file = strrchr(s->librtl, '/');
	size_t n = 0;
	char **out, *driver;

	if (strpbrk(s->lib_dir, ":;") || (s->vgpu_dir && strpbrk(s->vgpu_dir, ":;"))) {
		*why = "the directory's name has a colon or semicolon, which the loader takes for a separator";
		return NULL;
	}
	while (vars[n])
		n++;
	out = calloc(n + s->nr_more + 24, sizeof(*out));
	if (!out)
		ui_die_memory();
	ui_keep(out);
	memcpy(out, vars, n * sizeof(*out));

	if (s->vgpu_dir) {
		/* HSA's runtime loads the virtual GPU's AQLprofile by its name */
		prepend_var(out, "LD_LIBRARY_PATH", s->vgpu_dir, ":;");
		if (s->vgpu_devices)
			set_var_uint(out, "VGPU_DEVICES", s->vgpu_devices);
		/* by its name where a path can't be given: its folder is in LD_LIBRARY_PATH */
		driver = ui_format("%s%slibvgpu.so",
				   strpbrk(s->vgpu_dir, BLANKS) ? "" : s->vgpu_dir,
				   strpbrk(s->vgpu_dir, BLANKS) ? "" : "/");
		prepend_var(out, "LD_PRELOAD", driver, ": ");
		free(driver);
	}
	if (strpbrk(s->librtl, BLANKS) && file) {
		prepend_var(out, "LD_LIBRARY_PATH", s->lib_dir, ":;");
		name = file + 1;
	}
	/* behind librtl, in front of other tools with wrappers of MPI */
	if (s->librtlmpi)
		prepend_var(out, "LD_PRELOAD",
			    name == s->librtl ? s->librtlmpi : strrchr(s->librtlmpi, '/') + 1,
			    ": ");
	prepend_var(out, "LD_PRELOAD", name, ": ");
	set_sanitizers(s, out);
	prepend_var(out, "HSA_TOOLS_LIB", name, " ");
	/* the runtime then passes its tables to librtl and to AMD's SDK */
	if (!childenv_get(out, "HSA_TOOLS_ROCPROFILER_V1_TOOLS"))
		set_var(out, "HSA_TOOLS_ROCPROFILER_V1_TOOLS", "1");
	if (s->is_registered && !childenv_get(out, "ROCPROFILER_REGISTER_LIBRARY"))
		set_var(out, "ROCPROFILER_REGISTER_LIBRARY", s->librtl);
	set_var(out, "RTL_SESSION", s->session);
	if (s->mode)
		set_var(out, "RTL_MODE", s->mode);
	if (s->has_drain_ms)
		set_var_uint(out, "RTL_DRAIN_MS", s->drain_ms);
	if (s->has_buffer_mb)
		set_var_uint(out, "RTL_BUFFER_MB", s->buffer_mb);
	if (s->barriers)
		set_var(out, "RTL_BARRIERS", "1");
	if (s->trace_start)
		set_var(out, "RTL_TRACE_START", s->trace_start);
	if (s->hsa)
		set_var(out, "RTL_HSA_API", "1");
	for (size_t i = 0; i < s->nr_more; i++)
		if (s->more[i].value)
			set_var(out, s->more[i].name, s->more[i].value);
	if (!childenv_get(out, "RTL_LOG_FILE") || is_outer_log(vars)) {
		char *log = ui_format("%s/log.%%p", s->session);

		set_var(out, "RTL_LOG_FILE", log);
		free(log);
	}
	return out;
}
