#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl selftest on the virtual GPU: everything passes, and each planted fault is found by the check that is meant for it."""
import getpass
import re
import shutil
import socket

from support import *

# Skipped by nature: no suite has rocprofiler-register; HIP 5.2 captures no kernels of modules
NEVER = {"way.register"} | (set() if USERLAND else {"graphs.untraced", "graphs.traced"})


def selftest(*args, status=0, gpus=1, env=None, only=None, rtl_bin=RTL_BIN):
    """The verdicts by name, the texts by name, and the run."""
    path = os.path.join(new_dir("out"), "selftest.json")
    chosen = ("--only", only) if only else ()
    r = run(
        rtl_bin, "selftest", f"--virtual-gpu={gpus}", "--quick", "--format=json", "-o", path, *chosen, *args,
        status=status, env={"VGPU_LOG": "", "VGPU_EXEC": "auto", **(env or {})}, timeout=200,
    )
    with open(path, encoding="utf-8") as f:
        got = json.load(f)
    equal("stdout and the file", json.loads(r.out)["checks"], got["checks"])
    counts = [sum(c["verdict"] == v for c in got["checks"]) for v in ("PASS", "FAIL", "SKIP")]
    equal("numbers of verdicts", [got[key] for key in ("passed", "failed", "skipped")], counts)
    # the date first; the machine's GPU last, or its compiler where HSA was not asked
    equal("the first facts", [f["key"] for f in got["machine"]][:4], ["date", "rtl", "run", "kernel"])
    equal("the last fact", got["machine"][-1]["key"] in ("compiler", "gpu", "firmware"), True)
    return {c["name"]: c["verdict"] for c in got["checks"]}, {c["name"]: c["text"] for c in got["checks"]}, got


def found(only, by, more=None, gpus=1, rtl_bin=RTL_BIN, **env):
    """Faults, and the checks that fail: those that follow from them are skipped, all others pass."""
    verdicts, texts, _ = selftest(*(more or ()), status=1, env=env, only=only, gpus=gpus, rtl_bin=rtl_bin)
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
def each_check_has_a_planted_fault():
    """Each name stands in a set of what a fault is found by, below."""
    with open(__file__, encoding="utf-8") as f:
        planted = set(re.findall(r'"([a-z_.]+)"', f.read().split("return {c", 1)[1]))
    equal("checks that no fault of this file is found by", set(names()) - planted, set())


@case
def faults_without_tracing_are_found_by_untraced_checks():
    texts = found(
        "hiprtc,count,copies,hsa", {"hiprtc", "count.untraced", "copies.untraced", "hsa.untraced"},
        VGPU_SKIP="n=3", VGPU_WRONG_COPY="bytes=1048576",
    )
    equal("text", texts["count.untraced"], "120 kernels launched, 119 counted themselves, without tracing")
    contains("traced", texts["count.traced"], "fails without tracing, too")


@case
def kernel_that_fails_only_when_traced_is_found_by_the_numbers():
    texts = found("count,order", {"count.traced", "count.gpus", "count.result"}, gpus=2, VGPU_SKIP="gpu=1,signal=1,n=10")
    # which of the two kernels is the tenth depends on the threads
    if not re.search(r"\b(59 \+ 60|60 \+ 59) counted by the GPU, 60 \+ 60 in the trace", texts["count.traced"]):
        fail(f"numbers: {texts['count.traced']}")
    contains("results", texts["count.result"], "120 kernels counted untraced, 119 traced")


@case
def lost_records_and_wrong_times_are_found_each_by_its_check():
    texts = found(
        "count,order,copies,hsa,face.roctx",
        {"count.complete", "count.calls", "count.threads", "order.times", "order.queue", "copies.traced", "hsa.traced", "hsa.order", "face.roctx"},
        RTL_TEST_SWALLOW="12,14,16,30,31", VGPU_NO_TIMESTAMPS="n=40", VGPU_SWAP_TIMESTAMPS="n=41",
        VGPU_SHIFT_TIMESTAMPS="n=60,ns=-26000",
    )
    equal("losses", bool(re.fullmatch(r"\d+ losses, the first: [a-z_]+: \d+ .+", texts["count.complete"])), True)
    equal("threads", texts["count.threads"], "3 threads launched, 1 in the trace")
    equal("times", texts["order.times"], "of 120 dispatches 1 have no times, 1 end before they begin")
    contains("order", texts["order.queue"], "successive dispatches of a queue 1 overlap")
    contains("calls", texts["count.calls"], "119 with their dispatch, 1 dispatches without a call")
    contains("ranges", texts["face.roctx"], "9 outer and 10 inner ranges")


@case
def lost_signals_are_found_in_every_way_and_a_clock_that_jumps():
    ways = ("kill", "way.tools", "way.preload", "mode.lite", "mode.standard", "mode.full")
    texts = found(
        ",".join(("count", "order", *ways)), {"count.traced", "order.clocks", *ways},
        VGPU_LOST_SIGNAL="n=40", RTL_DRAIN_MS="200", VGPU_SHIFT_TIMESTAMPS="n=40,count=0,ns=1000000000",
    )
    for name in ("count.traced", *ways):
        contains(name, texts[name], "1 more as unfinished")
    contains("a clock that jumps", texts["order.clocks"], "end after the wait")


@case
def wrong_times_of_traced_kernels_are_found_by_events():
    texts = found("events", {"events.times", "events.kernels"}, VGPU_SIGNAL_NS="30000", VGPU_STRETCH_TIMESTAMPS="n=1,count=0,ns=20000")
    contains("times", texts["events.times"], "1600.0 us untraced, 1840.0 us traced")
    equal("kernels", texts["events.kernels"], "8 kernels of 250.0 us each in 1840.0 us")


@case
def faults_of_what_clients_are_given_and_slow_launches_are_found():
    faces = ("face.roctracer", "face.sdk", "face.rocprofiler")
    texts = found(
        ",".join((*faces, "overhead")), {*faces, "overhead"},
        VGPU_SKIP="n=20", VGPU_SWAP_TIMESTAMPS="n=1,count=0", RTL_TEST_STALL="submit_valid:1",
    )
    for name in faces:
        contains(name, texts[name], f"52 + 48 given to the client, {0 if name == 'face.rocprofiler' else 100} without times in order")


@case
def programs_that_die_at_exit_only_when_traced_are_found():
    texts = found(
        "hiprtc,count,hsa,exits", {"count.traced", "count.result", "hsa.traced", "exits"}, VGPU_EXIT_ABORT="signal=1,n=20",
    )
    contains("exits", texts["exits"], "0 of 4 untraced and 6 of 6 traced runs died")
    equal("result", texts["count.result"], "exit status 134 of 42, 120 kernels counted untraced, 120 traced")


@case
def machine_whose_compiler_cannot_be_loaded_has_no_kernels():
    """A comgr that is no library: HIP can't be loaded with it, either."""
    folder = new_dir("comgr")
    for name in ("libamd_comgr.so.2", "libamd_comgr.so.3", "libamd_comgr.so"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write("no library")
    # an rtl whose virtual GPU has no comgr beside it, as the dev preset's has (tests/support/comgr_cache.c)
    root = new_dir("tree")
    for name in ("bin", "vgpu"):
        os.mkdir(os.path.join(root, name))
    rtl_bin = shutil.copy(RTL_BIN, os.path.join(root, "bin"))
    links = ["lib", "libexec"] + [f"vgpu/{name}" for name in os.listdir(VGPU_DIR) if not name.startswith("libamd_comgr")]
    for name in links:
        os.symlink(os.path.join(BUILD, name), os.path.join(root, name))
    texts = found(None, "gpu", rtl_bin=rtl_bin, LD_LIBRARY_PATH=folder)
    contains("reason", texts["gpu"], "libamd_comgr: is not there, or can't be loaded")
    equal("all others", {t for n, t in texts.items() if n not in ("gpu", "exits")}, {"no kernel could be compiled"})


@case
def runtime_that_never_registers_is_found_by_its_way():
    """A runtime with the name of the registration in it that does not register, and a library of that name."""
    folder = new_dir("register")
    runtime = [p for p in re.findall(r"libhsa-runtime64\.so\.1 .*=> (\S+)", run("/sbin/ldconfig", "-p").out)][0]
    with open(runtime, "rb") as f, open(os.path.join(folder, "libhsa-runtime64.so.1"), "wb") as out:
        out.write(f.read() + b"\0rocprofiler_register_library_api_table\0")
    shutil.copy(os.path.join(VGPU_DIR, "libvgpu.so"), os.path.join(folder, "librocprofiler-register.so.0"))
    texts = found("way.register", "way.register", LD_LIBRARY_PATH=folder)
    equal("text", texts["way.register"], "no trace was written")


@case
def kernels_of_a_graph_that_are_skipped_are_found_untraced_and_traced():
    """Of HIP 6 and later: before, the checks say that nothing can be tested."""
    if not USERLAND:
        texts = selftest(only="graphs")[1]
        contains("reason", texts["graphs.traced"], "seen with 5.2")
        return
    found("graphs", "graphs.untraced", VGPU_SKIP="n=3")
    # traced, each packet has a signal; untraced few have
    found("graphs", "graphs.traced", VGPU_SKIP="signal=1,n=30")


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
    contains("message", r.err, "/nowhere/file: there is no directory /nowhere; make it, or choose another with -o")


main()
