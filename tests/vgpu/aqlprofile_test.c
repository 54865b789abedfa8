/* SPDX-License-Identifier: MIT */
/* aqlprofile_test.c - HSA's extension AQLPROFILE on the virtual GPU
 *
 *	aqlprofile_test counts|at_stop|second|second_amd|trace|masks|full|bad
 *
 * Prints the counters, or the tokens of thread traces; test_pmc.py compares them. Any failure ends
 * the program with status 1.
 */
#include "hsa_machine.h"

#include <dlfcn.h>

#include <hsa/hsa_ven_amd_aqlprofile.h>

enum { GROUP = 256, GROUPS = 4, ITEMS = GROUP * GROUPS };
enum { OUT_AT = 65536, DATA_SIZE = 2 * OUT_AT, EVENTS_MAX = 256, SES = 4 };

typedef hsa_ven_amd_aqlprofile_profile_t profile_t;
typedef hsa_ext_amd_aql_pm4_packet_t packet_t;

static hsa_ven_amd_aqlprofile_1_00_pfn_t aql;
static struct kernel counted;
static uint32_t *data;	  /* in, and 64 KiB behind it out */
static uint64_t *kernarg; /* one argument: data */

static void open_machine(void)
{
	open_agents();
	HSA(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof(aql),
						 &aql));
	CHECK(aql.hsa_ven_amd_aqlprofile_version_major() == 2);
	counted = load_kernel("counted.co", "counted.kd");
	data = allocate(DATA_SIZE);
	kernarg = allocate(4096);
	kernarg[0] = (uintptr_t)data;
	for (uint32_t i = 0; i < ITEMS; i++)
		data[i] = i * 3;
}

static void run_kernel(hsa_queue_t *q)
{
	hsa_kernel_dispatch_packet_t p = dispatch_of(&counted, ITEMS, GROUP, kernarg);

	memset(data + ITEMS, 0, DATA_SIZE - ITEMS * sizeof(*data));
	p.group_segment_size = 1024;
	wait_done(submit(q, &p));
	for (uint32_t i = 0; i < ITEMS; i++)
		CHECK(data[OUT_AT / 4 + i] == data[i] * 1024 + 1);
}

/* ---- profiles -------------------------------------------------------------------------------- */

struct counter {
	const char *name, *block;
	uint32_t event;
};

#define NR_COUNTERS 18
/* The blocks' counters are all used; events that are counted twice are two counters. */
static const struct counter sets[2][NR_COUNTERS] = {
	{ { "SQ_WAVES", "SQ", 4 },
	  { "SQ_INSTS_VALU", "SQ", 26 },
	  { "SQ_INSTS_SALU", "SQ", 30 },
	  { "SQ_INSTS_SMEM", "SQ", 31 },
	  { "SQ_INSTS_VMEM_RD", "SQ", 28 },
	  { "SQ_INSTS_VMEM_WR", "SQ", 27 },
	  { "SQ_INSTS_LDS", "SQ", 34 },
	  { "SQ_INSTS_BRANCH", "SQ", 38 },
	  { "GRBM_COUNT", "GRBM", 0 },
	  { "GRBM_GUI_ACTIVE", "GRBM", 2 },
	  { "TCC_HIT", "TCC", 20 },
	  { "TCC_MISS", "TCC", 22 },
	  { "TCC_EA_WRREQ", "TCC", 29 },
	  { "TCC_EA_RDREQ", "TCC", 41 },
	  { "TCP_HIT", "TCP", 128 },
	  { "TCP_TOTAL_ACCESSES", "TCP", 126 },
	  { "TCC_READ", "TCP", 23 },
	  { "TCC_WRITE", "TCP", 24 } },
	{ { "SQ_WAIT_INST_ANY", "SQ", 60 },
	  { "SQ_WAIT_INST_VMEM", "SQ", 61 },
	  { "SQ_WAIT_INST_SCA", "SQ_CS", 62 },
	  { "SQ_WAIT_INST_LDS", "SQ_CS", 63 },
	  { "SQ_WAIT_INST_VALU", "SQ", 64 },
	  { "SQ_WAIT_INST_MISC", "SQ", 66 },
	  { "SQ_INSTS", "SQ", 25 },
	  { "SQ_BUSY_CYCLES", "SQ", 3 },
	  { "GRBM_GUI_ACTIVE", "GRBM", 2 },
	  { "GRBM_COUNT", "GRBM", 0 },
	  { "TCC_EA_RDREQ", "TCC", 41 },
	  { "TCC_EA_WRREQ", "TCC", 29 },
	  { "TCC_MISS", "TCC", 22 },
	  { "TCC_HIT", "TCC", 20 },
	  { "TCC_WRITE", "TCP", 133 },
	  { "TCC_READ", "TCP", 130 },
	  { "TCP_HIT", "TCP", 128 },
	  { "TCP_TOTAL_ACCESSES", "TCP", 126 } },
};

/* A profile of the counters on all instances of their blocks. */
struct profile {
	profile_t p;
	hsa_ven_amd_aqlprofile_event_t events[EVENTS_MAX];
	const char *names[EVENTS_MAX]; /* of the events */
	packet_t start, read, stop;
};

static uint32_t block_of(const char *name, uint32_t *instances)
{
	profile_t none = { .agent = gpus[0] };
	hsa_ven_amd_aqlprofile_id_query_t query = { .name = name };

	HSA(aql.hsa_ven_amd_aqlprofile_get_info(&none, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID,
						&query));
	*instances = query.instance_count;
	return query.id;
}

static void add_events(struct profile *f, const struct counter *c)
{
	uint32_t instances, id = block_of(c->block, &instances);

	for (uint32_t i = 0; i < instances; i++) {
		CHECK(f->p.event_count < EVENTS_MAX);
		f->names[f->p.event_count] = c->name;
		f->events[f->p.event_count++] = (hsa_ven_amd_aqlprofile_event_t){
			.block_name = (hsa_ven_amd_aqlprofile_block_name_t)id,
			.block_index = i,
			.counter_id = c->event,
		};
	}
}

static void make_profile(struct profile *f, const struct counter *set_of, bool reads)
{
	memset(f, 0, sizeof(*f));
	f->p.agent = gpus[0];
	f->p.events = f->events;
	for (unsigned int c = 0; c < NR_COUNTERS; c++)
		add_events(f, &set_of[c]);
	HSA(aql.hsa_ven_amd_aqlprofile_start(&f->p, NULL));
	CHECK(!f->p.output_buffer.ptr && f->p.output_buffer.size && f->p.command_buffer.size);
	f->p.output_buffer.ptr = allocate(f->p.output_buffer.size);
	f->p.command_buffer.ptr = allocate(f->p.command_buffer.size);
	HSA(aql.hsa_ven_amd_aqlprofile_start(&f->p, &f->start));
	HSA(aql.hsa_ven_amd_aqlprofile_stop(&f->p, &f->stop));
	CHECK((aql.hsa_ven_amd_aqlprofile_read(&f->p, &f->read) == HSA_STATUS_SUCCESS) == reads);
}

struct sums {
	const struct profile *f;
	const char *names[NR_COUNTERS];
	uint64_t values[NR_COUNTERS];
	uint32_t nr, nr_samples, event;
};

static hsa_status_t on_sample(hsa_ven_amd_aqlprofile_info_type_t type,
			      hsa_ven_amd_aqlprofile_info_data_t *d, void *arg)
{
	struct sums *s = arg;
	const char *name;

	CHECK(type == HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA);
	/* a sample 0 begins the next event */
	s->event += s->nr_samples && !d->sample_id;
	s->nr_samples++;
	CHECK(s->event < s->f->p.event_count && d->sample_id < SES);
	CHECK(!memcmp(&d->pmc_data.event, &s->f->events[s->event], sizeof(d->pmc_data.event)));
	name = s->f->names[s->event];
	if (!s->nr || strcmp(s->names[s->nr - 1], name) != 0)
		s->names[s->nr++] = name;
	s->values[s->nr - 1] += d->pmc_data.result;
	return HSA_STATUS_SUCCESS;
}

/* The sum of an event's samples, as get_info() gives it. */
static uint64_t sum_of(const struct profile *f, uint32_t event)
{
	hsa_ven_amd_aqlprofile_info_data_t d = { .sample_id = UINT32_MAX,
						 .pmc_data.event = f->events[event] };

	HSA(aql.hsa_ven_amd_aqlprofile_get_info(&f->p, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &d));
	return d.pmc_data.result;
}

static void show(const struct profile *f, const char *when)
{
	struct sums s = { .f = f };

	HSA(aql.hsa_ven_amd_aqlprofile_iterate_data(&f->p, on_sample, &s));
	CHECK(s.event + 1 == f->p.event_count && s.nr == NR_COUNTERS);
	CHECK(s.nr_samples * 8 == f->p.output_buffer.size);
	/* the first counter has one instance */
	CHECK(sum_of(f, 0) == s.values[0]);
	for (uint32_t i = 0; i < s.nr; i++)
		printf("%s: %s %llu\n", when, s.names[i], (unsigned long long)s.values[i]);
	memset(f->p.output_buffer.ptr, 0xff, f->p.output_buffer.size);
}

static void count(struct profile *f, hsa_queue_t *q, unsigned int number)
{
	char when[32];

	wait_done(submit(q, &f->start));
	for (unsigned int k = 1; k <= 2; k++) {
		run_kernel(q);
		wait_done(submit(q, &f->read));
		snprintf(when, sizeof(when), "set %u after %u", number, k);
		show(f, when);
	}
	/* what runs after the stop is not counted */
	wait_done(submit(q, &f->read));
	wait_done(submit(q, &f->stop));
	run_kernel(q);
	snprintf(when, sizeof(when), "set %u stopped", number);
	show(f, when);
	wait_done(submit(q, &f->start));
	run_kernel(q);
	wait_done(submit(q, &f->read));
	wait_done(submit(q, &f->stop));
	snprintf(when, sizeof(when), "set %u again", number);
	show(f, when);
}

static void counts(void)
{
	static struct profile f;
	hsa_queue_t *q = new_queue(0, 64);

	for (unsigned int n = 0; n < 2; n++) {
		make_profile(&f, sets[n], true);
		count(&f, q, n);
	}
}

static void at_stop(void)
{
	static struct profile f;
	hsa_queue_t *q = new_queue(0, 64);

	make_profile(&f, sets[0], false);
	wait_done(submit(q, &f.start));
	run_kernel(q);
	wait_done(submit(q, &f.stop));
	show(&f, "at stop");
}

/* ---- the second interface -------------------------------------------------------------------- */

/* As rocprofiler-sdk was compiled with them. */
struct v2_handle {
	uint64_t handle;
};
struct v2_agent {
	const char *gfxip;
	uint32_t xccs, ses, cus, arrays;
};
struct v2_event {
	uint32_t instance, id, flags;
	int block;
};
struct v2_profile {
	struct v2_handle agent;
	const struct v2_event *events;
	uint32_t nr;
};
struct v2_packets {
	packet_t start, stop, read;
};
typedef hsa_status_t (*v2_sample_fn)(struct v2_event event, uint64_t id, uint64_t value, void *arg);
typedef hsa_status_t (*v2_name_fn)(int id, const char *name, void *arg);
typedef hsa_status_t (*v2_coord_fn)(int position, int id, int extent, int coordinate,
				    const char *name, void *arg);

static struct {
	hsa_status_t (*add)(struct v2_handle *agent, const struct v2_agent *info);
	hsa_status_t (*add_version)(struct v2_handle *agent, const void *info, int version);
	hsa_status_t (*info)(const struct v2_profile *p, int what, void *value);
	hsa_status_t (*valid)(struct v2_handle agent, const struct v2_event *e, bool *result);
	hsa_status_t (*make)(struct v2_handle *out, struct v2_packets *packets, struct v2_profile p,
			     hsa_status_t (*get)(void **, uint64_t, uint32_t, void *),
			     void (*put)(void *, void *),
			     hsa_status_t (*copy)(void *, const void *, size_t, void *), void *arg);
	void (*drop)(struct v2_handle h);
	hsa_status_t (*samples)(struct v2_handle h, v2_sample_fn fn, void *arg);
	hsa_status_t (*names)(v2_name_fn fn, void *arg);
	hsa_status_t (*coords)(struct v2_handle agent, struct v2_event e, uint64_t id,
			       v2_coord_fn fn, void *arg);
} v2;

static void *v2_find(void *library, const char *name)
{
	void *fn = dlsym(library, name);

	CHECK(fn);
	return fn;
}

/* What the virtual GPU's library has and refuses; AMD's reads the arguments. */
static void v2_refuses_traces(void *lib)
{
	static const char *const refused[] = { "aqlprofile_att_create_packets",
					       "aqlprofile_att_iterate_data",
					       "aqlprofile_att_codeobj_marker",
					       "aqlprofile_spm_create_packets" };

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		hsa_status_t (*fn)(void *, void *, void *);

		*(void **)&fn = v2_find(lib, refused[i]);
		CHECK(fn(NULL, NULL, NULL) != HSA_STATUS_SUCCESS);
	}
	v2_find(lib, "aqlprofile_att_delete_packets");
	v2_find(lib, "aqlprofile_spm_delete_packets");
}

static void *v2_open(void)
{
	void *lib = dlopen("libhsa-amd-aqlprofile64.so", RTLD_NOW | RTLD_NOLOAD);

	CHECK(lib);
	*(void **)&v2.add = v2_find(lib, "aqlprofile_register_agent");
	*(void **)&v2.add_version = v2_find(lib, "aqlprofile_register_agent_info");
	*(void **)&v2.info = v2_find(lib, "aqlprofile_get_pmc_info");
	*(void **)&v2.valid = v2_find(lib, "aqlprofile_validate_pmc_event");
	*(void **)&v2.make = v2_find(lib, "aqlprofile_pmc_create_packets");
	*(void **)&v2.drop = v2_find(lib, "aqlprofile_pmc_delete_packets");
	*(void **)&v2.samples = v2_find(lib, "aqlprofile_pmc_iterate_data");
	*(void **)&v2.names = v2_find(lib, "aqlprofile_iterate_event_ids");
	*(void **)&v2.coords = v2_find(lib, "aqlprofile_iterate_event_coord");
	v2_find(lib, "aqlprofile_get_version");
	return lib;
}

static uint32_t v2_nr_held;

static hsa_status_t v2_get(void **ptr, uint64_t size, uint32_t flags, void *arg)
{
	CHECK(arg == &v2 && (flags & 3) == 3);
	*ptr = allocate(size);
	v2_nr_held++;
	return HSA_STATUS_SUCCESS;
}

static void v2_put(void *ptr, void *arg)
{
	CHECK(ptr && arg == &v2);
	v2_nr_held--;
}

static hsa_status_t v2_copy(void *dst, const void *src, size_t size, void *arg)
{
	CHECK(arg == &v2);
	memcpy(dst, src, size);
	return HSA_STATUS_SUCCESS;
}

static const char *v2_dimensions[16];

static hsa_status_t v2_on_name(int id, const char *name, void *arg)
{
	CHECK(arg == &v2 && id >= 0 && id < 16 && !v2_dimensions[id]);
	v2_dimensions[id] = name;
	return HSA_STATUS_SUCCESS;
}

struct v2_at {
	int se, ses, instance, instances, nr;
};

static hsa_status_t v2_on_coord(int position, int id, int extent, int coordinate, const char *name,
				void *arg)
{
	struct v2_at *at = arg;

	CHECK(position == at->nr++ && !strcmp(v2_dimensions[id], name) && coordinate < extent);
	if (!strcmp(name, "SE"))
		at->se = coordinate, at->ses = extent;
	else if (!strcmp(name, "INSTANCE"))
		at->instance = coordinate, at->instances = extent;
	else
		CHECK(0);
	return HSA_STATUS_SUCCESS;
}

struct v2_sums {
	const struct profile *f;
	struct v2_handle agent;
	struct sums sums;
	uint64_t seen; /* shader engines of the event */
};

static hsa_status_t v2_on_sample(struct v2_event e, uint64_t id, uint64_t value, void *arg)
{
	struct v2_sums *s = arg;
	const hsa_ven_amd_aqlprofile_event_t *its;
	struct v2_at at = { .se = 0, .ses = 1 };
	const char *name;

	HSA(v2.coords(s->agent, e, id, v2_on_coord, &at));
	s->sums.event += s->sums.nr_samples && !at.se;
	s->sums.nr_samples++;
	CHECK(s->sums.event < s->f->p.event_count);
	its = &s->f->events[s->sums.event];
	CHECK((int)its->block_name == e.block && its->block_index == e.instance &&
	      its->counter_id == e.id && at.instance == (int)e.instance);
	CHECK(at.ses == 1 || at.ses == SES);
	name = s->f->names[s->sums.event];
	if (!s->sums.nr || strcmp(s->sums.names[s->sums.nr - 1], name) != 0)
		s->sums.names[s->sums.nr++] = name;
	s->sums.values[s->sums.nr - 1] += value;
	return HSA_STATUS_SUCCESS;
}

static void v2_count(struct v2_handle agent, unsigned int number, hsa_queue_t *q)
{
	static struct v2_event events[EVENTS_MAX];
	static struct profile f;
	struct v2_profile p = { .agent = agent, .events = events };
	struct v2_sums s = { .f = &f, .agent = agent };
	/* a caller sets what is not an address: AMD's library leaves it as it is */
	struct v2_packets packets = { 0 };
	struct v2_handle handle;
	bool valid;

	make_profile(&f, sets[number], true);
	for (; p.nr < f.p.event_count; p.nr++) {
		events[p.nr] = (struct v2_event){ .instance = f.events[p.nr].block_index,
						  .id = f.events[p.nr].counter_id,
						  .block = (int)f.events[p.nr].block_name };
		HSA(v2.valid(agent, &events[p.nr], &valid));
		CHECK(valid);
	}
	HSA(v2.make(&handle, &packets, p, v2_get, v2_put, v2_copy, &v2));
	CHECK(v2_nr_held == 2);
	wait_done(submit(q, &packets.start));
	run_kernel(q);
	wait_done(submit(q, &packets.read));
	wait_done(submit(q, &packets.stop));
	run_kernel(q);
	HSA(v2.samples(handle, v2_on_sample, &s));
	CHECK(s.sums.event + 1 == f.p.event_count);
	for (uint32_t i = 0; i < s.sums.nr; i++)
		printf("set %u: %s %llu\n", number, s.sums.names[i],
		       (unsigned long long)s.sums.values[i]);
	v2.drop(handle);
	CHECK(!v2_nr_held);
}

static void v2_refuses(struct v2_handle agent)
{
	struct v2_event e = { .block = 99999 };
	struct v2_profile p = { .agent = agent, .events = &e, .nr = 1 };
	struct v2_agent other = { .gfxip = "gfx1100" };
	struct v2_handle none = { 0 }, out;
	struct v2_packets packets;
	bool valid = true;

	CHECK(v2.add(&out, &other) != HSA_STATUS_SUCCESS);
	CHECK(v2.add_version(&out, &other, 9) != HSA_STATUS_SUCCESS);
	HSA(v2.valid(agent, &e, &valid));
	CHECK(!valid && v2.valid(none, &e, &valid) != HSA_STATUS_SUCCESS);
	CHECK(v2.make(&out, &packets, p, v2_get, v2_put, v2_copy, &v2) != HSA_STATUS_SUCCESS);
	p.agent = none;
	CHECK(v2.make(&out, &packets, p, v2_get, v2_put, v2_copy, &v2) != HSA_STATUS_SUCCESS);
	CHECK(v2.samples(none, v2_on_sample, NULL) != HSA_STATUS_SUCCESS);
	CHECK(!v2_nr_held);
}

static hsa_status_t on_first_coord(int position, int id, int extent, int coordinate,
				   const char *name, void *arg)
{
	(void)id;
	CHECK(position == !strcmp(name, "SE"));
	CHECK(position ? extent == SES && coordinate == 2 : extent == 16 && coordinate == 3);
	++*(int *)arg;
	return HSA_STATUS_SUCCESS;
}

static int nr_first_names;

static hsa_status_t on_first_name(int id, const char *name)
{
	CHECK(!strcmp(v2_dimensions[id], name));
	nr_first_names++;
	return HSA_STATUS_SUCCESS;
}

/* What the first interface has from ROCm 6.2 on, and its table of Debian 12 has not. */
static void later_functions(void *lib)
{
	hsa_status_t (*names)(hsa_status_t(*fn)(int id, const char *name));
	hsa_status_t (*coords)(hsa_agent_t agent, hsa_ven_amd_aqlprofile_event_t e, uint32_t sample,
			       v2_coord_fn fn, void *arg);
	hsa_status_t (*mark)(profile_t * p, packet_t * packet, uint32_t data, int channel);
	hsa_ven_amd_aqlprofile_event_t e = { .block_index = 3 };
	profile_t p = { .agent = gpus[0], .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE };
	uint32_t instances;
	packet_t packet;
	int seen = 0;

	*(void **)&names = v2_find(lib, "hsa_ven_amd_aqlprofile_iterate_event_ids");
	*(void **)&coords = v2_find(lib, "hsa_ven_amd_aqlprofile_iterate_event_coord");
	*(void **)&mark = v2_find(lib, "hsa_ven_amd_aqlprofile_att_marker");
	HSA(names(on_first_name));
	CHECK(nr_first_names == 6);
	e.block_name = (hsa_ven_amd_aqlprofile_block_name_t)block_of("TCP", &instances);
	HSA(coords(gpus[0], e, 2, on_first_coord, &seen));
	CHECK(seen == 2);
	CHECK(coords(gpus[0], e, SES, on_first_coord, &seen) != HSA_STATUS_SUCCESS);
	e.block_index = 16;
	CHECK(coords(gpus[0], e, 0, on_first_coord, &seen) != HSA_STATUS_SUCCESS && seen == 2);
	CHECK(mark(&p, &packet, 1, 0) != HSA_STATUS_SUCCESS);
}

static void second(bool is_ours)
{
	struct v2_agent info = { .gfxip = "gfx900", .xccs = 1, .ses = 4, .cus = 64, .arrays = 1 };
	hsa_ven_amd_aqlprofile_id_query_t query = { .name = "SQ" };
	struct v2_event wave = { .id = 4 };
	struct v2_handle agent, again;
	struct v2_profile p = { .events = &wave, .nr = 1 };
	hsa_queue_t *q = new_queue(0, 64);
	void *lib = v2_open();
	uint32_t nr = 0;

	HSA(v2.add(&agent, &info));
	HSA(v2.add_version(&again, &info, 1));
	CHECK(again.handle && (agent.handle == again.handle || !is_ours));
	HSA(v2.names(v2_on_name, &v2));
	p.agent = agent;
	HSA(v2.info(&p, 5, &query));
	CHECK(query.instance_count == 1);
	wave.block = (int)query.id;
	HSA(v2.info(&p, 4, &nr));
	CHECK(nr == 8 && v2.info(&p, 0, &nr) != HSA_STATUS_SUCCESS);
	for (unsigned int n = 0; n < 2; n++)
		v2_count(agent, n, q);
	if (is_ours) {
		v2_refuses(agent);
		v2_refuses_traces(lib);
		later_functions(lib);
	}
}

/* ---- thread trace ---------------------------------------------------------------------------- */

struct token {
	uint8_t type, se, cu, simd, slot, gpu;
	uint16_t wave;
	uint64_t time;
	uint32_t group, value;
	uint64_t packet;
};

static void make_trace(struct profile *f, const hsa_ven_amd_aqlprofile_parameter_t *params,
		       uint32_t nr, uint32_t size)
{
	memset(f, 0, sizeof(*f));
	f->p.agent = gpus[0];
	f->p.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE;
	f->p.parameters = params;
	f->p.parameter_count = nr;
	f->p.output_buffer.size = size;
	HSA(aql.hsa_ven_amd_aqlprofile_start(&f->p, NULL));
	/* it is enough */
	CHECK(f->p.output_buffer.size == size && f->p.command_buffer.size);
	f->p.output_buffer.ptr = allocate(size);
	f->p.command_buffer.ptr = allocate(f->p.command_buffer.size);
	HSA(aql.hsa_ven_amd_aqlprofile_start(&f->p, &f->start));
	HSA(aql.hsa_ven_amd_aqlprofile_stop(&f->p, &f->stop));
}

static hsa_status_t on_trace(hsa_ven_amd_aqlprofile_info_type_t type,
			     hsa_ven_amd_aqlprofile_info_data_t *d, void *arg)
{
	const struct token *t = d->trace_data.ptr;
	const struct profile *f = arg;
	hsa_ven_amd_aqlprofile_info_data_t one = { .sample_id = d->sample_id };

	CHECK(type == HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA);
	CHECK(d->trace_data.size % sizeof(*t) == 0);
	HSA(aql.hsa_ven_amd_aqlprofile_get_info(&f->p, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA,
						&one));
	CHECK(one.trace_data.ptr == t && one.trace_data.size == d->trace_data.size);
	printf("sample %u %u\n", d->sample_id, d->trace_data.size);
	for (uint32_t i = 0; i < d->trace_data.size / sizeof(*t); i++, t++)
		printf("token %u %u %u %u %u %u %u %llu %u %u %llu\n", t->type, t->se, t->cu,
		       t->simd, t->slot, t->gpu, t->wave, (unsigned long long)t->time, t->group,
		       t->value, (unsigned long long)t->packet);
	return HSA_STATUS_SUCCESS;
}

static void show_trace(const struct profile *f)
{
	const char *text;

	HSA(aql.hsa_ven_amd_aqlprofile_iterate_data(&f->p, on_trace, (void *)f));
	HSA(aql.hsa_ven_amd_aqlprofile_error_string(&text));
	printf("text '%s'\n", text);
}

static void run_groups(hsa_queue_t *q, uint32_t groups, uint16_t group)
{
	hsa_kernel_dispatch_packet_t p = dispatch_of(&counted, groups * group, group, kernarg);

	p.group_segment_size = 1024;
	wait_done(submit(q, &p));
}

/* A dispatch before, three in the trace on two queues, one behind it; then the same trace again
 * with one. */
static void trace(void)
{
	static struct profile f;
	hsa_queue_t *q = new_queue(0, 64), *other = new_queue(0, 64);

	make_trace(&f, NULL, 0, 1 << 20);
	run_groups(q, 1, 64);
	wait_done(submit(q, &f.start));
	run_groups(q, 4, 256);
	run_groups(other, 3, 128);
	run_groups(q, 60, 256);
	wait_done(submit(q, &f.stop));
	run_groups(q, 2, 64);
	show_trace(&f);
	wait_done(submit(q, &f.start));
	run_groups(q, 1, 256);
	wait_done(submit(q, &f.stop));
	show_trace(&f);
}

/* Two shader engines, and starts alone; then ends, and instructions of SIMDs 1 and 3 of compute
 * unit 0. */
static void masks(void)
{
	static const hsa_ven_amd_aqlprofile_parameter_t starts[] = {
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, 0xa },
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK, 1 << 3 },
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SAMPLE_RATE, 10 },
	};
	static const hsa_ven_amd_aqlprofile_parameter_t insts[] = {
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK, 1 << 6 | 1 << 10 },
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK, 0xa00 },
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, 9 },
	};
	static struct profile f;
	hsa_queue_t *q = new_queue(0, 64);

	make_trace(&f, starts, 3, 8192);
	wait_done(submit(q, &f.start));
	run_groups(q, 16, 256);
	wait_done(submit(q, &f.stop));
	show_trace(&f);
	make_trace(&f, insts, 3, 1 << 20);
	wait_done(submit(q, &f.start));
	run_groups(q, 16, 256);
	wait_done(submit(q, &f.stop));
	show_trace(&f);
}

/* A page for each shader engine, which is 128 tokens: dispatches of 64 waves fill it. */
static void full(void)
{
	static const hsa_ven_amd_aqlprofile_parameter_t no_insts[] = {
		{ HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK, 1 << 3 | 1 << 6 },
	};
	static struct profile f;
	hsa_queue_t *q = new_queue(0, 64);

	make_trace(&f, no_insts, 1, 4 * 4096);
	wait_done(submit(q, &f.start));
	run_groups(q, 60, 256);
	run_groups(q, 60, 256);
	wait_done(submit(q, &f.stop));
	show_trace(&f);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void refused(hsa_status_t status, hsa_status_t expected, const char *part)
{
	const char *text = NULL;

	HSA(aql.hsa_ven_amd_aqlprofile_error_string(&text));
	if (status != expected || !strstr(text, part)) {
		fprintf(stderr, "status 0x%x '%s', not 0x%x '%s'\n", (unsigned int)status, text,
			(unsigned int)expected, part);
		_exit(1);
	}
}

#define INVALID HSA_STATUS_ERROR_INVALID_ARGUMENT
#define ERROR HSA_STATUS_ERROR

static void bad_profiles(void)
{
	hsa_ven_amd_aqlprofile_event_t e[9];
	profile_t p = { .agent = gpus[0], .events = e, .event_count = 1 };
	uint32_t sq, tcc, instances;
	packet_t packet;
	bool good = true;

	sq = block_of("SQ", &instances);
	tcc = block_of("TCC", &instances);
	CHECK(instances == 16);
	refused(aql.hsa_ven_amd_aqlprofile_start(NULL, NULL), INVALID, "start: a null pointer");
	e[0] = (hsa_ven_amd_aqlprofile_event_t){ .block_name = 15 };
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), ERROR, "no such block");
	HSA(aql.hsa_ven_amd_aqlprofile_validate_event(gpus[0], e, &good));
	CHECK(!good);
	e[0] = (hsa_ven_amd_aqlprofile_event_t){ .block_name = tcc, .block_index = 16 };
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), ERROR, "no such instance");
	for (unsigned int i = 0; i < 9; i++)
		e[i] = (hsa_ven_amd_aqlprofile_event_t){ .block_name = sq, .counter_id = i };
	p.event_count = 8;
	HSA(aql.hsa_ven_amd_aqlprofile_start(&p, NULL));
	HSA(aql.hsa_ven_amd_aqlprofile_validate_event(gpus[0], e, &good));
	CHECK(good);
	p.event_count = 9;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), ERROR, "event 8");
	p.event_count = 8;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, &packet), INVALID, "no buffers");
	p.output_buffer.ptr = data;
	p.output_buffer.size = 8 * SES * 8 - 1;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), INVALID, "output buffer has 255 bytes");
	refused(aql.hsa_ven_amd_aqlprofile_stop(&p, NULL), INVALID, "stop: a null pointer");
	refused(aql.hsa_ven_amd_aqlprofile_iterate_data(&p, NULL, NULL), INVALID, "iterate_data");
	p.type = 7;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), INVALID, "of type 7");
}

static void bad_parameter(uint32_t name, uint32_t value, hsa_status_t status, const char *part)
{
	hsa_ven_amd_aqlprofile_parameter_t one = { (hsa_ven_amd_aqlprofile_parameter_name_t)name,
						   value };
	profile_t p = { .agent = gpus[0],
			.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE,
			.parameters = &one,
			.parameter_count = 1 };

	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), status, part);
}

static void bad_traces(void)
{
	profile_t p = { .agent = gpus[0], .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE };
	hsa_ven_amd_aqlprofile_event_t e = { .block_name = 0 };
	hsa_ven_amd_aqlprofile_info_data_t d = { .sample_id = 4 };
	packet_t packet;

	bad_parameter(0, 16, ERROR, "COMPUTE_UNIT_TARGET is 0x10");
	bad_parameter(1, 3, ERROR, "VM_ID_MASK is 0x3");
	bad_parameter(2, 0x10, ERROR, "MASK is 0x10");
	bad_parameter(3, 1u << 25, ERROR, "TOKEN_MASK is 0x2000000");
	bad_parameter(5, 0xf0, ERROR, "SE_MASK selects none");
	bad_parameter(8, 0, INVALID, "no parameter of a trace is 8");
	p.parameter_count = 1;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), INVALID, "parameters");
	p.parameter_count = 0;
	HSA(aql.hsa_ven_amd_aqlprofile_start(&p, NULL));
	CHECK(p.output_buffer.size == 4 * 4096);
	p.output_buffer.ptr = allocate(8 * 4096);
	p.command_buffer.ptr = allocate(p.command_buffer.size);
	p.output_buffer.size--;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, &packet), INVALID, "16383 bytes");
	p.output_buffer.size++;
	p.output_buffer.ptr = (char *)p.output_buffer.ptr + 32;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, &packet), INVALID, "multiple of 4096");
	p.output_buffer.ptr = (char *)p.output_buffer.ptr - 32;
	HSA(aql.hsa_ven_amd_aqlprofile_start(&p, &packet));
	refused(aql.hsa_ven_amd_aqlprofile_read(&p, &packet), ERROR, "read when it is stopped");
	refused(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &d),
		ERROR, "no shader engine 4");
	refused(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &d),
		INVALID, "no profile of counters");
	p.events = &e;
	p.event_count = 1;
	refused(aql.hsa_ven_amd_aqlprofile_start(&p, NULL), ERROR, "does not sample counters");
	p.event_count = UINT32_MAX;
	refused(aql.hsa_ven_amd_aqlprofile_iterate_data(&p, on_trace, NULL), ERROR,
		"does not sample PCs");
}

static void bad_questions(void)
{
	profile_t p = { .agent = gpus[0] };
	hsa_ven_amd_aqlprofile_id_query_t query = { .name = "SQX" };
	packet_t packet;
	uint32_t value;

	refused(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID,
						    &query),
		ERROR, "no block 'SQX'");
	refused(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS,
						    &value),
		INVALID, "an event is needed");
	refused(aql.hsa_ven_amd_aqlprofile_get_info(&p, 99, &value), INVALID, "no attribute is 99");
	refused(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, NULL),
		INVALID, "a null pointer");
	refused(aql.hsa_ven_amd_aqlprofile_legacy_get_pm4(&packet, data), ERROR, "gfx9");
	/* a command: its size first */
	HSA(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD, NULL));
	CHECK(p.command_buffer.size == 12);
	refused(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD,
						    &packet),
		INVALID, "command buffer");
	p.command_buffer.ptr = allocate(4096);
	HSA(aql.hsa_ven_amd_aqlprofile_get_info(&p, HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD,
						&packet));
	wait_done(submit(new_queue(0, 64), &packet));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	open_machine();
	if (!strcmp(what, "counts")) {
		counts();
	} else if (!strcmp(what, "at_stop")) {
		at_stop();
	} else if (!strcmp(what, "second")) {
		second(true);
	} else if (!strcmp(what, "second_amd")) {
		second(false);
	} else if (!strcmp(what, "trace")) {
		trace();
	} else if (!strcmp(what, "masks")) {
		masks();
	} else if (!strcmp(what, "full")) {
		full();
	} else if (!strcmp(what, "bad")) {
		bad_profiles();
		bad_traces();
		bad_questions();
		printf("all refused\n");
	} else {
		CHECK(!"what to do");
	}
	return 0;
}
