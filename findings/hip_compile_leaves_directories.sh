#!/bin/sh
# SPDX-License-Identifier: MIT
# hip_compile_leaves_directories - each HIP compilation by clang 15 leaves two empty directories for each GPU in TMPDIR
#
# Expected: a compiler that succeeds removes its temporary files and directories, as the same clang does for C.
# Seen:     the driver makes a directory NAME-XXXXXX for the object and one for the code object of each --offload-arch, removes the files in
#           them and keeps the directories. A build of 500 HIP programs leaves a thousand in /tmp.
#
# Needs Debian 12's archive. Exit status 0: as described; 1: it has changed.
set -eu
version=1:15.0.6-4+b1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for package in clang-15 clang-tools-15 lld-15 libllvm15 libclang-cpp15 libclang-common-15-dev; do
	apt-get -o APT::Sandbox::User=root download -qq "$package=$version" >/dev/null
done
for package in *.deb; do
	dpkg-deb -x "$package" root
done
llvm=$dir/root/usr/lib/llvm-15
LD_LIBRARY_PATH=$(dirname root/usr/lib/*/libLLVM-15.so.1):$llvm/lib
export LD_LIBRARY_PATH

cat >kernel.hip <<'C'
__attribute__((global)) void one(int *at) { *at = 1; }
C
echo 'int one(void) { return 1; }' >plain.c

# compile DIRECTORY ARGUMENT...: how many directories it leaves, and how many files
compile() {
	mkdir "$1"
	TMPDIR=$dir/$1
	export TMPDIR
	shift
	"$llvm/bin/clang" "$@" -o out
	echo "$(find "$TMPDIR" -mindepth 1 -type d -empty | wc -l) empty directories, $(find "$TMPDIR" -type f | wc -l) files"
}
{
	echo "C: $(compile c -c plain.c)"
	echo "HIP, one GPU: $(compile one -x hip --cuda-device-only -nogpulib -nogpuinc --offload-arch=gfx900 kernel.hip)"
	echo "HIP, two GPUs: $(compile two -x hip --cuda-device-only -nogpulib -nogpuinc --offload-arch=gfx900 --offload-arch=gfx90a kernel.hip)"
} >seen

echo "clang-15 $version"
cat seen
cat >described <<'T'
C: 0 empty directories, 0 files
HIP, one GPU: 2 empty directories, 0 files
HIP, two GPUs: 4 empty directories, 0 files
T
cmp -s seen described || { echo "changed: expected"; cat described; exit 1; }
