/* SPDX-License-Identifier: MIT */
/* frames.cpp - sharpens the frames of a film: the program of the tutorial, which has a problem, and
 * the same one mended
 *
 *	frames [frames]			each frame gets memory of its own, is copied from pageable
 *					memory and waited for
 *	frames [frames] mended		memory is allocated once, in pinned memory, and three
 *					streams take turns
 *
 * docs/tutorial.md finds the problem and mends it. Both ways have to give what the host computes.
 */
#include "check.h"

#include <cstring>
#include <vector>

constexpr int WIDTH = 256, HEIGHT = 64, PIXELS = WIDTH * HEIGHT, STREAMS = 3;
constexpr size_t BYTES = PIXELS * sizeof(int);

__host__ __device__ static int pixel(const int *in, int x, int y)
{
	x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
	y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
	return in[y * WIDTH + x];
}

__host__ __device__ static int sharp(const int *in, int x, int y)
{
	return 5 * pixel(in, x, y) - pixel(in, x - 1, y) - pixel(in, x + 1, y) -
	       pixel(in, x, y - 1) - pixel(in, x, y + 1);
}

__global__ void sharpen(const int *in, int *out)
{
	out[blockIdx.x * WIDTH + threadIdx.x] = sharp(in, (int)threadIdx.x, (int)blockIdx.x);
}

static void paint(int *frame, int number)
{
	for (int i = 0; i < PIXELS; i++)
		frame[i] = (i * 7 + number * 13) % 256;
}

static long differences(const int *out, int number)
{
	std::vector<int> in(PIXELS);
	long wrong = 0;

	paint(in.data(), number);
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			wrong += out[y * WIDTH + x] != sharp(in.data(), x, y);
	return wrong;
}

static long one_after_the_other(int frames)
{
	std::vector<int> in(PIXELS), out(PIXELS);
	long wrong = 0;

	for (int number = 0; number < frames; number++) {
		Range range("frame");
		int *from, *to;

		paint(in.data(), number);
		HIP(hipMalloc(&from, BYTES));
		HIP(hipMalloc(&to, BYTES));
		HIP(hipMemcpy(from, in.data(), BYTES, hipMemcpyHostToDevice));
		sharpen<<<HEIGHT, WIDTH>>>(from, to);
		HIP(hipFree(from));
		HIP(hipMemcpy(out.data(), to, BYTES, hipMemcpyDeviceToHost));
		HIP(hipFree(to));
		wrong += number % 16 ? 0 : differences(out.data(), number);
	}
	return wrong;
}

struct Lane {
	hipStream_t stream;
	int *in, *out, *from, *to;
	int number = -1; /* the frame that it works on */

	Lane()
	{
		HIP(hipStreamCreate(&stream));
		HIP(hipHostMalloc(&in, BYTES, 0));
		HIP(hipHostMalloc(&out, BYTES, 0));
		HIP(hipMalloc(&from, BYTES));
		HIP(hipMalloc(&to, BYTES));
	}
	~Lane()
	{
		HIP(hipFree(to));
		HIP(hipFree(from));
		HIP(hipHostFree(out));
		HIP(hipHostFree(in));
		HIP(hipStreamDestroy(stream));
	}
	Lane(const Lane &) = delete;
	Lane &operator=(const Lane &) = delete;

	long finish()
	{
		if (number < 0)
			return 0;
		HIP(hipStreamSynchronize(stream));
		return number % 16 ? 0 : differences(out, number);
	}
	void begin(int next)
	{
		Range range("frame");

		paint(in, number = next);
		HIP(hipMemcpyAsync(from, in, BYTES, hipMemcpyHostToDevice, stream));
		sharpen<<<HEIGHT, WIDTH, 0, stream>>>(from, to);
		HIP(hipMemcpyAsync(out, to, BYTES, hipMemcpyDeviceToHost, stream));
	}
};

static long in_turns(int frames)
{
	Lane lanes[STREAMS];
	long wrong = 0;

	for (int number = 0; number < frames; number++) {
		wrong += lanes[number % STREAMS].finish();
		lanes[number % STREAMS].begin(number);
	}
	for (Lane &lane : lanes)
		wrong += lane.finish();
	return wrong;
}

int main(int argc, char **argv)
{
	int frames = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 48;
	bool mended = argc > 2 && strcmp(argv[2], "mended") == 0;

	return on_every_gpu("frames", [=] {
		return mended ? in_turns(frames) : one_after_the_other(frames);
	});
}
