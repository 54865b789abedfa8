#!/bin/sh
# SPDX-License-Identifier: MIT
# userland.sh - the userland of another Debian suite, for its unmodified ROCm runtimes
#
# Usage: tools/userland.sh SUITE COMMAND
#   SUITE                   runtimes, in November 2026
#     debian13              ROCr 6.1.2, HIP 5.7.1
#     unstable              ROCr 6.4.3, HIP 6.4.3
#     experimental          ROCr 7.2.4, HIP 7.2.4
#   COMMAND
#     setup                 fetch it from Debian's packages; does nothing if it exists; packages that this script asks for since
#                           are added
#     libraries             add AMD's libraries and their test programs, for tests/libraries, and headers in root/libraries
#     run COMMAND...        run a command in it, in this folder, with this environment
#     sums BUILD            checksums of the product's binaries, as seen from there and from here
#     packages              its packages, with their versions
#     runtimes              the packages of AMD's runtimes among them, on one line
#
# Exits with status 77 and one line with the reason if it can't be made or entered: no network, no packages, no permission.
# Needs no root: a separate apt fetches the packages, which are unpacked, not installed; they are the root folder of the
# command in a new namespace, with this machine's /proc, /dev, /sys, /tmp, source and build
# folders. USERLAND_DIR (build/userland) keeps them. They come from DEBIAN_MIRROR, by default
# the mirror from which this machine gets Debian's main archive.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
. "$tree/tools/setup.sh"
base='base-files bash coreutils dash diffutils findutils grep libasan8 libc-bin libc6 libc6-dbg libexpat1 libsqlite3-0 libstdc++6
	libubsan1 mawk mount patchelf procps python3 sed sqlite3 util-linux valgrind zlib1g'

usage() {
	sed -n 's/^# \{0,1\}//; 3,18p' "$0"
	exit 2
}

# packages whose dependencies are not all there
alone=
suite=${1:-}
command=${2:-}
case $suite in
debian13)
	sources='trixie'
	target=trixie
	rocm='libamd-comgr2 libamdhip64-5 libhsa-runtime64-1 librccl1'
	hip=libamdhip64.so.5
	libraries='librccl1 librocblas0 librocfft0 librocrand1 librocsolver0 librocsparse0
		libhipblas0-tests libhipsparse0-tests librccl1-tests librocprim-tests librocrand1-tests
		librocsolver0-tests'
	;;
unstable)
	sources='unstable'
	target=unstable
	rocm='libamd-comgr3 libamdhip64-6 libhiprtc-builtins6 libhiprtc6 libhsa-runtime64-1'
	hip=libamdhip64.so.6
	libraries=
	;;
experimental)
	# packages that are not in experimental come from unstable
	sources='unstable experimental'
	target=experimental
	rocm='amd-smi libamd-comgr3 libamdhip64-7 libhiprtc-builtins7 libhiprtc7 libhsa-amd-aqlprofile64-1 libhsa-runtime64-1
		libhwloc15 librccl1 librocprofiler-register-0 rocm-smi rocminfo'
	# needs libamd-smi26, which Debian no longer has: link_names()
	alone=libhsa-runtime64-tests
	hip=libamdhip64.so.7
	libraries='librccl1 librocblas5 librocfft0 librocrand1 librocsolver0 librocsparse1'
	;;
*) usage ;;
esac
# the MPI libraries that rtl trace --mpi is tested with: Open MPI 5 and 6, MPICH 4 and 5
case $suite in
debian13 | unstable) mpi='libmpich12 libopenmpi40 mpich openmpi-bin' ;;
*) mpi= ;;
esac
asked="$base $rocm${mpi:+ $mpi}${alone:+ $alone}"
headers='libhipcub-dev librccl-dev librocblas-dev librocfft-dev librocprim-dev librocrand-dev librocsolver-dev librocsparse-dev'
[ $# -ge 2 ] || usage
shift 2
dir=${USERLAND_DIR:-$tree/build/userland}/$suite
case $dir in
/*) ;;
*) dir=$PWD/$dir ;;
esac
root=$dir/root

# skip WHY...: setup stores the reason, run prints it again
skip() {
	if [ "$command" = setup ]; then
		mkdir -p "$dir"
		echo "$*" >"$dir/why"
	fi
	echo "no userland of $suite: $*"
	exit 77
}

# apt's first error, on one line
complaint() {
	sed -n 's/^[EW]: *//p' "$dir/apt.log" | head -n 1 | cut -c 1-200
}

private_apt() {
	APT_CONFIG=$dir/apt/apt.conf DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get "$@" >>"$dir/apt.log" 2>&1 </dev/null
}

# An apt with these suites and no installed packages.
configure_apt() {
	from=$(debian_mirror)
	[ -n "$from" ] || skip "this machine's apt has no source of Debian's main archive; DEBIAN_MIRROR names one"
	proxy=$(apt-config dump --format '%v' Acquire::http::Proxy 2>/dev/null) || proxy=''
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/etc/preferences.d"
	: >"$dir/apt/status"
	: >"$dir/apt.log"
	for s in $sources; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $s main"
	done >"$dir/apt/sources.list"
	cat >"$dir/apt/apt.conf" <<-EOT
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
		// a mirror may be a snapshot; signatures are checked all the same
		Acquire::Check-Valid-Until "false";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Acquire::http::Timeout "20";
		${proxy:+Acquire::http::Proxy \"$proxy\";}
	EOT
}

# name_version DEB
name_version() {
	dpkg-deb -f "$1" Package Version | sed 's/^[^:]*: //' | paste -s -d ' ' -
}

# Names of libraries that programs were linked with, for the ones that are there.
link_names() {
	# HIP of every release has the symbols, with their versions, that a program of HIP 5 was linked with
	[ "$hip" = libamdhip64.so.5 ] || ln -sf "$hip" "$1/usr/lib/x86_64-linux-gnu/libamdhip64.so.5"
	# of version 27 has the functions that AMD's tests of the HSA runtime call
	[ ! -e "$1/usr/lib/x86_64-linux-gnu/libamd_smi.so.27" ] || ln -sf libamd_smi.so.27 "$1/usr/lib/x86_64-linux-gnu/libamd_smi.so.26"
}

unpack() {
	rm -rf "$root.new"
	for d in bin sbin lib lib64; do
		mkdir -p "$root.new/usr/$d"
		ln -s "usr/$d" "$root.new/$d"
	done
	for deb in "$dir"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$root.new" 2>>"$dir/apt.log" || return 1
		name_version "$deb" >>"$root.new/packages"
	done
	printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$root.new/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root.new/etc/group"
	ln -sf mawk "$root.new/usr/bin/awk"
	link_names "$root.new"
	echo "$asked" >"$root.new/asked_for"
	mkdir -p "$root.new/proc" "$root.new/dev" "$root.new/sys" "$root.new/tmp"
	rm -rf --one-file-system "$root"
	mv "$root.new" "$root"
	rm -rf "$dir/apt" "$dir/why"
}

# The list has grown, and the mirror still has what is there in the same versions: adds what is missing. Programs may run in the
# userland meanwhile: no file of theirs is changed.
add_missing() {
	[ -e "$root/packages" ] || return 1
	tr -s ' \t\n' '\n' <"$root/asked_for" | sort -u >"$dir/there"
	echo "$asked" | tr -s ' \t\n' '\n' | sort -u >"$dir/wanted"
	[ -z "$(comm -23 "$dir/there" "$dir/wanted")" ] || return 1
	# shellcheck disable=SC2086 # lists of names
	private_apt install -y --simulate -t "$target" $base $rocm $mpi || return 1
	sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' "$dir/apt.log" | sort -u >"$dir/wanted"
	sort -u "$root/packages" >"$dir/there"
	# another version of one that is there; packages beside these, of the libraries, may be there, too
	[ -z "$(join "$dir/wanted" "$dir/there" | awk '$2 != $3')" ] || return 1
	missing=$(comm -23 "$dir/wanted" "$dir/there" | tr ' ' '=')
	rm -rf "$dir/more"
	mkdir "$dir/more"
	# shellcheck disable=SC2086 # a list of names
	[ -z "$missing" ] || (cd "$dir/more" && private_apt download $missing) || return 1
	for name in $alone; do
		grep -q "^$name " "$root/packages" || (cd "$dir/more" && private_apt download -t "$target" "$name") || return 1
	done
	for deb in "$dir"/more/*.deb; do
		[ -e "$deb" ] || continue
		dpkg-deb -x "$deb" "$root" 2>>"$dir/apt.log" || return 1
		name_version "$deb" >>"$root/packages"
	done
	link_names "$root"
	echo "$asked" >"$root/asked_for"
	rm -rf "$dir/apt" "$dir/more" "$dir/wanted" "$dir/there" "$dir/why"
}

# namespace COMMAND...: runs it in a new mount namespace, as root or mapped to root
namespace() {
	if [ "$(id -u)" = 0 ]; then
		unshare --mount --propagation private "$@"
	else
		unshare --user --map-root-user --mount --propagation private "$@"
	fi
}

setup() {
	[ "$(cat "$root/asked_for" 2>/dev/null)" = "$asked" ] && return 0
	[ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
	for tool in apt-get dpkg-deb unshare chroot; do
		command -v "$tool" >/dev/null 2>&1 || skip "there is no $tool"
	done
	namespace true 2>/dev/null || skip "mount namespaces are not allowed here"
	mkdir -p "$dir"
	configure_apt
	private_apt update || skip "its package lists can't be fetched: $(complaint)"
	add_missing && return 0
	# there is none, or of other packages: make it again
	# shellcheck disable=SC2086 # lists of names
	{
		private_apt install -y --download-only -t "$target" $base $rocm $mpi &&
			for name in $alone; do
				(cd "$dir/apt/cache/archives" && private_apt download -t "$target" "$name")
			done
	} || skip "its packages can't be fetched: $(complaint)"
	unpack || skip "its packages can't be unpacked, $dir/apt.log says more"
}

# The libraries go where the runtimes are. Of the packages of headers only the headers are wanted, not what they depend on.
libraries() {
	setup
	[ "$(cat "$root/libraries/asked_for" 2>/dev/null)" = "$libraries $headers" ] && return 0
	configure_apt
	private_apt update || skip "its package lists can't be fetched: $(complaint)"
	# shellcheck disable=SC2086 # lists of names
	{
		private_apt install -y --download-only -t "$target" $base $rocm $mpi $libraries
		(cd "$dir/apt" && private_apt download -t "$target" $headers)
	} || skip "its libraries can't be fetched: $(complaint)"
	rm -rf "$root/libraries"
	mkdir -p "$root/libraries"
	for deb in "$dir"/apt/*.deb; do
		dpkg-deb -x "$deb" "$root/libraries" 2>>"$dir/apt.log" || skip "a package can't be unpacked, $dir/apt.log says more"
	done
	for deb in "$dir"/apt/cache/archives/*.deb; do
		row=$(name_version "$deb")
		grep -qxF "$row" "$root/packages" && continue
		dpkg-deb -x "$deb" "$root" 2>>"$dir/apt.log" || skip "a package can't be unpacked, $dir/apt.log says more"
		echo "$row" >>"$root/packages"
	done
	echo "$libraries $headers" >"$root/libraries/asked_for"
	rm -rf "$dir/apt"
}

need_it() {
	if [ ! -e "$root/packages" ]; then
		skip "$(cat "$dir/why" 2>/dev/null || echo "tools/userland.sh $suite setup makes it, where there is a network")"
	fi
}

run() {
	need_it
	namespace true 2>/dev/null || skip "mount namespaces are not allowed here"
	# for tests that need the version of the runtimes
	USERLAND=$suite
	export USERLAND
	# shellcheck disable=SC2016 # expanded by the inner shell
	namespace sh -eu -c '
		root=$1 from=$2
		# tools expect that the root is a mount
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
	set -- "$RTL_BUILD/bin/rtl" "$RTL_BUILD"/lib/*.so.*[0-9] "$RTL_BUILD/vgpu/libvgpu.so" "$RTL_BUILD/vgpu/libvgpu_engine.so"
	here=$(sha256sum "$@")
	there=$(run sha256sum "$@") || exit
	printf '%s\n' "$here"
	[ "$here" = "$there" ] || {
		printf '%s sees something else:\n%s\n' "$suite" "$there"
		exit 1
	}
}

case $command in
setup) setup ;;
libraries) libraries ;;
run) run "$@" ;;
sums) sums "$@" ;;
packages)
	need_it
	cat "$root/packages"
	;;
runtimes)
	need_it
	sed -n '/^\(libamdhip64\|libhiprtc7\|libhsa-runtime64\|libamd-comgr\|librccl\|librocprofiler\)/p' "$root/packages" | paste -s -d ',' - | sed 's/,/, /g'
	;;
*) usage ;;
esac
