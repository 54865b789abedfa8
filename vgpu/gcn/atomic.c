/* SPDX-License-Identifier: MIT */
/* atomic.c - read-modify-write of memory, for DS, FLAT and MUBUF alike */
#include "memory.h"
#include "valu_math.h"

static uint32_t add_f16(uint32_t a, uint32_t b)
{
	float x = f16_from(a & 0xffff), y = f16_from(b & 0xffff);

	return f16_bits(nan2(x + y, x, y));
}

static uint32_t add_bf16(uint32_t a, uint32_t b)
{
	float x = f32_from(a << 16), y = f32_from(b << 16), sum = nan2(x + y, x, y);
	uint32_t u = f32_bits(sum);

	/* to the nearest, ties to even */
	return sum != sum ? u >> 16 | 0x40 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

static uint32_t combine32(uint32_t old, enum atomic_op op, uint32_t data, uint32_t data2)
{
	switch (op) {
	case ATOMIC_CMPSWAP:
		return old == data2 ? data : old;
	case ATOMIC_CMPSWAP_F:
		return f32_from(old) == f32_from(data2) ? data : old;
	case ATOMIC_ADD:
		return old + data;
	case ATOMIC_SUB:
		return old - data;
	case ATOMIC_RSUB:
		return data - old;
	case ATOMIC_SMIN:
		return (int32_t)old < (int32_t)data ? old : data;
	case ATOMIC_UMIN:
		return old < data ? old : data;
	case ATOMIC_SMAX:
		return (int32_t)old > (int32_t)data ? old : data;
	case ATOMIC_UMAX:
		return old > data ? old : data;
	case ATOMIC_AND:
		return old & data;
	case ATOMIC_OR:
		return old | data;
	case ATOMIC_XOR:
		return old ^ data;
	case ATOMIC_INC:
		return old >= data ? 0 : old + 1;
	case ATOMIC_DEC:
		return !old || old > data ? data : old - 1;
	case ATOMIC_MSKOR:
		return (old & ~data) | data2;
	case ATOMIC_WRAP:
		return old >= data ? old - data : old + data2;
	case ATOMIC_ADD_F:
		return f32_bits(
			nan2(f32_from(old) + f32_from(data), f32_from(old), f32_from(data)));
	case ATOMIC_MIN_F:
		return f32_bits(min_f32(f32_from(old), f32_from(data), 0));
	case ATOMIC_MAX_F:
		return f32_bits(max_f32(f32_from(old), f32_from(data), 0));
	case ATOMIC_PK_ADD_F16:
		return add_f16(old, data) | add_f16(old >> 16, data >> 16) << 16;
	case ATOMIC_PK_ADD_BF16:
		return add_bf16(old & 0xffff, data & 0xffff) | add_bf16(old >> 16, data >> 16)
								       << 16;
	default: /* ATOMIC_SWAP */
		return data;
	}
}

static uint64_t combine64(uint64_t old, enum atomic_op op, uint64_t data, uint64_t data2)
{
	switch (op) {
	case ATOMIC_CMPSWAP:
		return old == data2 ? data : old;
	case ATOMIC_CMPSWAP_F:
		return f64_from(old) == f64_from(data2) ? data : old;
	case ATOMIC_ADD:
		return old + data;
	case ATOMIC_SUB:
		return old - data;
	case ATOMIC_RSUB:
		return data - old;
	case ATOMIC_SMIN:
		return (int64_t)old < (int64_t)data ? old : data;
	case ATOMIC_UMIN:
		return old < data ? old : data;
	case ATOMIC_SMAX:
		return (int64_t)old > (int64_t)data ? old : data;
	case ATOMIC_UMAX:
		return old > data ? old : data;
	case ATOMIC_AND:
		return old & data;
	case ATOMIC_OR:
		return old | data;
	case ATOMIC_XOR:
		return old ^ data;
	case ATOMIC_INC:
		return old >= data ? 0 : old + 1;
	case ATOMIC_DEC:
		return !old || old > data ? data : old - 1;
	case ATOMIC_MSKOR:
		return (old & ~data) | data2;
	case ATOMIC_ADD_F:
		return f64_bits(
			nan2d(f64_from(old) + f64_from(data), f64_from(old), f64_from(data)));
	case ATOMIC_MIN_F:
		return f64_bits(min_f64(f64_from(old), f64_from(data), 0));
	case ATOMIC_MAX_F:
		return f64_bits(max_f64(f64_from(old), f64_from(data), 0));
	default: /* ATOMIC_SWAP */
		return data;
	}
}

uint32_t atomic_run32(void *p, enum atomic_op op, uint32_t data, uint32_t data2)
{
	uint32_t *at = p, old = __atomic_load_n(at, __ATOMIC_RELAXED);

	/* acquire and release: the host may be on the other side */
	if (op == ATOMIC_ADD)
		return __atomic_fetch_add(at, data, __ATOMIC_ACQ_REL);
	while (!__atomic_compare_exchange_n(at, &old, combine32(old, op, data, data2), true,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	return old;
}

uint64_t atomic_run64(void *p, enum atomic_op op, uint64_t data, uint64_t data2)
{
	uint64_t *at = p, old = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (op == ATOMIC_ADD)
		return __atomic_fetch_add(at, data, __ATOMIC_ACQ_REL);
	while (!__atomic_compare_exchange_n(at, &old, combine64(old, op, data, data2), true,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	return old;
}

uint32_t atomic_local32(void *p, enum atomic_op op, uint32_t data, uint32_t data2)
{
	uint32_t *at = p, old = *at;

	*at = combine32(old, op, data, data2);
	return old;
}

uint64_t atomic_local64(void *p, enum atomic_op op, uint64_t data, uint64_t data2)
{
	uint64_t *at = p, old = *at;

	*at = combine64(old, op, data, data2);
	return old;
}
