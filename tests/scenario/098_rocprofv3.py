#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl rocprofv3: the files of real programs have what the virtual GPU's log and the database have."""
import csv
import re
from collections import Counter

from support import *

KERNELS = "not flags & 32"


def front(*args, status=0, gpus=2, env=()):
    """A run of rtl rocprofv3 on the virtual GPU, whose database is kept."""
    for _ in range(4):
        folder = new_dir("front")
        r = rtl("rocprofv3", f"--virtual-gpu={gpus}", "--keep-database", *args, cwd=folder,
                env={"VGPU_LOG": os.path.join(folder, "gpu.%p.log"), "VGPU_EXEC": "auto", "RTL_STRICT": "1", **dict(env)})
        if r.status == status or not died_of_hip(r):
            break
    ended(r, status)
    found = glob.glob(os.path.join(folder, "**/rtl-rocprofv3-*.db"), recursive=True)
    r.output = found[0] if found else r.output
    return r


def file_of(r, pattern):
    found = glob.glob(os.path.join(r.dir, pattern), recursive=True)
    equal(f"files like {pattern}", len(found), 1)
    return found[0]


def read_json(path):
    with open(path, encoding="utf-8") as f:
        tool, = json.load(f)["rocprofiler-sdk-tool"]
    return tool


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


# what TraceLens reads of the JSON form, and the views of rocpd's users that this trace has rows for
NEEDED = {
    "kernel_dispatch": "start_timestamp end_timestamp thread_id correlation_id.internal stream_id.handle dispatch_info.kernel_id "
    "dispatch_info.dispatch_id dispatch_info.agent_id.handle dispatch_info.grid_size.x dispatch_info.grid_size.y "
    "dispatch_info.grid_size.z dispatch_info.workgroup_size.x dispatch_info.workgroup_size.y dispatch_info.workgroup_size.z",
    "memory_copy": "start_timestamp end_timestamp kind operation stream_id.handle",
    "hip_api": "start_timestamp end_timestamp operation thread_id",
    "hsa_api": "start_timestamp end_timestamp operation thread_id",
}
ROCPD_VIEWS = ("kernels regions region_args memory_copies memory_allocations processes threads code_objects kernel_symbols top_kernels "
               "top busy").split()
EMPTY_VIEWS = "samples scratch_memory counters_collection pmc_events".split()


def at_path(record, path):
    for key in path.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def readers_find_what_they_need(tool, rocpd):
    meta, symbols = tool["metadata"], {s["kernel_id"]: s for s in tool["kernel_symbols"]}
    agents = {a["id"]["handle"]: a for a in tool["agents"]}
    for name, paths in NEEDED.items():
        rows = tool["buffer_records"][name]
        at_least(f"rows of {name}", len(rows), 10)
        lacking = Counter(p for row in rows for p in paths.split() if not isinstance(at_path(row, p), int))
        equal(f"numbers that {name} lacks", lacking, Counter())
        # the base of the share of idle time
        outside = [r for r in rows if not meta["init_time"] <= r["start_timestamp"] <= r["end_timestamp"] <= meta["fini_time"]]
        equal(f"rows of {name} outside of the process", outside[:3], [])
    for row in tool["buffer_records"]["kernel_dispatch"]:
        symbol = symbols.get(row["dispatch_info"]["kernel_id"], {})
        if not (symbol.get("truncated_kernel_name") and symbol.get("formatted_kernel_name") and symbol.get("kernel_name")):
            fail(f"no name: {row}")
        equal("type of the kernel's agent", agents[row["dispatch_info"]["agent_id"]["handle"]]["type"], 2)
    for path in ("pid", "init_time", "fini_time", "node.hostname", "command"):
        if not at_path(meta, path):
            fail(f"metadata has no {path}: {meta}")
    ids = [r["dispatch_info"]["dispatch_id"] for r in tool["buffer_records"]["kernel_dispatch"]]
    equal("ids of two dispatches", len(ids) - len(set(ids)), 0)
    for view in ROCPD_VIEWS:
        at_least(f"rows of rocpd's view {view}", rocpd.execute(f"SELECT count(*) FROM {view}").fetchone()[0], 1)
    for view in EMPTY_VIEWS:
        equal(f"rows of rocpd's view {view}", rocpd.execute(f"SELECT count(*) FROM {view}").fetchone()[0], 0)
    nulls = rocpd.execute('SELECT count(*) FROM kernels WHERE name IS NULL OR start IS NULL OR "end" IS NULL OR agent_abs_index IS NULL OR '
                          "queue_id IS NULL OR stream_id IS NULL OR grid_x IS NULL OR workgroup_x IS NULL OR corr_id IS NULL").fetchone()
    equal("kernels without a column", nulls[0], 0)


@case
def rocprofv3s_variables_choose_the_form_of_times():
    r = front("--kernel-trace", "-f", "csv", "-o", "at-%launch_time%-%launch_date%", "--", program("launcher"), "launches=1",
              env={"ROCPROF_TIME_FORMAT": "T%Y.%M", "ROCPROF_DATE_FORMAT": "D%j", "ROCPROF_OUTPUT_PATH": "of"})
    name = os.path.basename(file_of(r, "of/at-*_kernel_trace.csv"))
    equal("its form", re.sub(r"\d", "9", name), "at-T9999.99-D999_kernel_trace.csv")


@case
def extra_counters_are_counted():
    with open(os.path.join(new_dir("extra"), "e.yaml"), "w", encoding="utf-8") as f:
        f.write("rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n    - name: TWICE\n      definitions:\n        - architectures: [gfx900]\n"
                "          expression: reduce(SQ_WAVES,sum) * 2\n")
    r = front("-E", f.name, "--pmc", "SQ_WAVES", "TWICE", "-f", "csv", "json", "-o", "x", "-d", "out", "--", program("launcher"), "launches=5", gpus=1)
    values = {}
    for row in read_csv(file_of(r, "out/x_counter_collection.csv")):
        values.setdefault(row["Dispatch_Id"], {})[row["Counter_Name"]] = float(row["Counter_Value"])
    at_least("dispatches", len(values), 5)
    equal("values that are not twice the counter's", [v for v in values.values() if v["TWICE"] != 2 * v["SQ_WAVES"] or not v["TWICE"]], [])
    counters = read_json(file_of(r, "out/x_results.json"))["counters"]
    equal("those that are derived", {c["name"]: bool(c["is_derived"]) for c in counters}, {"SQ_WAVES": False, "TWICE": True})


def functions_of(path):
    """Host functions as nm shows them: where they are in the file, by the names of their kernels."""
    out = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    return {name: int(at, 16) for at, kind, name in re.findall(r"^([0-9a-f]+) ([A-Za-z]) (\w+)$", out, re.M) if kind.upper() in "DVRB"}


@case
def functions_of_kernels_that_were_not_launched_are_listed():
    # two of its kernels are launched by their functions
    for more in ([], ["--hip-trace"]):
        r = front("--kernel-trace", *more, "-f", "json", "-d", "out", "--", program("launcher"), "launches=1", "threads=1", "streams=1")
        tool = read_json(file_of(r, "out/*/*_results.json"))
        symbols, own = tool["kernel_symbols"], functions_of(program("launcher"))
        listed = {f["device_function"]: f["host_function"]["handle"] for f in tool["host_functions"][1:]}
        equal("ids", [f["host_function_id"] for f in tool["host_functions"]], list(range(len(tool["host_functions"]))))
        equal("kernels", [symbols[f["kernel_id"]]["kernel_name"] for f in tool["host_functions"][1:]], [f"{n}.kd" for n in listed])
        kernels = {s["kernel_name"].removesuffix(".kd") for s in symbols if s["size"]} & set(own)
        launched = {symbols[d["dispatch_info"]["kernel_id"]]["kernel_name"].removesuffix(".kd")
                    for d in tool["buffer_records"]["kernel_dispatch"]}
        at_least("kernels that were not launched", len(kernels - launched), 1)
        equal("functions", set(listed), kernels)
        # one distance from the file to memory
        equal("where they are", len({at - own[name] for name, at in listed.items()}), 1)


@case
def every_function_of_a_kernel_that_many_libraries_have_is_listed():
    libraries = [os.path.join(new_dir("libraries"), f"lib{i}.so") for i in range(12)]
    for copy in libraries:
        shutil.copyfile(program("libsamekernel.so"), copy)
    r = front("--kernel-trace", "-f", "json", "-d", "out", "--", program("samekernel"), *libraries)
    functions = [int(line) for line in r.out.splitlines()]
    equal("functions of the program", len(set(functions)), len(libraries))
    tool = read_json(file_of(r, "out/*/*_results.json"))
    # a kernel's functions are those that were registered before it was loaded: each library adds one
    listed = {}
    for f in tool["host_functions"][1:]:
        listed.setdefault(f["kernel_id"], []).append(f["host_function"]["handle"])
    equal("functions of the kernels, in their order", sorted(listed.values(), key=len), [functions[:i] for i in range(1, 13)])


@case
def graphs_are_numbered_as_by_rocprofv3():
    # node i of each graph has i + 1 workgroups
    r = front("--kernel-trace", "--hip-trace", "-f", "json", "rocpd", "-d", "out", "--", program("graphs"), "threads=2", "gpus=2", "nodes=4", "launches=3")
    tool = read_json(file_of(r, "out/*/*_results.json"))
    records, kinds = tool["buffer_records"], tool["strings"]["buffer_records"]
    execs = [e for e, in r.rows("select G.graphExec from rocpd_graphapi G join rocpd_api A on A.id = G.api_ptr_id where G.graphExec like '0x_%' "
                                "order by A.end")]
    equal("executables", len(execs), 2)
    launches = r.rows("select A.correlation_id, A.tid, A.begin_ns, A.end_ns, L.graphExec from rtl_api A join rocpd_graphLaunchapi L on "
                      "L.api_ptr_id = A.api_id order by A.begin_ns, A.api_id")
    equal("launches", [(g["correlation_id"]["internal"], g["thread_id"], g["start_timestamp"], g["end_timestamp"], g["graph_exec_id"]["handle"],
                        g["kernel_dispatch_count"]) for g in records["hip_graph"]],
          [(*of_call, 1 + execs.index(made), 4) for *of_call, made in launches])
    equal("their kind", {(kinds[g["kind"]]["kind"], kinds[g["kind"]]["operations"][g["operation"]]) for g in records["hip_graph"]},
          {("HIP_GRAPH", "HIP_GRAPH_EXEC_LAUNCH")})
    made = {g["correlation_id"]["internal"]: g["graph_exec_id"]["handle"] for g in records["hip_graph"]}
    expected, seen = Counter(), Counter()
    for k in records["kernel_dispatch"]:
        exec_id = made.get(k["correlation_id"]["internal"], 0)
        groups = k["dispatch_info"]["grid_size"]["x"] // k["dispatch_info"]["workgroup_size"]["x"]
        expected[exec_id, groups - 1 if exec_id else 0] += 1
        seen[k["graph_exec_id"], k["graph_node_id"]] += 1
    equal("kernels by executable and node", seen, expected)
    equal("kernels of a node", {seen[e, n] for e in (1, 2) for n in range(4)}, {3})
    db = open_db(file_of(r, "out/*/*_results.db"))
    equal("launches in rocpd", db.execute('select E.correlation_id, T.tid, L.start, L."end", graph_exec_id, kernel_dispatch_count, E.category_id = '
                                          "(select id from rocpd_string where string = 'HIP_GRAPH') from rocpd_graph_launch L join rocpd_event E on "
                                          "E.id = L.event_id join rocpd_info_thread T on T.id = L.tid order by L.start, L.id").fetchall(),
          [(*of_call, 1 + execs.index(made), 4, 1) for *of_call, made in launches])
    equal("kernels in rocpd", {(e, n): c for e, n, c in db.execute("select graph_exec_id, graph_node_id, count(*) from rocpd_kernel_dispatch group by 1, 2")},
          dict(seen))
    equal("kernels of graphs in rtl's own table", sorted(r.rows("select exec_id, count(*) from rtl_graph_op group by 1")),
          sorted(db.execute("select graph_exec_id, sum(kernel_dispatch_count) from rocpd_graph_launch group by 1").fetchall()))
    equal("keys without a row", db.execute("pragma foreign_key_check").fetchall(), [])


@case
def three_formats_equal_log_and_database():
    r = front("-s", "--stats", "-f", "csv", "json", "rocpd", "-d", "out", "--", program("launcher"), "launches=200", "threads=2",
              "streams=2", "devices=2", "copies=3", "roctx=1")
    exact_dispatches(r)
    contains("message", r.err, "the trace is complete")
    # queues count from 1, the runtime's own behind the program's
    dispatches = r.rows("select D.begin_ns, D.end_ns, D.correlation_id, D.kernel, 1 + (select count(*) from rtl_queue P where not P.internal "
                        f"and P.queue_id < D.queue) from rtl_dispatch D where {KERNELS} order by D.begin_ns, D.op_id")
    at_least("dispatches", len(dispatches), 200)
    pid = r.value("select os_pid from rtl_process")

    tool = read_json(file_of(r, f"out/*/{pid}_results.json"))
    records, kinds = tool["buffer_records"], tool["strings"]["buffer_records"]
    symbols = tool["kernel_symbols"]
    equal("kernels whose index is not their id", [s["kernel_id"] for i, s in enumerate(symbols) if s["kernel_id"] != i and s["size"]], [])
    launched = {symbols[k["dispatch_info"]["kernel_id"]]["kernel_name"] for k in records["kernel_dispatch"]}
    equal("launched kernels without a function of the host",
          {n for n in launched if not n.startswith("__amd")} - {f["device_function"] + ".kd" for f in tool["host_functions"][1:]}, set())
    at_least("functions of the host", len(tool["host_functions"]), 2)
    agents = {a["id"]["handle"]: a for a in tool["agents"]}
    seen = [(k["start_timestamp"], k["end_timestamp"], k["correlation_id"]["internal"],
             symbols[k["dispatch_info"]["kernel_id"]]["demangled_kernel_name"], k["dispatch_info"]["queue_id"]["handle"])
            for k in records["kernel_dispatch"]]
    equal("dispatches in JSON", seen, dispatches)
    equal("numbers of graphs outside of graphs", {(o["graph_exec_id"], o["graph_node_id"]) for kind in ("kernel_dispatch", "memory_copy")
                                                  for o in records[kind]}, {(0, 0)})
    equal("GPUs in JSON", {agents[k["dispatch_info"]["agent_id"]["handle"]]["logical_node_type_id"] for k in records["kernel_dispatch"]},
          {a for a, in r.rows(f"select distinct agent from rtl_dispatch where {KERNELS}")})
    for domain in ("hip", "hsa"):
        calls = r.rows("select name, correlation_id, parent_id, begin_ns, end_ns, tid from rtl_api where domain = ? order by begin_ns, "
                       "api_id", domain)
        at_least(f"calls of {domain}", len(calls), 50)
        seen = [(kinds[c["kind"]]["operations"][c["operation"]], c["correlation_id"]["internal"], c["correlation_id"]["ancestor"],
                 c["start_timestamp"], c["end_timestamp"], c["thread_id"]) for c in records[f"{domain}_api"]]
        equal(f"{domain} calls in JSON", [s[1:] for s in seen], [c[1:] for c in calls])
        # the SDK's name of an old function has its revision
        equal(f"names of {domain} calls", {s[0].replace("R0000", "") for s in seen}, {c[0].replace("R0000", "") for c in calls})

    rocpd = sqlite3.connect(file_of(r, f"out/*/{pid}_results.db"))
    equal("dispatches in rocpd", rocpd.execute('select start, "end", corr_id, name, queue_id from kernels order by dispatch_id').fetchall(),
          dispatches)
    equal("calls in rocpd", rocpd.execute("select count(*) from regions where category like 'H%'").fetchone()[0], r.count("rtl_api"))
    equal("rows without a partner", rocpd.execute("pragma foreign_key_check").fetchall(), [])
    launches = rocpd.execute("select count(distinct K.id) from kernels K join regions R on R.corr_id = K.corr_id and R.category = "
                             "'HIP_RUNTIME_API'").fetchone()[0]
    equal("kernels whose call is known", launches, len(dispatches))
    equal("copies in rocpd", rocpd.execute('select start, "end", size from memory_copies order by start, id').fetchall(),
          r.rows("select begin_ns, end_ns, bytes from rtl_copy order by begin_ns, op_id"))
    at_least("allocations", rocpd.execute("select count(*) from memory_allocations where type = 'ALLOC' and size > 0").fetchone()[0], 1)
    equal("allocations without an agent", rocpd.execute("select count(*) from memory_allocations where type = 'ALLOC' and agent_type is "
                                                        "null").fetchone()[0], 0)
    readers_find_what_they_need(tool, rocpd)
    rocpd.close()

    rows = read_csv(file_of(r, f"out/*/{pid}_kernel_trace.csv"))
    equal("dispatches in CSV", [(int(k["Start_Timestamp"]), int(k["End_Timestamp"]), int(k["Correlation_Id"]), k["Kernel_Name"],
                                 int(k["Queue_Id"])) for k in rows], dispatches)
    stats = read_csv(file_of(r, f"out/*/{pid}_kernel_stats.csv"))
    equal("sum in kernel_stats", sum(int(s["TotalDurationNs"]) for s in stats), sum(d[1] - d[0] for d in dispatches))
    registers = {int(k["VGPR_Count"]) for k in rows}
    equal("registers", registers, {v for v, in r.rows("select distinct coalesce(Y.vgpr_count, 0) from rtl_op_kernel K join rtl_shape S on "
                                                      "S.id = K.shape_id join rtl_kernel_symbol Y on Y.id = S.kernel_id join rtl_dispatch "
                                                      "D on D.op_id = K.op_id where not D.flags & 32")})


@case
def only_what_is_asked_for_is_written():
    r = front("--kernel-trace", "-f", "csv", "json", "-o", "run", "--", program("control"), "launches=5", "rounds=1")
    equal("CSV files", sorted(os.path.basename(p) for p in glob.glob(os.path.join(r.dir, "*.csv"))),
          ["run_agent_info.csv", "run_kernel_trace.csv"])
    records = read_json(os.path.join(r.dir, "run_results.json"))["buffer_records"]
    equal("records", [name for name, rows in records.items() if rows], ["kernel_dispatch"])


@case
def kernels_are_selected_and_named():
    r = front("--kernel-trace", "-T", "-f", "csv", "-o", "run", "--kernel-include-regex", "control_on", "--", program("control"),
              "launches=5", "rounds=2")
    equal("names", {k["Kernel_Name"] for k in read_csv(os.path.join(r.dir, "run_kernel_trace.csv"))}, {"control_on"})
    equal("kernels in the database", r.rows(f"select distinct kernel from rtl_dispatch where {KERNELS}"), [("control_on",)])


@case
def each_process_has_its_files():
    launcher, ranges = program("launcher"), program("ranges")
    r = front("-r", "-f", "json", "rocpd", "--", "/bin/sh", "-c", f"'{launcher}' launches=20 && '{ranges}'")
    pids = [p for p, in r.rows("select os_pid from rtl_process order by 1")]
    equal("processes", len(pids), 2)
    total = 0
    for pid in pids:
        tool = read_json(file_of(r, f"*/{pid}_results.json"))
        equal("pid", tool["metadata"]["pid"], pid)
        total += len(tool["buffer_records"]["kernel_dispatch"])
        file_of(r, f"*/{pid}_results.db")
    equal("dispatches of all files", total, r.count("rtl_dispatch", KERNELS))


@case
def summary_goes_where_it_is_asked_to():
    r = front("-r", "-S", "--summary-output-file", "stdout", "--", program("control"), "launches=5", "rounds=1")
    contains("summary", r.out, "control_on")
    contains("summary", r.out, "hipLaunchKernel")
    equal("lines of rtl summary, which name a database that is deleted otherwise", "rtl summary:" in r.err, False)


@case
def status_of_the_program_is_kept():
    r = rtl("rocprofv3", "--kernel-trace", "--", "/bin/sh", "-c", "exit 7", cwd=new_dir("status"))
    equal("status", r.status, 7)
    contains("message", r.err, "nothing was recorded")


main()
