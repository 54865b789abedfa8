/* SPDX-License-Identifier: MIT */
/* products.c - what GPUs are sold as, and the families that the display driver puts them into
 *
 * Neither is in the compute driver's files. libdrm's list has a name for each PCI device and
 * revision; AMD's library asks libdrm for it, and the display driver for the family, which follows
 * from the instruction set.
 *
 * Threads: that which reads the agents.
 * Fails:   a GPU that the list lacks, or a machine without the list, has an empty name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "agents.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Debian's and AMD's packages of libdrm */
static const char *const lists[] = { "/usr/share/libdrm/amdgpu.ids",
				     "/opt/amdgpu/share/libdrm/amdgpu.ids" };

/* "DEVICE,\tREVISION,\tNAME", hexadecimal; others are comments and the version. */
static bool is_of(char *line, uint32_t device, uint32_t revision, char **name)
{
	char *end;

	if (strtoul(line, &end, 16) != device || end == line || *end != ',')
		return false;
	line = end + 1;
	if (strtoul(line, &end, 16) != revision || end == line || *end != ',')
		return false;
	*name = end + 1 + strspn(end + 1, " \t");
	(*name)[strcspn(*name, "\r\n")] = '\0';
	return true;
}

static bool find(const char *list, uint32_t device, uint32_t revision, char *to, size_t size)
{
	bool found = false;
	char line[256], *name;
	FILE *f;

	sys_cancel_off();
	f = fopen(list, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = is_of(line, device, revision, &name);
		if (found)
			snprintf(to, size, "%.*s", (int)size - 1, name);
	}
	if (f)
		fclose(f);
	sys_cancel_on();
	return found;
}

void products_name(struct agent_node *n, uint32_t revision)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (find(lists[i], n->agent.device_id, revision, n->product, sizeof(n->product)))
			return;
}

/* By gfx_target_version, from the first of a family on: the numbers of the display driver's
 * interface. */
static const struct {
	uint32_t from, family;
} families[] = {
	{ 70000, 120 },			 /* Sea Islands */
	{ 70003, 125 },			 /* Kaveri, Kabini, Mullins */
	{ 70004, 120 },	 { 80001, 135 }, /* Carrizo */
	{ 80002, 130 },			 /* Volcanic Islands */
	{ 80100, 135 },			 /* Stoney */
	{ 90000, 141 },			 /* Vega, Instinct */
	{ 90002, 142 },			 /* Raven */
	{ 90004, 141 },	 { 90009, 142 },  { 90010, 141 }, { 90012, 142 }, /* Renoir */
	{ 90400, 141 },	 { 100100, 143 },				  /* Navi */
	{ 100303, 144 },						  /* Van Gogh */
	{ 100304, 143 },						  /* Navi 24 */
	{ 100305, 146 },						  /* Yellow Carp */
	{ 100306, 149 },						  /* Raphael */
	{ 110000, 145 },						  /* Navi 3x */
	{ 110003, 148 },						  /* Phoenix */
	{ 110500, 150 },						  /* Strix */
	{ 120000, 152 },						  /* Navi 4x */
	{ 120100, 152 },
};

uint32_t products_family(uint32_t gfx_target_version)
{
	uint32_t family = 0;

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].from <= gfx_target_version)
			family = families[i].family;
	return family;
}
