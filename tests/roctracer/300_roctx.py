#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libroctx64: exported names, what a client sees, one event for each call whatever is loaded."""
import re

from support import *

NEW, OLD = "libroctx64.so.4", "libroctx64.so.1"
COMMON = (
    "roctxMarkA roctxRangePushA roctxRangePop roctxRangeStartA roctxRangeStop "
    "roctx_version_major roctx_version_minor RegisterApiCallback RemoveApiCallback roctxRegisterTracerCallback"
).split()


@case
def exports_match_soname_and_version_node():
    equal("libroctx64.so.4", exports(NEW), sorted(f"{n}@@ROCTX_4.1" for n in COMMON))
    equal("libroctx64.so.1", exports(OLD), sorted(COMMON + ["RangeStackIterate", "roctracer_error_string"]))
    for name in (NEW, OLD):
        equal(f"SONAME of {name}", dynamic(name, "SONAME"), [name])
        contains(f"NEEDED of {name}", dynamic(name, "NEEDED"), "librtl.so.1")
        equal(f"RUNPATH of {name}", dynamic(name, "RUNPATH")[0].rstrip(":"), "$ORIGIN")


RESULTS = ["push 0", "push 1", "pop 1", "pop 0", "pop -1"]


def calls_of(first):
    """What one round of the client's calls tells; its started range has the id `first`."""
    return [
        ("mark", "m", 0), ("push", "outer", 0), ("push", "(none)", 0), ("pop", "(none)", 0), ("pop", "(none)", 0),
        ("pop", "(none)", 0), ("start", "s", first), ("stop", "(none)", first), ("stop", "(none)", first),
    ]


def split_rounds(lines):
    callbacks = [l for l in lines if ": domain" in l]
    return callbacks, [l for l in lines if ": domain" not in l]


def check_client(out, version):
    callbacks, rest = split_rounds(out.splitlines())
    expected = [f"all: domain 6 {n} {m} {i}" for n, m, i in calls_of(2)]
    one = [f"one: domain 6 {n} {m} {i}" for n, m, i in calls_of(3) if n == "push"]
    two = [f"two: domain 6 {n} {m} {i}" for n, m, i in calls_of(3) if n == "pop"]
    equal("callbacks", callbacks, expected + one + two)
    equal("results", rest[:24], [f"version {version}"] + RESULTS * 2 +
          ["register 1 0", "register 1"] + RESULTS + ["remove 1 1 0"] + RESULTS)
    return rest[24:]


def alone(name):
    return run(os.path.join(BUILD, "tests", name), trace=PLAIN)


@case
def c_client_gets_levels_and_callbacks():
    r = alone("roctx_calls")
    ended(r, 0)
    equal("rest", check_client(r.out, "4.1"), [])
    equal("stderr", r.err, "")


@case
def cxx_client_gets_levels_and_callbacks():
    r = alone("roctx_calls_cxx")
    ended(r, 0)
    equal("rest", check_client(r.out, "4.1"), [])


@case
def rocm_5_2_client_gets_levels_and_open_ranges():
    r = alone("roctx_calls_old")
    ended(r, 0)
    equal("open ranges", check_client(r.out, "1.0"), [
        "error ''", "one of a thread", "one b", "one a", "two b", "two a", "one a"])


@case
def program_without_rtl_trace_writes_no_files():
    r = alone("roctx_calls")
    ended(r, 0)
    equal("files beside the program's", sorted(os.listdir(r.dir)), ["stderr", "stdout"])


def traced(name, version):
    r = run(os.path.join(BUILD, "tests", name), trace=RTL)
    ended(r, 0)
    check_client(r.out, version)
    kinds = [row[0] for row in r.rows("select kind from rtl_marker order by begin_ns")]
    return r, kinds


@case
def traced_range_calls_are_recorded_once():
    for name, version in (("roctx_calls", "4.1"), ("roctx_calls_old", "1.0")):
        r, kinds = traced(name, version)
        expected = {"mark": 4, "push": 8, "start": 4}
        if name == "roctx_calls_old":
            expected.update({"push": 10, "push-unclosed": 1})
        equal(f"{name}: kinds", {k: kinds.count(k) for k in set(kinds)}, expected)


@case
def functions_found_by_dlsym_are_recorded_once():
    """As Python programs do it: librtl in front, libroctx64 loaded by name, both ways in one process."""
    code = (
        "import ctypes; l = ctypes.CDLL('libroctx64.so.4'); n = ctypes.CDLL(None); "
        "print(l.roctxRangePushA(b'lib'), n.roctxRangePushA(b'global'), l.roctxRangePop(), n.roctxRangePop())"
    )
    r = run("/usr/bin/env", "python3", "-c", code, trace=RTL, env={"LD_LIBRARY_PATH": LIB})
    ended(r, 0)
    equal("stdout", r.out, "0 1 1 0\n")
    equal("markers", r.rows("select message, level from rtl_marker order by begin_ns"), [("lib", 0), ("global", 1)])


main()
