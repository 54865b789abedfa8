/* SPDX-License-Identifier: MIT */
/* profile.h - what a GPU counts in one pass: its events, and the packets that start, read and stop
 * the counters
 *
 * The packets are made by AMD's AQLprofile library, which the runtime loads (extension 0x202). A
 * profile is written once and its packets are submitted as often as needed, one reading at a time:
 * the values are the profile's until the next read packet.
 *
 * Sampling with a queue of one's own (the caller is its only producer):
 *
 *   profile_available(); profile_make(agent, events, nr, why, sizeof(why), &p);
 *   profile_put(queue, profile_packet(p, PROFILE_START), signal);   the signal is 1 before;
 *                                                                   profile_wait(signal)
 *   ... profile_put(queue, profile_packet(p, PROFILE_READ), signal); profile_wait(signal);
 *   profile_read(p, values); profile_put(queue, profile_packet(p, PROFILE_STOP), signal);
 *   profile_wait(signal); profile_free(p);
 *
 * values[profile_first_value(p, e)] is the first of the profile_nr_samples(p, e) values of event e:
 * one for each shader engine and XCC, or one alone. The counter's value is their sum.
 *
 * Threads:  any; one profile on one thread at a time.
 * Lifetime: a profile is freed while the runtime lives.
 */
#ifndef RTL_SOURCE_HSA_PROFILE_H
#define RTL_SOURCE_HSA_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "source/hsa/queue/packet.h"

#define PROFILE_MAX_EVENTS 1024u
#define PROFILE_WHY_SIZE 160u /* of an error's text */

/* Numbers as in AQLprofile. */
struct profile_event {
	uint32_t block, instance, event;
};

struct profile;

/* Finds AQLprofile. False: the runtime has none; it is logged once. */
bool profile_available(void);
/* The runtime goes away. Profiles are freed before. */
void profile_forget(void);

/* A packet that makes the kernels of the queue that executes it count; it reads `command`, which is
 * freed with profile_free_memory() when it has completed. False: it can't be made. */
bool profile_enable(hsa_agent_t agent, union packet *packet, void **command);
void profile_free_memory(void *memory);

/* A profile of `nr` events. -EINVAL: AQLprofile refuses an event, or all of them together;
 * -ENOTSUP: there is no AQLprofile;
 * -ENOMEM. `why`, of PROFILE_WHY_SIZE bytes, gets the reason. */
int profile_make(hsa_agent_t agent, const struct profile_event *events, uint32_t nr, char *why,
		 struct profile **made);
/* One more user of the profile; its memory is freed by the last of them, or kept for one that is
 * made with the same events. */
void profile_get(struct profile *p);
void profile_free(struct profile *p);
/* Frees what is kept. While the runtime takes calls. */
void profile_free_spares(void);

enum profile_part { PROFILE_START, PROFILE_READ, PROFILE_STOP, PROFILE_BEFORE, PROFILE_AFTER };
/* The packet, without a completion signal. NULL: the profile has no such part. */
const union packet *profile_packet(const struct profile *p, enum profile_part part);

/* Memory of librtl's own, by the runtime's function: the table of the program's (memory/reach.h)
 * does not have it, or a replay would copy it when it is freed. */
hsa_status_t profile_allocate(hsa_amd_memory_pool_t from, size_t size, void **memory);

/* A profile that packets of the caller's enclose, for a thread trace: `before` is executed before
 * the counters start, `after` when they have stopped. `events`: their profile, of which the caller
 * has the one user and which becomes this one; NULL: no events. `memory` is what the packets use,
 * of profile_allocate(), NULL at its end; it is freed with the profile. Other profiles are not
 * united with it. -ENOMEM: everything stays the caller's. */
int profile_enclose(struct profile **events, hsa_agent_t agent, const union packet *before,
		    const union packet *after, void *const *memory);

/* Reads the values that the GPU wrote: profile_nr_values() of them, for each event its samples.
 * False: AQLprofile refuses. */
bool profile_read(struct profile *p, uint64_t *values);
uint32_t profile_nr_values(const struct profile *p);
/* Of event `event`, by its position in profile_make(): the number of its values, and where they
 * begin. */
uint32_t profile_nr_samples(const struct profile *p, uint32_t event);
uint32_t profile_first_value(const struct profile *p, uint32_t event);

/* A number of its own, which no other profile gets. */
uint64_t profile_serial(const struct profile *p);
/* A profile of the events of all, each event once. -EINVAL: they do not fit together. */
int profile_unite(struct profile *const *all, uint32_t nr, char *why, struct profile **made);
/* Of `values` of `from` those of the events of `to`, in its order. False: an event is not in
 * `from`. */
bool profile_project(const struct profile *from, const uint64_t *values, const struct profile *to,
		     uint64_t *to_values);

/* Puts a packet into a queue that has no other producer. `done`: its completion signal; handle 0:
 * none. */
void profile_put(hsa_queue_t *hsa, const union packet *packet, hsa_signal_t done);
/* Waits until `done` is 0, for a second at most. */
bool profile_wait(hsa_signal_t done);
/* A queue of librtl's on a GPU, and a signal, for the packets of profiles. */
struct profile_queue {
	hsa_queue_t *hsa;
	hsa_signal_t done;
};
/* False: HSA's runtime is not up, or refuses. */
bool profile_queue_open(hsa_agent_t agent, struct profile_queue *q);
void profile_queue_close(struct profile_queue *q);
/* Has the GPU execute a packet, and waits for it, for a second at most. False: it did not, or the
 * runtime went away. */
bool profile_queue_run(const struct profile_queue *q, const struct profile *p,
		       enum profile_part part);

/* Kernels of `hsa`, which has no other user yet, count from now on: its register
 * COMPUTE_PERFCOUNT_ENABLE is set by its first packet. */
bool profile_enable_queue(hsa_agent_t agent, hsa_queue_t *hsa);

/* Id of the string that names the events and the number of their samples, as REC_COUNTERS has it;
 * 0: no memory. */
uint32_t profile_description(struct profile *p);

#endif
