#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rocprofv3's formats: keys, columns, schema, and every value equal to the database; with traces of spool.py"""
import contextlib
import ctypes
import csv
import gzip
import json
import re
import shlex
import sqlite3

from support import spool
from support.cli import *

API = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
STATS = ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage", "MinNs", "MaxNs", "StdDev"]
COLUMNS = {
    "kernel_trace": ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
                     "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
                     "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z",
                     "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"],
    "hip_api_trace": API, "hsa_api_trace": API, "marker_api_trace": API,
    "memory_copy_trace": ["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id",
                          "Start_Timestamp", "End_Timestamp"],
    "memory_allocation_trace": ["Kind", "Operation", "Agent_Id", "Allocation_Size", "Address", "Correlation_Id",
                                "Start_Timestamp", "End_Timestamp"],
    **{f"{name}_stats": STATS for name in ("kernel", "hip_api", "hsa_api", "marker_api", "memory_copy",
                                           "memory_allocation", "domain")},
}
# members of rocprofv3's JSON, in its order
PROCESS = ["metadata", "agents", "counters", "strings", "code_objects", "kernel_symbols", "host_functions", "summary",
           "callback_records", "buffer_records"]
STRINGS = ["callback_records", "buffer_records", "marker_api", "correlation_id", "counters", "pc_sample_instructions",
           "pc_sample_comments", "att_filenames", "code_object_snapshot_filenames"]
RECORDS = ["kernel_dispatch", "hip_api", "hsa_api", "marker_api", "rccl_api", "memory_copy", "memory_allocation",
           "scratch_memory", "rocdecode_api", "rocjpeg_api", "pc_sample_host_trap", "pc_sample_stochastic", "hip_graph"]
DISPATCH = ["size", "kind", "operation", "thread_id", "correlation_id", "start_timestamp", "end_timestamp",
            "dispatch_info", "stream_id", "graph_exec_id", "graph_node_id"]
DISPATCH_INFO = ["size", "agent_id", "queue_id", "kernel_id", "dispatch_id", "private_segment_size",
                 "group_segment_size", "workgroup_size", "grid_size"]
CALL = ["size", "kind", "operation", "correlation_id", "start_timestamp", "end_timestamp", "thread_id"]
HIP_CALL = [*CALL, "args", "retval", "stream_id"]
SYMBOL = ["size", "kernel_id", "code_object_id", "kernel_name", "kernel_object", "kernarg_segment_size", "kernarg_segment_alignment",
          "group_segment_size", "private_segment_size", "sgpr_count", "arch_vgpr_count", "accum_vgpr_count",
          "formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name"]
OF_RANGES = 1 << 31  # ranges have correlation ids from here on

ODD = "_Z3odd\"quoted\", 'single'\n\ttab \u00fc\u6f22\U0001f600 \\"


class Formats(Case):
    def database(self, trace, name="t"):
        trace.write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", name + ".rtl", "-o", name + ".db", "--force")
        return name + ".db"

    def sql(self, name, query, *args):
        with sqlite3.connect(f"file:{self.path(name)}?mode=ro", uri=True) as db:
            return db.execute(query, args).fetchall()

    def convert(self, name, form, out, *options, **kwargs):
        return self.rtl("convert", name, "-f", form, "-o", out, *options, **kwargs)

    def json(self, name, out="r.json"):
        self.convert(name, "rocprofv3-json", out, "--force")
        return self.read_json(out)

    def read_json(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            root = json.load(file)
        self.assertEqual(list(root), ["rocprofiler-sdk-tool"])
        self.assertEqual(len(root["rocprofiler-sdk-tool"]), 1)
        return root["rocprofiler-sdk-tool"][0]

    def rows(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def dispatches(self, name):
        """What the database has of each dispatch of the program, in the order of all three formats. Queues count from 1 there."""
        return self.sql(name, "select begin_ns, end_ns, correlation_id, queue + 1, kernel, grid_x, grid_y, grid_z, group_x, group_y, "
                        "group_z from rtl_dispatch where not flags & 32 order by begin_ns, op_id")

    def rocpd(self, name, out="r.db"):
        self.convert(name, "rocpd3", out, "--force")
        self.assertEqual(self.sql(out, "pragma integrity_check"), [("ok",)])
        self.assertEqual(self.sql(out, "pragma foreign_key_check"), [])
        return out


class Csv(Formats):
    def test_columns_and_rows_equal_database(self):
        name = self.database(spool.calls())
        self.convert(name, "rocprofv3-csv", "x")
        files = [f for f in self.files() if f.endswith(".csv")]
        self.assertEqual(files, sorted(f"x_{t}.csv" for t in (*COLUMNS, "agent_info")))
        for table, columns in COLUMNS.items():
            with open(self.path(f"x_{table}.csv"), encoding="utf-8") as file:
                self.assertEqual(next(csv.reader(file)), columns, table)
        kernels = [tuple(int(r[c]) if c != "Kernel_Name" else r[c] for c in (
            "Start_Timestamp", "End_Timestamp", "Correlation_Id", "Queue_Id", "Kernel_Name", "Grid_Size_X", "Grid_Size_Y",
            "Grid_Size_Z", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z")) for r in self.rows("x_kernel_trace.csv")]
        self.assertEqual(kernels, self.dispatches(name))
        for domain in ("hip", "hsa"):
            seen = [(r["Function"], int(r["Correlation_Id"]), int(r["Start_Timestamp"]), int(r["End_Timestamp"]),
                     int(r["Thread_Id"]), int(r["Process_Id"])) for r in self.rows(f"x_{domain}_api_trace.csv")]
            self.assertEqual(seen, self.sql(name, "select name, correlation_id, begin_ns, end_ns, tid, pid from rtl_api where "
                                            "domain = ? order by begin_ns, api_id", domain))
        seen = [(int(r["Start_Timestamp"]), int(r["End_Timestamp"]), int(r["Correlation_Id"])) for r in self.rows("x_memory_copy_trace.csv")]
        self.assertEqual(seen, self.sql(name, "select begin_ns, end_ns, correlation_id from rtl_copy order by begin_ns, op_id"))
        seen = [(r["Function"], int(r["Start_Timestamp"]), int(r["End_Timestamp"])) for r in self.rows("x_marker_api_trace.csv")]
        self.assertEqual(seen, self.sql(name, "select message, begin_ns, end_ns from rtl_marker order by begin_ns, marker_id"))

    def test_force_removes_tables_of_an_earlier_run_alone(self):
        """A table without rows has no file: what has its name, and is none of rtl's, stays."""
        name, table = self.database(spool.sample(3)), "x_memory_allocation_trace.csv"
        for text, target in (("mine\n", None), ("\"Kind\"", "other"), ("\"Kind\",\"Operation\"\n", None), ("", None)):
            path = self.path(target or table)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            if target:
                os.symlink(target, self.path(table))
            is_own = not target and text != "mine\n"
            p = self.convert(name, "rocprofv3-csv", "x", "--force", status=0 if is_own else 1)
            self.assertEqual("is left alone" in p.stderr, not is_own, text)
            self.assertEqual(os.path.lexists(self.path(table)), not is_own, text)
            self.assertEqual(os.path.exists(path), not is_own, text)
            if not is_own:
                os.unlink(self.path(table))

    def test_statistics_equal_sums_of_rows(self):
        name = self.database(spool.calls())
        self.convert(name, "rocprofv3-csv", "x")
        for table, key in (("kernel", "Kernel_Name"), ("hip_api", "Function"), ("marker_api", "Function"),
                           ("memory_copy", "Direction"), ("memory_allocation", "Operation")):
            durations = {}
            for r in self.rows(f"x_{table}_trace.csv"):
                durations.setdefault(r[key], []).append(int(r["End_Timestamp"]) - int(r["Start_Timestamp"]))
            total = sum(map(sum, durations.values()))
            stats = self.rows(f"x_{table}_stats.csv")
            self.assertEqual({r["Name"] for r in stats}, set(durations), table)
            for r in stats:
                d = durations[r["Name"]]
                mean = sum(d) / len(d)
                deviation = (sum((x - mean) ** 2 for x in d) / (len(d) - 1)) ** .5 if len(d) > 1 else 0
                self.assertEqual((int(r["Calls"]), int(r["TotalDurationNs"]), int(r["MinNs"]), int(r["MaxNs"])),
                                 (len(d), sum(d), min(d), max(d)), table)
                for column, value in (("AverageNs", mean), ("Percentage", sum(d) * 100 / total), ("StdDev", deviation)):
                    self.assertAlmostEqual(float(r[column]), value, delta=abs(value) * 1e-9 + 1e-6, msg=(table, column))
        self.assertEqual({r["Name"]: int(r["Calls"]) for r in self.rows("x_domain_stats.csv")},
                         {"KERNEL_DISPATCH": 10, "MEMORY_COPY": 4, "MARKER_API": 3, "HIP_API": 14, "HSA_API": 10,
                          "MEMORY_ALLOCATION": 1})

    def test_agents(self):
        self.convert(self.database(spool.calls()), "rocprofv3-csv", "x")
        agents = self.rows("x_agent_info.csv")
        self.assertEqual(len(agents[0]), 53)
        self.assertEqual(list(agents[0])[:4] + list(agents[0])[-4:],
                         ["Node_Id", "Logical_Node_Id", "Agent_Type", "Cpu_Cores_Count", "Name", "Vendor_Name", "Product_Name", "Model_Name"])
        self.assertEqual([(a["Agent_Type"], a["Name"], a["Cu_Count"], a["Gfx_Target_Version"]) for a in agents],
                         [("CPU", "cpu", "0", "0"), ("GPU", "gfx900", "64", "90000"), ("GPU", "gfx900", "64", "90000")])

    def test_target_version_has_the_digits_of_the_name(self):
        s = spool.Spool()
        versions = {"gfx803": 80003, "gfx90a": 90010, "gfx942": 90402, "gfx1030": 100300, "gfx1036": 100306, "gfx1151": 110501, "gfx1201": 120001}
        s.agent(gpu=False, name="cpu")
        for name in (*versions, "gfx", "gfx9-generic"):
            s.agent(name=name)
        self.convert(self.database(s), "rocprofv3-csv", "x")
        self.assertEqual({a["Name"]: int(a["Gfx_Target_Version"]) for a in self.rows("x_agent_info.csv")}, {"cpu": 0, **versions, "gfx": 0, "gfx9-generic": 0})

    def test_successful_allocations_have_size_and_address(self):
        self.convert(self.database(spool.calls()), "rocprofv3-csv", "x")
        self.assertEqual([(r["Operation"], r["Allocation_Size"], r["Address"]) for r in self.rows("x_memory_allocation_trace.csv")],
                         [("MEMORY_ALLOCATION_ALLOCATE", str(1 << 20), "0xdead0000")])


class Json(Formats):
    def test_keys_are_those_of_rocprofv3(self):
        tool = self.json(self.database(spool.calls()))
        self.assertEqual(list(tool), PROCESS)
        self.assertEqual(list(tool["strings"]), STRINGS)
        records = tool["buffer_records"]
        self.assertEqual(list(records), RECORDS)
        self.assertEqual(list(tool["callback_records"]), ["counter_collection"])
        for r in records["kernel_dispatch"]:
            self.assertEqual(list(r), DISPATCH)
            self.assertEqual(list(r["dispatch_info"]), DISPATCH_INFO)
            self.assertEqual(list(r["correlation_id"]), ["internal", "external"])
        for r in records["hip_api"] + records["hsa_api"] + records["marker_api"]:
            self.assertEqual(list(r), HIP_CALL if r["kind"] in (5, 6) else CALL)
            self.assertEqual(list(r["correlation_id"]), ["internal", "external", "ancestor"])
        for s in tool["kernel_symbols"]:
            self.assertEqual(list(s), SYMBOL)
        self.assertLessEqual({"pid", "init_time", "fini_time", "command", "node", "config"}, set(tool["metadata"]))

    def test_arrays_are_indexed_by_ids(self):
        """Entry N is the kernel N, with placeholders at 0 and in gaps; so are code objects and functions of the host. Readers index them."""
        tool = self.json(self.database(spool.calls()))
        for key, of in (("kernel_symbols", "kernel_id"), ("code_objects", "code_object_id"), ("host_functions", "host_function_id")):
            for i, entry in enumerate(tool[key]):
                self.assertIn(entry[of], (i, 0) if entry["size"] == 0 else (i,), key)
            self.assertEqual(tool[key][0]["size"], 0, key)
        for r in tool["buffer_records"]["kernel_dispatch"]:
            self.assertEqual(tool["kernel_symbols"][r["dispatch_info"]["kernel_id"]]["truncated_kernel_name"], "vadd")
        self.assertEqual([(f["kernel_id"], f["host_function"]["handle"], f["device_function"], f["truncated_host_function_name"])
                          for f in tool["host_functions"][1:]], [(1, 0x4000, "_Z4vaddPfS_S_i", "vadd")])

    def test_functions_of_the_host_are_the_registered_ones_or_those_of_launches(self):
        """A kernel has each of its functions, launched or not. Databases from before that column, and damaged ones, have those of launches."""
        name = self.database(spool.calls())

        def functions():
            return [(f["host_function_id"], f["kernel_id"], f["host_function"]["handle"]) for f in self.json(name)["host_functions"][1:]]

        def change(sql):
            with contextlib.closing(sqlite3.connect(self.path(name))) as db:
                db.execute(sql)
                db.commit()

        self.assertEqual(functions(), [(1, 1, 0x4000)])
        change("UPDATE rtl_kernel_symbol SET host_functions = '4096,16384' WHERE kernel_id = 1")
        self.assertEqual(functions(), [(1, 1, 4096), (2, 1, 0x4000)])
        change("UPDATE rtl_kernel_symbol SET host_functions = '4096,\"'")
        self.assertEqual(functions(), [(1, 1, 0x4000)])
        change("ALTER TABLE rtl_kernel_symbol DROP COLUMN host_functions")
        self.assertEqual(functions(), [(1, 1, 0x4000)])

    def test_calls_have_arguments_results_and_streams(self):
        tool = self.json(self.database(spool.calls()))
        ops = tool["strings"]["buffer_records"][5]["operations"]
        self.assertEqual([[a["type"] for a in r["args"]] for r in tool["buffer_records"]["hip_api"][:1]], [["void**", "unsigned long", "void*"]])
        types = {(ops[r["operation"]], a["name"]): a["type"] for r in tool["buffer_records"]["hip_api"] for a in r["args"]}
        self.assertEqual({n: types["hipMemcpyAsync", n] for n in ("src", "kind", "stream")},
                         {"src": "void const*", "kind": "hipMemcpyKind", "stream": "ihipStream_t*"})
        calls = [(ops[r["operation"]], {a["name"]: a["value"] for a in r["args"]}, r["retval"]["uint64_t_retval"], r["stream_id"]["handle"])
                 for r in tool["buffer_records"]["hip_api"]]
        self.assertEqual(calls[:2], [("hipMalloc", {"ptr": "0x7000", "size": "1048576", "*ptr": "0xdead0000"}, 0, 0),
                                     ("hipMalloc", {"ptr": "0x7000", "size": str(1 << 50), "*ptr": "0x0"}, 2, 0)])
        self.assertEqual([c[3] for c in calls if c[0] == "hipLaunchKernel"], [0, 1] * 5)
        self.assertEqual([c[1]["kind"] for c in calls if c[0] == "hipMemcpyAsync"], ["hipMemcpyHostToDevice"])

    def test_a_stream_has_one_number_for_its_lifetime(self):
        """A handle that is used again is another stream; one whose making was not recorded is one, too; the default stream is 0."""
        trace = spool.calls()
        make = trace.op(901, "hipStreamCreateWithFlags", "stream:p,flags:u,*stream:h")
        end = trace.op(902, "hipStreamDestroy", "stream:h:stream")
        copy = trace.op(903, "hipMemcpyAsync", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
        at = trace.start + 100_000
        for i, handle in enumerate((0x55AA, 0x77, 0x77, 0x55AA)):
            begin = at + i * 1000
            trace.api(make, begin, begin + 10, (0x7000, 0, handle))
            own = trace.api(copy, begin + 20, begin + 30, (0x1, 0x2, 100 + i, 1, handle))
            trace.copy(begin + 40, begin + 50, 100 + i, correlation=own)
            trace.api(end, begin + 60, begin + 70, (handle,))
        name = self.database(trace)
        tool, out = self.json(name), self.rocpd(name)
        self.convert(name, "rocprofv3-csv", "x")
        numbers = [2, 3, 4, 5]
        records = tool["buffer_records"]
        self.assertEqual([r["stream_id"]["handle"] for r in records["memory_copy"] if r["bytes"] in range(100, 104)], numbers)
        self.assertEqual({r["stream_id"]["handle"] for r in records["kernel_dispatch"]}, {0, 1})
        ops = tool["strings"]["buffer_records"][5]["operations"]
        self.assertEqual([r["stream_id"]["handle"] for r in records["hip_api"] if ops[r["operation"]] == "hipStreamDestroy"], numbers)
        self.assertEqual(self.sql(out, "select stream_id from memory_copies where size between 100 and 103 order by start"), [(n,) for n in numbers])
        self.assertEqual(self.sql(out, "select distinct A.stream_id from stream_args A join regions R on R.event_id = A.event_id where R.name "
                                  "= 'hipStreamDestroy' order by 1"), [(n,) for n in numbers])
        self.assertEqual(sorted({int(r["Stream_Id"]) for r in self.rows("x_memory_copy_trace.csv")}), [0, 1, *numbers])
        # Perfetto's format names them by the same numbers
        self.convert(name, "rocprofv3-pftrace", "x.pftrace")
        with open(self.path("x.pftrace"), "rb") as file:
            data = file.read()
        self.assertEqual(sorted(set(re.findall(rb"stream (\d+)", data))), [b"%d" % n for n in (0, 1, *numbers)])
        self.assertNotRegex(data, rb"stream \d+ \(")

    def test_what_tracelens_reads(self):
        """It takes the first process; names by kernel_id; the length from init_time and fini_time."""
        name = self.database(spool.calls())
        tool = self.json(name)
        symbols = {s["kernel_id"]: s["truncated_kernel_name"] or s["formatted_kernel_name"] or s["kernel_name"]
                   for s in tool["kernel_symbols"]}
        agents = {a["id"]["handle"]: a for a in tool["agents"]}
        for r in tool["buffer_records"]["kernel_dispatch"]:
            info = r["dispatch_info"]
            self.assertEqual(symbols[info["kernel_id"]], "vadd")
            self.assertEqual(agents[info["agent_id"]["handle"]]["type"], 2)
            self.assertEqual((info["grid_size"], info["workgroup_size"]), ({"x": 1024, "y": 1, "z": 1}, {"x": 256, "y": 1, "z": 1}))
            self.assertIn(r["stream_id"]["handle"], (0, 1))
            self.assertTrue(tool["metadata"]["init_time"] <= r["start_timestamp"] <= r["end_timestamp"] <= tool["metadata"]["fini_time"])
        self.assertEqual([r["dispatch_info"]["dispatch_id"] for r in tool["buffer_records"]["kernel_dispatch"]], list(range(1, 11)))

    def test_lds_is_what_the_kernel_declares_in_blocks_of_512_bytes(self):
        """Not what its launches had; in the records of dispatches is what they had."""
        name = self.database(spool.calls())
        with sqlite3.connect(self.path(name)) as db:
            db.execute("UPDATE rtl_kernel_symbol SET group_size = 600")
            db.execute("UPDATE rtl_shape SET group_size = 5000")
            db.execute("INSERT INTO rocpd_counter (value, op_id, name_id) SELECT 1, min(op_id), (SELECT min(id) FROM rocpd_string) FROM rtl_op_kernel")
        tool = self.json(name)
        counted = tool["callback_records"]["counter_collection"]
        self.assertEqual({(c["dispatch_data"]["dispatch_info"]["group_segment_size"], c["lds_block_size_v"]) for c in counted}, {(5000, 1024)})
        self.convert(name, "rocprofv3-csv", "x")
        for table in ("kernel_trace", "counter_collection"):
            with open(self.path(f"x_{table}.csv"), encoding="utf-8", newline="") as file:
                self.assertEqual({row["LDS_Block_Size"] for row in csv.DictReader(file)}, {"1024"})

    def test_records_equal_database(self):
        name = self.database(spool.calls())
        tool = self.json(name)
        records, kinds = tool["buffer_records"], tool["strings"]["buffer_records"]
        symbols = {s["kernel_id"]: s["demangled_kernel_name"] for s in tool["kernel_symbols"]}
        seen = [(r["start_timestamp"], r["end_timestamp"], r["correlation_id"]["internal"], r["dispatch_info"]["queue_id"]["handle"],
                 symbols[r["dispatch_info"]["kernel_id"]], *r["dispatch_info"]["grid_size"].values(),
                 *r["dispatch_info"]["workgroup_size"].values()) for r in records["kernel_dispatch"]]
        self.assertEqual(seen, self.dispatches(name))
        for domain in ("hip", "hsa"):
            seen = [(kinds[r["kind"]]["operations"][r["operation"]], r["correlation_id"]["internal"], r["correlation_id"]["ancestor"],
                     r["start_timestamp"], r["end_timestamp"], r["thread_id"]) for r in records[f"{domain}_api"]]
            self.assertEqual(seen, self.sql(name, "select name, correlation_id, parent_id, begin_ns, end_ns, tid from rtl_api "
                                            "where domain = ? order by begin_ns, api_id", domain))
        messages = {m["key"]: m["value"] for m in tool["strings"]["marker_api"]}
        seen = [(messages[r["correlation_id"]["internal"]], r["start_timestamp"], r["end_timestamp"]) for r in records["marker_api"]]
        self.assertEqual(seen, self.sql(name, "select message, begin_ns, end_ns from rtl_marker order by begin_ns, marker_id"))
        seen = [(r["start_timestamp"], r["end_timestamp"], r["correlation_id"]["internal"], r["bytes"],
                 kinds[r["kind"]]["operations"][r["operation"]]) for r in records["memory_copy"]]
        self.assertEqual(seen, self.sql(name, "select begin_ns, end_ns, correlation_id, bytes, case kind when 'Fill' then 'FILL' else "
                                        "'MEMORY_COPY_HOST_TO_DEVICE' end from rtl_copy order by begin_ns, op_id"))
        # a kernel's external id is that of the range around it
        self.assertEqual({messages[r["correlation_id"]["external"]] for r in records["kernel_dispatch"]}, {"step"})

    def test_numbers_of_operations_are_the_sdks(self):
        kinds = self.json(self.database(spool.calls()))["strings"]["buffer_records"]
        self.assertEqual([kinds[i]["kind"] for i in (1, 2, 5, 6, 7, 10, 11, 16)],
                         ["HSA_CORE_API", "HSA_AMD_EXT_API", "HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API", "MEMORY_COPY",
                          "KERNEL_DISPATCH", "MEMORY_ALLOCATION"])
        self.assertEqual(kinds[5]["operations"][:3], ["hipApiName", "hipArray3DCreate", "hipArray3DGetDescriptor"])
        self.assertEqual(kinds[7]["operations"][0], "roctxMarkA")

    def test_unknown_functions_follow_the_known_ones(self):
        trace = spool.calls()
        op = trace.op(900, "hipOfTomorrow", "")
        for i in range(3):
            trace.api(op, trace.start + 90_000 + i, trace.start + 90_001 + i)
        tool = self.json(self.database(trace))
        kinds = tool["strings"]["buffer_records"]
        names = [kinds[r["kind"]]["operations"][r["operation"]] for r in tool["buffer_records"]["hip_api"]]
        self.assertEqual(names[-3:], ["hipOfTomorrow"] * 3)
        self.assertEqual(kinds[5]["operations"][-1], "hipOfTomorrow")

    def test_gz_is_compressed(self):
        self.convert(self.database(spool.calls()), "rocprofv3-json", "r.json.gz")
        with gzip.open(self.path("r.json.gz"), "rt", encoding="utf-8") as file:
            self.assertEqual(list(json.load(file)), ["rocprofiler-sdk-tool"])


class Rocpd(Formats):
    def test_agents_have_the_members_that_they_have_in_json(self):
        name = self.database(spool.calls())
        agents = self.json(name)["agents"]
        rows = self.sql(self.rocpd(name), "select id, extdata from rocpd_info_agent order by id")
        self.assertEqual([i for i, _ in rows], [a["logical_node_id"] + 1 for a in agents])
        for (_, extdata), agent in zip(rows, agents):
            own = json.loads(extdata)
            self.assertEqual(own.pop("handle"), agent["id"]["handle"])
            del own["uuid"]
            self.assertEqual(own, agent)

    def test_tables_and_views_are_those_of_schema_3(self):
        out = self.rocpd(self.database(spool.calls()))
        guid = dict(self.sql(out, "select tag, value from rocpd_metadata"))
        self.assertEqual(guid["schema_version"], "3")
        self.assertEqual(guid["uuid"], "_" + guid["guid"].replace("-", "_"))
        expected = {}
        with open(os.path.join(SOURCE, "tests/support/rocpd3_schema.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                expected.setdefault((row["kind"], row["table"].replace("<uuid>", guid["uuid"])), []).append(row)
        self.assertEqual(set(self.sql(out, "select type, name from sqlite_master where type in ('table', 'view') and name not like "
                                      "'sqlite%'")), set(expected))
        for (kind, table), rows in expected.items():
            seen = self.sql(out, f'pragma table_info("{table}")')
            self.assertEqual([(r[1], r[2]) for r in seen], [(r["column"], r["type"]) for r in rows], table)
            if kind == "table":
                self.assertEqual([(bool(r[3]), bool(r[5])) for r in seen],
                                 [(r["null"] == "NOT NULL", r["pk"] == "PK") for r in rows], table)
                references = {r["column"]: r["references"].replace("<uuid>", guid["uuid"]) for r in rows if r["references"]}
                keys = {k[3]: f"{k[2]}.{k[4]}" for k in self.sql(out, f'pragma foreign_key_list("{table}")')}
                self.assertEqual(keys, references, table)
            else:
                self.sql(out, f'select * from "{table}"')

    def test_rows_equal_database(self):
        name = self.database(spool.calls())
        out = self.rocpd(name)
        self.assertEqual(self.sql(out, 'select start, "end", corr_id, queue_id, name, grid_x, grid_y, grid_z, workgroup_x, workgroup_y, '
                                  "workgroup_z from kernels order by dispatch_id"), self.dispatches(name))
        self.assertEqual(self.sql(out, "select dispatch_id, duration, agent_type, region from kernels order by 1")[0], (1, 500, "GPU", "step"))
        self.assertEqual(self.sql(out, "select name, corr_id, parent_stack_id, start, \"end\", tid, pid from regions where category like 'H%' "
                                  "order by start, corr_id"),
                         self.sql(name, "select name, correlation_id, parent_id, begin_ns, end_ns, tid, pid from rtl_api order by begin_ns, "
                                  "correlation_id"))
        self.assertEqual(self.sql(out, "select name, json_extract(extdata, '$.message'), start, \"end\" from regions where category = "
                                  "'MARKER_CORE_API' order by start, id"),
                         self.sql(name, "select message, message, begin_ns, end_ns from rtl_marker order by begin_ns, marker_id"))
        self.assertEqual(self.sql(out, 'select start, "end", corr_id, size from memory_copies order by start, id'),
                         self.sql(name, "select begin_ns, end_ns, correlation_id, bytes from rtl_copy order by begin_ns, op_id"))
        self.assertEqual(self.sql(out, "select type, address, size from memory_allocations"), [("ALLOC", 0xDEAD0000, 1 << 20)])

    def test_arguments_are_rows(self):
        out = self.rocpd(self.database(spool.calls()))
        self.assertEqual(self.sql(out, "select arg_name, arg_value from events_args where event_id = (select event_id from regions "
                                  "where name = 'hipMemcpyAsync') order by arg_position"),
                         [("dst", "0x1"), ("src", "0x2"), ("sizeBytes", "4096"), ("kind", "hipMemcpyHostToDevice"), ("stream", "0x55aa")])
        self.assertEqual(self.sql(out, "select count(*) from region_args A join regions R on R.id = A.id where R.name = "
                                  "'hipMemcpyAsync'"), [(5,)])
        self.assertEqual({s for s, in self.sql(out, "select stream_name from stream_args where arg_value = '0x55aa'")}, {"Stream 1"})

    def test_summaries_answer(self):
        out = self.rocpd(self.database(spool.calls()))
        self.assertEqual(self.sql(out, "select * from top_kernels"), [("vadd(float*, float*, float*, int)", 10, 5000, 500.0, 100.0)])
        self.assertAlmostEqual(sum(p for p, in self.sql(out, "select percentage from top")), 100)
        self.assertEqual(self.sql(out, "select agent_id, type, GpuTime from busy"), [(2, "GPU", 3800), (3, "GPU", 2500)])

    def test_two_files_are_attached_and_read_as_one(self):
        spool.calls(500).write(self.path("a.rtl"))
        spool.calls(501).write(self.path("b.rtl"))
        for name in "ab":
            self.convert(name + ".rtl", "rocpd3", name + ".db")
        with sqlite3.connect(self.path("a.db")) as db:
            db.execute("attach ? as other", (self.path("b.db"),))
            tables = [t for t, in db.execute("select name from other.sqlite_master where type = 'table' and name like 'rocpd_%'")]
            self.assertFalse(set(tables) & {t for t, in db.execute("select name from main.sqlite_master")})
            total = db.execute("select count(*), count(distinct guid) from (select guid from main.kernels union all select guid from "
                               "other.kernels)").fetchone()
        self.assertEqual(total, (20, 2))

    def test_same_trace_gives_same_file(self):
        name = self.database(spool.calls())
        dumps = []
        for out in ("1.db", "2.db"):
            with sqlite3.connect(self.path(self.rocpd(name, out))) as db:
                dumps.append(list(db.iterdump()))
        self.assertEqual(*dumps)


class Names(Formats):
    """Odd texts, several processes, no processes."""

    def odd(self):
        trace = spool.sample(4, names=(ODD, "_Z1fi"))
        for text in (ODD, "", "a,b\r\n", "\x01\x7f"):
            trace.marker(trace.start + 80_000, text, kind=spool.MARK)
        return trace

    def test_odd_texts_survive(self):
        name = self.database(self.odd())
        texts = self.sql(name, "select message from rtl_marker order by begin_ns, marker_id")
        kernels = {k for k, in self.sql(name, "select distinct kernel from rtl_dispatch where not flags & 32")}
        self.assertIn(ODD, {t for t, in texts})
        tool = self.json(name)
        self.assertEqual([(m["value"],) for m in tool["strings"]["marker_api"]], texts)
        used = {r["dispatch_info"]["kernel_id"] for r in tool["buffer_records"]["kernel_dispatch"]}
        self.assertEqual({s["demangled_kernel_name"] for s in tool["kernel_symbols"] if s["kernel_id"] in used}, kernels)
        self.convert(name, "rocpd3", "r.db")
        self.assertEqual(self.sql("r.db", "select name from regions order by start, id"), texts)
        self.assertEqual({k for k, in self.sql("r.db", "select distinct name from kernels")}, kernels)
        self.convert(name, "rocprofv3-csv", "x")
        # what a terminal acts on is replaced in CSV
        self.assertEqual([r["Function"] for r in self.rows("x_marker_api_trace.csv")], [re.sub("[\x01\x7f\r]", "?", t) for t, in texts])

    def test_marker_of_ten_megabytes(self):
        text = "m\u00fc\"\n" * (10 << 20 >> 2)
        trace = spool.sample(2)
        trace.marker(trace.start + 80_000, text, kind=spool.MARK)
        name = self.database(trace)
        stored, = self.sql(name, "select message from rtl_marker order by length(message) desc limit 1")[0]
        tool = self.json(name)
        self.assertEqual(max((m["value"] for m in tool["strings"]["marker_api"]), key=len), stored)
        self.convert(name, "rocpd3", "r.db")
        self.assertEqual(self.sql("r.db", "select name, json_extract(extdata, '$.message') from regions order by length(name) desc limit 1"),
                         [(stored, stored)])

    def test_empty_trace_has_all_keys_and_views(self):
        trace = spool.Spool(77)
        trace.info("host", "node1")
        name = self.database(trace)
        tool = self.json(name)
        self.assertEqual(list(tool), PROCESS)
        self.assertEqual({k: v for k, v in tool["buffer_records"].items() if v}, {})
        self.assertEqual(tool["metadata"]["pid"], 77)
        self.convert(name, "rocpd3", "r.db")
        self.assertEqual(self.sql("r.db", "select count(*) from kernels"), [(0,)])
        self.assertEqual(self.sql("r.db", "select * from top"), [])
        self.assertEqual(self.sql("r.db", "select * from busy"), [])
        self.convert(name, "rocprofv3-csv", "x")
        self.assertEqual([f for f in self.files() if f.startswith("x_")], ["x_agent_info.csv"])

    def two(self):
        spool.calls(1234, rank=0).write(self.path("a.rtl"))
        spool.sample(20, pid=4321, rank=1).write(self.path("b.rtl"))
        self.rtl("merge", "-q", "-o", "m.db", "a.rtl", "b.rtl")
        return "m.db"

    def test_each_process_has_its_files(self):
        name = self.two()
        for form, names in (("rocprofv3-json", ["d/node1/1234_results.json", "d/node1/4321_results.json"]),
                            ("rocpd3", ["d/node1/1234_results.db", "d/node1/4321_results.db"])):
            p = self.convert(name, form, "d/")
            self.assertIn("2 files written", p.stderr)
            for n in names:
                self.assertTrue(os.path.exists(self.path(n)), n)
        whole = self.dispatches(name)
        seen = []
        for pid in (1234, 4321):
            tool = self.read_json(f"d/node1/{pid}_results.json")
            self.assertEqual(tool["metadata"]["pid"], pid)
            records = tool["buffer_records"]["kernel_dispatch"]
            seen += [(r["start_timestamp"], r["end_timestamp"], r["correlation_id"]["internal"]) for r in records]
            self.assertEqual(self.sql(f"d/node1/{pid}_results.db", "select count(*) from kernels"), [(len(records),)])
            self.assertEqual(self.sql(f"d/node1/{pid}_results.db", "select pid from processes"), [(pid,)])
        self.assertEqual(sorted(seen), sorted(d[:3] for d in whole))

    def test_keys_of_rocprofv3_stand_for_the_process(self):
        """The sample's command is "./app --n 1", its clock begins at 1,790,000,000 s."""
        name = self.database(spool.calls())
        at = self.sql(name, "select start_ns from rtl_process")[0][0] - spool.calls().start
        for pattern, seen in (("%tag%-%pid%", "app-4242"), ("{tag}.%args%", "app.--n_1"), ("%argv%", "app_--n_1"), ("%argt%", "app--n_1"),
                              ("%arg1%_%arg2%", "--n_1"), ("a%arg9%b", "ab"), ("%launch_date%", "2026-09-21"), ("%launch_time%", "2026-09-21_14.13"),
                              ("%env{X}%{x}%tagg%", "v{x}%tagg%")):
            p = self.convert(name, "rocprofv3-json", pattern + ".json", "--force", env={"TZ": "UTC", "X": "v"})
            seen = seen.replace("4242", str(self.sql(name, "select os_pid from rtl_process")[0][0]))
            self.assertIn(seen + ".json", self.files(), (pattern, at, p.stderr))

    def test_patterns_stand_for_the_process(self):
        name = self.two()
        self.convert(name, "rocprofv3-json", "%hostname%-%rank%.json")
        self.assertEqual([f for f in self.files() if f.endswith(".json")], ["node1-0.json", "node1-1.json"])
        self.convert(name, "rocprofv3-csv", "same")
        self.assertIn("same_1234_kernel_trace.csv", self.files())
        self.assertIn("same_4321_kernel_trace.csv", self.files())
        self.assertEqual(len(self.rows("same_4321_kernel_trace.csv")), 20)

    def test_existing_files_are_kept(self):
        name = self.two()
        os.makedirs(self.path("d/node1"))
        with open(self.path("d/node1/4321_results.json"), "w", encoding="ascii") as file:
            file.write("mine")
        p = self.convert(name, "rocprofv3-json", "d/", status=1)
        self.assertIn("--force", p.stderr)
        self.assertEqual(os.listdir(self.path("d/node1")), ["4321_results.json"])
        self.convert(name, "rocprofv3-json", "d/", "--force")
        self.read_json("d/node1/4321_results.json")

    def test_stdout_and_files_of_rpd_are_refused(self):
        name = self.two()
        self.assertIn("-o DIR", self.convert(name, "rocpd3", "-", status=1).stderr)
        with sqlite3.connect(self.path("rpd.db")) as db:
            db.executescript("create table rocpd_op(id, gpuId, queueId, sequenceId, start, end, description_id, opType_id); create table "
                             "rocpd_api(id, pid, tid, start, end, apiName_id, args_id); create table rocpd_string(id, string); create "
                             "table rocpd_api_ops(id, api_id, op_id)")
        for form in ("rocprofv3-csv", "rocprofv3-json", "rocpd3"):
            self.assertIn("database of RPD", self.convert("rpd.db", form, "y", status=1).stderr)

    def test_incomplete_trace_is_written_and_named(self):
        trace = spool.sample(20)
        trace.loss("disk_full", 3)
        name = self.database(trace)
        for form, out in (("rocprofv3-json", "r.json"), ("rocpd3", "r.db"), ("rocprofv3-csv", "x")):
            self.assertIn("incomplete", self.convert(name, form, out).stderr)
        self.assertEqual(len(self.read_json("r.json")["buffer_records"]["kernel_dispatch"]), 20)
        self.assertEqual(self.sql("r.db", "select count(*) from kernels"), [(20,)])

    def test_inverted_times_are_unchanged(self):
        trace = spool.sample(0)
        trace.dispatch(1, 0, trace.start + 9000, trace.start + 8000)
        name = self.database(trace)
        record, = self.json(name)["buffer_records"]["kernel_dispatch"]
        self.assertEqual((record["start_timestamp"], record["end_timestamp"]), (trace.start + 9000, trace.start + 8000))


class Front(Formats):
    """rtl rocprofv3: what it refuses. No program runs."""

    LACKS = 121

    def front(self, *args, **kwargs):
        return self.rtl("rocprofv3", *args, **kwargs)

    def known(self):
        """(names, kind of value) of each option of rocprofv3."""
        with open(os.path.join(SOURCE, "tests/support/rocprofv3_options.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield row["option"].split(), row["values"]

    def test_every_option_of_rocprofv3_is_known(self):
        count = 0
        for names, values in self.known():
            for name in names:
                value = () if values in ("flag", "bool", "hidden") else ("1",)
                p = self.front("--kernel-trace", "--echo", name, *value, "--", "./none", status=None)
                self.assertNotIn("unknown option", p.stderr, name)
                # without a GPU there is no list of its counters
                self.assertIn(p.returncode, (0, self.LACKS, 125, 1 if name in ("-L", "--list-avail") else 0), (name, p.stderr))
                if p.returncode == self.LACKS:
                    text = next(n for n in reversed(names) if n.startswith("--"))
                    self.assertRegex(p.stderr, r"--[\w-]+: .{20}", text)
                elif p.returncode == 125:  # a value that is not one of its own
                    self.assertIn("1", p.stderr)
                count += 1
        self.assertGreater(count, 110)

    def test_what_rtl_lacks_is_refused_before_the_program_runs(self):
        for args, part in ((("--spm-beta-enabled",), "counters"), (("--att",), "instructions"),
                           (("-p", "123"), "rtl start"), (("--rocshmem-trace",), "--kernel-trace")):
            p = self.front("-r", *args, "--", "/bin/sh", "-c", "echo ran", status=self.LACKS)
            self.assertIn(part, p.stderr, args)
            self.assertEqual(p.stdout, "")
        self.assertEqual(self.files(), [])

    def test_list_of_counters_is_that_of_list_counters(self):
        ours, theirs = self.front("-L", status=None), self.rtl("list-counters", status=None)
        self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (theirs.returncode, theirs.stdout, theirs.stderr))

    def test_switches_take_a_value(self):
        line = self.front("--kernel-trace", "true", "--hsa-trace", "False", "--pmc-x", "--", "a", status=125).stderr
        self.assertIn("unknown option", line)
        line = self.front("--kernel-trace", "true", "--rccl-trace=false", "--hsa-trace", "yes", "--echo", "--", "a").stdout
        self.assertIn("--hsa", line)
        line = self.front("-s", "no", "--kernel-trace", "--echo", "--", "a").stdout
        self.assertNotIn("--hsa", line)
        self.assertIn("true or false", self.front("--kernel-trace", "./app", status=125).stderr)

    def test_options_become_those_of_rtl_trace(self):
        out = self.front("-r", "--kernel-include-regex", "a", "b", "--kernel-exclude-regex", "c", "-P", "1:20:3", "0:5:0",
                         "--collection-period-unit", "msec", "--profile-mpi-ranks", "0,2", "--selected-regions", "-d", "res", "-o", "%rank%-x",
                         "-f", "csv", "json", "csv", "--echo", "--", "./app", "--its", "own").stdout.splitlines()
        trace = shlex.split(out[0])
        for option, value in (("--kernels", "a|b"), ("--not-kernels", "c"), ("--ranks", "0,2"), ("--trace-start", "off"),
                              ("--period", "0.001000000:0.020000000:3 0.000000000:0.005000000:0")):
            self.assertEqual(trace[trace.index(option) + 1], value)
        self.assertEqual(trace[-4:], ["--", "./app", "--its", "own"])
        self.assertEqual([shlex.split(line)[-3:] for line in out[1:]],
                         [["rocprofv3-csv", "-o", "res/%rank%-x"], ["rocprofv3-json", "-o", "res/%rank%-x"]])

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def lines(self, *args, **kwargs):
        """The words of each command line that rtl rocprofv3 would run."""
        return [shlex.split(line) for line in self.front(*args, "--echo", "--", "./app", "-x", **kwargs).stdout.splitlines()]

    def test_input_files_in_json_and_yaml_have_options(self):
        self.write("a.json", json.dumps({"jobs": [{
            "kernel_trace": True, "hsa_trace": False, "output_directory": "d", "output_file": "o", "output_format": ["csv", "pftrace"],
            "kernel_include_regex": "a|b", "collection_period": ["1:2:3"], "truncate_kernels": None, "pmc": []}]}))
        self.write("a.yaml", "# a job\njobs:\n  - kernel_trace: true\n    hsa_trace: false\n    output_directory: d\n    output_file: o\n"
                             "    output_format: [csv, pftrace]\n    kernel-include-regex: a|b\n    collection_period:\n      - 1:2:3\n")
        expected = self.lines("--kernel-trace", "--output-directory", "d", "-o", "o", "-f", "csv", "pftrace", "--kernel-include-regex", "a|b",
                              "-P", "1:2:3")
        self.assertEqual([line[-3:] for line in expected[1:]], [["rocprofv3-csv", "-o", "d/o"], ["rocprofv3-pftrace", "-o", "d/o"]])
        for name in ("a.json", "a.yaml"):
            found = self.lines("-i", name)
            self.assertEqual([w for w in found[0] if "rtl-rocprofv3" not in w], [w for w in expected[0] if "rtl-rocprofv3" not in w])
            self.assertEqual([line[-3:] for line in found[1:]], [line[-3:] for line in expected[1:]])

    def test_input_files_as_rocprofv3s_own_tests_have_them(self):
        """Empty expressions and names are none; ranges are lists of texts, of lists, a text; each of pmc_groups is a job; off is off."""
        self.write("a.json", json.dumps({"jobs": [{
            "pmc": ["A"], "kernel_include_regex": "", "kernel_exclude_regex": "", "output_file": "", "kernel_iteration_range": "[1, [3-4]]",
            "advanced_thread_trace": False, "minimum_output_data": 0}]}))
        trace = self.lines("-i", "a.json")[0]
        self.assertNotIn("--kernels", trace)
        self.assertNotIn("--not-kernels", trace)
        self.assertEqual(trace[trace.index("--pmc-iterations") + 1], "[1, [3-4]]")
        self.write("a.yaml", "jobs:\n  - pmc_groups: [[A, B], [C], D]\n    kernel_iteration_range: [1, [3-4]]\n")
        found = [line for line in self.lines("-i", "a.yaml") if line[1] == "trace"]
        self.assertEqual([line[line.index("--pmc") + 1] for line in found], ["A,B", "C", "D"])
        self.assertEqual({line[line.index("--pmc-iterations") + 1] for line in found}, {"1,[3-4]"})
        # traces have all launches, as rocprofv3's
        self.assertNotIn("--pmc-iterations", self.lines("--kernel-trace", "--kernel-iteration-range", "[1-2]")[0])

    def test_anchors_and_merged_mappings_of_yaml(self):
        self.write("a.yaml", "common: &c\n  output_format: [csv]\n  kernel_trace: true\njobs:\n  - <<: *c\n    output_directory: one\n"
                             "  - \"pmc\": &names [A, B]\n    <<: [*c]\n    output_format: [json]\n    output_file: >-\n      long\n  - pmc: *names\n")
        self.write("libyaml-0.so.2", "")
        self.assertIn("a.yaml:1: this part of YAML needs libyaml-0.so.2 (package libyaml-0-2): '&c'",
                      self.front("-i", "a.yaml", "--", "true", status=125, env={"LD_LIBRARY_PATH": self.dir}).stderr)
        found = self.lines("-i", "a.yaml")
        self.assertEqual([line[line.index("--pmc") + 1] for line in found if "--pmc" in line], ["A,B", "A,B"])
        self.assertEqual([line[3:] for line in found if line[1] == "convert"],
                         [["-f", "rocprofv3-csv", "-o", "one/pass_1/%hostname%/%pid%"], ["-f", "rocprofv3-json", "-o", "./pass_2/long"],
                          ["-f", "rocpd3", "-o", "./pass_3/%hostname%/%pid%"]])
        # a key stands once: the mapping's own, then that of the first mapping that it merges; of its own the last
        self.write("a.yaml", "a: &a {pmc: [A], output_file: a, output_format: [csv]}\nb: &b {pmc: [B], hsa_trace: true, <<: *a}\n"
                             "jobs:\n  - <<: [*a, *b]\n    output_file: own\n  - <<: *b\n    output_file: one\n    output_file: two\n")
        found = self.lines("-i", "a.yaml")
        self.assertEqual([line[line.index("--pmc") + 1] for line in found if "--pmc" in line], ["A", "B"])
        self.assertEqual([line.count("--hsa") for line in found if line[1] == "trace"], [1, 1])
        self.assertEqual([line[-1] for line in found if line[1] == "convert"], ["./pass_1/own", "./pass_2/two"])
        # aliases of aliases: 10^9 values
        self.write("a.yaml", "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)) +
                   "jobs:\n  - pmc: *a9\n")
        self.front("-i", "a.yaml", "--", "true", status=125)

    def test_each_job_of_an_input_file_runs_the_program(self):
        self.write("a.yaml", "jobs:\n  - kernel_trace: true\n    output_directory: d\n  - hip_trace: true\n    output_file: own\n")
        found = self.lines("-i", "a.yaml", "-f", "json")
        self.assertEqual([line[-1] for line in found if line[1] == "convert"], ["d/pass_1/%hostname%/%pid%", "./pass_2/own"])
        # the command line holds instead of a job's option
        found = self.lines("--input", "a.yaml", "-d", "all", "-o", "x", "-f", "json")
        self.assertEqual([line[-1] for line in found if line[1] == "convert"], ["all/pass_1/x", "all/pass_2/x"])
        self.write("a.txt", "# counters\npmc: SQ_WAVES SQ_INSTS_VALU\n\npmc : SQ_BUSY_CYCLES # more\n")
        found = [line for line in self.lines("-i", "a.txt", "--kernel-trace") if line[1] == "trace"]
        self.assertEqual(len(found), 2)
        self.assertIn("SQ_WAVES", " ".join(found[0]))
        self.assertIn("SQ_BUSY_CYCLES", " ".join(found[1]))

    def test_jobs_with_counters_have_directories_of_their_own(self):
        def written(name, *args):
            return [line[-1] for line in self.lines("-i", name, "-d", "out", "-o", "x", "-f", "csv", *args) if line[1] == "convert"]

        self.write("a.yaml", "jobs:\n  - pmc: [SQ_WAVES]\n    output_directory: own\n")
        self.assertEqual(written("a.yaml"), ["out/pass_1/x"])
        self.write("a.json", '{"jobs": [{"kernel_trace": true, "pmc": []}]}')
        self.assertEqual(written("a.json"), ["out/x"])
        self.assertEqual(written("a.json", "--pmc", "SQ_WAVES"), ["out/pass_1/x"])
        self.write("a.txt", "pmc: SQ_WAVES\npmc: SQ_BUSY_CYCLES\n")
        self.assertEqual(written("a.txt"), ["out/pmc_1/x", "out/pmc_2/x"])
        # as rocprofiler-compute writes it: rocprof's filters without values; of times alone, no counter
        self.write("a.txt", "pmc: SQ_WAVES\r\n\r\ngpu:\r\nrange:\nkernel :\n")
        p = self.front("-i", "a.txt", "-d", "out", "-o", "x", "-f", "csv", "--echo", "--", "true")
        self.assertEqual((p.stderr, p.stdout.splitlines()[1].split()[-1]), ("", "'out/pmc_1/x'"))
        self.write("a.txt", "pmc:\n\ngpu:\nrange: 1:2\n")
        p = self.front("-i", "a.txt", "-d", "out", "-o", "x", "-f", "csv", "--kernel-trace", "--echo", "--", "true")
        self.assertIn("a.txt:4: 'range: 1:2' is not 'pmc: COUNTER COUNTER ...', and is passed over", p.stderr)
        self.assertNotIn("--pmc", p.stdout)
        self.assertEqual(p.stdout.splitlines()[1].split()[-1], "'out/pmc_1/x'")

    def test_input_files_with_mistakes_are_refused(self):
        for text, part in (('{"jobs": [{"kernel_tracee": true}]}', "job 1: 'kernel_tracee' is not an option"), ('{"jobs": [', "malformed"),
                           ('{"jobs": [{"pmc": [["a"]]}]}', "neither a value"), ('{"jobs": [3]}', "job 1"), ("{}", "no jobs"), ("", "no jobs"),
                           ("range: 1:2\n", "no jobs"), ("jobs:\n\t- a: b\n", "in.txt:"),
                           ('{"jobs": [{"input": "b"}]}', "is not an option")):
            self.write("in.txt", text)
            p = self.front("-i", "in.txt", "--", "/bin/sh", "-c", "echo ran", status=125)
            self.assertIn(part, p.stderr, text)
            self.assertEqual(p.stdout, "")
        # a later job's option is refused before the first one runs
        self.write("in.txt", '{"jobs": [{"kernel_trace": true}, {"kernel_trace": true, "att": true}]}')
        p = self.front("-i", "in.txt", "--", "/bin/sh", "-c", "echo ran", status=self.LACKS)
        self.assertIn("job 2 is refused", p.stderr)
        self.assertIn("--att", p.stderr)
        self.assertEqual(p.stdout, "")
        self.assertIn("can't be read", self.front("-i", "none", "--", "true", status=125).stderr)
        # what rtl lacks is refused in a job, too, and later jobs do not run
        self.write("in.txt", '{"jobs": [{"kernel_trace": true, "att": true}, {"kernel_trace": true}]}')
        self.assertIn("--att", self.front("-i", "in.txt", "--", "/bin/sh", "-c", "echo ran", status=self.LACKS).stderr)

    def test_counters_and_expressions_of_all_jobs_are_checked_first(self):
        for job, part in (('"pmc": ["SQ_WAVES", "NO_SUCH"]', "no counter 'NO_SUCH'"), ('"kernel_trace": true, "kernel_include_regex": "("', "--kernels"),
                          ('"pmc": ["SQ_WAVES"], "extra_counters": "none.yaml"', "none.yaml: can't be read")):
            self.write("in.txt", '{"jobs": [{"pmc": ["SQ_WAVES"]}, {%s}]}' % job)
            p = self.front("--virtual-gpu", "-i", "in.txt", "--", "/bin/sh", "-c", "echo ran", status=125)
            self.assertIn("job 2 is refused", p.stderr)
            self.assertIn(part, p.stderr)
            self.assertEqual(p.stdout, "")
        self.assertEqual(self.files(), ["in.txt"])
        self.assertEqual(self.front("--virtual-gpu", "--pmc", "SQ_WAVES", "--check", "--", "/bin/sh", "-c", "echo ran").stdout, "")

    def metrics_path(self, head):
        """ROCPROFILER_METRICS_PATH: its counters stand alone, behind those of --extra-counters; what can't be read is said."""
        text = head + "".join(f"    - name: {name}\n      description: x\n      definitions:\n        - architectures: [gfx900]\n          {what}\n"
                              for name, what in (("GRBM_GUI_ACTIVE", "block: GRBM\n          event: 2"), ("TWICE", "expression: 2*reduce(GRBM_GUI_ACTIVE,sum)")))
        os.makedirs(self.path("folder"), exist_ok=True)
        self.write("folder/counter_defs.yaml", text)
        env = {"ROCPROFILER_METRICS_PATH": f"none:{self.path('folder')}"}
        check = ("--check", "--", "true")
        self.assertEqual(self.front("--virtual-gpu", "--pmc", "TWICE", "CU_NUM", *check, env=env).stderr, "")
        self.assertIn("no counter 'SQ_WAVES'", self.front("--virtual-gpu", "--pmc", "SQ_WAVES", *check, env=env, status=125).stderr)
        self.front("--virtual-gpu", "-E", "e.yaml", "--pmc", "TWICE", "BUSY", *check, env=env)
        listed = csv.DictReader(self.rtl("list-counters", "--gpu", "gfx900", "-f", "csv", env=env).stdout.splitlines())
        self.assertEqual([c["name"] for c in listed][:2], ["GRBM_GUI_ACTIVE", "TWICE"])
        env = {"ROCPROFILER_METRICS_PATH": "none"}
        self.assertIn("none: no config.yaml and no counter_defs.yaml", self.front("--virtual-gpu", "--pmc", "SQ_WAVES", *check, env=env).stderr)
        self.write("folder/config.yaml", "a: b\n")
        env = {"ROCPROFILER_METRICS_PATH": self.path("folder")}
        self.assertIn("folder/config.yaml: has no list 'counters'", self.front("--virtual-gpu", "--pmc", "SQ_WAVES", *check, env=env).stderr)

    def test_extra_counters_are_those_of_a_yaml_file(self):
        head = "rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n"
        mine = ("    - name: BUSY\n      description: \"Unit: <cycles> & more\"\n      properties: []\n      definitions:\n"
                "        - architectures: [gfx9999, gfx900, gfx90a]\n          expression: reduce(GRBM_GUI_ACTIVE,max)*CU_NUM\n"
                "    - name: MINE\n      description: a text over\n        two lines\n      definitions:\n        - architectures:\n            - gfx90a\n"
                "          block: TCC\n          event: 18\n"
                "    - name: OF_MINE\n      definitions:\n        - architectures: [gfx90a]\n"
                "          expression: reduce(MINE, avg) + reduce(BUSY,sum)\n")
        self.write("e.yaml", head + mine)
        got = json.loads(self.rtl("list-counters", "--metrics-file", "e.yaml", "--gpu", "gfx90a", "-f", "json", "BUSY", "MINE", "OF_MINE").stdout)
        got = {row["name"]: row for row in (got["rows"] if isinstance(got, dict) else got)}
        self.assertEqual({n: got[n]["expression"] for n in ("BUSY", "OF_MINE")},
                         {"BUSY": "max(GRBM_GUI_ACTIVE,1)*CU_NUM", "OF_MINE": "avr(MINE,32) + (BUSY)"})
        self.assertEqual((got["MINE"]["block"], got["MINE"]["event"]), ("TCC", 18))
        self.assertEqual(got["BUSY"]["meaning"], "Unit: <cycles> & more")
        # on the virtual GPU, gfx900, and in a job
        self.front("--virtual-gpu", "-E", "e.yaml", "--pmc", "BUSY", "--check", "--", "true")
        env = {"ROCPROF_EXTRA_COUNTERS_CONTENTS": head + mine}
        self.front("--virtual-gpu", "--pmc", "BUSY", "--check", "--", "true", env=env)
        self.assertIn("no counter 'BUSY'", self.front("--virtual-gpu", "--pmc", "BUSY", "--check", "--", "true", status=125).stderr)
        self.write("jobs.yaml", "jobs:\n  - pmc: [BUSY]\n    extra_counters: e.yaml\n")
        line = self.lines("-i", "jobs.yaml")[0]
        self.assertEqual(line[line.index("--metrics-file") + 1], "e.yaml")
        self.assertIn("no counter 'MINE'", self.front("--virtual-gpu", "-E", "e.yaml", "--pmc", "MINE", "--check", "--", "true", status=125).stderr)
        self.metrics_path(head)
        self.assertIn("--extra-counters: defines", self.front("-E", "e.yaml", "--kernel-trace", "--echo", "--", "true").stderr)
        for text, part in (("a: b\n", "has no list 'counters'"), (head.replace("version: 1", "version: 7") + mine, "counters-schema-version is 7"),
                           (head + "    - definitions: []\n", "counter 1 of the list: has no name"),
                           (head + mine + "    - name: X\n      definitions:\n        - expression: A\n", "counter X: a definition has a list of arch"),
                           (head + mine.replace("          event: 18\n", ""), "counter MINE: a definition has an expr"), (head + mine.replace("18", "x"), "event= is not"),
                           (head + mine.replace("reduce(MINE, avg)", "reduce(MINE,sum,[DIMENSION_XCC])"), "counter OF_MINE: "),
                           (head + mine.replace("reduce(MINE, avg)", "select(MINE,[DIMENSION_XCC=[0]])"), "counter OF_MINE: 'select("),
                           (head + mine.replace("BUSY,sum", "NONE,sum"), "NONE"), ("\t", "e.yaml:1: "), ("[", "e.yaml:")):
            self.write("e.yaml", text)
            p = self.rtl("list-counters", "--metrics-file", "e.yaml", "--gpu", "gfx90a", "OF_MINE", status=1)
            self.assertIn("e.yaml", p.stderr, text)
            self.assertIn(part, p.stderr, text)

    def test_rocprofv3s_variables_hold_where_options_are_not_given(self):
        env = {"ROCPROF_OUTPUT_PATH": "path", "ROCPROF_OUTPUT_FILE_NAME": "name"}
        for args, out in (((), "path/name"), (("-d", "d"), "d/name"), (("-o", "o"), "path/o")):
            self.assertEqual(self.lines("--kernel-trace", *args, env=env)[1][-1], out)
        self.write("jobs.yaml", "jobs:\n  - kernel_trace: true\n  - kernel_trace: true\n    output_directory: own\n")
        self.assertEqual([line[-1] for line in self.lines("-i", "jobs.yaml", env=env) if line[1] == "convert"],
                         ["path/pass_1/name", "own/pass_2/name"])

    def test_pftrace_is_written_for_each_process_with_what_is_asked_for(self):
        spool.calls(pid=1111).write(self.path("a.rtl"))
        spool.calls(pid=2222).write(self.path("b.rtl"))
        self.rtl("merge", "-q", "a.rtl", "b.rtl", "-o", "both.db")
        self.convert("both.db", "rocprofv3-pftrace", "x-%pid%")
        self.assertTrue({"x-1111_results.pftrace", "x-2222_results.pftrace"} <= set(self.files()), self.files())

    def test_mistakes_are_named(self):
        for args, part in (((), "is missing"), (("--", "true"), "nothing to record"), (("-r", "-f", "xml", "--", "true"), "xml"),
                           (("-r", "-P", "x", "--", "true"), "DELAY:DURATION"), (("-A", "up", "-r", "--", "true"), "up")):
            self.assertIn(part, self.front(*args, status=125).stderr, args)
        self.assertIn("rtl rocprofv3", self.front("--version").stdout)

    def test_options_without_effect_are_named(self):
        p = self.front("-r", "--log-level", "info", "--realpath", "--echo", "--", "true")
        self.assertIn("--log-level: Has no effect", p.stderr)
        self.assertIn("--realpath: Has no effect", p.stderr)


class Memory(Formats):
    def peak(self, *args):
        """KiB of the largest resident set."""
        p = subprocess.Popen([RTL_BIN, *args, "-q"], cwd=self.dir, env=environment({"TMPDIR": self.dir}))
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(p.returncode, 0, args)
        return usage.ru_maxrss

    def test_memory_does_not_grow_with_the_trace(self):
        make = spool.MAKE.spool_make_many
        make.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
        for nr in (30_000, 300_000):
            make(self.path(f"{nr}.rtl").encode(), nr)
            self.rtl("recover", "-q", f"{nr}.rtl", "-o", f"{nr}.db")
        for form, out in (("rocprofv3-csv", "x"), ("rocprofv3-json", "x.json"), ("rocpd3", "x_results.db"), ("pftrace", "x.pftrace"),
                          ("speedscope", "x.speedscope.json"), ("folded", "x.folded"), ("otf2", "x.otf2"), ("jsonl", "x.jsonl")):
            small, large = (self.peak("convert", f"{nr}.db", "-f", form, "-o", out, "--force") for nr in (30_000, 300_000))
            # two page caches of 16 MiB may fill
            self.assertLess(large, small + 40 * 1024, form)
            self.assertLess(large, 90 * 1024, form)
        self.assertEqual(self.sql("x_results.db", "select count(*) from kernels"), [(300_000,)])


if __name__ == "__main__":
    unittest.main(verbosity=1)
