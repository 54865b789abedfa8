/* SPDX-License-Identifier: MIT */
/* startenv.c - the environment that the process started with, as far as it concerns librtl
 *
 * Owns:     copies of these variables: a program may overwrite the memory of its environment
 *           (setproctitle()).
 * Threads:  startenv_init() in the constructor; loans on any thread, one at a time (hsa_init.c,
 *           forked.c).
 * Fails:    no memory: the variables of the start are those of the present environment.
 */
#include "startenv.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/fd.h"
#include "base/str.h"

#define OWN_PREFIX "RTL_"
#define TOOLS "HSA_TOOLS_LIB="
#define TOOLS_SIZE 4096

/* By which librtl gets into a process: kept where the value names librtl. */
static const char *const loaders[] = { "LD_PRELOAD=", TOOLS, "ROCPROFILER_REGISTER_LIBRARY=" };
/* Without it some runtimes don't read HSA_TOOLS_LIB; rtl trace sets both. */
static const char both[] = "HSA_TOOLS_ROCPROFILER_V1_TOOLS=";

/* set in init, constant after */
static char **kept;
static size_t nr_kept;
/* of the one loan */
static char tools[sizeof(TOOLS) + TOOLS_SIZE];
static char **array;
static size_t array_size;

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_loader(const char *var)
{
	for (size_t i = 0; i < ARRAY_SIZE(loaders); i++)
		if (begins_with(var, loaders[i]))
			return true;
	return false;
}

static bool is_of_librtl(const char *var)
{
	return begins_with(var, OWN_PREFIX) || begins_with(var, both) ||
	       (is_loader(var) && strstr(var, "librtl.so"));
}

void startenv_init(void)
{
	size_t nr = 0, bytes = 0;
	char *text;

	for (char **var = environ; var && *var; var++) {
		if (!is_of_librtl(*var))
			continue;
		nr++;
		bytes += strlen(*var) + 1;
	}
	if (!nr)
		return;
	kept = alloc_pages(nr * sizeof(*kept) + bytes);
	if (!kept)
		return;
	text = (char *)(kept + nr);
	for (char **var = environ; var && *var; var++) {
		size_t size = strlen(*var) + 1;

		if (!is_of_librtl(*var))
			continue;
		kept[nr_kept++] = memcpy(text, *var, size);
		text += size;
	}
}

/* The length of the name and its '='. */
static size_t name_length(const char *var)
{
	const char *equals = strchr(var, '=');

	return equals ? (size_t)(equals - var) + 1 : strlen(var);
}

static const char *find_kept(const char *name, size_t length)
{
	for (size_t i = 0; i < nr_kept; i++)
		if (strncmp(kept[i], name, length) == 0 && kept[i][length] == '=')
			return kept[i];
	return NULL;
}

bool startenv_names(const char *variable)
{
	const char *now = getenv(variable);

	return (now && strstr(now, "librtl.so")) || find_kept(variable, strlen(variable));
}

/* Libraries that the loader puts in front of every program. */
static bool is_named_in_system(void)
{
	char text[1024] = "";

	return fd_read_file("/etc/ld.so.preload", text, sizeof(text) - 1) > 0 &&
	       strstr(text, "librtl.so");
}

bool startenv_is_requested(void)
{
	return startenv_names("LD_PRELOAD") || startenv_names("HSA_TOOLS_LIB") ||
	       startenv_names("ROCPROFILER_REGISTER_LIBRARY") || is_named_in_system();
}

/* An entry of the program's own that is not lent: ours is, in its stead. */
static bool is_replaced(const char *var, bool as_tool)
{
	if (as_tool && begins_with(var, TOOLS))
		return true;
	return is_loader(var) && !strstr(var, "librtl.so") &&
	       find_kept(var, name_length(var) - 1) != NULL;
}

static bool is_there(char **from, const char *var)
{
	size_t length = name_length(var);

	for (; from && *from; from++)
		if (strncmp(*from, var, length) == 0)
			return !is_replaced(*from, false);
	return false;
}

/* By its soname, which is loaded: the path may contain blanks, which the runtime takes for
 * separators. */
static bool name_as_tool(void)
{
	const char *old = getenv("HSA_TOOLS_LIB");
	struct str s;

	str_init(&s, tools, sizeof(tools));
	str_add(&s, TOOLS "librtl.so.1");
	if (old && *old) {
		str_add(&s, " ");
		str_add(&s, old);
	}
	return !s.cut;
}

bool startenv_lend(struct startenv_loan *loan, bool as_tool)
{
	char **from = environ;
	size_t nr = 0, bytes, at = 0;

	while (from && from[nr])
		nr++;
	bytes = (nr + nr_kept + 2) * sizeof(*from);
	if (bytes > array_size) {
		/* never freed: a thread may still read the previous one */
		array = alloc_pages(bytes);
		array_size = array ? bytes : 0;
	}
	if (!array || (as_tool && !name_as_tool()))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!is_replaced(from[i], as_tool))
			array[at++] = from[i];
	for (size_t i = 0; i < nr_kept; i++)
		if (!(as_tool && begins_with(kept[i], TOOLS)) && !is_there(from, kept[i]))
			array[at++] = kept[i];
	if (as_tool)
		array[at++] = tools;
	array[at] = NULL;
	*loan = (struct startenv_loan){ from, array };
	environ = array;
	return true;
}

static bool is_lent(const char *var)
{
	if (var == tools)
		return true;
	for (size_t i = 0; i < nr_kept; i++)
		if (var == kept[i])
			return true;
	return false;
}

/* The program's entry of that name before the loan, or NULL. */
static char *entry_before(char **before, const char *var)
{
	size_t length = name_length(var);

	for (; before && *before; before++)
		if (strncmp(*before, var, length) == 0)
			return *before;
	return NULL;
}

/* Another thread has made an environment of its own meanwhile, with what was in ours: the program's
 * entries replace ours. */
static void take_out(char **before)
{
	char **to = environ;

	for (char **at = environ; at && *at; at++) {
		char *entry = is_lent(*at) ? entry_before(before, *at) : *at;

		if (entry)
			*to++ = entry;
	}
	if (to)
		*to = NULL;
}

void startenv_take_back(const struct startenv_loan *loan)
{
	if (environ == loan->lent)
		environ = loan->before;
	else
		take_out(loan->before);
}
