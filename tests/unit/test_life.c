/* SPDX-License-Identifier: MIT */
/* test_life.c - start, upkeep thread, end, and the program that is started at the end */
#include "event/life.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/barrier.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "event/bus.h"
#include "sink/recorder/finish.h"
#include "sink/recorder/recorder.h"
#include "support/test.h"

static _Atomic int nr_starts;
static _Atomic int nr_stops;
static _Atomic int nr_source_stops, nr_leaves;
static _Atomic int nr_ticks;
static _Atomic uint64_t nr_clocks;
static _Atomic bool has_work;
static _Atomic bool saw_work;
static _Atomic int stall_ms;
static _Atomic bool on_our_thread;
static _Atomic uint64_t wants;
static int start_result;

static void nap_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static int sink_start(void)
{
	atomic_fetch_add(&nr_starts, 1);
	nap_ms(20);
	return start_result;
}

static void sink_event(const struct event *ev)
{
	if (ev->kind == EVENT_CLOCK)
		atomic_fetch_add(&nr_clocks, 1);
}

static void sink_stop(void)
{
	atomic_fetch_add(&nr_stops, 1);
}

static uint64_t source_tick(uint64_t now_ns)
{
	struct thread *t;

	(void)now_ns;
	atomic_fetch_add(&nr_ticks, 1);
	if (atomic_load(&has_work))
		atomic_store(&saw_work, true);
	if (life_enter(&t))
		life_leave(t);
	else
		atomic_store(&on_our_thread, true);
	if (atomic_load(&stall_ms))
		nap_ms(atomic_load(&stall_ms));
	return atomic_load(&wants);
}

/* On the life thread, before everything is stopped. */
static void source_leave(void)
{
	if (thread_get()->is_ours && !atomic_load(&nr_source_stops) && !atomic_load(&nr_stops))
		atomic_fetch_add(&nr_leaves, 1);
}

static void source_stop(uint64_t deadline_ns)
{
	CHECK_GT_UINT(deadline_ns, 0);
	atomic_fetch_add(&nr_source_stops, 1);
}

static const struct source source = { .name = "test",
				      .tick = source_tick,
				      .leave = source_leave,
				      .stop = source_stop };
static const struct source *const sources[] = { &source, NULL };
static const struct sink sink = { .name = "test",
				  .start = sink_start,
				  .event = sink_event,
				  .stop = sink_stop };
static const struct sink *const sinks[] = { &sink, NULL };
static const struct sink *const recorders[] = { &recorder_sink, NULL };

static void begin(const struct sink *const *all)
{
	setenv("RTL_LOG_FILE", test_tmpfile("log"), 1);
	setenv("RTL_OUTPUT", test_tmpfile("t.db"), 1);
	setenv("RTL_MEM_DIR", test_tmpdir(), 1);
	unsetenv("RTL_SESSION");
	atomic_store(&wants, LIFE_IDLE);
	life_init(sources, all);
}

static void *try_start(void *arg)
{
	struct thread *t;

	if (!life_start())
		atomic_store((_Atomic bool *)arg, true);
	CHECK(life_enter(&t));
	CHECK(t->in_hook);
	CHECK(!life_enter(&t));
	life_leave(t);
	return NULL;
}

TEST(concurrent_starts_start_once)
{
	static _Atomic bool failed;
	pthread_t threads[8];

	begin(sinks);
	CHECK(!life_on());
	for (int i = 0; i < 8; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, try_start, &failed));
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	CHECK(!atomic_load(&failed));
	for (int i = 0; i < 1000 && !atomic_load(&nr_ticks); i++)
		nap_ms(1);
	CHECK_EQ_INT(atomic_load(&nr_starts), 1);
	CHECK(life_start());
	life_stop();
	life_stop();
	CHECK_EQ_INT(atomic_load(&nr_stops), 1);
	CHECK_EQ_INT(atomic_load(&nr_source_stops), 1);
	CHECK_EQ_INT(atomic_load(&nr_leaves), 1);
	CHECK(!life_on());
	CHECK(!life_start());
	CHECK(atomic_load(&on_our_thread));
}

TEST(failed_start_is_permanent)
{
	start_result = -ENOSPC;
	begin(sinks);
	CHECK(!life_start());
	CHECK(!life_start());
	CHECK_EQ_INT(atomic_load(&nr_starts), 1);
	CHECK_EQ_INT(atomic_load(&life_state), LIFE_STOPPED);
	life_stop();
	CHECK_EQ_INT(atomic_load(&nr_stops), 0);
}

TEST(disabled_trace_never_starts)
{
	setenv("RTL_DISABLE", "1", 1);
	begin(sinks);
	CHECK(!life_start());
	CHECK_EQ_INT(atomic_load(&life_state), LIFE_OFF);
	life_stop();
	CHECK_EQ_INT(atomic_load(&nr_starts), 0);
}

static void *nothing(void *arg)
{
	return arg;
}

TEST(idle_thread_sleeps_deeply_and_wakes_at_once)
{
	pthread_t thread;
	int before;

	begin(sinks);
	/* from now on the process is multi-threaded, so registering its barrier takes time */
	CHECK_OK(pthread_create(&thread, NULL, nothing, NULL));
	pthread_join(thread, NULL);
	CHECK(life_start());
	CHECK(!barrier_is_ready());
	/* a second; the clock's interval must not restart it */
	for (int i = 0; i < 900 && !barrier_is_ready(); i++)
		nap_ms(10);
	CHECK(barrier_is_ready());
	before = atomic_load(&nr_ticks);
	nap_ms(300);
	/* up to fifteen short sleeps, with two runs of the ticks each */
	CHECK_LE_INT(atomic_load(&nr_ticks) - before, 12);
	for (int i = 0; i < 900 && atomic_load(&life_sleeping) != LIFE_DEEP; i++)
		nap_ms(1);
	CHECK_EQ_UINT(atomic_load(&life_sleeping), LIFE_DEEP);
	atomic_store(&has_work, true);
	life_wake();
	for (int i = 0; i < 900 && !atomic_load(&saw_work); i++)
		nap_ms(1);
	CHECK(atomic_load(&saw_work));
	life_stop();
}

TEST(wake_is_never_missed)
{
	begin(sinks);
	CHECK(life_start());
	for (int i = 0; i < 2000; i++) {
		uint64_t end_ns = test_now_ns() + 900000000u;

		atomic_store(&saw_work, false);
		atomic_store_explicit(&has_work, true, memory_order_relaxed);
		life_wake();
		while (!atomic_load(&saw_work))
			CHECK_LT_UINT(test_now_ns(), end_ns);
		atomic_store(&has_work, false);
	}
	life_stop();
}

TEST(tick_is_called_after_the_time_it_returned)
{
	int before;

	begin(sinks);
	atomic_store(&wants, 5000000);
	CHECK(life_start());
	nap_ms(50);
	before = atomic_load(&nr_ticks);
	nap_ms(200);
	CHECK_GE_INT(atomic_load(&nr_ticks) - before, 5);
	/* each sleep runs the ticks twice */
	CHECK_LE_INT(atomic_load(&nr_ticks) - before, 100);
	life_stop();
}

TEST(nap_of_one_source_does_not_delay_another)
{
	uint64_t start_ns;

	begin(sinks);
	atomic_store(&wants, 600000000);
	CHECK(life_start());
	nap_ms(50);
	start_ns = test_now_ns();
	atomic_store(&has_work, true);
	life_wake();
	while (!atomic_load(&saw_work))
		CHECK_LT_UINT(test_now_ns() - start_ns, 400000000);
	life_stop();
}

TEST(clocks_are_emitted_each_second)
{
	begin(sinks);
	CHECK(life_start());
	CHECK_EQ_UINT(atomic_load(&nr_clocks), 1);
	nap_ms(2300);
	life_stop();
	CHECK_GE_UINT(atomic_load(&nr_clocks), 4);
	CHECK_LE_UINT(atomic_load(&nr_clocks), 5);
}

TEST(blocked_tick_does_not_block_the_exit)
{
	uint64_t start_ns;

	setenv("RTL_DRAIN_MS", "100", 1);
	begin(sinks);
	atomic_store(&stall_ms, 3000);
	CHECK(life_start());
	nap_ms(20);
	start_ns = test_now_ns();
	life_stop();
	CHECK_LT_UINT(test_now_ns() - start_ns, UINT64_C(1500000000));
	/* the thread is still in the source: no other thread may call it */
	CHECK_EQ_INT(atomic_load(&nr_source_stops), 0);
	CHECK_EQ_INT(atomic_load(&nr_stops), 1);
}

TEST(missing_thread_leaves_upkeep_to_the_end)
{
	struct rlimit limit = { 0, RLIM_INFINITY };

	begin(sinks);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a sanitizer needs the address space");
#endif
	CHECK_OK(setrlimit(RLIMIT_AS, &limit));
	CHECK(life_start());
	limit.rlim_cur = RLIM_INFINITY;
	CHECK_OK(setrlimit(RLIMIT_AS, &limit));
	CHECK_EQ_INT(atomic_load(&nr_ticks), 0);
	life_stop();
	CHECK_EQ_INT(atomic_load(&nr_source_stops), 1);
	CHECK_EQ_INT(atomic_load(&nr_stops), 1);
}

TEST(forked_child_is_inert)
{
	int status;
	pid_t pid;

	begin(sinks);
	CHECK(life_start());
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int bad = life_on() || life_start() || atomic_load(&life_state) != LIFE_FORKED;

		life_stop();
		_exit(bad || atomic_load(&nr_stops));
	}
	waitpid(pid, &status, 0);
	CHECK_EQ_INT(status, 0);
	CHECK(life_on());
	life_stop();
}

static bool has_thread(const char *name)
{
	char path[300];
	char comm[32];
	struct dirent *e;
	DIR *d = opendir("/proc/self/task");
	bool found = false;

	while (d && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
		if (fd_read_line(path, comm, sizeof(comm)) == 0 && strcmp(comm, name) == 0)
			found = true;
	}
	if (d)
		closedir(d);
	return found;
}

TEST(life_thread_has_a_name_and_ends)
{
	begin(sinks);
	CHECK(life_start());
	for (int i = 0; i < 1000 && !has_thread("rtl-harvest"); i++)
		nap_ms(1);
	CHECK(has_thread("rtl-harvest"));
	life_stop();
	for (int i = 0; i < 1000 && has_thread("rtl-harvest"); i++)
		nap_ms(1);
	CHECK(!has_thread("rtl-harvest"));
}

static _Atomic int nr_handled;

static void handler(int sig)
{
	(void)sig;
	atomic_fetch_add(&nr_handled, 1);
}

TEST(signal_handlers_never_run_on_life_thread)
{
	sigset_t set;
	sigset_t now;

	begin(sinks);
	signal(SIGUSR1, handler);
	CHECK(life_start());
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	CHECK(!sigismember(&now, SIGUSR1));
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* sent to the process: only another thread could handle it */
	kill(getpid(), SIGUSR1);
	nap_ms(30);
	CHECK_EQ_INT(atomic_load(&nr_handled), 0);
	life_stop();
}

TEST(start_takes_few_milliseconds)
{
	uint64_t best = UINT64_MAX;
	uint64_t start_ns;

	begin(recorders);
	start_ns = test_now_ns();
	CHECK(life_start());
	best = test_now_ns() - start_ns;
	/* the aim is 2 ms, usual is 1 ms; a busy machine may take longer */
	CHECK_LT_UINT(best, 200000000);
	setenv("RTL_BIN", "/bin/true", 1);
	life_stop();
}

static const char *text_of(const char *path)
{
	static char text[8192];

	if (fd_read_file(path, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	return text;
}

static void write_script(const char *path, const char *lines)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0700);

	CHECK_GE_INT(fd, 0);
	CHECK_EQ_INT(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
	close(fd);
}

static void run_to_the_end(const char *script)
{
	const char *rtl = test_tmpfile("rtl");

	write_script(rtl, script);
	setenv("RTL_BIN", rtl, 1);
	begin(recorders);
	CHECK_OK(chdir(test_tmpdir()));
	signal(SIGCHLD, handler);
	CHECK(life_start());
	life_stop();
	CHECK_EQ_INT(atomic_load(&nr_handled), 0);
	CHECK_EQ_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ_INT(errno, ECHILD);
}

TEST(database_is_written_before_program_ends)
{
	setenv("LD_PRELOAD", "", 1);
	setenv("HSA_TOOLS_LIB", "librtl.so", 1);
	setenv("RTL_FORCE", "1", 1);
	run_to_the_end("#!/bin/sh\necho talk; echo talk >&2\nsleep 0.1\n"
		       "echo \"$@\" > args; env > env; ls -l /proc/self/fd > fds\n");
	CHECK_STR_HAS(text_of("args"), "recover --remove --force -o ");
	CHECK_STR_HAS(text_of("args"), "/t.db ");
	CHECK_STR_HAS(text_of("args"), ".rtl\n");
	CHECK(!strstr(text_of("env"), "HSA_TOOLS_LIB"));
	CHECK(!strstr(text_of("env"), "LD_PRELOAD"));
	CHECK_STR_HAS(text_of("fds"), "0 -> /dev/null");
	CHECK_STR_EQ(text_of(test_tmpfile("log")), "");
}

TEST(existing_output_is_kept_and_pid_added_to_name)
{
	char want[64];

	/* an empty one, as mktemp makes it, would be taken */
	write_script(test_tmpfile("t.db"), "theirs");
	run_to_the_end("#!/bin/sh\necho \"$@\" > args\n");
	snprintf(want, sizeof(want), "/t.%d.db ", (int)getpid());
	CHECK_STR_HAS(text_of("args"), want);
	CHECK_STR_EQ(text_of(test_tmpfile("log")), "");
}

TEST(failed_database_is_reported)
{
	run_to_the_end("#!/bin/sh\nexit 3\n");
	CHECK_STR_HAS(text_of(test_tmpfile("log")), "could not be written (status 3)");
	CHECK_STR_HAS(text_of(test_tmpfile("log")), "rtl recover -o ");
}

TEST(invalid_rtl_program_is_reported)
{
	run_to_the_end("not a program\n");
	CHECK_STR_HAS(text_of(test_tmpfile("log")), "Exec format error");
}

TEST(library_without_an_rtl_program_beside_it_leaves_the_spool)
{
	begin(recorders);
	unsetenv("RTL_BIN");
	env_init();
	CHECK_EQ_UINT(strlen(env_str(ENV_BIN)), 0);
	/* the program of this test's own build does not belong to it */
	write_script(test_tmpfile("librtl.so.1"), "");
	finish_beside(test_tmpfile("librtl.so.1"));
	CHECK(life_start());
	life_stop();
	CHECK_STR_HAS(text_of(test_tmpfile("log")),
		      "no rtl program is found; run: rtl recover -o ");
}

TEST(missing_rtl_program_leaves_the_spool)
{
	setenv("RTL_BIN", "/no/such/rtl", 1);
	begin(recorders);
	CHECK(life_start());
	life_stop();
	CHECK_STR_HAS(text_of(test_tmpfile("log")), "run: rtl recover -o ");
}
