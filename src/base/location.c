/* SPDX-License-Identifier: MIT */
/* location.c - output, spool directory and memory directory of this process
 *
 * Owns:     the paths.
 * Threads:  location_init() before threads; the rest any.
 */
#include "base/location.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/pattern.h"
#include "base/str.h"

/* set in init, constant afterwards */
static char output[LOCATION_SIZE];
static char spool_dir[LOCATION_SIZE];
static char mem_dir[LOCATION_SIZE];
static const char *error = "";
static struct rank rank;
static struct pattern_facts facts;

static char strange[16]; /* an unknown part that begins like a pattern */

static void unknown(const char *where)
{
	struct str s;

	str_init(&s, strange, sizeof(strange));
	str_add_n(&s, where, strnlen(where, 12));
}

/* Expands `pattern`, makes it absolute and appends `suffix`. */
static int expand(char *out, const char *pattern, const char *suffix)
{
	char name[LOCATION_SIZE];
	char cwd[LOCATION_SIZE];
	struct str s;
	int err = pattern_expand(name, sizeof(name), pattern, &facts);

	if (err)
		return err;
	str_init(&s, out, LOCATION_SIZE);
	if (name[0] != '/') {
		if (!getcwd(cwd, sizeof(cwd)))
			return -errno;
		str_add(&s, cwd);
		if (cwd[1])
			str_add(&s, "/");
	}
	str_add(&s, name);
	while (s.used > 1 && out[s.used - 1] == '/')
		out[--s.used] = '\0';
	str_add(&s, suffix);
	return s.cut ? -ENAMETOOLONG : 0;
}

int location_init(void)
{
	bool beside = strcmp(env_str(ENV_MEM_DIR), "none") == 0;
	int err;

	pattern_facts_read(&facts, &rank);
	facts.unknown = unknown;
	error = "";
	strange[0] = '\0';
	err = expand(output, env_str(ENV_OUTPUT), "");
	if (err) {
		error = "RTL_OUTPUT";
		return err;
	}
	facts.unknown = NULL;
	if (location_is_session())
		err = expand(spool_dir, env_str(ENV_SESSION), "");
	else if (*env_str(ENV_SPOOL_DIR))
		err = expand(spool_dir, env_str(ENV_SPOOL_DIR), "");
	else
		err = expand(spool_dir, env_str(ENV_OUTPUT), ".spool");
	if (err) {
		error = "the spool directory";
		return err;
	}
	mem_dir[0] = '\0';
	if (!beside && *env_str(ENV_MEM_DIR) && expand(mem_dir, env_str(ENV_MEM_DIR), "") != 0)
		mem_dir[0] = '\0';
	return 0;
}

const char *location_output(void)
{
	return output;
}

const char *location_spool_dir(void)
{
	return spool_dir;
}

const char *location_mem_dir(void)
{
	return mem_dir;
}

bool location_is_session(void)
{
	return *env_str(ENV_SESSION) != '\0';
}

const struct rank *location_rank(void)
{
	return &rank;
}

const char *location_host(void)
{
	return facts.host ? facts.host : "";
}

void location_report(void)
{
	if (*strange)
		log_warn("RTL_OUTPUT: \"%s\" is not a pattern; kept as it is", strange);
	strange[0] = '\0';
}

const char *location_error(void)
{
	return error;
}
