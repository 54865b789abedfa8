#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Databases that another program has changed: rtl info counts what is there, and the verdict says so."""
from support import *

RPD = """
create table rocpd_metadata(id integer primary key autoincrement, tag text, value text);
create table rocpd_string(id integer primary key autoincrement, string text);
create table rocpd_api(id integer primary key autoincrement, pid integer, tid integer, start integer, end integer,
    apiName_id integer, args_id integer);
create table rocpd_op(id integer primary key autoincrement, gpuId integer, queueId integer, sequenceId integer,
    completionSignal text, start integer, end integer, description_id integer, opType_id integer);
create table rocpd_api_ops(id integer primary key autoincrement, api_id integer, op_id integer);
insert into rocpd_metadata(tag, value) values ('schema_version', '2');
insert into rocpd_string(string) values ('');
insert into rocpd_api(pid, tid, start, end, apiName_id, args_id)
    select 1, 1, value * 10, value * 10 + 5, 1, 1 from generate_series;
insert into rocpd_op(gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id)
    select 0, 0, 0, '', value * 10, value * 10 + 5, 1, 1 from generate_series;
insert into rocpd_api_ops(api_id, op_id) select value, value from generate_series;
""".replace("generate_series", "(with recursive s(value) as (select 1 union all select value + 1 from s where value < 20) select value from s)")


def trace():
    r = run("launcher", "launches=20", "copies=1", trace=RTL, rtl_args=("-q", "--fail-on-loss"))
    equal("verdict", info(r.output)["verdict"], "complete")
    equal("losses and notes", info(r.output)["losses"], [])
    return r


def info(path):
    r = rtl("info", "--format", "json", path)
    ended(r, 0)
    return json.loads(r.out)


def change(path, sql):
    db = sqlite3.connect(path)
    with db:
        db.executescript(sql)
    db.close()


@case
def trimmed_database_is_counted_and_incomplete():
    """As RPD's trim tools do: what lies outside a time range is deleted, and links to it."""
    r = trace()
    before = info(r.output)["counts"]
    half = r.value("select (min(start) + max(end)) / 2 from rocpd_op")
    ops, apis = r.value("select count(*) from rocpd_op"), r.value("select count(*) from rocpd_api")
    change(r.output, f"""
        delete from rocpd_api where start < {half};
        delete from rocpd_op where start < {half};
        delete from rocpd_api_ops where api_id not in (select id from rocpd_api);""")
    left = sqlite3.connect(r.output)
    gone = ops + apis - sum(left.execute(f"select count(*) from {t}").fetchone()[0] for t in ("rocpd_op", "rocpd_api"))
    at_least("rows that are gone", gone, 2)
    after = info(r.output)
    equal("verdict", after["verdict"], f"incomplete: {gone} lost (removed {gone})")
    equal("complete", after["complete"], False)
    for name, table in (("dispatches", "rtl_dispatch where not flags & 32 and op_id not in (select op_id from rtl_transfer)"), ("copies", "rtl_transfer"), ("api_calls", "rtl_api")):
        equal(name, after["counts"][name], left.execute(f"select count(*) from {table}").fetchone()[0])
    if after["counts"] == before:
        fail(f"counts did not change: {before}")
    out = os.path.join(r.dir, "merged.db")
    ended(rtl("merge", "-o", out, r.output), 0)
    equal("verdict of what is merged of it", info(out)["verdict"], after["verdict"])


@case
def other_changes_are_a_note():
    r = trace()
    before = info(r.output)["counts"]
    change(r.output, "create index mine on rocpd_op(start)")
    after = info(r.output)
    equal("verdict", after["verdict"], "complete")
    equal("notes", [(n["reason"], n["class"]) for n in after["losses"]], [("changed", "note")])
    equal("counts", after["counts"], before)


@case
def copied_and_read_database_is_unchanged():
    r = trace()
    copy = os.path.join(r.dir, "copy.db")
    shutil.copyfile(r.output, copy)
    sqlite3.connect(copy).execute("select count(*) from rtl_dispatch").fetchone()
    ended(rtl("summary", copy), 0)
    equal("losses and notes", info(copy)["losses"], [])


@case
def merged_database_is_unchanged():
    r = trace()
    out = os.path.join(r.dir, "merged.db")
    ended(rtl("merge", "-o", out, r.output, trace().output), 0)
    equal("verdict", info(out)["verdict"], "complete")
    equal("losses and notes", info(out)["losses"], [])


@case
def trimmed_file_of_rpd_is_reported():
    path = os.path.join(new_dir("rpd"), "rpd.db")
    change(path, RPD)
    equal("warnings", info(path)["warnings"], [])
    for sql, left in (("delete from rocpd_op where start < 50", 16), ("delete from rocpd_op where start > 150", 11)):
        change(path, sql + "; delete from rocpd_api_ops where op_id not in (select id from rocpd_op)")
        equal(f"dispatches after '{sql}'", info(path)["counts"]["dispatches"], left)
    equal("warnings", info(path)["warnings"], ["rows were removed from the file after it was written"])


main()
