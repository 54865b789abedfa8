#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The usage examples of roctracer's specification: what they print, call by call, with kernels executed."""
import re

from support import *

ENV = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{os.path.join(BUILD, 'lib')}", "VGPU_EXEC": "on"}


def transpose(mode, iterations, trace=PLAIN):
    path = built("matrix_transpose")
    env = ENV if trace == PLAIN else {"VGPU_EXEC": "on", "RTL_INTERNAL": 1}
    r = run(path, mode, iterations, trace=trace, env=env, timeout=120)
    equal("stderr", r.err, "")
    equal("results", [l for l in r.out.splitlines() if l in ("PASSED!",) or l.startswith("FAILED")],
          ["PASSED!"] * iterations)
    return r, r.out.splitlines()


def ids(lines, pattern):
    return [int(m.group(1)) for l in lines for m in [re.match(pattern, l)] if m]


def check_external_ids(lines, entered):
    """Between push and pop each call has the id. Where HSA's calls are reported, those that HIP makes have it as well."""
    record = re.compile(r"record (\w+) correlation_id\((\d+)\).*?(?:external_id\((\d+)\))?$")
    records = [m.groups() for m in map(record.match, lines) if m]
    with_id = []
    for (name, number, external), (call, its, _) in zip(records, records[1:]):
        if name == "EXT_API":
            equal("external id, and whose it is", (external, number), ("31", its))
            with_id.append((call, int(its)))
    pushed = [c for c in entered if c[0] not in ("hipMalloc", "hipFree")]
    equal("HIP's calls with an external id", [c for c in with_id if not c[0].startswith("hsa_")], pushed)
    # ids go up: the first call after the push, and that after the pop
    first, after = pushed[0][1], next(i for n, i in entered if n == "hipFree")
    equal("HSA's calls with an external id before or after", [c for c in with_id if not first <= c[1] < after], [])


def one_round(lines):
    """Everything is on: calls in their order, an id each, the same for callbacks, record and operation."""
    calls = ["hipMalloc", "hipMalloc", "hipMemcpy", "__hipPushCallConfiguration", "__hipPopCallConfiguration",
             "hipLaunchKernel", "hipMemcpy", "hipFree", "hipFree"]
    enter = [re.match(r"<(\w+) .*correlation_id\((\d+)\) on-enter", l) for l in lines]
    leave = [re.match(r"<(\w+) .*correlation_id\((\d+)\) on-exit", l) for l in lines]
    entered = [(m.group(1), int(m.group(2))) for m in enter if m]
    equal("calls", [n for n, _ in entered], calls)
    equal("exits", [(m.group(1), int(m.group(2))) for m in leave if m], entered)
    records = [(m.group(1), int(m.group(2))) for l in lines
               for m in [re.match(r"record (\w+) correlation_id\((\d+)\) time_ns\(ordered\)", l)] if m]
    equal("records of calls", [r for r in records if r[0] in calls], entered)
    by_name = {}
    for name, number in entered:
        by_name.setdefault(name, []).append(number)
    operations = {n: i for n, i in records if n not in calls and n != "EXT_API"}
    equal("who caused the kernel", operations["KernelExecution"], by_name["hipLaunchKernel"][0])
    equal("who caused the copies", [operations["CopyHostToDevice"], operations["CopyDeviceToHost"]],
          by_name["hipMemcpy"])
    check_external_ids(lines, entered)
    equal("roctx", [l for l in lines if l.startswith("roctx")], ["roctx 1 copy", "roctx 2 ", "roctx 0 after"])
    contains("arguments", "\n".join(lines), "on-enter> size(0x4000)")
    contains("arguments", "\n".join(lines), "kernel(_Z15matrixTransposePfPKfi)")
    contains("arguments", "\n".join(lines), "*ptr(set)")
    return [i for _, i in entered]


@case
def example_with_everything_enabled_prints_each_record():
    _, lines = transpose("all", 3)
    rounds, numbers = "\n".join(lines).split("PASSED!\n"), []
    equal("rounds", len(rounds), 3)
    for one in rounds:
        numbers += one_round([l for l in one.splitlines() if l != "PASSED!"])
    equal("ids go up", numbers, sorted(set(numbers)))


@case
def traced_example_has_the_trace_ids():
    r, lines = transpose("all", 1, trace=RTL)
    numbers = one_round([l for l in lines if l != "PASSED!"])
    rows = [row[0] for row in r.rows("select correlation_id from rtl_api where domain = 'hip' order by begin_ns")]
    equal("calls in the trace", len(rows), len(numbers))
    # a file's ids begin where the file wants them to
    equal("the same ids in the trace", [i - rows[0] for i in rows], [i - numbers[0] for i in numbers])


@case
def example_with_one_function_gets_its_kernels():
    _, lines = transpose("launch", 4)
    numbers = ids(lines, r"<hipLaunchKernel .*correlation_id\((\d+)\) on-enter")
    equal("launches", len(numbers), 4)
    equal("exits", ids(lines, r"<hipLaunchKernel .*correlation_id\((\d+)\) on-exit"), numbers)
    equal("records of launches", ids(lines, r"record hipLaunchKernel correlation_id\((\d+)\)"), numbers)
    equal("records of kernels", ids(lines, r"record KernelExecution correlation_id\((\d+)\)"), numbers)
    equal("external ids", ids(lines, r"record EXT_API correlation_id\((\d+)\) .*external_id\(31\)"), numbers)
    equal("lines", len(lines), 4 * 6)


@case
def example_with_start_and_stop_gets_calls_between():
    _, lines = transpose("control", 3)
    calls = [m.group(1) for l in lines for m in [re.match(r"<(\w+) .*on-enter", l)] if m]
    equal("calls between start and stop", calls,
          ["__hipPushCallConfiguration", "__hipPopCallConfiguration", "hipLaunchKernel", "hipDeviceSynchronize"] * 3)
    kernels = ids(lines, r"record KernelExecution correlation_id\((\d+)\)")
    equal("kernels", kernels, ids(lines, r"<hipLaunchKernel .*correlation_id\((\d+)\) on-enter"))
    equal("copies", ids(lines, r"record Copy\w+ correlation_id\((\d+)\)"), [])


main()
