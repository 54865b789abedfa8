#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HSA's calls and copies, below HIP: by HSA_TOOLS_LIB, under rtl trace; without either nothing breaks."""
from support import *

TOOL = os.path.join(LIB, "libroctracer64.so.4")


def client(*args, tools=None, trace=PLAIN, env=None):
    path = built("hsa_client")
    full = dict(env or {})
    if trace == PLAIN:
        full["LD_LIBRARY_PATH"] = f"{VGPU_DIR}:{LIB}"
    if tools:
        full["HSA_TOOLS_LIB"] = tools
    r = run(path, *args, trace=trace, env=full)
    equal("stderr", r.err, "")
    contains("stdout", r.out, "\nwrong 0\n")
    return r


def everything(r):
    contains("stdout", r.out, "all linked 1\n")
    contains("stdout", r.out, "as many records as ended calls 1\n")
    contains("stdout", r.out, "queues 1 signals 1 allocations 1\n")
    contains("stdout", r.out, "hip callbacks 6 copies 2 ")
    equal("copies", [l for l in r.out.splitlines() if l.startswith("copy")], ["copy op 1 bytes 1048576"] * 2)
    contains("packets", r.out, "packet of hk_scale(float*, int) [clone .kd]\n")
    # HIP 7.2.4 copies by hsa_amd_memory_async_copy_on_engine, for which roctracer has no MEMCOPY
    contains("events", r.out, f"events 1 1 {0 if HIP7 else 2} 1 1\n")
    contains("hsa_queue_create's arguments", r.out, "\nhsa_queue_create(agent={handle=")
    contains("hsa_queue_create's end", r.out, ") = 0\n")


@case
def library_as_hsa_tool_reports_calls_and_copies():
    r = client(tools=TOOL)
    everything(r)
    equal("files beside the program's", sorted(n.split(".")[0] for n in os.listdir(r.dir)),
          ["gpu", "stderr", "stdout"])


@case
def traced_client_gets_calls_and_copies():
    r = client(tools=TOOL, trace=RTL)
    everything(r)
    equal("copies in the trace", r.count("rtl_copy"), 3)


@case
def traced_client_and_trace_have_the_same_hsa_calls():
    r = client(tools=TOOL, trace=RTL, env={"RTL_HSA_API": "1"})
    everything(r)
    parents = r.value("select count(*) from rtl_api where parent_id <> 0 and parent_id not in "
                      "(select correlation_id from rtl_api)")
    equal("calls whose parent is not in the trace", parents, 0)


@case
def stopped_client_gets_nothing():
    r = client("stop", tools=TOOL)
    contains("stdout", r.out, "all linked 0\nhip callbacks 0 copies 0 open 0\n")


@case
def linked_client_gets_hip_without_hsa():
    """ROCr 5.2 takes tools from HSA_TOOLS_LIB alone: HSA is not reported, HIP is."""
    r = client()
    contains("stdout", r.out, "hip callbacks 6 ")


main()
