/* SPDX-License-Identifier: MIT */
/* collectives.cpp - all-reduces of RCCL between GPUs, each with a kernel before it; one rank may be
 * late
 *
 * Arguments: GPUS ROUNDS LOG [late=RANK by=host|copy|kernel|graph] [id=FILE rank=RANK]
 *	late, by   that rank comes late to each round but the first: its host sleeps, it copies
 *		   before, its kernel takes longer, or its host sleeps before it launches the graph
 *		   that the kernel is in on all ranks
 *	id, rank   the process of one rank: rank 0 writes the communicator's identity to FILE; else
 *		   all ranks are threads of this process
 * Writes a line to LOG for each all-reduce of each rank: "RANK NUMBER BYTES". The sums are checked.
 */
#include <hip/hip_runtime.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

typedef struct ncclComm *comm_t;
struct unique_id {
	char bytes[128];
};
extern "C" {
int ncclGetUniqueId(unique_id *id);
int ncclCommInitAll(comm_t *comms, int nr, const int *devices);
int ncclCommInitRank(comm_t *comm, int nr, unique_id id, int rank);
int ncclCommDestroy(comm_t comm);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, comm_t comm,
		  hipStream_t stream);
}

#define OK(call)                                                                                   \
	do {                                                                                       \
		int status_ = (int)(call);                                                         \
		if (status_) {                                                                     \
			fprintf(stderr, "%s: %d\n", #call, status_);                               \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* While its ranks meet, RCCL asks its sockets again and again without waiting, in a thread for each
 * rank, which costs two processors most of the run's time. Asked by it, these functions wait for up
 * to a millisecond where there is nothing. */
static long asked(int fd, std::function<long()> ask)
{
	struct pollfd wanted = { fd, POLLIN, 0 };
	long ret = ask();

	if (ret >= 0 || errno != EAGAIN)
		return ret;
	poll(&wanted, 1, 1);
	return ask();
}

extern "C" __attribute__((visibility("default"))) ssize_t recv(int fd, void *to, size_t size,
							       int flags)
{
	return asked(fd, [=] {
		return syscall(SYS_recvfrom, fd, to, size, flags, (void *)nullptr, (void *)nullptr);
	});
}

extern "C" __attribute__((visibility("default"))) int accept(int fd, struct sockaddr *from,
							     socklen_t *size)
{
	return (int)asked(fd, [=] { return syscall(SYS_accept4, fd, from, size, 0); });
}

enum { FLOAT = 7, SUM = 0, COUNT = 1024, COPY_BYTES = 64 << 20, LONG = 300000 };

struct rank_state {
	int rank, gpu;
	comm_t comm = nullptr;
	hipStream_t stream = nullptr;
	float *in = nullptr, *out = nullptr;
	char *big = nullptr, *host = nullptr;
	hipGraphExec_t graph = nullptr; /* the round's kernel */
};

/* Writes the value; the first work-group does so `times` times. */
__global__ void work(volatile float *in, float value, int times)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	for (int n = 0; n < (blockIdx.x ? 1 : times); n++)
		in[i] = value;
}

static int number(const char *text)
{
	return (int)strtol(text, nullptr, 10);
}

static const char *option(int argc, char **argv, const char *name)
{
	size_t n = strlen(name);

	for (int i = 4; i < argc; i++)
		if (strncmp(argv[i], name, n) == 0 && argv[i][n] == '=')
			return argv[i] + n + 1;
	return nullptr;
}

static void exchange(const char *path, int rank, unique_id *id)
{
	std::string fresh = std::string(path) + ".new";

	if (rank == 0) {
		OK(ncclGetUniqueId(id));
		FILE *file = fopen(fresh.c_str(), "wb");
		OK(!file || fwrite(id, sizeof(*id), 1, file) != 1 || fclose(file));
		OK(rename(fresh.c_str(), path));
		return;
	}
	for (;; usleep(10000)) {
		FILE *file = fopen(path, "rb");

		if (!file)
			continue;
		OK(fread(id, sizeof(*id), 1, file) != 1);
		fclose(file);
		return;
	}
}

static void launch(const rank_state &r, int times)
{
	work<<<COUNT / 64, 64, 0, r.stream>>>(r.in, (float)(r.rank + 1), times);
	OK(hipGetLastError());
}

static void prepare(rank_state &r, bool in_graph)
{
	hipGraph_t graph;

	OK(hipSetDevice(r.gpu));
	OK(hipStreamCreate(&r.stream));
	OK(hipMalloc((void **)&r.in, COUNT * sizeof(float)));
	OK(hipMalloc((void **)&r.out, COUNT * sizeof(float)));
	OK(hipMalloc((void **)&r.big, COPY_BYTES));
	OK(hipHostMalloc((void **)&r.host, COPY_BYTES, 0));
	if (!in_graph)
		return;
	OK(hipStreamBeginCapture(r.stream, hipStreamCaptureModeThreadLocal));
	launch(r, 1);
	OK(hipStreamEndCapture(r.stream, &graph));
	OK(hipGraphInstantiate(&r.graph, graph, nullptr, nullptr, 0));
	OK(hipGraphDestroy(graph));
}

static void begin_round(const rank_state &r, bool is_late, const std::string &by)
{
	if (is_late && (by == "host" || by == "graph"))
		usleep(50000);
	if (is_late && by == "copy")
		OK(hipMemcpyAsync(r.big, r.host, COPY_BYTES, hipMemcpyHostToDevice, r.stream));
	if (r.graph)
		OK(hipGraphLaunch(r.graph, r.stream));
	else
		launch(r, is_late && by == "kernel" ? LONG : 1);
}

static void check(const rank_state &r, int gpus)
{
	std::vector<float> got(COUNT);

	OK(hipMemcpyAsync(got.data(), r.out, COUNT * sizeof(float), hipMemcpyDeviceToHost,
			  r.stream));
	OK(hipStreamSynchronize(r.stream));
	for (float x : got)
		if (x != (float)(gpus * (gpus + 1) / 2)) {
			fprintf(stderr, "rank %d: %f\n", r.rank, (double)x);
			exit(1);
		}
}

struct plan {
	int gpus, rounds, late;
	std::string by;
	FILE *log;
};

static void work_of(rank_state r, const plan &p)
{
	prepare(r, p.by == "graph");
	for (int n = 0; n < p.rounds; n++) {
		begin_round(r, r.rank == p.late && n > 0, p.by);
		OK(ncclAllReduce(r.in, r.out, COUNT, FLOAT, SUM, r.comm, r.stream));
		fprintf(p.log, "%d %d %zu\n", r.rank, n, COUNT * sizeof(float));
		check(r, p.gpus);
	}
}

int main(int argc, char **argv)
{
	const char *late = option(argc, argv, "late"), *by = option(argc, argv, "by");
	const char *file = option(argc, argv, "id"), *own = option(argc, argv, "rank");
	const plan p = { number(argv[1]), number(argv[2]), late ? number(late) : -1, by ? by : "",
			 fopen(argv[3], "a") };
	std::vector<rank_state> ranks;
	std::vector<std::thread> threads;

	OK(!p.log);
	if (file) {
		unique_id id;

		ranks.push_back({ number(own), number(own) });
		exchange(file, ranks[0].rank, &id);
		OK(hipSetDevice(ranks[0].gpu));
		OK(ncclCommInitRank(&ranks[0].comm, p.gpus, id, ranks[0].rank));
	} else {
		std::vector<comm_t> comms((size_t)p.gpus);

		OK(ncclCommInitAll(comms.data(), p.gpus, nullptr));
		for (int i = 0; i < p.gpus; i++)
			ranks.push_back({ i, i, comms[(size_t)i] });
	}
	for (const rank_state &r : ranks)
		threads.emplace_back(work_of, r, std::cref(p));
	for (std::thread &t : threads)
		t.join();
	for (const rank_state &r : ranks)
		OK(ncclCommDestroy(r.comm));
	OK(fclose(p.log));
	puts("done");
	return 0;
}
