# SPDX-License-Identifier: MIT
"""jobs.py - rows of bench.py about many ranks: the matching of collectives; rtl fleet beside the merge of databases

A made job (fleet/make_set.c) of ranks with 200,000 dispatches each, of which 50 of each 1,000 are collectives. The floor is what
there was before: `rtl merge` and `rtl summary` of 20 ranks with as many dispatches, scaled to the number of ranks; their sum is
the time until a question about all ranks is answered. The engine is DuckDB where it is installed, else SQLite, which is asked of
the smallest job alone.
"""
import contextlib
import os
import shutil
import sqlite3
import time

RANKS = 20  # of the merge
DISPATCHES = 200000
SHARE = 20  # the promise: rtl fleet takes so much less time
MEMORY = 4096  # MiB


def made_ranks(bench, nr, arguments):
    """The merged database of ranks, the seconds and the memory of the merge; arguments: of make_spool, by rank."""
    folder = os.path.join(bench.dir, "merge")
    rtl = bench.path("bin/rtl")
    os.makedirs(folder)
    env = {k: v for k, v in bench.tool("standard").items() if k != "HSA_TOOLS_LIB"}
    names = []
    for n in range(nr):
        spool, name = os.path.join(folder, f"{n}.spool"), os.path.join(folder, f"{n}.db")
        rank = {"OMPI_COMM_WORLD_RANK": str(n), "OMPI_COMM_WORLD_SIZE": str(nr)}
        bench.run([bench.path("bench/make_spool"), *arguments(n)], {**env, **rank, "RTL_SPOOL_DIR": spool})
        bench.run([rtl, "recover", "-q", "-o", name, spool])
        shutil.rmtree(spool)
        names.append(name)
    out = os.path.join(folder, "all.db")
    _, merge, merge_mib = bench.run([rtl, "merge", "-q", "-o", out, *names])
    for name in names:
        os.remove(name)
    return out, merge, merge_mib


def collectives(bench):
    """Collectives of 8 ranks; the floor is SQLite, which reads the kernels' times. Twice as many take twice the time."""
    most = 10000 if bench.quick else 1000000
    for nr in (most // 2, most):
        db, _, _ = made_ranks(bench, 8, lambda n, nr=nr: [f"collectives={nr}", "gpus=1", "queues=1", "noise=5000", "begin=1000000000", f"seed={n + 1}"])
        begin = time.monotonic()
        with contextlib.closing(sqlite3.connect(db)) as connection:
            connection.execute('SELECT sum("end" - start) FROM rocpd_op').fetchone()
        floor = time.monotonic() - begin
        with open(os.devnull, "wb") as null:
            _, seconds, mib = bench.run([bench.path("bin/rtl"), "summary", "-q", "--by", "collective", db], stdout=null)
        promises = [] if nr < 1000000 else [("<= 2 s", seconds <= 2), ("<= 64 MiB", mib <= 64)]
        bench.add(f"{nr:,} collectives of 8 ranks, matched", seconds, "s", floor, "SQLite, a sum", promises, note=f"{bench.cpu_seconds:.1f} s of processor; {mib:.0f} MiB")
        shutil.rmtree(os.path.dirname(db))


def merged(bench, nr, dispatches):
    """Seconds of the merge of databases, and of the summary of the result."""
    rtl = bench.path("bin/rtl")
    out, merge, merge_mib = made_ranks(bench, nr, lambda n: [f"dispatches={dispatches}", f"noise={n + 1}"])
    with open(os.devnull, "wb") as null:
        _, summary, summary_mib = bench.run([rtl, "summary", out], stdout=null)
    shutil.rmtree(os.path.dirname(out))
    bench.keep("merge", {"ranks": nr, "merge": merge, "summary": summary, "memory": max(merge_mib, summary_mib)})
    return merge + summary


def fleet(bench):
    dispatches = 2000 if bench.quick else DISPATCHES
    each = merged(bench, 2 if bench.quick else RANKS, dispatches) / (2 if bench.quick else RANKS)
    duckdb = shutil.which("duckdb") is not None
    for nr in (2, 4) if bench.quick else (10, 100):
        folder = os.path.join(bench.dir, "job")
        bench.run([bench.path("bench/make_set"), f"out={folder}", f"ranks={nr}", f"dispatches={dispatches}"])
        size = sum(os.path.getsize(os.path.join(path, f)) for path, _, files in os.walk(folder) for f in files)
        for question in ("overview", "slow-ranks"):
            if not duckdb and nr > 10:
                continue
            with open(os.devnull, "wb") as null:
                env = {"PATH": os.environ["PATH"]}
                _, seconds, mib = bench.run([bench.path("bin/rtl"), "fleet", "-f", "csv", "--by", question, folder], env, stdout=null)
            bench.keep(f"fleet {question} {nr}", {"seconds": seconds, "memory": mib, "engine": "duckdb" if duckdb else "sqlite", "size": size})
            promises = [(f"<= 1/{SHARE}", seconds * SHARE <= each * nr), (f"<= {MEMORY} MiB", mib <= MEMORY)] if duckdb and not bench.quick and nr >= 100 else []
            bench.add(f"rtl fleet {question}, {nr} ranks", seconds, "s", each * nr, "merge and summary, scaled", promises,
                      note=f"{'DuckDB' if duckdb else 'SQLite'}; {mib:.0f} MiB; {size / nr / dispatches:.1f} bytes for each dispatch")
        shutil.rmtree(folder)
