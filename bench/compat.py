# SPDX-License-Identifier: MIT
"""compat.py - the costs of libroctracer64 and librocprofiler-sdk, each figure beside the minimum with HIP's own callbacks"""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
USERLAND = os.path.join(os.path.dirname(HERE), "tools/userland.sh")
NEWEST = "experimental"  # the suite of the newest HIP, which has dispatch tables

FIGURES = (
    ("callbacks", "roctracer, a pair of callbacks of an API call", "empty callbacks of HIP's"),
    ("record", "roctracer, an activity record of an API call", "2 x counter, 64 bytes"),
    ("disabled", "roctracer, an operation that is disabled again", "HIP asks, and is refused"),
)


def in_turns(bench, ways, measure):
    """{way: [value of each round]}; the order turns from round to round."""
    values = {w: [] for w in ways}
    for r in range(bench.rounds):
        for w in ways[r % len(ways) :] + ways[: r % len(ways)]:
            values[w].append(measure(w))
    return values


def roctracer(bench):
    """Rows of a HIP call under libroctracer64."""
    args = [f"library={bench.path('lib/libroctracer64.so.4')}", f"blocks={100 if bench.quick else 2000}"]
    ways = ["untraced"] + [w for name, _, _ in FIGURES for w in (f"least_{name}", name)]
    values = in_turns(bench, ways, lambda w: bench.traced("tracecall", [f"do={w}", *args], "untraced")["median"])
    bench.keep("roctracer", values)
    base = values["untraced"]

    def added(way):
        return bench.quiet(values[way]) - bench.quiet(base)

    bench.add("HIP call, untraced", bench.quiet(base), "ns", low=min(base))
    for way, what, floor in FIGURES:
        low = min(values[way]) - min(base)
        bench.add(what, added(way), "ns", added(f"least_{way}"), floor, low=low)


PAIR_BUDGET = 60.0  # ns for a pair of empty callbacks
SDK_FIGURES = (
    ("callbacks", "rocprofiler-sdk, a pair of callbacks of an API call", "empty callbacks of HIP's", "least_callbacks"),
    ("arguments", "rocprofiler-sdk, a pair that looks at the arguments", "empty callbacks of HIP's", "least_callbacks"),
    ("record", "rocprofiler-sdk, a record of an API call", "2 x counter, 64 bytes", "least_record"),
    ("disabled", "rocprofiler-sdk, a context that is stopped", "HIP asks, and is refused", "least_disabled"),
)


def sdk_env(bench, what):
    return {
        "LD_PRELOAD": bench.path("lib/librocprofiler-sdk.so.1"),
        "ROCP_TOOL_LIBRARIES": bench.path("bench/libsdktool.so"),
        "SDK_BENCH": what,
    }


BUFFERED = "rocprofiler-sdk, buffered"  # a tool that has a record of each dispatch in a buffer, and nothing else

# the tools that count each dispatch by an API: a client of rocprofiler-sdk, the tests' plug-in of rocprofiler v1
COUNTING = {
    "rocprofiler-sdk, counted": lambda bench: bench.path("bench/libsdktool.so"),
    "rocprofiler v1, counted": lambda bench: bench.path("tests/librocprofiler_tool.so"),
}


def counting_env(bench, name):
    tool = COUNTING[name](bench)
    if name.startswith("rocprofiler-sdk"):
        return {"HSA_TOOLS_LIB": bench.path("lib/librocprofiler-sdk.so.1"), "ROCP_TOOL_LIBRARIES": tool, "SDK_BENCH": "counters"}
    return {"HSA_TOOLS_LIB": bench.path("lib/librocprofiler64.so.1"), "ROCP_TOOL_LIB": tool, "ROCP_HSA_INTERCEPT": "1", "TOOL_NAMES": "SQ_WAVES,GRBM_COUNT"}


def sdk(bench):
    """The rows of this system's HIP; if the part is asked for by name, then those of the newest one as well, if its suite is there."""
    sdk_here(bench)
    # `make bench` measures all suites
    if bench.is_part and not os.environ.get("USERLAND"):
        sdk_in(bench, NEWEST)


def sdk_in(bench, suite):
    """The rows of the suite's HIP: measured by this program, run in there."""
    env = {**os.environ, "RTL_BUILD": bench.build}
    there = subprocess.run([USERLAND, suite, "run", "true"], env=env, capture_output=True, text=True, check=False)
    if there.returncode:
        bench.notes.append(f"sdk: not measured on {suite}: {(there.stdout or there.stderr).strip()}")
        return
    out = os.path.join(bench.dir, f"{suite}.json")
    argv = ["python3", os.path.join(HERE, "bench.py"), "sdk", "--build", bench.build, "--json", out, "--dir", "/tmp"]
    subprocess.run([USERLAND, suite, "run", *argv, *(["--quick"] if bench.quick else [])], env=env, stdout=subprocess.DEVNULL, check=False)
    with open(out, encoding="utf-8") as f:
        results = json.load(f)
    bench.keep(f"sdk {suite}", results["rounds"])
    bench.failures.extend(f"sdk on {suite}: {text}" for text in results["failures"])
    for row in results["results"]:
        bench.add(f"{suite}: {row['name']}", row["value"], row["unit"], row.get("floor"), row.get("floor_name", ""), low=row["lowest"])


def sdk_here(bench):
    """Rows of HIP calls and launches under a tool of librocprofiler-sdk that does nothing. The program does not know of it."""
    args = [f"blocks={100 if bench.quick else 2000}"]
    names = [f[0] for f in SDK_FIGURES]

    def call(way):
        does, extra = (way, {}) if way.startswith("least") else ("untraced", sdk_env(bench, way) if way in names else {})
        library = [f"library={bench.path('lib/libroctracer64.so.4')}"] if way.startswith("least") else []
        return bench.traced("tracecall", [f"do={does}", *library, *args], "untraced", extra)["median"]

    # HIP from 5.4 on has no such callbacks: the figures have no floor there
    floors = sorted({f[3] for f in SDK_FIGURES}) if bench.has_hip_callbacks() else []
    values = in_turns(bench, ["untraced", *names, *floors], call)
    bench.keep("sdk", values)
    base = values["untraced"]

    def added(way):
        return bench.quiet(values[way]) - bench.quiet(base) if way in values else None

    bench.add("HIP call, untraced", bench.quiet(base), "ns", low=min(base))
    for way, what, floor_name, floor in SDK_FIGURES:
        budgets = [(f"<= {PAIR_BUDGET:.0f} ns", added(way) <= PAIR_BUDGET)] if way == "callbacks" else []
        bench.add(what, added(way), "ns", added(floor), floor_name, budgets, low=min(values[way]) - min(base))

    def launch(way):
        tool = {"kernel": BUFFERED, "recorder": "standard"}.get(way, way)
        # of the blocks that were disturbed least: threads of ROCr 7.2 that poll take the processor away from the launching one
        return bench.traced("launch", [f"blocks={20 if bench.quick else 200}"], tool)["p10"]

    values = in_turns(bench, ["untraced", "recorder", "kernel"], launch)
    bench.keep("sdk launch", values)
    base = values["untraced"]
    bench.add("rocprofiler-sdk, a buffered kernel of a HIP launch", added("kernel"), "ns", added("recorder"), "the recorder, standard",
              low=min(values["kernel"]) - min(base))  # fmt: skip
