/* SPDX-License-Identifier: MIT */
/* fuzz_fleet.c - any bytes as a file of a data set: its footer, and each column of each row group
 *
 * What is read has to be whole: values of which there are as many as the group has rows, texts in
 * memory that can be read.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confined.h"
#include "fleet/fleet_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[96];
static volatile unsigned int seen;

static void write_file(const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void look_at(const struct fleet_file *f, size_t group, const struct fleet_values *v)
{
	if (v->nr != fleet_file_group_rows(f, group))
		abort();
	for (size_t i = 0; i < v->nr; i++) {
		if (v->texts && v->there[i])
			for (uint32_t k = 0; k < v->sizes[i]; k++)
				seen += (unsigned char)v->texts[i][k];
		if (v->numbers)
			seen += (unsigned int)v->numbers[i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fleet_values v = { 0 };
	char error[FLEET_ERROR] = "";
	struct fleet_file *f;

	if (!*path)
		snprintf(path, sizeof(path), "%s/f.parquet", confined_scratch());
	write_file(data, size);
	if (fleet_file_open(&f, path, error)) {
		if (!*error)
			abort();
		return 0;
	}
	for (size_t g = 0; g < f->nr_groups; g++) {
		for (size_t c = 0; c < f->nr_columns; c++) {
			if (fleet_page_read(f, g, c, &v, error) == 0)
				look_at(f, g, &v);
			else if (!*error)
				abort();
		}
	}
	fleet_page_fini(&v);
	fleet_file_close(f);
	return 0;
}
