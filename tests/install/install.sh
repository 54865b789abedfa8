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
# what has AMD's names is in a prefix of its own
drop_in=$root/lib/rocm-trace-lite/drop-in

for file in bin/rtl lib/librtl.so lib/librtl.so.1 \
	lib/rocm-trace-lite/tsan.supp lib/rocm-trace-lite/vgpu/libhsa-amd-aqlprofile64.so lib/rocm-trace-lite/vgpu/libvgpu.so lib/rocm-trace-lite/vgpu/libvgpu_engine.so libexec/rocm-trace-lite/rtl-selftest-gpu \
	lib/pkgconfig/rocm-trace-lite.pc lib/cmake/rocm-trace-lite/rocm-trace-lite-config.cmake \
	lib/rocm-trace-lite/examples/frames.so share/man/man1/rtl-snapshot.1 share/modulefiles/rocm-trace-lite \
	share/doc/rocm-trace-lite/README.md share/doc/rocm-trace-lite/LICENSE; do
	[ -e "$root/$file" ] || fail "$file is not installed"
done

# Search paths must be relative.
for file in "$root"/bin/* "$root"/lib/*.so "$drop_in"/lib/*.so; do
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
if ! "$cmake" -G Ninja -B use_build -S . -DCMAKE_PREFIX_PATH="$root" >log 2>&1 || ! "$cmake" --build use_build >>log 2>&1 || ! ./use_build/use; then
	cat log
	fail "the CMake package"
fi

# So does a client of rocprofiler v1; HSA's headers are the system's.
mkdir v1
cat >v1/use.c <<'END'
#include <rocprofiler/rocprofiler.h>
int main(void)
{
	return !rocprofiler_is_compatible() || rocprofiler_close(NULL) != HSA_STATUS_SUCCESS ||
	       rocprofiler_start(NULL, 0) != HSA_STATUS_ERROR_INVALID_ARGUMENT || !*rocprofiler_last_error_string();
}
END
cat >v1/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(use C)
find_package(rocprofiler 8 REQUIRED)
add_executable(use use.c)
target_link_libraries(use PRIVATE rocprofiler::rocprofiler64)
END
if [ -e /usr/include/hsa/hsa.h ]; then
	if ! "$cmake" -G Ninja -B v1_build -S v1 -DCMAKE_PREFIX_PATH="$drop_in" >log 2>&1 || ! "$cmake" --build v1_build >>log 2>&1 || ! ./v1_build/use; then
		cat log
		fail "the CMake package of rocprofiler"
	fi
	if command -v pkg-config >/dev/null; then
		flags=$(PKG_CONFIG_PATH=$drop_in/lib/pkgconfig pkg-config --cflags --libs rocprofiler64)
		# shellcheck disable=SC2086 # several words
		if ! cc -std=c11 -Wall -Wextra -Werror v1/use.c $flags -o v1_use || ! LD_LIBRARY_PATH=$drop_in/lib ./v1_use; then
			fail "the .pc file of rocprofiler"
		fi
	fi
fi

# So does a tool, in C and C++, of either version; and a program with markers.
mkdir sdk
cat >sdk/tool.c <<'END'
#include <rocprofiler-sdk-roctx/roctx.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <stdio.h>
#ifdef __cplusplus
#include <rocprofiler-sdk/cxx/name_info.hpp>
#endif
static int nr_marks;
static void on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user, void *arg)
{
	(void)user;
	(void)arg;
	nr_marks += record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
}
static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	rocprofiler_context_id_t context = { 0 };

	(void)fini;
	(void)data;
	rocprofiler_create_context(&context);
	rocprofiler_configure_callback_tracing_service(context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0,
						       on_marker, NULL);
	return rocprofiler_start_context(context);
}
static rocprofiler_tool_configure_result_t *configure(uint32_t version, const char *text, uint32_t priority,
						      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, NULL, NULL };

	(void)text;
	(void)priority;
	id->name = "tool";
	return version == ROCPROFILER_VERSION ? &result : NULL;
}
int main(void)
{
	uint32_t major = 9;

	rocprofiler_get_version(&major, NULL, NULL);
	if (rocprofiler_force_configure(configure) != ROCPROFILER_STATUS_SUCCESS)
		return 1;
	roctxMark("a");
	roctxMark("b");
#ifdef __cplusplus
	if (rocprofiler::sdk::get_callback_tracing_names().at(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT) != "CODE_OBJECT")
		return 1;
#endif
	printf("%u %d\n", major, nr_marks);
	return nr_marks != 2;
}
END
cp sdk/tool.c sdk/tool.cpp
printf '#!/bin/sh\necho "  Name: gfx90a"\necho "  Name: gfx1100"\necho "  Name: amdgcn-amd-amdhsa--gfx90a:sramecc+"\n' >sdk/rocminfo
chmod +x sdk/rocminfo
cat >sdk/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(tool C CXX)
find_package(rocprofiler-sdk ${WANTED} REQUIRED COMPONENTS rocprofiler-sdk-shared-library)
find_package(rocprofiler-sdk ${WANTED} REQUIRED)
find_package(rocprofiler-sdk-roctx ${WANTED} REQUIRED)
# of the rocminfo beside this file
set(rocminfo_EXECUTABLE ${CMAKE_CURRENT_SOURCE_DIR}/rocminfo)
rocprofiler_sdk_get_gfx_architectures(found ECHO PREFIX "tool: " DELIM "+")
if(NOT found STREQUAL "gfx90a;gfx1100")
	message(FATAL_ERROR "rocprofiler_sdk_get_gfx_architectures: ${found}")
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 17)
add_executable(tool_c tool.c)
add_executable(tool_cxx tool.cpp)
target_link_libraries(tool_c PRIVATE rocprofiler-sdk::rocprofiler-sdk rocprofiler-sdk-roctx::rocprofiler-sdk-roctx)
target_link_libraries(tool_cxx PRIVATE rocprofiler-sdk::rocprofiler-sdk-shared-library
	rocprofiler-sdk-roctx::rocprofiler-sdk-roctx-shared-library)
END
# the version that is asked for, and the one of which the library is; HIP's headers are another project's
for wanted in "1.0 1" "0.5 0" " 1"; do
	version=${wanted% *}
	major=${wanted##* }
	rm -rf sdk_build
	if ! "$cmake" -G Ninja -B sdk_build -S sdk -DCMAKE_PREFIX_PATH="$drop_in" -DWANTED="$version" >log 2>&1; then
		grep -q "was not found; ROCM_PATH" log && break
		cat log
		fail "the CMake package rocprofiler-sdk, version '$version'"
	elif ! "$cmake" --build sdk_build >log 2>&1; then
		cat log
		fail "building with the CMake package rocprofiler-sdk, version '$version'"
	fi
	for program in tool_c tool_cxx; do
		said=$("./sdk_build/$program") || fail "$program, version '$version'"
		[ "$said" = "$major 2" ] || fail "$program, version '$version': $said, not $major 2"
	done
done
if "$cmake" -G Ninja -B sdk_build -S sdk -DCMAKE_PREFIX_PATH="$drop_in" -DWANTED=1.9 >log 2>&1; then
	fail "the CMake package rocprofiler-sdk takes itself for 1.9"
fi

for header in "$root"/include/rtl/*.h; do
	[ -e "$header" ] || continue
	name=rtl/${header##*/}
	[ -e "$source/include/$name" ] || fail "$name is installed and not in include/"
done

[ "$failures" = 0 ]
