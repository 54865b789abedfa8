#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_exec.py - tests of kernels that the virtual GPU executes: real compilers, real runtimes, right results"""
from support.vgpu import *


def all_right(r):
    equal("wrong results", [l for l in r.out.split("\n") if l.startswith("wrong")], [])
    check(r.out.endswith("0 failures\n"), "the program ran to its end")
    equal("faults", of_kind(r, "fault"), [])


@case
def kernels_are_executed_by_default():
    all_right(run("exec_test_o2", "arithmetic", "together", exec=None))


@case
def exec_off_times_kernels_without_executing():
    """Kernels take time but write nothing."""
    r = run("exec_test_o2", "together", exec="off", counters=1, status=1)
    check("wrong atomics" in r.out, r.out)
    check(all("counters" not in e for e in of_kind(r, "dispatch")), "nothing is counted")


@case
def kernels_at_o0_give_right_results():
    all_right(run("exec_test_o0", exec="auto"))


@case
def kernels_at_o2_give_right_results():
    all_right(run("exec_test_o2", exec="auto"))


@case
def kernels_at_o3_on_4_gpus_give_right_results():
    all_right(run("exec_test_o3", exec="auto", devices=4))


@case
def deterministic_dispatches_take_same_time_in_each_run():
    """With the model of instruction times, dispatches take the same time in every run."""
    times = []
    for _ in range(2):
        r = run("exec_test_o2", "arithmetic", "control", "together", exec="on", clock="deterministic",
                kernel_model="insts", counters=1)
        all_right(r)
        times.append([(e["begin"], e["end"], e["counters"]) for e in of_kind(r, "dispatch")])
    equal("times and counters", times[0], times[1])
    check(len({e - b for b, e, _ in times[0]}) > 3, "kernels differ in length")


@case
def copies_by_kernels_give_right_bytes():
    """Without copy engines every copy is an internal kernel of the runtime."""
    r = run("exec_test_o2", "fills", "rectangles", "words", exec="on",
            environ={"HSA_ENABLE_SDMA": "0"})
    all_right(r)
    equal("copies by copy engines", of_kind(r, "copy", "fill"), [])


def exact_bytes(*parts):
    """With the copy engines where the runtime uses them, and with kernels only."""
    for engines in (1, 0):
        r = run("bytes_test", *parts, exec=None, kernel_ns=0, devices=2,
                environ={"HSA_ENABLE_SDMA": str(engines)})
        equal("results", [l.split(":")[0] for l in r.out.splitlines()], [*(f"ok {p}" for p in parts), "0 failures"])
        check(len(of_kind(r, "dispatch")) > 20, "what kernels did")


@case
def fills_write_exactly_their_bytes():
    exact_bytes("fills")


@case
def copies_write_exactly_their_bytes():
    exact_bytes("copies", "peers")


@case
def large_copies_write_all_their_bytes():
    """Copies of several packets of a copy engine, and on gfx90a of one where the runtime makes use of it (scenario.010_exact)."""
    for arch in ("gfx900", "gfx90a"):
        all_right(run("bytes_test", "large", exec=None, arch=arch, kernel_ns=0))


@case
def box_copies_write_exactly_their_bytes():
    exact_bytes("rectangles", "volumes")


def keeps_order(sides):
    """No outcome that the memory model forbids, and no torn access; RTL_TEST_LONG: 100 000 rounds of each."""
    rounds = 100000 if os.environ.get("RTL_TEST_LONG") else 2000
    r = run("order_test", "all", sides, str(rounds), exec=None, devices=4, timeout=600)
    equal("outcomes", r.out.splitlines(),
          [f"{part} {sides}: {n} rounds, 0 forbidden" for part, n in
           (("message", rounds), ("store_buffer", rounds), ("load_buffer", rounds), ("iriw", rounds),
            ("tear", 20 * rounds))] + ["0 failures"])


@case
def memory_order_holds_between_gpus():
    keeps_order("gpus")


@case
def memory_order_holds_between_gpu_and_host_threads():
    keeps_order("host")


@case
def memory_order_holds_between_processes():
    keeps_order("processes")


@case
def workgroups_that_wait_for_each_other_end():
    """A barrier of the grid, chains, a lock, with one thread and with several; each group runs once, and has memory of its own."""
    for threads in (1, 2, 3, 4, 64):
        all_right(run("threads_test", exec=None, threads=threads))


@case
def threads_execute_same_instructions():
    """A dispatch that several threads execute is counted, and lasts, as on one; with counters it has the log's, too."""
    lengths = {}
    for threads in (1, 3):
        r = run("threads_test", "private_memory", exec=None, threads=threads, kernel_model="insts", kernel_ns=0,
                ns_per_inst=1, clock_hz=1000000000)
        all_right(r)
        lengths[threads] = [e["end"] - e["begin"] for e in of_kind(r, "dispatch")]
        counted = run("threads_test", "private_memory", exec=None, threads=threads, counters=1)
        equal("instructions", [e["counters"]["SQ_INSTS"] for e in of_kind(counted, "dispatch")], lengths[threads])
    equal("instructions of 3 threads", lengths[3], lengths[1])


def shares(*parts):
    r = run("share_test", *parts, exec=None, devices=2)
    equal("results", r.out.splitlines()[-len(parts) - 1:], [*(f"ok {p}" for p in parts), "0 failures"])
    return r


@case
def textures_and_surfaces_match_model():
    """Formats, filters and addressing modes of textures of arrays, pitched and linear memory, and surfaces of floats."""
    parts = ["formats", "filters", "pitched", "linear", "surfaces"]
    r = run("image_test", exec=None)
    equal("results", r.out.splitlines(), [*(f"ok {p}" for p in parts), "0 failures"])


@case
def processes_share_memory_and_events():
    """Kernels of two processes change the same memory and talk to each other; one waits for the other's event."""
    shares("ipc_memory", "ipc_event")


@case
def gpus_access_and_copy_each_others_memory():
    shares("peers")


@case
def streams_write_and_wait_for_values():
    shares("stream_values")


@case
def kernels_print_and_assert():
    r = shares("prints", "asserts")
    equal("what kernels printed", sorted(re.findall(r"^kernel .*", r.out, re.M)),
          [f"kernel 1 lane {n}: text 1.50 {1 << 40}" for n in range(3)] + [f"kernel 2 lane 0: text 3.00 {2 << 40}"])
    check('Device-side assertion `n < 10 && "small"\' failed' in r.err, r.err)


@case
def measured_model_takes_host_time():
    r = run("exec_test_o2", "arithmetic", exec="on", kernel_model="measured", kernel_ns=0)
    all_right(r)
    check(all(e["end"] >= e["begin"] for e in of_kind(r, "dispatch")), "no negative times")
    check(max(e["end"] - e["begin"] for e in of_kind(r, "dispatch")) > 100, "kernels took time")


@case
def overlapping_kernels_give_right_results():
    all_right(run("exec_test_o2", "together", "control", "fills", exec="on", overlap=8))


@case
def copy_from_invalid_memory_is_a_fault():
    r = run("edge_test", "stray")
    equal("event from the runtime", r.out, "event 0 fault 0x123456000\n")
    equal("faults", [f["fault"] for f in of_kind(r, "fault")], ["memory_fault"])


@case
def overlapping_kernels_have_separate_scratch():
    """Simultaneous kernels of one queue don't share scratch memory."""
    equal("results", run("edge_test", "overlap", exec="on", overlap=8, kernel_ns=0).out, "overlap ok\n")


@case
def kernel_reading_freed_memory_is_a_fault():
    """The memory that a kernel reads is freed meanwhile: a fault with its address, never a crash."""
    for _ in range(8):
        r = run("edge_test", "freed", exec="on", kernel_ns=0)
        m = re.fullmatch(r"data (0x\w+)\nevent 0 fault (0x\w+)\n", r.out)
        check(m and m[1] == m[2], r.out)
        equal("faults", [(f["fault"], f["kernel"]) for f in of_kind(r, "fault")], [("memory_fault", "watch")])


@case
def kernel_with_unloaded_code_is_a_fault():
    r = run("edge_test", "unloaded", exec="on", kernel_ns=0)
    check(re.fullmatch(r"code 0x\w+\nevent 0 fault 0x\w+\n", r.out), r.out)
    equal("faults", [(f["fault"], f["instruction"]) for f in of_kind(r, "fault")], [("memory_fault", "no code")])


@case
def packet_of_wrong_form_ends_the_queue():
    """Dimensions 0, 4 and 7, an empty grid or work-group, too many work-items, too much LDS, types that a queue for kernels has not:
    the runtime's status for hardware's error, also where kernels are not executed, in both ways to report it."""
    for number in range(10):
        r = run("edge_test", "form", number, exec="off" if number % 2 else "on", exceptions=number // 2 % 2)
        expected, *seen = r.out.splitlines()
        equal(f"error of form {number}", seen, [expected])
        # the runtime copies code by a kernel of its own
        equal("dispatches", [d["index"] for d in of_kind(r, "dispatch") if d["grid"] == [64, 1, 1]], [0])
        equal("faults", [f["fault"] for f in of_kind(r, "fault")], ["queue_error"])


@case
def printf_in_kernel_is_printed():
    r = run("exec_test_o2", "printf", exec="on")
    all_right(r)
    check("lane 0 of 42\nlane 1 of 42\n" in r.out, "what the kernel printed")


@case
def wild_pointer_is_a_memory_fault():
    r = run("exec_test_o2", "bad", "wild", status=-6, exec="on")
    check("survived" not in r.out, "the program died")
    check("on address 0x123456789000" in r.err, "the runtime names the address")
    fault, = of_kind(r, "fault")
    equal("the fault", (fault["fault"], fault["address"], fault["kernel"]),
          ("memory_fault", "0x123456789000", "_Z4wildPi"))


@case
def trap_stops_queue_with_error():
    r = run("exec_test_o2", "bad", "trap", status=-6, exec="on")
    fault = of_kind(r, "fault")
    equal("faults", [f["fault"] for f in fault], ["trap", "queue_error"])
    check("HSA_STATUS_ERROR_EXCEPTION" in r.err, "the runtime's word for it")


@case
def illegal_instruction_stops_queue_with_error():
    r = run("exec_test_o2", "bad", "illegal", status=-6, exec="auto")
    fault = of_kind(r, "fault")
    equal("faults", [f["fault"] for f in fault], ["illegal_instruction", "queue_error"])
    equal("the instruction", fault[0]["words"][0], "0xbfff0000")
    check("HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION" in r.err, "the runtime's word for it")


@case
def assert_in_kernel_prints_and_traps():
    """assert() in a kernel prints the condition, and then traps."""
    r = run("exec_test_o2", "bad", "assert", status=-6, exec="auto")
    check("assertion `n < 3' failed" in r.err, "what the kernel said")
    equal("faults", [f["fault"] for f in of_kind(r, "fault")], ["trap", "queue_error"])


@case
def matrices_of_gfx90a_give_right_results():
    """Each shape and type of v_mfma, packed and wide arithmetic, atomics; the target id has the modes that the program asks for."""
    r = run("cdna_test", arch="gfx90a", exec="on")
    all_right(r)
    contains("architecture", r.out, "gfx90a:sramecc+:xnack-\n")


@case
def gpus_of_two_architectures_run_kernels_of_their_own():
    all_right(run("exec_test_two", "arithmetic", "together", "half", "words", arch="gfx900,gfx90a", devices=2, exec="on"))


@case
def random_kernels_of_gfx90a_match_host():
    r = run("stress_gfx90a", arch="gfx90a", exec="on", kernel_ns=0)
    equal("wrong kernels", re.findall(r"wrong .*", r.out), [])


@case
def gfx90a_has_its_topology():
    r = run("cdna_test", "links", arch="gfx90a", devices=2, exec="on")
    contains("properties", r.out, "104 CUs, 8 MiB of L2, waves of 64\n")
    contains("links", r.out, "xGMI, 1 hop\n")


@case
def unknown_architecture_is_named_with_the_choices():
    r = run("exec_test_two", "shapes", arch="gfx91", exec="on")
    contains("warning", r.err, "vgpu: VGPU_ARCH: ignored: no such choice; it is gfx900 or gfx90a or gfx942\n")


@case
def unimplemented_instruction_is_named():
    r = run("exec_test_o2", "bad", "missing", status=-6, exec="auto")
    fault = of_kind(r, "fault")[0]
    equal("the fault", (fault["fault"], fault["instruction"], fault["offset"]),
          ("unimplemented_instruction", "v_cubeid_f32 v0, v0, v0, v0", "0x0"))
    check("vgpu: _Z7missingv+0x0: v_cubeid_f32 v0, v0, v0, v0 (" in r.err, "stderr names the instruction")
    check("HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION" in r.err, "the runtime's word for it")


@case
def kernel_errors_are_reported_in_both_ways():
    """As exceptions, which is the default, and as older drivers do."""
    for exceptions in (0, 1):
        r = run("exec_test_o2", "bad", "trap", status=-6, exec="on", exceptions=exceptions)
        check("survived" not in r.out, "the program died")


def examples(level, **knobs):
    for name, *args in (("vadd", 3), ("gemm",), ("histogram",), ("network",), ("reduce",), ("transpose", 256)):
        r = run(f"{name}_o{level}", *args, exec="auto", **knobs)
        equal(name, r.out, "".join(f"{name}: GPU {n}: PASSED\n" for n in range(knobs["devices"])))
        equal("faults", of_kind(r, "fault"), [])


@case
def examples_at_o0_print_right_results():
    examples(0, devices=1)


@case
def examples_at_o2_print_right_results():
    examples(2, devices=1)


@case
def examples_at_o3_on_4_gpus_print_right_results():
    examples(3, devices=4)


@case
def hundred_random_kernels_match_host():
    """A hundred random kernels; stress_long.py makes any number."""
    r = run("stress", exec="on", kernel_ns=0)
    check(r.out.endswith("\n0 of 100 kernels wrong\n") or r.out == "0 of 100 kernels wrong\n", r.out)


main()
