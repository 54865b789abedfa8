#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh - an installation works from any prefix, and after it was moved
#
# Usage: install.sh CMAKE BUILD SOURCE
set -eu
cmake=$1
build=$2
source=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

"$cmake" --install "$build" --prefix "$tmp/first" >"$tmp/log" 2>&1 || {
	cat "$tmp/log"
	exit 1
}
# No file may depend on the prefix it was installed to.
mv "$tmp/first" "$tmp/moved"
root=$tmp/moved

for file in bin/rtl lib/librtl.so lib/librtl.so.1 lib/rocm-trace-lite/vgpu/libhsakmt.so.1 \
	lib/pkgconfig/rocm-trace-lite.pc lib/cmake/rocm-trace-lite/rocm-trace-lite-config.cmake \
	share/doc/rocm-trace-lite/README.md share/doc/rocm-trace-lite/LICENSE; do
	[ -e "$root/$file" ] || fail "$file is not installed"
done

# Search paths must be relative.
for file in "$root"/bin/* "$root"/lib/*.so; do
	if readelf -d "$file" | grep -E 'RPATH|RUNPATH' | grep -v 'ORIGIN'; then
		fail "$file has a search path that is not relative"
	fi
done

grep -q "^Version: $("$root/bin/rtl" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)\$" \
	"$root/lib/pkgconfig/rocm-trace-lite.pc" || fail "rtl --version and the .pc file differ"

cd "$tmp"
if [ -x "$build/examples/vadd" ]; then
	if ! "$root/bin/rtl" trace --virtual-gpu -o t.db -- "$build/examples/vadd" 7 >out 2>err; then
		cat out err
		fail "rtl trace from the installation"
	elif command -v sqlite3 >/dev/null; then
		n=$(sqlite3 t.db 'select count(*) from rtl_dispatch where kernel like "%vector_add%"')
		[ "$n" = 7 ] || fail "7 dispatches of vector_add launched, $n in the trace"
	fi
fi

# A program that records itself finds header and library by pkg-config and by CMake, in C and C++.
cat >use.c <<'END'
#include <rtl/rtl.h>
int main(void)
{
	rtl_session_t session;

	return rtl_api_version() != RTL_API_VERSION || rtl_session_open(0, 0) != RTL_ERROR_ARGUMENT ||
	       rtl_session_open(0, &session) != RTL_OK || rtl_session_close(session) != RTL_OK;
}
END
cp use.c use.cpp
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --cflags --libs rocm-trace-lite)
	# shellcheck disable=SC2086 # several words
	cc -std=c11 -Wall -Wextra -Werror -Wpedantic use.c $flags -o use_c || fail "the .pc file, in C"
	# shellcheck disable=SC2086
	c++ -std=c++17 -Wall -Wextra -Werror -Wpedantic use.cpp $flags -o use_cpp || fail "the .pc file, in C++"
	for program in use_c use_cpp; do
		LD_LIBRARY_PATH=$root/lib "./$program" || fail "$program, linked by the .pc file"
	done
fi
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(use C)
find_package(rocm-trace-lite REQUIRED)
add_executable(use use.c)
target_link_libraries(use PRIVATE rocm-trace-lite::rtl)
END
if ! "$cmake" -B use_build -S . -DCMAKE_PREFIX_PATH="$root" >log 2>&1 || ! "$cmake" --build use_build >>log 2>&1 || ! ./use_build/use; then
	cat log
	fail "the CMake package"
fi

for header in "$root"/include/rtl/*.h; do
	[ -e "$header" ] || continue
	name=rtl/${header##*/}
	[ -e "$source/include/$name" ] || fail "$name is installed and not in include/"
done

[ "$failures" = 0 ]
