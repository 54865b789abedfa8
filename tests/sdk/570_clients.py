#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The call sequences of tools that people use, with HIP on the virtual GPU: what they get is what the GPU did; each alone and all at once."""
from support import *

LAUNCHES = 5
COPY = 65536 * 4
# how each gets into the process: its library is preloaded, named by ROCP_TOOL_LIBRARIES, or loaded by the program
PRELOADED = ("kineto", "xla", "rpd", "tau")
NAMED = ("rocprofsys", "caliper")
LOADED = ("proton", "papi")
ALL = PRELOADED + NAMED + LOADED


def library(client):
    return os.path.join(BUILD, "tests", f"libsdk_client_{client}.so")


class Said:
    """What the clients printed: name -> lines of words."""

    def __init__(self, r):
        self.run, self.lines = r, collections.defaultdict(list)
        for line in r.out.splitlines():
            name, colon, text = line.partition(": ")
            if colon:
                self.lines[name].append(text)

    def of(self, client, word):
        """The words behind `word` of each line that begins with it."""
        return [l.split()[1:] for l in self.lines[client] if l.split()[0] == word]


def work(*clients, sessions=1, trace=PLAIN, **env):
    """A run with these clients."""
    path = built("sdk_client_app")
    sdk = os.path.join(LIB, "librocprofiler-sdk.so.1")
    full = {"LD_PRELOAD": ":".join([library(c) for c in clients if c in PRELOADED] + [sdk]),
            "ROCP_TOOL_LIBRARIES": ":".join(library(c) for c in clients if c in NAMED), **env}
    if trace == PLAIN:
        full["LD_LIBRARY_PATH"] = f"{VGPU_DIR}:{LIB}"
    else:
        full["LD_LIBRARY_PATH"] = LIB
    args = [f"load={library(c)}" for c in clients if c in LOADED] + [f"client={library(c)}" for c in clients]
    r = run(path, f"sessions={sessions}", f"launches={LAUNCHES}", "copies=1", *args, trace=trace, env=full)
    contains("stdout", r.out, "done\n")
    equal("stderr", r.err, "")
    said = Said(r)
    for c in clients:
        # rtl itself has the preloaded ones, too
        equal(f"what is wrong with {c}", {l for l in said.lines[c] if l.startswith("wrong")}, {"wrong 0"})
    return said


# PAPI's has no counters to read, and so no kernels
TRACERS = tuple(c for c in ALL if c != "papi")


def gets_what_the_gpu_did(said, client):
    """Name, duration and grid of each dispatch of the session, and the bytes of each copy. Returns the dispatches' times."""
    # copies have other grids; the last dispatch is behind the session
    log = sorted((d for d in said.run.log("dispatch") if d["grid"][0] == 1024), key=lambda d: d["begin"])
    equal("dispatches of the GPU", len(log), LAUNCHES + 1)
    ns_per_tick = 1e9 / next(l["frequency_hz"] for l in said.run.log() if l["kind"] == "clock")
    kernels = sorted(said.of(client, "kernel"), key=lambda k: int(k[2]))
    at_least(f"dispatches of {client}", len(kernels), LAUNCHES)
    at_most(f"dispatches of {client}", len(kernels), LAUNCHES + 1)
    for k, d in zip(kernels, log):
        equal(f"name and grid of {client}", (k[0], k[4]), ("_Z13client_kernelPff.kd", "1024"))
        at_most(f"ns between the durations of {client} and of the GPU",
                abs(int(k[3]) - int(k[2]) - (d["end"] - d["begin"]) * ns_per_tick), 2 * ns_per_tick)
    if client != "proton":  # it wants kernels alone
        equal(f"bytes of copies of {client}", [str(COPY) in c for c in said.of(client, "copy")][:2], [True, True])
    return [(int(k[2]), int(k[3])) for k in kernels]


def each(client):
    def it():
        gets_what_the_gpu_did(work(client), client)

    it.__name__ = f"{client}_gets_what_the_gpu_did"
    return it


for name in TRACERS:
    case(each(name))


@case
def all_clients_at_once_get_what_the_gpu_did():
    said = work(*ALL)
    for client in TRACERS:
        gets_what_the_gpu_did(said, client)


@case
def all_clients_beside_rtl_trace_get_what_it_records():
    said = work(*ALL, trace=RTL)
    rows = said.run.db().execute("select begin_ns, end_ns from rtl_dispatch where grid_x = 1024 order by 1").fetchall()
    equal("dispatches in the database", len(rows), LAUNCHES + 1)
    for client in TRACERS:
        times = gets_what_the_gpu_did(said, client)
        equal(f"times of {client} and of the database", times, [tuple(row) for row in rows][:len(times)])


@case
def papi_finds_its_functions():
    said = work("papi")
    equal("lines", said.lines["papi"], ["functions 25, gpus 1, counters 1, pauses 0", "wrong 0"])


# the session's kernels; those of copies, where the runtime copies by kernels, are the log's, too
COUNTING = {"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1}


@case
def papi_counts_what_the_gpu_did_in_a_session():
    said = work("papi", PAPI_EVENTS="SQ_WAVES,SQ_INSTS_VALU", **COUNTING)
    # the last dispatch is behind the session
    log = [d for d in said.run.log("dispatch") if d["grid"][0] == 1024][:LAUNCHES]
    least = {n: sum(d["counters"][n] for d in log) for n in ("SQ_WAVES", "SQ_INSTS_VALU")}
    most = {n: sum(d["counters"][n] for d in said.run.log("dispatch")) for n in least}
    seen = {name: int(n) for name, n in said.of("papi", "event")}
    equal("counters", sorted(seen), sorted(least))
    for name, n in seen.items():
        at_least(name, n, least[name])
        at_most(name, n, most[name])
    equal("records in the buffer", [l.split()[1:] for l in said.lines["papi"] if l.startswith("buffered")], [["16", "of", "8"]])


@case
def tau_counts_each_dispatch():
    said = work("tau", TAU_METRICS="SQ_WAVES", **COUNTING)
    log = [d["counters"]["SQ_WAVES"] for d in said.run.log("dispatch") if d["grid"][0] == 1024]
    seen = [int(n) for n, in said.of("tau", "metric")]
    at_least("dispatches counted", len(seen), LAUNCHES)
    equal("their waves", [n for n in seen if n == log[0]][:LAUNCHES], log[:LAUNCHES])
    gets_what_the_gpu_did(said, "tau")


main()
