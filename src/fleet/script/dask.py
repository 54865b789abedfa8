#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the question below of a data set on the workers of Dask: part of it for each rank by itself, the rest where this runs.

    python3 THIS [ADDRESS OF A SCHEDULER]

Workers need pyarrow and the folder at the same path. Without an address processes of this machine are used. A worker that is
lost is replaced: its ranks are asked again.
"""
import csv
import sqlite3
import sys

import pyarrow.dataset
from dask.distributed import Client

TABLES = ("dispatches", "copies", "calls", "ranges", "processes", "losses", "agents", "counters", "clocks")
BATCH = 65536


class Sum:
    """sum() of SQLite ends at 64 bits."""

    def __init__(self):
        self.value = None

    def step(self, value):
        if value is not None:
            self.value = value if self.value is None else self.value + value

    def finalize(self):
        return self.value if not isinstance(self.value, int) or abs(self.value) < 1 << 63 else float(self.value)


def whole(value):
    """A sum beyond 64 bits is the most that a column holds, as rtl itself shows it."""
    return value if not isinstance(value, float) or abs(value) < 1 << 63 else (1 << 63) - 1 if value > 0 else -(1 << 63)


def connect():
    db = sqlite3.connect(":memory:")
    db.create_aggregate("sum", 1, Sum)
    return db


def load(db, folder, table, added):
    """The rows of a table of a rank, with job and rank from the folder's name."""
    job, rank = (part.split("=", 1)[1] for part in folder.rstrip("/").split("/")[-2:])
    job = int(job) if job.lstrip("-").isdigit() else job
    file = pyarrow.dataset.dataset(f"{folder}/{table}.parquet", format="parquet", partitioning=None)
    names = file.schema.names
    lacks = [name for of, name, _ in added if of == table and name not in names]
    db.execute(f"CREATE TABLE {table} (job, rank, " + ", ".join(f'"{n}"' for n in names + lacks) + ")")
    insert = f"INSERT INTO {table} (job, rank, " + ", ".join(f'"{n}"' for n in names) + ") VALUES (" + ", ".join("?" * (len(names) + 2)) + ")"
    for batch in file.to_batches(batch_size=BATCH):
        columns = [c.to_pylist() for c in batch.columns]
        db.executemany(insert, ((job, int(rank), *row) for row in zip(*columns)))


def ask_rank(folder, tables, part, added):
    db = connect()
    for table in tables:
        load(db, folder, table, added)
    cursor = db.execute(part)
    return [c[0] for c in cursor.description], cursor.fetchall()


def main():
    client = Client(sys.argv[1]) if len(sys.argv) > 1 else Client(processes=True, dashboard_address=None)
    tables = [t for t in TABLES if t in PART.replace("\n", " ").replace("(", " ").replace(")", " ").split()]
    folders = [f"{DIR}/{folder}" for folder in FOLDERS]
    answers = client.gather(client.map(ask_rank, folders, tables=tables, part=PART, added=ADDED, pure=False, retries=3))
    db = connect()
    db.execute("CREATE TABLE part (" + ", ".join(f'"{n}"' for n in answers[0][0]) + ")")
    for names, rows in answers:
        db.executemany("INSERT INTO part VALUES (" + ", ".join("?" * len(names)) + ")", rows)
    cursor = db.execute(REST)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([c[0] for c in cursor.description])
    out.writerows(map(whole, row) for row in cursor)
    client.close()


if __name__ == "__main__":
    main()
