#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libroctracer64 with HIP on the virtual GPU: each call, kernel and copy once, with the right correlation."""
import collections
import functools

from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
# A tick of the GPU is a nanosecond. The runtime makes times of ticks by a line through two readings of both clocks: a
# reading is rounded to a tick, so that with longer ones the line lies beside the truth by up to one.
EXACT = {"VGPU_CLOCK_HZ": "1000000000"}


class Reported:
    """What the client printed."""

    def __init__(self, r):
        self.run, self.counts, self.dispatches, self.copies, self.calls = r, {}, [], [], []
        for line in r.out.splitlines():
            word, *rest = line.split()
            if word == "count":
                self.counts[" ".join(rest[1:])] = int(rest[0])
            elif word == "dispatch":
                self.dispatches.append((int(rest[0]), int(rest[1])))
            elif word == "call":
                self.calls.append((int(rest[0]), int(rest[1]), rest[2]))
            elif word == "copy":
                self.copies.append((int(rest[0]), int(rest[1])))
        contains("stdout", r.out, "\nwrong 0\n")

    def of(self, kind):
        return {k[len(kind) + 1:]: n for k, n in self.counts.items() if k.startswith(kind + " ")}


def client(*args, name="hip_client", trace=PLAIN, env=None, **kwargs):
    path = built(name)
    full = {**EXACT, **(env or {})}
    # the trace has all calls that the client has
    full.update(RUNTIME if trace == PLAIN else {"RTL_INTERNAL": 1})
    r = run(path, *args, trace=trace, env=full, **kwargs)
    equal("stderr", r.err, "")
    return Reported(r)


def logged_dispatches(got):
    """Times of the client's kernels, from the virtual GPU's own log."""
    log = [l for path in glob.glob(os.path.join(got.run.dir, "gpu.*.log")) for l in read_lines(path)]
    clocks = {l["gpu"]: l for l in log if l["kind"] == "clock"}
    return [tuple(exact_ns(clocks[l["gpu"]], l[at]) for at in ("begin", "end"))
            for l in log if l["kind"] == "dispatch" and l["grid"] == [64, 1, 1]]


def exact_ns(clock, ticks):
    ns, rest = divmod((ticks - clock["offset"]) * 10 ** 9, clock["frequency_hz"])
    equal("part of a nanosecond", rest, 0)
    return clock["epoch_ns"] + ns


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def calls_of(launches, threads=1):
    return {
        "__hipPopCallConfiguration": launches * threads, "__hipPushCallConfiguration": launches * threads,
        "hipLaunchKernel": launches * threads, "hipDeviceSynchronize": threads, "hipFree": threads,
        "hipMalloc": threads, "hipMemcpy": 2 * threads, "hipStreamCreate": threads, "hipStreamDestroy": threads,
        "hipStreamSynchronize": threads * (1 + launches // 1000),
    }


def exact_times(got, launches):
    """To the nanosecond, none lost, none twice; the last two are launched after tracing has ended."""
    seen, log = collections.Counter(got.dispatches), collections.Counter(logged_dispatches(got))
    equal("kernel records", len(got.dispatches), launches)
    equal("records of what the GPU did not do then", sorted((seen - log).elements())[:3], [])
    equal("dispatches without a record", sum((log - seen).values()), 2)


def everything(got, launches):
    calls = calls_of(launches)
    equal("API records", got.of("api"), calls)
    equal("callbacks at begin", got.of("callback enter"), calls)
    equal("callbacks at end", got.of("callback exit"), calls)
    ops = got.of("op")
    equal("kernels", ops["KernelExecution"], launches)
    equal("copies", (ops["CopyHostToDevice"], ops["CopyDeviceToHost"]), (1, 1))
    caused = got.of("caused")
    equal("kernels by hipLaunchKernel", caused["KernelExecution hipLaunchKernel"], launches)
    equal("copies by hipMemcpy", (caused["CopyHostToDevice hipMemcpy"], caused["CopyDeviceToHost hipMemcpy"]), (1, 1))
    # 32 around the launches, 31 around what follows
    equal("external ids", got.of("ext"), {"32": 3 * launches, "31": 5})


@case
def linked_client_gets_each_call_and_operation_once():
    got = client("launches=10")
    everything(got, 10)
    exact_times(got, 10)
    equal("kernel names", got.of("kernel"), {"_Z8hc_scalePff": 10})
    equal("files beside the program's", sorted(n.split(".")[0] for n in os.listdir(got.run.dir)),
          ["gpu", "stderr", "stdout"])


@case
def rocm_5_2_client_gets_each_call_and_operation_once():
    got = client("launches=10", name="hip_client_old")
    everything(got, 10)
    exact_times(got, 10)
    equal("kernels without a name", got.counts.get("kernel"), 10)


@case
def library_as_hsa_tool_reports_hip_once():
    got = client("launches=10", env={"HSA_TOOLS_LIB": os.path.join(LIB, "libroctracer64.so.4")})
    everything(got, 10)
    exact_times(got, 10)


@case
def client_and_trace_have_the_same_calls():
    # HIP 7.2.4 copies small blocks by kernels unless this is set
    got = client("launches=10", trace=RTL, env={"GPU_FORCE_BLIT_COPY_SIZE": "0"} if HIP7 else {})
    everything(got, 10)
    rows = got.run.rows("select begin_ns, end_ns from rtl_dispatch where kernel like 'hc_scale%' order by begin_ns")
    equal("dispatches in the trace", len(rows), 12)
    equal("kernels in the trace", rows[:10], sorted(got.dispatches))
    rows = got.run.rows("select begin_ns, end_ns from rtl_copy where kind = 'DeviceToHost' order by begin_ns limit 1")
    equal("copies to the host in the trace", rows, got.copies)
    # the trace's calls begin before tracing is turned on and go on after it
    rows = got.run.rows("select begin_ns, end_ns, name from rtl_api where domain = 'hip' order by begin_ns")
    calls = sorted(got.calls)
    first = next(i for i, row in enumerate(rows) if row[0] <= calls[0][0] <= calls[0][1] <= row[1])
    equal("calls in the trace", [row[2] for row in rows[first:first + len(calls)]], [c[2] for c in calls])
    apart = [(c, row) for c, row in zip(calls, rows[first:]) if not row[0] <= c[0] <= c[1] <= row[1]]
    equal("calls whose times in the trace do not enclose those in the pool", apart, [])
    calls = dict(got.run.rows("select name, count(*) from rtl_api where domain = 'hip' group by name"))
    equal("launches in the trace", calls["hipLaunchKernel"], 12)
    equal("copies in the trace", calls["hipMemcpy"], 4)


@case
def records_have_exact_times_with_deterministic_clock():
    got = client("launches=1000", "what=ops", env={"VGPU_CLOCK": "deterministic", **dict.fromkeys(EXACT)})
    exact_times(got, 1000)


@case
def records_have_the_times_that_hsa_reports():
    """With any clock a record has the times that HSA's runtime gave HIP for the kernel."""
    shim = built("libdispatch_times.so", HSA_HEADERS)
    # at 27 MHz, as by default
    for env in ({}, {"VGPU_DRIFT_PPM": "50", "VGPU_CLOCK_OFFSET": "123456789012"}):
        env.update(dict.fromkeys(EXACT), LD_PRELOAD=shim, DISPATCH_TIMES=os.path.join(work_dir(), "times"))
        got = client("launches=2000", "threads=4", "what=ops", env=env)
        with open(env["DISPATCH_TIMES"], encoding="ascii") as f:
            answers = {tuple(map(int, line.split())) for line in f}
        equal("kernel records", len(got.dispatches), 8000)
        equal("records with times that HSA did not give", sorted(set(got.dispatches) - answers)[:3], [])


@case
def each_kind_enabled_alone_reports_only_itself():
    got = client("launches=10", "what=ops")
    equal("no calls", (got.of("api"), got.of("callback enter"), got.of("ext")), ({}, {}, {}))
    equal("kernels", got.of("op")["KernelExecution"], 10)
    exact_times(got, 10)
    got = client("launches=10", "what=api")
    equal("API records", got.of("api"), calls_of(10))
    equal("no operations and callbacks", (got.of("op"), got.of("callback enter")), ({}, {}))
    got = client("launches=10", "what=callbacks")
    equal("callbacks at begin", got.of("callback enter"), calls_of(10))
    equal("no records", (got.of("op"), got.of("api")), ({}, {}))


@case
def graph_kernels_have_names():
    """HIP 5.2 does not report them; librtl has them where HSA's runtime has loaded it or libroctracer64."""
    path = built("graph_client")
    tool = {**RUNTIME, "HSA_TOOLS_LIB": os.path.join(LIB, "libroctracer64.so.4")}
    for trace, env in ((PLAIN, tool), (RTL, {})):
        r = run(path, 200, trace=trace, env=env)
        equal("stderr", r.err, "")
        equal("names", r.out, "400 graph_first\n200 graph_second\n200 launched_alone\n")


@case
def device_id_is_node_or_index_by_generation():
    """HIP 5.2 gives its index, 5.7 the KFD's node; clients of 5.4 and later expect the node, those of 5.2 the index."""
    def devices(name="hip_client", **env):
        args = ["devices=2", "threads=3", "launches=10", "what=ops"]
        return client(*args, name=name, gpus=2, env=env).of("device")

    equal("nodes", devices(), {"1": 20, "2": 10})
    equal("nodes in another order", devices(HIP_VISIBLE_DEVICES="1,0"), {"2": 20, "1": 10})
    equal("indices", devices(name="hip_client_old"), {"0": 20, "1": 10})
    equal("indices, of nodes in another order", devices(name="hip_client_old", HIP_VISIBLE_DEVICES="1,0"),
          {"0": 20, "1": 10})
    args = ["threads=2", "launches=10", "what=ops"]
    equal("one GPU, the second", client(*args, gpus=2, env={"HIP_VISIBLE_DEVICES": "1"}).of("device"), {"2": 20})


@case
def device_lookup_is_not_in_trace():
    """Calls by which the library finds devices are not recorded."""
    got = client("devices=2", "threads=2", "launches=10", trace=RTL, gpus=2, env={"RTL_HSA_API": "1"})
    equal("nodes", got.of("device"), {"1": 10, "2": 10})
    calls = got.run.value("select count(*) from rtl_api where name = 'hipDeviceGetPCIBusId'")
    equal("the library's own calls in the trace", calls, 0)
    # one when HIP starts
    calls = got.run.value("select count(*) from rtl_api where name = 'hsa_iterate_agents'")
    equal("HSA calls of HIP's in the trace", calls, 1)


@case
def stopped_client_gets_nothing():
    got = client("launches=10", "stop=1")
    everything(got, 10)


@case
def registering_while_hip_is_called_keeps_pairs():
    """8 threads enable and disable, 8 call HIP: no callback gets another's argument, and afterwards everything is reported."""
    got = client("toggle=1", "what=callbacks", "launches=10")
    contains("stdout", got.run.out, "callbacks seen 1\n")
    got = client("toggle=1", "what=ops", "launches=10")
    equal("kernels, of the 8 threads as well", got.of("op")["KernelExecution"], 8 * 300 + 10)


LOADED_BY_NAME = """
import ctypes, sys
CALL = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)
BATCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
class Properties(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_uint32), ("size", ctypes.c_size_t), ("alloc", ctypes.c_void_p),
                ("alloc_arg", ctypes.c_void_p), ("callback", BATCH), ("arg", ctypes.c_void_p)]
hip_first = sys.argv[1] == "hip"
if hip_first:
    hip = ctypes.CDLL("libamdhip64.so.5")
tracer = ctypes.CDLL(sys.argv[2])
tracer.roctracer_op_string.restype = ctypes.c_char_p
calls, records = [], []
on_call = CALL(lambda domain, op, data, arg: calls.append(tracer.roctracer_op_string(domain, op, 0).decode()))
def on_batch(begin, end, arg):
    for at in range(begin, end, 64):
        domain, kind, op = (ctypes.c_uint32 * 3).from_address(at)
        records.append(tracer.roctracer_op_string(domain, op, kind).decode())
on_batch = BATCH(on_batch)
tracer.roctracer_open_pool(ctypes.byref(Properties(0, 4096, None, None, on_batch, None)))
print(tracer.roctracer_enable_domain_callback(3, on_call, None), tracer.roctracer_enable_domain_activity(3),
      tracer.roctracer_enable_domain_activity(2))
if not hip_first:
    hip = ctypes.CDLL("libamdhip64.so.5")
    tracer.roctracer_stop(); tracer.roctracer_start()
data = ctypes.c_void_p()
host = ctypes.create_string_buffer(4096)
print(hip.hipMalloc(ctypes.byref(data), ctypes.c_size_t(4096)), hip.hipMemcpy(data, host, ctypes.c_size_t(4096), 1),
      hip.hipFree(data))
tracer.roctracer_flush_activity()
tracer.roctracer_close_pool()
print(*calls)
print(*sorted(records))
"""


def loaded_by_name(first, library, trace=PLAIN, **env):
    full = dict(RUNTIME) if trace == PLAIN else {"LD_LIBRARY_PATH": LIB}
    r = run("/usr/bin/env", "python3", "-c", LOADED_BY_NAME, first, library, trace=trace, env={**full, **env})
    lines = r.out.splitlines()
    equal("statuses", lines[:2], ["0 0 0", "0 0 0"])
    equal("callbacks", lines[2], "hipMalloc hipMalloc hipMemcpy hipMemcpy hipFree hipFree")
    equal("records", lines[3], "CopyHostToDevice hipFree hipMalloc hipMemcpy")
    return r


@case
def library_by_dlopen_works_like_linked():
    for library in ("libroctracer64.so", "libroctracer64.so.4", "libroctracer64.so.1"):
        loaded_by_name("hip", library)


@case
def library_loaded_before_hip_works():
    loaded_by_name("tracer", "libroctracer64.so.4")


@case
def library_by_dlopen_works_when_traced():
    r = loaded_by_name("hip", "libroctracer64.so.4", trace=RTL)
    equal("calls in the trace", [row[0] for row in r.rows("select name from rtl_api order by begin_ns")],
          ["hipMalloc", "hipMemcpy", "hipFree"])


@case
def preloaded_library_works():
    loaded_by_name("hip", "libroctracer64.so.4", LD_PRELOAD=os.path.join(LIB, "libroctracer64.so.4"))


def pressure(threads, launches, buffer, sleep):
    """Small pools and a slow callback: no record is lost or delivered twice."""
    got = client(f"launches={launches}", f"threads={threads}", f"buffer={buffer}", f"sleep={sleep}", "what=all",
                  timeout=1000 if LONG else 200)
    n = threads * launches
    equal("API records", got.of("api"), calls_of(launches, threads))
    equal("kernels", got.of("op")["KernelExecution"], n)
    equal("kernels by hipLaunchKernel", got.of("caused")["KernelExecution hipLaunchKernel"], n)
    exact_times(got, n)


for name_, args_ in {
    "pool_of_4_kib_loses_nothing": (4, 1000, 4096, 0), "pool_of_1_mib_loses_nothing": (4, 1000, 1 << 20, 0),
    **({"million_launches_in_4_kib_lose_nothing": (16, 62500, 4096, 0), "million_launches_in_1_mib_lose_nothing": (16, 62500, 1 << 20, 0),
        "million_launches_with_slow_callback_lose_nothing": (16, 62500, 65536, 1000)} if LONG else {}),
    "pool_of_12_bytes_loses_nothing": (2, 200, 12, 0), "slow_callback_loses_nothing": (4, 200, 4096, 1000),
}.items():
    add_case(name_, functools.partial(pressure, *args_))


main()
