#!/bin/sh
# SPDX-License-Identifier: MIT
# otf2_location_without_events - otf2-print 3.0.2 prints no event of any location if one location has no event file
#
# An archive of two locations. The first has two events. The second is defined and has none; its writer was never opened, so
# the library wrote no file for it and reported no error. Closing the archive succeeds.
#
# Expected: the events of the first location.
# Seen:     status 1, and no event at all. With a writer that was opened and closed without an event everything is printed.
#
# Needs Debian 12's archive and gcc. Exit status 0: as described; 1: it has changed.
set -eu
version=3.0.2-2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for package in libopen-trace-format2-10 libotf2-trace-dev otf2-tools; do
	apt-get -o APT::Sandbox::User=root download -qq "$package=$version" >/dev/null
	dpkg-deb -x "$package"_*.deb root
done
LD_LIBRARY_PATH=$PWD/$(dirname root/usr/lib/*/libopen-trace-format2.so.10)
export LD_LIBRARY_PATH

cat >archive.c <<'C'
#include <stdio.h>
#include <stdlib.h>

#include <otf2/otf2.h>

static void must(OTF2_ErrorCode error, const char *what)
{
	if (error == OTF2_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, OTF2_Error_GetName(error));
	exit(2);
}
#define MUST(call) must(call, #call)

static OTF2_FlushType flush(void *arg, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool is_final)
{
	(void)arg, (void)type, (void)location, (void)caller, (void)is_final;
	return OTF2_FLUSH;
}

/* argv[1]: the folder of the archive; argv[2], if any: the second location's writer is opened, too */
int main(int argc, char **argv)
{
	static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
	OTF2_Archive *archive = OTF2_Archive_Open(argv[1], "trace", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20, OTF2_SUBSTRATE_POSIX,
						  OTF2_COMPRESSION_NONE);
	uint64_t nr_events[2] = { 2, 0 };
	OTF2_EvtWriter *writer;
	OTF2_GlobalDefWriter *defs;

	MUST(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
	MUST(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
	MUST(OTF2_Archive_OpenEvtFiles(archive));
	writer = OTF2_Archive_GetEvtWriter(archive, 0);
	MUST(OTF2_EvtWriter_Enter(writer, NULL, 10, 0));
	MUST(OTF2_EvtWriter_Leave(writer, NULL, 20, 0));
	MUST(OTF2_Archive_CloseEvtWriter(archive, writer));
	if (argc > 2) {
		writer = OTF2_Archive_GetEvtWriter(archive, 1);
		MUST(OTF2_Archive_CloseEvtWriter(archive, writer));
	}
	MUST(OTF2_Archive_CloseEvtFiles(archive));
	MUST(OTF2_Archive_OpenDefFiles(archive));
	for (int i = 0; i < 2; i++)
		MUST(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, i)));
	MUST(OTF2_Archive_CloseDefFiles(archive));

	defs = OTF2_Archive_GetGlobalDefWriter(archive);
	MUST(OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000000000, 0, 100, OTF2_UNDEFINED_TIMESTAMP));
	MUST(OTF2_GlobalDefWriter_WriteString(defs, 0, "work"));
	MUST(OTF2_GlobalDefWriter_WriteRegion(defs, 0, 0, 0, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
					      OTF2_REGION_FLAG_NONE, 0, 0, 0));
	MUST(OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	MUST(OTF2_GlobalDefWriter_WriteLocationGroup(defs, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
						     OTF2_UNDEFINED_LOCATION_GROUP));
	for (int i = 0; i < 2; i++)
		MUST(OTF2_GlobalDefWriter_WriteLocation(defs, i, 0, OTF2_LOCATION_TYPE_CPU_THREAD, nr_events[i], 0));
	MUST(OTF2_Archive_CloseGlobalDefWriter(archive, defs));
	MUST(OTF2_Archive_Close(archive));
	return 0;
}
C
gcc -Iroot/usr/include archive.c -L"$LD_LIBRARY_PATH" -l:libopen-trace-format2.so.10 -o archive

# events FOLDER: the status of otf2-print and how many lines of events it prints
events() {
	status=0
	root/usr/bin/otf2-print "$1/trace.otf2" >out 2>err || status=$?
	echo "status $status, $(grep -cE '^(ENTER|LEAVE)' out || true) events of 2"
}

echo "OTF2 $version"
./archive without
./archive with opened
{
	echo "without the second location's file: $(events without)"
	echo "with it, empty: $(events with)"
} | tee seen
cat >described <<'T'
without the second location's file: status 1, 0 events of 2
with it, empty: status 0, 2 events of 2
T
cmp -s seen described || { echo "changed: expected"; cat described err; exit 1; }
