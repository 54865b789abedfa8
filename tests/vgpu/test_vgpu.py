#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_vgpu.py - tests of the virtual GPU: real ROCm runtimes, real hipcc programs, no GPU
"""
import ctypes
import tempfile

from support.vgpu import *


def in_order(r):
    """Checks that the log has each packet of each queue once, in the order of indices, and that none ends before its begin."""
    after = {}
    for e in of_kind(r, "dispatch", "barrier", "vendor"):
        equal(f"index on queue {e['queue']}", e["index"], after.get(e["queue_id"], 0))
        after[e["queue_id"]] = e["index"] + 1
        check(e["begin"] <= e["end"], f"ends before it begins: {e}")


def to_ns(clock, ticks):
    rate = clock["frequency_hz"] * (1 + clock["drift_ppm"] / 1e6) / 1e9
    return clock["epoch_ns"] + (ticks - clock["offset"]) / rate


# enumeration and copies

@case
def devices_are_enumerated():
    for n in (1, 2, 8):
        r = run("hip_test", "devices", devices=n)
        check(f"devices {n}\n" in r.out, r.out)
        equal("gfx900 devices", len(re.findall(r"device \d gfx900", r.out)), n)
        equal("clocks", len(of_kind(r, "clock")), n)
        equal("GPUs with dispatches", {e["gpu"] for e in of_kind(r, "dispatch")}, set(range(n)))


def shown(*argv, tmp, **settings):
    """Output and messages of a command that sees the virtual GPUs where the driver shows real ones."""
    env = clean_env({"LD_PRELOAD": os.path.join(VGPU_DIR, "libvgpu.so"), "TMPDIR": tmp,
                     **{f"VGPU_{k.upper()}": v for k, v in settings.items()}})
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=60, check=False)
    return p.stdout.decode(), p.stderr.decode()


@case
def driver_files_in_sys_show_the_gpus():
    nodes, tmp = "/sys/class/kfd/kfd/topology/nodes", new_dir("tmp")
    # programs at once, none of which sees a file that is half written
    at_once = f"for i in 1 2 3 4; do cat {nodes}/*/properties & done; wait"
    text, err = shown("sh", "-c", at_once, tmp=tmp, devices=3, arch="gfx90a,gfx900")
    equal("messages of programs at once", err, "")
    equal("architectures", sorted(re.findall(r"gfx_target_version (\d+)", text)), sorted(["0", "90010", "90000", "90000"] * 4))
    # each function that takes a path
    look = f"""import os
n = "{nodes}"
print(sorted(os.listdir(n)), os.path.isdir(n), os.path.exists("/sys/class/kfd"), os.access(n + "/4", os.R_OK))
print(open(n + "/2/gpu_id").read().strip(), os.stat(n + "/2/properties").st_size > 100, os.path.islink(n))
print(*(sorted(e.name for e in os.scandir(n + "/1/" + links)) for links in ("io_links", "p2p_links")), os.path.exists("/sys/class/kfdx"), os.path.isdir("/sys/class/net"))
print(len(os.path.realpath(n)) > 0, os.path.exists(n + "/1/io_links/0/properties"))"""
    text, err = shown(sys.executable, "-c", look, tmp=tmp, devices=3, arch="gfx90a,gfx900")
    equal("what Python sees", (text.split("\n"), err),
          (["['0', '1', '2', '3'] True True False", "30210 True False", "['0'] ['0', '1'] False True", "True True", ""], ""))
    # the numbers by which a library matches files and devices are those of the runtime
    text, err = shown("sh", "-c", f"cat {nodes}/[12]/properties {nodes}/1/p2p_links/0/properties", tmp=tmp, devices=2, arch="gfx900")
    equal("location on the bus", re.findall(r"location_id (\d+)", text), ["256", "512"])
    equal("link", re.findall(r"(?:node_from|node_to|\ntype|weight) (\d+)", text)[-3:], ["1", "2", "40"])
    # the devices for graphics lead to a PCI device of that location
    drm = """import os
d = "/sys/class/drm"
print(sorted(os.listdir(d)), os.listdir("/sys/class/kfd"), os.readlink(d + "/card1"))
for n in ("/sys/class/drm/card1", "/sys/class/drm/renderD129", "/sys/dev/char/226:129"):
    print(sorted(os.listdir(n)), *(open(n + "/device/" + f).read().strip() for f in ("device", "hwmon/hwmon1/temp1_input", "mem_info_vram_total")))"""
    text, err = shown(sys.executable, "-c", drm, tmp=tmp, devices=2, arch="gfx900")
    equal("graphics", (text.splitlines(), err), (["['card0', 'card1', 'renderD128', 'renderD129'] ['kfd'] ../devices/pci0000:00/0000:02:00.0/drm/card1"] +
          ["['dev', 'device'] 0x6860 25000 17179869184"] * 3, ""))
    # a node has as many folders of banks, caches and links as its properties say, numbered from 0
    count = f"""import os, re
for n in sorted(os.listdir("{nodes}")):
    said = dict(re.findall(r"(mem_banks|caches|io_links|p2p_links)_count (\\d+)", open("{nodes}/" + n + "/properties").read()))
    for part, nr in said.items():
        there = [i for i in range(9) if os.path.exists(f"{nodes}/{{n}}/{{part}}/{{i}}/properties")]
        print(n, part, there == list(range(int(nr))), nr)"""
    for arch in ("gfx900", "gfx90a"):
        text, err = shown(sys.executable, "-c", count, tmp=new_dir("parts"), devices=2, arch=arch)
        equal(f"parts of nodes, {arch}", (len(text.splitlines()), [l for l in text.splitlines() if " True " not in l], err), (12, [], ""))
    # the last program removes the folder, also one that a killed program left; one that can't be made is named
    equal("folders that programs left", os.listdir(tmp), [])
    look = f"import os, signal; os.listdir('{nodes}'); os.kill(os.getpid(), signal.SIGKILL)"
    shown(sys.executable, "-c", look, tmp=tmp, devices=3)
    equal("folders of a killed program", len(os.listdir(tmp)), 1)
    equal("a file", shown("cat", f"{nodes}/2/gpu_id", tmp=tmp, devices=2), ("30210\n", ""))
    equal("folders that programs left", os.listdir(tmp), [])
    check("vgpu: the driver's files in /sys are not shown: /none/" in shown("cat", nodes, tmp="/none")[1], "no message")


@case
def rocminfo_shows_the_gpus():
    tmp = new_dir("tmp")
    text, err = shown("rocminfo", tmp=tmp, devices=2, arch="gfx900,gfx90a")
    equal("GPUs, and their compute units", (re.findall(r"^  Name: +(gfx\w+)", text, re.M), re.findall(r"^  Compute Unit: +(\d+)", text, re.M)[1:], err),
          (["gfx900", "gfx90a"], ["64", "104"], ""))
    # it looks for the driver among the kernel's modules
    own, *machines = shown("cat", "/proc/modules", tmp=tmp)[0].splitlines()
    equal("the driver's module", own.split()[0], "amdgpu")
    if os.path.exists("/proc/modules"):
        with open("/proc/modules", encoding="ascii") as f:
            equal("the machine's", [m.split()[0] for m in machines], [line.split()[0] for line in f])


@case
def a_thousand_programs_leave_nothing():
    # in memory: a program makes some 60 files and removes them
    tmp = tempfile.mkdtemp(dir="/dev/shm")
    memory = set(os.listdir("/dev/shm"))
    loop = "n=0; while [ $n -lt 1000 ]; do cat /sys/class/kfd/kfd/topology/nodes/1/gpu_id; n=$((n + 1)); done"
    text, err = shown("sh", "-c", loop, tmp=tmp)
    equal("what they read", (text, err), ("30209\n" * 1000, ""))
    equal("files that they left", os.listdir(tmp), [])
    equal("shared memory that they left", {f for f in set(os.listdir("/dev/shm")) - memory if "vgpu" in f}, set())
    os.rmdir(tmp)


def on_amds_thunk(program, *args, **knobs):
    """The program with the thunk that is installed, on the driver."""
    return run(program, *args, environ={"LD_PRELOAD": os.path.join(VGPU_DIR, "libvgpu.so"), "LD_LIBRARY_PATH": None}, **knobs)


@case
def amds_own_thunk_runs_on_the_driver():
    for n in (1, 2, 8):
        r = on_amds_thunk("hip_test", "devices", devices=n)
        equal("gfx900 devices", len(re.findall(r"device \d gfx900", r.out)), n)
        equal("GPUs with dispatches", {e["gpu"] for e in of_kind(r, "dispatch")}, set(range(n)))
    on_amds_thunk("exec_test_o2", exec="on", devices=2)
    on_amds_thunk("reduce_o2", exec="on")


@case
def amds_own_thunk_shares_memory_of_the_driver_with_other_processes():
    r = on_amds_thunk("share_test", exec="on", devices=2)
    check("ok ipc_memory\nok ipc_event\n" in r.out, r.out)


@case
def child_that_was_forked_after_the_close_uses_the_driver():
    r = on_amds_thunk("hsa_test", "child_opens", 50, kernel_ns=0)
    equal("dispatches that each completed", [n for n, in numbers(r, r"completed (\d+)")], [50, 50, 50])


@case
def limit_of_file_sizes_leaves_no_gpu_and_is_named():
    text, err = shown("sh", "-c", "ulimit -f 1000; if true 3<>/dev/kfd; then echo open; else echo refused; fi; head -c 100 /dev/kfd || echo none",
                      tmp=new_dir("tmp"))
    equal("output", text, "refused\nnone\n")
    contains("messages", err, "vgpu: there is no GPU: its memory is in a file, and the limit of file sizes (ulimit -f) is too small")


def driver(scenario, program="driver_test", *more):
    r = run(program, scenario, *more, environ={"LD_PRELOAD": os.path.join(VGPU_DIR, "libvgpu.so")})
    check(r.out.endswith("ok\n"), r.out + r.err)
    equal("messages", r.err, "")


@case
def driver_answers_requests_of_every_header_and_refuses_others():
    driver("requests")


@case
def descriptors_of_the_driver_may_be_copied_and_are_devices():
    driver("descriptors")


@case
def memory_of_the_driver_is_counted_mapped_and_freed():
    driver("memory")


@case
def memory_of_the_program_may_be_elsewhere_for_the_gpu():
    driver("elsewhere")


@case
def events_of_the_driver_wake_threads_and_have_ages():
    driver("events")


@case
def queue_of_the_driver_completes_a_packet_with_an_interrupt():
    driver("queues")


@case
def threads_open_map_allocate_fork_and_exec_at_the_same_time():
    driver(64, "storm_test", 200 if os.environ.get("RTL_TEST_LONG") else 12)


@case
def forked_child_is_refused_and_opens_the_driver_itself():
    driver("forks")


@case
def memory_of_the_driver_is_shared_with_another_process():
    driver("shared")


@case
def copies_return_what_was_written():
    r = run("hip_test", "copies", devices=2)
    check("copies ok" in r.out and "peer ok" in r.out, r.out)
    check(sum(e["bytes"] for e in of_kind(r, "copy")) > 40 << 20, "bytes copied")
    for e in of_kind(r, "copy"):
        check(e["begin"] <= e["end"] and int(e["src"], 16) and int(e["dst"], 16), str(e))


@case
def copies_work_without_atomics():
    run("hip_test", "copies", no_atomics=1)


@case
def copies_work_without_events():
    run("hip_test", "copies", no_events=1)


@case
def copies_work_in_deterministic_mode():
    run("hip_test", "copies", clock="deterministic")


@case
def pointer_queries_describe_allocations():
    check("pointers ok" in run("hsa_test", "pointers", devices=3).out, "pointers")


@case
def memory_locked_twice_stays_reachable_after_one_unlock():
    """HIP locks a host buffer for each copy; with threads of its own it unlocks the last copy's after the next one's lock."""
    r = run("hsa_test", "locks")
    check("locks ok" in r.out, r.out + r.err)
    equal("faults", of_kind(r, "fault"), [])


@case
def scratch_memory_is_allocated_on_demand():
    check("scratch ok" in run("hip_test", "scratch").out, "scratch")


# packets

@case
def batches_complete_in_order():
    for clock in ("real", "deterministic"):
        r = run("hsa_test", "batches", kernel_ns=0, clock=clock)
        (queue, n), = numbers(r, r"queue (\d+) dispatches (\d+)")
        equal("dispatches logged", len(of_kind(r, "dispatch", queue=queue)), n)
        in_order(r)


@case
def flooded_small_ring_loses_no_packet():
    r = run("hsa_test", "flood", 5000, kernel_ns=0)
    (queue, n), = numbers(r, r"queue (\d+) dispatches (\d+)")
    equal("dispatches logged", len(of_kind(r, "dispatch", queue=queue)), n)
    in_order(r)


@case
def barrier_packets_wait_for_dependencies():
    for clock in ("real", "deterministic"):
        r = run("hsa_test", "barriers", clock=clock)
        (queue, n), = numbers(r, r"queue (\d+) barriers (\d+)")
        equal("barriers logged", len(of_kind(r, "barrier", queue=queue)), n)
        in_order(r)


@case
def launches_of_several_threads_are_all_logged():
    r = run("hip_test", "threads", 5000, kernel_ns=500)
    (n,), = numbers(r, r"launched (\d+)")
    by_object = collections.Counter(e["object"] for e in of_kind(r, "dispatch") if e["grid"] == [192, 1, 1])
    equal("launches", n, 80000)
    equal("dispatches of the kernel", list(by_object.values()), [n])
    in_order(r)


@case
def kernels_without_barrier_bit_overlap():
    r = run("hsa_test", "batches", kernel_ns=20000, overlap=4)
    (queue, n), = numbers(r, r"queue (\d+) dispatches (\d+)")
    d = sorted(of_kind(r, "dispatch", queue=queue), key=lambda e: e["index"])
    equal("dispatches logged", len(d), n)
    together = sum(1 for a, b in zip(d, d[1:]) if b["begin"] < a["end"])
    check(together > n / 4, f"{together} of {n} overlap")
    # in a batch every other packet has the barrier bit: those with an odd index
    last = 0
    for a, b in zip(d, d[1:]):
        last = max(last, a["end"])
        check(b["begin"] >= a["begin"], "begins out of order")
    check(d[-1]["end"] >= last, "last")


@case
def forked_child_exits_and_execs():
    check("forks ok" in run("hsa_test", "forks", kernel_ns=0).out, "forks")


@case
def child_forked_after_close_uses_gpu():
    r = run("hsa_test", "child_opens", 50, kernel_ns=0)
    equal("dispatches that each completed", [n for n, in numbers(r, r"completed (\d+)")], [50, 50, 50])


@case
def exit_with_running_packets_returns_status():
    # queue 0 is internal to the runtime, which copies code objects on it while it loads them
    for knobs in ({"slow": "queue=1,factor=1e9"}, {"kernel_ns": 0}, {"hang": "queue=1,count=0"}):
        run("hsa_test", "leave", status=5, **knobs)
    run("hip_test", "leave", 1000, status=6, kernel_ns=1000)


@case
def runtime_restarts_after_shut_down():
    for clock in ("real", "deterministic"):
        check("completed 5" in run("hsa_test", "restart", 5, clock=clock).out, "restart")


@case
def many_queues_are_created_and_destroyed():
    r = run("hsa_test", "churn", 300, one_cpu=True)
    equal("queues left: the runtime's own",
          len(of_kind(r, "queue_create", engine="aql")) - len(of_kind(r, "queue_destroy", engine="aql")), 1)


@case
def queue_error_is_reported_in_both_ways():
    for exceptions in (0, 1):
        r = run("hsa_test", "serial", 5, queue_error="queue=1,n=3", exceptions=exceptions)
        equal(f"errors reported: {r.out}", len(numbers(r, r"queue (\d+) error")), 1)
        equal("dispatches before the error", len(of_kind(r, "dispatch", queue=1)), 2)


# times

@case
def dispatch_times_match_log():
    for knobs in ({}, {"clock_hz": 100000000}, {"drift_ppm": "250,-300", "clock_offset": "5000,900000000000"}):
        r = run("hsa_test", "times", 20, devices=2, kernel_ns=50000, **knobs)
        clocks = {c["gpu"]: c for c in of_kind(r, "clock")}
        (before, after), = numbers(r, r"span (\d+) (\d+)")
        seen = numbers(r, r"time gpu (\d+) queue (\d+) index (\d+) start (\d+) end (\d+)")
        equal("times", len(seen), 40)
        logged = {(e["gpu"], e["queue"], e["index"]): e for e in of_kind(r, "dispatch")}
        for gpu, queue, index, start, end in seen:
            e = logged[gpu, queue, index]
            tick_ns = 1e9 / clocks[gpu]["frequency_hz"]
            # an error of one tick in each of the runtime's two clock samples, extrapolated
            slack = 60 * tick_ns + 2000
            check(abs(start - to_ns(clocks[gpu], e["begin"])) < slack, f"start of {e}: {start}")
            check(abs(end - to_ns(clocks[gpu], e["end"])) < slack, f"end of {e}: {end}")
            check(before - slack <= start <= end <= after + slack, f"{start} {end} outside of the run")
            check(abs((end - start) - 50000) < 200, f"took {end - start} ns, not 50000")


@case
def copy_times_match_log():
    for clock in ("real", "deterministic"):
        r = run("hsa_test", "copytimes", 12, clock=clock)
        clk, = of_kind(r, "clock")
        logged = {int(e["signal"], 16): e for e in of_kind(r, "copy")}
        seen = numbers(r, r"copy (\d+) bytes (\d+) start (\d+) end (\d+)")
        equal("copies", len(seen), 12)
        for signal, size, start, end in seen:
            e = logged[signal]
            equal("bytes", e["bytes"], size)
            check(abs(start - to_ns(clk, e["begin"])) < 3000, f"start of {e}: {start}")
            check(abs(end - to_ns(clk, e["end"])) < 3000, f"end of {e}: {end}")
            if clock == "deterministic":
                check(abs(end - start - size / 12) <= 10, f"{size} bytes took {end - start} ns")


@case
def event_times_match_log():
    r = run("hip_test", "events", 10, kernel_ns=30000)
    hz = of_kind(r, "clock")[0]["frequency_hz"]
    elapsed = float(re.search(r"elapsed (\S+)", r.out).group(1))
    ext = float(re.search(r"ext (\S+)", r.out).group(1))
    packets = of_kind(r, "dispatch", "barrier", queue=1)
    ten = [i for i, e in enumerate(packets) if e["kind"] == "dispatch" and e["grid"] == [16384, 1, 1]]
    equal("kernels between the events", len(ten), 10)
    before, after = packets[ten[0] - 1], packets[ten[-1] + 1]
    equal("what records an event", (before["kind"], after["kind"]), ("barrier", "barrier"))
    check(abs(elapsed - (after["end"] - before["end"]) * 1e3 / hz) < 2e-4, f"{elapsed} {before} {after}")
    launch, = [e for e in packets if e["kind"] == "dispatch" and e["grid"] == [448, 1, 1]]
    check(abs(ext - (launch["end"] - launch["begin"]) * 1e3 / hz) < 2e-4, f"{ext} {launch}")


@case
def deterministic_times_repeat():
    """Also on a loaded machine, with the VGPU_SETTLE_US that the documentation recommends for it."""
    for ns in (0, 3000, 100000):
        outs = {run("hip_test", "times", clock="deterministic", kernel_ns=ns, settle_us=30000).out for _ in range(3)}
        equal(f"different outputs at {ns} ns: {outs}", len(outs), 1)
        check(f"ext 2 {ns / 1e6:.7f}" in next(iter(outs)), str(outs))


@case
def deterministic_ticks_repeat():
    def ticks():
        r = run("hsa_test", "stamps", 50, clock="deterministic", kernel_model="grid", ns_per_item=7)
        return numbers(r, r"stamp (\d+) (\d+) (\d+)")
    first = ticks()
    equal("stamps", len(first), 50)
    equal("ticks of two runs", ticks(), first)


@case
def grid_model_scales_with_items():
    r = run("hip_test", "events", 3, kernel_model="grid", kernel_ns=1000, ns_per_item=2.5,
            ns_per_group=100, clock_hz=100000000)
    want = {16384: 1000 + 16384 * 2.5 + 64 * 100, 448: 1000 + 448 * 2.5 + 7 * 100}
    mine = of_kind(r, "dispatch", queue=1)
    check(len(mine) >= 4, f"{len(mine)} dispatches")
    for e in mine:
        if e["grid"][0] in want:
            check(abs((e["end"] - e["begin"]) * 10 - want[e["grid"][0]]) <= 20, str(e))


@case
def long_kernel_takes_its_time():
    r = run("hsa_test", "serial", 5, kernel_ns=30000000)
    for n, ns in numbers(r, r"took (\d+) (\d+)"):
        check(ns >= 30000000, f"dispatch {n} took {ns} ns")


# the log

@case
def log_survives_kill():
    r = run("hsa_test", "killed", 200, status=-9, kernel_ns=0, log_sync=1)
    equal("dispatches logged", len(of_kind(r, "dispatch", queue=1)), 200)


@case
def log_is_complete_at_exit():
    r = run("hip_test", "events", 2000, kernel_ns=0)
    kinds = collections.Counter(e["kind"] for e in r.log())
    equal("header lines", (kinds["process"], kinds["clock"]), (1, 1))
    check(kinds["queue_create"] >= 2, str(kinds))
    equal("dispatches logged", len(of_kind(r, "dispatch", queue=1)), 2002)
    in_order(r)


# faults

@case
def hang_fault_never_completes():
    r = run("hsa_test", "serial", 6, hang="queue=1,n=3", kernel_ns=0)
    check("completed 2" in r.out, r.out)
    equal("faults", [(e["fault"], e["index"]) for e in of_kind(r, "fault")], [("hang", 2)])


@case
def slow_fault_multiplies_duration():
    r = run("hsa_test", "serial", 6, slow="queue=1,n=3,count=2,factor=1000", kernel_ns=20000)
    slow = [n for n, ns in numbers(r, r"took (\d+) (\d+)") if ns >= 20000000]
    equal("slow dispatches", slow, [3, 4])


@case
def queue_error_fault_stops_queue():
    seen = set()
    for code in (0x40000000, 2, 64):
        r = run("hsa_test", "serial", 5, queue_error=f"queue=1,n=2,code={code}")
        seen.add(re.search(r"queue 1 error (0x[0-9a-f]+)", r.out).group(1))
        equal("dispatches before the error", len(of_kind(r, "dispatch", queue=1)), 1)
    equal(f"each code has a meaning of its own: {seen}", len(seen), 3)


@case
def memory_fault_is_reported():
    r = run("hsa_test", "fault", 5, memory_fault="queue=1,n=2")
    check(re.search(r"event \d+ fault", r.out), r.out + r.err)


@case
def hold_fault_delays_completion():
    r = run("hsa_test", "order", hold="queue=1,until=2", log_sync=1)
    check("first alone 1" in r.out and "both done" in r.out, r.out)
    equal("order", [e["queue"] for e in of_kind(r, "dispatch") if e["queue"] in (1, 2)], [2, 1])
    check("first alone 0" in run("hsa_test", "order").out, "without the fault")


@case
def timestamp_fault_changes_times():
    r = run("hsa_test", "stamps", 4, no_timestamps="queue=1,n=2", swap_timestamps="queue=1,n=3")
    stamps = {n: (a, b) for n, a, b in numbers(r, r"stamp (\d+) (\d+) (\d+)")}
    equal("times of a dispatch without", stamps[2], (0, 0))
    check(stamps[3][0] > stamps[3][1] > 0, f"swapped: {stamps[3]}")
    check(0 < stamps[1][0] < stamps[1][1] < stamps[4][0], str(stamps))


@case
def shifted_timestamps_are_off_by_their_shift():
    r = run("hsa_test", "stamps", 3, shift_timestamps="queue=1,n=2,ns=1000000000")
    stamps = {n: (a, b) for n, a, b in numbers(r, r"stamp (\d+) (\d+) (\d+)")}
    check(stamps[1][0] < stamps[3][1] < stamps[2][0] < stamps[2][1], str(stamps))


@case
def completion_signal_takes_its_time():
    for signal_ns, ticks in ((0, 1000), (5000, 1500)):
        r = run("hsa_test", "stamps", 3, clock="deterministic", kernel_ns=10000, signal_ns=signal_ns)
        durations = {b - a for _, a, b in numbers(r, r"stamp (\d+) (\d+) (\d+)")}
        equal(f"ticks of 10 ns with {signal_ns}", durations, {ticks})


@case
def lost_signal_fault_ends_the_dispatch_alone():
    r = run("hsa_test", "serial", 4, lost_signal="queue=1,n=2")
    check("completed 1" in r.out, r.out)
    equal("dispatches that ended", len(of_kind(r, "dispatch", queue=1)), 2)


@case
def lost_event_fault_delays_wake_up():
    r = run("hsa_test", "serial", 4, lost_event="queue=1,n=2", kernel_ns=2000000)
    check("completed 4" in r.out, r.out)
    took = dict(numbers(r, r"took (\d+) (\d+)"))
    check(took[2] > 200000000 > took[3], f"only the second is delayed: {took}")


@case
def alloc_fault_fails_allocation():
    # the runtime releases its cached memory and tries a second time
    r = run("hsa_test", "alloc", 4, alloc_fail="gpu=0,bytes=0x2000000,n=2,count=2")
    equal("failed allocations", len(re.findall(r"alloc \d failed", r.out)), 1)
    equal("allocations", len(re.findall(r"alloc \d ok", r.out)), 3)


@case
def queue_create_fault_fails_creation():
    r = run("hsa_test", "queues", 4, queue_fail="n=3")
    failed = re.findall(r"queue (\d) failed", r.out)
    equal(f"failed queues: {r.out}", len(failed), 1)


@case
def bad_knobs_are_reported_and_ignored():
    r = run("hsa_test", "queues", 1, devices="many", colour="red", hang="when=now", slow="n=1",
            clock="sundial")
    for name in ("DEVICES", "COLOUR", "HANG", "SLOW", "CLOCK"):
        equal(f"{name} reported in {r.err!r}", len(re.findall(f"vgpu: VGPU_{name}: ignored: ", r.err)), 1)
    equal("stderr without bad settings", run("hsa_test", "queues", 1).err, "")


@case
def unknown_settings_are_answered_with_the_one_that_is_meant():
    r = run("hsa_test", "queues", 1, num_gpus=2, thread=2, vram=64, dirft_ppm=1, cpus=1, colour="red")
    said = dict(re.findall(r"vgpu: VGPU_(\w+): ignored: no such setting(?:; did you mean VGPU_(\w+)\?)?", r.err))
    equal("suggestions", said, {"NUM_GPUS": "DEVICES", "THREAD": "THREADS", "VRAM": "VRAM_MB", "DIRFT_PPM": "DRIFT_PPM",
                                "CPUS": "THREADS", "COLOUR": ""})


@case
def documented_knobs_match_table():
    with open(f"{SOURCE}/vgpu/engine/knobs.c", encoding="utf-8") as f:
        have = re.findall(r'\{ "(VGPU_\w+)"', f.read())
    with open(f"{SOURCE}/docs/virtual-gpu.md", encoding="utf-8") as f:
        documented = re.findall(r"^\| `(VGPU_\w+)`", f.read(), re.M)
    equal("settings in docs/virtual-gpu.md", sorted(documented), sorted(have))


# cost

@case
def dispatch_rate_is_sufficient():
    r = run("hsa_test", "rate", 640000, kernel_ns=0, log=False)
    (n,), = numbers(r, r"rate (\d+)")
    # the aim is 500 k/s; a busy machine reaches a third of it
    check(n > 170000, f"{n} dispatches per second")


@case
def idle_engine_uses_little_cpu():
    r = run("hsa_test", "idle", 1500, devices=8, log=False)
    used = float(re.search(r"idle (\S+)", r.out).group(1))
    check(used < 4, f"{used} % of a core with 32 idle queues")


@case
def idle_program_has_little_memory():
    """What hsa_init(), four queues and a kernel on each have taken, of the runtime and of the virtual GPU."""
    r = run("hsa_test", "idle", 1, exec="auto", log=False)
    kib = int(re.search(r"^memory (\d+)$", r.out, re.M)[1])
    check(kib < 40 << 10, f"{kib} KiB")


main()
