/* SPDX-License-Identifier: MIT */
/* replay.c - runs a dispatch several times, so that each pass of counters has it
 *
 * Owns:     for each GPU a queue whose kernels count, the memory that saved memory is kept in, and
 *           how far the present replay is.
 * Threads:  see replay.h.
 * Fails:    a dispatch that can't be replayed is refused before anything of it ran, or after the
 *           memory was restored.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/counter/replay.h"

#include <string.h>
#include <time.h>

#include <hsa/hsa_ext_amd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/thread.h"
#include "source/hsa/agent.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/signal.h"
#include "source/hsa/counter/chosen.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/memory/copy_held.h"
#include "source/hsa/memory/reach.h"
#include "source/hsa/queue/internal_queue.h"
#include "source/hsa/table/real.h"

#define QUEUE_SIZE 64u
#define MIB (UINT64_C(1) << 20)
#define CHUNK (32 * MIB) /* of a copy: the harvester looks through it */
#define ALIGNMENT 4096u
#define ARGUMENTS 65536u
/* How long the program's copies may run, before the dispatch is counted in one pass. */
#define COPIES_NS UINT64_C(1000000000)
#define COPIES_LOOKS 1000u
#define ABORT_NS UINT64_C(10000000000)

enum phase {
	IDLE,
	CLOSING,  /* waits for copies of the program */
	SETTLING, /* caches are written back */
	SAVING,
	COUNTING,
	RESTORING,
	FINISHING, /* caches are invalidated */
};

/* Memory of the host that the GPU has access to. */
struct buffer {
	char *memory;
	uint64_t size;
};

struct replay {
	uint32_t agent, nr;
	hsa_agent_t handle, host;
	hsa_queue_t *hsa;
	hsa_signal_t done;
	hsa_amd_memory_pool_t backup_pool, argument_pool;
	struct buffer backup, arguments;
	struct profile *profiles[CHOSEN_MAX_PASSES];
	uint64_t *values[CHOSEN_MAX_PASSES];
	struct reach_view view;
	uint64_t first_other, end_other; /* addresses of memory that is not the GPU's alone */
	struct replay_refusal failure;
	const char *broken; /* nothing is replayed any more */
	/* the present one */
	enum phase phase;
	bool is_closed, is_spoiled; /* a range went away */
	bool is_looked_through;	    /* false: the kernel may write to other memory */
	uint64_t began_ns;
	uint32_t nr_looks, pass, end_pass;
	hsa_kernel_dispatch_packet_t packet;
	const void *arguments_of;
	uint32_t nr_arguments;
	/* what is being copied: of a range, and where it is in the backup */
	size_t range;
	uint64_t offset, length, at;
};

/* ---- opening --------------------------------------------------------------------------------- */

static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *data)
{
	struct replay *r = data;
	hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GROUP;
	uint32_t flags = 0;
	bool can = false;

	real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
					  &can);
	if (segment != HSA_AMD_SEGMENT_GLOBAL || !can)
		return HSA_STATUS_SUCCESS;
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT && !r->argument_pool.handle)
		r->argument_pool = pool;
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED || !r->backup_pool.handle)
		r->backup_pool = pool;
	return HSA_STATUS_SUCCESS;
}

static void find_host(struct replay *r)
{
	for (uint32_t i = 0; i < AGENT_MAX; i++) {
		hsa_agent_t agent = agent_handle(i);

		if (!agent.handle || agent_is_gpu(i))
			continue;
		real.hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, r);
		if (r->argument_pool.handle && r->backup_pool.handle) {
			r->host = agent;
			return;
		}
		r->argument_pool.handle = r->backup_pool.handle = 0;
	}
}

static void free_buffer(struct buffer *b)
{
	if (b->memory)
		real.hsa_amd_memory_pool_free(b->memory);
	*b = (struct buffer){ 0 };
}

/* At least `size` bytes. */
static bool make_buffer(const struct replay *r, struct buffer *b, hsa_amd_memory_pool_t pool,
			uint64_t size)
{
	void *memory = NULL;

	if (size <= b->size)
		return true;
	free_buffer(b);
	size = (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	if (real.hsa_amd_memory_pool_allocate(pool, size, 0, &memory) != HSA_STATUS_SUCCESS)
		return false;
	if (real.hsa_amd_agents_allow_access(1, &r->handle, NULL, memory) != HSA_STATUS_SUCCESS) {
		real.hsa_amd_memory_pool_free(memory);
		return false;
	}
	*b = (struct buffer){ memory, size };
	return true;
}

static bool has_functions(void)
{
	return real.hsa_amd_memory_async_copy && real.hsa_amd_memory_pool_allocate &&
	       real.hsa_amd_memory_pool_free && real.hsa_amd_memory_pool_get_info &&
	       real.hsa_amd_agent_iterate_memory_pools && real.hsa_amd_agents_allow_access;
}

static bool open_all(struct replay *r)
{
	bool all = false; /* HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT */

	if (!has_functions())
		return false;
	find_host(r);
	if (!r->host.handle ||
	    real.hsa_amd_signal_create(1, 0, NULL, 0, &r->done) != HSA_STATUS_SUCCESS ||
	    real.hsa_queue_create(r->handle, QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
				  UINT32_MAX, UINT32_MAX, &r->hsa) != HSA_STATUS_SUCCESS ||
	    !profile_enable_queue(r->handle, r->hsa) ||
	    !make_buffer(r, &r->arguments, r->argument_pool, ARGUMENTS))
		return false;
	for (uint32_t i = 0; i < r->nr; i++) {
		r->values[i] =
			alloc_pages((profile_nr_values(r->profiles[i]) + 1) * sizeof(uint64_t));
		if (!r->values[i])
			return false;
	}
	if (real.hsa_system_get_info((hsa_system_info_t)0x202, &all) == HSA_STATUS_SUCCESS && all)
		r->broken = "its GPU has access to all memory of the host (XNACK)";
	return true;
}

void replay_warn(struct replay_warned *warned, const char *why,
		 const hsa_kernel_dispatch_packet_t *packet, uint64_t nr, uint32_t queue)
{
	char name[256];

	for (uint32_t i = 0; i < ARRAY_SIZE(warned->why); i++) {
		if (warned->why[i] == why)
			return;
		if (warned->why[i])
			continue;
		warned->why[i] = why;
		code_object_name(packet->kernel_object, name, sizeof(name));
		log_warn(
			"counters: dispatch %llu of queue %u, of kernel %s, is counted in one pass: %s; "
			"the number of such dispatches is in the trace",
			(unsigned long long)nr, queue, name, why);
		return;
	}
}

struct replay *replay_open(uint32_t agent, struct profile *const *profiles, uint32_t nr)
{
	struct replay *r = alloc_pages(sizeof(*r));

	if (!r)
		return NULL;
	r->agent = agent;
	r->handle = agent_handle(agent);
	r->nr = nr;
	memcpy(r->profiles, profiles, nr * sizeof(*profiles));
	if (open_all(r))
		return r;
	replay_close(r);
	return NULL;
}

void replay_close(struct replay *r)
{
	if (r->hsa)
		real.hsa_queue_destroy(r->hsa);
	if (r->done.handle)
		real.hsa_signal_destroy(r->done);
	free_buffer(&r->backup);
	free_buffer(&r->arguments);
	for (uint32_t i = 0; i < r->nr; i++)
		if (r->values[i])
			alloc_pages_free(r->values[i], (profile_nr_values(r->profiles[i]) + 1) *
							       sizeof(uint64_t));
	reach_free(&r->view);
	alloc_pages_free(r, sizeof(*r));
}

const uint64_t *replay_values(const struct replay *r, uint32_t pass)
{
	return r->values[pass];
}

struct replay_refusal replay_failure(const struct replay *r)
{
	return r->failure;
}

bool replay_runs_kernel(const struct replay *r)
{
	return r->phase == COUNTING;
}

/* ---- what the kernel can reach --------------------------------------------------------------- */

static bool is_saved(const struct replay *r, const struct reach_range *at)
{
	return at->kind == REACH_OWN && at->agent == r->agent;
}

static const char *why_not(const struct replay *r, const struct reach_range *at)
{
	switch (at->kind) {
	case REACH_NOBODYS:
		return NULL;
	case REACH_OWN:
		return at->agent == r->agent ? NULL :
					       "its kernel may write to memory of another GPU";
	case REACH_HOST:
		return "its kernel may write to memory of the host";
	case REACH_OTHER_GPU:
		return "its kernel may write to memory that another GPU has access to";
	case REACH_OTHER_USER:
		return "its kernel may write to memory that another process or device has access to";
	default:
		return "the program has memory that is not known to be of a GPU or the host";
	}
}

/* Looks for addresses of memory that is not saved. NULL: there are none. */
static const char *look_through(const struct replay *r, const void *memory, uint64_t size)
{
	const uint64_t *words = memory;

	for (uint64_t i = 0; i < size / sizeof(*words); i++) {
		const struct reach_range *at;
		const char *why;

		if (words[i] < r->first_other || words[i] >= r->end_other)
			continue;
		at = reach_find(&r->view, words[i]);
		why = at ? why_not(r, at) : NULL;
		if (why)
			return why;
	}
	return NULL;
}

/* Kernels of HIP's for copies and fills store the same however often they run; they get addresses
 * of the host's memory. */
static bool is_repeatable(const struct replay *r)
{
	static const char *const all[] = { "__amd_rocclr_copy", "__amd_rocclr_fill" };
	char name[128];

	code_object_name(r->packet.kernel_object, name, sizeof(name));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strncmp(name, all[i], strlen(all[i])) == 0)
			return true;
	return false;
}

/* What has to be saved, in bytes of the backup. */
static uint64_t add_up(struct replay *r)
{
	uint64_t sum = 0;

	r->first_other = UINT64_MAX;
	r->end_other = 0;
	for (size_t i = 0; i < r->view.nr; i++) {
		const struct reach_range *at = &r->view.ranges[i];

		if (is_saved(r, at)) {
			sum += at->size + (-at->size & 63);
		} else if (at->kind != REACH_NOBODYS) {
			if (r->first_other > at->base)
				r->first_other = at->base;
			r->end_other = at->base + at->size;
		}
	}
	return sum;
}

static struct replay_refusal refuse(enum spool_reason reason, const char *why)
{
	return (struct replay_refusal){ .why = why, .reason = reason };
}

/* Finds the arguments, which the host can read. */
static struct replay_refusal find_arguments(struct replay *r)
{
	uint32_t size = code_object_kernarg_size(r->packet.kernel_object);
	uint64_t address = (uint64_t)(uintptr_t)r->packet.kernarg_address;
	const struct reach_range *at = reach_find(&r->view, address);

	r->arguments_of = r->packet.kernarg_address;
	r->nr_arguments = address ? size : 0;
	if (r->nr_arguments > ARGUMENTS)
		return refuse(SPOOL_REASON_replay_refused,
			      "the size of its kernel's arguments is not known, or over 64 KiB");
	if (r->nr_arguments && (!at || is_saved(r, at) || at->kind == REACH_OTHER_USER ||
				at->base + at->size - address < r->nr_arguments))
		return refuse(SPOOL_REASON_replay_refused,
			      "its kernel's arguments are in memory that the host can't read");
	return refuse(SPOOL_REASON_replay_refused, NULL);
}

static struct replay_refusal check(struct replay *r)
{
	struct replay_refusal no;
	const char *why;
	uint64_t size;

	if (!reach_read(&r->view) || !r->view.is_complete)
		return refuse(SPOOL_REASON_replay_refused, "there is no memory for the addresses");
	size = add_up(r);
	no = find_arguments(r);
	if (no.why)
		return no;
	why = look_through(r, r->arguments_of, r->nr_arguments);
	r->is_looked_through = !why || !is_repeatable(r);
	if (why && r->is_looked_through)
		return refuse(SPOOL_REASON_replay_shared, why);
	if (size > env_uint(ENV_PMC_REPLAY_MB) * MIB)
		return refuse(SPOOL_REASON_replay_memory,
			      "its GPU has more memory in use than RTL_PMC_REPLAY_MB");
	if (!make_buffer(r, &r->backup, r->backup_pool, size))
		return refuse(SPOOL_REASON_replay_memory,
			      "the host has no memory for what is to be saved");
	return refuse(SPOOL_REASON_replay_memory, NULL);
}

struct replay_refusal replay_begin(struct replay *r, const hsa_kernel_dispatch_packet_t *packet,
				   hsa_queue_type32_t type, bool with_last, uint64_t now_ns)
{
	struct replay_refusal no;

	if (r->broken)
		return refuse(SPOOL_REASON_replay_refused, r->broken);
	if (type == HSA_QUEUE_TYPE_COOPERATIVE)
		return refuse(SPOOL_REASON_replay_refused,
			      "its queue is for kernels whose work-groups wait for each other");
	if (packet_type(packet->header) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
		return refuse(SPOOL_REASON_replay_refused, "its packet is of a kind of its own");
	r->packet = *packet;
	/* before the table is read: nothing is freed from now on */
	reach_keep(true);
	no = check(r);
	if (no.why) {
		reach_keep(false);
		return no;
	}
	r->phase = CLOSING;
	r->is_closed = r->is_spoiled = false;
	r->began_ns = now_ns;
	r->nr_looks = r->pass = 0;
	r->end_pass = with_last ? r->nr : r->nr - 1;
	return no;
}

/* ---- packets --------------------------------------------------------------------------------- */

#define SCOPES                                                                                     \
	(HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                       \
	 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |                       \
	 1 << HSA_PACKET_HEADER_BARRIER)

static bool is_complete(const struct replay *r)
{
	return signal_value(signal_of(r->done)) == 0;
}

static void arm(struct replay *r)
{
	__atomic_store_n(&signal_of(r->done)->value, 1, __ATOMIC_RELEASE);
}

/* A packet that does nothing but to write caches back and invalidate them. */
static void put_fence(const struct replay *r, hsa_signal_t done)
{
	union packet p = { .header = 0 };

	p.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | SCOPES;
	profile_put(r->hsa, &p, done);
}

/* Reads and writes of memory by copies and by kernels are in order on both sides of it. */
static void fence(struct replay *r)
{
	arm(r);
	put_fence(r, r->done);
}

static void put_part(const struct replay *r, enum profile_part part)
{
	const union packet *p = profile_packet(r->profiles[r->pass], part);

	if (p)
		profile_put(r->hsa, p, (hsa_signal_t){ 0 });
}

/* Runs the kernel, counted. */
static void run_pass(struct replay *r)
{
	union packet p = { .dispatch = r->packet };

	if (r->nr_arguments)
		memcpy(r->arguments.memory, r->arguments_of, r->nr_arguments);
	p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | SCOPES;
	if (r->nr_arguments)
		p.dispatch.kernarg_address = r->arguments.memory;
	arm(r);
	put_fence(r, (hsa_signal_t){ 0 });
	put_part(r, PROFILE_START);
	profile_put(r->hsa, &p, (hsa_signal_t){ 0 });
	put_part(r, PROFILE_READ);
	put_part(r, PROFILE_STOP);
	put_fence(r, r->done);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The next range that is saved, from r->range on. False: there is none. */
static bool find_range(struct replay *r)
{
	while (r->range < r->view.nr && !is_saved(r, &r->view.ranges[r->range]))
		r->range++;
	return r->range < r->view.nr;
}

/* Leaves out a range that was freed because the replay took too long. */
static bool find_range_to_restore(struct replay *r)
{
	while (find_range(r) && r->offset == 0 && !reach_has(&r->view.ranges[r->range])) {
		const struct reach_range *at = &r->view.ranges[r->range++];

		r->at += at->size + (-at->size & 63);
		r->is_spoiled = true;
	}
	return r->range < r->view.nr;
}

/* Submits the next copy. False: all is copied. */
static bool copy_next(struct replay *r, bool back)
{
	struct internal_queue_call call = { .correlation = EVENT_LEFT_OUT,
					    .signal = signal_of(r->done) };
	const struct reach_range *at;
	hsa_status_t status;
	char *here, *there;

	if (!(back ? find_range_to_restore(r) : find_range(r)))
		return false;
	at = &r->view.ranges[r->range];
	r->length = at->size - r->offset < CHUNK ? at->size - r->offset : CHUNK;
	here = (char *)(uintptr_t)(at->base + r->offset);
	there = r->backup.memory + r->at;
	arm(r);
	internal_queue_enter(&call);
	status = back ? real.hsa_amd_memory_async_copy(here, r->handle, there, r->host, r->length,
						       0, NULL, r->done) :
			real.hsa_amd_memory_async_copy(there, r->host, here, r->handle, r->length,
						       0, NULL, r->done);
	internal_queue_leave(&call, thread_get());
	if (status != HSA_STATUS_SUCCESS)
		__atomic_store_n(&signal_of(r->done)->value, -1, __ATOMIC_RELEASE);
	return true;
}

static void begin_copies(struct replay *r, enum phase phase)
{
	r->phase = phase;
	r->range = r->offset = r->at = 0;
}

/* The copy has completed. */
static void advance(struct replay *r)
{
	r->at += r->length;
	r->offset += r->length;
	if (r->offset < r->view.ranges[r->range].size)
		return;
	r->offset = 0;
	r->at += -r->at & 63;
	r->range++;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void end(struct replay *r)
{
	r->phase = IDLE;
	if (r->is_closed)
		copy_held_open();
	r->is_closed = false;
	reach_keep(false);
}

static enum replay_result fail(struct replay *r, enum spool_reason reason, const char *why)
{
	end(r);
	r->failure = refuse(reason, why);
	return REPLAY_FAILED;
}

static enum replay_result close_copies(struct replay *r, uint64_t now_ns)
{
	bool ever;

	copy_harvest(false);
	r->is_closed = copy_held_close(&ever);
	if (r->is_closed) {
		r->phase = SETTLING;
		fence(r);
		return REPLAY_MOVED;
	}
	if (!ever)
		return fail(r, SPOOL_REASON_replay_beside,
			    "the program makes copies that librtl does not follow");
	/* looks, too: this thread may not have run for so long */
	if (++r->nr_looks > COPIES_LOOKS && now_ns - r->began_ns > COPIES_NS)
		return fail(r, SPOOL_REASON_replay_beside, "a copy ran for longer than a second");
	return REPLAY_WAITS;
}

static enum replay_result begin_pass(struct replay *r)
{
	r->phase = COUNTING;
	run_pass(r);
	return REPLAY_MOVED;
}

static enum replay_result save(struct replay *r)
{
	const char *why = NULL;

	if (r->length) {
		if (signal_value(signal_of(r->done)) < 0)
			why = "the runtime does not copy its memory";
		else if (r->is_looked_through)
			why = look_through(r, r->backup.memory + r->at, r->length);
		if (why)
			return fail(r,
				    signal_value(signal_of(r->done)) < 0 ?
					    SPOOL_REASON_replay_refused :
					    SPOOL_REASON_replay_shared,
				    why);
		advance(r);
		r->length = 0;
	}
	return copy_next(r, false) ? REPLAY_MOVED : begin_pass(r);
}

static enum replay_result restore(struct replay *r)
{
	if (r->length) {
		r->is_spoiled |= signal_value(signal_of(r->done)) < 0;
		advance(r);
		r->length = 0;
	}
	if (copy_next(r, true))
		return REPLAY_MOVED;
	if (r->pass < r->end_pass && !r->is_spoiled)
		return begin_pass(r);
	r->phase = FINISHING;
	fence(r);
	return REPLAY_MOVED;
}

static enum replay_result counted(struct replay *r)
{
	if (!profile_read(r->profiles[r->pass], r->values[r->pass]))
		r->is_spoiled = true;
	r->pass++;
	begin_copies(r, RESTORING);
	r->length = 0;
	return restore(r);
}

enum replay_result replay_step(struct replay *r, uint64_t now_ns)
{
	if (r->phase == CLOSING)
		return close_copies(r, now_ns);
	if (signal_value(signal_of(r->done)) > 0)
		return REPLAY_WAITS;
	switch (r->phase) {
	case SETTLING:
		begin_copies(r, SAVING);
		r->length = 0;
		return save(r);
	case SAVING:
		return save(r);
	case COUNTING:
		return counted(r);
	case RESTORING:
		return restore(r);
	default:
		break;
	}
	if (r->is_spoiled)
		return fail(r, SPOOL_REASON_replay_refused, "a pass has no values");
	end(r);
	return REPLAY_DONE;
}

static bool wait_copy(const struct replay *r, uint64_t deadline_ns)
{
	const struct timespec nap = { .tv_nsec = 50000 };

	while (signal_value(signal_of(r->done)) > 0 && clock_now_ns() < deadline_ns)
		sys_nap(&nap);
	return is_complete(r);
}

void replay_abort(struct replay *r, const char *why)
{
	uint64_t deadline_ns = clock_now_ns() + ABORT_NS;
	bool changed = r->phase >= COUNTING;

	r->broken = why;
	if (r->phase == IDLE)
		return;
	/* a copy that is being made ends by itself */
	if (r->phase != COUNTING && r->phase != CLOSING)
		wait_copy(r, deadline_ns);
	if (changed) {
		real.hsa_queue_destroy(r->hsa);
		r->hsa = NULL;
		begin_copies(r, RESTORING);
		while (copy_next(r, true) && wait_copy(r, deadline_ns))
			advance(r);
		if (find_range(r))
			log_warn(
				"counters: memory of the GPU of agent %u was not restored after a kernel that was run again",
				r->agent);
	}
	end(r);
}
