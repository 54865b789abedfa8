/* SPDX-License-Identifier: MIT */
/* bytes_test.cpp - fills and copies of odd sizes and alignments, compared byte by byte with the
 * host's
 *
 *	bytes_test [name...]
 *
 * Every operation is done to memory of the device and to an image of it on the host; then the whole
 * of both is compared, so that a byte too many shows as well. Prints "ok NAME" or "wrong NAME: ..."
 * for each part.
 */
#include "hip_parts.hpp"

namespace
{

typedef unsigned char byte;

constexpr size_t AREA = 200000;
const size_t offsets[] = { 0, 1, 2, 3, 5, 8, 16, 61, 255 };
const size_t sizes[] = { 1,  2,	 3,  4,	  5,   7,   8,	  9,	15,   16,    17,    31,	  33,
			 63, 64, 65, 127, 128, 255, 1000, 1023, 4096, 16385, 65537, 99999 };

byte random_byte()
{
	return (byte)(random_word() >> 24);
}

/* Memory of the device, and its expected contents. */
class Memory
{
public:
	explicit Memory(size_t size = AREA) : want(size), have(size)
	{
		HIP(hipMalloc(&dev, size));
		scramble();
	}
	~Memory()
	{
		(void)hipFree(dev);
	}
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;
	void scramble()
	{
		for (byte &b : want)
			b = random_byte();
		HIP(hipMemcpy(dev, want.data(), want.size(), hipMemcpyHostToDevice));
	}
	/* reports the number of different bytes, once for each part */
	void compare(const char *what, size_t a, size_t b, size_t c)
	{
		size_t wrong = 0, first = 0;

		HIP(hipDeviceSynchronize());
		HIP(hipMemcpy(have.data(), dev, have.size(), hipMemcpyDeviceToHost));
		for (size_t i = 0; i < have.size(); i++) {
			if (have[i] != want[i] && !wrong++)
				first = i;
		}
		checks++;
		if (!wrong)
			return;
		failures++;
		printf("wrong %s (%zu, %zu, %zu): %zu bytes, the first at %zu: %u, not %u\n", what,
		       a, b, c, wrong, first, have[first], want[first]);
		want = have;
	}
	byte *dev;
	std::vector<byte> want, have;
	static size_t checks;
};

size_t Memory::checks;

void fill(std::vector<byte> &v, size_t at, size_t n, const void *value, size_t width)
{
	for (size_t i = 0; i < n; i++)
		memcpy(v.data() + at + i * width, value, width);
}

/* HIP 5.2.3 miscounts a fill that ends before the next aligned word */
bool fillable(size_t at, size_t n)
{
	return at % 16 == 0 || n >= 16;
}

void fills()
{
	Memory m;

	for (size_t at : offsets) {
		for (size_t n : sizes) {
			byte v8 = random_byte();
			unsigned short v16 = (unsigned short)(random_byte() << 8 | random_byte());
			unsigned int v32 = (unsigned)v16 << 16 | v8 << 8 | random_byte();

			if (!fillable(at, n))
				continue;
			HIP(hipMemset(m.dev + at, v8, n));
			fill(m.want, at, n, &v8, 1);
			m.compare("hipMemset", at, n, v8);
			HIP(hipMemsetD8((hipDeviceptr_t)(m.dev + at + 1), (byte)~v8, n + 16));
			v8 = (byte)~v8;
			fill(m.want, at + 1, n + 16, &v8, 1);
			m.compare("hipMemsetD8", at + 1, n + 16, v8);
			if (at % 2 == 0 && n < AREA / 4) {
				HIP(hipMemsetD16((hipDeviceptr_t)(m.dev + at), v16, n + 8));
				fill(m.want, at, n + 8, &v16, 2);
				m.compare("hipMemsetD16", at, n + 8, v16);
			}
			if (at % 4 == 0 && n < AREA / 8) {
				HIP(hipMemsetD32((hipDeviceptr_t)(m.dev + at), (int)v32, n + 4));
				fill(m.want, at, n + 4, &v32, 4);
				m.compare("hipMemsetD32", at, n + 4, v32);
			}
		}
	}
}

void copies()
{
	Memory a, b;
	std::vector<byte> host(AREA), back(AREA);

	for (size_t from : offsets) {
		for (size_t n : sizes) {
			size_t to = offsets[(from + n) % (sizeof(offsets) / sizeof(offsets[0]))];

			HIP(hipMemcpy(b.dev + to, a.dev + from, n, hipMemcpyDeviceToDevice));
			memcpy(b.want.data() + to, a.want.data() + from, n);
			b.compare("device to device", from, to, n);
			/* within one allocation, apart */
			HIP(hipMemcpyDtoD((hipDeviceptr_t)(b.dev + 100000 + from),
					  (hipDeviceptr_t)(b.dev + to), n < 99000 ? n : 99000));
			memmove(b.want.data() + 100000 + from, b.want.data() + to,
				n < 99000 ? n : 99000);
			b.compare("within an allocation", to, from, n);
			for (size_t i = 0; i < n; i++)
				host[from + i] = random_byte();
			HIP(hipMemcpy(b.dev + to, host.data() + from, n, hipMemcpyHostToDevice));
			memcpy(b.want.data() + to, host.data() + from, n);
			b.compare("host to device", from, to, n);
			memset(back.data(), 0x55, AREA);
			HIP(hipMemcpy(back.data() + from, a.dev + to, n, hipMemcpyDeviceToHost));
			if (memcmp(back.data() + from, a.want.data() + to, n) ||
			    (from && back[from - 1] != 0x55) || back[from + n] != 0x55) {
				failures++;
				printf("wrong device to host (%zu, %zu, %zu)\n", to, from, n);
			}
		}
	}
	a.compare("what was only read", 0, 0, 0);
}

/* width, height and depth of a box, and its position in memory with a pitch and a number of rows
 * per slice */
struct Box {
	size_t x, y, z, pitch, rows;
	size_t at(size_t row, size_t slice) const
	{
		return x + pitch * (y + row + rows * (z + slice));
	}
};

void move_box(std::vector<byte> &to, const Box &t, const std::vector<byte> &from, const Box &f,
	      hipExtent e)
{
	for (size_t z = 0; z < e.depth; z++) {
		for (size_t y = 0; y < e.height; y++)
			memcpy(to.data() + t.at(y, z), from.data() + f.at(y, z), e.width);
	}
}

void rectangles()
{
	const Box s{ 3, 2, 0, 517, 0 }, d{ 1, 1, 0, 640, 0 }, h{ 0, 0, 0, 700, 0 };
	Memory a, b;
	std::vector<byte> host(AREA);

	for (size_t width : { 1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 129, 255, 512 }) {
		for (size_t height : { 1, 2, 7, 40 }) {
			hipExtent e{ width, height, 1 };

			HIP(hipMemcpy2D(b.dev + d.at(0, 0), d.pitch, a.dev + s.at(0, 0), s.pitch,
					width, height, hipMemcpyDeviceToDevice));
			move_box(b.want, d, a.want, s, e);
			b.compare("2D, device to device", width, height, 0);
			for (byte &v : host)
				v = random_byte();
			HIP(hipMemcpy2DAsync(b.dev + s.at(0, 0), s.pitch, host.data(), h.pitch,
					     width, height, hipMemcpyHostToDevice, nullptr));
			HIP(hipDeviceSynchronize());
			move_box(b.want, s, host, h, e);
			b.compare("2D, host to device", width, height, 0);
			std::vector<byte> back = host;
			HIP(hipMemcpy2D(back.data(), h.pitch, a.dev + d.at(0, 0), d.pitch, width,
					height, hipMemcpyDeviceToHost));
			move_box(host, h, a.want, d, e);
			if (back != host) {
				failures++;
				printf("wrong 2D, device to host (%zu, %zu)\n", width, height);
			}
			HIP(hipMemset2D(b.dev, d.pitch, 0x5a, width, height));
			for (size_t y = 0; y < height; y++)
				memset(b.want.data() + y * d.pitch, 0x5a, width);
			b.compare("2D fill", width, height, 0);
		}
	}
}

hipMemcpy3DParms boxes(byte *to, const Box &t, const byte *from, const Box &f, hipExtent e,
		       hipMemcpyKind kind)
{
	hipMemcpy3DParms p = {};

	p.srcPtr = make_hipPitchedPtr(const_cast<byte *>(from), f.pitch, f.pitch, f.rows);
	p.dstPtr = make_hipPitchedPtr(to, t.pitch, t.pitch, t.rows);
	p.srcPos = make_hipPos(f.x, f.y, f.z);
	p.dstPos = make_hipPos(t.x, t.y, t.z);
	p.extent = e;
	p.kind = kind;
	return p;
}

void volumes()
{
	const Box s{ 5, 1, 2, 160, 20 }, d{ 2, 3, 1, 224, 17 }, h{ 1, 2, 0, 131, 19 };
	Memory a, b;
	std::vector<byte> host(AREA);

	for (size_t width : { 1, 3, 4, 17, 64, 101 }) {
		for (size_t height : { 1, 5, 13 }) {
			for (size_t depth : { 1, 2, 9 }) {
				hipExtent e{ width, height, depth };
				hipMemcpy3DParms p =
					boxes(b.dev, d, a.dev, s, e, hipMemcpyDeviceToDevice);

				HIP(hipMemcpy3D(&p));
				move_box(b.want, d, a.want, s, e);
				b.compare("3D, device to device", width, height, depth);
				for (byte &v : host)
					v = random_byte();
				p = boxes(b.dev, s, host.data(), h, e, hipMemcpyHostToDevice);
				HIP(hipMemcpy3D(&p));
				move_box(b.want, s, host, h, e);
				b.compare("3D, host to device", width, height, depth);
				std::vector<byte> back = host;
				p = boxes(back.data(), h, a.dev, d, e, hipMemcpyDeviceToHost);
				HIP(hipMemcpy3DAsync(&p, nullptr));
				HIP(hipDeviceSynchronize());
				move_box(host, h, a.want, d, e);
				if (back != host) {
					failures++;
					printf("wrong 3D, device to host (%zu, %zu, %zu)\n", width,
					       height, depth);
				}
				HIP(hipMemset3D(make_hipPitchedPtr(b.dev, d.pitch, d.pitch, d.rows),
						0xa5, e));
				for (size_t z = 0; z < depth; z++) {
					for (size_t y = 0; y < height; y++)
						memset(b.want.data() + d.pitch * (y + d.rows * z),
						       0xa5, width);
				}
				b.compare("3D fill", width, height, depth);
			}
		}
	}
}

/* More bytes than one packet of a copy engine takes on GPUs before gfx90a, 4 MiB; of memory that
 * the engine reaches, so that HIP does not copy in parts. */
void large()
{
	const size_t size = 9000001;
	byte *pinned;
	Memory m(size);

	HIP(hipHostMalloc((void **)&pinned, size, 0));
	for (size_t i = 0; i < size; i++)
		m.want[i] = pinned[i] = random_byte();
	HIP(hipMemcpy(m.dev, pinned, size, hipMemcpyHostToDevice));
	m.compare("large host to device", size, 0, 0);
	memset(pinned, 0x55, size);
	HIP(hipMemcpy(pinned, m.dev, size, hipMemcpyDeviceToHost));
	Memory::checks++;
	if (memcmp(pinned, m.want.data(), size)) {
		failures++;
		printf("wrong large device to host\n");
	}
	HIP(hipHostFree(pinned));
}

void peers()
{
	int gpus = 0;

	HIP(hipGetDeviceCount(&gpus));
	if (gpus < 2)
		return;
	Memory here;
	HIP(hipSetDevice(1));
	Memory there;
	for (size_t from : offsets) {
		for (size_t n : sizes) {
			HIP(hipMemcpyPeer(there.dev + n % 37, 1, here.dev + from, 0, n));
			memcpy(there.want.data() + n % 37, here.want.data() + from, n);
			there.compare("to a peer", from, n, 0);
		}
	}
	HIP(hipSetDevice(0));
}

} // namespace

int main(int argc, char **argv)
{
	static const Part parts[] = { { "fills", fills },     { "copies", copies },
				      { "large", large },     { "rectangles", rectangles },
				      { "volumes", volumes }, { "peers", peers } };

	run_parts(parts, argc, argv, [](const Part &part) {
		int before = failures;

		Memory::checks = 0;
		part.run();
		if (failures == before)
			printf("ok %s: %zu comparisons\n", part.name, Memory::checks);
	});
	return verdict();
}
