/* SPDX-License-Identifier: MIT */
/* wave.c - the state of a wave: constants, masks, the MODE register, stopping a dispatch */
#include "wave.h"

#define N(n) (uint32_t)(n)
#define TEN(n)                                                                                     \
	N((n) + 0), N((n) + 1), N((n) + 2), N((n) + 3), N((n) + 4), N((n) + 5), N((n) + 6),        \
		N((n) + 7), N((n) + 8), N((n) + 9)

/* codes 128 to 255 */
const uint32_t gcn_const32[128] = {
	TEN(0),
	TEN(10),
	TEN(20),
	TEN(30),
	TEN(40),
	TEN(50),
	N(60),
	N(61),
	N(62),
	N(63),
	N(64),
	N(-1),
	N(-2),
	N(-3),
	N(-4),
	N(-5),
	N(-6),
	N(-7),
	N(-8),
	N(-9),
	N(-10),
	N(-11),
	N(-12),
	N(-13),
	N(-14),
	N(-15),
	N(-16),
	/* apertures: LDS base and limit, scratch base and limit */
	[235 - 128] = GCN_LDS_HI,
	[236 - 128] = GCN_LDS_HI,
	[237 - 128] = GCN_SCRATCH_HI,
	[238 - 128] = GCN_SCRATCH_HI,
	/* 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi) */
	[240 - 128] = 0x3f000000,
	[241 - 128] = 0xbf000000,
	[242 - 128] = 0x3f800000,
	[243 - 128] = 0xbf800000,
	[244 - 128] = 0x40000000,
	[245 - 128] = 0xc0000000,
	[246 - 128] = 0x40800000,
	[247 - 128] = 0xc0800000,
	[248 - 128] = 0x3e22f983,
};

const uint64_t gcn_const64[9] = {
	0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
	0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
	0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882,
};

const uint16_t gcn_const16[9] = {
	0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118,
};

uint64_t gcn_src64_other(const struct gcn_wave *w, const struct gcn_inst *i, unsigned int code)
{
	/* integers are sign-extended, floats are doubles, apertures are the high half */
	if (code >= 193 && code <= 208)
		return (uint64_t)(int64_t)(int32_t)gcn_const32[code - 128];
	if (code >= 240 && code <= 248)
		return gcn_const64[code - 240];
	if (code >= 235 && code <= 238)
		return (uint64_t)gcn_const32[code - 128] << 32;
	return gcn_src32(w, i, code);
}

const uint32_t *gcn_mask(struct gcn_wave *w)
{
	uint64_t exec = gcn_exec(w);

	if (exec != w->mask_of) {
		for (unsigned int l = 0; l < GCN_LANES; l++)
			w->mask[l] = 0 - (uint32_t)(exec >> l & 1);
		w->mask_of = exec;
	}
	return w->mask;
}

void gcn_set_mode(struct gcn_wave *w, uint32_t mode)
{
	w->mode = mode;
	w->fp_plain = (mode & 0xff) == 0xf0;
	w->idx_on = mode >> 27 & 1;
}

void gcn_stop(struct gcn_wave *w, enum gcn_status status, uint64_t addr)
{
	struct gcn_run *r = w->run;

	w->state = GCN_WAVE_END;
	if (r->status != GCN_RUNNING)
		return;
	r->status = status;
	r->stop.addr = addr;
}

void gcn_run_unimplemented(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	gcn_stop(w, GCN_UNIMPLEMENTED, 0);
}

void gcn_run_misaligned(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	gcn_stop(w, GCN_ILLEGAL, 0);
	w->run->stop.why = "a value of several registers begins at an odd one";
}

void gcn_run_illegal(struct gcn_wave *w, const struct gcn_inst *i)
{
	(void)i;
	gcn_stop(w, GCN_ILLEGAL, 0);
}
