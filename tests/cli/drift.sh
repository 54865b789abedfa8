#!/bin/sh
# SPDX-License-Identifier: MIT
# drift.sh - the committed documents equal those generated from the tables: docs/cli, docs/man, completions, tables.md
#
# Usage: drift.sh RTL SOURCE_DIR [--update]
set -eu
rtl=$1
source=$2
update=${3:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/docs/cli" "$tmp/docs/man" "$tmp/docs/formats" "$tmp/completions"

"$rtl" help --markdown >"$tmp/docs/cli/README.md"
"$rtl" help --man >"$tmp/docs/man/rtl.1"
for name in $("$rtl" help --names); do
	"$rtl" help --markdown "$name" >"$tmp/docs/cli/$name.md"
	"$rtl" help --man "$name" >"$tmp/docs/man/rtl-$name.1"
done
"$rtl" help --environment >"$tmp/docs/cli/environment.md"
"$rtl" help --tables >"$tmp/docs/formats/tables.md"
"$rtl" help --completion=bash >"$tmp/completions/rtl.bash"
"$rtl" help --completion=zsh >"$tmp/completions/_rtl"
"$rtl" help --completion=fish >"$tmp/completions/rtl.fish"

if [ "$update" = --update ]; then
	for dir in docs/cli docs/man completions; do
		mkdir -p "$source/$dir"
		cp "$tmp/$dir/"* "$source/$dir/"
	done
	cp "$tmp/docs/formats/tables.md" "$source/docs/formats/"
	exit 0
fi
status=0
for dir in docs/cli docs/man completions; do
	diff -ru "$source/$dir" "$tmp/$dir" || status=1
done
diff -u "$source/docs/formats/tables.md" "$tmp/docs/formats/tables.md" || status=1
if [ $status -ne 0 ]; then
	echo "drift.sh: the pages differ from the tables in the code; tests/cli/drift.sh RTL . --update" >&2
fi
exit $status
