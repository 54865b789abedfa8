#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl selftest on the virtual GPU: everything passes, and each planted fault is found by the check that is meant for it."""
import getpass
import socket

from support import *

# Skipped by nature: no suite has rocprofiler-register; HIP 5.2 captures no kernels of modules
NEVER = {"way.register"} | (set() if USERLAND else {"graphs.untraced", "graphs.traced"})


def selftest(*args, status=0, gpus=1, env=None, only=None):
    """The verdicts by name, the texts by name, and the run."""
    path = os.path.join(new_dir("out"), "selftest.json")
    chosen = ("--only", only) if only else ()
    r = run(
        RTL_BIN, "selftest", f"--virtual-gpu={gpus}", "--quick", "--format=json", "-o", path, *chosen, *args,
        status=status, env={"VGPU_LOG": "", "VGPU_EXEC": "auto", **(env or {})}, timeout=200,
    )
    with open(path, encoding="utf-8") as f:
        got = json.load(f)
    equal("stdout and the file", json.loads(r.out)["checks"], got["checks"])
    return {c["name"]: c["verdict"] for c in got["checks"]}, {c["name"]: c["text"] for c in got["checks"]}, got


def found(only, by, more=None, **env):
    """A fault, and the checks that fail: those that follow from them are skipped, all others pass."""
    verdicts, texts, _ = selftest(*(more or ()), status=1, env=env, only=only)
    failed = {name for name, verdict in verdicts.items() if verdict == "FAIL"}
    equal(f"what found {env}", failed, {by} if isinstance(by, str) else set(by))
    return texts


def names():
    r = run(RTL_BIN, "selftest", "--list", env={"VGPU_LOG": ""})
    return [line.split()[0] for line in r.out.splitlines()]


@case
def all_checks_pass():
    verdicts, texts, got = selftest(gpus=2)
    equal("checks", sorted(verdicts), sorted(names()))
    equal("not passed", {n for n, v in verdicts.items() if v != "PASS"}, NEVER)
    equal("GPUs", (texts["count.gpus"].split(",")[0], len([m for m in got["machine"] if m["key"] == "gpu"])), ("2 GPUs", 2))
    for text in (json.dumps(got),):
        lacks("the file", text, "/")
        for word in (socket.gethostname(), getpass.getuser()):
            if len(word) > 3 and word != "root":
                lacks("the file", text, word)
    equal("left in the temporary folder", glob.glob("/tmp/rtl-selftest-*/run1.db"), [])


@case
def skipped_packet_is_a_fault_of_the_gpu():
    texts = found("count,order", "count.untraced", VGPU_SKIP="n=40")
    equal("text", texts["count.untraced"], "120 kernels launched, 119 counted themselves, without tracing")
    contains("traced", texts["count.traced"], "fails without tracing, too")


@case
def lost_signal_is_found_by_the_numbers():
    texts = found("count,order", "count.traced", VGPU_LOST_SIGNAL="n=40", RTL_DRAIN_MS="200")
    contains("text", texts["count.traced"], "1 more as unfinished")


@case
def lost_record_is_found_by_its_account():
    found("count,order", "count.complete", RTL_TEST_SWALLOW="12")


@case
def wrong_times_are_found_by_their_order():
    found("count,order", "order.times", VGPU_NO_TIMESTAMPS="n=40")
    found("count,order", "order.times", VGPU_SWAP_TIMESTAMPS="n=40")
    found("count,order", "order.queue", VGPU_SHIFT_TIMESTAMPS="n=40,ns=-6000")
    texts = found("count,order", "order.clocks", VGPU_SHIFT_TIMESTAMPS="n=40,count=0,ns=1000000000")
    contains("a clock that jumps", texts["order.clocks"], "end after the wait")
    found("hsa", "hsa.order", VGPU_SHIFT_TIMESTAMPS="queue=1,n=20,ns=-6000")


@case
def wrong_copy_and_lost_copy_are_different_checks():
    found("copies", "copies.untraced", VGPU_WRONG_COPY="bytes=1048576")
    found("copies", "copies.traced", RTL_TEST_SWALLOW="14")


@case
def slower_kernels_of_traced_runs_are_found_by_events():
    found("events", "events.times", VGPU_SIGNAL_NS="30000")


@case
def ways_and_faces_find_their_faults():
    every = ("kill", "way.tools", "way.preload", "mode.lite", "mode.standard", "mode.full")
    found(",".join(every), every, VGPU_LOST_SIGNAL="n=40", RTL_DRAIN_MS="200")
    found("face.sdk,face.rocprofiler", "face.sdk", VGPU_NO_TIMESTAMPS="n=1,count=0")


@case
def packets_and_their_calls_that_are_missing_are_found():
    found("hsa", "hsa.untraced", VGPU_SKIP="queue=1,n=20")
    found("hsa", "hsa.traced", RTL_TEST_SWALLOW="12")
    found("count.calls", "count.calls", RTL_TEST_SWALLOW="31")


@case
def hanging_and_dying_programs_are_reported():
    texts = found("count.untraced", "count.untraced", more=("--timeout=3",), VGPU_HANG="n=40")
    equal("hang", texts["count.untraced"], "did not end within 3 s and was killed")
    texts = found("count.untraced", "count.untraced", VGPU_QUEUE_ERROR="n=40")
    contains("queue error", texts["count.untraced"], "exit status 134")


@case
def machine_without_gpu_has_a_status_of_its_own():
    r = run(RTL_BIN, "selftest", "-o", "-", status=4, env={"VGPU_LOG": "", "LD_LIBRARY_PATH": None})
    contains("message", r.err, "no GPU can be used here")
    contains("what to do", r.err, "rtl selftest --virtual-gpu tests on the virtual GPU")


@case
def wrong_options_name_the_next_best():
    r = run(RTL_BIN, "selftest", "--only=count.trced", status=2, env={"VGPU_LOG": ""})
    contains("message", r.err, "there is no check 'count.trced'; did you mean 'count.traced'?")
    r = run(RTL_BIN, "selftest", "-o", "/nowhere/file", status=125, env={"VGPU_LOG": ""})
    contains("message", r.err, "/nowhere/file: can't be written")


main()
