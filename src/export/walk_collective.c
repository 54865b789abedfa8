/* SPDX-License-Identifier: MIT */
/* walk_collective.c - collectives of several GPUs as events, and which of their kernels are joined
 * by arrows */
#include <errno.h>

#include "base/alloc.h"
#include "export/walk_internal.h"

void walk_joints_fini(struct walk_joints *joints)
{
	alloc_free(joints->ops);
	alloc_free(joints->sets);
	map_fini(&joints->sets_by_op);
}

/* Adds a kernel to the last set. */
static int add_op(struct walk_joints *j, int64_t op)
{
	int64_t *ops = alloc_grow(j->ops, j->nr, &j->max, 64, sizeof(*ops));

	if (!ops)
		return -ENOMEM;
	j->ops = ops;
	ops[j->nr++] = op;
	return map_put(&j->sets_by_op, (uint64_t)op, j->nr_sets - 1);
}

/* Calls of MPI have no arrows: the ids of calls are not those of operations. */
static int join(struct walk_joints *j, const struct collective_slices *slices)
{
	const struct collective_one *one = slices->one;
	const struct collective_arrival *last = &one->arrivals[one->last];
	struct walk_joint_set *sets;
	int ret;

	if (slices->parties[last->party].gpu < 0 || j->nr + one->nr > WALK_JOINT)
		return 0;
	sets = alloc_grow(j->sets, j->nr_sets, &j->max_sets, 16, sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	j->sets = sets;
	sets[j->nr_sets++] = (struct walk_joint_set){ last->begin, j->nr };
	ret = add_op(j, last->op);
	for (size_t i = 0; ret == 0 && i < one->nr; i++)
		if (i != one->last && one->arrivals[i].end > last->begin)
			ret = add_op(j, one->arrivals[i].op);
	return ret;
}

static struct walk_joint joint_of(const struct walk_joints *j, size_t set)
{
	size_t first = j->sets[set].first,
	       end = set + 1 < j->nr_sets ? j->sets[set + 1].first : j->nr;

	return (struct walk_joint){ j->sets[set].begin, j->ops + first, end - first, first };
}

bool walk_joint(const struct walk *walk, int64_t op, struct walk_joint *joint, size_t *number)
{
	uint64_t set;

	if (!map_get(&walk->joints.sets_by_op, (uint64_t)op, &set))
		return false;
	*joint = joint_of(&walk->joints, set);
	for (*number = 0; *number < joint->nr; (*number)++)
		if (joint->ops[*number] == op)
			return true;
	return false;
}

bool walk_joint_next(const struct walk *walk, size_t *at, struct walk_joint *joint)
{
	if (*at >= walk->joints.nr_sets)
		return false;
	*joint = joint_of(&walk->joints, (*at)++);
	return true;
}

static int pass_collective(void *arg, const struct collective_slices *slices)
{
	struct walk *walk = arg;
	const struct collective_one *one = slices->one;
	struct walk_notes *notes = &walk->collective.notes;

	walk->collective.slices = slices;
	notes->nr = 0;
	walk_add_int(notes, WALK_NUMBER, (int64_t)one->number);
	walk_add(notes, walk_text(WALK_CLASS, collective_classes[one->class]));
	walk_add_int(notes, WALK_SKEW_NS, slices->skew_ns);
	walk_add_int(notes, WALK_TRANSFER_NS, slices->transfer_ns);
	if (one->arrivals[one->last].bytes)
		walk_add_int(notes, WALK_BYTES, (int64_t)one->arrivals[one->last].bytes);
	if (join(&walk->joints, slices))
		return query_fail_memory(walk->q);
	return walk->put_collective(walk->w, &walk->collective);
}

int walk_collectives(struct walk *walk, walk_collective_fn put)
{
	walk->put_collective = put;
	return walk->q->only ? 0 : collective_tracks_read(walk->q, pass_collective, walk);
}
