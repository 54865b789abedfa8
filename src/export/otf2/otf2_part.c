/* SPDX-License-Identifier: MIT */
/* otf2_part.c - what an archive has of one trace: from the process that wrote it into the archive
 *
 * References in the events of a trace are its own, from 0. Each location's file of definitions has
 * a table of those of the archive for them, as Score-P's archives have, so that no event is read
 * again. Traces are added in their order: references of the archive are the same whichever process
 * was done first.
 */
#include "export/otf2/otf2_part.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

int otf2_bytes_put(struct otf2_bytes *b, const void *data, size_t size)
{
	if (!size)
		return 0;
	if (b->size + size > b->max) {
		size_t max = (b->size + size) * 2 + 4096;
		char *grown = alloc_resize(b->data, max, 1);

		if (!grown)
			return -ENOMEM;
		b->data = grown;
		b->max = max;
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return 0;
}

bool otf2_bytes_get(struct otf2_bytes *b, void *data, size_t size)
{
	if (b->size - b->at < size)
		return false;
	if (size)
		memcpy(data, b->data + b->at, size);
	b->at += size;
	return true;
}

void otf2_bytes_fini(struct otf2_bytes *b)
{
	alloc_free(b->data);
	*b = (struct otf2_bytes){ 0 };
}

/* Before all others: how many there are. */
struct head {
	uint64_t log_size, nr_groups, nr_locations, nr_windows, nr_events;
	struct otf2_summary summary;
};

/* What a location is for the archive. */
struct location {
	uint64_t id, nr_events;
	uint32_t name, group;
	OTF2_LocationType type;
};

/* ---- in the process that wrote it ---- */

int otf2_part_put(const struct otf2_archive *a, const struct otf2_comms *comms,
		  const struct otf2_clocks *clocks, const struct otf2_summary *summary,
		  struct otf2_bytes *to)
{
	const struct head head = {
		.log_size = a->log->size,
		.nr_groups = a->nr_groups,
		.nr_locations = a->nr_locations,
		.nr_windows = a->nr_windows,
		.nr_events = a->nr_events,
		.summary = *summary,
	};
	int ret = otf2_bytes_put(to, &head, sizeof(head));

	if (ret == 0)
		ret = otf2_bytes_put(to, a->log->data, a->log->size);
	if (ret == 0)
		ret = otf2_bytes_put(to, a->groups, a->nr_groups * sizeof(*a->groups));
	for (size_t i = 0; i < a->nr_locations && ret == 0; i++) {
		const struct otf2_location *l = &a->locations[i];
		const struct location location = { l->id, l->nr_events, l->name, l->group,
						   l->type };

		ret = otf2_bytes_put(to, &location, sizeof(location));
	}
	for (size_t i = 0; i < a->nr_windows && ret == 0; i++) {
		const struct otf2_window *w = &a->windows[i];

		ret = otf2_bytes_put(to, w, sizeof(*w));
		if (ret == 0)
			ret = otf2_bytes_put(to, w->members, w->nr * sizeof(*w->members));
	}
	if (ret == 0)
		ret = otf2_comms_put(comms, to);
	return ret ? ret : otf2_clocks_put(clocks, to);
}

/* ---- in the archive ---- */

/* Tables from references of a part to those of the archive; NULL: they are the same. */
static const OTF2_MappingType kinds[] = {
	OTF2_MAPPING_STRING, OTF2_MAPPING_ATTRIBUTE, OTF2_MAPPING_REGION,
	OTF2_MAPPING_METRIC, OTF2_MAPPING_COMM,	     OTF2_MAPPING_RMA_WIN,
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct otf2_part_maps {
	OTF2_IdMap *all[NR_KINDS];
};

static int fail_short(struct otf2_archive *a)
{
	return job_fail(a->res, -EIO, "the archive: a process sent half of what it wrote");
}

static int adopt_groups(struct otf2_archive *a, struct otf2_bytes *from, size_t nr, size_t clock,
			const struct otf2_refs *refs)
{
	for (size_t i = 0; i < nr; i++) {
		struct otf2_location_group group, *grown;

		grown = alloc_grow(a->groups, a->nr_groups, &a->max_groups, 16, sizeof(*grown));
		if (!grown)
			return otf2_archive_fail_memory(a);
		a->groups = grown;
		if (!otf2_bytes_get(from, &group, sizeof(group)))
			return fail_short(a);
		group.name = refs[OTF2_A_TEXT].all[group.name];
		/* the root is the archive's */
		group.owner.node = group.owner.node ? refs[OTF2_A_NODE].all[group.owner.node - 1] :
						      0;
		group.owner.clock = clock;
		group.order = a->nr_groups;
		group.part = (uint32_t)a->nr_parts + 1;
		grown[a->nr_groups++] = group;
	}
	return 0;
}

static int adopt_locations(struct otf2_archive *a, struct otf2_bytes *from, size_t nr,
			   size_t first_group, const struct otf2_refs *texts)
{
	for (size_t i = 0; i < nr; i++) {
		struct otf2_location *grown;
		struct location l;

		grown = alloc_grow(a->locations, a->nr_locations, &a->max_locations, 16,
				   sizeof(*grown));
		if (!grown)
			return otf2_archive_fail_memory(a);
		a->locations = grown;
		if (!otf2_bytes_get(from, &l, sizeof(l)))
			return fail_short(a);
		grown[a->nr_locations++] = (struct otf2_location){
			.id = l.id,
			.name = texts->all[l.name],
			.group = (uint32_t)first_group + l.group,
			.type = l.type,
			.nr_events = l.nr_events,
		};
	}
	return 0;
}

static int adopt_windows(struct otf2_archive *a, struct otf2_bytes *from, size_t nr,
			 const struct otf2_refs *texts, struct otf2_refs *refs)
{
	for (size_t i = 0; i < nr; i++) {
		struct otf2_window *grown, window;
		uint32_t *numbers;

		grown = alloc_grow(a->windows, a->nr_windows, &a->max_windows, 4, sizeof(*grown));
		numbers = alloc_grow(refs->all, refs->nr, &refs->max, 4, sizeof(*numbers));
		refs->all = numbers ? numbers : refs->all;
		a->windows = grown ? grown : a->windows;
		if (!grown || !numbers)
			return otf2_archive_fail_memory(a);
		if (!otf2_bytes_get(from, &window, sizeof(window)))
			return fail_short(a);
		window.name = texts->all[window.name];
		window.max = window.nr;
		window.members = alloc_zero(window.nr + 1, sizeof(*window.members));
		if (!window.members)
			return otf2_archive_fail_memory(a);
		refs->all[refs->nr++] = (uint32_t)a->nr_windows;
		a->windows[a->nr_windows++] = window;
		if (!otf2_bytes_get(from, window.members, window.nr * sizeof(*window.members)))
			return fail_short(a);
	}
	return 0;
}

static int add_map(struct otf2_archive *a, OTF2_IdMap **map, const struct otf2_refs *refs)
{
	size_t same = 0;

	while (same < refs->nr && refs->all[same] == same)
		same++;
	if (same == refs->nr)
		return 0;
	*map = otf2_lib.IdMap_CreateFromUint32Array(refs->nr, refs->all, false);
	return *map ? 0 : otf2_archive_fail_memory(a);
}

static int add_maps(struct otf2_archive *a, const struct otf2_refs *const refs[NR_KINDS])
{
	struct otf2_part_maps *grown =
		alloc_grow(a->parts, a->nr_parts, &a->max_parts, 16, sizeof(*grown));
	int ret = 0;

	if (!grown)
		return otf2_archive_fail_memory(a);
	a->parts = grown;
	grown[a->nr_parts] = (struct otf2_part_maps){ 0 };
	a->nr_parts++;
	for (size_t i = 0; i < NR_KINDS && ret == 0; i++)
		ret = add_map(a, &a->parts[a->nr_parts - 1].all[i], refs[i]);
	return ret;
}

int otf2_part_adopt(struct otf2_archive *a, struct otf2_comms *comms, struct otf2_clocks *clocks,
		    struct otf2_bytes *from, struct otf2_summary *summary)
{
	struct otf2_refs refs[OTF2_NR_DEFINED] = { 0 }, of_comms = { 0 }, windows = { 0 };
	size_t first_group = a->nr_groups, at, clock = 0;
	struct otf2_bytes rest;
	struct head head;
	int ret;

	if (!otf2_bytes_get(from, &head, sizeof(head)))
		return fail_short(a);
	*summary = head.summary;
	/* the clock is behind what refers to it */
	at = from->at;
	ret = otf2_definitions_adopt(a, from, head.log_size, refs);
	rest = *from;
	rest.at = at + head.log_size;
	if (ret == 0)
		ret = adopt_groups(a, &rest, head.nr_groups, 0, refs);
	if (ret == 0)
		ret = adopt_locations(a, &rest, head.nr_locations, first_group, &refs[OTF2_A_TEXT]);
	if (ret == 0)
		ret = adopt_windows(a, &rest, head.nr_windows, &refs[OTF2_A_TEXT], &windows);
	if (ret == 0)
		ret = otf2_comms_adopt(comms, &rest, &of_comms);
	if (ret == 0)
		ret = otf2_clocks_adopt(clocks, &rest, &clock);
	for (size_t i = first_group; i < a->nr_groups; i++)
		a->groups[i].owner.clock = clock;
	if (ret == 0)
		ret = add_maps(a, (const struct otf2_refs *const[NR_KINDS]){
					  &refs[OTF2_A_TEXT], &refs[OTF2_AN_ATTRIBUTE],
					  &refs[OTF2_A_REGION], &refs[OTF2_A_METRIC], &of_comms,
					  &windows });
	a->nr_events += head.nr_events;
	for (size_t i = 0; i < OTF2_NR_DEFINED; i++)
		alloc_free(refs[i].all);
	alloc_free(of_comms.all);
	alloc_free(windows.all);
	return ret;
}

int otf2_part_map(struct otf2_archive *a, uint32_t part, OTF2_DefWriter *writer)
{
	int ret = 0;

	for (size_t i = 0; part && i < NR_KINDS && ret == 0; i++)
		if (a->parts[part - 1].all[i])
			ret = otf2_archive_check(
				a, otf2_lib.DefWriter_WriteMappingTable(writer, kinds[i],
									a->parts[part - 1].all[i]));
	return ret;
}

void otf2_parts_end(struct otf2_archive *a)
{
	for (size_t i = 0; i < a->nr_parts; i++)
		for (size_t k = 0; k < NR_KINDS; k++)
			otf2_lib.IdMap_Free(a->parts[i].all[k]);
	alloc_free(a->parts);
}
