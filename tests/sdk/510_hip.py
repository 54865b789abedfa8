#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk with HIP on the virtual GPU: each call once, with its arguments, id and result; code objects."""
from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
ABIS = (0, 1)
# what work() of hip_client.cpp calls, besides launches: name -> calls, failed ones
CALLS = {
    "hipFree": (1, 0), "hipGetDevice": (1, 0), "hipHostFree": (1, 0), "hipHostMalloc": (1, 0), "hipMalloc": (2, 1),
    "hipMemcpyAsync": (2, 0), "hipSetDevice": (1, 0), "hipStreamCreate": (1, 0), "hipStreamDestroy": (1, 0),
    "hipStreamSynchronize": (1, 0),
}
LAUNCH = ("__hipPopCallConfiguration", "__hipPushCallConfiguration", "hipLaunchKernel")
# of programs that have librtl in front of HIP
CODE = ("__hipRegisterFatBinary", "__hipRegisterFunction", "__hipUnregisterFatBinary")
SAMPLE = r"""
\[HIP_RUNTIME_API\] hipLaunchKernel
    0: void const\*        function_address = 0x[0-9a-f]+
    1: rocprofiler_dim3_t numBlocks        = {z=1, y=1, x=16}
    2: rocprofiler_dim3_t dimBlocks        = {z=1, y=1, x=64}
    3: void\*\*             args             = 0x[0-9a-f]+
    4: unsigned long      sharedMemBytes   = 0
    5: ihipStream_t\*      stream           = 0x[0-9a-f]+

\[HIP_RUNTIME_API\] hipMemcpyAsync
    0: void\*              dst              = 0x[0-9a-f]+
    1: void const\*        src              = 0x[0-9a-f]+
    2: unsigned long      sizeBytes        = 4096
    3: hipMemcpyKind      kind             = DeviceToHost
    4: ihipStream_t\*      stream           = 0x[0-9a-f]+
"""


class Reported:
    """What the client printed."""

    def __init__(self, r):
        self.run, self.counts, self.ids = r, {}, []
        for line in r.out.splitlines():
            word, *rest = line.split() or [""]
            if word == "count":
                self.counts[rest[0]] = tuple(int(n) for n in rest[1:])
            elif word == "id":
                self.ids.append((int(rest[0]), rest[1], int(rest[2])))
        contains("stdout", r.out, "wrong 0\n")

    def lines(self, begin):
        return [l for l in self.run.out.splitlines() if l.startswith(begin)]


def client(abi, *args, trace=PLAIN, env=None, **kwargs):
    path = built(f"sdk_hip_client_{abi}")
    full = dict(env or {})
    # the trace has all calls that the client has
    full.update(RUNTIME if trace == PLAIN else {"RTL_INTERNAL": 1})
    r = run(path, *args, trace=trace, env=full, **kwargs)
    equal("stderr", r.err, "")
    return Reported(r)


def calls_of(launches, threads=1):
    out = {n: (c * threads, c * threads, f * threads) for n, (c, f) in CALLS.items()}
    out.update({n: (launches * threads, launches * threads, 0) for n in LAUNCH})
    return out


def without_code(counts):
    return {n: c for n, c in counts.items() if n not in CODE}


@case
def linked_tool_gets_each_call_once():
    for abi in ABIS:
        got = client(abi, "launches=10")
        equal(f"calls, ABI {abi}", without_code(got.counts), calls_of(10))


@case
def calls_of_eight_threads_come_once_each():
    for abi in ABIS:
        log = os.path.join(TMP, f"status.{os.getpid()}.{abi}.log")
        got = client(abi, "launches=20", "threads=8", env={"RTL_LOG": "hip:info", "RTL_LOG_FILE": log})
        with open(log) as f:
            text = f.read()
        os.unlink(log)
        # the counts of failed calls, below, are those of statuses that were read
        if "callbacks of HIP's" in text or "callbacks as in HIP 5" in text:
            contains("log", text, "the status of calls is read")
        counts = without_code(got.counts)
        counts.pop("hipInit", None)
        equal(f"calls, ABI {abi}", counts, calls_of(20, 8))


@case
def subset_of_operations_alone_is_shown():
    for abi in ABIS:
        got = client(abi, "subset=1")
        equal(f"calls, ABI {abi}", got.counts, {"hipSetDevice": (1, 1, 0), "hipGetDevice": (1, 1, 0)})


@case
def context_that_is_not_started_gets_nothing():
    for abi in ABIS:
        equal(f"calls, ABI {abi}", client(abi, "stopped=1").counts, {})


@case
def arguments_are_printed_as_in_the_specification():
    for abi in ABIS:
        got = client(abi, "args=1")
        if not re.search(SAMPLE, got.run.out):
            fail(f"ABI {abi}: not the specification's output:\n{got.run.out}")
        contains("stdout", got.run.out, "hipMemcpyKind      kind             = HostToDevice\n")


@case
def calls_of_hsa_have_begin_and_end():
    for abi in ABIS:
        got = client(abi, "hsa=1")
        hsa = {n: c for n, c in got.counts.items() if n.startswith("hsa_")}
        hip = {n: c for n, c in without_code(got.counts).items() if n not in hsa}
        equal(f"calls of HIP, ABI {abi}", hip, calls_of(1))
        # HIP 7.2 copies so little by a kernel
        copies = () if HIP7 else ("hsa_amd_memory_async_copy",)
        for name in ("hsa_queue_create", "hsa_executable_freeze", "hsa_amd_memory_pool_allocate",
                     "hsa_signal_store_screlease", *copies):
            at_least(f"calls of {name}", hsa.get(name, (0,))[0], 1)
        equal("begun, not ended", [n for n, c in hsa.items() if c[0] != c[1]], [])


@case
def code_objects_and_kernels_are_loaded_and_unloaded():
    for abi in ABIS:
        got = client(abi)
        kernel = "_Z8sc_scalePff.kd"
        equal("loads of the program's kernel", len(got.lines(f"load kernel {kernel}")), 1)
        equal("its unloads", got.lines(f"unload kernel {kernel}"), [f"unload kernel {kernel}"])
        equal("objects", len(got.lines("load object")), len(got.lines("unload object")))
        equal("kernels", len(got.lines("load kernel")), len(got.lines("unload kernel")))
        at_least("objects", len(got.lines("load object")), 2)


@case
def host_functions_of_kernels_follow_their_kernels():
    got = client(1, trace=RTL)
    equal("host functions of the program's kernel", got.lines("load host _Z8sc_scalePff "),
          ["load host _Z8sc_scalePff sc_scale limit -1 ids 0 0 0 0 size 0"])
    loads = got.lines("load ")
    at = [i for i, l in enumerate(loads) if l.startswith("load host ")]
    equal("after their kernels", [loads[i - 1].split()[2] for i in at], [loads[i].split()[2] + ".kd" for i in at])
    equal("of 0.x", client(0, trace=RTL).lines("load host"), [])


@case
def code_that_was_loaded_before_the_context_started_is_shown():
    for abi in ABIS:
        got = client(abi, "late=1")
        equal("loads of the program's kernel", len(got.lines("load kernel _Z8sc_scalePff.kd")), 1)


@case
def kernel_has_the_fields_of_its_descriptor():
    for abi in ABIS:
        line = client(abi).lines("load kernel _Z8sc_scalePff.kd")[0].split()
        equal(f"fields, ABI {abi}", dict(zip(line[3::2], line[4::2])),
              {"kernarg": "12", "align": "16", "sgpr": "16", "vgpr": "4", "accum": "0", "group": "0", "private": "0"})


@case
def ids_and_results_equal_the_trace():
    for abi in ABIS:
        got = client(abi, "launches=3", "ids=1", trace=RTL)
        counts = without_code(got.counts)
        equal(f"calls, ABI {abi}", counts, calls_of(3))
        seen = [i for i in got.ids if i[1] in CALLS or i[1] in LAUNCH]
        names = ",".join(f"'{n}'" for n in (*CALLS, *LAUNCH))
        rows = got.run.rows(f"select correlation_id, name, status from rtl_api where name in ({names})")
        # the database adds its rows of markers and threads to each id: docs/formats/database.md
        added = min(r[0] for r in rows) - min(i[0] for i in seen)
        same_counter("calls", [(i + added, name, status) for i, name, status in seen], [tuple(r) for r in rows])
        launches = [i[0] + added for i in seen if i[1] == "hipLaunchKernel"]
        rows = got.run.rows("select correlation_id from rtl_dispatch where kernel like 'sc_scale%'")
        same_counter("ids of dispatches", launches, [r[0] for r in rows])


main()
