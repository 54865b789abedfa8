#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh - CPack makes the packages of this build, and they work where they are unpacked
#
# Usage: packages.sh CPACK BUILD SOURCE
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ ! -e "$2/examples/frames.so" ]; then
	echo "skipped: hipcc did not build the example"
	exit 77
fi
# compressed quickly
"$1" --config "$2/CPackConfig.cmake" -B "$tmp" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$tmp/log" 2>&1 || {
	cat "$tmp/log"
	exit 1
}
sh "$3/tests/install/packaged.sh" --unpack "$tmp"
