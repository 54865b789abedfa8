#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk: a tool sees the same, in whichever order the loader searches HIP, HSA and the library."""
from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}", "VGPU_EXEC": "auto"}
SDK = os.path.join(LIB, "librocprofiler-sdk.so.1")
WORK = "work done"
# 3 allocations and streams, 2 launches, 2 copies, a wait, 3 ends
SEEN = "hip 11 configured 2 hsa some dispatches 2 copies 2 objects some"


def seen(what, path, *args, env=None, expected=SEEN):
    r = run(built(path), *args, env={**RUNTIME, **(env or {})})
    equal(f"stderr, {what}", r.err, "")
    equal(f"lines, {what}", r.out.splitlines(), [WORK, expected])


def tool(abi=1):
    return os.path.join(BUILD, "tests", f"libsdk_order_tool_{abi}.so")


@case
def library_before_hip_and_behind_it_shows_the_same():
    for abi in (0, 1):
        seen("first", f"sdk_order_first_{abi}")
        seen("last", f"sdk_order_last_{abi}")
    seen("with HSA's calls for a trace, too", "sdk_order_first_1", env={"RTL_HSA_API": "1"})


@case
def calls_are_seen_however_the_loader_binds_them():
    for name in ("now", "no_plt", "fixed"):
        seen(name, f"sdk_order_{name}")
    seen("bound at the start", "sdk_order_last_1", env={"LD_BIND_NOW": "1"})


@case
def preloaded_library_shows_a_program_that_is_linked_with_hip_alone():
    seen("named tool", "sdk_order_alone", env={"LD_PRELOAD": SDK, "ROCP_TOOL_LIBRARIES": tool()})
    seen("preloaded tool", "sdk_order_alone", env={"LD_PRELOAD": tool()})


@case
def plugin_with_hip_before_the_library_is_seen():
    plugin = built("sdk_order_plugin.so")
    seen("linked", "sdk_order_load", plugin, env={"ROCP_TOOL_LIBRARIES": tool()})


@case
def tool_that_comes_after_the_runtime_says_what_it_does_not_see():
    plugin = built("sdk_order_plugin_alone.so")
    said = "HSA's runtime was started before this library was loaded: tools see HIP's calls, and no kernel, copy,"
    for abi in (0, 1):
        r = run(built("sdk_order_load"), plugin, tool(abi), plugin, env=RUNTIME)
        equal(f"lines, ABI {abi}", r.out.splitlines(),
              [WORK, "force ROCPROFILER_STATUS_SUCCESS, start ROCPROFILER_STATUS_SUCCESS", WORK,
               "hip 11 configured 2 hsa none dispatches 0 copies 0 objects none"])
        equal(f"messages, ABI {abi}", r.err.count(said), 1)
        r = run(built("sdk_order_load"), plugin, tool(abi), plugin, env={**RUNTIME, "ORDER_BLIND": "1"})
        contains(f"stdout, ABI {abi}", r.out, "start ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED\n")
        equal(f"messages, ABI {abi}", r.err.count(said), 1)


@case
def context_started_by_another_thread_while_the_tables_come_is_not_too_late():
    for abi in (0, 1):
        library = os.path.join(LIB, f"librocprofiler-sdk.so.{abi}")
        env = {"HSA_TOOLS_LIB": library, "ROCP_TOOL_LIBRARIES": tool(abi), "ORDER_THREAD": "1", "ORDER_BLIND": "1"}
        seen(f"ABI {abi}", "sdk_order_alone", env=env, expected="hip 0 configured 0 hsa some dispatches 2 copies 2 objects some")


@case
def named_tool_is_finalized_before_its_objects_end():
    for abi in (0, 1):
        env = {**RUNTIME, "ROCP_TOOL_LIBRARIES": built(f"libsdk_fini_tool_{abi}.so")}
        preloaded = {"LD_PRELOAD": os.path.join(LIB, f"librocprofiler-sdk.so.{abi}")}
        want = "finalize: objects alive and alive, 2 records, 0 late\n"
        equal(f"linked, ABI {abi}", run(built(f"sdk_order_first_{abi}"), env=env).err, want)
        equal(f"preloaded, ABI {abi}", run(built("sdk_order_alone"), env={**env, **preloaded}).err, want)
        refused = run(built("sdk_order_alone"), env={**env, **preloaded, "FINI_REFUSE": "1"})
        equal(f"initialize returned -1, ABI {abi}", refused.err, "")
        equal(f"the program, ABI {abi}", refused.out, "work done\n")


@case
def calls_of_a_program_with_markers_alone_stay_its_own():
    for library, some in (("libroctx64.so.4", False), ("libroctracer64.so.4", False), ("librocprofiler-sdk.so.1", True)):
        log = os.path.join(new_dir("log"), "log")
        r = run(built("sdk_order_alone"), env={**RUNTIME, "LD_PRELOAD": os.path.join(LIB, library), "RTL_LOG": "info", "RTL_LOG_FILE": log})
        equal(f"stdout, {library}", r.out, "work done\n")
        text = open(log, encoding="utf-8").read() if os.path.exists(log) else ""
        equal(f"references are changed, {library}", "references to functions of ROCm" in text, some)


@case
def calls_of_hsa_are_seen_whether_hsa_comes_first_or_last():
    for end in ("first", "last"):
        r = run(built(f"sdk_order_hsa_{end}"), env=RUNTIME)
        equal(f"stderr, {end}", r.err, "")
        equal(f"lines, {end}", r.out.splitlines(),
              ["agents some", "hip 0 configured 0 hsa some dispatches 0 copies 0 objects none"])


main()
