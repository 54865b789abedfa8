#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""roctx: return values, the marker that an operation carries, recorded messages."""
from support import *


def ranges(trace=RTL, **kwargs):
    return run("ranges", trace=trace, **kwargs)


@case
def roctx_calls_return_levels_and_ids():
    r = ranges()
    lines = r.out.splitlines()
    equal(
        "lines",
        lines,
        [
            "unsuffixed: 111",
            "push outer: 0", "push inner: 1", "pop: 1", "pop: 0",
            "pop of nothing: -1", "pop of nothing: -1",
            "start: two ids", "push on thread: 0", "pop on thread: 0",
            "push of NULL: 0", "push of 5003: 0",
        ],
    )
    equal("stderr", r.err, "")


@case
def markers_are_recorded_with_levels():
    r = ranges()
    rows = r.rows("select kind, message, begin_ns, end_ns, level, tid, pid from rtl_marker order by begin_ns")
    named = {}
    for row in rows:
        named.setdefault(row[1], []).append(row)

    outer, inner = named["outer"][0], named["inner"][0]
    equal("kind and level of outer", (outer[0], outer[4]), ("push", 0))
    equal("kind and level of inner", (inner[0], inner[4]), ("push", 1))
    if not (outer[2] <= inner[2] <= inner[3] <= outer[3]):
        fail(f"inner {inner[2:4]} does not lie in outer {outer[2:4]}")
    mark = named["mark in inner"][0]
    equal("kind of a mark", mark[0], "mark")
    equal("a mark is an instant: end", mark[3], mark[2])
    equal("pid", {row[6] for row in rows}, {mark[6]})

    a, b = named["start a"][0], named["start b"][0]
    equal("kind of start a", a[0], "start")
    other = named["thread range"][0]
    equal("start a was stopped on another thread, inside of its range", other[2] <= a[3] <= other[3], True)
    equal("thread of start a is the one that started it", a[5] == outer[5] != other[5], True)
    at_least("start b ended later than start a by (ns)", b[3] - a[3], 4000000)
    equal("ranges that ended twice or never began", len(named["start a"]), 1)

    deep = [row for row in rows if (row[1] or "").startswith("deep ")]
    equal("deep ranges", len(deep), 300)
    for row in deep:
        equal(f"level of {row[1]}", row[4], int(row[1].split()[1]))
    for text in ("left open", "never stopped"):
        equal(f"ranges named {text!r}", len(named.get(text, [])), 1)


@case
def messages_are_recorded_byte_for_byte():
    r = ranges()
    have = {row[0] for row in r.rows("select message from rtl_marker")}
    for text in (
        "", "Schl\u00fcssel \u952e \U0001f511", "quotes ' \" \\ and\nnew line\tand tab",
        "x" * 5000 + "end", "y" * 1024, "z" * 1023,
    ):
        if text not in have:
            near = sorted((m or "" for m in have), key=lambda m: abs(len(m) - len(text)))[:3]
            fail(f"message {shorten(text, 80)!r} ({len(text)} characters) is not in the trace; near: "
                 f"{[shorten(m, 80) for m in near]}")
    equal("marks", r.value("select count(*) from rtl_marker where kind = 'mark'"), 7)
    equal("a message that is not UTF-8 is there", any("not utf-8" in (m or "") for m in have), True)


@case
def operations_carry_innermost_range():
    r = ranges()
    rows = r.rows(
        "select d.kernel, m.message from rtl_dispatch d left join rtl_marker m on m.marker_id = d.marker_id "
        "where d.kernel like 'ranges\\_%' escape '\\' order by d.begin_ns"
    )
    short = [(k.split("(")[0].replace(".kd", ""), m) for k, m in rows]
    equal(
        "kernel and range, in order",
        short,
        [
            ("ranges_outside", None), ("ranges_outer", "outer"), ("ranges_inner", "inner"),
            ("ranges_inner", "inner"), ("ranges_outer", "outer"), ("ranges_after", None),
            ("ranges_thread", "thread range"),
        ],
    )


@case
def processes_have_separate_markers():
    r = run("/bin/sh", "-c", f"'{program('ranges')}'; '{program('ranges')}'", trace=RTL)
    equal("processes", r.value("select count(distinct pid) from rtl_marker"), 2)
    wrong = r.rows(
        "select d.op_id from rtl_dispatch d join rtl_marker m on m.marker_id = d.marker_id "
        "where (d.kernel like 'ranges_inner%' and m.message <> 'inner') "
        "or (d.kernel like 'ranges_outer%' and m.message <> 'outer')"
    )
    equal("operations with a range of the wrong name", wrong, [])
    equal("operations in a range", r.value("select count(*) from rtl_dispatch where marker_id <> 0"), 10)
    equal("marker ids are unique in the file",
          r.value("select count(*) - count(distinct marker_id) from rtl_marker"), 0)


@case
def roctx_in_signal_handler_is_counted():
    """Levels stay right; a call that interrupts another one in librtl is counted."""
    r = run("ranges", "handler", trace=RTL)
    contains("stdout", r.out, "handler: ran")
    pushes = r.value("select count(*) from rtl_marker where kind = 'push'")
    at_least("ranges in the trace", pushes, 1000)
    lost = {k: v for k, v in r.losses().items() if k not in ("reentrant",)}
    equal("losses besides 'reentrant'", lost, {})


@case
def tools_lib_alone_records_markers():
    """HSA_TOOLS_LIB loads librtl late: programs that look roctx up after that find it, others run on."""
    r = ranges(trace=TOOLS)
    at_least("dispatches", r.count("rtl_dispatch"), 1)


@case
def preloaded_program_without_gpu_has_markers():
    """A program with markers and without GPU work has a trace."""
    r = run("/usr/bin/env", "python3", "-c",
            "import ctypes; l = ctypes.CDLL(None); l.roctxMarkA(b'from python'); "
            "print(l.roctxRangePushA(b'outer'), l.roctxRangePop())", trace=RTL)
    equal("stdout", r.out, "0 0\n")
    equal("messages", sorted(row[0] for row in r.rows("select message from rtl_marker")), ["from python", "outer"])


main()
