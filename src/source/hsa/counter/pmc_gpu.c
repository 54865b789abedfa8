/* SPDX-License-Identifier: MIT */
/* pmc_gpu.c - opens and closes what counter.c has for each GPU
 *
 * Owns:     the GPUs, under `open_lock`.
 * Threads:  see pmc_gpu.h.
 * Fails:    without AQLprofile, a queue or memory the GPU is not counted.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/counter/pmc_gpu.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "source/hsa/table/real.h"

#define PMC_QUEUE_SIZE 64u

static struct lock open_lock = LOCK_INIT(LOCK_COUNTER);
struct pmc_gpu *_Atomic pmc_gpus[AGENT_MAX];

static hsa_signal_t new_signal(void)
{
	hsa_signal_t s = { 0 };

	return real.hsa_amd_signal_create(1, 0, NULL, 0, &s) == HSA_STATUS_SUCCESS ?
		       s :
		       (hsa_signal_t){ 0 };
}

static uint32_t shape_of(hsa_agent_t agent)
{
	uint32_t engines = 0, xccs = 0;

	real.hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,
				&engines);
	/* HSA_AMD_AGENT_INFO_NUM_XCC, from ROCr 5.6 on */
	if (real.hsa_agent_get_info(agent, (hsa_agent_info_t)0xa111, &xccs) != HSA_STATUS_SUCCESS)
		xccs = 0;
	return engines | (xccs ? xccs : 1) << 16;
}

static struct profile *make_profile(hsa_agent_t agent, const char *isa, uint32_t pass)
{
	struct profile_event *events = alloc_pages(PROFILE_MAX_EVENTS * sizeof(*events));
	struct profile *p = NULL;
	char why[PROFILE_WHY_SIZE] = "no memory";

	if (!events || profile_make(agent, events, chosen_events(isa, pass, events), why, &p) != 0)
		log_warn("counters: the events of pass %u are not counted on %s: %s", pass + 1, isa,
			 why);
	if (events)
		alloc_pages_free(events, PROFILE_MAX_EVENTS * sizeof(*events));
	return p;
}

/* The user's. False: they are not counted. */
static bool make_profiles(struct pmc_gpu *l, hsa_agent_t agent, const char *isa)
{
	uint32_t n = chosen_any() ? chosen_passes(isa) : 0;

	for (; l->nr_profiles < n; l->nr_profiles++) {
		struct profile *p = make_profile(agent, isa, l->nr_profiles);

		if (!p)
			break;
		l->profiles[l->nr_profiles] = p;
	}
	if (l->nr_profiles == n)
		return n != 0;
	while (l->nr_profiles)
		profile_free(l->profiles[--l->nr_profiles]);
	return false;
}

static void free_profiles(struct pmc_gpu *l)
{
	if (l->replay)
		replay_close(l->replay);
	l->replay = NULL;
	while (l->nr_profiles)
		profile_free(l->profiles[--l->nr_profiles]);
	for (uint32_t i = 0; i < NR_UNITED; i++) {
		if (l->united[i].profile)
			profile_free(l->united[i].profile);
		l->united[i] = (struct united){ .nr = 0 };
	}
	if (l->values)
		alloc_pages_free(l->values, 2 * l->most_values * sizeof(*l->values));
	l->values = NULL;
	l->most_values = 0;
}

bool pmc_gpu_make_space(struct pmc_gpu *l, const struct profile *p)
{
	uint32_t n = profile_nr_values(p) + 1; /* a trace has none */

	if (n <= l->most_values)
		return true;
	if (l->values)
		alloc_pages_free(l->values, 2 * l->most_values * sizeof(*l->values));
	l->most_values = 0;
	l->values = alloc_pages(2 * n * sizeof(*l->values));
	if (l->values)
		l->most_values = n;
	return l->values != NULL;
}

bool pmc_gpu_isa(hsa_agent_t agent, char isa[ISA_SIZE])
{
	isa[0] = 0;
	return real.hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, isa) == HSA_STATUS_SUCCESS;
}

/* While the runtime takes calls: from 7.2 on it refuses them before it unloads tools. */
RTL_REQUIRES(open_lock) static void free_lane(struct pmc_gpu *l)
{
	if (l->hsa)
		real.hsa_queue_destroy(l->hsa);
	l->hsa = NULL;
	free_profiles(l);
	if (l->done.handle)
		real.hsa_signal_destroy(l->done);
	l->done.handle = 0;
}

void pmc_gpu_close(struct pmc_gpu *l)
{
	lock_take(&open_lock);
	free_lane(l);
	lock_drop(&open_lock);
}

static void open_replay(struct pmc_gpu *l, hsa_agent_t agent)
{
	if (!env_bool(ENV_PMC_REPLAY) || l->nr_profiles < 2)
		return;
	l->replay = replay_open(agent_index(agent), l->profiles, l->nr_profiles);
	if (!l->replay)
		log_warn(
			"counters: dispatches are counted in one pass each: the runtime or the memory "
			"of the host does not suffice to run them again");
}

RTL_REQUIRES(open_lock) static bool fill_lane(struct pmc_gpu *l, hsa_agent_t agent)
{
	char isa[ISA_SIZE];

	if (!pmc_gpu_isa(agent, isa) || !profile_available())
		return false;
	l->shape = shape_of(agent);
	l->done = new_signal();
	if (l->done.handle &&
	    real.hsa_queue_create(agent, PMC_QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
				  UINT32_MAX, UINT32_MAX, &l->hsa) == HSA_STATUS_SUCCESS &&
	    (make_profiles(l, agent, isa) || client_is_registered())) {
		open_replay(l, agent);
		return true;
	}
	free_lane(l);
	return false;
}

struct pmc_gpu *pmc_gpu_open(uint32_t agent)
{
	struct pmc_gpu *l;

	lock_take(&open_lock);
	l = atomic_load_explicit(&pmc_gpus[agent], memory_order_relaxed);
	if (!l) {
		l = alloc_pages(sizeof(*l));
		atomic_store_explicit(&pmc_gpus[agent], l, memory_order_release);
	}
	if (l && pmc_state(l) == PMC_UNKNOWN)
		pmc_gpu_set(l, fill_lane(l, agent_handle(agent)) ? PMC_IDLE : PMC_REFUSED);
	lock_drop(&open_lock);
	return l && pmc_state(l) != PMC_REFUSED ? l : NULL;
}
