#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [SECONDS [FUZZER...]] - fuzzes for SECONDS each (FUZZ_SECONDS, 4): load (traces), drain (a trace's halves while it grows), opts
# (command lines), pm4 and code (packets and kernels for the virtual GPU), control (clients of a traced process),
# counter (expressions and names of counters), metrics (users' files of metrics), fleet (files of a data set), answer (of its engines), and what commands read, each run in a process of its
# own: database (of rtl and of RPD), spool (a directory of raw traces), input (files that say what to count), reply (answers of a
# process's socket); by default all.
#
# None of them touches a file outside its own directory: the kernel's Landlock refuses it, and the fuzzer fails (confined.h).
#
# Needs clang with libFuzzer: exit status 77 (skipped) without it. Findings stay in
# $FUZZ_DIR (default: fuzz/ in the build directory) as crash-*; the corpus grows there from run to
# run. To debug a crash: ./fuzz_load crash-...
set -eu

seconds=${1:-${FUZZ_SECONDS:-4}}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- load drain opts pm4 code control counter metrics fleet answer database spool input reply
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${RTL_BUILD:-$root/build}
dir=${FUZZ_DIR:-$build/fuzz}
mkdir -p "$dir"
cd "$dir"
FUZZ_SCRATCH=
trap 'rm -rf "$FUZZ_SCRATCH"' EXIT
trap 'exit 1' INT TERM HUP

probe() {
	printf '%s\n' '#include <stdint.h>' '#include <stddef.h>' \
		'int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n);' \
		'#ifdef real' 'extern real r;' '#endif' \
		'int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return !d && n; }' >probe.c
	"$@" probe.c -o probe 2>/dev/null
}

# find_clang [TYPE]: the first that has libFuzzer, and the type
find_clang() {
	for c in clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19; do
		if command -v "$c" >/dev/null 2>&1 && probe "$c" -fsanitize=fuzzer,address,undefined "-Dreal=${1:-float}"; then
			echo "$c"
			break
		fi
	done
}

clang=$(find_clang)
if [ -z "$clang" ]; then
	echo "skipped: no clang with libFuzzer (clang-14, libclang-rt-14-dev)"
	exit 77
fi

flags="-std=c11 -D_GNU_SOURCE -g -O1 -I$root/src -I$root/tests -I$build/gen"
sanitize="-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined"

# LLVM's demangler, as the product has it (src/base/CMakeLists.txt); its stack is bounded for a build without sanitizers
build_demangler() {
	[ -e itanium.o ] && [ -z "$(find "$root/src/base/itanium.cpp" -newer itanium.o)" ] && return
	"$clang" -std=c++17 -D_GNU_SOURCE -g -O1 -fno-exceptions -fno-rtti -fno-threadsafe-statics -I"$root/src" \
		-isystem "$root/third_party/llvm-demangle" -c "$root/src/base/itanium.cpp" -o itanium.o
}

# build_fuzzer NAME SOURCES...: an object file each, so that it is quick the second time
shared=
build_fuzzer() {
	name=$1
	shift
	build_demangler
	objects=itanium.o
	objects_in=${shared:-$name}
	mkdir -p "$objects_in"
	for source in "$here/fuzz_$name.c" "$here/confined.c" "$@"; do
		object=$objects_in/$(echo "${source#"$root/"}" | tr / _).o
		objects="$objects $object"
		[ -e "$object" ] && [ -z "$(find "$root/src" "$root/vgpu" "$here" -name '*.[chi]*' -newer "$object" | head -n 1)" ] &&
			continue
		# shellcheck disable=SC2086
		"$clang" $flags $sanitize -c "$source" -o "$object"
	done
	# shellcheck disable=SC2086
	"$clang" $sanitize $objects -lsqlite3 -lz -lexpat -lm -lpthread -ldl -o "fuzz_$name"
}

# build_command NAME SOURCES...: with all commands, whose objects its fuzzers share
build_command() {
	shared=commands
	name=$1
	shift
	cli=
	for source in "$root"/src/cli/*.c "$root"/src/cli/*/*.c; do
		[ "${source##*/}" = main.c ] || cli="$cli $source"
	done
	# shellcheck disable=SC2086
	build_fuzzer "$name" "$@" $cli "$root"/src/fleet/*.c "$root"/src/export/*.c "$root"/src/export/*/*.c "$root"/src/analysis/*.c "$root"/src/query/*.c "$root"/src/store/*.c \
		"$root"/src/spool/*.c "$root"/src/base/*.c "$root"/src/counter/*.c "$build/gen/names_enums_gen.c" "$build/gen/names_sdk_gen.c" \
		"$build/gen/counter_tables_gen.c" "$build/gen/page_text.c" "$build/gen/fleet_sql.c"
	shared=
}

# make_traces DIR: what make_seeds makes, and traces with packed chunks
make_traces() {
	mkdir -p "$1"
	# shellcheck disable=SC2086
	"$clang" $flags "$here/make_seeds.c" "$root/tests/support/spool_make.c" -o make_seeds
	./make_seeds "$1"
	for packed in "$root"/tests/golden/v2*.rtl; do
		{ printf '\001' && cat "$packed"; } >"$1/$(basename "$packed" .rtl)"
		{ printf '\005' && cat "$packed"; } >"$1/$(basename "$packed" .rtl)-converted"
	done
}

for name in "$@"; do
	mkdir -p "corpus_$name" "seeds_$name"
	rm -rf "$FUZZ_SCRATCH"
	FUZZ_SCRATCH=$(mktemp -d /dev/shm/rtl-fuzz.XXXXXX 2>/dev/null || mktemp -d)
	export FUZZ_SCRATCH
	case $name in
	load)
		build_fuzzer load "$root"/src/store/*.c "$root"/src/export/rpd/*.c "$root"/src/query/*.c "$root"/src/counter/*.c \
			"$root"/src/spool/*.c "$root"/src/base/*.c "$build/gen/names_enums_gen.c" "$build/gen/counter_tables_gen.c"
		make_traces "seeds_$name"
		;;
	drain)
		build_fuzzer drain "$root"/src/store/load*.c "$root"/src/store/follow.c "$root"/src/store/map.c "$root"/src/spool/*.c "$root"/src/base/*.c
		make_traces traces
		python3 "$here/seeds.py" drain traces "seeds_$name"
		;;
	opts)
		build_command opts
		;;
	database)
		build_command database "$here/command.c" "$root/tests/support/spool_make.c"
		;;
	spool)
		build_command spool "$here/command.c"
		make_traces traces
		python3 "$here/seeds.py" spool traces "seeds_$name"
		;;
	input)
		build_command input "$here/command.c"
		python3 "$here/seeds.py" input "$root" "seeds_$name"
		;;
	reply)
		build_command reply "$here/command.c" "$root/tests/support/spool_make.c"
		python3 "$here/seeds.py" reply - "seeds_$name"
		;;
	pm4)
		flags="$flags -I$root/vgpu -isystem /opt/rocm/include -DHSA_LARGE_MODEL"
		build_fuzzer pm4 "$root/vgpu/engine/cp_pm4.c" "$root/vgpu/engine/perf.c" "$root/vgpu/engine/sqtt.c" "$root/vgpu/engine/clock.c"
		;;
	code)
		clang=$(find_clang _Float16)
		if [ -z "$clang" ]; then
			echo "skipped: no clang with libFuzzer and _Float16 (clang-15)"
			exit 77
		fi
		flags="$flags -I$root/vgpu -isystem /opt/rocm/include -DHSA_LARGE_MODEL -ffp-contract=off -Wno-pass-failed"
		# the rows that are built again for newer processors are left out
		flags="$flags -DGCN_MOST=0"
		build_fuzzer code "$root/tests/vgpu/inst_lib.c" "$root"/vgpu/gcn/*.c
		;;
	counter)
		build_fuzzer counter "$root"/src/counter/*.c "$root"/src/base/*.c "$build/gen/counter_tables_gen.c"
		# the formulas that there are, and sets of names
		tail -n +2 "$root/src/counter/data/metrics.csv" | cut -d, -f3- | tr -d '"' |
			awk -v dir="seeds_$name" '{ f = dir "/formula-" NR; printf "\001%s", $0 >f; close(f) }'
		printf '\2SQ_WAVES TCC_HIT[3] SQ:4 FETCH_SIZE CU_NUM' >"seeds_$name/names"
		;;
	metrics)
		build_fuzzer metrics "$root"/src/counter/*.c "$root"/src/base/*.c "$build/gen/counter_tables_gen.c"
		printf '\012%s\n' '<gfx9><metric name=A block=SQ event=4 descr="x"></metric></gfx9>' '#include "none.xml"' >"seeds_$name/include"
		printf '\010%s\n' '<gfx9x><metric name=B expr=sum(TCC_HIT,16)/GRBM_COUNT ></metric></gfx9x># comment' \
			'<gfx9 base="gfx9x"><metric name=C block=TA event=15 /></gfx9>' '<const><metric name=N expr=3/></const>' \
			'<global><metric name=D expr="10-B-C*N" rules=v1 descr="\"&lt;\"" ></metric></global>' >"seeds_$name/scopes"
		printf '%s\n' 'rocprofiler-sdk:' '  counters-schema-version: 1' '  counters:' '    - name: A' '      description: "x"' \
			'      definitions:' '        - architectures: [gfx906, gfx90a]' '          expression: reduce(SQ_WAVES,max)*CU_NUM' \
			'        - architectures:' '          - gfx900' '          block: SQ' '          event: 4' >seeds_yaml
		for gpu in 200 204 210 214 220; do { printf "%b" "\\0$gpu" && cat seeds_yaml; } >"seeds_$name/yaml-$gpu"; done
		;;
	fleet)
		build_fuzzer fleet "$root/src/fleet/fleet_file.c" "$root/src/fleet/fleet_page.c" "$root"/src/base/*.c
		# files that the product has written
		rm -rf set
		python3 -B "$root/tests/support/job.py" set
		for file in set/job=4711/rank=0/*.parquet; do
			cp "$file" "seeds_$name/"
		done
		;;
	answer)
		build_command answer
		printf '\200HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n"a",1\n\r\n3\r\n\\N,\r\n0\r\n\r\n' >"seeds_$name/chunked"
		printf '\201HTTP/1.0 404 No\r\n\r\nCode: 1, unknown setting\n' >"seeds_$name/refused"
		printf '\001"a ""b""",1,2.5,\\N,\n"x",,3,4\r\n' >"seeds_$name/csv"
		;;
	control)
		build_command control "$root"/src/control/*.c "$root"/src/event/*.c
		;;
	*)
		echo "run.sh: no fuzzer named $name" >&2
		exit 2
		;;
	esac
	# a leak is a bug here as well; an input that takes 20 seconds counts as a hang. libFuzzer's own status for a finding, 77, means
	# skipped here
	"./fuzz_$name" -error_exitcode=1 -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -verbosity=0 -artifact_prefix="$dir/" "corpus_$name" "seeds_$name"
done
