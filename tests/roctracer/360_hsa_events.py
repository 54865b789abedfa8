#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HSA_EVT: memory, copies, packets and code of an HSA program, each event once and in order."""
from support import *

TODAY = ("hsa_events", os.path.join(LIB, "libroctracer64.so.4"))
OLD = ("hsa_events_old", os.path.join(BUILD, "tests/libroctracer_old_tool.so"))
CODE = ["codeobj memory file:// unload 0", "ksymbol flood_long.kd length 13 unload 0",
        "ksymbol flood_short.kd length 14 unload 0"]
NO_CODE = ["codeobj memory file:// unload 1", "ksymbol (none) length 13 unload 1", "ksymbol (none) length 14 unload 1"]
HEADS = ["-- code", "-- memory", "-- copies", "-- packets", "-- end", "-- again"]


def expected(old):
    """The events of the program; the old library reports code as memory as well, and numbers GPUs from 0."""
    gpu = 0 if old else 1
    code = CODE[:1] + ["allocate code some"] * old + CODE[1:]
    no_code = NO_CODE[:1] + ["allocate code 0 segment 0 flags 0"] * old + NO_CODE[1:]
    return [
        "allocate kernarg 4096 segment 0 flags 3", "device cpu id 0 kernarg", f"device gpu id {gpu} kernarg", *code,
        "-- code", *code,
        "-- memory", "allocate pool 8192 segment 0 flags 4", f"device gpu id {gpu} pool",
        f"device gpu id {gpu} pool", "device cpu id 0 pool", "allocate region 8192 segment 0 flags 4",
        "-- copies", "memcopy pool kernarg 64", "memcopy region pool 128",
        "-- packets", f"submit flood_short.kd type 2 id {gpu}", f"submit (none) type 3 id {gpu}",
        "-- end", *no_code, "allocate region 0 segment 0 flags 0", "allocate pool 0 segment 0 flags 0",
        "-- again", CODE[0], "wrong 0",
    ]


def client(*args, which=TODAY, trace=PLAIN, tools=True, **kwargs):
    path = built(which[0], HSA_HEADERS)
    built("hsa_kernels.co")
    env = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"} if trace == PLAIN else {}
    if tools:
        env["HSA_TOOLS_LIB"] = which[1]
    r = run(path, *args, trace=trace, env=env, **kwargs)
    equal("stderr", r.err, "")
    return r


@case
def each_event_of_rocm_5_4_is_reported():
    equal("events", client().out.splitlines(), expected(False))


@case
def each_event_of_rocm_5_2_is_reported():
    equal("events", client(which=OLD).out.splitlines(), expected(True))


@case
def disabled_event_is_not_reported():
    words = ["allocate", "device", "memcopy", "submit", "ksymbol", "codeobj"]
    for number, word in enumerate(words):
        left = [l for l in expected(False) if l.split()[0] != word]
        # on in the runtime's second life, and off before the last packet
        left += [CODE[0]] * (word == "codeobj")
        seen = client(f"quiet={number}").out.splitlines()
        equal(f"events without {word}", sorted(seen), sorted(left))


@case
def queue_older_than_enabling_has_no_packet_events():
    equal("events", client("late").out.splitlines(), [l for l in expected(False) if not l.startswith("submit")])


@case
def stopped_client_gets_no_events():
    equal("events", client("stop").out.splitlines(), HEADS + ["wrong 0"])


@case
def library_that_is_not_a_tool_reports_no_events():
    """ROCr 5.2 takes tools from HSA_TOOLS_LIB alone."""
    equal("events", client(tools=False).out.splitlines(), HEADS + ["wrong 0"])


@case
def traced_client_gets_the_same_events():
    for which in (TODAY, OLD):
        r = client(which=which, trace=RTL)
        equal("events", r.out.splitlines(), expected(which == OLD))
        equal("dispatches in the trace", r.count("rtl_dispatch", "kernel like 'flood_short%'"), 2)
        complete(r)


main()
