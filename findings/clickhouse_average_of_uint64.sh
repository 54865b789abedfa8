#!/bin/sh
# SPDX-License-Identifier: MIT
# clickhouse_average_of_uint64 - avg() of two UInt64 is less than both in ClickHouse 26.7.2 (chdb 3.4.0)
#
# avg() returns a Float64, and is computed as the sum in the column's type, divided by the number of rows. Where the sum passes
# 2^64 (device addresses, hashes, identifiers, bytes of counters) it wraps before the division: no error, no warning.
#
# Expected: the average lies between the smallest and the largest value, as avg(toFloat64(x)) does.
# Seen:     avg of 2^64 - 1 and 3 is 1; avg(toFloat64(x)) is 9.223372036854776e18. Int64 has the same: avg of 2^63 - 1 and 3 is
#           negative.
#
# Needs node, npm and 700 MB. Exit status 0: as described; 1: it has changed.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent chdb@3.4.0 >/dev/null

cat >average.mjs <<'JS'
import { query } from 'chdb';

const row = (sql) => query(sql, 'TSV').trim().split('\t');
const [version] = row('select version()');
const [least, greatest, average, real] = row(`select min(x), max(x), avg(x), avg(toFloat64(x))
	from values('x UInt64', 18446744073709551615, 3)`);
const [negative] = row("select avg(x) from values('x Int64', 9223372036854775807, 3)");

console.log(`ClickHouse ${version}: UInt64 from ${least} to ${greatest}: avg(x) ${average}, avg(toFloat64(x)) ${real}`);
console.log(`Int64 9223372036854775807 and 3: avg(x) ${negative}`);
process.exit(Number(average) < Number(least) && Number(real) > 9e18 && Number(negative) < 0 ? 0 : 1);
JS
node average.mjs
