/* SPDX-License-Identifier: MIT */
/* tablesize.c - an HSA tool that tells the sizes of the runtime's tables, and does nothing else
 *
 * One line on stderr for each table of the root: its number, major, minor (bytes), step.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct version {
	uint32_t major, minor, step, reserved;
};

struct root {
	struct version version;
	const struct version *tables[];
};

bool OnLoad(void *table, uint64_t version, uint64_t nr_failed, const char *const *failed);
void OnUnload(void);

bool OnLoad(void *table, uint64_t version, uint64_t nr_failed, const char *const *failed)
{
	const struct root *root = table;
	uint32_t nr = (root->version.minor - sizeof(root->version)) / sizeof(void *);

	(void)version;
	(void)nr_failed;
	(void)failed;
	fprintf(stderr, "table root %u.%u.%u\n", root->version.major, root->version.minor,
		root->version.step);
	for (uint32_t i = 0; i < nr; i++) {
		const struct version *v = root->tables[i];

		if (v)
			fprintf(stderr, "table %u %u.%u.%u\n", i, v->major, v->minor, v->step);
	}
	return true;
}

void OnUnload(void)
{
}
