/* SPDX-License-Identifier: MIT */
/* load_copy.c - a trace that still changes, as a file that does not
 *
 * The chunks of both halves, one behind another; removed and superseded ones (format.h, REMOVED
 * CHUNKS) take no space in the copy. Damage is as much damage in the copy.
 */
#include "store/load_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fd.h"

/* Of a copy whose front was removed: any offset behind the header. */
#define COPY_KEPT_FROM (SPOOL_HEADER_SIZE + 8u)

struct copy {
	struct spool_header header;
	int fd;
	uint64_t end, kept_from, damage;
	_Alignas(8) uint8_t chunk[LOAD_BUFFER];
	_Alignas(8) uint8_t packed[LOAD_BUFFER + PACK_SLACK];
};

#define SET(field, value)                                                                          \
	atomic_store_explicit(&(field), (value), memory_order_relaxed) /* our own */

/* Eight bytes that are no chunk for each chunk that could not be read. */
static int copy_damage(struct copy *c, const struct load *load)
{
	uint64_t damage = load->facts.loss[SPOOL_REASON_bad_chunk].count;
	int err = 0;

	for (; c->damage < damage && !err; c->damage++, c->end += 8)
		err = fd_pwrite(c->fd, "no chunk", 8, c->end);
	return err;
}

static int copy_chunk(struct copy *c, const struct load *load)
{
	struct chunk_header *head = (struct chunk_header *)(void *)c->chunk;
	bool packs = load->facts.version >= SPOOL_VERSION_PACKED;
	int err = copy_damage(c, load);
	const uint8_t *bytes;
	uint32_t size;

	if (err)
		return err;
	memcpy(head, &load->chunk, sizeof(*head));
	memcpy(head + 1, load->payload, load->size);
	SET(head->committed, load->size);
	if (head->seq & CHUNK_IS_CARRIED) {
		uint64_t index = head->seq % CHUNK_CARRIED_MAX;

		head->seq = CHUNK_CARRIED(c->kept_from, index);
		packs = false;
		if (!index)
			SET(c->header.carried_at, c->end);
	}
	bytes = pack_chunk(head, c->packed, packs, &size);
	err = fd_pwrite(c->fd, bytes, size, c->end);
	c->end += size;
	return err;
}

static int copy_header(struct copy *c, const struct load *load)
{
	struct spool_header *h = &c->header;

	SET(h->disk_end, c->end);
	SET(h->kept_from, c->kept_from);
	SET(h->evict_upto, c->kept_from);
	SET(h->converted, load->facts.is_converted ? c->kept_from : 0);
	SET(h->closed, 1);
	if (load->facts.state == LOAD_RUNNING)
		SET(h->end_kind, SPOOL_END_COPY);
	SET(h->drainer, 0);
	SET(h->intent, 0);
	memset(h->mem_path, 0, sizeof(h->mem_path));
	return fd_pwrite(c->fd, h, sizeof(*h), 0);
}

static int copy_all(struct copy *c, struct load *load)
{
	int source = load->facts.has_mem ? load->mem_fd : load->disk_fd;
	int64_t n = load_read(source, &c->header, sizeof(c->header), 0);
	int ret = n < 0 ? (int)n : n < (int64_t)sizeof(c->header) ? -EIO : 1;

	if (load->facts.kept_from)
		c->kept_from = COPY_KEPT_FROM;
	c->end = c->kept_from ? c->kept_from : SPOOL_HEADER_SIZE;
	while (ret == 1 && (ret = load_chunk_next(load)) == 1) {
		int err = copy_chunk(c, load);

		load->at = load->size;
		if (err)
			return err;
	}
	if (ret == 0)
		ret = copy_damage(c, load);
	return ret == 0 ? copy_header(c, load) : ret;
}

int load_copy(const char *path, int fd, struct load_error *err)
{
	struct copy *c = alloc_zero(1, sizeof(*c));
	struct load *load = NULL;
	int ret = c ? load_open(&load, path, err) : -ENOMEM;

	if (ret == 0) {
		c->fd = fd;
		ret = copy_all(c, load);
		if (ret < 0)
			snprintf(err->text, sizeof(err->text), "%s: can't be copied: %s", path,
				 ret == -EIO || ret == -ESTALE ? load_warning(load) :
								 strerror(-ret));
	}
	load_close(load);
	alloc_free(c);
	return ret;
}
