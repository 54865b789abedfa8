#!/bin/sh
# SPDX-License-Identifier: MIT
# duckdb_partition_type - one folder rank=012 turns the partition column "rank" of all folders into text in DuckDB 1.5.6
#
# A data set with a folder for each rank: rank=7, rank=12. The column that DuckDB makes of the folders' names is a BIGINT. One
# more folder, written with a leading zero, changes the type for every file.
#
# Expected: a number, 12, as ClickHouse and pyarrow read it, or an error.
# Seen:     VARCHAR. max(rank) is then 7, not 12, without an error or a warning; hive_types = {'rank': BIGINT} gives 12.
#
# Needs node and npm. Exit status 0: as described; 1: it has changed.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent @duckdb/node-api@1.5.6-r.1 >/dev/null
mkdir -p set/rank=7 set/rank=12

cat >partition.mjs <<'JS'
import { mkdirSync, copyFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const ask = async (options = '') => (await connection.runAndReadAll(`select any_value(typeof(rank)), max(rank)
	from read_parquet('set/*/*.parquet', hive_partitioning = true ${options})`)).getRowsJS()[0].map(String).join(' ');

for (const rank of [7, 12])
	await connection.run(`copy (select 1 as kernels) to 'set/rank=${rank}/part.parquet'`);
const before = await ask();
mkdirSync('set/rank=012');
copyFileSync('set/rank=12/part.parquet', 'set/rank=012/part.parquet');
const after = await ask();
const typed = await ask(", hive_types = {'rank': BIGINT}");

console.log(`type and max(rank) of rank=7, rank=12: ${before}; with rank=012: ${after}; with a declared type: ${typed}`);
process.exit(before === 'BIGINT 12' && after === 'VARCHAR 7' && typed === 'BIGINT 12' ? 0 : 1);
JS
node partition.mjs
