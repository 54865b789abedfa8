#!/bin/sh
# SPDX-License-Identifier: MIT
# debian13.sh - a Debian 13 userland beside the system's own: ROCr 6.1.2 and HIP 5.7.1, unmodified
#
# Usage:
#   tools/debian13.sh setup              make it, from Debian's packages; nothing to do when it is there
#   tools/debian13.sh run COMMAND...     run a command in it, in this folder, with this environment
#   tools/debian13.sh sums BUILD         checksums of the product's binaries, as seen from there and from here
#   tools/debian13.sh packages           what it consists of: package and version
#
# Status 77, and one line that says why, when it can't be made or entered: no network, no packages, no right to.
# Needs no root: the packages are fetched with an apt of its own and unpacked, not installed; the command sees
# them as its root in a namespace of its own, with this machine's /proc, /dev, /sys, /tmp, source and build
# folders. DEBIAN13_DIR (build/debian13) is where it is kept, DEBIAN_MIRROR where it comes from.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
dir=${DEBIAN13_DIR:-$tree/build/debian13}
case $dir in
/*) ;;
*) dir=$PWD/$dir ;;
esac
root=$dir/root
packages='base-files bash coreutils dash diffutils findutils grep libamd-comgr2 libamdhip64-5 libasan8 libc-bin libc6
	libc6-dbg libhsa-runtime64-1 libsqlite3-0 libstdc++6 libubsan1 mawk mount procps python3 sed sqlite3 util-linux
	valgrind zlib1g'

# skip WHY...: what keeps it from being made is told again when it is to be entered
skip() {
	if [ "$command" = setup ]; then
		mkdir -p "$dir"
		echo "$*" >"$dir/why"
	fi
	echo "no Debian 13 userland: $*"
	exit 77
}

# apt's own words: the first error, on one line
complaint() {
	sed -n 's/^[EW]: *//p' "$dir/apt.log" | head -n 1 | cut -c 1-200
}

private_apt() {
	APT_CONFIG=$dir/apt/apt.conf DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get "$@" >>"$dir/apt.log" 2>&1 </dev/null
}

# An apt that knows of Debian 13 and of nothing installed.
configure_apt() {
	proxy=$(apt-config dump --format '%v' Acquire::http::Proxy 2>/dev/null) || proxy=''
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/etc"
	: >"$dir/apt/status"
	: >"$dir/apt.log"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${DEBIAN_MIRROR:-http://deb.debian.org/debian} trixie main" >"$dir/apt/sources.list"
	cat >"$dir/apt/apt.conf" <<-EOF
		Dir::State "$dir/apt";
		Dir::State::status "$dir/apt/status";
		Dir::State::lists "$dir/apt/lists";
		Dir::Cache "$dir/apt/cache";
		Dir::Etc "$dir/apt/etc";
		Dir::Etc::SourceList "$dir/apt/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Parts "/dev/null";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "";
		APT::Update::Error-Mode "any";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Acquire::http::Timeout "20";
		${proxy:+Acquire::http::Proxy \"$proxy\";}
	EOF
}

unpack() {
	rm -rf "$root.new"
	for d in bin sbin lib lib64; do
		mkdir -p "$root.new/usr/$d"
		ln -s "usr/$d" "$root.new/$d"
	done
	for deb in "$dir"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$root.new" 2>>"$dir/apt.log" || return 1
		dpkg-deb -f "$deb" Package Version | sed 's/^[^:]*: //' | paste -s -d ' ' - >>"$root.new/packages"
	done
	printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$root.new/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root.new/etc/group"
	ln -s mawk "$root.new/usr/bin/awk"
	echo "$packages" >"$root.new/asked_for"
	mkdir -p "$root.new/proc" "$root.new/dev" "$root.new/sys" "$root.new/tmp"
	rm -rf --one-file-system "$root"
	mv "$root.new" "$root"
	rm -rf "$dir/apt"
}

# namespace COMMAND...: with mounts of its own, as root or as somebody who looks like root
namespace() {
	if [ "$(id -u)" = 0 ]; then
		unshare --mount --propagation private "$@"
	else
		unshare --user --map-root-user --mount --propagation private "$@"
	fi
}

setup() {
	# made of another list of packages: made anew
	[ "$(cat "$root/asked_for" 2>/dev/null)" = "$packages" ] && return 0
	[ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
	for tool in apt-get dpkg-deb unshare chroot; do
		command -v "$tool" >/dev/null 2>&1 || skip "there is no $tool"
	done
	namespace true 2>/dev/null || skip "mount namespaces are not allowed here"
	mkdir -p "$dir"
	configure_apt
	private_apt update || skip "its package lists can't be fetched: $(complaint)"
	# shellcheck disable=SC2086 # a list of names
	private_apt install -y --download-only $packages || skip "its packages can't be fetched: $(complaint)"
	unpack || skip "its packages can't be unpacked, $dir/apt.log says more"
}

need_it() {
	if [ ! -e "$root/packages" ]; then
		skip "$(cat "$dir/why" 2>/dev/null || echo "tools/debian13.sh setup makes it, where there is a network")"
	fi
}

run() {
	need_it
	namespace true 2>/dev/null || skip "mount namespaces are not allowed here"
	# shellcheck disable=SC2016 # expanded by the inner shell
	namespace sh -eu -c '
		root=$1 from=$2
		# a mount of its own, as tools expect of a root
		mount --bind "$root" "$root"
		for d in /proc /dev /sys /tmp "$3" ${RTL_BUILD:+"$RTL_BUILD"}; do
			mkdir -p "$root$d"
			mount --rbind "$d" "$root$d"
		done
		shift 3
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		export PATH
		exec chroot "$root" /bin/sh -c "cd \"\$0\" && exec \"\$@\"" "$from" "$@"
	' sh "$root" "$PWD" "$tree" "$@"
}

sums() {
	RTL_BUILD=$(cd "$1" && pwd)
	export RTL_BUILD
	set -- "$RTL_BUILD/bin/rtl" "$RTL_BUILD"/lib/*.so.*[0-9] "$RTL_BUILD/vgpu/libhsakmt.so.1"
	here=$(sha256sum "$@")
	there=$(run sha256sum "$@") || exit
	printf '%s\n' "$here"
	[ "$here" = "$there" ] || {
		printf 'Debian 13 sees something else:\n%s\n' "$there"
		exit 1
	}
}

command=${1:-}
[ $# = 0 ] || shift
case $command in
setup) setup ;;
run) run "$@" ;;
sums) sums "$@" ;;
packages)
	need_it
	cat "$root/packages"
	;;
*)
	sed -n 's/^# \{0,1\}//; 3,15p' "$0"
	exit 2
	;;
esac
