/* SPDX-License-Identifier: MIT */
/* mi300.cpp - runs the kernels of tests/platform/mi300.hip from a code object, and checks them
 *
 *     mi300 CODE-OBJECT
 *
 * The compiler of this machine does not know the architecture, so that the program has no kernels
 * of its own. It prints a line for each kernel, and the die of each workgroup.
 */
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t e_ = (call);                                                            \
		if (e_ != hipSuccess) {                                                            \
			printf("%s: %s\n", #call, hipGetErrorString(e_));                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static hipModule_t module;
static int failures;

template <class T> static T *on_gpu(const std::vector<T> &v)
{
	void *p;

	HIP(hipMalloc(&p, v.size() * sizeof(T)));
	HIP(hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice));
	return (T *)p;
}

template <class T> static std::vector<T> from_gpu(T *p, size_t nr)
{
	std::vector<T> v(nr);

	HIP(hipMemcpy(v.data(), p, nr * sizeof(T), hipMemcpyDeviceToHost));
	HIP(hipFree(p));
	return v;
}

/* Workgroups of one wave. */
static void launch(const char *name, unsigned int groups, std::vector<void *> pointers)
{
	hipFunction_t function;
	std::vector<void *> args;

	for (void *&p : pointers)
		args.push_back(&p);
	HIP(hipModuleGetFunction(&function, module, name));
	HIP(hipModuleLaunchKernel(function, groups, 1, 1, 64, 1, 1, 0, nullptr, args.data(),
				  nullptr));
}

static void report(const char *name, bool right)
{
	printf("%s %s\n", name, right ? "right" : "wrong");
	failures += !right;
}

static void add()
{
	std::vector<float> a(640), b(640);
	bool right = true;

	for (int n = 0; n < 640; n++) {
		a[n] = n * 0.5f;
		b[n] = 1000.0f - n;
	}
	float *ga = on_gpu(a), *gb = on_gpu(b), *gc = on_gpu(a);
	launch("add", 10, { ga, gb, gc });
	std::vector<float> c = from_gpu(gc, 640);
	for (int n = 0; n < 640; n++)
		right &= c[n] == 1000.0f - n * 0.5f;
	report("add", right);
}

/* a: rows x k, b: k x columns, of small whole numbers, which every type has. */
template <class T> static void product(const char *name, unsigned int groups, int size, int k)
{
	std::vector<T> a(size * k), b(k * size);
	bool right = true;

	for (int n = 0; n < size * k; n++) {
		a[n] = (T)(float)(n % 7 - 3);
		b[n] = (T)(float)(n % 5 - 2);
	}
	T *ga = on_gpu(a), *gb = on_gpu(b);
	float *gc = on_gpu(std::vector<float>(size * size));
	launch(name, groups, { ga, gb, gc });
	std::vector<float> c = from_gpu(gc, size * size);
	for (int row = 0; row < size; row++) {
		for (int column = 0; column < size; column++) {
			float want = 0;

			for (int n = 0; n < k; n++)
				want += (float)a[row * k + n] * (float)b[n * size + column];
			right &= c[row * size + column] == want;
		}
	}
	report(name, right);
}

static void digits()
{
	std::vector<uint32_t> in(256);
	bool right = true;

	for (uint32_t n = 0; n < 256; n++)
		in[n] = n * 2654435761u;
	uint32_t *gi = on_gpu(in), *go = on_gpu(in);
	launch("digits", 4, { gi, go });
	std::vector<uint32_t> out = from_gpu(go, 256);
	for (uint32_t n = 0; n < 256; n++) {
		uint32_t want = 0;

		for (uint32_t v = in[n]; v; v /= 7)
			want = want * 7 + v % 7;
		right &= out[n] == want;
	}
	report("digits", right);
}

static void dies()
{
	uint32_t *go = on_gpu(std::vector<uint32_t>(20));

	launch("die", 20, { go });
	printf("dies");
	for (uint32_t die : from_gpu(go, 20))
		printf(" %u", die);
	printf("\n");
}

int main(int argc, char **argv)
{
	HIP(hipModuleLoad(&module, argc > 1 ? argv[1] : ""));
	add();
	product<_Float16>("product", 16, 64, 64);
	product<float>("product_fp8", 1, 16, 32);
	digits();
	dies();
	return failures != 0;
}
