/* SPDX-License-Identifier: MIT */
/* rccl.cpp - collectives of RCCL between all GPUs: in one process, or with a process per GPU
 *
 * Usage: rccl GPUS [FILE RANK]
 * With FILE and RANK it is the process of one rank; rank 0 writes the communicator's identity to
 * FILE, the others read it. The sums are of whole numbers, so that every order of adding gives the
 * same.
 */
#include "common.hpp"

#include <rccl/rccl.h>

#include <cstring>
#include <string>
#include <unistd.h>

static const size_t COUNT = 3000;

static float element(int rank, size_t i)
{
	return (float)((i * 7 + (size_t)rank * 13) % 101);
}

struct Rank {
	int rank, gpu;
	ncclComm_t comm;
	hipStream_t stream;
	float *in, *out;
};

static void prepare(Rank &r)
{
	std::vector<float> v(COUNT);

	for (size_t i = 0; i < COUNT; i++)
		v[i] = element(r.rank, i);
	OK(hipSetDevice(r.gpu));
	OK(hipStreamCreate(&r.stream));
	OK(hipMalloc((void **)&r.in, COUNT * sizeof(float)));
	OK(hipMalloc((void **)&r.out, COUNT * sizeof(float)));
	OK(hipMemcpy(r.in, v.data(), COUNT * sizeof(float), hipMemcpyHostToDevice));
}

/* Every rank of this process calls; then each result is compared. */
template <typename Call, typename Want>
static void collective(const char *what, std::vector<Rank> &ranks, Call call, Want want)
{
	OK(ncclGroupStart());
	for (Rank &r : ranks)
		OK(call(r));
	OK(ncclGroupEnd());
	for (Rank &r : ranks) {
		std::vector<float> got(COUNT);
		double worst = 0;

		OK(hipSetDevice(r.gpu));
		OK(hipStreamSynchronize(r.stream));
		OK(hipMemcpy(got.data(), r.out, COUNT * sizeof(float), hipMemcpyDeviceToHost));
		for (size_t i = 0; i < COUNT; i++)
			worst = std::fmax(worst, std::fabs(got[i] - want(i)));
		result((std::string(what) + " on rank " + std::to_string(r.rank)).c_str(), worst,
		       0);
	}
}

static void exchange_identity(const char *file, int rank, ncclUniqueId *id)
{
	std::string complete = std::string(file) + ".new";

	if (rank == 0) {
		OK(ncclGetUniqueId(id));
		FILE *f = std::fopen(complete.c_str(), "wb");
		OK(!f || std::fwrite(id, sizeof(*id), 1, f) != 1 || std::fclose(f));
		OK(std::rename(complete.c_str(), file));
		return;
	}
	for (;; usleep(10000)) {
		FILE *f = std::fopen(file, "rb");

		if (!f)
			continue;
		OK(std::fread(id, sizeof(*id), 1, f) != 1);
		std::fclose(f);
		return;
	}
}

int main(int argc, char **argv)
{
	int gpus = argc > 1 ? (int)std::strtol(argv[1], nullptr, 10) : 2;
	std::vector<Rank> ranks;

	if (argc > 3) {
		int rank = (int)std::strtol(argv[3], nullptr, 10);
		ncclUniqueId id;

		exchange_identity(argv[2], rank, &id);
		ranks.push_back({ rank, rank, nullptr, nullptr, nullptr, nullptr });
		OK(hipSetDevice(rank));
		OK(ncclCommInitRank(&ranks[0].comm, gpus, id, rank));
	} else {
		std::vector<ncclComm_t> comms((size_t)gpus);

		OK(ncclCommInitAll(comms.data(), gpus, nullptr));
		for (int i = 0; i < gpus; i++)
			ranks.push_back({ i, i, comms[(size_t)i], nullptr, nullptr, nullptr });
	}
	for (Rank &r : ranks)
		prepare(r);
	collective(
		"all-reduce", ranks,
		[](Rank &r) {
			return ncclAllReduce(r.in, r.out, COUNT, ncclFloat, ncclSum, r.comm,
					     r.stream);
		},
		[&](size_t i) {
			float sum = 0;

			for (int k = 0; k < gpus; k++)
				sum += element(k, i);
			return sum;
		});
	collective(
		"broadcast", ranks,
		[](Rank &r) {
			return ncclBroadcast(r.in, r.out, COUNT, ncclFloat, 1, r.comm, r.stream);
		},
		[](size_t i) { return element(1, i); });
	for (Rank &r : ranks)
		OK(ncclCommDestroy(r.comm));
	return ended();
}
