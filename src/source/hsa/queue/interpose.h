/* SPDX-License-Identifier: MIT */
/* interpose.h - interposition: librtl stands between the program's indices and the hardware's
 *
 * librtl replaces the functions that move a queue's write index and those that store to signals in
 * the runtime's table. The program reserves packets from librtl's shadow index. When it rings the
 * doorbell, librtl instruments the valid packets where they are (submit.h), advances the real write
 * index over them, and rings the real doorbell with the last of them. No packet is added, moved or
 * copied, so this works for every kind of queue.
 *
 * Any number of threads may reserve, write and ring in any order:
 *
 *   - A doorbell takes the queue's turn without waiting. A thread that finds it taken sets
 *     QUEUE_AGAIN and continues; the holder then serves once more before it gives the turn back.
 *   - Packets are submitted in order, up to the first that is reserved and not yet valid; its own
 *     doorbell continues from there.
 *   - A doorbell may come before its packet is valid, or name packets that are reserved later:
 *     hardware would poll. The highest announced index is kept, and the harvester polls until it is
 *     reached.
 *   - A slot is read only after the packet processor has freed it (read index + size): producers
 *     reserve before slots are free, and such a slot contains an older packet. The processor writes
 *     INVALID to a slot before it advances the read index; otherwise it would overwrite the next
 *     producer's packet.
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

/* Whether librtl can hold back the packets of `hsa`: it is a hardware queue for kernels, with a
 * doorbell of its own. */
bool interpose_possible(const hsa_queue_t *hsa);

/* `q`, from queue_open(), becomes the interposed queue `hsa`, which no thread uses yet.
 * `by_functions`: only the runtime's functions can read its indices, since the handle may be no
 * amd_queue_t. 0 or queue_attach()'s error. */
int interpose_attach(struct queue *q, hsa_queue_t *hsa, bool by_functions);

/* The queue is about to be destroyed: its memory is not accessed after this. Waits for a thread
 * that submits. The turn stays taken. */
void interpose_detach(struct queue *q);

/* Destroying failed: it is `hsa` still. */
void interpose_reattach(struct queue *q, hsa_queue_t *hsa);

/* For the harvester: submits packets that were announced and have become valid since; with `all`
 * also looks for packets that reached the hardware past librtl. true: more will come, call again
 * soon. */
bool interpose_look(struct queue *q, bool all);

/* Submits what is valid and may be submitted. Under the turn. */
void interpose_submit(struct queue *q);

/* The end of the slots whose packets may be read, at most `end`: those that the packet processor
 * has freed for them. Under the turn. */
uint64_t interpose_free_end(struct queue *q, uint64_t end);

/* Submits the packets that were announced while their threads could not: another had the turn.
 * Under the turn, in a hook. */
void interpose_submit_announced(struct queue *q);

/* Gives back a turn taken by queue_turn_try(), after serving doorbells that rang meanwhile. */
void interpose_end_turn(struct queue *q);

/* Packets before `end` are announced, and no doorbell follows: the harvester submits them. Any
 * thread. */
void interpose_expect(struct queue *q, uint64_t end);

/* A client that was called under the turn was left (callout.h): packets before `end` are the
 * hardware's, the rest is the harvester's, and the turn is given back. */
void interpose_leave(struct queue *q, uint64_t end);

/* Puts librtl's functions into the table. */
void interpose_install(const struct hsa_mirror_root *root);

#endif
