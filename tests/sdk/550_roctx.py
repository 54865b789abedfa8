#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk-roctx: what its functions return, what tools and traces have of them."""
from support import *

ABIS = (0, 1)
RESULTS = ["push 0", "push 1", "pop 1", "pop 0", "pop -1", "start 1", "thread 0 1 0", *["name 0"] * 4,
           "pause 0", "resume 0"]
CALLS = [
    "MARKER_CORE_API roctxMarkA message=m -> 0",
    "MARKER_CORE_API roctxRangePushA message=outer -> 0",
    "MARKER_CORE_API roctxRangePushA message=(null) -> 1",
    "MARKER_CORE_API roctxRangePop -> 1",
    "MARKER_CORE_API roctxRangePop -> 0",
    "MARKER_CORE_API roctxRangePop -> -1",
    "MARKER_CORE_API roctxRangeStartA message=s -> 1",
    "MARKER_CORE_API roctxRangeStop id=1 -> 0",
    "MARKER_CORE_API roctxGetThreadId tid=address -> 0",
    "MARKER_CORE_API roctxGetThreadId tid=address -> 0",
    "MARKER_NAME_API roctxNameOsThread name=worker -> 0",
    "MARKER_NAME_API roctxNameHsaAgent name=agent agent=address -> 0",
    "MARKER_NAME_API roctxNameHipDevice name=device device_id=3 -> 0",
    "MARKER_NAME_API roctxNameHipStream name=stream stream=address -> 0",
    "MARKER_CONTROL_API roctxProfilerPause tid=0 -> 0",
    "MARKER_CORE_API roctxMarkA message=paused -> 0",
    "MARKER_CONTROL_API roctxProfilerResume tid=0 -> 0",
    "MARKER_CORE_API roctxMarkA message=again -> 0",
]
MARKERS = [("mark", "m", 0), ("push", "outer", 0), ("push", "", 1), ("start", "s", 0), ("mark", "again", 0)]


RANGES = [
    "begin roctxMarkA m 0", "end roctxMarkA m 0",
    "begin roctxThreadRangeA outer 0", "begin roctxThreadRangeA (null) 0",
    "end roctxThreadRangeA (null) 1", "end roctxThreadRangeA outer 0",
    "begin roctxProcessRangeA s 0", "end roctxProcessRangeA s 1",
    "begin roctxGetThreadId (null) 0", "end roctxGetThreadId (null) 0",
    "begin roctxGetThreadId (null) 0", "end roctxGetThreadId (null) 0",
    "begin roctxMarkA paused 0", "end roctxMarkA paused 0",
    "begin roctxMarkA again 0", "end roctxMarkA again 0",
]  # fmt: skip


def program(abi):
    return os.path.join(BUILD, "tests", f"sdk_roctx_calls_{abi}")


@case
def functions_return_levels_and_ids():
    for abi in ABIS:
        r = run(program(abi))
        equal(f"lines, ABI {abi}", r.out.splitlines(), RESULTS)
        equal("stderr", r.err, "")


@case
def tool_gets_every_function():
    for abi in ABIS:
        tool = os.path.join(BUILD, "tests", f"libsdk_roctx_tool_{abi}.so")
        # the tool's own library of either version, the program's of either
        for of in ABIS:
            r = run(program(of), env={"LD_PRELOAD": tool})
            lines = r.out.splitlines()
            equal("lines of the tool", [l[6:] for l in lines if l.startswith("tool: ")], CALLS)
            equal("lines of the program", [l for l in lines if not l.startswith("tool: ")], RESULTS)


@case
def tool_gets_ranges_from_their_begins_to_their_ends():
    tool = os.path.join(BUILD, "tests", "libsdk_roctx_tool_1.so")
    for of in ABIS:
        r = run(program(of), env={"LD_PRELOAD": tool, "ROCTX_TOOL": "ranges"})
        lines = [line.split(" ", 2)[1:] for line in r.out.splitlines() if line.startswith("tool: ")]
        shown = [(number, text) for number, text in lines if not text.startswith("record")]
        equal("ranges", [text for _, text in shown], RANGES)
        # ids count from the first call on; a record for each range, in the order of the ends
        ends = [(number, text.split()[1]) for number, text in shown if text.startswith("end")]
        equal("ids", len({number for number, _ in ends}), len(RANGES) // 2)
        equal("records", [(number, text) for number, text in lines if text.startswith("record")],
              [(number, f"record {name} right") for number, name in ends])  # fmt: skip


@case
def trace_has_what_it_has_with_libroctx64():
    """librtl stands in front; a program that loads the library itself calls that."""
    for abi in ABIS:
        r = run(program(abi), trace=RTL)
        equal(f"lines, ABI {abi}", r.out.splitlines(), RESULTS)
        equal("markers", r.rows("select kind, message, level from rtl_marker order by begin_ns"), MARKERS)
        equal("losses", r.losses(), {"paused": 1})


@case
def functions_found_by_handle_are_recorded_once():
    code = (
        "import ctypes, os; l = ctypes.CDLL('librocprofiler-sdk-roctx.so'); n = ctypes.CDLL(None); t = ctypes.c_uint64(); "
        "print(l.roctxRangePushA(b'lib'), n.roctxRangePushA(b'global'), l.roctxRangePop(), n.roctxRangePop(), "
        "l.roctxGetThreadId(ctypes.byref(t)), t.value == os.getpid())"
    )
    r = run("/usr/bin/env", "python3", "-c", code, trace=RTL, env={"LD_LIBRARY_PATH": LIB})
    equal("stdout", r.out, "0 1 1 0 0 True\n")
    equal("markers", r.rows("select message, level from rtl_marker order by begin_ns"), [("lib", 0), ("global", 1)])


main()
