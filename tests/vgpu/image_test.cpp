/* SPDX-License-Identifier: MIT */
/* image_test.cpp - textures and surfaces of HIP against a model on the host
 *
 *	image_test [PART...]
 *
 * Every format, filter, addressing mode and kind of memory that the parts name; any wrong texel is
 * printed.
 */
#include "hip_parts.hpp"

#include <cmath>

namespace
{

constexpr int width = 37, height = 19, depth = 5, samples = 4000;

struct Point {
	float x, y, z;
};

/* Channels as floats: what a fetch of the type gives. */
template <typename V> struct Kind;
#define KIND(type, base, nr)                                                                       \
	template <> struct Kind<type> {                                                            \
		typedef base part;                                                                 \
		static constexpr int channels = nr;                                                \
	};
KIND(float, float, 1)
KIND(float2, float, 2)
KIND(float4, float, 4)
KIND(unsigned char, unsigned char, 1)
KIND(uchar2, unsigned char, 2)
KIND(uchar4, unsigned char, 4)
KIND(char4, signed char, 4)
KIND(unsigned short, unsigned short, 1)
KIND(ushort4, unsigned short, 4)
KIND(short2, short, 2)
KIND(int, int, 1)
KIND(uint4, unsigned int, 4)

enum Shape { line, plane, box, layers };

struct How {
	Shape shape;
	bool linear, normalised, to_float;
	hipTextureAddressMode mode;
};

template <typename R> __device__ R fetch(hipTextureObject_t t, Shape shape, Point p)
{
	switch (shape) {
	case line:
		return tex1D<R>(t, p.x);
	case plane:
		return tex2D<R>(t, p.x, p.y);
	case box:
		return tex3D<R>(t, p.x, p.y, p.z);
	default:
		return tex2DLayered<R>(t, p.x, p.y, (int)p.z);
	}
}

template <typename R>
__global__ void take(hipTextureObject_t t, Shape shape, const Point *at, R *out)
{
	int n = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (n < samples)
		out[n] = fetch<R>(t, shape, at[n]);
}

/* ---- the model ---- */

/* Texel i of n in an addressing mode; -1: the border. */
int address(int i, int n, hipTextureAddressMode mode)
{
	switch (mode) {
	case hipAddressModeWrap:
		return ((i % n) + n) % n;
	case hipAddressModeMirror:
		i = ((i % (2 * n)) + 2 * n) % (2 * n);
		return i < n ? i : 2 * n - 1 - i;
	case hipAddressModeClamp:
		return i < 0 ? 0 : i >= n ? n - 1 : i;
	default:
		return i < 0 || i >= n ? -1 : i;
	}
}

template <typename P> double channel(P v, bool to_float)
{
	double top = sizeof(P) == 1 ? 127 : 32767;

	if (!to_float || (P)0.5f != 0)
		return (double)v;
	if ((P)-1 < 0)
		return fmax((double)v / top, -1);
	return (double)v / (sizeof(P) == 1 ? 255 : 65535);
}

template <typename V>
double model(const std::vector<V> &data, const int *size, const How &how, Point p, int c)
{
	typedef typename Kind<V>::part Part;
	float at[3] = { p.x, p.y, p.z };
	int lower[3] = { 0, 0, 0 };
	double upper[3] = { 0, 0, 0 }, sum = 0;
	int dims = how.shape == line ? 1 : how.shape == box ? 3 : 2;

	for (int d = 0; d < dims; d++) {
		double x = (double)(float)(how.normalised ? at[d] * (float)size[d] : at[d]);

		if (how.linear) {
			x = floor((x - 0.5) * 256 + 0.5) / 256;
			upper[d] = x - floor(x);
		}
		lower[d] = (int)floor(x);
	}
	if (how.shape == layers)
		lower[2] = (int)p.z;
	for (int n = 0; n < 8; n++) {
		double part = 1;
		long index = 0;
		bool border = false;

		for (int d = 2; d >= 0; d--) {
			int i = lower[d] + (n >> d & 1);

			part *= n >> d & 1 ? upper[d] : 1 - upper[d];
			i = d < dims ? address(i, size[d], how.mode) : i;
			border |= i < 0;
			index = index * size[d] + i;
		}
		if (part != 0 && !border)
			sum += part * channel(((const Part *)&data[index])[c], how.to_float);
	}
	return sum;
}

/* ---- a texture of a kind of memory ---- */

template <typename V> std::vector<V> texels(size_t n)
{
	std::vector<V> out(n);
	typedef typename Kind<V>::part Part;
	Part *p = (Part *)out.data();

	for (size_t i = 0; i < n * Kind<V>::channels; i++)
		p[i] = (Part)0.5f != 0 ? (Part)((int)(random_word() >> 8 & 0xffff) - 30000) :
					 (Part)(random_word() >> 5);
	return out;
}

/* hipCreateChannelDesc() of HIP 5.2 takes uchar2 and uchar4 for signed. */
template <typename V> hipChannelFormatDesc channels_of()
{
	typedef typename Kind<V>::part Part;
	int bits = 8 * sizeof(Part), nr = Kind<V>::channels;

	return hipCreateChannelDesc(bits, nr > 1 ? bits : 0, nr > 2 ? bits : 0, nr > 3 ? bits : 0,
				    (Part)0.5f != 0 ? hipChannelFormatKindFloat :
				    (Part)-1 < 0    ? hipChannelFormatKindSigned :
						      hipChannelFormatKindUnsigned);
}

template <typename V>
hipArray *array_of(const std::vector<V> &data, const int *size, Shape shape, unsigned int flags)
{
	hipChannelFormatDesc desc = channels_of<V>();
	hipMemcpy3DParms copy = {};
	hipArray *array;

	flags |= shape == layers ? hipArrayLayered : 0;
	HIP(hipMalloc3DArray(&array, &desc,
			     make_hipExtent((size_t)size[0], shape == line ? 0 : (size_t)size[1],
					    shape == line || shape == plane ? 0 : (size_t)size[2]),
			     flags));
	copy.srcPtr = make_hipPitchedPtr((void *)data.data(), (size_t)size[0] * sizeof(V),
					 (size_t)size[0], (size_t)size[1]);
	copy.dstArray = array;
	copy.extent = make_hipExtent((size_t)size[0], (size_t)size[1], (size_t)size[2]);
	copy.kind = hipMemcpyHostToDevice;
	HIP(hipMemcpy3D(&copy));
	return array;
}

template <typename V, typename R>
void compare(const hipResourceDesc &res, const std::vector<V> &data, const int *size,
	     const How &how, const char *what)
{
	hipTextureDesc desc = {};
	hipTextureObject_t texture;
	std::vector<Point> points(samples);
	std::vector<R> have(samples);
	Point *at;
	R *out;

	for (auto &m : desc.addressMode)
		m = how.mode;
	desc.filterMode = how.linear ? hipFilterModeLinear : hipFilterModePoint;
	desc.readMode = how.to_float ? hipReadModeNormalizedFloat : hipReadModeElementType;
	desc.normalizedCoords = how.normalised;
	HIP(hipCreateTextureObject(&texture, &res, &desc, nullptr));
	for (auto &p : points) {
		float *x = &p.x;

		for (int d = 0; d < 3; d++) {
			/* from before the image to behind it */
			float f = (float)(random_word() >> 8) / 16777216 * 2.6f - 0.8f;

			x[d] = how.normalised ? f : f * (float)size[d];
		}
		if (how.shape == layers)
			p.z = (float)(random_word() >> 8) / 16777216 * (float)size[2];
	}
	HIP(hipMalloc(&at, samples * sizeof(Point)));
	HIP(hipMalloc(&out, samples * sizeof(R)));
	HIP(hipMemcpy(at, points.data(), samples * sizeof(Point), hipMemcpyHostToDevice));
	take<R><<<(samples + 63) / 64, 64>>>(texture, how.shape, at, out);
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(have.data(), out, samples * sizeof(R), hipMemcpyDeviceToHost));
	for (int n = 0, bad = 0; n < samples && bad < 3; n++) {
		for (int c = 0; c < Kind<V>::channels; c++) {
			double want = model(data, size, how, points[n], c);
			double got = (double)((const typename Kind<R>::part *)&have[n])[c];

			if (fabs(got - want) <= 2e-6 * fmax(fabs(want), how.to_float ? 1 : 32768))
				continue;
			printf("wrong %s: shape %d linear %d normalised %d mode %d at %g %g %g channel %d: %.9g, not %.9g\n",
			       what, how.shape, how.linear, how.normalised, how.mode, points[n].x,
			       points[n].y, points[n].z, c, got, want);
			failures++;
			bad++;
		}
	}
	HIP(hipDestroyTextureObject(texture));
	HIP(hipFree(at));
	HIP(hipFree(out));
}

template <typename V, typename R> void in_array(const How &how, const char *what)
{
	int size[3] = { width, how.shape == line ? 1 : height,
			how.shape == box || how.shape == layers ? depth : 1 };
	std::vector<V> data = texels<V>((size_t)size[0] * size[1] * size[2]);
	hipResourceDesc res = {};

	res.resType = hipResourceTypeArray;
	res.res.array.array = array_of(data, size, how.shape, 0);
	compare<V, R>(res, data, size, how, what);
	HIP(hipFreeArray(res.res.array.array));
}

void formats()
{
	const How plain = { plane, false, false, false, hipAddressModeClamp };
	const How scaled = { plane, false, false, true, hipAddressModeClamp };

	in_array<float, float>(plain, "float");
	in_array<float2, float2>(plain, "float2");
	in_array<float4, float4>(plain, "float4");
	in_array<unsigned char, unsigned char>(plain, "uchar");
	in_array<uchar4, uchar4>(plain, "uchar4");
	in_array<char4, char4>(plain, "char4");
	in_array<ushort4, ushort4>(plain, "ushort4");
	in_array<short2, short2>(plain, "short2");
	in_array<int, int>(plain, "int");
	in_array<uint4, uint4>(plain, "uint4");
	in_array<unsigned char, float>(scaled, "uchar to float");
	in_array<uchar2, float2>(scaled, "uchar2 to float");
	in_array<uchar4, float4>(scaled, "uchar4 to float");
	in_array<char4, float4>(scaled, "char4 to float");
	in_array<unsigned short, float>(scaled, "ushort to float");
	in_array<short2, float2>(scaled, "short2 to float");
}

void filters()
{
	for (Shape shape : { line, plane, box, layers }) {
		for (auto mode : { hipAddressModeClamp, hipAddressModeBorder, hipAddressModeWrap,
				   hipAddressModeMirror }) {
			bool relative = mode == hipAddressModeWrap || mode == hipAddressModeMirror;

			for (int n = relative ? 2 : 0; n < 4; n++) {
				How how = { shape, n % 2 == 1, n / 2 == 1, false, mode };

				in_array<float, float>(how, "filter of float");
				how.to_float = true;
				in_array<uchar4, float4>(how, "filter of uchar4");
			}
		}
	}
}

/* ---- memory that is no array ---- */

void pitched()
{
	int size[3] = { width, height, 1 };
	std::vector<float> data = texels<float>(width * height);
	hipResourceDesc res = {};
	size_t pitch;
	void *p;

	HIP(hipMallocPitch(&p, &pitch, width * sizeof(float), height));
	HIP(hipMemcpy2D(p, pitch, data.data(), width * sizeof(float), width * sizeof(float), height,
			hipMemcpyHostToDevice));
	res.resType = hipResourceTypePitch2D;
	res.res.pitch2D.devPtr = p;
	res.res.pitch2D.desc = hipCreateChannelDesc<float>();
	res.res.pitch2D.width = width;
	res.res.pitch2D.height = height;
	res.res.pitch2D.pitchInBytes = pitch;
	for (int n = 0; n < 4; n++)
		compare<float, float>(res, data, size,
				      { plane, n % 2 == 1, n / 2 == 1, false, hipAddressModeClamp },
				      "pitched");
	HIP(hipFree(p));
}

template <typename V> __global__ void take_linear(hipTextureObject_t t, int n, V *out)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		out[i] = tex1Dfetch<V>(t, i);
}

template <typename V, typename R> void in_linear(bool to_float, const char *what)
{
	constexpr int n = 1000;
	std::vector<V> data = texels<V>(n);
	std::vector<R> have(n);
	hipResourceDesc res = {};
	hipTextureDesc desc = {};
	hipTextureObject_t texture;
	R *out;

	res.resType = hipResourceTypeLinear;
	res.res.linear.desc = channels_of<V>();
	res.res.linear.sizeInBytes = n * sizeof(V);
	HIP(hipMalloc(&res.res.linear.devPtr, n * sizeof(V)));
	HIP(hipMemcpy(res.res.linear.devPtr, data.data(), n * sizeof(V), hipMemcpyHostToDevice));
	desc.readMode = to_float ? hipReadModeNormalizedFloat : hipReadModeElementType;
	HIP(hipCreateTextureObject(&texture, &res, &desc, nullptr));
	HIP(hipMalloc(&out, have.size() * sizeof(R)));
	take_linear<R><<<16, 64>>>(texture, n, out);
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(have.data(), out, have.size() * sizeof(R), hipMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) {
		for (int c = 0; c < Kind<V>::channels; c++) {
			double want =
				channel(((const typename Kind<V>::part *)&data[i])[c], to_float);
			double got = (double)((const typename Kind<R>::part *)&have[i])[c];

			if (fabs(got - want) <= 1e-6)
				continue;
			printf("wrong %s: texel %d channel %d: %g, not %g\n", what, i, c, got,
			       want);
			failures++;
			return;
		}
	}
	HIP(hipDestroyTextureObject(texture));
	HIP(hipFree(res.res.linear.devPtr));
	HIP(hipFree(out));
}

void linear()
{
	in_linear<float, float>(false, "linear float");
	in_linear<float4, float4>(false, "linear float4");
	in_linear<uchar4, uchar4>(false, "linear uchar4");
	in_linear<int, int>(false, "linear int");
	in_linear<unsigned char, float>(true, "linear uchar to float");
}

/* ---- surfaces ---- */

/* Texels move one to the right, and those outside are ignored. */
template <typename V> __global__ void shift(hipSurfaceObject_t from, hipSurfaceObject_t to)
{
	int x = (int)threadIdx.x, y = (int)blockIdx.x;
	V v;

	surf2Dread(&v, from, x * (int)sizeof(V), y);
	surf2Dwrite(v, to, (x + 1) * (int)sizeof(V), y);
}

template <typename V> void surface(const char *what)
{
	int size[3] = { width, height, 1 };
	std::vector<V> data = texels<V>(width * height), zeros(width * height),
		       have(width * height);
	hipResourceDesc from = {}, to = {};
	hipSurfaceObject_t a, b;

	memset((void *)zeros.data(), 0, zeros.size() * sizeof(V));
	from.resType = to.resType = hipResourceTypeArray;
	from.res.array.array = array_of(data, size, plane, 0);
	to.res.array.array = array_of(zeros, size, plane, 0);
	HIP(hipCreateSurfaceObject(&a, &from));
	HIP(hipCreateSurfaceObject(&b, &to));
	shift<V><<<height + 1, width + 3>>>(a, b);
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy2DFromArray(have.data(), width * sizeof(V), to.res.array.array, 0, 0,
				 width * sizeof(V), height, hipMemcpyDeviceToHost));
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++) {
			const V *want = x ? &data[y * width + x - 1] : &zeros[0];

			if (memcmp(&have[y * width + x], want, sizeof(V)) != 0) {
				printf("wrong %s: texel %d %d\n", what, x, y);
				failures++;
				return;
			}
		}
	}
	HIP(hipDestroySurfaceObject(a));
	HIP(hipDestroySurfaceObject(b));
	HIP(hipFreeArray(from.res.array.array));
	HIP(hipFreeArray(to.res.array.array));
}

void surfaces()
{
	/* HIP's functions convert integers to floats, whatever the array has */
	surface<float>("surface of float");
	surface<float2>("surface of float2");
	surface<float4>("surface of float4");
}

const Part all_parts[] = { { "formats", formats },
			   { "filters", filters },
			   { "pitched", pitched },
			   { "linear", linear },
			   { "surfaces", surfaces } };

} /* namespace */

int main(int argc, char **argv)
{
	run_parts(all_parts, argc, argv, [](const Part &part) {
		int before = failures;

		part.run();
		printf("%s %s\n", failures == before ? "ok" : "failed", part.name);
		fflush(stdout);
	});
	return verdict();
}
