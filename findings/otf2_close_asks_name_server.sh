#!/bin/sh
# SPDX-License-Identifier: MIT
# otf2_close_asks_name_server - OTF2 3.0.2 asks the name server for the host's name when a trace file is closed
#
# A program writes an archive without events and closes it. It runs in a network namespace of its own, where a name server
# on 127.0.0.1 counts what it is asked, on a host whose name is not in /etc/hosts, as on compute nodes and in containers.
#
# Expected: no access to the network: a library writes a file.
# Seen:     OTF2_Archive_Close() calls gethostid() for the trace's id, glibc looks the name up for it, and the name server is
#           asked. Where no server answers the call takes the resolver's full time limit, 10 s by default, for each archive.
#           A gethostid() of the program takes the place of glibc's: nothing is asked.
#
# Needs root (unshare), Debian 12's archive, gcc and python3. Exit status 0: as described; 1: it has changed.
set -eu
version=3.0.2-2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for package in libopen-trace-format2-10 libotf2-trace-dev; do
	apt-get -o APT::Sandbox::User=root download -qq "$package=$version" >/dev/null
	dpkg-deb -x "$package"_*.deb root
done
LD_LIBRARY_PATH=$PWD/$(dirname root/usr/lib/*/libopen-trace-format2.so.10)
export LD_LIBRARY_PATH

cat >archive.c <<'C'
#include <otf2/otf2.h>
#include <unistd.h>

#ifdef OWN_HOST_ID
long gethostid(void)
{
	return 1;
}
#endif

int main(int argc, char **argv)
{
	OTF2_Archive *archive;

	(void)argc;
	archive = OTF2_Archive_Open(argv[1], "trace", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20, OTF2_SUBSTRATE_POSIX,
				    OTF2_COMPRESSION_NONE);
	if (OTF2_Archive_SetSerialCollectiveCallbacks(archive) != OTF2_SUCCESS)
		return 2;
	return OTF2_Archive_Close(archive) == OTF2_SUCCESS ? 0 : 3;
}
C
for own in '' -DOWN_HOST_ID; do
	gcc $own -Iroot/usr/include archive.c -L"$LD_LIBRARY_PATH" -l:libopen-trace-format2.so.10 -o "archive$own"
done

# Answers "no such name" to each query, and writes the name that was asked for into the file "asked".
cat >server.py <<'P'
import socket
import struct

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    query, client = server.recvfrom(512)
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    with open("asked", "a") as asked:
        asked.write(".".join(labels) + "\n")
    server.sendto(query[:2] + struct.pack(">HHHHH", 0x8183, 1, 0, 0, 0) + query[12:at + 5], client)
P

cat >inside.sh <<'S'
set -eu
ip link set lo up 2>/dev/null || python3 - <<'P'
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
P
hostname node17
echo 'nameserver 127.0.0.1' >resolv.conf
echo '127.0.0.1 localhost' >hosts
mount --bind resolv.conf "$(readlink -f /etc/resolv.conf)"
mount --bind hosts /etc/hosts
mkfifo ready
python3 server.py >ready &
server=$!
trap 'kill $server' EXIT
read -r _ <ready # at its end, if the server has ended
for own in '' -DOWN_HOST_ID; do
	: >asked
	status=0
	./archive$own "trace$own" || status=$?
	echo "${own:-no definition}: status $status, asked for node17: $(grep -q '^node17' asked && echo yes || echo no)"
done
S
echo "OTF2 $version"
unshare --net --uts --mount sh inside.sh | tee seen
cat >described <<'T'
no definition: status 0, asked for node17: yes
-DOWN_HOST_ID: status 0, asked for node17: no
T
cmp -s seen described || { echo "changed: expected"; cat described; exit 1; }
