/* SPDX-License-Identifier: MIT */
/* output.c - a file that is written as a stream, or stdout
 *
 * Fails:    the output has a temporary name until it is complete; output to stdout ends at the
 *           first error.
 */
#include "export/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/dbfile.h"
#include "base/fd.h"
#include "base/temporary.h"
#include "base/testpoint.h"

bool output_has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcmp(name + n - m, ending) == 0;
}

struct output {
	const struct job_options *opt;
	int fd;
	gzFile gz;	     /* NULL: plain */
	char tmp[4096 + 32]; /* "" for stdout */
};

static int write_plain(void *arg, const char *bytes, size_t size)
{
	const struct output *o = arg;
	const struct job_options *opt = o->opt;

	while (size) {
		ssize_t n = write(o->fd, bytes, size);

		/* a pipe whose reader waits: a signal may ask for the end */
		if (n < 0 && errno == EINTR && opt->progress &&
		    opt->progress(opt->progress_arg, 0, 0))
			return -ECANCELED;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_gz(void *arg, const char *bytes, size_t size)
{
	struct output *o = arg;

	if (gzwrite(o->gz, bytes, (unsigned int)size) == (int)size)
		return 0;
	return errno ? -errno : -EIO;
}

static int open_output(struct output *o, const char *out, struct query *q)
{
	struct stat st;

	*o = (struct output){ .opt = q->opt, .fd = STDOUT_FILENO };
	if (strcmp(out, "-") == 0)
		return 0;
	if (strlen(out) >= 4096)
		return query_fail(q, -ENAMETOOLONG, "%s: the name is too long", out);
	if (stat(out, &st) == 0 && !S_ISREG(st.st_mode))
		return query_fail(q, -EINVAL,
				  "%s: is not a regular file; choose another name with -o", out);
	if (!q->opt->force && fd_is_taken(out))
		return query_fail(q, -EEXIST, "%s: exists; use --force to replace it, or -o NAME",
				  out);
	snprintf(o->tmp, sizeof(o->tmp), "%s.tmp-%ld", out, (long)getpid());
	o->fd = temporary_create(o->tmp);
	if (o->fd < 0)
		return query_fail(q, o->fd, "%s: can't be written: %s", out, strerror(-o->fd));
	if (output_has_ending(out, ".gz")) {
		/* level 3: half the time of the default for a tenth more bytes */
		o->gz = gzdopen(o->fd, "wb3");
		if (!o->gz) {
			close(o->fd);
			temporary_delete(o->tmp);
			return query_fail(q, -ENOMEM, "%s: out of memory", out);
		}
		gzbuffer(o->gz, 256 * 1024);
	}
	return 0;
}

/* Closes the output and renames it, or removes it if `ret` is an error. */
static int close_output(struct output *o, const char *out, struct query *q, int ret)
{
	if (o->fd == STDOUT_FILENO)
		return ret == 0 || ret == -EPIPE ?
			       ret :
			       query_fail(q, ret, "standard output: %s", strerror(-ret));
	errno = 0;
	if (o->gz ? gzclose(o->gz) != Z_OK : close(o->fd) != 0)
		ret = ret ? ret : errno ? -errno : -EIO;
	if (ret == 0 && o->opt->progress &&
	    o->opt->progress(o->opt->progress_arg, q->done, q->total))
		ret = query_fail(q, -ECANCELED, "%s: stopped; it was not written", out);
	if (ret == 0) {
		ret = temporary_publish(o->tmp, out, q->opt->force,
					job_is_private(q->opt, query_has_args(q)));
		if (ret == 0)
			return 0;
		if (ret == -EEXIST)
			query_fail(q, ret,
				   "%s: exists: another program made it meanwhile; try again", out);
	}
	temporary_delete(o->tmp);
	return query_fail(q, ret, "%s: can't be written: %s", out, strerror(-ret));
}

int output_write(struct query *q, const char *out, int (*fill)(void *arg, struct json *j),
		 void *arg)
{
	struct json *j = alloc_heap(sizeof(*j));
	struct output o;
	int ret = j ? open_output(&o, out, q) : query_fail_memory(q);

	if (ret == 0) {
		json_init(j, o.gz ? write_gz : write_plain, &o);
		RTL_TESTPOINT("output_begun");
		ret = fill(arg, j);
		if (ret == 0)
			ret = json_flush(j);
		ret = close_output(&o, out, q, ret);
	}
	alloc_free(j);
	return ret;
}

static int check_journals(struct query *q, const char *out)
{
	char error[sizeof(q->res->error)];
	int err = dbfile_check(out, error, sizeof(error));

	return err ? query_fail(q, err, "%s", error) : 0;
}

int output_write_database(struct query *q, const char *out, int (*fill)(void *arg, const char *tmp),
			  void *arg)
{
	struct output o;
	int ret = check_journals(q, out);

	if (ret == 0)
		ret = open_output(&o, out, q);
	if (ret)
		return ret;
	RTL_TESTPOINT("output_begun");
	ret = fill(arg, o.tmp);
	if (ret == 0)
		ret = check_journals(q, out);
	return close_output(&o, out, q, ret);
}
