/* SPDX-License-Identifier: MIT */
/* make_set.c - writes the data set of a made job
 *
 *	make_set out=DIR [ranks=100] [dispatches=200000] [seed=1] [kernels=120] [step=1000]
 *	[collectives=50] [hosts=8]
 *
 * Each step of a rank has so many dispatches, of which so many are collectives, and a roctx range;
 * `hosts` is how many ranks share a host. Times and names are of the seed. One rank of 50 has a
 * kernel that takes 20 % longer, one of 70 comes late to collectives. The files are written by the
 * product's own encoder, without a database.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "export/parquet/parquet_columns.h"
#include "export/parquet/parquet_internal.h"

static uint64_t nr_ranks = 100, nr_dispatches = 200000, seed = 1, nr_kernels = 120, per_step = 1000,
		nr_collectives = 50, per_host = 8;
static const char *out_dir;

static uint64_t state;

/* xorshift64* */
static uint64_t draw(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * UINT64_C(2685821657736338717) >> 33) % below;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "make_set: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void options(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = { { "ranks=", &nr_ranks }, { "dispatches=", &nr_dispatches },
			{ "seed=", &seed },	 { "kernels=", &nr_kernels },
			{ "step=", &per_step },	 { "collectives=", &nr_collectives },
			{ "hosts=", &per_host } };

	for (int i = 1; i < argc; i++) {
		size_t k = 0, nr = sizeof(numbers) / sizeof(numbers[0]);

		if (strncmp(argv[i], "out=", 4) == 0) {
			out_dir = argv[i] + 4;
			continue;
		}
		while (k < nr && strncmp(argv[i], numbers[k].name, strlen(numbers[k].name)) != 0)
			k++;
		errno = EINVAL;
		if (k == nr)
			die(argv[i]);
		*numbers[k].value = strtoull(argv[i] + strlen(numbers[k].name), NULL, 10);
		if (!*numbers[k].value)
			die(argv[i]);
	}
	errno = EINVAL;
	if (!out_dir || nr_collectives >= per_step)
		die("out=DIR");
}

static struct parquet_file *create(struct query *q, const char *dir, size_t table)
{
	struct parquet_file *f;
	char path[8192];

	snprintf(path, sizeof(path), "%s/%s.parquet", dir, parquet_tables[table].name);
	if (parquet_file_create(&f, q, path, &parquet_tables[table]))
		die(path);
	return f;
}

static void end_row(struct parquet_file *f)
{
	if (parquet_file_row(f))
		die("row");
}

static int64_t put_dispatch(struct parquet_file *f, uint64_t rank, uint64_t i, int64_t at)
{
	struct parquet_chunk *c = parquet_file_columns(f);
	uint64_t in_step = i % per_step, kernel = draw(nr_kernels);
	bool reduces = in_step % (per_step / nr_collectives) == per_step / nr_collectives - 1;
	int64_t ns = 3000 + (int64_t)kernel * 400 + (int64_t)draw(200);
	char name[160];

	if (rank % 50 == 17 && kernel == 5)
		ns = ns * 6 / 5;
	if (reduces)
		ns = 40000 + (int64_t)draw(2000) - (rank % 70 == 31 ? 15000 : 0);
	if (reduces)
		snprintf(
			name, sizeof(name),
			"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
	else
		snprintf(name, sizeof(name),
			 "void at::native::vectorized_elementwise_kernel<4, Functor%" PRIu64
			 "<float>, at::detail::Array<char*, 3>>(int, float, char*)",
			 kernel);
	parquet_chunk_int(&c[D_ID], (int64_t)i + 1);
	parquet_chunk_int(&c[D_PID], (int64_t)(1000 + rank));
	parquet_chunk_string(&c[D_KERNEL], name);
	parquet_chunk_int(&c[D_GPU], 0);
	parquet_chunk_int(&c[D_QUEUE], reduces);
	parquet_chunk_int(&c[D_STREAM], 1 + reduces);
	parquet_chunk_int(&c[D_GRID_X], 256 * (int64_t)(1 + kernel % 40));
	parquet_chunk_int(&c[D_GRID_Y], 1);
	parquet_chunk_int(&c[D_GRID_Z], 1);
	parquet_chunk_int(&c[D_BLOCK_X], 256);
	parquet_chunk_int(&c[D_BLOCK_Y], 1);
	parquet_chunk_int(&c[D_BLOCK_Z], 1);
	parquet_chunk_int(&c[D_BEGIN], at);
	parquet_chunk_int(&c[D_END], at + ns);
	parquet_chunk_int(&c[D_CORRELATION], (int64_t)(2 * i + 1));
	parquet_chunk_null(&c[D_CALL]);
	parquet_chunk_int(&c[D_RANGE], (int64_t)(i / per_step + 1));
	parquet_chunk_int(&c[D_FLAGS], 0);
	parquet_chunk_int(&c[D_TID], (int64_t)(1000 + rank));
	parquet_chunk_null(&c[D_COMMUNICATOR]);
	end_row(f);
	return at + ns + 500 + (int64_t)draw(1000);
}

static void put_range(struct parquet_file *f, uint64_t rank, int64_t id, int64_t begin, int64_t end)
{
	struct parquet_chunk *c = parquet_file_columns(f);

	parquet_chunk_int(&c[0], id);
	parquet_chunk_int(&c[1], (int64_t)(1000 + rank));
	parquet_chunk_int(&c[2], (int64_t)(1000 + rank));
	parquet_chunk_string(&c[3], "push");
	parquet_chunk_string(&c[4], "step");
	parquet_chunk_int(&c[5], begin);
	parquet_chunk_int(&c[6], end);
	parquet_chunk_int(&c[7], 0);
	parquet_chunk_null(&c[8]);
	end_row(f);
}

/* A row of texts and numbers, as their columns want them; NULL and "": no value. */
static void put_row(struct parquet_file *f, const struct parquet_table *t,
		    const char *const *values)
{
	struct parquet_chunk *c = parquet_file_columns(f);

	for (size_t i = 0; i < t->nr; i++) {
		if (t->columns[i].optional && !values[i])
			parquet_chunk_null(&c[i]);
		else if (t->columns[i].type == PARQUET_TEXT)
			parquet_chunk_string(&c[i], values[i]);
		else
			parquet_chunk_int(&c[i], strtoll(values[i], NULL, 10));
	}
	end_row(f);
}

static void put_process(struct parquet_file *f, const struct parquet_table *t, uint64_t rank,
			int64_t begin, int64_t end)
{
	char text[10][64];
	const char *values[] = { text[0],  "1",	    text[1], text[2],
				 text[3],  text[4], "train", "/opt/train",
				 "hip",	   "0.1.0", text[5], text[6],
				 text[7],  text[6], text[7], "1790000000000000000",
				 "closed", "1",	    "0" };

	snprintf(text[0], 64, "%" PRIu64, 1000 + rank);
	snprintf(text[1], 64, "node%" PRIu64, rank / per_host);
	snprintf(text[2], 64, "boot-%" PRIu64, rank / per_host);
	snprintf(text[3], 64, "%" PRIu64, nr_ranks);
	snprintf(text[4], 64, "%" PRIu64, rank % per_host);
	snprintf(text[5], 64, "%016" PRIx64, rank);
	snprintf(text[6], 64, "%" PRId64, begin);
	snprintf(text[7], 64, "%" PRId64, end);
	put_row(f, t, values);
}

static void put_agent(struct parquet_file *f, const struct parquet_table *t, uint64_t rank)
{
	char pid[64], uuid[64];
	const char *values[] = { pid,  "1",   "GPU", "0",  "GPU 0", "gfx90a", "AMD Instinct MI250X",
				 uuid, "768", "110", "64", "1700" };

	snprintf(pid, sizeof(pid), "%" PRIu64, 1000 + rank);
	snprintf(uuid, sizeof(uuid), "GPU-%016" PRIx64, rank);
	put_row(f, t, values);
}

static void write_rank(struct query *q, uint64_t rank)
{
	struct parquet_file *files[PARQUET_MAX_TABLES];
	int64_t at = INT64_C(1000000000000) + (int64_t)(rank / per_host) * 77777, begin = at,
		step = at;
	size_t nr = 0;
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/job=4711/rank=%" PRIu64, out_dir, rank);
	if (mkdir(dir, 0777))
		die(dir);
	for (; parquet_tables[nr].name; nr++)
		files[nr] = create(q, dir, nr);
	state = (seed << 32 | (rank + 1)) * UINT64_C(0x9e3779b97f4a7c15);
	for (uint64_t i = 0; i < nr_dispatches; i++) {
		at = put_dispatch(files[PARQUET_DISPATCHES], rank, i, at);
		if ((i + 1) % per_step)
			continue;
		for (size_t t = 0; t < nr; t++)
			if (strcmp(parquet_tables[t].name, "ranges") == 0)
				put_range(files[t], rank, (int64_t)((i + 1) / per_step), step, at);
		step = at;
	}
	for (size_t t = 0; t < nr; t++) {
		if (strcmp(parquet_tables[t].name, "processes") == 0)
			put_process(files[t], &parquet_tables[t], rank, begin, at);
		if (strcmp(parquet_tables[t].name, "agents") == 0)
			put_agent(files[t], &parquet_tables[t], rank);
		if (parquet_file_close(files[t], 0))
			die(dir);
	}
}

int main(int argc, char **argv)
{
	struct job_options opt = { .force = false };
	struct job_result res = { .error = "" };
	struct query q = { .opt = &opt, .res = &res };
	char job[4096];

	options(argc, argv);
	snprintf(job, sizeof(job), "%s/job=4711", out_dir);
	if ((mkdir(out_dir, 0777) && errno != EEXIST) || mkdir(job, 0777))
		die(job);
	for (uint64_t rank = 0; rank < nr_ranks; rank++)
		write_rank(&q, rank);
	return 0;
}
