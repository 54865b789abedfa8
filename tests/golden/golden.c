/* SPDX-License-Identifier: MIT */
/* golden.c - golden SPOOL EXPECTED [--update]: an old trace still gives the same answers
 *
 * Each version of the trace format has a spool here, written once and never again, and the results
 * of SQL queries on its database. A difference is either a mistake in reading old traces, or a
 * change of the views (--update).
 * SPOOL may be a database of an earlier layout as SQL, which gives the answers of the trace it was
 * made from, alone and merged.
 * golden --make SPOOL writes the sample of the current version, --make-api the one with calls,
 * --make-rest the one of a process that died, --make-evicted one whose first chunks were removed;
 * golden --pack SPOOL PACKED writes a spool of version 1 as one of version 2, its chunks packed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/rpd/rpd.h"
#include "spool/pack.h"
#include "support/db.h"
#include "support/spool_make.h"
#include "support/test.h"
#include "support/spool_api.h"

#define MAX_TEXT 65536

static const char *const queries[] = {
	"SELECT * FROM rtl_dispatch ORDER BY op_id",
	"SELECT * FROM rtl_copy ORDER BY op_id",
	"SELECT * FROM rtl_marker ORDER BY marker_id",
	"SELECT * FROM rtl_barrier ORDER BY op_id",
	"SELECT * FROM rtl_loss",
	"SELECT * FROM rtl_op ORDER BY op_id",
	"SELECT * FROM op ORDER BY id",
	"SELECT * FROM api ORDER BY id",
	"SELECT * FROM top ORDER BY Name",
	"SELECT * FROM busy ORDER BY gpuId",
	"SELECT * FROM kernel ORDER BY id",
	"SELECT id, size, kind, dstDevice, srcDevice FROM copyop ORDER BY id",
	"SELECT api_id, op_id FROM rocpd_api_ops ORDER BY id",
	"SELECT * FROM rtl_api ORDER BY api_id",
	"SELECT * FROM rocpd_kernelapi ORDER BY api_ptr_id",
	"SELECT * FROM rocpd_copyapi ORDER BY api_ptr_id",
	"SELECT * FROM rtl_stream ORDER BY stream, queue",
	"SELECT * FROM rtl_graph_op ORDER BY op_id",
	"SELECT pid, ppid, host, node, boot_id, trace_id, command, rank, mode, clock, start_ns, first_ns, "
	"last_ns, state, format_version FROM rtl_process",
	"SELECT tid, name, first_ns FROM rtl_thread ORDER BY id",
	"SELECT label, gpu_id, name, nr_cu, wave_size FROM rtl_agent ORDER BY id",
	"SELECT queue_id, hsa_id, agent_id, size, internal, create_ns, destroy_ns FROM rtl_queue ORDER BY id",
	"SELECT kernel_id, name, demangled, object, vgpr_count, sgpr_count FROM rtl_kernel_symbol ORDER BY "
	"id",
	"SELECT code_object_id, length(uri), load_base, load_ns FROM rtl_code_object",
	"SELECT agent_id, system_ns, realtime_ns, ticks FROM rtl_clock ORDER BY id",
	"SELECT key, value FROM rtl_info ORDER BY id",
};

static size_t query_all(const char *db, char *text)
{
	size_t used = 0;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		used += (size_t)snprintf(text + used, MAX_TEXT - used, "-- %s\n%s\n", queries[i],
					 db_text(db, queries[i]));
	return used;
}

/* Makes `db` of what `.dump` wrote of a database. */
static void make_from_sql(const char *path, const char *db)
{
	static char sql[1 << 20];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(sql, 1, sizeof(sql) - 1, f) : 0;

	if (!n || n == sizeof(sql) - 1)
		test_fail(path, 0, "can't be read");
	fclose(f);
	sql[n] = '\0';
	unlink(db);
	db_exec(db, sql);
}

static int compare(const char *expected, const char *text)
{
	static char want[MAX_TEXT];
	FILE *f = fopen(expected, "r");
	size_t line = 1;
	size_t n;

	if (!f) {
		perror(expected);
		return 1;
	}
	n = fread(want, 1, sizeof(want) - 1, f);
	fclose(f);
	want[n] = '\0';
	if (strcmp(want, text) == 0)
		return 0;
	for (n = 0; want[n] == text[n]; n++)
		line += want[n] == '\n';
	while (n && text[n - 1] != '\n')
		n--;
	fprintf(stderr, "%s:%zu: differs\n  expected: %.*s\n  it is:    %.*s\n", expected, line,
		(int)strcspn(want + n, "\n"), want + n, (int)strcspn(text + n, "\n"), text + n);
	return 1;
}

/* db.c reports failures by this function; the framework's main() is not linked. */
void test_fail(const char *file, int line, const char *fmt, ...)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, fmt);
	exit(1);
}

/* The spool `from` with its chunks packed, as `to`. */
static int pack(const char *from, const char *to)
{
	static _Alignas(8) uint8_t data[1 << 20], packed[SLOT_SIZE + PACK_SLACK];
	struct spool_header *h = (struct spool_header *)(void *)data;
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n = in && out ? fread(data, 1, sizeof(data), in) : 0;
	uint32_t size;

	if (n < sizeof(*h) || fseek(out, sizeof(*h), SEEK_SET))
		return 1;
	for (size_t at = sizeof(*h); at < n;) {
		struct chunk_header *chunk = (struct chunk_header *)(void *)(data + at);

		const uint8_t *bytes = pack_chunk(chunk, packed, true, &size);

		at += sizeof(*chunk) + chunk->committed;
		fwrite(bytes, 1, size, out);
	}
	h->version = SPOOL_VERSION_PACKED;
	h->disk_end = (uint64_t)ftell(out);
	rewind(out);
	fwrite(h, 1, sizeof(*h), out);
	return fclose(in) || fclose(out);
}

int main(int argc, char **argv)
{
	static const struct job_options opt = { .force = true };
	static struct job_result res;
	static char text[MAX_TEXT];
	char db[64] = "/tmp/rtl-golden-XXXXXX";
	char old[80] = "";
	const char *spool = argc > 1 ? argv[1] : "";
	bool is_sql;
	FILE *f;
	int fd, ret;

	if (argc == 3 && strcmp(argv[1], "--make") == 0) {
		struct spool_make_sample s = { .pid = 100, .closed = true };

		spool_make_sample(argv[2], &s);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--make-api") == 0) {
		spool_api_sample(argv[2], false, true);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--make-rest") == 0) {
		spool_make_rest(argv[2], 1);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--make-evicted") == 0) {
		spool_make_evicted(argv[2]);
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "--pack") == 0)
		return pack(argv[2], argv[3]);
	if (argc < 3) {
		fprintf(stderr,
			"usage: golden SPOOL EXPECTED [--update] | golden --make[-api|-rest|-evicted] SPOOL | "
			"golden --pack SPOOL PACKED\n");
		return 2;
	}
	fd = mkstemp(db);
	if (fd < 0) {
		perror(db);
		return 1;
	}
	close(fd);
	is_sql = strstr(spool, ".sql") != NULL;
	if (is_sql) {
		make_from_sql(spool, db);
		query_all(db, text);
		if (argc == 3 && compare(argv[2], text) != 0)
			return 1;
		snprintf(old, sizeof(old), "%s.old", db);
		rename(db, old);
		spool = old;
	}
	ret = is_sql ? rpd_merge(&spool, 1, db, &opt, &res) : rpd_write(&spool, 1, db, &opt, &res);
	if (ret == 0)
		query_all(db, text);
	else
		fprintf(stderr, "%s\n", res.error);
	unlink(db);
	unlink(old);
	if (ret < 0)
		return 1;
	if (argc == 3)
		return compare(argv[2], text);
	f = fopen(argv[2], "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
