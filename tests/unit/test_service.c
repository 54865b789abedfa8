/* SPDX-License-Identifier: MIT */
/* test_service.c - requests to a process while its threads launch */
#include "control/service.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/testpoint.h"
#include "control/protocol.h"
#include "event/pause.h"
#include "source/hsa/completion/harvest.h"
#include "spool/format.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

#define NR_THREADS 8u
#define NR_ROUNDS 1000
#define MOST (FAKE_LOG_SIZE - 8) /* dispatches of a thread */

static struct spool_header header;
static char socket_path[300];

static const struct spool_header *trace(void)
{
	return &header;
}

static const struct service_host host = { .flush = harvest_flush, .trace = trace };

static bool find_socket(void)
{
	const char *dir = test_tmpfile("rtl");
	DIR *d = opendir(dir);
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		if (*e->d_name != '.' && !strstr(e->d_name, ".new")) {
			snprintf(socket_path, sizeof(socket_path), "%s/%.40s", dir, e->d_name);
			found = true;
		}
	if (d)
		closedir(d);
	return found;
}

static void begin(void)
{
	setenv("XDG_RUNTIME_DIR", test_tmpdir(), 1);
	CHECK_OK(chmod(test_tmpdir(), 0700));
	unsetenv("RTL_SESSION");
	sink_record.pauses = true;
	fake_source = &service_source;
	service_init(&host);
	fake_open_live(NULL, 0);
	while (!find_socket())
		usleep(1000);
}

static struct control_reply ask(enum control_command command)
{
	const struct control_request r = { .magic = CONTROL_MAGIC,
					   .version = CONTROL_VERSION,
					   .size = sizeof(r),
					   .command = command };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct control_reply reply;

	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", socket_path);
	CHECK_OK(connect(fd, (const struct sockaddr *)&address, sizeof(address)));
	CHECK_EQ_INT(send(fd, &r, sizeof(r), MSG_NOSIGNAL), sizeof(r));
	CHECK_EQ_INT(recv(fd, &reply, sizeof(reply), 0), sizeof(reply));
	close(fd);
	return reply;
}

struct launcher {
	pthread_t thread;
	struct fake_gpu gpu;
	uint32_t nr;
};

static _Atomic bool over;

static void *launch(void *arg)
{
	struct launcher *l = arg;

	while (!atomic_load(&over)) {
		if (l->nr < MOST)
			fake_submit_dispatch(l->gpu.q, l->nr++);
		if (l->nr % 16 == 0)
			usleep(1);
	}
	return NULL;
}

TEST(starts_and_stops_while_threads_launch_lose_nothing)
{
	static struct launcher all[NR_THREADS];
	uint64_t submitted = 0;

	begin();
	for (unsigned i = 0; i < NR_THREADS; i++) {
		all[i].gpu.q = fake_queue_create(256);
		fake_gpu_start(&all[i].gpu);
		CHECK_OK(pthread_create(&all[i].thread, NULL, launch, &all[i]));
	}
	for (int i = 0; i < NR_ROUNDS; i++) {
		struct control_reply reply = ask(CONTROL_STOP);

		CHECK_EQ_INT(reply.status, 0);
		CHECK_EQ_INT(reply.state, CONTROL_PAUSED);
		CHECK_EQ_UINT(reply.causes, CONTROL_BY_STOP);
		reply = ask(CONTROL_START);
		CHECK_EQ_INT(reply.status, 0);
		CHECK_EQ_INT(reply.state, CONTROL_RECORDING);
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < NR_THREADS; i++) {
		CHECK_OK(pthread_join(all[i].thread, NULL));
		fake_gpu_stop(&all[i].gpu);
		submitted += all[i].nr;
	}
	life_stop();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH) + sink_record_loss(SPOOL_REASON_paused),
		      submitted);
	CHECK_EQ_UINT(sink_record_losses(), sink_record_loss(SPOOL_REASON_paused));
	CHECK_GT_UINT(sink_record_count(EVENT_DISPATCH), 0);
	CHECK_GT_UINT(sink_record_loss(SPOOL_REASON_paused), 0);
	CHECK(!find_socket());
}

TEST(status_counts_records_and_losses)
{
	struct control_reply reply;

	atomic_store(&header.loss[SPOOL_REASON_paused].count, 3);
	atomic_store(&header.loss[SPOOL_REASON_disk_full].count, 5);
	atomic_store(&header.loss[SPOOL_REASON_inverted].count, 7);
	snprintf(header.disk_path, sizeof(header.disk_path), "/x/y.rtl");
	begin();
	reply = ask(CONTROL_STATUS);
	CHECK_EQ_UINT(reply.flags, CONTROL_F_COUNTED);
	CHECK_EQ_UINT(reply.pid, (unsigned)getpid());
	CHECK_EQ_UINT(reply.left_out, 3);
	CHECK_EQ_UINT(reply.losses, 5);
	CHECK_STR_EQ(reply.spool, "/x/y.rtl");
	CHECK_STR_HAS(reply.command, "test_service");
}

TEST(stopped_harvester_leaves_stop_effective)
{
#ifdef RTL_DEBUG_CHECKS
	struct control_reply reply;

	begin();
	testpoint_set("harvest", 4000);
	usleep(200000);
	reply = ask(CONTROL_STOP);
	CHECK_EQ_INT(reply.status, -ETIMEDOUT);
	CHECK_STR_HAS(reply.text, "harvester");
	CHECK(pause_is_on());
	reply = ask(CONTROL_STATUS);
	CHECK_EQ_INT(reply.status, 0);
	CHECK_EQ_INT(reply.state, CONTROL_PAUSED);
	testpoint_set(NULL, 0);
	while (ask(CONTROL_STATUS).flags != CONTROL_F_COUNTED)
		usleep(10000);
#else
	SKIP("no testpoints in this build");
#endif
}
