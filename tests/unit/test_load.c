/* SPDX-License-Identifier: MIT */
/* test_load.c - traces in every state and with every kind of damage: nothing crashes, each loss is
 * counted */
#include "store/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "support/spool_make.h"
#include "support/test.h"

static struct load_error err;

static struct load *open_ok(const char *path)
{
	struct load *load;
	int ret = load_open(&load, path, &err);

	CHECK_MSG(ret == 0, "%s", err.text);
	return load;
}

/* Reads all records and counts those of that type, or all for 0. */
static uint64_t count(struct load *load, int type)
{
	const struct rec_head *rec;
	uint64_t nr = 0;
	int ret;

	while ((ret = load_next(load, &rec, NULL)) == 1)
		nr += !type || rec->type == type;
	CHECK_EQ_INT(ret, 0);
	return nr;
}

static uint64_t bad_chunks(const struct load *load)
{
	return load_facts(load)->loss[SPOOL_REASON_bad_chunk].count;
}

static const char *sample(bool mem, bool closed)
{
	const char *path = test_tmpfile("a.rtl");
	struct spool_make_sample s = { .pid = 100, .mem = mem, .closed = closed };

	spool_make_sample(path, &s);
	return path;
}

static void overwrite(const char *path, uint64_t offset, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY);

	CHECK_GE_INT(fd, 0);
	CHECK_EQ_INT(pwrite(fd, data, size, (off_t)offset), (ssize_t)size);
	close(fd);
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK_GE_INT(fd, 0);
	CHECK_EQ_INT(write(fd, data, size), (ssize_t)size);
	close(fd);
}

static void check_refused(const char *path, int error, const char *words)
{
	struct load *load;
	int ret = load_open(&load, path, &err);

	CHECK_EQ_INT(ret, -error);
	CHECK_NULL(load);
	CHECK_STR_HAS(err.text, path);
	CHECK_STR_HAS(err.text, words);
}

TEST(closed_trace_is_read_twice_with_same_records)
{
	struct load *load = open_ok(sample(false, true));
	uint64_t nr = count(load, 0);

	CHECK_EQ_INT(load_facts(load)->state, LOAD_CLOSED);
	CHECK_EQ_UINT(load_facts(load)->pid, 100);
	CHECK_EQ_UINT(load_facts(load)->loss[SPOOL_REASON_unfinished].count, 1);
	CHECK_EQ_UINT(bad_chunks(load), 0);
	CHECK_STR_EQ(load_warning(load), "");
	CHECK_EQ_UINT(load_pos(load), load_size(load));
	load_rewind(load);
	CHECK_EQ_UINT(count(load, 0), nr);
	load_rewind(load);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 9);
	load_rewind(load);
	CHECK_EQ_UINT(count(load, REC_DISPATCH_WIDE), 1);
	load_close(load);
}

TEST(unclosed_trace_is_read_from_both_halves)
{
	const char *path = sample(true, false);
	struct load *load = open_ok(path);

	CHECK(load_facts(load)->has_mem);
	CHECK(load_facts(load)->has_disk);
	CHECK_EQ_INT(load_facts(load)->state, LOAD_FOREIGN);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 9);
	load_close(load);
	/* the name of the memory half opens the same trace */
	load = open_ok(test_tmpfile("a.mem"));
	CHECK(load_facts(load)->has_disk);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 9);
	load_close(load);
}

TEST(trace_with_one_half_is_read_and_reports_missing_half)
{
	struct load *load;
	const char *path = sample(true, false);
	char copy[SPOOL_NAME_SIZE];

	snprintf(copy, sizeof(copy), "%s", test_tmpfile("a.mem"));
	CHECK_OK(rename(copy, test_tmpfile("gone")));
	load = open_ok(path);
	CHECK(load_facts(load)->mem_missing);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 8);
	load_close(load);
	CHECK_OK(rename(test_tmpfile("gone"), copy));
	CHECK_OK(unlink(path));
	load = open_ok(copy);
	CHECK(!load_facts(load)->has_disk);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 1);
	load_close(load);
}

TEST(moved_trace_finds_memory_half_beside_it)
{
	char to[SPOOL_NAME_SIZE];
	struct load *load;

	sample(true, false);
	snprintf(to, sizeof(to), "%s", test_tmpfile("moved.rtl"));
	CHECK_OK(rename(test_tmpfile("a.rtl"), to));
	CHECK_OK(rename(test_tmpfile("a.mem"), test_tmpfile("moved.mem")));
	load = open_ok(to);
	CHECK(load_facts(load)->has_mem);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 9);
	load_close(load);
}

TEST(chunk_in_both_halves_is_read_once)
{
	const char *path = test_tmpfile("b.rtl");
	static struct spool_make m;
	struct load *load;

	spool_make_begin(&m, path, 7, true);
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 7, "main", 5);
	spool_make_chunk_end(&m);
	m.open = true;
	/* the process was killed after the drain, before it freed the slot */
	spool_make_chunk_slot(&m, SLOT_DRAINING);
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 8, "other", 5);
	spool_make_chunk_slot(&m, SLOT_SEALED);
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 9, "stale", 5);
	spool_make_chunk_slot(&m, SLOT_FREE);
	spool_make_end(&m, false);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, REC_THREAD), 2);
	CHECK_EQ_UINT(bad_chunks(load), 0);
	load_close(load);
}

/* Does what a drainer may do between two passes of a reader: moves a chunk, reuses its slot. */
TEST(chunk_drained_between_passes_is_read_once)
{
	const char *path = test_tmpfile("c.rtl");
	static struct spool_make m;
	struct load *load;
	uint32_t used;

	spool_make_begin(&m, path, 7, true);
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 7, "main", 5);
	spool_make_chunk_end(&m);
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 8, "open", 5);
	spool_make_chunk_slot(&m, SLOT_OPEN);
	spool_make_end(&m, false);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, REC_THREAD), 2);

	/* write the same chunk with one more record to disk, and another chunk into its slot */
	m.disk_fd = open(path, O_RDWR);
	m.mem_fd = open(test_tmpfile("c.mem"), O_RDWR);
	m.open = true;
	used = m.used;
	spool_make_thread(&m, 9, "later", 5);
	spool_make_chunk_end(&m);
	CHECK_GT_UINT(m.used, used);
	m.slot = 0;
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 10, "next", 5);
	spool_make_chunk_slot(&m, SLOT_OPEN);
	spool_make_end(&m, false);

	load_rewind(load);
	CHECK_EQ_UINT(count(load, REC_THREAD), 2);
	CHECK_EQ_UINT(bad_chunks(load), 0);
	load_close(load);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, REC_THREAD), 4);
	load_close(load);
}

/* The same for several slots: what is gone hides nothing behind it. */
TEST(reused_slot_hides_no_later_slot)
{
	const char *path = test_tmpfile("d.rtl");
	static struct spool_make m;
	struct load *load;

	spool_make_begin(&m, path, 7, true);
	for (uint32_t tid = 8; tid < 11; tid++) {
		spool_make_chunk(&m, tid);
		spool_make_thread(&m, tid, "open", 5);
		spool_make_chunk_slot(&m, SLOT_OPEN);
	}
	spool_make_end(&m, false);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, REC_THREAD), 3);

	m.mem_fd = open(test_tmpfile("d.mem"), O_RDWR);
	m.disk_fd = open(path, O_RDWR);
	m.slot = 0;
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 11, "next", 5);
	spool_make_chunk_slot(&m, SLOT_OPEN);
	spool_make_end(&m, false);
	load_rewind(load);
	CHECK_EQ_UINT(count(load, REC_THREAD), 2);
	load_close(load);
}

TEST(bytes_behind_header_size_are_ignored)
{
	const char *path = sample(false, false);
	char junk[100];
	struct stat st;
	struct load *load;

	memset(junk, 0x5a, sizeof(junk));
	CHECK_OK(stat(path, &st));
	overwrite(path, (uint64_t)st.st_size, junk, sizeof(junk));
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 9);
	CHECK_EQ_UINT(bad_chunks(load), 0);
	load_close(load);
}

TEST(damaged_chunk_is_skipped_counted_and_reported)
{
	const char *path = sample(false, true);
	struct load *load;

	overwrite(path, SPOOL_HEADER_SIZE + 200, "X", 1);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 4);
	CHECK_EQ_UINT(bad_chunks(load), 1);
	CHECK_STR_HAS(load_warning(load), "a.rtl: the chunk at offset 8192 does not match its CRC");
	load_rewind(load);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 4);
	CHECK_EQ_UINT(bad_chunks(load), 1);
	load_close(load);
	/* damage the chunk's head too */
	overwrite(path, SPOOL_HEADER_SIZE, "XXXX", 4);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, REC_DISPATCH), 4);
	CHECK_EQ_UINT(bad_chunks(load), 1);
	CHECK_STR_HAS(load_warning(load), "magic");
	load_close(load);
}

/* A chunk whose CRC is right is still no chunk with a number or a size that none has. */
static void patch_chunk(const char *path, uint64_t seq, uint32_t committed)
{
	static uint8_t bytes[sizeof(struct chunk_header) + SLOT_SIZE];
	struct chunk_header head;
	int fd = open(path, O_RDONLY);

	CHECK_GE_INT(fd, 0);
	CHECK_EQ_INT(pread(fd, bytes, sizeof(bytes), SPOOL_HEADER_SIZE) > (ssize_t)sizeof(head), 1);
	close(fd);
	memcpy(&head, bytes, sizeof(head));
	head.seq = seq;
	atomic_store(&head.committed, committed ? committed : atomic_load(&head.committed));
	head.crc = 0;
	head.crc = crc_add(crc_add(0, &head, sizeof(head)), bytes + sizeof(head),
			   atomic_load(&head.committed));
	overwrite(path, SPOOL_HEADER_SIZE, &head, sizeof(head));
}

TEST(chunk_with_impossible_number_or_size_is_skipped)
{
	static const struct {
		uint64_t seq;
		uint32_t committed;
		const char *words;
	} all[] = {
		{ 0, 0, "has sequence number 0" },
		{ 1, 44, "has an impossible size" },
		{ 1, SLOT_SIZE, "has an impossible size" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *path = sample(false, true);
		struct load *load;

		patch_chunk(path, 1, 0);
		load = open_ok(path);
		CHECK_EQ_UINT(count(load, REC_DISPATCH), 9);
		load_close(load);
		patch_chunk(path, all[i].seq, all[i].committed);
		load = open_ok(path);
		CHECK_EQ_UINT(count(load, REC_DISPATCH), 4);
		CHECK_EQ_UINT(bad_chunks(load), 1);
		CHECK_STR_HAS(load_warning(load), all[i].words);
		load_close(load);
	}
}

TEST(cut_file_reports_offset)
{
	const char *path = sample(false, true);
	struct load *load;

	CHECK_OK(truncate(path, SPOOL_HEADER_SIZE + 100));
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, 0), 0);
	CHECK_GE_UINT(bad_chunks(load), 1);
	CHECK_STR_HAS(load_warning(load), "cut off at offset 8292");
	load_close(load);
}

TEST(unknown_record_is_skipped_and_counted)
{
	const char *path = test_tmpfile("u.rtl");
	uint64_t future[4] = { 0xc8 | 4 << 8, 1, 2, 3 };
	static struct spool_make m;
	struct load *load;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_raw(&m, future, sizeof(future));
	spool_make_thread(&m, 7, "main", 5);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, 0), 1);
	CHECK_EQ_UINT(load_unknown(load), 1);
	CHECK_EQ_UINT(bad_chunks(load), 0);
	load_close(load);
}

/* A chunk with a valid CRC and a bad record, as a faulty writer would make it. */
static void check_bad_record(const void *rec, size_t size, const char *words)
{
	const char *path = test_tmpfile("r.rtl");
	static struct spool_make m;
	struct load *load;

	spool_make_begin(&m, path, 7, false);
	spool_make_chunk(&m, 7);
	spool_make_thread(&m, 7, "main", 5);
	spool_make_raw(&m, rec, size);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	load = open_ok(path);
	CHECK_EQ_UINT(count(load, 0), 1);
	CHECK_EQ_UINT(bad_chunks(load), 1);
	CHECK_STR_HAS(load_warning(load), words);
	CHECK_STR_HAS(load_warning(load), "offset 8256");
	load_close(load);
}

TEST(record_with_wrong_size_or_id_is_refused)
{
	struct rec_string string = { { REC_STRING, 2, 0, 1 }, 5000, 0 };
	struct rec_marker marker = { .h = { REC_MARKER, 6, REC_F_TEXT, 1 }, .text_size = 1 };
	struct rec_dispatch dispatch = { .h = { REC_DISPATCH, 6, 0, 1 }, .shape = 0 };
	struct rec_shape shape = { .h = { REC_SHAPE, 6, 0, 1 } };
	struct rec_head nothing = { REC_THREAD, 0, 0, 1 };
	struct rec_head tall = { REC_THREAD, 200, 0, 1 };
	struct rec_head slim = { REC_KERNEL, 1, 0, 1 };
	struct rec_dispatch_wide wide = { .h = { REC_DISPATCH_WIDE, 9, 0, 1 }, .shape = 0 };
	struct rec_api api = { .h = { REC_API, 6, 0, 1 }, .nr_words = 1 };

	check_bad_record(&string, sizeof(string), "bad STRING: bytes is longer than its record");
	string.offset = 6000;
	check_bad_record(&string, sizeof(string), "bad STRING: bytes is longer than its record");
	check_bad_record(&marker, sizeof(marker), "bad MARKER: text is longer than its record");
	check_bad_record(&dispatch, sizeof(dispatch), "bad DISPATCH: shape was not stated");
	check_bad_record(&shape, sizeof(shape), "bad SHAPE: id is not the next");
	check_bad_record(&nothing, sizeof(nothing), "size 0");
	check_bad_record(&tall, sizeof(tall), "beyond its chunk");
	check_bad_record(&slim, sizeof(slim), "too short for its type, KERNEL");
	check_bad_record(&wide, sizeof(wide), "bad DISPATCH_WIDE: shape was not stated");
	check_bad_record(&api, sizeof(api), "bad API: words is longer than its record");
	/* a record of 8 bytes is too short for every type */
	for (slim.type = REC_STRING; slim.type < REC_NR_TYPES; slim.type++)
		check_bad_record(&slim, sizeof(slim), "too short for its type, ");
}

TEST(foreign_file_is_refused_with_its_kind)
{
	const char *path = test_tmpfile("x.rtl");
	static const unsigned char swapped[8] = { 'L', 'O', 'O', 'P', 'S', 'L', 'T', 'R' };
	struct spool_header h = { .magic = SPOOL_MAGIC, .version = 9, .header_size = 8192 };

	write_file(path, "", 0);
	check_refused(path, EINVAL, "empty");
	write_file(path, "SQLite format 3\0and more", 24);
	check_refused(path, EINVAL, "SQLite database");
	write_file(path, "\x1f\x8b\x08 compressed", 14);
	check_refused(path, EINVAL, "gzip");
	write_file(path, "\177ELF and so on", 14);
	check_refused(path, EINVAL, "program");
	write_file(path, swapped, 8);
	check_refused(path, EINVAL, "big-endian");
	write_file(path, "{\"traceEvents\": []}", 19);
	check_refused(path, EINVAL, "instead of \"RTLSPOOL\" (offset 0)");
	write_file(path, &h, sizeof(h));
	check_refused(path, EINVAL, "version 9");
	h.version = SPOOL_VERSION;
	write_file(path, &h, 4000);
	check_refused(path, EINVAL, "offset 4000");
	write_file(path, &h, sizeof(h));
	check_refused(path, EINVAL, "header is damaged");
	check_refused(test_tmpfile("none"), ENOENT, "No such file");
	check_refused(test_tmpdir(), EISDIR, "directory");
}

TEST(process_state_running_or_killed_is_detected)
{
	const char *path = test_tmpfile("p.rtl");
	static struct spool_make m;
	struct load *load;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	char text[4096];
	const char *p;

	if (!f)
		SKIP("no boot id here");
	spool_make_begin(&m, path, (uint32_t)getpid(), false);
	CHECK_NOT_NULL(fgets(m.header.boot_id, sizeof(m.header.boot_id), f));
	fclose(f);
	m.header.boot_id[strcspn(m.header.boot_id, "\n")] = '\0';
	spool_make_end(&m, false);
	load = open_ok(path);
	CHECK_EQ_INT(load_facts(load)->state,
		     LOAD_KILLED); /* the pid belongs to another process now */
	load_close(load);

	f = fopen("/proc/self/stat", "r");
	CHECK_NOT_NULL(f);
	CHECK_NOT_NULL(fgets(text, sizeof(text), f));
	fclose(f);
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	CHECK_NOT_NULL(p);
	m.header.proc_start_ticks = strtoull(p, NULL, 10);
	overwrite(path, 0, &m.header, sizeof(m.header));
	load = open_ok(path);
	CHECK_EQ_INT(load_facts(load)->state, LOAD_RUNNING);
	CHECK(load_facts(load)->mem_missing);
	load_close(load);
}

static uint64_t seed = 88172645463325252u;

static uint64_t random_next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static char *slurp(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	char *data;

	CHECK_GE_INT(fd, 0);
	CHECK_OK(fstat(fd, &st));
	*size = (size_t)st.st_size;
	data = malloc(*size);
	CHECK_NOT_NULL(data);
	CHECK_EQ_INT(read(fd, data, *size), (ssize_t)*size);
	close(fd);
	return data;
}

static void read_any(const char *path)
{
	const struct rec_head *rec;
	struct load *load;

	if (load_open(&load, path, &err) < 0) {
		CHECK_STR_HAS(err.text, path);
		return;
	}
	for (int pass = 0; pass < 2; pass++) {
		while (load_next(load, &rec, NULL) == 1)
			;
		load_rewind(load);
	}
	load_close(load);
}

/* single-threaded code that is twenty times as slow here; other sanitizers find reads out of
 * bounds */
#ifdef RTL_SANITIZE_THREAD
#define NR_DAMAGED 100
#else
#define NR_DAMAGED 2500
#endif

/* Reads thousands of damaged copies; a sanitizer build finds reads out of bounds. */
TEST(random_damage_does_not_crash)
{
	const char *path = sample(true, false);
	const char *victims[] = { path, test_tmpfile("a.mem") };

	for (int v = 0; v < 2; v++) {
		size_t size;
		char *good = slurp(victims[v], &size);
		/* the memory half is mostly empty slots: damage its first 32 KiB */
		size_t range = size < 32768 ? size : 32768;

		for (int round = 0; round < NR_DAMAGED; round++) {
			char *bad = malloc(size);
			size_t keep = size;

			CHECK_NOT_NULL(bad);
			memcpy(bad, good, size);
			for (uint64_t i = random_next() % 8; i > 0; i--)
				bad[random_next() % range] ^= (char)(1 << random_next() % 8);
			if (random_next() % 4 == 0)
				keep = random_next() % (range + 1);
			write_file(victims[v], bad, keep);
			read_any(path);
			free(bad);
		}
		write_file(victims[v], good, size);
		free(good);
	}
}

TEST(cut_at_any_offset_keeps_records_before_it)
{
	const char *path = sample(false, true);
	size_t size;
	char *good = slurp(path, &size);
	uint64_t before = UINT64_MAX;

	for (size_t keep = size; keep >= SPOOL_HEADER_SIZE; keep -= 8) {
		struct load *load;
		uint64_t nr;

		write_file(path, good, keep);
		load = open_ok(path);
		nr = count(load, 0);
		CHECK_LE_UINT(nr, before);
		if (keep < size)
			CHECK_GE_UINT(bad_chunks(load), 1);
		before = nr;
		load_close(load);
	}
	CHECK_EQ_UINT(before, 0);
	free(good);
}
