/* SPDX-License-Identifier: MIT */
/* interpose.h - the program keeps its queue, and we stand between its indices and the hardware's
 *
 * The functions that move a queue's write index and those that store to signals are replaced in the runtime's
 * table. The program reserves packets from an index of ours. When it rings the doorbell, the packets that are valid
 * by then are looked at in place (submit.h), the real write index is advanced over them, and the real doorbell is rung with the
 * last of them. No packet is added, moved or copied, so it works for every kind of queue.
 *
 * Any number of threads may reserve, write and ring in any order:
 *
 *   - A doorbell takes the queue's turn without waiting. Who finds it taken says so (QUEUE_AGAIN) and goes on; the
 *     holder then looks again before it gives the turn back.
 *   - Packets are taken in order. The first that is reserved and not yet valid stops the look; its own doorbell goes on
 *     from there.
 *   - A doorbell may come before its packet is valid, or name packets that are reserved later: hardware would
 *     poll. The highest announced index is kept, and the harvester looks until it is reached.
 *   - A slot is looked at only once the packet processor has given it back (read index + size): producers reserve
 *     before there is room, and an older packet is in the slot then. The processor writes INVALID to a slot before
 *     it advances the read index; it must, or it would overwrite the next producer's packet.
 *
 *   operation          | reserve | doorbell                 | interpose_look | interpose_detach
 *   -------------------+---------+--------------------------+----------------+-----------------
 *   reserve            | any     | any                      | any            | program orders
 *   doorbell           |         | any: the turn            | any: the turn  | waits for the turn
 *   interpose_look     |         |                          | any: the turn  | the same
 */
#ifndef RTL_SOURCE_HSA_INTERPOSE_H
#define RTL_SOURCE_HSA_INTERPOSE_H

#include <stdbool.h>

#include "hsa_table_gen.h"
#include "source/hsa/queue/queue.h"

/* Whether the packets of `hsa` can be held back: it is a hardware queue for kernels, with a doorbell of its own. */
bool interpose_possible(const hsa_queue_t *hsa);

/* `q`, which queue_open() gave, becomes the interposed queue `hsa`. Nobody uses `hsa` yet. `by_functions`: its indices are
 * reached by the runtime's functions alone, since the handle may be no amd_queue_t. 0 or queue_attach()'s error. */
int interpose_attach(struct queue *q, hsa_queue_t *hsa, bool by_functions);

/* The queue is about to be destroyed: from here on its memory is not looked at any more. Waits for a thread that is
 * at it. The turn stays taken. */
void interpose_detach(struct queue *q);

/* It was not destroyed, and is `hsa` still. */
void interpose_reattach(struct queue *q, hsa_queue_t *hsa);

/* For the harvester: hands over what was announced and has become valid since; with `all` it also looks for packets
 * that got past us. true: there is more to come, look again soon. */
bool interpose_look(struct queue *q, bool all);

/* Gives a turn back that queue_turn_try() has given, looking at what others have announced meanwhile. */
void interpose_end_turn(struct queue *q);

/* Puts our functions into the table. */
void interpose_install(const struct hsa_mirror_root *root);

#endif
