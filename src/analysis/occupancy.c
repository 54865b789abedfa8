/* SPDX-License-Identifier: MIT */
/* occupancy.c - which resource limits the waves that a kernel can have at a time
 *
 * From the registers and LDS in the kernel's code object and the workgroups of its dispatches, by
 * the sizes of AMD's ISA documents:
 *	gfx8, gfx9	  256 VGPRs of 64 lanes for a SIMD (512 with gfx90a and gfx94x, in units of
 *			  8), 800 SGPRs, 64 KiB LDS for a CU of 4 SIMDs
 *	gfx10		  1024 VGPRs of 32 lanes for a SIMD, in units of 8; a wave has all its
 *			  SGPRs; 64 KiB LDS for a CU of 2 SIMDs
 *	gfx11, gfx12	  1536 VGPRs, in units of 24
 */
#include "analysis/occupancy.h"

#include <stdlib.h>
#include <string.h>

#define LDS_BYTES (64u << 10)
#define MAX_SGPR_WAVES 800u

struct gpu {
	unsigned int vgprs, vgpr_unit, sgpr_unit; /* sgpr_unit 0: no limit */
	unsigned int lds_unit, wave, max_waves, simds;
};

static unsigned int round_up(unsigned int n, unsigned int unit)
{
	return (n + unit - 1) / unit * unit;
}

/* false: the GPU is not one of those above. */
static bool gpu_of(const char *isa, unsigned int wave, struct gpu *g)
{
	unsigned long number;
	char *end;

	if (strncmp(isa, "gfx", 3) != 0)
		return false;
	number = strtoul(isa + 3, &end, 16);
	*g = (struct gpu){ .wave = wave ? wave : 64, .lds_unit = 512 };
	if (number >= 0x800 && number < 0xa00) {
		bool unified = number == 0x90a || (number >= 0x940 && number < 0x960);

		g->vgprs = unified ? 512 : 256;
		g->vgpr_unit = unified ? 8 : 4;
		g->sgpr_unit = 16;
		g->max_waves = unified ? 8 : 10;
		g->simds = 4;
		return true;
	}
	if (number >= 0x1000 && number < 0x1300) {
		bool large = number >= 0x1100;

		g->vgprs = (large ? 1536 : 1024) * 32 / g->wave;
		g->vgpr_unit = (large ? 24 : 8) * 32 / g->wave;
		g->max_waves = number < 0x1030 ? 20 : 16;
		g->simds = 2;
		return true;
	}
	return false;
}

static void limit_by(struct occupancy *o, unsigned int waves, const char *what)
{
	if (waves < o->waves) {
		o->waves = waves;
		o->limit = what;
	}
}

/* Columns: ISA, wave, VGPRs, accumulation VGPRs, SGPRs, LDS, work-items of a group. */
static struct occupancy read_row(sqlite3_stmt *row)
{
	unsigned int v[7], group_waves, vgprs;
	struct occupancy o = { .limit = "" };
	struct gpu g;

	for (int i = 1; i < 7; i++)
		v[i] = (unsigned int)sqlite3_column_int64(row, i);
	if (sqlite3_column_type(row, 2) == SQLITE_NULL || !v[2] || !v[6] ||
	    !gpu_of(query_text(row, 0), v[1], &g))
		return o;
	o.waves = o.max_waves = g.max_waves;
	/* the accumulation registers follow the others, from a multiple of 4 */
	vgprs = g.vgprs == 512 && v[3] ? round_up(v[2], 4) + v[3] : v[2];
	limit_by(&o, g.vgprs / round_up(vgprs, g.vgpr_unit), "VGPRs");
	if (g.sgpr_unit && v[4])
		limit_by(&o, MAX_SGPR_WAVES / round_up(v[4], g.sgpr_unit), "SGPRs");
	group_waves = (v[6] + g.wave - 1) / g.wave;
	if (v[5]) {
		unsigned int groups = LDS_BYTES / round_up(v[5], g.lds_unit);

		limit_by(&o, (groups * group_waves + g.simds - 1) / g.simds, "LDS");
	}
	/* a group is in one CU as a whole: what is left of it takes no other group */
	if (group_waves > 1) {
		unsigned int groups = o.waves * g.simds / group_waves;

		limit_by(&o, groups * group_waves / g.simds, "workgroup size");
	}
	return o;
}

int occupancy_read(struct query *q, sqlite3_stmt **stmt, const char *kernel, struct occupancy *o)
{
	static const char sql[] =
		"SELECT G.name, G.wave_size, Y.vgpr_count, Y.accum_vgpr_count, Y.sgpr_count, H.group_size, "
		"H.group_x * H.group_y * H.group_z FROM rtl_kernel_symbol Y JOIN rtl_agent G ON G.id = "
		"Y.agent_id JOIN rtl_shape H ON H.kernel_id = Y.id WHERE Y.demangled = ?1 OR Y.name = ?1 || "
		"'.kd' ORDER BY H.id LIMIT 1";
	int ret = 0;

	*o = (struct occupancy){ .limit = "" };
	if (!q->ours)
		return 0;
	if (!*stmt)
		ret = query_prepare(q, stmt, sql);
	if (ret)
		return ret;
	sqlite3_bind_text(*stmt, 1, kernel, -1, SQLITE_TRANSIENT);
	ret = query_step(q, *stmt);
	if (ret == 1)
		*o = read_row(*stmt);
	sqlite3_reset(*stmt);
	return ret < 0 ? ret : 0;
}
