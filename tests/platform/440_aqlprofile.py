#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""AMD's own AQLprofile instead of the virtual GPU's: both describe the GPUs alike, and count the same."""
import ctypes
import math

from support import *
from support import counted as reference
from support import mi300

AMDS = "/usr/lib/x86_64-linux-gnu/libhsa-amd-aqlprofile64.so.1"
OURS = os.path.join(VGPU_DIR, "libhsa-amd-aqlprofile64.so")
# shader engines, compute units, dies of a product of each family in the lists; of gfx8 the library of ROCm 7 has none
PRODUCTS = {"gfx900": ("gfx900", 4, 64, 1), "gfx906": ("gfx906", 4, 64, 1), "gfx908": ("gfx908", 8, 120, 1), "gfx90a": ("gfx90a", 8, 104, 1),
            "gfx940": ("gfx942", 32, 304, 8), "gfx1030": ("gfx1030", 4, 80, 1), "gfx1100": ("gfx1100", 6, 96, 1)}


def amds_folder():
    """A folder with AMD's library under the name that HSA's runtime looks for."""
    if not os.path.exists(AMDS):
        fail(f"there is no {AMDS}: tools/userland.sh experimental setup")
    folder = new_dir("amds")
    os.symlink(AMDS, os.path.join(folder, "libhsa-amd-aqlprofile64.so"))
    return folder


# ---- the second interface, without a GPU ----------------------------------------------------------

class Handle(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_uint64)]


class Info(ctypes.Structure):
    _fields_ = [("gfxip", ctypes.c_char_p), *((n, ctypes.c_uint32) for n in ("dies", "engines", "units", "arrays"))]


class Event(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint32) for n in ("instance", "id", "flags", "block")]


class Profile(ctypes.Structure):
    _fields_ = [("agent", Handle), ("events", ctypes.POINTER(Event)), ("nr", ctypes.c_uint32)]


class Query(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("id", ctypes.c_uint32), ("instances", ctypes.c_uint32)]


COORDINATE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int] * 4, ctypes.c_char_p, ctypes.c_void_p)
BLOCK_COUNTERS, BLOCK_ID = 4, 5


class Library:
    def __init__(self, path, gpu):
        self.lib, self.agent = ctypes.CDLL(path), Handle()
        gfxip, engines, units, dies = PRODUCTS[gpu]
        info = Info(gfxip.encode(), dies, engines, units, 1 if gfxip.startswith("gfx9") else 2)
        equal(f"registering {gfxip}", self.lib.aqlprofile_register_agent(ctypes.byref(self.agent), ctypes.byref(info)), 0)

    def accepts(self, block, instance, event):
        valid = ctypes.c_bool()
        status = self.lib.aqlprofile_validate_pmc_event(self.agent, ctypes.byref(Event(instance, event, 0, block)), ctypes.byref(valid))
        return status == 0 and valid.value

    def block(self, name, number):
        """(its number, counters of an instance, instances)"""
        event, query, counters = Event(0, 0, 0, number), Query(name.encode()), ctypes.c_uint32()
        profile = Profile(self.agent, ctypes.pointer(event), 1)
        equal(f"query of {name}", self.lib.aqlprofile_get_pmc_info(ctypes.byref(profile), BLOCK_ID, ctypes.byref(query)), 0)
        equal(f"counters of {name}", self.lib.aqlprofile_get_pmc_info(ctypes.byref(profile), BLOCK_COUNTERS, ctypes.byref(counters)), 0)
        return query.id, counters.value, query.instances

    def coordinates(self, number):
        """(position, dimension, extent, coordinate, name) of the first sample of a block"""
        seen = []
        call = COORDINATE(lambda position, dim, extent, at, name, _: seen.append((position, dim, extent, at, name)) or 0)
        equal("coordinates", self.lib.aqlprofile_iterate_event_coord(self.agent, Event(0, 0, 0, number), ctypes.c_uint64(0), call, None), 0)
        return seen


@case
def lists_of_counters_are_what_amds_library_accepts():
    """Blocks, counters of a block and each event on each instance, of all families that the product has a list of."""
    equal("families", sorted({r["gpu"] for r in reference.table("blocks.csv")} - {"gfx8"}), sorted(PRODUCTS))
    for gpu in PRODUCTS:
        amds = Library(AMDS, gpu)
        blocks = {r["name"]: r for r in reference.table("blocks.csv") if r["gpu"] == gpu}
        for name, r in blocks.items():
            number, counters, instances = amds.block(name, int(r["id"]))
            equal(f"{gpu} {name}", (number, counters), (int(r["id"]), int(r["counters"])))
            # those of the second interface are the units that the product has; events may name the ones that it lacks, which count nothing
            at_least(f"instances of {gpu} {name} in the list", int(r["instances"]), instances)
            refused = [i for i in range(int(r["instances"])) if not amds.accepts(number, i, 0)]
            equal(f"instances of {gpu} {name} that are refused", refused, [])
        events = [r for r in reference.table("counters.csv") if r["gpu"] == gpu]
        at_least(f"counters of {gpu}", len(events), 20)
        equal(f"counters of {gpu} that are refused",
              [r["name"] for r in events if not amds.accepts(int(blocks[r["block"]]["id"]), 0, int(r["event"]))], [])


@case
def both_libraries_describe_the_gpus_alike():
    for gpu in ("gfx900", "gfx90a", "gfx940"):
        amds, ours = Library(AMDS, gpu), Library(OURS, gpu)
        for r in reference.table("blocks.csv"):
            if r["gpu"] == gpu:
                number = int(r["id"])
                equal(f"{gpu} {r['name']}", ours.block(r["name"], number), amds.block(r["name"], number))
                equal(f"coordinates of {gpu} {r['name']}", ours.coordinates(number), amds.coordinates(number))
                for instance in range(40):
                    equal(f"{gpu} {r['name']}[{instance}]", ours.accepts(number, instance, 1), amds.accepts(number, instance, 1))


# ---- counting -------------------------------------------------------------------------------------

@case
def packets_of_both_interfaces_count_the_same():
    path, folder = os.path.join(BUILD, "tests/vgpu/aqlprofile_test"), amds_folder()
    for what in ("counts", "second_amd"):
        runs = {lib: run(path, what, cwd=os.path.dirname(path), env={"VGPU_EXEC": "auto", "LD_LIBRARY_PATH": lib, "LD_DEBUG": "files"})
                for lib in (folder, VGPU_DIR)}
        for lib, r in runs.items():
            contains("the library that was loaded", r.err, f"calling init: {lib}/libhsa-amd-aqlprofile64.so\n")
        at_least("counters", len(runs[folder].out.splitlines()), 36)
        equal(f"what {what} printed", runs[folder].out, runs[VGPU_DIR].out)


def all_counters(gpu, library, command=("reference", "rounds=1"), kernels=None, step=1):
    """{(kernel, counter): {(engine, instance): value}} of the kernels, and {kernel: counts in the log}"""
    names = [r["name"] for r in reference.table("counters.csv") if r["gpu"] == ("gfx940" if gpu == "gfx942" else gpu)][::step]
    values, logs = collections.defaultdict(dict), {}
    for some in filter(None, (names[:200], names[200:])):  # --pmc takes 256
        r = run("/usr/bin/env", f"LD_LIBRARY_PATH={library}", "LD_DEBUG=files", program(command[0]), *command[1:], trace=RTL,
                rtl_args=("-q", "--passes=replay", "--pmc", ",".join(some)), timeout=120,
                env={"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, "VGPU_ARCH": gpu})
        contains("the library that was loaded", r.err, f"calling init: {library}/libhsa-amd-aqlprofile64.so\n")
        complete(r)
        logged = {(d["begin"], d["end"]): d["counters"] for d in r.log("dispatch")}
        of = {op: k for op, k in r.db().execute("select op_id, kernel from rtl_dispatch") if k in (kernels or ()) or not kernels and k.startswith("ref_")}
        for op, begin, end in r.db().execute("select op_id, begin_ticks, end_ticks from rtl_dispatch"):
            if op in of:
                logs[of[op]] = logged[begin, end]
        for op, name, engine, instance, value in r.db().execute("select op_id, counter, sample, instance, value from rtl_counter_sample"):
            if op in of:
                values[of[op], name][engine, instance] = value
    equal("kernels and counters", len(values), len(kernels or range(reference.KERNELS)) * len(names))
    return values, logs


def both_count_the_same(gpu, least):
    ours, _ = all_counters(gpu, VGPU_DIR)
    amds, logs = all_counters(gpu, amds_folder())
    at_least("counters", len(amds) / reference.KERNELS, least)
    for key, parts in amds.items():
        equal(f"parts of {key}", ours[key], parts)
        equal(f"sum of {key}", sum(parts.values()), reference.total(logs[key[0]], key[1], gpu))


@case
def each_counter_of_gfx900_is_the_same_and_the_logs():
    both_count_the_same("gfx900", 31)


@case
def each_counter_of_gfx90a_is_the_same_and_the_logs():
    both_count_the_same("gfx90a", 260)


@case
def each_counter_of_gfx942_is_the_same_die_by_die():
    rest = (("mi300", mi300.write_code(new_dir("code"))), mi300.KERNELS, 1 if LONG else 4)
    ours, _ = all_counters("gfx942", VGPU_DIR, *rest)
    amds, logs = all_counters("gfx942", amds_folder(), *rest)
    at_least("counters", len(amds) / len(mi300.KERNELS), 257 if LONG else 65)
    for key, parts in amds.items():
        equal(f"parts of {key}", ours[key], parts)
        equal(f"dies of {key}", len(parts) % 8, 0)
        if key[1] in logs[key[0]]:
            equal(f"sum of {key}", sum(parts.values()), logs[key[0]][key[1]])


@case
def tools_of_rocprofiler_sdk_count_through_it():
    names = ("SQ_WAVES", "SQ_INSTS_SALU", "GRBM_GUI_ACTIVE")
    folder = amds_folder()
    r = run("flood", "threads=2", "count=60", "kinds=dscbnBw", "gpus=2", "ring=2", gpus=2, env={
        "VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, "LD_LIBRARY_PATH": f"{folder}:{LIB}", "LD_PRELOAD": built("libsdk_counter_tool_1.so", HIP_HEADERS),
        "HSA_TOOLS_LIB": os.path.join(LIB, "librocprofiler-sdk.so.1"), "COUNT_NAMES": ",".join(names), "LD_DEBUG": "files"})
    contains("the library that was loaded", r.err, f"calling init: {folder}/libhsa-amd-aqlprofile64.so\n")
    rows = [dict(zip(w[::2], w[1::2])) for w in map(str.split, r.out.splitlines()) if w[:1] == ["counted"]]
    equal("dispatches", len(rows), int(re.search(r"(\d+) dispatches", r.out)[1]))
    have = collections.Counter(tuple(float(row[n]) for n in names) for row in rows)
    want = collections.Counter(tuple(d["counters"][n] for n in names) for d in r.log("dispatch") if "counters" in d)
    equal("counted, and not in the log", have - want, collections.Counter())


@case
def tools_of_rocprofiler_v1_count_through_it():
    folder, output = amds_folder(), os.path.join(new_dir("tool"), "seen")
    names = ("SQ_WAVES", "SQ_INSTS_SALU", "TCC_HIT_sum", "GRBM_GUI_ACTIVE")
    r = run("reference", "rounds=1", env={
        "VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, "LD_LIBRARY_PATH": f"{folder}:{LIB}", "LD_DEBUG": "files", "ROCP_HSA_INTERCEPT": 2,
        "HSA_TOOLS_LIB": os.path.join(LIB, "librocprofiler64.so.1"), "ROCP_TOOL_LIB": os.path.join(BUILD, "tests/librocprofiler_tool.so"),
        "TOOL_OUTPUT": output, "TOOL_NAMES": ",".join(names), "TOOL_ROUND": reference.KERNELS})
    contains("the library that was loaded", r.err, f"calling init: {folder}/libhsa-amd-aqlprofile64.so\n")
    with open(output, encoding="utf-8") as f:
        rows = [dict(w.partition("=")[::2] for w in line.split("\t") if "=" in w) for line in f if line.startswith("dispatch\t")]
    equal("dispatches", len(rows), reference.KERNELS)
    logged = [d["counters"] for d in r.log("dispatch")]
    for row in rows:
        if not any(all(math.isclose(float(row[n]), log[n.removesuffix("_sum")]) for n in names) for log in logged):
            fail(f"{row} is not in the log")


main()
