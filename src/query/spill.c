/* SPDX-License-Identifier: MIT */
/* spill.c - rows that do not fit into memory are appended to a file, and read in windows */
#include "query/spill.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/temporary.h"

int spill_init(struct spill *s, size_t size, size_t bytes)
{
	*s = (struct spill){ .size = size, .max = bytes / size ? bytes / size : 1, .fd = -1 };
	s->held = alloc_heap(s->max * size);
	return s->held ? 0 : -ENOMEM;
}

void spill_fini(struct spill *s)
{
	if (s->held && s->fd >= 0)
		close(s->fd);
	alloc_free(s->held);
	*s = (struct spill){ .fd = -1 };
}

void spill_clear(struct spill *s)
{
	s->written = 0;
	s->nr_held = 0;
}

int spill_add(struct spill *s, const void *row)
{
	if (s->nr_held == s->max) {
		int ret = 0;

		if (s->fd < 0) {
			int fd = temporary_unnamed("rtl-rows");

			if (fd < 0)
				return fd;
			s->fd = fd;
		}
		ret = fd_pwrite(s->fd, s->held, s->nr_held * s->size, s->written * s->size);
		if (ret)
			return ret;
		s->written += s->nr_held;
		s->nr_held = 0;
	}
	memcpy(s->held + s->nr_held++ * s->size, row, s->size);
	return 0;
}

uint64_t spill_nr(const struct spill *s)
{
	return s->written + s->nr_held;
}

int spill_get(const struct spill *s, struct spill_window *w, size_t ahead, uint64_t i,
	      const void **row)
{
	int ret;

	if (i >= s->written) {
		*row = s->held + (i - s->written) * s->size;
		return 0;
	}
	if (i < w->first || i >= w->first + w->nr) {
		if (w->max < ahead) {
			unsigned char *rows = alloc_resize(w->rows, ahead, s->size);

			if (!rows)
				return -ENOMEM;
			w->rows = rows;
			w->max = ahead;
		}
		w->first = i;
		w->nr = s->written - i < w->max ? (size_t)(s->written - i) : w->max;
		ret = fd_pread(s->fd, w->rows, w->nr * s->size, i * s->size);
		if (ret) {
			w->nr = 0;
			return ret;
		}
	}
	*row = w->rows + (i - w->first) * s->size;
	return 0;
}

void spill_window_fini(struct spill_window *w)
{
	alloc_free(w->rows);
	*w = (struct spill_window){ 0 };
}
