/* SPDX-License-Identifier: MIT */
/* rocrand.cpp - Philox against its published known answers, and the host's generators against their
 * distributions
 *
 * The known answers are those of Random123's kat_vectors for philox4x32-10.
 */
#include "common.hpp"

#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>

#include <algorithm>

__global__ void philox(uint32_t *out, unsigned long long seed, unsigned long long subsequence,
		       unsigned long long offset)
{
	rocrand_state_philox4x32_10 state;

	rocrand_init(seed, subsequence, offset, &state);
	uint4 four = rocrand4(&state);
	out[0] = four.x;
	out[1] = four.y;
	out[2] = four.z;
	out[3] = four.w;
}

static void known(const char *what, unsigned long long seed, unsigned long long subsequence,
		  unsigned long long offset, const uint32_t want[4])
{
	Device<uint32_t> out(4);

	philox<<<1, 1>>>(out.p, seed, subsequence, offset);
	OK(hipGetLastError());
	std::vector<uint32_t> got = out.host();
	result(what, std::equal(got.begin(), got.end(), want) ? 0 : 1, 0);
}

/* Philox4x32-10 as it is published; the counter's low half is the offset, its high half the
 * subsequence. */
static void philox_on_cpu(uint64_t seed, uint64_t subsequence, uint64_t block, uint32_t out[4])
{
	uint32_t c[4] = { (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)subsequence,
			  (uint32_t)(subsequence >> 32) };
	uint32_t k[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };

	for (int round = 0; round < 10; round++) {
		uint64_t a = (uint64_t)0xd2511f53 * c[0], b = (uint64_t)0xcd9e8d57 * c[2];
		uint32_t next[4] = { (uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
				     (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a };

		std::copy(next, next + 4, c);
		k[0] += 0x9e3779b9;
		k[1] += 0xbb67ae85;
	}
	std::copy(c, c + 4, out);
}

static void uniform(rocrand_rng_type type, const char *what)
{
	rocrand_generator g;
	Device<float> d(20000);
	double sum = 0, squares = 0;

	OK(rocrand_create_generator(&g, type));
	/* a quasi-random sequence has no seed */
	if (type < ROCRAND_RNG_QUASI_DEFAULT)
		OK(rocrand_set_seed(g, 12345));
	OK(rocrand_generate_uniform(g, d.p, d.n));
	for (float x : d.host()) {
		if (!(x > 0 && x <= 1))
			result(what, x, 0);
		sum += x;
		squares += (double)x * x;
	}
	OK(rocrand_destroy_generator(g));
	/* four standard errors of the mean, and of the mean of the squares */
	result(what, std::fabs(sum / (double)d.n - 0.5), 4 * 0.2887 / std::sqrt((double)d.n));
	result(what, std::fabs(squares / (double)d.n - 1.0 / 3),
	       4 * 0.2981 / std::sqrt((double)d.n));
}

static void normal()
{
	rocrand_generator g;
	Device<double> d(20000);
	double sum = 0, squares = 0;

	OK(rocrand_create_generator(&g, ROCRAND_RNG_PSEUDO_PHILOX4_32_10));
	OK(rocrand_generate_normal_double(g, d.p, d.n, 0, 1));
	for (double x : d.host()) {
		sum += x;
		squares += x * x;
	}
	OK(rocrand_destroy_generator(g));
	result("normal, mean", std::fabs(sum / (double)d.n), 4 / std::sqrt((double)d.n));
	result("normal, variance", std::fabs(squares / (double)d.n - 1),
	       4 * 1.415 / std::sqrt((double)d.n));
}

int main()
{
	static const uint32_t zero[4] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 };
	uint32_t other[4];

	known("philox, zero", 0, 0, 0, zero);
	philox_on_cpu(0, 0, 0, other);
	result("philox on the CPU, zero", std::equal(other, other + 4, zero) ? 0 : 1, 0);
	philox_on_cpu(0x243f6a8885a308d3, 0x13198a2e03707344, 25, other);
	known("philox, offset 100", 0x243f6a8885a308d3, 0x13198a2e03707344, 100, other);
	uniform(ROCRAND_RNG_PSEUDO_XORWOW, "xorwow");
	uniform(ROCRAND_RNG_PSEUDO_MRG32K3A, "mrg32k3a");
	uniform(ROCRAND_RNG_PSEUDO_MTGP32, "mtgp32");
	uniform(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, "philox");
	uniform(ROCRAND_RNG_QUASI_SOBOL32, "sobol32");
	normal();
	return ended();
}
