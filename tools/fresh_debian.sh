#!/bin/sh
# SPDX-License-Identifier: MIT
# fresh_debian.sh - tests the first steps of a new user: runs ./demo and ./check on a minimal Debian 12
#
# Usage (as root): tools/fresh_debian.sh [--keep DIR] [COMMAND...]     ./demo && ./check by default
#                  tools/fresh_debian.sh [--keep DIR] --packages DIR2  installs, uses and removes the packages that
#                                                                      `make package` made in DIR2 (build/package)
#
# Makes a minbase chroot with debootstrap, clones the committed tree into it and runs the command
# there with an empty environment. Mounts are in a new namespace and disappear with it.
set -eu
cd "$(dirname "$0")/.."
. tools/setup.sh

keep=''
if [ "${1:-}" = --keep ]; then
	keep=${2:?--keep needs a directory}
	shift 2
fi
packages=''
if [ "${1:-}" = --packages ]; then
	packages=${2:?--packages needs a directory}
	ls "$packages"/rocm-trace-lite_*.deb "$packages"/rocm-trace-lite-*.tar.gz >/dev/null || exit 1
	shift 2
fi
[ "$(id -u)" = 0 ] || { echo "fresh_debian.sh: needs root, for debootstrap and chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
root=${keep:-$(mktemp -d)}
mkdir -p "$root"
chmod 755 "$root"
log=$(mktemp)
if [ -z "$keep" ]; then
	trap 'rm -rf --one-file-system "$root" "$log"' EXIT
	trap 'exit 1' INT TERM HUP
fi

if [ ! -e "$root/etc/debian_version" ]; then
	echo "making a minimal Debian 12 in $root"
	debootstrap --variant=minbase bookworm "$root" "$(debian_mirror)" >"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		exit 1
	}
	rm -f "$log"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/src"
git clone -q . "$root/src"
if [ -n "$packages" ]; then
	rm -rf "$root/packages"
	mkdir "$root/packages"
	cp "$packages"/*.deb "$packages"/*.tar.gz tests/install/packaged.sh "$root/packages"
	set -- sh /packages/packaged.sh /packages
fi

[ $# -gt 0 ] || set -- './demo && ./check'
status=0
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --propagation private sh -eu -c '
	root=$1
	shift
	# the root has to be a mount, so that userland.sh can make a namespace in it
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o size=512m tmpfs "$root/dev/shm"
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ TERM=dumb \
		chroot "$root" /bin/sh -c "cd /src && $*"
' sh "$root" "$*" </dev/null || status=$?
echo "status $status"
exit "$status"
