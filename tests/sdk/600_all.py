#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All kinds at once: callbacks, records, the database and the virtual GPU's log have the same calls and operations.

Of calls the arguments, too; and each function of HIP and HSA that the runtimes have is called once.
"""
import csv
import functools
from collections import Counter

from support import *

ABIS = (0, 1)
NONE, ENTER, EXIT = range(3)
CALLS = ("HIP_RUNTIME_API", "HIP_COMPILER_API", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
         "MARKER_CORE_API", "MARKER_CONTROL_API", "MARKER_NAME_API", "RCCL_API")
# callbacks that come once, and kinds whose records differ from them: docs/compat/rocprofiler-sdk.md
# the SDK's name of a function whose arguments have changed later
REVISED = {"hipGetDeviceProperties": "hipGetDevicePropertiesR0000", "hipChooseDevice": "hipChooseDeviceR0000"}
INSTANTS = ("HIP_STREAM", "HIP_GRAPH", "RUNTIME_INITIALIZATION", "CODE_OBJECT")


class Seen:
    """What the tool wrote."""

    def __init__(self, path):
        self.calls, self.records, self.refused, self.lost = [], [], [], 0
        self.args, self.record_args = {}, {}  # id -> {name: text}
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                word, *rest = line.split()
                if word in ("args", "rargs"):
                    (self.args if word == "args" else self.record_args)[int(rest[0])] = dict(
                        a.split("=", 1) for a in line.rstrip("\n").split("\t")[1:])
                elif word == "call":
                    self.calls.append((rest[0], rest[1], *(int(n) for n in rest[2:])))
                elif word == "record":
                    self.records.append((rest[0], rest[1], *(int(n) for n in rest[2:])))
                elif word == "refused":
                    self.refused.append(tuple(rest))
                else:
                    self.lost += int(rest[0])

    def of(self, *kinds):
        return [c for c in self.calls if c[0] in kinds]


def traced(abi, name, *args, **more):
    program = built(name)
    tool = os.path.join(BUILD, "tests", f"libsdk_all_tool_{abi}.so")
    env = {"ROCP_TOOL_LIBRARIES": tool, "ALL_TOOL_OUT": "seen.txt", "LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}", "VGPU_EXEC": "auto",
           "LD_PRELOAD": os.path.join(LIB, f"librocprofiler-sdk.so.{abi}"), **more}
    r = run(program, *args, trace=RTL, gpus=2, rtl_args=("-q", "--hsa", "--internal"), env=env)
    ended(r, 0)
    seen = Seen(os.path.join(r.dir, "seen.txt"))
    equal("lost", seen.lost, 0)
    return r, seen


def each_call_begins_and_ends_once(seen):
    """In the order of each thread: calls nest, and end with the operation with which they began."""
    open_calls, ids = {}, Counter()
    for kind, operation, phase, id_, thread, _ in seen.of(*CALLS):
        stack = open_calls.setdefault(thread, [])
        if phase == ENTER:
            stack.append((kind, operation, id_))
            ids[id_] += 1
        else:
            equal("end", (phase, stack.pop() if stack else None), (EXIT, (kind, operation, id_)))
    equal("calls that did not end", {t: s for t, s in open_calls.items() if s}, {})
    equal("ids of two calls", [i for i, n in ids.items() if n > 1], [])


def records_equal_callbacks(seen):
    for kind in CALLS:
        ends = Counter((c[1], c[3], c[4]) for c in seen.of(kind) if c[2] == EXIT)
        for name in (kind, kind + "_EXT"):
            mine = Counter((r[1], r[2], r[3]) for r in seen.records if r[0] == name)
            if mine or name == kind:
                equal(f"records of {name} that callbacks lack", mine - ends, Counter())
                equal(f"callbacks of {name} without a record", ends - mine, Counter())
    for r in seen.records:
        if r[0] in CALLS and not 0 < r[4] <= r[5]:
            fail(f"times of {r}")
    for kind, end in (("KERNEL_DISPATCH", "KERNEL_DISPATCH_COMPLETE"), ("MEMORY_COPY", None)):
        ends = Counter(c[3] for c in seen.of(kind) if (c[1] == end if end else c[2] == EXIT))
        mine = Counter(r[2] for r in seen.records if r[0] == kind)
        equal(f"ids of records of {kind}", mine, ends)


@functools.cache
def numbered(abi):
    """The functions that this ABI of the SDK has numbers for, with the types that they return."""
    with open(os.path.join(SOURCE, "codegen/models/sdk/operations.csv"), encoding="utf-8") as f:
        return {row["name"]: row["returns"] for row in csv.DictReader(f) if str(abi) in row["abis"]}


@functools.cache
def table_of(abi):
    """The table of each of these functions."""
    with open(os.path.join(SOURCE, "codegen/models/sdk/operations.csv"), encoding="utf-8") as f:
        return {row["name"]: row["table"] for row in csv.DictReader(f) if str(abi) in row["abis"]}


def calls_equal_the_database(r, seen, abi):
    """The recorder leaves out what a library calls of its own, within a call of the same API."""
    ends = {c[3]: c for c in seen.of(*CALLS) if c[2] == EXIT}
    # not shown: what comes when tools have been finalised
    last = max(x[5] for x in seen.records if x[0] in CALLS)
    rows = r.rows("SELECT correlation_id, name, status FROM rtl_api WHERE domain IN ('hip', 'hsa') AND begin_ns <= ?", last)
    rows = [(i, REVISED.get(name, name), status) for i, name, status in rows]
    rows = [row for row in rows if row[1] in numbered(abi)]
    # the database adds a number to each id: docs/formats/database.md
    added = min(row[0] for row in rows) - min(i for i, c in ends.items() if c[1] in {row[1] for row in rows})
    wrong = []
    for i, name, status in rows:
        call = ends.get(i - added)
        # not all functions return a status
        has_status = numbered(abi)[name] in ("hipError_t", "hsa_status_t")
        if call and (call[1] != name or (has_status and call[5] != status)):
            wrong.append((i - added, name, status, call))
    equal("calls whose name or result differ", wrong[:5], [])
    lacking = [(i - added, name) for i, name, _ in rows if i - added not in ends]
    equal("recorded calls that the tool was not shown", Counter(n for _, n in lacking), Counter())
    return added


def operations_equal_database_and_log(r, seen, added, abi):
    kernels = [(x[2] + added, x[4], x[5]) for x in seen.records if x[0] == "KERNEL_DISPATCH"]
    # the runtime's own, by which it copies code, are not shown to tools
    rows = r.rows("SELECT correlation_id, begin_ns, end_ns FROM rtl_dispatch WHERE kernel NOT LIKE '[runtime kernel%'")
    equal("times of dispatches", Counter(x[1:] for x in kernels), Counter(tuple(x[1:]) for x in rows))
    ids = [x[0] for x in kernels if x[0] - added]
    if abi:
        # of HSA's store to the doorbell, whose parent is the call that the trace names; that call's own where another
        # thread has submitted the packet
        stores = dict(r.rows("SELECT correlation_id, parent_id FROM rtl_api WHERE domain = 'hsa' AND name LIKE 'hsa_signal_%store_%'"))
        at_least("dispatches with the id of a store", sum(i in stores for i in ids), 10)
        ids = [stores.get(i) or i for i in ids]
    equal("their ids", Counter(ids), Counter(x[0] for x in rows if x[0]))
    equal("dispatches of the log", len(r.log("dispatch")), r.count("rtl_dispatch"))


# ---- arguments ----

@functools.cache
def enumerators():
    with open(os.path.join(BUILD, "gen/names_enums_gen.c"), encoding="utf-8") as f:
        return {name: int(value) for name, value in re.findall(r'\{ "(\w+)", (-?\d+) \}', f.read())}


def split_args(text):
    """The database's `name=value, name=value`: {name: value} of what the program passed, without what pointers lead to."""
    out, depth, quoted, begin = {}, 0, False, 0
    for i, c in enumerate(text + ","):
        if c == '"' and (i == 0 or text[i - 1] != "\\"):
            quoted = not quoted
        elif not quoted and c in "{}":
            depth += 1 if c == "{" else -1
        elif not quoted and not depth and c == ",":
            name, _, value = text[begin:i].strip().partition("=")
            out[name] = value
            begin = i + 1
    return out


def numbers(text):
    """The numbers of a value; None: it has something else. Members of the SDK's structures have names, the last one comes first."""
    words = re.findall(r"(?:\w+=)?([\w.+-]+)", text)
    words = list(reversed(words)) if re.search(r"[xyz]=", text) else words
    try:
        return [float(w) if re.search(r"^-?\d+\.|^-?\d+e", w) else int(w, 0) for w in words]
    except ValueError:
        return None


def same_value(recorded, shown):
    """Whether both texts are of one value."""
    if recorded in ("NULL", "0x0") and shown in ("0", "(null)", "{handle=0}", "handle=0"):
        return True
    if recorded in ("true", "false"):
        return shown in (recorded, str(int(recorded == "true")))
    if recorded.startswith('"'):
        return recorded == shown or "\\" in recorded or not shown.startswith('"')
    if recorded in enumerators():
        return shown == str(enumerators()[recorded]) or recorded.endswith(shown)
    a, b = numbers(recorded), numbers(shown)
    if a is None or b is None:
        return False
    # flags and sizes of 32 and 64 bits
    return a == b or [x % 2**32 for x in a if x == int(x)] == [x % 2**32 for x in b if x == int(x)]


def arguments_equal_the_database(r, seen, added):
    wrong, compared = [], 0
    for i, name, args in r.rows("SELECT correlation_id, name, args FROM rtl_api WHERE domain IN ('hip', 'hsa') AND args != ''"):
        shown = seen.args.get(i - added)
        for arg, value in split_args(args).items() if shown else ():
            if arg in shown:
                compared += 1
                if not same_value(value, shown[arg]):
                    wrong.append((name, arg, value, shown[arg]))
    equal("arguments that differ: recorded, shown", wrong[:20], [])
    return compared


def arguments_of_records_equal_callbacks(seen):
    for id_, args in seen.record_args.items():
        shown = {n: v for n, v in seen.args[id_].items() if not v.startswith('"')}
        equal(f"arguments of record {id_}", {n: v for n, v in args.items() if n in shown}, shown)
    return len(seen.record_args)


@case
def all_kinds_agree_with_trace_and_log():
    for abi in ABIS:
        r, seen = traced(abi, "hipmix", "threads=2", "streams=2", "rounds=1", "burst=5")
        at_least("operations of calls", len({(c[0], c[1]) for c in seen.of(*CALLS)}), 60)
        each_call_begins_and_ends_once(seen)
        records_equal_callbacks(seen)
        added = calls_equal_the_database(r, seen, abi)
        operations_equal_database_and_log(r, seen, added, abi)
        at_least("arguments compared", arguments_equal_the_database(r, seen, added), 2000)
        at_least("records with arguments", arguments_of_records_equal_callbacks(seen), 300 if abi else 0)


@case
def client_of_roctracer_the_tool_and_the_trace_have_the_same_times():
    """A tick of the GPU is a nanosecond: roctracer's times, which the runtime makes, are rounded otherwise with longer ones."""
    for abi in ABIS:
        r, seen = traced(abi, "hip_client", "launches=20", VGPU_CLOCK_HZ=1000000000)
        contains("what roctracer's client says", r.out, "\nwrong 0\n")
        words = [line.split() for line in r.out.splitlines()]
        mine = Counter((int(w[1]), int(w[2])) for w in words if w[0] == "dispatch")
        equal("dispatches of roctracer's client", mine.total(), 20)
        # copies by kernels have other grids; two kernels follow the client's stop
        rows = r.rows("SELECT begin_ns, end_ns FROM rtl_dispatch WHERE grid_x = 64 ORDER BY 1 LIMIT 20")
        equal("times of the client and of the database", mine, Counter(map(tuple, rows)))
        tools = Counter(x[4:6] for x in seen.records if x[0] == "KERNEL_DISPATCH")
        equal("dispatches of the client that the tool lacks", mine - tools, Counter())
        equal("dispatches of the tool", tools.total(), r.count("rtl_dispatch", "kernel NOT LIKE '[runtime kernel%'"))


@case
def what_code_registers_is_shown_with_its_arguments():
    for abi in ABIS:
        r, seen = traced(abi, "sdk_registers")
        equal("stdout", r.out, "12\n" * 2)
        each_call_begins_and_ends_once(seen)
        records_equal_callbacks(seen)
        calls = [c for c in seen.of("HIP_COMPILER_API") if c[2] == EXIT]
        names = sorted((c[1], seen.args[c[3]].get("deviceName", seen.args[c[3]].get("deviceVar", seen.args[c[3]].get("name", ""))))
                       for c in calls if c[1].startswith("__hipRegister"))
        equal(f"registered, ABI {abi}", names, [
            ("__hipRegisterFatBinary", ""), ("__hipRegisterFunction", '"registered"'), ("__hipRegisterManagedVar", '"managed_value"'),
            ("__hipRegisterSurface", '"a_surface"'), ("__hipRegisterTexture", '"a_texture"'), ("__hipRegisterVar", '"constant_value"'),
            ("__hipRegisterVar", '"device_value"')])
        sizes = {seen.args[c[3]]["size"] for c in calls if c[1] in ("__hipRegisterVar", "__hipRegisterManagedVar")}
        equal("sizes of variables", sizes, {"4"})
        # each belongs to the code that was registered first
        modules = {seen.args[c[3]]["modules"] for c in calls if "modules" in seen.args[c[3]]}
        equal("codes", len(modules), 1)
        equal("other calls", Counter(c[1] for c in calls if not c[1].startswith("__hipReg")),
              Counter(["__hipPushCallConfiguration", "__hipPopCallConfiguration", "__hipUnregisterFatBinary"]))
        # they are no calls of the program, and none is missed for what the runtime submits in them
        complete(r)
        equal("in the trace", r.count("rtl_api", "name LIKE '__hip%egister%'"), 0)


# ---- each function ----

def left_out(domain):
    with open(os.path.join(SOURCE, "tests/sdk/empty_left_out.csv"), encoding="utf-8") as f:
        rows = [line.split(",") for line in f if not line.startswith("#")]
    return [row[1] for row in rows if row[0] == domain and (USERLAND or "native") in row[2].split()]


def outermost(seen, kinds):
    """The calls of the thread that makes most of them which are not within others: [(name, result)] in the order of their ends."""
    thread = Counter(c[4] for c in seen.of(*CALLS)).most_common(1)[0][0]
    out, depth = [], 0
    for kind, name, phase, _, at, result in seen.of(*CALLS):
        if at != thread:
            continue
        depth += 1 if phase == ENTER else -1
        if phase == EXIT and not depth and kind in kinds:
            out.append((name, result))
    return out


def every_function(domain):
    abi = 1
    listed = os.path.join(new_dir("left_out"), "list")
    with open(listed, "w", encoding="ascii") as f:
        f.write("\n".join(left_out(domain)) + "\n")
    r, seen = traced(abi, "sdk_empty_calls", domain, listed)
    each_call_begins_and_ends_once(seen)
    records_equal_callbacks(seen)
    lines = [line.split() for line in r.out.splitlines()]
    there = [(REVISED.get(l[0], l[0]), l[1], l[-1]) for l in lines if l[1] != "is" and REVISED.get(l[0], l[0]) in numbered(abi)]
    called = [(name, result) for name, what, result in there if what == "="]
    shown = outermost(seen, [k for k in CALLS if k.startswith(domain.upper())])
    # the program has used the runtime before
    begin = [n for n, _ in shown].index(called[0][0])
    shown = shown[begin:begin + len(called)]
    equal("functions in the order of their calls", [n for n, _ in shown], [n for n, _ in called])
    equal("results that differ", [(s, c) for s, c in zip(shown, called) if c[1] != "none" and str(s[1]) != c[1]], [])
    added = calls_equal_the_database(r, seen, abi)
    compared = arguments_equal_the_database(r, seen, added)
    arguments_of_records_equal_callbacks(seen)
    tables = table_of(abi)
    for table in sorted({tables[name] for name, _, _ in there}):
        mine = [what for name, what, _ in there if tables[name] == table]
        print(f"    {table}: {mine.count('=')} of {len(mine)} functions that the runtime has")
    print(f"    {compared} arguments compared")
    # hipmix and sdk_registers call some of those with arguments
    equal("left out, not in the list", {n for n, what, _ in there if what == "left"} - set(left_out(domain)), set())
    at_least("functions", len(called), {"hip": 370, "hsa": 180}[domain])


@case
def each_function_of_hip_is_shown_once_with_its_result():
    every_function("hip")


@case
def each_function_of_hsa_is_shown_once_with_its_result():
    every_function("hsa")


main()
