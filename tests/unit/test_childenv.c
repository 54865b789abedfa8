/* SPDX-License-Identifier: MIT */
/* test_childenv.c - the environment of a traced program */
#include "cli/trace/childenv.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

static const char *why;

static char **build(char *const *vars, bool vgpu)
{
	const struct childenv_setup setup = {
		.librtl = "/opt/rtl/lib/librtl.so.1",
		.lib_dir = "/opt/rtl/lib",
		.vgpu_dir = vgpu ? "/opt/rtl/vgpu" : NULL,
		.vgpu_devices = vgpu ? 2 : 0,
		.session = "/data/trace.db.spool",
		.mode = "standard",
		.buffer_mb = 64,
		.has_buffer_mb = true,
	};

	return childenv_build(&setup, vars, &why);
}

TEST(bare_environment_gets_variables_for_tracing)
{
	char *vars[] = { (char *)"HOME=/h", NULL };
	char **env = build(vars, false);

	CHECK_STR_EQ(childenv_get(env, "HOME"), "/h");
	CHECK_STR_EQ(childenv_get(env, "LD_PRELOAD"), "/opt/rtl/lib/librtl.so.1");
	CHECK_STR_EQ(childenv_get(env, "HSA_TOOLS_LIB"), "/opt/rtl/lib/librtl.so.1");
	CHECK_STR_EQ(childenv_get(env, "RTL_SESSION"), "/data/trace.db.spool");
	CHECK_STR_EQ(childenv_get(env, "RTL_MODE"), "standard");
	CHECK_STR_EQ(childenv_get(env, "RTL_BUFFER_MB"), "64");
	CHECK_STR_EQ(childenv_get(env, "RTL_LOG_FILE"), "/data/trace.db.spool/log.%p");
	CHECK_NULL(childenv_get(env, "RTL_DRAIN_MS"));
	CHECK_NULL(childenv_get(env, "RTL_BARRIERS"));
	CHECK_NULL(childenv_get(env, "RTL_HSA_API"));
	CHECK_NULL(childenv_get(env, "LD_LIBRARY_PATH"));
	CHECK_NULL(childenv_get(env, "VGPU_DEVICES"));
	CHECK_NULL(vars[1]);
}

TEST(sanitizers_of_the_user_are_preloaded_in_front_of_librtl)
{
	const char *librtl = "/opt/rtl/lib/librtl.so.1";
	static const struct {
		const char *had, *gets;
	} rows[] = {
		{ "LD_PRELOAD=/l/libasan.so.8", "/l/libasan.so.8:LIBRTL" },
		{ "LD_PRELOAD=theirs.so libtsan.so.2:other.so",
		  "libtsan.so.2:LIBRTL:theirs.so:other.so" },
		{ "LD_PRELOAD=/c/libclang_rt.asan-x86_64.so:liblsan.so.0",
		  "/c/libclang_rt.asan-x86_64.so:liblsan.so.0:LIBRTL" },
		{ "LD_PRELOAD=/libasan.so/x.so", "LIBRTL:/libasan.so/x.so" },
		{ "LD_PRELOAD=libasan", "LIBRTL:libasan" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *vars[] = { (char *)rows[i].had, NULL };
		const char *at = strstr(rows[i].gets, "LIBRTL");
		char want[200];

		snprintf(want, sizeof(want), "%.*s%s%s", (int)(at - rows[i].gets), rows[i].gets,
			 librtl, at + strlen("LIBRTL"));
		CHECK_STR_EQ(childenv_get(build(vars, false), "LD_PRELOAD"), want);
	}
}

TEST(options_of_sanitizers_are_added_to_the_users)
{
	struct childenv_setup setup = { .librtl = "/l/librtl.so.1",
					.lib_dir = "/l",
					.tsan_suppressions = "/l/a b.supp",
					.session = "/s" };
	char *bare[] = { NULL };
	char *vars[] = { (char *)"ASAN_OPTIONS=detect_leaks=0", (char *)"TSAN_OPTIONS=exitcode=3",
			 NULL };
	char *own[] = { (char *)"ASAN_OPTIONS=verify_asan_link_order=1",
			(char *)"TSAN_OPTIONS=suppressions=mine", NULL };
	char **env = childenv_build(&setup, bare, &why);

	CHECK_STR_EQ(childenv_get(env, "ASAN_OPTIONS"), "verify_asan_link_order=0");
	CHECK_STR_EQ(childenv_get(env, "TSAN_OPTIONS"), "suppressions='/l/a b.supp'");
	env = childenv_build(&setup, vars, &why);
	CHECK_STR_EQ(childenv_get(env, "ASAN_OPTIONS"), "detect_leaks=0:verify_asan_link_order=0");
	CHECK_STR_EQ(childenv_get(env, "TSAN_OPTIONS"), "exitcode=3:suppressions='/l/a b.supp'");
	env = childenv_build(&setup, own, &why);
	CHECK_STR_EQ(childenv_get(env, "ASAN_OPTIONS"), "verify_asan_link_order=1");
	CHECK_STR_EQ(childenv_get(env, "TSAN_OPTIONS"), "suppressions=mine");
	setup.tsan_suppressions = NULL;
	CHECK_NULL(childenv_get(childenv_build(&setup, bare, &why), "TSAN_OPTIONS"));
}

TEST(driver_of_virtual_gpu_is_preloaded_behind_librtl)
{
	struct childenv_setup setup = {
		.librtl = "/l/librtl.so.1", .lib_dir = "/l", .vgpu_dir = "/v", .session = "/s"
	};
	char *vars[] = { (char *)"LD_PRELOAD=theirs.so", NULL };
	char **env = childenv_build(&setup, vars, &why);

	CHECK_STR_EQ(childenv_get(env, "LD_PRELOAD"), "/l/librtl.so.1:/v/libvgpu.so:theirs.so");
	setup.vgpu_dir = "/a b";
	env = childenv_build(&setup, vars, &why);
	CHECK_STR_EQ(childenv_get(env, "LD_PRELOAD"), "/l/librtl.so.1:libvgpu.so:theirs.so");
	CHECK_STR_EQ(childenv_get(env, "LD_LIBRARY_PATH"), "/a b");
}

TEST(registration_variables_are_set_unless_given)
{
	struct childenv_setup setup = { .librtl = "/l/librtl.so.1",
					.lib_dir = "/l",
					.session = "/s" };
	char *none[] = { NULL };
	char *theirs[] = { (char *)"HSA_TOOLS_ROCPROFILER_V1_TOOLS=0",
			   (char *)"ROCPROFILER_REGISTER_LIBRARY=/theirs.so", NULL };
	char **env = childenv_build(&setup, none, &why);

	CHECK_STR_EQ(childenv_get(env, "HSA_TOOLS_ROCPROFILER_V1_TOOLS"), "1");
	CHECK_NULL(childenv_get(env, "ROCPROFILER_REGISTER_LIBRARY"));
	setup.is_registered = true;
	env = childenv_build(&setup, none, &why);
	CHECK_STR_EQ(childenv_get(env, "ROCPROFILER_REGISTER_LIBRARY"), "/l/librtl.so.1");
	env = childenv_build(&setup, theirs, &why);
	CHECK_STR_EQ(childenv_get(env, "HSA_TOOLS_ROCPROFILER_V1_TOOLS"), "0");
	CHECK_STR_EQ(childenv_get(env, "ROCPROFILER_REGISTER_LIBRARY"), "/theirs.so");
}

TEST(given_options_become_variables)
{
	const struct childenv_setup setup = { .librtl = "/l/librtl.so.1",
					      .lib_dir = "/l",
					      .session = "/s",
					      .mode = "hip",
					      .barriers = true,
					      .trace_start = "off",
					      .hsa = true };
	char *vars[] = { (char *)"RTL_HSA_API=0", NULL };
	char **env = childenv_build(&setup, vars, &why);

	CHECK_STR_EQ(childenv_get(env, "RTL_MODE"), "hip");
	CHECK_STR_EQ(childenv_get(env, "RTL_BARRIERS"), "1");
	CHECK_STR_EQ(childenv_get(env, "RTL_HSA_API"), "1");
	CHECK_STR_EQ(childenv_get(env, "RTL_TRACE_START"), "off");
}

TEST(existing_libraries_are_kept_behind_librtl)
{
	char *vars[] = { (char *)"LD_PRELOAD=/lib/a.so:/lib/b.so",
			 (char *)"HSA_TOOLS_LIB=libother.so", (char *)"LD_LIBRARY_PATH=/l",
			 (char *)"RTL_LOG_FILE=mine", NULL };
	char **env = build(vars, true);

	CHECK_STR_EQ(childenv_get(env, "LD_PRELOAD"),
		     "/opt/rtl/lib/librtl.so.1:/opt/rtl/vgpu/libvgpu.so:/lib/a.so:/lib/b.so");
	CHECK_STR_EQ(childenv_get(env, "HSA_TOOLS_LIB"), "/opt/rtl/lib/librtl.so.1 libother.so");
	CHECK_STR_EQ(childenv_get(env, "LD_LIBRARY_PATH"), "/opt/rtl/vgpu:/l");
	CHECK_STR_EQ(childenv_get(env, "VGPU_DEVICES"), "2");
	CHECK_STR_EQ(childenv_get(env, "RTL_LOG_FILE"), "mine");
}

TEST(librtl_already_listed_is_not_added_again)
{
	char *vars[] = { (char *)"LD_PRELOAD=/lib/a.so:/opt/rtl/lib/librtl.so.1",
			 (char *)"HSA_TOOLS_LIB=/opt/rtl/lib/librtl.so.1", NULL };
	char **env = build(vars, false);

	CHECK_STR_EQ(childenv_get(env, "LD_PRELOAD"), "/lib/a.so:/opt/rtl/lib/librtl.so.1");
	CHECK_STR_EQ(childenv_get(env, "HSA_TOOLS_LIB"), "/opt/rtl/lib/librtl.so.1");
}

TEST(variable_with_longer_name_is_unchanged)
{
	char *vars[] = { (char *)"RTL_MODES=x", (char *)"RTL_MOD=y", NULL };
	char **env = build(vars, false);

	CHECK_STR_EQ(childenv_get(env, "RTL_MODES"), "x");
	CHECK_STR_EQ(childenv_get(env, "RTL_MOD"), "y");
	CHECK_STR_EQ(childenv_get(env, "RTL_MODE"), "standard");
}

TEST(directory_with_blank_goes_into_library_path)
{
	const struct childenv_setup setup = { .librtl = "/my tools/lib/librtl.so.1",
					      .lib_dir = "/my tools/lib",
					      .session = "/s" };
	char *vars[] = { (char *)"LD_LIBRARY_PATH=/l", NULL };
	char **env = childenv_build(&setup, vars, &why);

	CHECK_STR_EQ(childenv_get(env, "LD_PRELOAD"), "librtl.so.1");
	CHECK_STR_EQ(childenv_get(env, "HSA_TOOLS_LIB"), "librtl.so.1");
	CHECK_STR_EQ(childenv_get(env, "LD_LIBRARY_PATH"), "/my tools/lib:/l");
}

TEST(directory_with_colon_is_refused_with_reason)
{
	const struct childenv_setup setup = { .librtl = "/a:b/lib/librtl.so.1",
					      .lib_dir = "/a:b/lib",
					      .session = "/s" };
	char *vars[] = { NULL };

	why = NULL;
	CHECK_NULL(childenv_build(&setup, vars, &why));
	CHECK_STR_HAS(why, "colon");
}
