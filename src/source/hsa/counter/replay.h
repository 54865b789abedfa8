/* SPDX-License-Identifier: MIT */
/* replay.h - runs a dispatch several times, so that each pass of counters has it: kernel replay
 *
 * The dispatch is the next one of its queue, is not submitted yet, and nothing else runs on the
 * GPU. Copies of its packet run on a queue of librtl's, once for each pass but the last:
 *
 *   no copy runs -> memory saved -> pass 1 -> memory restored -> pass 2 -> ... -> memory restored
 *   -> done
 *
 * Then the memory is as before, and the caller counts the last pass with the program's own packet:
 * it is the one that has the program's signal, is recorded, and whose results stay.
 *
 * Saved is the memory of the GPU that it has alone (memory/reach.h), to memory of the host,
 * RTL_PMC_REPLAY_MB at most. A kernel is refused if its arguments, or the saved memory, have the
 * address of other memory. The passes get copies of the arguments.
 *
 * Threads:  one at a time: the harvester's, as the GPU that it belongs to (counter.c).
 */
#ifndef RTL_SOURCE_HSA_REPLAY_H
#define RTL_SOURCE_HSA_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "source/hsa/counter/profile.h"
#include "spool/format.h"

struct replay;

/* Why a dispatch is counted in one pass. why NULL: it is not. */
struct replay_refusal {
	const char *why; /* a constant */
	enum spool_reason reason;
};

/* The reasons that were in a warning. */
struct replay_warned {
	const char *why[16];
};
/* Warns that dispatch `nr` of a queue is counted in one pass. Once for each reason. */
void replay_warn(struct replay_warned *warned, const char *why,
		 const hsa_kernel_dispatch_packet_t *packet, uint64_t nr, uint32_t queue);

/* For a GPU whose counters need these `nr` profiles, which stay the caller's. NULL: the runtime or
 * the memory does not suffice. */
struct replay *replay_open(uint32_t agent, struct profile *const *profiles, uint32_t nr);
void replay_close(struct replay *r);

/* Begins with a dispatch of a queue of this type. `with_last`: the last pass is run as well, and
 * the program's packet counts other events. */
struct replay_refusal replay_begin(struct replay *r, const hsa_kernel_dispatch_packet_t *packet,
				   hsa_queue_type32_t type, bool with_last, uint64_t now_ns);

enum replay_result {
	REPLAY_WAITS,
	REPLAY_MOVED,
	REPLAY_DONE,
	REPLAY_FAILED, /* replay_failure() says why; the memory is as before */
};
enum replay_result replay_step(struct replay *r, uint64_t now_ns);
struct replay_refusal replay_failure(const struct replay *r);

/* Whether it waits for the kernel, not for copies. */
bool replay_runs_kernel(const struct replay *r);
/* Ends the kernel of a pass with its queue, and restores the memory. No dispatch is replayed
 * later. */
void replay_abort(struct replay *r, const char *why);

/* The values of a pass that was run, as profile_read() stores them. */
const uint64_t *replay_values(const struct replay *r, uint32_t pass);

#endif
