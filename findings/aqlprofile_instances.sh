#!/bin/sh
# SPDX-License-Identifier: MIT
# aqlprofile_instances - AMD's AQLprofile accepts counters of instances that it says the GPU does not have
#
# Expected: aqlprofile_validate_pmc_event() accepts the instances that aqlprofile_get_pmc_info() and aqlprofile_iterate_event_coord() count.
# Seen:     the count follows the compute units that the agent was registered with: 14 first-level caches (TCP) in each shader engine of an
#           MI210, 11 of an MI300X. The check follows the family, and accepts 16 on all. A sum over all instances that are accepted, as
#           metrics for the whole family have it, has terms beyond the count. Blocks that don't depend on compute units
#           (TCC, SQ) have one number in both.
#
# Needs Debian's archive with unstable and experimental. Exit status 0: as described; 1: it has changed.
set -eu
library=7.2.4+ds-1~exp3
runtime=7.2.4+dfsg-1~exp1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# shellcheck disable=SC2016 # apt expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || { echo "apt has no source of Debian's archive"; exit 1; }
mkdir -p state/lists/partial cache/archives/partial etc root
: >status
for suite in unstable experimental; do
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
done >sources.list
fetch() {
	apt-get -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache" -o Dir::Etc="$dir/etc" \
		-o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o APT::Architectures=amd64 \
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false -qq "$@" >/dev/null 2>"$dir/errors" ||
		{ cat errors; exit 1; }
}
fetch update
fetch download "libhsa-amd-aqlprofile64-1=$library" "libhsa-runtime64-1=$runtime" libc6 libstdc++6 libgcc-s1 libelf1t64 libdrm2 \
	libdrm-amdgpu1 libnuma1 zlib1g libzstd1
for package in *.deb; do
	dpkg-deb -x "$package" root
done

cat >instances.c <<'C'
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct agent { uint64_t handle; };
struct info { const char *gfxip; uint32_t dies, engines, units, arrays; };
struct event { uint32_t instance, id, flags, block; };
struct profile { struct agent agent; const struct event *events; uint32_t nr; };
struct query { const char *name; uint32_t id, instances; };

static int instances; /* that the coordinates of samples have */

static int see(int position, int id, int extent, int coordinate, const char *name, void *arg)
{
	if (name[0] == 'I')
		instances = extent;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; struct info info; } gpus[] = {
		{ "MI210", { "gfx90a", 1, 8, 104, 1 } },
		{ "MI300X", { "gfx942", 8, 32, 304, 1 } },
	};
	static const char *const blocks[] = { "TCP", "TCC", "SQ" };
	void *lib = dlopen(argv[1], RTLD_NOW);
	int (*add)(struct agent *, const struct info *) = dlsym(lib, "aqlprofile_register_agent");
	int (*ask)(const struct profile *, int, void *) = dlsym(lib, "aqlprofile_get_pmc_info");
	int (*check)(struct agent, const struct event *, bool *) = dlsym(lib, "aqlprofile_validate_pmc_event");
	int (*coordinates)(struct agent, struct event, uint64_t, int (*)(int, int, int, int, const char *, void *), void *) =
		dlsym(lib, "aqlprofile_iterate_event_coord");

	for (int g = 0; g < 2; g++) {
		struct agent agent;

		if (add(&agent, &gpus[g].info))
			return 1;
		for (int b = 0; b < 3; b++) {
			struct query query = { blocks[b] };
			struct event event = { 0 };
			struct profile profile = { agent, &event, 1 };
			bool accepted = true;

			if (ask(&profile, 5, &query)) /* id and instances of a block */
				return 1;
			event = (struct event){ 0, 1, 0, query.id };
			if (coordinates(agent, event, 0, see, NULL))
				return 1;
			while (event.instance < 1000 && check(agent, &event, &accepted) == 0 && accepted)
				event.instance++;
			printf("%s, %s: %u instances, samples of %d, %u accepted\n", gpus[g].name, blocks[b], query.instances, instances,
			       event.instance);
		}
	}
	return 0;
}
C
cc -o instances instances.c -ldl
libs=$(dirname "$(find "$dir/root" -name libhsa-amd-aqlprofile64.so.1)")
"$libs/ld-linux-x86-64.so.2" --library-path "$libs" ./instances "$libs/libhsa-amd-aqlprofile64.so.1" >seen

echo "libhsa-amd-aqlprofile64-1 $library"
cat seen
cat >described <<'T'
MI210, TCP: 14 instances, samples of 14, 16 accepted
MI210, TCC: 32 instances, samples of 32, 32 accepted
MI210, SQ: 1 instances, samples of 1, 1 accepted
MI300X, TCP: 11 instances, samples of 11, 16 accepted
MI300X, TCC: 16 instances, samples of 16, 16 accepted
MI300X, SQ: 1 instances, samples of 1, 1 accepted
T
cmp -s seen described || { echo "changed: expected"; cat described; exit 1; }
