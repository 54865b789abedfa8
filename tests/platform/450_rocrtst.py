#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""AMD's own tests of the HSA runtime, rocrtst as Debian builds it: they pass on the virtual GPU, and as well under trace."""
from support import *

FOLDER = "/usr/libexec/rocm/libhsa-runtime64-tests/gfx900"
PROGRAM = os.path.join(FOLDER, "rocrtst64")
# tests that are not run: why
LEFT_OUT = {
    "rocrtstFunc.Max_Reference_Count": "passes, and calls hsa_init() two billion times, which takes minutes",
    "rocrtstStress.Queue_CAS_Write_Index_ConcurrentTest": "four threads spin until it is their turn: on fewer processors each turn waits for the scheduler",
    "rocrtstPerf.Memory_Async_Copy": "wants a GPU that hwloc finds among the machine's PCI devices",
    "rocrtstPerf.Memory_Async_Copy_On_Engine": "the same",
    # what follows passes, and measures: 33 seconds of times that no test compares
    "rocrtstPerf.ENQUEUE_LATENCY": "measures times",
    "rocrtstPerf.AQL_Dispatch_Time_Single_SpinWait": "measures times",
    "rocrtstPerf.AQL_Dispatch_Time_Single_Interrupt": "measures times",
    "rocrtstPerf.AQL_Dispatch_Time_Multi_SpinWait": "measures times",
    "rocrtstPerf.AQL_Dispatch_Time_Multi_Interrupt": "measures times",
}


def all_tests():
    """The tests that AMD has not disabled."""
    group, out = "", []
    for line in run(PROGRAM, "--gtest_list_tests", cwd=FOLDER).out.splitlines():
        if re.fullmatch(r"\w+\.", line):
            group = line
        elif line.startswith("  ") and not line.strip().startswith("DISABLED_"):
            out.append(group + line.strip())
    return out


def all_pass(**kwargs):
    if not os.path.exists(PROGRAM):
        fail(f"there is no {PROGRAM}: tools/userland.sh experimental setup")
    tests = all_tests()
    equal("tests that are left out and are none", [t for t in LEFT_OUT if t not in tests], [])
    wanted = [t for t in tests if t not in LEFT_OUT]
    at_least("tests", len(wanted), 43)
    # each group is a process: a test that ends it takes no others along
    for group in sorted({t.split(".")[0] for t in wanted}):
        mine = [t for t in wanted if t.startswith(group + ".")]
        r = run(PROGRAM, "--gtest_filter=" + ":".join(mine), cwd=FOLDER, env={"VGPU_EXEC": "auto"}, timeout=200, **kwargs)
        equal(f"tests of {group} that did not pass", sorted(set(mine) - set(re.findall(r"^\[       OK \] (\S+)", r.out, re.M))), [])
        if "trace" in kwargs:
            complete(r)


@case
def tests_of_the_hsa_runtime_pass():
    all_pass()


@case
def tests_of_the_hsa_runtime_pass_under_trace():
    all_pass(trace=RTL)


main()
