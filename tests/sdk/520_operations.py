#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk: kernel dispatches and memory copies on the virtual GPU, beside its log and the trace."""
import contextlib
import csv
import itertools
import sqlite3

from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
ABIS = (0, 1)
# as KFD's nodes: the CPU is 0, GPUs follow
FIRST_AGENT = 2048
KERNELS = {"_Z8op_scalePff.kd": ("96x1x1", "576x1x1", 0), "_Z9op_sharedPf.kd": ("24x2x1", "48x6x2", 512)}
GROUPS = ([96, 1, 1], [24, 2, 1])
DIRECTIONS = {"HostToHost": "HOST_TO_HOST", "HostToDevice": "HOST_TO_DEVICE", "DeviceToHost": "DEVICE_TO_HOST",
              "DeviceToDevice": "DEVICE_TO_DEVICE", "PeerToPeer": "DEVICE_TO_DEVICE"}


class Shown:
    """What the client printed."""

    def __init__(self, r):
        self.run, self.dispatches, self.copies, self.totals = r, [], [], {}
        self.calls, self.retired, self.scratch = [], [], []
        for line in r.out.splitlines():
            word, first, *rest = line.split()
            if word == "dispatch":
                self.dispatches.append(fields(rest, dispatch_id=int(first)))
            elif word == "copy":
                self.copies.append(fields(rest, direction=first.removeprefix("MEMORY_COPY_")))
            elif word == "scratch":
                self.scratch.append(fields(rest, what=first))
            elif word in ("call", "retired"):
                (self.calls if word == "call" else self.retired).append(fields(rest, id=int(first)))
            else:
                self.totals[word] = [int(n) for n in (first, *rest)]
        equal("wrong", self.totals.get("wrong"), [0])

    def ours(self):
        return [d for d in self.dispatches if d["kernel"] in KERNELS]


def fields(words, **more):
    out = {}
    for name, text in zip(words[::2], words[1::2]):
        is_number = re.fullmatch("0x[0-9a-f]+|[0-9]+", text)
        out[name] = int(text, 0) if is_number else text
    return {**out, **more}


def client(abi, *args, trace=PLAIN, env=None, **kwargs):
    path = built(f"sdk_operations_client_{abi}")
    r = run(path, *args, trace=trace, env={**(RUNTIME if trace == PLAIN else {}), **(env or {})}, **kwargs)
    equal("stderr", r.err, "")
    return Shown(r)


def whole(shown, launches, threads=1):
    """Each dispatch and copy has begun and ended once."""
    nr = launches * 2 * threads
    enter, exits, over = shown.totals["dispatches"]
    equal("dispatches begun, enqueued, completed", (enter, exits), (over, over))
    equal("completed", over, len(shown.dispatches))
    equal("of the program's kernels", len(shown.ours()), nr)
    equal("copies begun and ended", shown.totals["copies"], [len(shown.copies)] * 2)
    ids = sorted(d["dispatch_id"] for d in shown.dispatches)
    equal("ids", ids, list(range(1, len(ids) + 1)))
    for d in shown.ours():
        equal(f"sizes of {d['kernel']}", (d["size"], d["grid"], d["group"]), KERNELS[d["kernel"]])
        equal("scratch", d["private"], 0)


def logged(shown, ns_tolerance=NS_TOLERANCE):
    """The dispatches and copies of the virtual GPU's log, with its times."""
    clocks = clocks_of(shown.run.log())
    same_times(shown.ours(), [l for l in shown.run.log("dispatch") if l["group"] in GROUPS], clocks, ns_tolerance)
    # ROCr's own copies are in the log as well
    log = shown.run.log("copy")
    sizes = collections.Counter(l["bytes"] for l in log)
    for size, count in collections.Counter(c["bytes"] for c in shown.copies).items():
        if sizes[size] < count:
            fail(f"{count} copies of {size} bytes; the log has {sizes[size]}")


def same_times(shown, log, clocks, tolerance):
    equal("dispatches", len(shown), len(log))
    want = sorted((to_ns(clocks[l["pid"], l["gpu"]], l["begin"]), to_ns(clocks[l["pid"], l["gpu"]], l["end"])) for l in log)
    for seen, expected in zip(sorted((d["begin"], d["end"]) for d in shown), want):
        if any(abs(a - b) > tolerance for a, b in zip(seen, expected)):
            fail(f"times {seen}, in the log {expected}")


def traced(shown):
    """The same as the trace that is recorded at the same time."""
    r = shown.run
    rows = r.rows("select queue + 1, begin_ns, end_ns, group_x || 'x' || group_y || 'x' || group_z, "
                  "grid_x || 'x' || grid_y || 'x' || grid_z, correlation_id from rtl_dispatch where flags & 32 = 0")
    seen = [(d["queue"], d["begin"], d["end"], d["size"], d["grid"], d["id"]) for d in shown.dispatches]
    added = min(row[5] for row in rows) - min(s[5] for s in seen)
    same_counter("dispatches", [(*s[:5], s[5] + added) for s in seen], rows)
    rows = r.rows("select kind, bytes, begin_ns, end_ns, correlation_id, src, dst from rtl_copy where kind <> 'Fill'")
    same_counter("copies", [(c["direction"], c["bytes"], c["begin"], c["end"], c["id"] + added, location(c["src"]),
                             location(c["dst"])) for c in shown.copies], [(DIRECTIONS[row[0]], *row[1:]) for row in rows])


def location(agent):
    return f"GPU {agent - FIRST_AGENT - 1}" if agent > FIRST_AGENT else "CPU 0"


@case
def each_dispatch_and_copy_begins_and_ends_once():
    for abi in ABIS:
        shown = client(abi, "launches=10")
        whole(shown, 10)
        logged(shown)
        equal("agents", {d["agent"] for d in shown.dispatches}, {FIRST_AGENT + 1})
        if not HIP7:
            equal("copies", sorted(c["direction"] for c in shown.copies), ["DEVICE_TO_HOST", "HOST_TO_DEVICE"])


@case
def operations_equal_the_trace():
    for abi in ABIS:
        shown = client(abi, "launches=10", trace=RTL)
        whole(shown, 10)
        logged(shown)
        traced(shown)


@case
def threads_on_two_gpus():
    for abi in ABIS:
        shown = client(abi, "launches=25", "threads=8", "gpus=2", trace=RTL, gpus=2)
        whole(shown, 25, threads=8)
        logged(shown)
        traced(shown)
        equal("threads", len({d["tid"] for d in shown.ours()}), 8)
        equal("agents", {d["agent"] for d in shown.ours()}, {FIRST_AGENT + 1, FIRST_AGENT + 2})


@case
def one_operation_alone():
    for abi in ABIS:
        shown = client(abi, "launches=3", "begin=1")
        enter, exits, over = shown.totals["dispatches"]
        equal("begun, completed", (enter, over), (exits, 0))
        at_least("begun", enter, 6)
        shown = client(abi, "launches=3", "end=1")
        enter, exits, over = shown.totals["dispatches"]
        equal("begun", (enter, exits), (0, 0))
        equal("completed", len(shown.ours()), 6)


@case
def one_kind_alone():
    for abi in ABIS:
        shown = client(abi, "launches=3", "kind=12")
        equal("dispatches", len(shown.ours()), 6)
        equal("copies", shown.copies, [])
        shown = client(abi, "launches=3", "kind=13")
        equal("dispatches", shown.dispatches, [])
        equal("copies", len(shown.copies), 2)


@case
def context_that_is_stopped_gets_the_ends_of_what_it_saw_begin():
    for abi in ABIS:
        whole(client(abi, "launches=200", "stop=1"), 200)


@case
def context_that_is_started_late_gets_what_follows():
    for abi in ABIS:
        whole(client(abi, "launches=20", "late=1"), 20)


@case
def tool_that_ends_itself_has_got_everything():
    for abi in ABIS:
        whole(client(abi, "launches=20", "end_early=1"), 20)


@case
def thread_whose_id_is_below_the_process_has_its_own_ids():
    """The kernel begins with low ids again when it has used all."""
    inside = ("/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    high = 'echo 30000 > /proc/sys/kernel/ns_last_pid && "$0" "$@"; exit $?'
    if subprocess.run([*inside, "sh", "-c", high, "true"], capture_output=True, check=False).returncode:
        skip("ids of a pid namespace can't be chosen here")
    for abi in ABIS:
        r = run(*inside, "sh", "-c", high, built(f"sdk_operations_client_{abi}"), "launches=5", "low_ids=1", env=RUNTIME)
        whole(Shown(r), 5)
        equal("threads with an id above their process's", [d for d in Shown(r).dispatches if d["tid"] > 1000], [])


@case
def external_ids_are_asked_for():
    for abi in ABIS:
        whole(client(abi, "launches=5", "request=1"), 5)


@case
def ids_are_retired_after_the_call_and_its_operations():
    for abi in ABIS:
        shown = client(abi, "launches=40", "threads=2", "buffer=1", "retire=1")
        whole(shown, 40, threads=2)
        same_counter("ids", [r["id"] for r in shown.retired], [c["id"] for c in shown.calls])
        when = {r["id"]: r["end"] for r in shown.retired}
        for kind in ("calls", "dispatches", "copies"):
            for o in getattr(shown, kind):
                at_least(f"end of the id of {o}", when[o["id"]], o["end"] - NS_TOLERANCE)


@case
def ids_of_operations_outside_of_calls_are_retired_once():
    # HIP copies a MiB after the other: under rtl trace they have the id of one call, which the tool is not shown
    in_parts = {"GPU_PINNED_XFER_SIZE": 1}
    for abi, trace in itertools.product(ABIS, (PLAIN, RTL)):
        shown = client(abi, "launches=40", "threads=2", "buffer=1", "retire_own=1", "pageable=1", "bytes=8388608",
                       trace=trace, rtl_args=("-q", "--mode", "hip"), env=in_parts)
        operations = shown.dispatches + shown.copies
        same_counter("ids", [r["id"] for r in shown.retired], {o["id"] for o in operations})
        equal("of dispatches", len({d["id"] for d in shown.ours()}), 40 * 2 * 2)
        if trace == RTL and not USERLAND:
            at_least("copies beyond their calls", len(shown.copies), 2 * len({c["id"] for c in shown.copies}))
        when = {r["id"]: r["end"] for r in shown.retired}
        for o in operations:
            at_least(f"end of the id of {o}", when[o["id"]], o["end"] - NS_TOLERANCE)


@case
def slow_callbacks_lose_nothing():
    for abi in ABIS:
        whole(client(abi, "launches=60", "threads=2", "busy=1"), 60, threads=2)


@case
def dispatches_are_entered_before_the_gpu_runs_them():
    for abi in ABIS:
        # a callback takes longer than the GPU needs to begin
        shown = client(abi, "launches=40", "busy=1")
        whole(shown, 40)
        for d in shown.dispatches:
            at_least(f"begin of {d}", d["begin"] + NS_TOLERANCE, d["entered"])


@case
def records_alone_are_of_dispatches_that_were_submitted_while_the_context_was_active():
    for abi in ABIS:
        for args, launches, threads in (((), 40, 2), (("late=1",), 30, 1), (("stop=1",), 200, 1), (("end_early=1",), 20, 1),
                                        (("push=1",), 30, 2))[:None if abi else 1]:
            shown = client(abi, f"launches={launches}", f"threads={threads}", "buffer=1", "plain=1", *args,
                           trace=PLAIN if args else RTL)
            whole(shown, launches * (1 + (args == ("push=1",))), threads=threads)
            if not args:
                logged(shown)
                traced(shown)


@case
def scratch_memory_of_queues_begins_and_ends():
    for abi in ABIS:
        shown = client(abi, "launches=3", "scratch=1", trace=RTL, env={"VGPU_EXEC": "on", "RTL_SCRATCH": "auto"})
        begun, ended = ([s for s in shown.scratch if s["what"] == "callback" and s["phase"] == p] for p in (1, 2))
        records = [s for s in shown.scratch if s["what"] == "record"]
        key = lambda s: (s["operation"], s["tid"], s["agent"], s["queue"], s["flags"])
        same_counter("begins and ends", map(key, begun), map(key, ended))
        same_counter("records and ends", [(*key(r), r["bytes"], r["more"]) for r in records],
                     [(*key(s), s["bytes"] if abi else 0, 1) for s in ended])
        # hsa_amd_tool_event_kind_t
        equal("kinds of events", {(s["operation"], s["phase"], s["more"]) for s in begun + ended} -
              {(o, p, 2 * (o - 1) + p) for o in (1, 2, 3) for p in (1, 2)}, set())
        allocated = [s for s in ended if s["operation"] == 1]
        if USERLAND:
            at_least("allocations", len(allocated), 1)
            equal("agents", {s["agent"] for s in allocated}, {FIRST_AGENT + 1})
            # 256 floats of each work-item
            at_least("bytes", min(s["bytes"] for s in allocated), 4 * 64 * 1024)
            # the queue's end; ROCr 6.1 and 6.4 do not report it
            freed = [s for s in ended if s["operation"] == 2]
            if "libamdhip64.so.7" in shown.run.value("select group_concat(value) from rtl_info where key = 'library'"):
                at_least("releases", len(freed), 1)
            equal("agents of releases", {s["agent"] for s in freed} - {FIRST_AGENT + 1}, set())
            scratch_is_traced(shown.run, ended)
        else:
            # ROCm before 6.1 has no table for tools
            equal("events", shown.scratch, [])
            equal("rows", shown.run.count("rtl_scratch"), 0)
            equal("what the trace says", shown.run.value("select value from rtl_info where key = 'scratch'"), "not reported by the runtime")


def scratch_is_traced(r, ended):
    """The trace has the client's events, with what the kernels need, and each of rocprofv3's files has the trace's."""
    rows = r.rows("select case w.operation when 'alloc' then 1 when 'free' then 2 else 3 end, t.tid, w.flags, w.bytes, q.agent_id is not null "
                  "from rtl_scratch w join rtl_thread t on t.id = w.thread_id left join rtl_queue q on q.id = w.queue_id")
    same_counter("rows and events", rows, [(s["operation"], s["tid"], s["flags"], s["bytes"], 1) for s in ended])
    # the runtime lets the dispatch go on before it reports the end
    needed = r.rows("select w.bytes, s.private_size, w.waves, w.begin_ns <= w.end_ns and w.begin_ns <= o.start from rtl_scratch w join rtl_queue q "
                    "on q.id = w.queue_id join rocpd_op o on o.queueId = q.queue_id and o.sequenceId = w.packet_index join rtl_op_kernel k on "
                    "k.op_id = o.id join rtl_shape s on s.id = k.shape_id where w.operation = 'alloc'")
    equal("allocations whose dispatch is known", len(needed), sum(row[0] == 1 for row in rows))
    for size, private, waves, in_time in needed:
        # a wave has units of 1 KiB
        of_wave = -(-private // 16) * 16 * 64
        at_least("bytes of a work-item", private, 1024)
        equal(f"{size} bytes for waves of {of_wave}", (size % of_wave, size // of_wave >= waves, in_time), (0, True, 1))
    folder = new_dir("files")
    for name, form in (("x", "rocprofv3-csv"), ("x.json", "rocprofv3-json"), ("x.db", "rocpd3"), ("x.pftrace", "rocprofv3-pftrace")):
        ended_with = r.rtl("convert", "-q", "-f", form, "-o", os.path.join(folder, name), r.output)
        equal(f"status of {form}", (ended_with.status, ended_with.err), (0, ""))
    with open(os.path.join(folder, "x_scratch_memory_trace.csv"), encoding="utf-8") as f:
        table = list(csv.DictReader(f))
    names = ("ALLOC", "FREE", "ASYNC_RECLAIM")
    key = lambda row: (row[0], row[1], row[2], row[3])
    same_counter("CSV", [(1 + names.index(row["Operation"].removeprefix("SCRATCH_MEMORY_")), int(row["Thread_Id"]), int(row["Alloc_Flags"]),
                          int(row["Allocation_Size"])) for row in table], map(key, rows))
    equal("agents of CSV", {row["Agent_Id"] for row in table}, {"Agent 1"})
    with open(os.path.join(folder, "x.json"), encoding="utf-8") as f:
        records = json.load(f)["rocprofiler-sdk-tool"][0]["buffer_records"]["scratch_memory"]
    same_counter("JSON", [(j["operation"], j["thread_id"], j["flags"], j["allocation_size"]) for j in records], map(key, rows))
    equal("agents of JSON", {(j["kind"], j["agent_id"]["handle"]) for j in records}, {(12, FIRST_AGENT + 1)})
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "x.db"))) as db:
        same_counter("rocpd", db.execute("select case operation when 'ALLOC' then 1 when 'FREE' then 2 else 3 end, tid, cast(alloc_flags as "
                                         "integer), size from scratch_memory where agent_log_index = 1 and queue_id > 0"), map(key, rows))
    with open(os.path.join(folder, "x.pftrace"), "rb") as f:
        equal("its track", f.read().count(b"SCRATCH MEMORY on Agent [1] (GPU)"), 1)


@case
def records_equal_the_log_and_the_trace():
    for abi in ABIS:
        for trace in (PLAIN, RTL):
            shown = client(abi, "launches=40", "threads=2", "buffer=1", trace=trace)
            whole(shown, 40, threads=2)
            logged(shown)
            equal("records after a flush", shown.totals["flushed"], [len(shown.dispatches), len(shown.copies)])
            if trace == RTL:
                traced(shown)


main()
