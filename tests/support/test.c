/* SPDX-License-Identifier: MIT */
/* test.c - runs the registered tests, each in a forked child with a time limit
 *
 * Owns:     the list of tests, the running test's temporary directory.
 * Threads:  the runner has one; a test may start its own.
 * Not here: what is tested, and how ctest learns the names (cmake/rtl.cmake).
 */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEST_SKIPPED 77
#define TEST_TIMEOUT_S 60
#define TEST_MAX_TMP_FILES 32

static struct test_case *first;
static struct test_case **last = &first;
static char tmpdir[PATH_MAX / 2];

void test_register(struct test_case *test)
{
	*last = test;
	last = &test->next;
}

__attribute__((format(printf, 4, 0))) static void say_where(const char *what, const char *file,
							    int line, const char *fmt, va_list ap)
{
	const char *base = strrchr(file, '/');

	fprintf(stderr, "  %s:%d: %s", base ? base + 1 : file, line, what);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_where("", file, line, fmt, ap);
	va_end(ap);
	fflush(NULL);
	_exit(1);
}

void test_skip_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_where("skipped: ", file, line, fmt, ap);
	va_end(ap);
	fflush(NULL);
	_exit(TEST_SKIPPED);
}

static bool holds(int order, const char *op)
{
	if (op[0] == '=')
		return order == 0;
	if (op[0] == '!')
		return order != 0;
	if (op[0] == '<')
		return order < 0 || (op[1] == '=' && order == 0);
	return order > 0 || (op[1] == '=' && order == 0);
}

void test_check_int(const char *file, int line, const char *a_text, const char *op,
		    const char *b_text, long long a, long long b)
{
	if (!holds((a > b) - (a < b), op))
		test_fail(file, line, "not so: %s %s %s; left is %lld, right is %lld", a_text, op,
			  b_text, a, b);
}

void test_check_uint(const char *file, int line, const char *a_text, const char *op,
		     const char *b_text, unsigned long long a, unsigned long long b)
{
	if (!holds((a > b) - (a < b), op))
		test_fail(file, line,
			  "not so: %s %s %s; left is %llu (0x%llx), right is %llu (0x%llx)", a_text,
			  op, b_text, a, a, b, b);
}

void test_check_dbl(const char *file, int line, const char *a_text, const char *b_text, double a,
		    double b, double tolerance)
{
	double diff = a > b ? a - b : b - a;

	if (!(diff <= tolerance))
		test_fail(file, line, "not near: %s is %.17g, %s is %.17g, tolerance %g", a_text, a,
			  b_text, b, tolerance);
}

void test_check_ptr(const char *file, int line, const char *a_text, const char *op,
		    const char *b_text, const void *a, const void *b)
{
	if (!holds(a != b, op))
		test_fail(file, line, "not so: %s %s %s; left is %p, right is %p", a_text, op,
			  b_text, a, b);
}

void test_check_str(const char *file, int line, const char *a_text, const char *b_text,
		    const char *a, const char *b)
{
	if (a == b || (a && b && strcmp(a, b) == 0))
		return;
	test_fail(file, line, "%s and %s differ:\n    left  \"%s\"\n    right \"%s\"", a_text,
		  b_text, a ? a : "(null)", b ? b : "(null)");
}

void test_check_str_has(const char *file, int line, const char *a_text, const char *a,
			const char *part)
{
	if (!a || !strstr(a, part))
		test_fail(file, line, "%s lacks \"%s\":\n    it is \"%s\"", a_text, part,
			  a ? a : "(null)");
}

void test_check_mem(const char *file, int line, const char *a_text, const char *b_text,
		    const void *a, const void *b, size_t size)
{
	const unsigned char *x = a;
	const unsigned char *y = b;

	for (size_t i = 0; i < size; i++) {
		if (x[i] != y[i])
			test_fail(file, line,
				  "%s and %s differ first at byte %zu of %zu: 0x%02x, 0x%02x",
				  a_text, b_text, i, size, x[i], y[i]);
	}
}

const char *test_tmpdir(void)
{
	return tmpdir;
}

const char *test_tmpfile(const char *name)
{
	static char paths[TEST_MAX_TMP_FILES][PATH_MAX];
	static unsigned int nr;
	char *path = paths[nr++ % TEST_MAX_TMP_FILES];

	snprintf(path, PATH_MAX, "%s/%s", tmpdir, name);
	return path;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
/* A sanitizer has a heap of its own, and reports what leaks. */
void test_heap_is_given_back(void (*once)(void *arg), void *arg)
{
	once(arg);
}
#else
void test_heap_is_given_back(void (*once)(void *arg), void *arg)
{
	enum { TIMES = 16, LEAST = 64, ROUNDS = 8 };
	size_t before = 0, used = 0;

	/* the first times fill what is kept for the next ones, by the C library as well; what
	 * leaks grows in every round */
	for (int i = 0; i < ROUNDS && (i < 2 || used >= before + TIMES * LEAST); i++) {
		before = used;
		for (int n = 0; n < TIMES; n++)
			once(arg);
		used = mallinfo2().uordblks;
	}
	CHECK_MSG(used < before + TIMES * LEAST, "%zu bytes are used after %d times, %zu after %d",
		  before, (ROUNDS - 1) * TIMES, used, ROUNDS * TIMES);
}
#endif

const char *test_text_of(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");

	CHECK_MSG(file != NULL, "%s is missing", path);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

uint64_t test_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int timeout_s(void)
{
	const char *text = getenv("RTL_TEST_TIMEOUT");
	long value = text ? strtol(text, NULL, 10) : 0;

	return value > 0 && value < 3600 ? (int)value : TEST_TIMEOUT_S;
}

/* Waits for the child until the deadline; returns its wait status, or -1 after killing it. */
static int wait_for(pid_t pid)
{
	uint64_t deadline = test_now_ns() + (uint64_t)timeout_s() * 1000000000u;
	struct timespec nap = { 0, 200000 };
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (test_now_ns() > deadline) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 5000000)
			nap.tv_nsec += nap.tv_nsec / 4;
	}
	return status;
}

/* Returns 0 for passed, 77 for skipped, 1 for failed. */
static int run_one(const struct test_case *test)
{
	const char *base = getenv("TMPDIR");
	int status;
	pid_t pid;

	snprintf(tmpdir, sizeof(tmpdir), "%s/rtl-test-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(tmpdir)) {
		fprintf(stderr, "%s: %s\n", tmpdir, strerror(errno));
		return 1;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		test->run();
		fflush(NULL);
		/* exit, not _exit: leak checkers and coverage write their results there */
		exit(0);
	}
	status = pid < 0 ? -1 : wait_for(pid);
	/* processes that the test left running end with it */
	if (pid > 0)
		kill(-pid, SIGKILL);
	nftw(tmpdir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);

	if (status == -1)
		fprintf(stderr, "  %s: not done after %d s, killed\n", test->name, timeout_s());
	else if (WIFSIGNALED(status))
		fprintf(stderr, "  %s: died of signal %d (%s)\n", test->name, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == TEST_SKIPPED)
		return TEST_SKIPPED;
	else if (WEXITSTATUS(status) == 0)
		return 0;
	return 1;
}

static bool wanted(const struct test_case *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], test->name) == 0)
			return true;
	}
	return argc < 2;
}

int main(int argc, char **argv)
{
	int passed = 0;
	int failed = 0;
	int skipped = 0;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (struct test_case *t = first; t; t = t->next)
			puts(t->name);
		return 0;
	}
	for (struct test_case *t = first; t; t = t->next) {
		int result;

		if (!wanted(t, argc, argv))
			continue;
		result = run_one(t);
		if (result == 0)
			passed++;
		else if (result == TEST_SKIPPED)
			skipped++;
		else
			failed++;
		printf("%s %s\n",
		       result == 0	      ? "ok  " :
		       result == TEST_SKIPPED ? "skip" :
						"FAIL",
		       t->name);
	}
	if (passed + failed + skipped < argc - 1) {
		fprintf(stderr, "no such test among the arguments; --list shows them\n");
		failed++;
	}
	printf("%d passed, %d failed", passed, failed);
	if (skipped)
		printf(", %d skipped", skipped);
	printf("\n");
	if (failed)
		return 1;
	return skipped && !passed ? TEST_SKIPPED : 0;
}
