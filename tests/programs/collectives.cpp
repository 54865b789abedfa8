/* SPDX-License-Identifier: MIT */
/* collectives.cpp - all-reduces of RCCL between GPUs, each with a kernel before it; one rank may be
 * late
 *
 * Arguments: GPUS ROUNDS LOG [late=RANK by=host|copy] [id=FILE rank=RANK]
 *	late, by   that rank comes late to each round but the first: its host sleeps, or it copies
 *		   before
 *	id, rank   the process of one rank: rank 0 writes the communicator's identity to FILE; else
 *		   all ranks are in this process
 * Writes a line to LOG for each all-reduce of each rank: "RANK NUMBER BYTES". The sums are checked.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <unistd.h>
#include <vector>

typedef struct ncclComm *comm_t;
struct unique_id {
	char bytes[128];
};
extern "C" {
int ncclGetUniqueId(unique_id *id);
int ncclGroupStart(void);
int ncclGroupEnd(void);
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

enum { FLOAT = 7, SUM = 0, COUNT = 1024, COPY_BYTES = 64 << 20 };

struct rank_state {
	int rank, gpu;
	comm_t comm;
	hipStream_t stream;
	float *in, *out;
	char *big, *host;
};

__global__ void work(float *in, float value)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < COUNT)
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

static void prepare(rank_state &r)
{
	OK(hipSetDevice(r.gpu));
	OK(hipStreamCreate(&r.stream));
	OK(hipMalloc((void **)&r.in, COUNT * sizeof(float)));
	OK(hipMalloc((void **)&r.out, COUNT * sizeof(float)));
	OK(hipMalloc((void **)&r.big, COPY_BYTES));
	OK(hipHostMalloc((void **)&r.host, COPY_BYTES, 0));
}

static void begin_round(rank_state &r, bool is_late, const char *by)
{
	OK(hipSetDevice(r.gpu));
	if (is_late && strcmp(by, "host") == 0)
		usleep(100000);
	if (is_late && strcmp(by, "copy") == 0)
		OK(hipMemcpyAsync(r.big, r.host, COPY_BYTES, hipMemcpyHostToDevice, r.stream));
	work<<<COUNT / 64, 64, 0, r.stream>>>(r.in, (float)(r.rank + 1));
	OK(hipGetLastError());
}

static void check(rank_state &r, int gpus)
{
	std::vector<float> got(COUNT);

	OK(hipSetDevice(r.gpu));
	OK(hipMemcpyAsync(got.data(), r.out, COUNT * sizeof(float), hipMemcpyDeviceToHost,
			  r.stream));
	OK(hipStreamSynchronize(r.stream));
	for (float x : got)
		if (x != (float)(gpus * (gpus + 1) / 2)) {
			fprintf(stderr, "rank %d: %f\n", r.rank, (double)x);
			exit(1);
		}
}

int main(int argc, char **argv)
{
	int gpus = number(argv[1]), rounds = number(argv[2]);
	const char *late = option(argc, argv, "late"), *by = option(argc, argv, "by");
	const char *file = option(argc, argv, "id"), *own = option(argc, argv, "rank");
	int late_rank = late ? number(late) : -1;
	std::vector<rank_state> ranks;
	FILE *log = fopen(argv[3], "a");

	OK(!log);
	if (file) {
		unique_id id;

		exchange(file, number(own), &id);
		ranks.push_back({ number(own), number(own), nullptr, nullptr, nullptr, nullptr,
				  nullptr, nullptr });
		OK(hipSetDevice(ranks[0].gpu));
		OK(ncclCommInitRank(&ranks[0].comm, gpus, id, ranks[0].rank));
	} else {
		std::vector<comm_t> comms((size_t)gpus);

		OK(ncclCommInitAll(comms.data(), gpus, nullptr));
		for (int i = 0; i < gpus; i++)
			ranks.push_back({ i, i, comms[(size_t)i], nullptr, nullptr, nullptr,
					  nullptr, nullptr });
	}
	for (rank_state &r : ranks)
		prepare(r);
	for (int n = 0; n < rounds; n++) {
		for (rank_state &r : ranks)
			begin_round(r, r.rank == late_rank && n > 0, by);
		OK(ncclGroupStart());
		for (rank_state &r : ranks) {
			OK(ncclAllReduce(r.in, r.out, COUNT, FLOAT, SUM, r.comm, r.stream));
			fprintf(log, "%d %d %zu\n", r.rank, n, COUNT * sizeof(float));
		}
		OK(ncclGroupEnd());
		for (rank_state &r : ranks)
			check(r, gpus);
	}
	for (rank_state &r : ranks)
		OK(ncclCommDestroy(r.comm));
	OK(fclose(log));
	puts("done");
	return 0;
}
