#!/bin/sh
# SPDX-License-Identifier: MIT
# demangler_bf16 - __cxa_demangle() of libstdc++ 12 reads the type __bf16 as "bool _Accum" and drops the parameter behind it
#
# Expected: a mangled name that the library does not know gives status -2, as _Float16 ("DF16_") does.
# Seen:     "DF16b", the mangling of __bf16 by clang and GCC 13, gives status 0 and the text of another function; kernels that
#           differ in the next parameter alone become one name. A tool that demangles kernels by it merges their rows.
#
# Needs Debian 12's archive, gcc and g++ of any version. Exit status 0: as described; 1: it has changed.
set -eu
package=libstdc++6 version=12.2.0-14+deb12u1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -o APT::Sandbox::User=root download -qq "$package=$version" >/dev/null
dpkg-deb -x "$package"_*.deb root

cat >names.c <<'C'
#include <stdio.h>

char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int status;
		char *text = __cxa_demangle(argv[i], NULL, NULL, &status);

		printf("%s: status %d, %s\n", argv[i], status, text ? text : "no text");
	}
	return 0;
}
C
gcc -o names names.c -lstdc++
# void scale(__bf16, int); void scale(__bf16, float); void scale(_Float16, int)
LD_LIBRARY_PATH=$(dirname root/usr/lib/*/libstdc++.so.6) ./names _Z5scaleDF16bi _Z5scaleDF16bf _Z5scaleDF16_i >seen

echo "$package $version"
cat seen
cat >described <<'T'
_Z5scaleDF16bi: status 0, scale(bool _Accum)
_Z5scaleDF16bf: status 0, scale(bool _Accum)
_Z5scaleDF16_i: status -2, no text
T
cmp -s seen described || { echo "changed: expected"; cat described; exit 1; }
