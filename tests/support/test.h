/* SPDX-License-Identifier: MIT */
/* test.h - unit tests: TEST(name) { ... } registers itself, each runs in a child of its own
 *
 * A failed check prints both values and ends that test; the next one runs. A test that crashes,
 * exits or takes longer than its time fails alone. The program's arguments:
 *	(none)    run all, end with "N passed, N failed" (", N skipped")
 *	--list    names only
 *	NAME...   run these; 77 is the exit status when all of them skipped
 * Write TEST(name) at the start of a line: CMake reads the names from the source.
 */
#ifndef RTL_SUPPORT_TEST_H
#define RTL_SUPPORT_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef void (*test_fn)(void);

struct test_case {
	const char *name;
	const char *file;
	int line;
	test_fn run;
	struct test_case *next;
};

void test_register(struct test_case *test);

#define TEST(ident)                                                                                \
	static void test_run_##ident(void);                                                        \
	__attribute__((constructor)) static void test_reg_##ident(void)                            \
	{                                                                                          \
		static struct test_case test = { #ident, __FILE__, __LINE__, test_run_##ident,     \
						 0 };                                              \
		test_register(&test);                                                              \
	}                                                                                          \
	static void test_run_##ident(void)

/* End the running test and print location and reason; the macros call the others. */
void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void test_skip_at(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

void test_check_int(const char *file, int line, const char *a_text, const char *op,
		    const char *b_text, long long a, long long b);
void test_check_uint(const char *file, int line, const char *a_text, const char *op,
		     const char *b_text, unsigned long long a, unsigned long long b);
void test_check_dbl(const char *file, int line, const char *a_text, const char *b_text, double a,
		    double b, double tolerance);
void test_check_ptr(const char *file, int line, const char *a_text, const char *op,
		    const char *b_text, const void *a, const void *b);
void test_check_str(const char *file, int line, const char *a_text, const char *b_text,
		    const char *a, const char *b);
void test_check_str_has(const char *file, int line, const char *a_text, const char *a,
			const char *part);
void test_check_mem(const char *file, int line, const char *a_text, const char *b_text,
		    const void *a, const void *b, size_t size);

/* An empty directory of the running test, removed when it ends. */
const char *test_tmpdir(void);
/* The path of name in it; the text lives as long as the test. */
const char *test_tmpfile(const char *name);
/* A file's text, its first 65535 bytes; lives until the next call. Ends the test where there is
 * none. */
const char *test_text_of(const char *path);
/* Does it 80 times, and ends the test if it keeps 64 bytes or more of the heap each time.
 * Sanitizers, which have a heap of their own, look for leaks themselves. */
void test_heap_is_given_back(void (*once)(void *arg), void *arg);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t test_now_ns(void);

#define SKIP(...) test_skip_at(__FILE__, __LINE__, __VA_ARGS__)
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			test_fail(__FILE__, __LINE__, "false: %s", #cond);                         \
	} while (0)
#define CHECK_MSG(cond, ...)                                                                       \
	do {                                                                                       \
		if (!(cond))                                                                       \
			test_fail(__FILE__, __LINE__, __VA_ARGS__);                                \
	} while (0)

#define CHECK_INT_OP(a, op, b)                                                                     \
	test_check_int(__FILE__, __LINE__, #a, #op, #b, (long long)(a), (long long)(b))
#define CHECK_EQ_INT(a, b) CHECK_INT_OP(a, ==, b)
#define CHECK_NE_INT(a, b) CHECK_INT_OP(a, !=, b)
#define CHECK_LT_INT(a, b) CHECK_INT_OP(a, <, b)
#define CHECK_LE_INT(a, b) CHECK_INT_OP(a, <=, b)
#define CHECK_GT_INT(a, b) CHECK_INT_OP(a, >, b)
#define CHECK_GE_INT(a, b) CHECK_INT_OP(a, >=, b)

#define CHECK_UINT_OP(a, op, b)                                                                    \
	test_check_uint(__FILE__, __LINE__, #a, #op, #b, (unsigned long long)(a),                  \
			(unsigned long long)(b))
#define CHECK_EQ_UINT(a, b) CHECK_UINT_OP(a, ==, b)
#define CHECK_NE_UINT(a, b) CHECK_UINT_OP(a, !=, b)
#define CHECK_LT_UINT(a, b) CHECK_UINT_OP(a, <, b)
#define CHECK_LE_UINT(a, b) CHECK_UINT_OP(a, <=, b)
#define CHECK_GT_UINT(a, b) CHECK_UINT_OP(a, >, b)
#define CHECK_GE_UINT(a, b) CHECK_UINT_OP(a, >=, b)

#define CHECK_NEAR(a, b, tolerance)                                                                \
	test_check_dbl(__FILE__, __LINE__, #a, #b, (a), (b), (tolerance))
#define CHECK_EQ_PTR(a, b) test_check_ptr(__FILE__, __LINE__, #a, "==", #b, (a), (b))
#define CHECK_NE_PTR(a, b) test_check_ptr(__FILE__, __LINE__, #a, "!=", #b, (a), (b))
#define CHECK_NULL(a) test_check_ptr(__FILE__, __LINE__, #a, "==", "NULL", (a), NULL)
#define CHECK_NOT_NULL(a) test_check_ptr(__FILE__, __LINE__, #a, "!=", "NULL", (a), NULL)
#define CHECK_STR_EQ(a, b) test_check_str(__FILE__, __LINE__, #a, #b, (a), (b))
#define CHECK_STR_HAS(a, b) test_check_str_has(__FILE__, __LINE__, #a, (a), (b))
#define CHECK_MEM_EQ(a, b, n) test_check_mem(__FILE__, __LINE__, #a, #b, (a), (b), (n))
/* A call that returns 0 or -errno. */
#define CHECK_OK(call) CHECK_INT_OP(call, ==, 0)

#endif
