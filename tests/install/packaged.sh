#!/bin/sh
# SPDX-License-Identifier: MIT
# packaged.sh - the packages: what they need and have, that they work, and that they leave nothing
#
# Usage: packaged.sh DIR		as root, installs and removes them. DIR has the .deb files and the archive
#        packaged.sh --unpack DIR	unpacks them into folders of its own
#
# tools/fresh_debian.sh --packages runs the first in a chroot without compiler and ROCm, packages.sh the second.
set -eu
unpack=''
if [ "$1" = --unpack ]; then
	unpack=yes
	shift
fi
dir=$1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

say() { printf '== %s\n' "$*"; }
die() { printf 'FAILED: %s\n' "$*"; exit 1; }
# has FILE TEXT...
has() {
	file=$1
	shift
	for text in "$@"; do
		grep -qF -- "$text" "$file" || { cat "$file"; die "'$text' is not in what $file shows"; }
	done
}
# used RTL EXAMPLE: traces the example, reads the trace
used() {
	rm -rf t.* ./*.out
	"$1" trace --virtual-gpu --fail-on-loss --fail-on-empty -o t.db -- "$2" 12 >trace.out 2>&1 || { cat trace.out; die "rtl trace"; }
	has trace.out 'frames: GPU 0: PASSED' '12 dispatches on 1 GPU, 24 copies' 'rtl trace: complete'
	"$1" summary t.db >summary.out || die "rtl summary"
	has summary.out 'sharpen(int const*, int*)' 'CopyHostToDevice' 'FINDINGS'
	"$1" report t.db >report.out 2>&1 || { cat report.out; die "rtl report"; }
	has t.html '<canvas'
	"$1" convert t.db >convert.out 2>&1 || { cat convert.out; die "rtl convert"; }
	[ -s t.pftrace ] || die "rtl convert wrote nothing"
	"$1" doctor >doctor.out 2>&1 || { cat doctor.out; die "rtl doctor"; }
}

# what the packages say and have, without installing them
looked_at() {
	depends=$(dpkg-deb -f "$dir"/rocm-trace-lite_*.deb Depends)
	for name in libc6 libexpat1 libsqlite3-0 zlib1g; do
		case $depends in *$name*) ;; *) die "no dependency on $name: $depends" ;; esac
	done
	case $depends in *hip* | *hsa*) die "it depends on ROCm: $depends" ;; esac
	for package in rocm-trace-lite rocm-trace-lite-dev; do
		dpkg-deb -c "$dir/$package"_*.deb | sed 's/.* \.\///; s/ -> .*//' >"$package.files"
		# AMD's own and Debian's packages have these names elsewhere
		! grep -E 'libroc|roctracer|rocprofiler' "$package.files" |
			grep -vE '^usr/lib/rocm-trace-lite/drop-in/|^usr/share/' || die "names of AMD's in $package"
	done
	[ "$(sort rocm-trace-lite.files rocm-trace-lite-dev.files | uniq -d | grep -v '/$')" = "" ] || die "files in both packages"
	for page in "$source"/docs/man/*.1; do
		grep -q "^usr/share/man/man1/${page##*/}.gz\$" rocm-trace-lite.files || die "no manual page ${page##*/}"
	done
}

files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /src -o -path /tmp -o -path "$dir" -o -path /var/cache -o -path /var/lib/apt \
		-o -path /var/lib/dpkg -o -path /var/log \) -prune -o -print | sort
}

# installs, uses and removes them
installed() {
	apt-get -qq update

	say "apt install rocm-trace-lite: a dry run without what is recommended"
	apt-get -qq --no-install-recommends -s install "$dir"/rocm-trace-lite_*.deb | grep '^Inst' | tee without.out
	! grep -qE 'hip|hsa|comgr' without.out || die "it depends on ROCm"

	say "apt install rocm-trace-lite"
	began=$(date +%s)
	apt-get -qq -y -o Dpkg::Use-Pty=0 install "$dir"/rocm-trace-lite_*.deb >apt.out 2>&1 || { cat apt.out; die "apt install"; }
	say "installed in $(($(date +%s) - began)) s: $(grep -c '^Setting up' apt.out) packages"
	! ldconfig -p | grep -E 'roctracer64|roctx64|rocprofiler' || die "libraries with AMD's names are where the loader looks"
	ldconfig -p | grep -q librtl.so.1 || die "the loader does not find librtl.so.1"
	used rtl /usr/lib/rocm-trace-lite/examples/frames
	LD_LIBRARY_PATH=/usr/lib/rocm-trace-lite/vgpu HSA_TOOLS_LIB=librtl.so.1 LD_PRELOAD=librtl.so.1:libvgpu.so RTL_MODE=hip RTL_OUTPUT=$work/env.rtl /usr/lib/rocm-trace-lite/examples/frames 4 >env.out 2>&1 ||
		{ cat env.out; die "the program with librtl by variables"; }

	say "apt install rocm-trace-lite-dev"
	apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "$dir"/rocm-trace-lite-dev_*.deb >apt.out 2>&1 || { cat apt.out; die "apt install"; }
	[ -e /usr/include/rtl/rtl.h ] || die "no header"
	[ ! -e /usr/include/roctracer ] || die "headers with AMD's names are where compilers look"

	say "apt purge: nothing is left"
	dpkg -L rocm-trace-lite rocm-trace-lite-dev | grep -E 'rocm-trace-lite|rtl' | sort -u >installed.out
	apt-get -qq -y -o Dpkg::Use-Pty=0 purge rocm-trace-lite rocm-trace-lite-dev >apt.out 2>&1 || { cat apt.out; die "apt purge"; }
	while read -r path; do
		[ ! -e "$path" ] || die "$path is left"
	done <installed.out
	! files | grep -iE 'rocm-trace-lite|librtl|/_?rtl(\.|$)' || die "these files are left"
}

if [ -n "$unpack" ]; then
	source=$(dirname "$0")/../..
	looked_at
	dpkg-deb -x "$dir"/rocm-trace-lite_*.deb installed
	used "$work/installed/usr/bin/rtl" "$work/installed/usr/lib/rocm-trace-lite/examples/frames"
else
	installed
fi

say "the archive, unpacked somewhere and moved"
mkdir "a b"
tar -xzf "$dir"/rocm-trace-lite-*.tar.gz -C "a b"
file=$(basename "$dir"/rocm-trace-lite-*.tar.gz .tar.gz)
[ -d "a b/$file" ] || die "the folder in $file.tar.gz has another name: $(ls "a b")"
mv "a b/$file" "a b/rtl here"
root="$work/a b/rtl here"
used "$root/bin/rtl" "$root/lib/rocm-trace-lite/examples/frames"
[ -e "$root/share/man/man1/rtl-trace.1" ] || die "no manual"
say "PASSED"
