#!/bin/sh
# SPDX-License-Identifier: MIT
# duckdb_timestamp_ns_difference - the difference of two TIMESTAMP_NS of DuckDB 1.5.6 has no nanoseconds
#
# TIMESTAMP_NS keeps a kernel's begin and end to the nanosecond, compares and orders them so. Their difference is an INTERVAL,
# which counts microseconds: no error, no warning.
#
# Expected: end - begin of a kernel of 999 ns is 999 ns, or the subtraction is refused.
# Seen:     it is an interval of 0 microseconds, equal to INTERVAL 0 SECOND; so for 1,000 of 1,000
#           kernels. epoch_ns(end) - epoch_ns(begin) is 999.
#
# Needs node and npm. Exit status 0: as described; 1: it has changed.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent @duckdb/node-api@1.5.6-r.1 >/dev/null

cat >difference.mjs <<'JS'
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const row = async (sql) => (await connection.runAndReadAll(sql)).getRowsJS()[0].map(String);

await connection.run(`create table kernel as
	select make_timestamp_ns(1700000000000000000 + 5000 * i) as "begin",
	       make_timestamp_ns(1700000000000000999 + 5000 * i) as "end" from range(1000) t(i)`);

const [version] = await row('select version()');
const [type, later, whole, zero] = await row(`select typeof("end" - "begin"), "end" > "begin",
	epoch_ns("end") - epoch_ns("begin"), "end" - "begin" = interval 0 second from kernel limit 1`);
const [none, nanos] = await row(`select count(*) filter ("end" - "begin" = interval 0 second),
	sum(epoch_ns("end") - epoch_ns("begin"))::bigint from kernel`);

console.log(`DuckDB ${version}: end > begin is ${later}; end - begin is an ${type}, equal to 0: ${zero}; by epoch_ns() ${whole} ns`);
console.log(`of 1,000 kernels ${none} have no duration by subtraction; by epoch_ns() they have ${nanos} ns`);
process.exit(type === 'INTERVAL' && later === 'true' && zero === 'true' && whole === '999' && none === '1000' &&
	nanos === '999000' ? 0 : 1);
JS
node difference.mjs
