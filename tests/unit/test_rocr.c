/* SPDX-License-Identifier: MIT */
/* test_rocr.c - what the file of a runtime reveals */
#include "base/rocr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

static char dir[] = "/tmp/rtl_rocr.XXXXXX";

static const char *make(const char *name, const char *text, size_t size)
{
	static char path[256];
	static bool made;
	FILE *f;

	if (!made)
		CHECK_NOT_NULL(mkdtemp(dir));
	made = true;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	CHECK_NOT_NULL(f);
	CHECK_EQ_UINT(fwrite(text, 1, size, f), size);
	fclose(f);
	return path;
}

TEST(faulty_intercept_queues_are_detected_by_table_size_or_build_id)
{
	static const uint32_t good[] = { 0, 400, 560, 608, 712, 744 };
	static const uint32_t bad[] = { 624, 640, 704 };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_NULL(rocr_intercept_fault(good[i], ""));
		CHECK_NULL(rocr_intercept_fault(good[i], "0123"));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_NOT_NULL(rocr_intercept_fault(bad[i], ""));
	/* Debian's 7.2.4, for any table size */
	CHECK_NOT_NULL(rocr_intercept_fault(0, "973abb449f02e6d1eab82b44df7c2165782c5e99"));
}

TEST(build_id_of_file_and_of_loaded_library_are_the_same)
{
	char loaded[ROCR_BUILD_ID_SIZE];
	struct rocr r;

	rocr_build_id_of((const void *)rocr_read, loaded);
	CHECK_EQ_UINT(strlen(loaded), 40);
	CHECK(rocr_read(&r, "/proc/self/exe"));
	CHECK_STR_EQ(r.build_id, loaded);
	/* no library contains it */
	rocr_build_id_of(dir, loaded);
	rocr_build_id_of(NULL, loaded);
	CHECK_STR_EQ(loaded, "");
}

TEST(file_contains_its_imports)
{
	static const char old[] = "\177ELF\0HSA_TOOLS_LIB\0";
	static const char registers[] = "\177ELF\0HSA_AMD_TOOL_PRIORITY\0"
					"rocprofiler_register_library_api_table\0"
					"HSA_TOOLS_ROCPROFILER_V1_TOOLS";
	static const char ten[] = "\177ELF\0hsa_amd_queue_create\0";
	static const char seven[] = "\177ELF\0hsa_amd_queue_create_v2\0my_hsa_amd_queue_create\0";
	static const char seven_two[] = "\177ELF\0hsa_amd_ais_file_write\0";
	struct rocr r;

	CHECK(rocr_read(&r, make("ten", ten, sizeof(ten))));
	CHECK_EQ_UINT(r.amd_ext_bytes, 712);
	CHECK(rocr_read(&r, make("seven", seven, sizeof(seven))));
	CHECK_EQ_UINT(r.amd_ext_bytes, 0);
	CHECK(rocr_read(&r, make("seven_two", seven_two, sizeof(seven_two))));
	CHECK_EQ_UINT(r.amd_ext_bytes, 624);
	CHECK(rocr_read(&r, make("libhsa-runtime64.so.1.5.0", old, sizeof(old))));
	CHECK(!r.registers && !r.takes_both);
	/* to the last byte of the file */
	CHECK(rocr_read(&r,
			make("libhsa-runtime64.so.1.18.70000", registers, sizeof(registers) - 1)));
	CHECK(r.registers && r.takes_both);
	CHECK(rocr_read(&r, make("b", registers, sizeof(registers) - 2)));
	CHECK(r.registers && !r.takes_both);
	CHECK(!rocr_read(&r, make("empty", "", 0)));
	CHECK(!rocr_read(&r, dir));
	CHECK(!rocr_read(&r, "/nowhere/libhsa-runtime64.so.1"));
}

TEST(runtime_is_found_as_by_the_loader)
{
	char path[512], found[256], link[256];

	snprintf(link, sizeof(link), "%s", make("libhsa-runtime64.so.1.18.70201", "x", 1));
	snprintf(path, sizeof(path), "%s/libhsa-runtime64.so.1", dir);
	CHECK_OK(symlink("libhsa-runtime64.so.1.18.70201", path));
	snprintf(path, sizeof(path), "/nowhere:;%s:/usr/lib", dir);
	CHECK(rocr_find(path, found, sizeof(found)));
	CHECK_STR_EQ(found, link);
	CHECK(!rocr_find(path, found, 10));
}
