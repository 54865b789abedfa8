#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk: tools that configure themselves early, late, in constructors, twice; with HIP on the virtual GPU."""
from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
ABIS = (0, 1)
SUCCESS = "ROCPROFILER_STATUS_SUCCESS"


def tool(name, abi):
    return os.path.join(BUILD, "tests", f"libsdk_step_{name}_{abi}.so")


def steps(abi, *args, env=None, load="ab"):
    """The lines of a run; `load`: the tools that are loaded first."""
    path = built(f"sdk_steps_{abi}")
    given = [f"load:{tool(name, abi)}" for name in load] + list(args)
    r = run(path, *given, env={**RUNTIME, **(env or {})})
    equal("stderr", r.err, "")
    return r.out.splitlines()


def report(name, launches, priority=0, configured=1, kernels=1):
    return (f"{name}: configured {configured}, initialized {configured}, priority {priority}, launches {launches}, open 0, "
            f"kernels {kernels}")


def unused(name):
    return report(name, 0, configured=0, kernels=0)


def ends(*names):
    return [f"{n}: finalize, kernels 0" for n in names]


def each_abi(expected, *args, **kwargs):
    for abi in ABIS:
        equal(f"lines, ABI {abi}", steps(abi, *args, **kwargs), expected)


@case
def tool_that_comes_before_hip_sees_all():
    each_abi([f"force a: {SUCCESS}", report("a", 3), unused("b"), *ends("a")], "force:a", "work:3")


@case
def tool_that_comes_when_hip_is_in_use_sees_the_rest_and_the_kernels_of_before():
    each_abi([f"force a: {SUCCESS}", report("a", 3), unused("b"), *ends("a")], "work:2", "force:a", "work:3")


@case
def second_tool_may_come_later():
    each_abi([f"force a: {SUCCESS}", f"force b: {SUCCESS}", report("a", 5), report("b", 3, priority=1), *ends("a", "b")],
             "force:a", "work:2", "force:b", "work:3")


@case
def two_tools_may_come_when_hip_is_in_use():
    each_abi([f"force b: {SUCCESS}", f"force a: {SUCCESS}", report("a", 4, priority=1), report("b", 4), *ends("b", "a")],
             "work:1", "force:b", "force:a", "work:4")


@case
def same_tool_again_succeeds_without_effect():
    each_abi([f"force a: {SUCCESS}"] * 3 + [report("a", 3), unused("b"), *ends("a")],
             "force:a", "force:a", "work:2", "force:a", "work:1")


@case
def contexts_stop_and_start_again():
    each_abi([f"force a: {SUCCESS}", f"force b: {SUCCESS}", f"stop a: {SUCCESS}",
              "stop a: ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND", f"start a: {SUCCESS}",
              report("a", 4), report("b", 6, priority=1), *ends("a", "b")],
             "force:a", "force:b", "work:1", "stop:a", "stop:a", "work:2", "start:a", "work:3")


@case
def constructor_configures_before_the_program_runs():
    for abi in ABIS:
        # both libraries are there before HIP's constructors, which register kernels, are through
        lines = steps(abi, "work:2", env={"STEP_CTOR": "ab", "LD_PRELOAD": f"{tool('a', abi)}:{tool('b', abi)}"})
        equal("statuses", [l for l in lines if "constructor" in l], ["a: constructor 0", "b: constructor 0"])
        reports = {l.split(", priority")[0]: l.split(", launches")[1] for l in lines if "configured" in l}
        equal("reports", reports, {f"{n}: configured 1, initialized 1": " 2, open 0, kernels 1" for n in "ab"})
        same_counter("ends", [l for l in lines if "finalize" in l], ends("a", "b"))


@case
def constructor_of_a_library_that_is_loaded_later_configures():
    for abi in ABIS:
        lines = steps(abi, "work:2", f"load:{tool('a', abi)}", "work:3", env={"STEP_CTOR": "a"}, load="")
        equal("lines", lines, ["a: constructor 0", report("a", 3), *ends("a")])


@case
def tool_of_the_environment_and_a_late_one_take_part():
    for abi in ABIS:
        named = os.path.join(BUILD, "tests", f"libsdk_tool_a_{abi}.so")
        lines = steps(abi, "work:1", "force:b", "work:2", env={"ROCP_TOOL_LIBRARIES": named}, load="b")
        equal("its report", [l for l in lines if l.startswith("b:")], [report("b", 2, priority=1), *ends("b")])
        contains("lines of the other", "\n".join(lines), "a: initialize 1\n")


main()
