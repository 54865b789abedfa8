/* SPDX-License-Identifier: MIT */
/* otf2_comm.c - communicators of a job, and the locations of their ranks
 *
 * A trace has a number for each communicator, which is the same on all of its ranks, and no list of
 * these: a rank is a member if it names the communicator. Members have the order of
 * MPI_Comm_split's key, if a call said one, then that of their ranks. Memory grows with
 * communicators and members.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/otf2/otf2_part.h"

/* References of groups: that of all locations, that of MPI_COMM_SELF; then those of
 * communicators. */
enum { GROUP_LOCATIONS, GROUP_SELF, GROUP_FIRST };

static int add_comm(struct otf2_comms *c, uint64_t number, uint64_t *ref)
{
	struct otf2_comm *grown = alloc_grow(c->all, c->nr, &c->max, 8, sizeof(*grown));

	if (!grown)
		return otf2_archive_fail_memory(c->archive);
	c->all = grown;
	*ref = c->nr;
	c->all[c->nr] = (struct otf2_comm){ .number = number };
	if (map_put(&c->index, number, c->nr))
		return otf2_archive_fail_memory(c->archive);
	c->nr++;
	return 0;
}

int otf2_comms_find(struct otf2_comms *c, struct map *seen, uint32_t rank, uint64_t number,
		    uint32_t *ref)
{
	struct otf2_comm_member *grown;
	struct otf2_comm *comm;
	uint64_t known;
	int ret = 0;

	if (map_get(seen, number, &known)) {
		*ref = (uint32_t)known;
		return 0;
	}
	if (!map_get(&c->index, number, &known))
		ret = add_comm(c, number, &known);
	if (ret)
		return ret;
	comm = &c->all[known];
	grown = alloc_grow(comm->members, comm->nr, &comm->max, 4, sizeof(*grown));
	if (!grown || map_put(seen, number, known))
		return otf2_archive_fail_memory(c->archive);
	comm->members = grown;
	comm->members[comm->nr++] = (struct otf2_comm_member){ .rank = rank };
	*ref = (uint32_t)known;
	return 0;
}

int otf2_comms_locate(struct otf2_comms *c, uint32_t rank, uint64_t location)
{
	uint64_t known;

	if (rank >= OTF2_MAX_RANKS || map_get(&c->locations, rank, &known))
		return 0;
	if (rank >= c->nr_ranks)
		c->nr_ranks = (uint64_t)rank + 1;
	return map_put(&c->locations, rank, location) ? otf2_archive_fail_memory(c->archive) : 0;
}

static int add_empty(struct otf2_comms *c, uint32_t rank, uint32_t node)
{
	const struct otf2_owner owner = { .key = rank, .node = node };
	char name[64];
	uint32_t group;
	size_t location;
	int ret;

	otf2_archive_next_trace(c->archive);
	snprintf(name, sizeof(name), "rank %lu, not in the archive", (unsigned long)rank);
	ret = otf2_archive_group(c->archive, OTF2_GROUP_OF_PROCESS, 0, name, &owner, &group);
	if (ret == 0)
		ret = otf2_archive_location(c->archive, name, OTF2_LOCATION_TYPE_CPU_THREAD, group,
					    &location);
	if (ret == 0)
		ret = otf2_archive_end(c->archive, location);
	return ret ? ret : otf2_comms_locate(c, rank, c->archive->locations[location].id);
}

static int compare_members(const void *a, const void *b)
{
	const struct otf2_comm_member *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* A communicator whose ranks are not all known has the lowest others behind them, so that each peer
 * is a member. */
static int fill_comm(struct otf2_comms *c, struct otf2_comm *comm)
{
	bool *is_member = alloc_zero(c->nr_ranks + 1, sizeof(*is_member));

	if (!is_member)
		return otf2_archive_fail_memory(c->archive);
	for (size_t i = 0; i < comm->nr; i++)
		if (comm->members[i].rank < c->nr_ranks)
			is_member[comm->members[i].rank] = true;
	qsort(comm->members, comm->nr, sizeof(*comm->members), compare_members);
	for (uint64_t rank = 0; rank < c->nr_ranks && comm->nr < comm->size; rank++) {
		struct otf2_comm_member *grown;

		if (is_member[rank])
			continue;
		grown = alloc_grow(comm->members, comm->nr, &comm->max, 4, sizeof(*grown));
		if (!grown)
			break;
		comm->members = grown;
		grown[comm->nr++] = (struct otf2_comm_member){ .rank = (uint32_t)rank };
	}
	alloc_free(is_member);
	return comm->nr < comm->size ? otf2_archive_fail_memory(c->archive) : 0;
}

int otf2_comms_complete(struct otf2_comms *c, uint32_t node)
{
	uint64_t known;
	int ret = 0;

	for (size_t i = 0; i < c->nr; i++)
		if (c->all[i].number != OTF2_COMM_SELF && c->all[i].size > c->nr_ranks)
			c->nr_ranks = c->all[i].size;
	for (uint64_t rank = 0; rank < c->nr_ranks && c->nr && ret == 0; rank++)
		if (!map_get(&c->locations, rank, &known))
			ret = add_empty(c, (uint32_t)rank, node);
	for (size_t i = 0; i < c->nr && ret == 0; i++) {
		struct otf2_comm *comm = &c->all[i];

		if (comm->number == OTF2_COMM_WORLD) {
			/* all ranks, also those that did not name it */
			comm->nr = 0;
			comm->size = c->nr_ranks;
		}
		if (comm->number != OTF2_COMM_SELF)
			ret = fill_comm(c, comm);
	}
	return ret;
}

/* ---- definitions ---- */

static int write_group(struct otf2_comms *c, uint32_t self, const char *name, OTF2_GroupType type,
		       const uint64_t *members, size_t nr)
{
	struct otf2_archive *a = c->archive;
	uint32_t text;
	int ret = otf2_archive_text(a, name, &text);

	return ret ? ret :
		     otf2_archive_check(a,
					otf2_lib.GlobalDefWriter_WriteGroup(a->defs, self, text,
									    type, OTF2_PARADIGM_MPI,
									    OTF2_GROUP_FLAG_NONE,
									    (uint32_t)nr, members));
}

static void name_comm(const struct otf2_comm *comm, char name[32])
{
	if (comm->number == OTF2_COMM_WORLD)
		snprintf(name, 32, "MPI_COMM_WORLD");
	else if (comm->number == OTF2_COMM_SELF)
		snprintf(name, 32, "MPI_COMM_SELF");
	else
		snprintf(name, 32, "0x%llx", (unsigned long long)comm->number);
}

/* `parent`: its reference, which was defined before. */
static int define_comm(struct otf2_comms *c, uint32_t ref, OTF2_CommRef parent, uint64_t *ranks)
{
	const struct otf2_comm *comm = &c->all[ref];
	bool is_self = comm->number == OTF2_COMM_SELF;
	struct otf2_archive *a = c->archive;
	uint32_t text;
	char name[32];
	int ret = 0;

	name_comm(comm, name);
	for (size_t i = 0; i < comm->nr; i++)
		ranks[i] = comm->members[i].rank;
	if (!is_self)
		ret = write_group(c, GROUP_FIRST + ref, name, OTF2_GROUP_TYPE_COMM_GROUP, ranks,
				  comm->nr);
	if (ret == 0)
		ret = otf2_archive_text(a, name, &text);
	return ret ? ret :
		     otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteComm(
						   a->defs, ref, text,
						   is_self ? GROUP_SELF : GROUP_FIRST + ref, parent,
						   OTF2_COMM_FLAG_NONE));
}

/* Readers want a communicator's parent before it. `path` has space for all. */
static int define_in_order(struct otf2_comms *c, uint64_t *ranks, uint32_t *path)
{
	enum { ON_PATH = 1, DEFINED };
	unsigned char *state = alloc_zero(c->nr + 1, sizeof(*state));
	int ret = state ? 0 : otf2_archive_fail_memory(c->archive);

	for (size_t i = 0; i < c->nr && ret == 0; i++) {
		uint64_t at = i, parent;
		size_t nr = 0;

		while (state[at] == 0) {
			state[at] = ON_PATH;
			path[nr++] = (uint32_t)at;
			if (!c->all[at].parent || !map_get(&c->index, c->all[at].parent, &parent))
				break;
			at = parent;
		}
		while (nr-- > 0 && ret == 0) {
			at = path[nr];
			if (!c->all[at].parent || !map_get(&c->index, c->all[at].parent, &parent) ||
			    state[parent] != DEFINED)
				parent = OTF2_UNDEFINED_COMM;
			ret = define_comm(c, (uint32_t)at, (OTF2_CommRef)parent, ranks);
			state[at] = DEFINED;
		}
	}
	alloc_free(state);
	return ret;
}

int otf2_comms_define(struct otf2_comms *c, uint32_t *group, uint32_t *comm)
{
	uint64_t *members = alloc_zero(c->nr_ranks + 1, sizeof(*members)), location;
	uint32_t *path = alloc_zero(c->nr + 1, sizeof(*path));
	int ret = members && path ? 0 : otf2_archive_fail_memory(c->archive);

	for (uint64_t rank = 0; rank < c->nr_ranks && ret == 0; rank++)
		members[rank] = map_get(&c->locations, rank, &location) ? location : 0;
	if (ret == 0 && c->nr)
		ret = write_group(c, GROUP_LOCATIONS, "", OTF2_GROUP_TYPE_COMM_LOCATIONS, members,
				  c->nr_ranks);
	if (ret == 0 && c->nr)
		ret = write_group(c, GROUP_SELF, "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, NULL,
				  0);
	if (ret == 0)
		ret = define_in_order(c, members, path);
	alloc_free(path);
	alloc_free(members);
	*group = c->nr ? GROUP_FIRST + (uint32_t)c->nr : 0;
	*comm = (uint32_t)c->nr;
	return ret;
}

/* ---- of a trace that another process read ---- */

struct comms_head {
	uint64_t nr, nr_located, nr_ranks, nr_left_out;
};

int otf2_comms_put(const struct otf2_comms *c, struct otf2_bytes *to)
{
	const struct comms_head head = { c->nr, c->locations.nr, c->nr_ranks, c->nr_left_out };
	int ret = otf2_bytes_put(to, &head, sizeof(head));

	for (size_t i = 0; i < c->nr && ret == 0; i++) {
		const struct otf2_comm *comm = &c->all[i];

		ret = otf2_bytes_put(to, comm, sizeof(*comm));
		if (ret == 0)
			ret = otf2_bytes_put(to, comm->members, comm->nr * sizeof(*comm->members));
	}
	for (size_t i = 0; i < c->locations.cap && ret == 0; i++)
		if (c->locations.entries[i].value_plus_1)
			ret = otf2_bytes_put(to, &c->locations.entries[i],
					     sizeof(c->locations.entries[i]));
	return ret;
}

static int adopt_comm(struct otf2_comms *c, const struct otf2_comm *from, struct otf2_bytes *bytes,
		      uint64_t *ref)
{
	struct otf2_comm *comm;
	int ret = 0;

	if (!map_get(&c->index, from->number, ref))
		ret = add_comm(c, from->number, ref);
	if (ret)
		return ret;
	comm = &c->all[*ref];
	comm->parent = comm->parent ? comm->parent : from->parent;
	comm->size = comm->size > from->size ? comm->size : from->size;
	comm->is_inter |= from->is_inter;
	for (size_t i = 0; i < from->nr; i++) {
		struct otf2_comm_member *grown =
			alloc_grow(comm->members, comm->nr, &comm->max, 4, sizeof(*grown));

		if (!grown)
			return otf2_archive_fail_memory(c->archive);
		comm->members = grown;
		if (!otf2_bytes_get(bytes, &grown[comm->nr++], sizeof(*grown)))
			return otf2_archive_fail_memory(c->archive);
	}
	return 0;
}

int otf2_comms_adopt(struct otf2_comms *c, struct otf2_bytes *from, struct otf2_refs *refs)
{
	struct comms_head head;
	struct map_entry located;
	int ret = 0;

	if (!otf2_bytes_get(from, &head, sizeof(head)))
		return otf2_archive_fail_memory(c->archive);
	c->nr_ranks = head.nr_ranks > c->nr_ranks ? head.nr_ranks : c->nr_ranks;
	c->nr_left_out += head.nr_left_out;
	refs->all = alloc_zero(head.nr + 1, sizeof(*refs->all));
	if (!refs->all)
		return otf2_archive_fail_memory(c->archive);
	for (uint64_t i = 0; i < head.nr && ret == 0; i++) {
		struct otf2_comm comm;
		uint64_t ref = 0;

		if (!otf2_bytes_get(from, &comm, sizeof(comm)))
			return otf2_archive_fail_memory(c->archive);
		ret = adopt_comm(c, &comm, from, &ref);
		refs->all[refs->nr++] = (uint32_t)ref;
	}
	for (uint64_t i = 0; i < head.nr_located && ret == 0; i++)
		if (otf2_bytes_get(from, &located, sizeof(located)))
			ret = otf2_comms_locate(c, (uint32_t)located.key, located.value_plus_1 - 1);
	return ret;
}

void otf2_comms_end(struct otf2_comms *c)
{
	for (size_t i = 0; i < c->nr; i++)
		alloc_free(c->all[i].members);
	alloc_free(c->all);
	map_fini(&c->index);
	map_fini(&c->locations);
	*c = (struct otf2_comms){ 0 };
}
