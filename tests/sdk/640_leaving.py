#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of rocprofiler-sdk's tools that do not return leave no lock, no turn and no mark behind."""
from support.leaving import *


def client(part, how, abi):
    path = built(f"leaving_sdk_{abi}", HSA_HEADERS)
    built("hsa_kernels.co")
    env = {"HSA_TOOLS_LIB": os.path.join(LIB, f"librocprofiler-sdk.so.{abi}"), "LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}", "VGPU_EXEC": "auto",
           "VGPU_COUNTERS": 1}
    r = run(path, f"part={part}", f"how={how}", trace=PLAIN, env=env)
    *lines, r.totals = r.out.splitlines()
    r.out = "".join(f"{line}\n" for line in lines)
    return r


def dispatch(part, how, abi):
    r = client(part, how, abi)
    check(r, how, kernels=True, cancels=part != "ask")
    if part != "ask":
        equal("dispatches that are over", r.totals, f"over {len(kernels_of(r))}, records 0")


def call(how, abi):
    check(client("call", how, abi), how, cancels=True, made=False)


def copy(how, abi):
    r = client("copy", how, abi)
    check(r, how, cancels=True, made=False)
    equal("copies", len([c for c in r.log("copy") if c["bytes"] == 64]), done_of(r))


def marker(how, abi):
    check(client("marker", how, abi), how, cancels=True, made=False)


def done_of(r):
    return int(r.out.splitlines()[1].removeprefix("done "))


def start(how, abi):
    """A tool whose initialize is left takes no part; the one that comes next does."""
    r = client("initialize", how, abi)
    *lines, tools = r.out.splitlines()
    r.out = "".join(f"{line}\n" for line in lines)
    equal("the next tool", tools, "next 1, over 0")
    equal("messages", r.err.count("a tool's function did not return: it and the tools behind it take no part\n"), 1)
    r.err = ""
    check(r, how, cancels=True, made=False, called=1)
    equal("kernels", len(kernels_of(r)), done_of(r))
    equal("dispatches that are over", r.totals, f"over {done_of(r)}, records 0")


def end(how, abi):
    r = client("finalize", how, abi)
    equal("all tools", r.totals, f"next 0, over {int(abi == 1)}")
    check(r, how, cancels=True, made=False, called=1)
    equal("kernels", len(kernels_of(r)), done_of(r))


def own_thread(part, abi):
    r = client(part, "exit", abi)
    equal("stderr", r.err, "")
    equal("all", r.totals, "over 100, records 0" if part == "over" else "over 0, records 100")


for abi in (0, 1):
    for how in HOWS:
        for part in ("enter", "exit", "ask"):
            add_case(f"{how}_from_{part}_{abi}", functools.partial(dispatch, part, how, abi))
        for name, fn in (("call", call), ("copy", copy), ("marker", marker), ("initialize", start), ("finalize", end)):
            add_case(f"{how}_from_{name}_{abi}", functools.partial(fn, how, abi))
    for part in ("buffer", "over"):
        add_case(f"exit_from_{part}_{abi}", functools.partial(own_thread, part, abi))

main()
