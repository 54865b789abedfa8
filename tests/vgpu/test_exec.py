#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_exec.py - tests of kernels that the virtual GPU executes: real compilers, real runtimes, right results

    test_exec.py --programs DIR --vgpu DIR [name...]
"""
import re
import sys

import test_vgpu
from test_vgpu import check, equal, of_kind, run


def all_right(r):
    equal([l for l in r.out.split("\n") if l.startswith("wrong")], [], "wrong results")
    check(r.out.endswith("0 failures\n"), "the program went to its end")
    equal(of_kind(r, "fault"), [], "faults")


def test_exec_is_the_default():
    all_right(run("exec_test_o2", "arithmetic", "together", exec=None))


def test_exec_off():
    """Kernels take their time and write nothing."""
    r = run("exec_test_o2", "together", exec="off", counters=1, status=1)
    check("wrong atomics" in r.out, r.out)
    check(all("counters" not in e for e in of_kind(r, "dispatch")), "nothing is counted")


def test_exec_o0():
    all_right(run("exec_test_o0", exec="auto"))


def test_exec_o2():
    all_right(run("exec_test_o2", exec="auto"))


def test_exec_o3_on_4_gpus():
    all_right(run("exec_test_o3", exec="auto", devices=4))


def test_exec_deterministic():
    """With the modelled time of the instructions, dispatches take the same time in every run."""
    times = []
    for _ in range(2):
        r = run("exec_test_o2", "arithmetic", "control", "together", exec="on", clock="deterministic",
                kernel_model="insts", counters=1)
        all_right(r)
        times.append([(e["begin"], e["end"], e["counters"]) for e in of_kind(r, "dispatch")])
    equal(times[0], times[1], "times and counters")
    check(len({e - b for b, e, _ in times[0]}) > 3, "kernels differ in length")


def test_exec_kernels_copy_and_fill():
    """Without copy engines every copy is a kernel of the runtime's own."""
    r = run("exec_test_o2", "fills", "rectangles", "words", exec="on",
            environ={"HSA_ENABLE_SDMA": "0"})
    all_right(r)
    equal(of_kind(r, "copy", "fill"), [], "copies by copy engines")


def exact_bytes(*parts):
    """By the copy engines where the runtime wants to, and by kernels alone."""
    for engines in (1, 0):
        r = run("bytes_test", *parts, exec=None, kernel_ns=0, devices=2, timeout=55,
                environ={"HSA_ENABLE_SDMA": str(engines)})
        equal([l.split(":")[0] for l in r.out.splitlines()], [*(f"ok {p}" for p in parts), "0 failures"], "results")
        check(len(of_kind(r, "dispatch")) > 20, "what kernels did")


def test_exec_bytes_of_fills():
    exact_bytes("fills")


def test_exec_bytes_of_copies():
    exact_bytes("copies", "peers")


def test_exec_bytes_of_boxes():
    exact_bytes("rectangles", "volumes")


def test_exec_measured():
    r = run("exec_test_o2", "arithmetic", exec="on", kernel_model="measured", kernel_ns=0)
    all_right(r)
    check(all(e["end"] >= e["begin"] for e in of_kind(r, "dispatch")), "no negative times")
    check(max(e["end"] - e["begin"] for e in of_kind(r, "dispatch")) > 100, "kernels took time")


def test_exec_overlap():
    all_right(run("exec_test_o2", "together", "control", "fills", exec="on", overlap=8))


def test_stray_copy():
    r = run("edge_test", "stray")
    equal(r.out, "event 0 fault 0x123456000\n", "what the runtime told")
    equal([f["fault"] for f in of_kind(r, "fault")], ["memory_fault"], "faults")


def test_exec_overlap_of_scratch():
    """Kernels that run at a time on one queue don't share what belongs to one of them."""
    equal(run("edge_test", "overlap", exec="on", overlap=8, kernel_ns=0).out, "overlap ok\n", "results")


def test_exec_memory_goes_away():
    """What a kernel reads is freed under it: a fault with its address, never a crash."""
    for _ in range(8):
        r = run("edge_test", "freed", exec="on", kernel_ns=0)
        m = re.fullmatch(r"data (0x\w+)\nevent 0 fault (0x\w+)\n", r.out)
        check(m and m[1] == m[2], r.out)
        equal([(f["fault"], f["kernel"]) for f in of_kind(r, "fault")], [("memory_fault", "watch")], "faults")


def test_exec_code_goes_away():
    r = run("edge_test", "unloaded", exec="on", kernel_ns=0)
    check(re.fullmatch(r"code 0x\w+\nevent 0 fault 0x\w+\n", r.out), r.out)
    equal([(f["fault"], f["instruction"]) for f in of_kind(r, "fault")], [("memory_fault", "no code")], "faults")


def test_exec_printf():
    r = run("exec_test_o2", "printf", exec="on")
    all_right(r)
    check("lane 0 of 42\nlane 1 of 42\n" in r.out, "what the kernel printed")


def test_exec_wild_pointer():
    r = run("exec_test_o2", "bad", "wild", status=-6, exec="on")
    check("survived" not in r.out, "the program died")
    check("on address 0x123456789000" in r.err, "the runtime names the address")
    fault, = of_kind(r, "fault")
    equal((fault["fault"], fault["address"], fault["kernel"]), ("memory_fault", "0x123456789000", "_Z4wildPi"),
          "the fault")


def test_exec_trap():
    r = run("exec_test_o2", "bad", "trap", status=-6, exec="on")
    fault = of_kind(r, "fault")
    equal([f["fault"] for f in fault], ["trap", "queue_error"], "faults")
    check("HSA_STATUS_ERROR_EXCEPTION" in r.err, "the runtime's word for it")


def test_exec_illegal_instruction():
    r = run("exec_test_o2", "bad", "illegal", status=-6, exec="auto")
    fault = of_kind(r, "fault")
    equal([f["fault"] for f in fault], ["illegal_instruction", "queue_error"], "faults")
    equal(fault[0]["words"][0], "0xbfff0000", "the instruction")
    check("HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION" in r.err, "the runtime's word for it")


def test_exec_assert():
    """assert() in a kernel says which, and then traps."""
    r = run("exec_test_o2", "bad", "assert", status=-6, exec="auto")
    check("assertion `n < 3' failed" in r.err, "what the kernel said")
    equal([f["fault"] for f in of_kind(r, "fault")], ["trap", "queue_error"], "faults")


def test_exec_unimplemented():
    r = run("exec_test_o2", "bad", "missing", status=-6, exec="auto")
    fault = of_kind(r, "fault")[0]
    equal((fault["fault"], fault["instruction"], fault["offset"]),
          ("unimplemented_instruction", "v_interp_p1_f32 v0, v0, attr0.x", "0x0"), "the fault")
    check("vgpu: _Z7missingv+0x0: v_interp_p1_f32 v0, v0, attr0.x (" in r.err, "it is told which")
    check("HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION" in r.err, "the runtime's word for it")


def test_exec_exceptions():
    """The same with the newer way of reporting."""
    r = run("exec_test_o2", "bad", "trap", status=-6, exec="on", exceptions=1)
    check("survived" not in r.out, "the program died")


def examples(level, **knobs):
    for name, *args in (("vadd", 3), ("gemm",), ("histogram",), ("network",), ("reduce",), ("transpose", 256)):
        r = run(f"{name}_o{level}", *args, exec="auto", **knobs)
        equal(r.out, "".join(f"{name}: GPU {n}: PASSED\n" for n in range(knobs["devices"])), name)
        equal(of_kind(r, "fault"), [], "faults")


def test_examples_o0():
    examples(0, devices=1)


def test_examples_o2():
    examples(2, devices=1)


def test_examples_o3_on_4_gpus():
    examples(3, devices=4)


def test_stress():
    """A hundred random kernels; stress_long.py makes as many as one likes."""
    r = run("stress", exec="on", kernel_ns=0)
    check(r.out.endswith("\n0 of 100 kernels wrong\n") or r.out == "0 of 100 kernels wrong\n", r.out)


if __name__ == "__main__":
    sys.exit(test_vgpu.main(globals()))
