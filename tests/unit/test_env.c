/* SPDX-License-Identifier: MIT */
/* test_env.c - the table of RTL_* variables */
#include "base/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static char said[8192];

static void say(const char *line)
{
	size_t used = strlen(said);

	snprintf(said + used, sizeof(said) - used, "%s\n", line);
}

static void clear(void)
{
#define X(id, name, type, def, range, help) unsetenv(name);
	ENV_TABLE(X)
#undef X
}

TEST(unset_variables_have_their_defaults)
{
	clear();
	env_init();
	CHECK_STR_EQ(env_str(ENV_MODE), "standard");
	CHECK_STR_EQ(env_str(ENV_OUTPUT), "trace.db");
	CHECK_EQ_UINT(env_uint(ENV_BUFFER_MB), 64);
	CHECK_EQ_UINT(env_uint(ENV_DRAIN_MS), 5000);
	CHECK(!env_bool(ENV_DISABLE));
	CHECK(!env_is_set(ENV_MODE));
	env_report(say);
	CHECK_STR_EQ(said, "");
}

TEST(valid_values_are_read_in_canonical_form)
{
	clear();
	setenv("RTL_MODE", "LITE", 1);
	setenv("RTL_BUFFER_MB", "4096", 1);
	setenv("RTL_FORCE", "yes", 1);
	setenv("RTL_OUTPUT", "/a/b c.db", 1);
	setenv("RTL_DRAIN_MS", "0", 1);
	env_init();
	CHECK_STR_EQ(env_str(ENV_MODE), "lite");
	CHECK_EQ_UINT(env_uint(ENV_BUFFER_MB), 4096);
	CHECK(env_bool(ENV_FORCE));
	CHECK_STR_EQ(env_str(ENV_OUTPUT), "/a/b c.db");
	CHECK_EQ_UINT(env_uint(ENV_DRAIN_MS), 0);
	CHECK(env_is_set(ENV_DRAIN_MS));
}

TEST(mode_default_means_standard)
{
	clear();
	setenv("RTL_MODE", "default", 1);
	env_init();
	CHECK_STR_EQ(env_str(ENV_MODE), "standard");
	CHECK(env_is_set(ENV_MODE));
}

TEST(invalid_values_are_reported_once_and_defaults_used)
{
	clear();
	setenv("RTL_MODE", "fast", 1);
	setenv("RTL_BUFFER_MB", "0", 1);
	setenv("RTL_DRAIN_MS", "5s", 1);
	setenv("RTL_FORCE", "maybe", 1);
	env_init();
	CHECK_STR_EQ(env_str(ENV_MODE), "standard");
	CHECK_EQ_UINT(env_uint(ENV_BUFFER_MB), 64);
	CHECK_EQ_UINT(env_uint(ENV_DRAIN_MS), 5000);
	env_report(say);
	CHECK_STR_HAS(said, "RTL_MODE=fast: not one of lite|standard|default|full");
	CHECK_STR_HAS(said, "RTL_BUFFER_MB=0");
	CHECK_STR_HAS(said, "RTL_DRAIN_MS=5s");
	CHECK_STR_HAS(said, "RTL_FORCE=maybe");
	said[0] = '\0';
	env_report(say);
	CHECK_STR_EQ(said, "");
}

TEST(unknown_names_are_reported_with_a_suggestion)
{
	clear();
	setenv("RTL_MOED", "lite", 1);
	setenv("RTL_NOTHING_LIKE_IT", "1", 1);
	setenv("RTL_TEST_OF_MINE", "1", 1);
	env_init();
	env_report(say);
	CHECK_STR_HAS(said, "RTL_MOED: unknown variable; is it RTL_MODE");
	CHECK_STR_HAS(said, "RTL_NOTHING_LIKE_IT: unknown variable\n");
	CHECK(!strstr(said, "RTL_TEST_OF_MINE"));
	unsetenv("RTL_MOED");
}

TEST(values_survive_changes_of_the_environment)
{
	char text[] = "RTL_OUTPUT=first.db";

	clear();
	putenv(text);
	env_init();
	memset(text + 11, 'x', 5);
	CHECK_STR_EQ(env_str(ENV_OUTPUT), "first.db");
	clear();
}

TEST(too_long_value_is_reported)
{
	char value[6000];

	clear();
	memset(value, 'a', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	setenv("RTL_OUTPUT", value, 1);
	env_init();
	CHECK_STR_EQ(env_str(ENV_OUTPUT), "trace.db");
	env_report(say);
	CHECK_STR_HAS(said, "RTL_OUTPUT: too long");
}

TEST(printed_table_names_every_variable)
{
	clear();
	env_init();
	env_print_table(say);
#define X(id, name, type, def, range, help) CHECK_STR_HAS(said, name);
	ENV_TABLE(X)
#undef X
	CHECK_STR_HAS(said, "lite, standard, default, full");
}

TEST(values_of_capture_options_are_checked)
{
	clear();
	setenv("RTL_DELAY", "0.5", 1);
	setenv("RTL_DURATION", "", 1);
	setenv("RTL_KERNELS", "gemm(", 1);
	setenv("RTL_GPUS", "0-3", 1);
	env_init();
	CHECK_EQ_UINT(env_uint(ENV_DELAY), 500000000);
	CHECK(env_is_set(ENV_DELAY) && env_is_set(ENV_GPUS));
	CHECK(!env_is_set(ENV_DURATION));
	CHECK(!env_is_set(ENV_KERNELS));
	CHECK_STR_EQ(env_str(ENV_KERNELS), "");
	env_report(say);
	CHECK_NOT_NULL(strstr(said, "RTL_KERNELS=gemm(: 'gemm(' is not a POSIX extended"));
}

TEST(process_of_other_rank_is_disabled)
{
	clear();
	setenv("RTL_RANKS", "0,2", 1);
	setenv("PMI_RANK", "1", 1);
	env_init();
	CHECK(env_bool(ENV_DISABLE));
}

TEST(process_of_selected_rank_is_traced)
{
	clear();
	setenv("RTL_RANKS", "0,2", 1);
	setenv("PMI_RANK", "2", 1);
	env_init();
	CHECK(!env_bool(ENV_DISABLE));
}
