/* SPDX-License-Identifier: MIT */
/* service.c - a traced process answers rtl: ps, start, stop, status, top, snapshot
 *
 * Owns:     the thread "rtl-control", its socket, and the one job that it may have for the life
 *           thread.
 * Threads:  service_init() before threads; ticks on the life thread; stop on the thread that ends
 *           the process. A trace is opened and closed by a thread for that, "rtl-open": the
 *           recorder's functions are not for the life thread.
 * Fails:    no directory, no descriptors, no thread: the process can't be reached, as a message
 *           says once.
 */
#define LOG_TOPIC "control"
#include "control/service.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"
#include "base/testpoint.h"
#include "control/message.h"
#include "control/own_table.h"
#include "control/server.h"
#include "event/bus.h"
#include "event/pause.h"
#include "spool/format.h"
#include "spool/rest.h"

/* how long the thread waits for a job to begin, and then for its end: opening a trace makes
 * files */
#define BEGIN_NS UINT64_C(2000000000)
#define END_NS UINT64_C(20000000000)
#define STEP_NS 50000000
/* how long a trace that is to be closed waits for what is in flight */
#define SETTLE_NS UINT64_C(2000000000)
#define SETTLE_STEP_NS 1000000

enum job_state { JOB_NONE, JOB_WANTED, JOB_RUNS, JOB_DONE };

struct counts {
	uint64_t dispatches, copies, calls, left_out, losses;
};

/* set in init, constant afterwards */
static const struct service_host *host;
static char runtime_dir[SOCKDIR_SIZE];
static uint64_t began_ns; /* CLOCK_MONOTONIC */
/* atomic */
static _Atomic uint32_t job_state; /* enum job_state, a futex */
static _Atomic int failed_with;	   /* why there is no socket; the life thread logs it */
static _Atomic uint32_t path_state;
/* the job: of the control thread; of the life thread or rtl-open while JOB_WANTED or JOB_RUNS */
static struct {
	enum control_command command;
	char dir[CONTROL_PATH_SIZE], output[CONTROL_PATH_SIZE];
	int status;
	bool is_open;
	struct counts counts;
	char spool[CONTROL_PATH_SIZE];
} job;
/* control thread: job.is_open of the last one that was done */
static bool is_open = true;
static char last_output[CONTROL_PATH_SIZE];
/* atomic: the socket is open, or will not be */
static _Atomic bool is_settled;
/* life thread */
static int logged;
/* of the job's thread: the trace that was open last */
static struct counts last_counts;
static char last_spool[CONTROL_PATH_SIZE];
/* the socket's path; the control thread's until it is PATH_MADE */
static char path[SOCKDIR_SIZE + SOCKDIR_NAME_SIZE];
static char refused_dir[SOCKDIR_SIZE];

enum path_state { PATH_NONE, PATH_MADE, PATH_ENDED };

void service_init(const struct service_host *of)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	struct str s;

	host = of;
	if (life_is_idle())
		life_attach_sinks_later();
	is_open = !life_is_idle();
	began_ns = clock_read_ns(CLOCK_MONOTONIC);
	/* now: the program may change its environment */
	str_init(&s, runtime_dir, sizeof(runtime_dir));
	str_add(&s, dir ? dir : "");
	if (s.cut)
		runtime_dir[0] = '\0';
}

/* ---- jobs, on the life thread ---------------------------------------------------------------- */

static bool is_loss(unsigned int reason)
{
	enum { LOSS, SKIPPED, NOTE };
	static const unsigned char classes[] = {
#define X(name, class, text) class,
		SPOOL_REASONS(X)
#undef X
	};

	return classes[reason] == LOSS;
}

static bool is_skipped(unsigned int reason)
{
	return reason == SPOOL_REASON_paused || reason == SPOOL_REASON_filtered_kernel ||
	       reason == SPOOL_REASON_filtered_gpu || reason == SPOOL_REASON_filtered_call;
}

static void count_reason(struct counts *c, unsigned int reason, uint64_t count)
{
	if (is_loss(reason))
		c->losses += count;
	else if (is_skipped(reason))
		c->left_out += count;
}

static void count_trace(struct counts *c, const struct spool_header *h)
{
	uint64_t written[SPOOL_WRITTEN_TYPES];

	rest_written(h, written);
	c->dispatches = written[REC_DISPATCH] + written[REC_DISPATCH_WIDE];
	c->copies = written[REC_COPY];
	c->calls = written[REC_API];
	for (unsigned int r = 0; r < SPOOL_NR_REASONS; r++)
		/* relaxed: independent counters */
		count_reason(c, r, atomic_load_explicit(&h->loss[r].count, memory_order_relaxed));
}

/* Of the open trace; else of the last one, and what was left out since. */
static void take_counts(void)
{
	const struct spool_header *h = host->trace();
	struct counts now = { 0 };

	job.is_open = h != NULL;
	if (h) {
		count_trace(&now, h);
		last_counts = now;
		memcpy(last_spool, h->disk_path, sizeof(last_spool));
		last_spool[sizeof(last_spool) - 1] = '\0';
	} else {
		now = last_counts;
		for (unsigned int r = 0; r < SPOOL_NR_REASONS; r++)
			count_reason(&now, r, bus_unheard((enum spool_reason)r));
	}
	job.counts = now;
	memcpy(job.spool, last_spool, sizeof(job.spool));
}

static bool opens(void)
{
	return job.command == CONTROL_START && life_is_idle() && !host->trace();
}

static bool closes(void)
{
	return job.command == CONTROL_STOP && life_is_idle() && host->trace();
}

/* Recording is held back: what is in flight now is all that is still to come. */
static void settle(void)
{
	const struct timespec step = { 0, SETTLE_STEP_NS };
	uint64_t until = clock_read_ns(CLOCK_MONOTONIC) + SETTLE_NS;

	while (host->is_busy() && life_on() && clock_read_ns(CLOCK_MONOTONIC) < until)
		sys_nap(&step);
}

static void open_or_close(void)
{
	if (opens()) {
		job.status = host->open(job.dir, job.output);
		take_counts();
		return;
	}
	settle();
	take_counts();
	job.status = host->close(job.spool, sizeof(job.spool));
	job.is_open = host->trace() != NULL;
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value,
		  const struct timespec *wait)
{
	syscall(SYS_futex, word, operation, value, wait, NULL, 0);
}

static void end_job(void)
{
	atomic_store_explicit(&job_state, JOB_DONE, memory_order_release);
	futex(&job_state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

static void *open_main(void *arg)
{
	prctl(PR_SET_NAME, "rtl-open");
	open_or_close();
	end_job();
	return arg;
}

static void run_job(void)
{
	uint32_t state = JOB_WANTED;

	/* acquire: the job's members */
	if (!atomic_compare_exchange_strong_explicit(&job_state, &state, JOB_RUNS,
						     memory_order_acquire, memory_order_relaxed))
		return;
	job.status = 0;
	if (opens() || closes()) {
		job.status = life_spawn(open_main);
		if (!job.status)
			return; /* the job is that thread's */
	} else if (job.command == CONTROL_STOP || job.command == CONTROL_FLUSH) {
		host->flush();
	}
	take_counts();
	end_job();
}

/* ---- requests, on the control thread --------------------------------------------------------- */

static bool is_ending(void)
{
	return !life_on();
}

/* 0: the job is done. -EBUSY: an earlier one still runs; -ETIMEDOUT: not begun, or not done in
 * time; -ESHUTDOWN. */
static int wait_for_job(void)
{
	const struct timespec step = { 0, STEP_NS };
	uint64_t start = clock_read_ns(CLOCK_MONOTONIC);

	for (;;) {
		uint32_t state = atomic_load_explicit(&job_state, memory_order_acquire);
		uint64_t waited = clock_read_ns(CLOCK_MONOTONIC) - start;
		bool is_over = is_ending();

		if (state == JOB_DONE)
			return 0;
		if (state == JOB_WANTED && (waited > BEGIN_NS || is_over)) {
			/* relaxed: if it has begun meanwhile, it is waited for */
			if (atomic_compare_exchange_strong_explicit(&job_state, &state, JOB_NONE,
								    memory_order_relaxed,
								    memory_order_relaxed))
				return is_over ? -ESHUTDOWN : -ETIMEDOUT;
			continue;
		}
		if (waited > END_NS)
			return -ETIMEDOUT;
		futex(&job_state, FUTEX_WAIT_PRIVATE, state, &step);
	}
}

static int have_done(const struct control_request *request)
{
	uint32_t state = atomic_load_explicit(&job_state, memory_order_acquire);

	if (state != JOB_NONE && state != JOB_DONE)
		return -EBUSY;
	job.command = (enum control_command)request->command;
	memcpy(job.dir, request->dir, sizeof(job.dir));
	memcpy(job.output, request->output, sizeof(job.output));
	/* seq_cst: before life_kick() reads whether the thread sleeps */
	atomic_store(&job_state, JOB_WANTED);
	life_kick();
	return wait_for_job();
}

static void say(struct control_reply *reply, const char *text)
{
	struct str s;

	str_init(&s, reply->text, sizeof(reply->text));
	str_add(&s, text);
}

static void describe_failure(struct control_reply *reply)
{
	char *message = strerror_r(-reply->status, (char[64]){ 0 }, 64);

	if (reply->status == -ESHUTDOWN)
		say(reply, "its trace has ended");
	else if (reply->status == -ETIMEDOUT)
		say(reply,
		    "the harvester of this process does not answer: it is stopped, or waits for the disk");
	else if (reply->status == -EBUSY)
		say(reply, "an earlier request is not done yet");
	else
		say(reply, message);
}

static void describe_process(struct control_reply *reply)
{
	char text[CONTROL_TEXT_SIZE];
	ssize_t n = fd_read_file("/proc/self/cmdline", text, sizeof(text));

	if (n > 0)
		message_text(reply->command, sizeof(reply->command), text, (size_t)n, 1);
	reply->pid = (uint32_t)getpid();
	reply->flags |= life_is_idle() ? CONTROL_F_IDLE : 0;
	reply->age_ns = clock_read_ns(CLOCK_MONOTONIC) - began_ns;
}

static uint32_t causes_now(void)
{
	static const struct {
		enum pause_cause from;
		enum control_cause to;
	} causes[] = { { PAUSE_PROGRAM, CONTROL_BY_PROGRAM },
		       { PAUSE_WINDOW, CONTROL_BY_WINDOW },
		       { PAUSE_RANGE, CONTROL_BY_RANGE },
		       { PAUSE_CONTROL, CONTROL_BY_STOP } };
	/* relaxed: for display alone */
	uint32_t now = atomic_load_explicit(&pause_causes, memory_order_relaxed), out = 0;

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		out |= now & (uint32_t)causes[i].from ? (uint32_t)causes[i].to : 0;
	return out;
}

static void describe_state(struct control_reply *reply)
{
	uint64_t since = pause_since_ns();

	reply->causes = causes_now();
	reply->state = is_ending()   ? CONTROL_ENDING :
		       !is_open	     ? CONTROL_IDLE :
		       pause_is_on() ? CONTROL_PAUSED :
				       CONTROL_RECORDING;
	reply->state_age_ns = clock_read_ns(CLOCK_MONOTONIC) - (since ? since : began_ns);
}

static void switch_recording(enum control_command command)
{
	if (command == CONTROL_START) {
		/* what the program has stopped, too: the user decides */
		pause_set(false);
		pause_hold(PAUSE_CONTROL, false);
	} else if (command == CONTROL_STOP) {
		pause_hold(PAUSE_CONTROL, true);
	}
}

static void carry_out(const struct control_request *request, struct control_reply *reply)
{
	int err;

	if (is_ending()) {
		reply->status = request->command == CONTROL_STATUS ? 0 : -ESHUTDOWN;
		return;
	}
	/* held back at once, also where the harvester is stuck; let on when the trace is open */
	if (request->command == CONTROL_STOP)
		switch_recording(CONTROL_STOP);
	err = have_done(request);
	if (!err) {
		reply->flags |= CONTROL_F_COUNTED;
		reply->dispatches = job.counts.dispatches;
		reply->copies = job.counts.copies;
		reply->calls = job.counts.calls;
		reply->left_out = job.counts.left_out;
		reply->losses = job.counts.losses;
		memcpy(reply->spool, job.spool, sizeof(reply->spool));
		if (!is_open && job.is_open)
			memcpy(last_output, request->output, sizeof(last_output));
		memcpy(reply->output, last_output, sizeof(reply->output));
		is_open = job.is_open;
		err = job.status;
		if (!err && request->command == CONTROL_START)
			switch_recording(CONTROL_START);
	}
	reply->status = request->command == CONTROL_STATUS && err == -ETIMEDOUT ? 0 : err;
}

void service_answer(const void *message, size_t size, struct control_reply *reply)
{
	struct control_request request;

	message_begin_reply(reply);
	reply->status = message_check(message, size, &request, reply->text);
	if (!reply->status) {
		carry_out(&request, reply);
		if (reply->status)
			describe_failure(reply);
	}
	describe_process(reply);
	describe_state(reply);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Makes the socket in that directory. */
static int open_in(struct server *s, const char *dir, const char *name)
{
	int fd = sockdir_open(dir, s->uid, true), err;
	struct str text;

	if (fd == -EPERM)
		memcpy(refused_dir, dir, sizeof(refused_dir));
	if (fd < 0)
		return fd;
	err = server_open(s, fd, dir, name);
	sys_close(fd);
	if (err)
		return err;
	str_init(&text, path, sizeof(path));
	str_add(&text, dir);
	str_add(&text, "/");
	str_add(&text, name);
	return 0;
}

static int open_socket(struct server *s)
{
	static const unsigned int order[] = { SOCKDIR_RUNTIME, SOCKDIR_TMP };
	char dir[SOCKDIR_SIZE], name[SOCKDIR_NAME_SIZE];
	int err = -ENOENT;

	sockdir_name(name, (uint32_t)getpid(), sockdir_namespace());
	for (size_t i = 0; err && i < ARRAY_SIZE(order); i++)
		if (sockdir_path(s->uid, runtime_dir, order[i], dir) && *dir)
			err = open_in(s, dir, name);
	return err;
}

static void *control_main(void *arg)
{
	struct server s = { .fd = -1, .uid = geteuid(), .answer = service_answer };
	uint32_t none = PATH_NONE;
	int err;

	prctl(PR_SET_NAME, "rtl-control");
	thread_get()->is_ours = true;
	RTL_TESTPOINT("control_starting");
	err = own_table_take(false);
	if (!err)
		err = open_socket(&s);
	if (err) {
		atomic_store_explicit(&failed_with, err, memory_order_release);
		atomic_store_explicit(&is_settled, true, memory_order_release);
		return arg;
	}
	/* acq_rel: pairs with leave(), which removes the socket if it finds it; else this thread
	 * does */
	if (!atomic_compare_exchange_strong_explicit(&path_state, &none, PATH_MADE,
						     memory_order_acq_rel, memory_order_acquire))
		unlink(path);
	/* what follows are the calls that docs/troubleshooting.md lists */
	atomic_store_explicit(&is_settled, true, memory_order_release);
	while (server_step(&s, -1) == 0)
		;
	server_close(&s);
	return arg;
}

static void log_failure(void)
{
	/* acquire: refused_dir */
	int err = atomic_load_explicit(&failed_with, memory_order_acquire);

	if (err == logged)
		return;
	logged = err;
	if (*refused_dir)
		log_warn(
			"%s: it is another user's, or others have access to it: rtl ps, start and stop do not reach this "
			"process; remove it, or set XDG_RUNTIME_DIR",
			refused_dir);
	else
		log_info("no socket: %s; rtl ps, start and stop do not reach this process",
			 strerror(-err));
}

static void begin(void)
{
	bool is_wanted = env_bool(ENV_CONTROL) && (life_is_idle() || host->trace());

	if (is_wanted && life_spawn(control_main) == 0)
		return;
	atomic_store_explicit(&is_settled, true, memory_order_relaxed);
	if (is_wanted)
		log_info(
			"no thread for the socket; rtl ps, start and stop do not reach this process");
}

static bool is_ready(void)
{
	/* acquire: pairs with control_main() */
	return atomic_load_explicit(&is_settled, memory_order_acquire);
}

static uint64_t tick(uint64_t now_ns)
{
	(void)now_ns;
	log_failure();
	run_job();
	return LIFE_IDLE;
}

static void leave(void)
{
	/* acq_rel: see control_main() */
	if (atomic_exchange_explicit(&path_state, PATH_ENDED, memory_order_acq_rel) == PATH_MADE)
		unlink(path);
}

const struct source service_source = {
	.name = "control",
	.begin = begin,
	.is_ready = is_ready,
	.tick = tick,
	.leave = leave,
};
