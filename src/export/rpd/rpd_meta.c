/* SPDX-License-Identifier: MIT */
/* rpd_meta.c - metadata: process, threads, agents, queues, kernels; losses
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

int64_t rpd_meta_agent(const struct rpd_process *p, uint32_t agent)
{
	return agent == UINT32_MAX ? 0 : p->base + (int64_t)agent + 1;
}

static int write_agents(struct rpd_process *p, sqlite3_stmt *stmt)
{
	static const char *const types[] = { "CPU", "GPU", "OTHER" };
	size_t nr;
	const struct store_agent *agents = index_agents(p->index, &nr);
	uint32_t nr_cpu = 0, nr_other = 0;
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		const struct store_agent *a = &agents[i];
		uint32_t type = a->agent_type <= REC_AGENT_OTHER ? a->agent_type : REC_AGENT_OTHER;
		bool gpu = a->gpu_index != UINT32_MAX;
		uint32_t number = gpu			? a->gpu_index :
				  type == REC_AGENT_CPU ? nr_cpu++ :
							  nr_other++;
		char label[32];

		snprintf(label, sizeof(label), "%s %" PRIu32, types[type], number);
		ret = rpd_db_insert(p->r, stmt, gpu ? "iiitiitieeeeiiiiiii" : "iiitnntieeeeiiiiiii",
				    rpd_meta_agent(p, a->id), p->base + 1, (int64_t)a->id,
				    types[type], (int64_t)a->gpu_index,
				    p->node * RPD_GPU_STRIDE + (int64_t)a->gpu_index, label,
				    (int64_t)a->node, a->name, a->product, a->vendor, a->uuid,
				    (int64_t)a->handle, (int64_t)a->nr_cu, (int64_t)a->simd_per_cu,
				    (int64_t)a->wave_size, (int64_t)a->max_waves_per_cu,
				    (int64_t)a->clock_mhz, (int64_t)a->bdf);
	}
	return ret;
}

static int write_queues(struct rpd_process *p, sqlite3_stmt *stmt)
{
	size_t nr;
	const struct store_queue *queues = index_queues(p->index, &nr);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		const struct store_queue *q = &queues[i];

		ret = rpd_db_insert(p->r, stmt, "iiiiiiiiiiiii", p->base + (int64_t)q->id + 1,
				    p->base + 1, (int64_t)q->id, (int64_t)q->hsa_id,
				    (int64_t)q->handle, rpd_meta_agent(p, q->agent),
				    (int64_t)q->tid, (int64_t)q->size, (int64_t)q->queue_type,
				    (int64_t)((q->flags & REC_QUEUE_INTERNAL) != 0),
				    (int64_t)((q->flags & REC_QUEUE_PLAIN) == 0),
				    (int64_t)q->time_ns, (int64_t)q->end_ns);
	}
	return ret;
}

static int write_code_objects(struct rpd_process *p, sqlite3_stmt *stmt)
{
	size_t nr;
	const struct store_code_object *objects = index_code_objects(p->index, &nr);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		const struct store_code_object *o = &objects[i];

		ret = rpd_db_insert(p->r, stmt, "iiieiiiiii", p->base + (int64_t)o->id, p->base + 1,
				    (int64_t)o->id, o->uri, rpd_meta_agent(p, o->agent),
				    (int64_t)o->load_base, (int64_t)o->load_size,
				    (int64_t)o->load_delta, (int64_t)o->time_ns,
				    (int64_t)o->end_ns);
	}
	return ret;
}

struct registers {
	int64_t vgpr, accum_vgpr, sgpr; /* -1: unknown */
};

/* The numbers of registers that the hardware allocates, from the kernel descriptor's resource
 * words. */
static struct registers registers_of(const struct store_kernel *k, const struct store_agent *agent)
{
	struct registers regs = { -1, -1, -1 };
	unsigned int vgprs = k->rsrc1 & 0x3f;
	unsigned int sgprs = k->rsrc1 >> 6 & 0xf;
	const char *name = agent ? agent->name : "";
	const char *isa = strstr(name, "gfx");
	unsigned long number = isa ? strtoul(isa + 3, NULL, 16) : 0;

	if (!k->rsrc1 || !number)
		return regs;
	if (number == 0x90a || (number >= 0x940 && number <= 0x95f)) {
		/* one register file for both kinds; rsrc3 has the first accumulation register */
		int64_t all = (vgprs + 1) * 8;
		int64_t arch = ((int64_t)(k->rsrc3 & 0x3f) + 1) * 4;

		regs.vgpr = arch < all ? arch : all;
		regs.accum_vgpr = all - regs.vgpr;
		regs.sgpr = (sgprs / 2 + 1) * 16;
	} else if (number < 0x1000) {
		regs.vgpr = (vgprs + 1) * 4;
		regs.accum_vgpr = number == 0x908 ? regs.vgpr : 0;
		regs.sgpr = (sgprs / 2 + 1) * 16;
	} else {
		/* gfx10 and later: granules of 8 for waves of 32, 4 for waves of 64; a fixed number
		 * of scalar registers */
		regs.vgpr = (vgprs + 1) * (agent->wave_size == 64 ? 4 : 8);
		regs.accum_vgpr = 0;
		regs.sgpr = 128;
	}
	return regs;
}

int rpd_meta_name(struct rpd_process *p, const char *name, size_t index, int64_t *id)
{
	uint64_t hash = map_hash(name, strlen(name));
	uint64_t other;
	int ret;

	if (map_get(&p->names, hash, &other) && strcmp(p->kernels[other].demangled, name) == 0) {
		*id = p->kernel_names[other];
		return 1;
	}
	if (index == SIZE_MAX)
		return 0;
	ret = rpd_spool_string(p, name, id);
	if (ret == 0 && map_put(&p->names, hash, index) < 0)
		ret = rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	return ret < 0 ? ret : 1;
}

int rpd_meta_kernel(struct rpd_process *p, size_t kernel, int64_t *name)
{
	const struct store_kernel *k = &p->kernels[kernel];
	int ret;

	if (!p->kernel_names[kernel]) {
		ret = rpd_meta_name(p, k->demangled, kernel, &p->kernel_names[kernel]);
		if (ret < 0)
			return ret;
		if (map_put(&p->kernel_ids, k->id, (uint64_t)p->kernel_names[kernel]) < 0)
			return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	}
	*name = p->kernel_names[kernel];
	return 0;
}

int rpd_meta_names(struct rpd_process *p)
{
	size_t nr;
	int64_t name;
	int ret = 0;

	p->kernels = index_kernels(p->index, &nr);
	p->kernel_names = alloc_zero(nr, sizeof(*p->kernel_names));
	if (!p->kernel_names)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	map_clear(&p->names);
	for (size_t i = 0; i < nr && ret == 0; i++) {
		const char *text = p->kernels[i].demangled;
		uint64_t known, other, hash = map_hash(text, strlen(text));

		if (!map_get(&p->kernel_ids, p->kernels[i].id, &known))
			continue;
		p->kernel_names[i] = (int64_t)known;
		if (!map_get(&p->names, hash, &other) && map_put(&p->names, hash, i) < 0)
			ret = rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	}
	/* the name of an unknown kernel may be in the next part; if not, it is made for its first
	 * dispatch */
	for (size_t i = 0; i < nr && ret == 0; i++)
		if (p->kernels[i].known)
			ret = rpd_meta_kernel(p, i, &name);
	return ret;
}

static int write_kernels(struct rpd_process *p, sqlite3_stmt *stmt)
{
	size_t nr, nr_agents;
	const struct store_kernel *kernels = index_kernels(p->index, &nr);
	const struct store_agent *agents = index_agents(p->index, &nr_agents);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		const struct store_kernel *k = &kernels[i];
		const struct store_agent *agent = NULL;
		struct registers regs;

		for (size_t a = 0; a < nr_agents; a++) {
			if (agents[a].id == k->agent)
				agent = &agents[a];
		}
		regs = registers_of(k, agent);
		ret = rpd_db_insert(p->r, stmt, "iiittiiiiiiiiiiiie", p->base + (int64_t)k->id,
				    p->base + 1, (int64_t)k->id, k->name, k->demangled,
				    (int64_t)k->object, rpd_spool_id(p, k->code_object),
				    rpd_meta_agent(p, k->agent), (int64_t)k->kernarg_size,
				    (int64_t)k->group_size, (int64_t)k->private_size, regs.vgpr,
				    regs.accum_vgpr, regs.sgpr, (int64_t)k->rsrc1,
				    (int64_t)k->rsrc2, (int64_t)k->rsrc3, k->host_functions);
	}
	return ret;
}

static int write_threads(struct rpd_process *p, sqlite3_stmt *stmt)
{
	size_t nr;
	const struct store_thread *threads = index_threads(p->index, &nr);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = rpd_db_insert(p->r, stmt, "iiiei",
				    p->base + (int64_t)rpd_spool_thread_index(p, threads[i].tid) +
					    1,
				    p->base + 1, (int64_t)threads[i].tid, threads[i].name,
				    (int64_t)threads[i].first_ns);
	return ret;
}

static int write_infos(struct rpd_process *p, sqlite3_stmt *stmt)
{
	size_t nr;
	const struct store_info *infos = index_infos(p->index, &nr);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = rpd_db_insert(p->r, stmt, "iitt", p->base + (int64_t)i + 1, p->base + 1,
				    infos[i].key, infos[i].value);
	return ret;
}

/* Calls that are part of a launch and have no row: they are counted here. */
static int write_parts(struct rpd_process *p)
{
	uint64_t all = 2 * p->nr_configured;
	sqlite3_stmt *stmt = NULL;
	char count[24];
	size_t nr;
	int ret;

	if (all <= p->nr_parts)
		return 0;
	index_infos(p->index, &nr);
	snprintf(count, sizeof(count), "%" PRIu64, all - p->nr_parts);
	ret = rpd_db_prepare(p->r, &stmt, "INSERT INTO rtl_info VALUES (?, ?, ?, ?)");
	if (ret == 0)
		ret = rpd_db_insert(p->r, stmt, "iitt", p->base + (int64_t)nr + 1, p->base + 1,
				    "launch_calls", count);
	sqlite3_finalize(stmt);
	return ret;
}

int rpd_meta_write(struct rpd_process *p)
{
	static const struct {
		int (*write)(struct rpd_process *p, sqlite3_stmt *stmt);
		const char *sql;
	} all[] = {
		{ write_agents,
		  "INSERT INTO rtl_agent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		  "?, ?, ?, ?, ?)" },
		{ write_queues,
		  "INSERT INTO rtl_queue VALUES (?, ?, ?, ?, ?, nullif(?, 0), nullif(?, "
		  "0), ?, ?, ?, ?, nullif(?, 0), nullif(?, 0))" },
		{ write_code_objects,
		  "INSERT INTO rtl_code_object VALUES (?, ?, ?, ?, nullif(?, 0), ?, "
		  "?, ?, nullif(?, 0), nullif(?, 0))" },
		{ write_kernels,
		  "INSERT INTO rtl_kernel_symbol VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0), "
		  "nullif(?, 0), ?, ?, ?, nullif(?, -1), nullif(?, -1), nullif(?, -1), "
		  "?, ?, ?, ?)" },
		{ write_threads, "INSERT INTO rtl_thread VALUES (?, ?, ?, ?, nullif(?, 0))" },
		{ write_infos, "INSERT INTO rtl_info VALUES (?, ?, ?, ?)" },
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && ret == 0; i++) {
		sqlite3_stmt *stmt = NULL;

		ret = rpd_db_prepare(p->r, &stmt, all[i].sql);
		if (ret == 0)
			ret = all[i].write(p, stmt);
		sqlite3_finalize(stmt);
	}
	return ret;
}

void rpd_meta_trace(const struct rpd_process *p, char id[RPD_TRACE_ID])
{
	if (p->r->part)
		snprintf(id, RPD_TRACE_ID, "%s.%u", p->trace, p->r->part + 1);
	else
		snprintf(id, RPD_TRACE_ID, "%s", p->trace);
}

static int write_process(struct rpd_process *p)
{
	const struct load_facts *f = load_facts(index_load(p->index));
	const struct store_totals *t = index_totals(p->index);
	sqlite3_stmt *stmt = NULL;
	char trace[RPD_TRACE_ID];
	int ret;

	rpd_meta_trace(p, trace);
	ret = rpd_db_prepare(p->r, &stmt,
			     "INSERT INTO rtl_process VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
			     "?, ?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), nullif(?, 0), ?, ?, "
			     "?, ?, ?)");
	if (ret == 0)
		ret = rpd_db_insert(p->r, stmt, "iiiieieteeeeeeeeeeiiiittiii", p->base + 1, p->pid,
				    (int64_t)f->pid, (int64_t)f->ppid, index_info(p->index, "host"),
				    p->node, f->boot_id, trace, index_info(p->index, "command"),
				    index_info(p->index, "exe"), index_info(p->index, "cwd"),
				    index_info(p->index, "rank"),
				    index_info(p->index, "world_size"),
				    index_info(p->index, "local_rank"), index_info(p->index, "job"),
				    index_info(p->index, "mode"), index_info(p->index, "version"),
				    load_clock_name(f->clock_id), (int64_t)f->start_ns,
				    (int64_t)f->end_ns, (int64_t)t->first_ns, (int64_t)t->last_ns,
				    load_state_name(f), p->path, (int64_t)f->version, p->base,
				    p->base + p->blocks * RPD_BLOCK - 1);
	sqlite3_finalize(stmt);
	return ret;
}

int rpd_meta_finish(struct rpd_process *p)
{
	struct verdict *v = alloc_zero(1, sizeof(*v));
	sqlite3_stmt *stmt = NULL;
	int ret;

	if (!v)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	verdict_init(v);
	for (int i = 0; i < 2; i++) {
		struct verdict *to = i ? &p->r->verdict : v;

		if (p->r->is_split) {
			verdict_add_part(to, p->index);
			continue;
		}
		verdict_add_trace(to, p->index);
		verdict_add_launches(to, p->index, launches_missing(&p->launches),
				     p->launches.nr_submits);
	}
	ret = write_process(p);
	if (ret == 0)
		ret = write_parts(p);
	if (ret == 0)
		ret = rpd_db_prepare(p->r, &stmt,
				     "INSERT INTO rtl_loss_data VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < v->nr_rows && ret == 0; i++) {
		const struct verdict_row *row = &v->rows[i];

		ret = rpd_db_insert(p->r, stmt, "iitttiii", p->base + (int64_t)i + 1, p->base + 1,
				    row->reason, load_class_name(row->class), row->text,
				    (int64_t)row->count, (int64_t)row->first_ns,
				    (int64_t)row->last_ns);
	}
	sqlite3_finalize(stmt);
	alloc_free(v);
	return ret;
}

int rpd_meta_tell_apart(struct rpd *r)
{
#define BARE "CASE WHEN name LIKE '%.kd' THEN substr(name, 1, length(name) - 3) ELSE name END"
	/* of a group the columns are those of its least id */
	static const char sql[] =
		"CREATE TEMP TABLE rpd_apart AS WITH named AS (SELECT id, process_id, demangled AS old, " BARE
		" AS bare FROM main.rtl_kernel_symbol), kernels AS (SELECT id, process_id, old, bare, CASE WHEN old LIKE '%]' AND "
		"substr(old, -length(bare) - 3) = ' [' || bare || ']' THEN substr(old, 1, length(old) - length(bare) - 3) ELSE old END AS "
		"plain FROM named), alike AS (SELECT plain, bare, min(id) FROM kernels GROUP BY plain HAVING count(DISTINCT bare) > 1) "
		"SELECT K.id, P.id_first, P.id_last, K.old, K.plain || CASE WHEN K.bare = A.bare THEN '' ELSE ' [' || K.bare || ']' END "
		"AS new FROM alike A JOIN kernels K ON K.plain = A.plain JOIN main.rtl_process P ON P.id = K.process_id; "
		"UPDATE main.rocpd_string SET string = coalesce((SELECT new FROM rpd_apart A WHERE A.old = rocpd_string.string AND "
		"rocpd_string.id BETWEEN A.id_first AND A.id_last), string) WHERE string IN (SELECT old FROM rpd_apart WHERE new <> old); "
		"UPDATE main.rtl_kernel_symbol SET demangled = (SELECT new FROM rpd_apart A WHERE A.id = rtl_kernel_symbol.id) WHERE id "
		"IN (SELECT id FROM rpd_apart WHERE new <> old); "
		"DROP TABLE rpd_apart";

	return rpd_db_exec(r, sql);
}
