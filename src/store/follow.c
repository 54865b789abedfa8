/* SPDX-License-Identifier: MIT */
/* follow.c - reads what a growing trace adds, while the process writes
 *
 * Each reading opens the trace anew, and begins where the disk half ended at the last one. Of a
 * chunk in memory the part that has been read is kept by its sequence number.
 *
 * Owns:     how far the disk half was read, and the parts.
 * Threads:  one.
 */
#include "store/follow.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "store/map.h"

struct follow {
	char path[PATH_MAX];
	uint64_t disk_end;
	struct map parts; /* bytes that have been read, by sequence number; chunks on disk: all */
	struct load_facts facts;
};

int follow_open(struct follow **out, const char *path)
{
	struct follow *f = alloc_zero(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	if (strlen(path) >= sizeof(f->path)) {
		follow_close(f);
		*out = NULL;
		return -ENAMETOOLONG;
	}
	memcpy(f->path, path, strlen(path) + 1);
	return 0;
}

void follow_close(struct follow *f)
{
	if (!f)
		return;
	map_fini(&f->parts);
	alloc_free(f);
}

static bool is_dispatch(const struct rec_head *rec)
{
	return rec->type == REC_DISPATCH || rec->type == REC_DISPATCH_WIDE;
}

static int read_all(struct follow *f, struct load *load, follow_fn fn, void *arg)
{
	const struct chunk_header *chunk;
	const struct rec_head *rec;
	uint64_t seq = 0, had = 0;
	int ret;

	load_rewind_to(load, f->disk_end);
	while ((ret = load_next(load, &rec, &chunk)) == 1) {
		if (chunk->seq != seq) {
			seq = chunk->seq;
			had = 0;
			map_get(&f->parts, seq, &had);
			/* its slot may still have it, until the drainer frees that */
			if (load_is_final(load) && map_put(&f->parts, seq, UINT64_MAX) != 0)
				return -ENOMEM;
		}
		if (load_at(load) <= had)
			continue;
		had = load_at(load);
		fn(arg, rec, is_dispatch(rec) ? load_shape(load) : NULL);
		if (!load_is_final(load) && map_put(&f->parts, seq, had) != 0)
			return -ENOMEM;
	}
	return ret;
}

int follow_read(struct follow *f, follow_fn fn, void *arg, struct load_error *err)
{
	struct load *load;
	int ret = load_open(&load, f->path, err);

	if (ret < 0)
		return ret;
	ret = read_all(f, load, fn, arg);
	f->disk_end = load_disk_end(load);
	f->facts = *load_facts(load);
	load_close(load);
	return ret;
}

const struct load_facts *follow_facts(const struct follow *f)
{
	return &f->facts;
}
