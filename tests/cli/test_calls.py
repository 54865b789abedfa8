#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""API calls in Chrome JSON, kineto's and summaries, from traces of spool.py."""
import collections
import csv
import io
import json
import re
import sqlite3

from support import spool
from support.cli import *


class Calls(Case):
    def write(self, name="a", **kwargs):
        spool.calls(**kwargs).write(self.path(name + ".rtl"))
        return name + ".rtl"

    def database(self, *args, **kwargs):
        name = self.write(*args, **kwargs)
        self.rtl("recover", "-q", name, "-o", name[:-4] + ".db", "--force")
        return name[:-4] + ".db"

    def convert(self, name, form="perfetto", out="out.json"):
        self.rtl("convert", name, "-f", form, "-o", out, "--force")
        with open(self.path(out), encoding="utf-8") as file:
            return json.load(file)

    def arrows(self, events):
        """Pairs of begin and end; checks that they are complete, unique, in order, and within slices of their tracks."""
        starts, ends = {}, {}
        for e in events:
            if e["ph"] in "sf":
                side = starts if e["ph"] == "s" else ends
                self.assertNotIn((e["cat"], e["id"]), side, e)
                side[e["cat"], e["id"]] = e
        self.assertEqual(set(starts), set(ends))
        slices = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                slices[e["pid"], e["tid"]].append(e)
        pairs = []
        for key, s in starts.items():
            f = ends[key]
            self.assertEqual(f["bp"], "e")
            self.assertLessEqual(s["ts"], f["ts"])
            around = [[e for e in slices[x["pid"], x["tid"]] if e["ts"] <= x["ts"] < e["ts"] + e["dur"]] for x in (s, f)]
            self.assertTrue(all(around), (s, f))
            # viewers bind it to the innermost open slice, in the order of the file
            pairs.append([max(a, key=lambda e: (e["ts"], slices[e["pid"], e["tid"]].index(e))) for a in around])
        return pairs

    def nested(self, events, tracks=lambda e: True):
        """No slice crosses another one's end on its track."""
        by_track = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X" and tracks(e):
                by_track[e["pid"], e["tid"]].append((round(e["ts"] * 1000), round(e["dur"] * 1000)))
        for rows in by_track.values():
            rows.sort(key=lambda r: (r[0], -r[1]))
            ends = []
            for ts, dur in rows:
                while ends and ends[-1] <= ts:
                    ends.pop()
                self.assertTrue(not ends or ts + dur <= ends[-1])
                ends.append(ts + dur)


class Perfetto(Calls):
    def test_each_argument_is_a_member(self):
        events = self.convert(self.write())["traceEvents"]
        launch = next(e for e in events if e["name"] == "hipLaunchKernel")
        self.assertEqual(launch["cat"], "hip_api")
        self.assertEqual(launch["args"]["args"], {
            "function_address": "0x4000", "numBlocks": [4, 1, 1], "dimBlocks": [256, 1, 1],
            "kernel": "_Z4vaddPfS_S_i", "sharedMemBytes": 0, "stream": "0x0"})
        self.assertEqual(launch["args"]["status"], 0)
        self.assertNotIn("error", launch["args"])
        good, bad = [e["args"] for e in events if e["name"] == "hipMalloc"]
        self.assertEqual(good["args"], {"ptr": "0x7000", "size": 1 << 20, "*ptr": "0xdead0000"})
        self.assertEqual(bad["status"], 2)
        self.assertEqual(bad["error"], "hipErrorMemoryAllocation")
        self.assertEqual(bad["args"]["size"], 1 << 50)

    def test_hsa_calls_lie_below_hip_calls(self):
        events = self.convert(self.write())["traceEvents"]
        calls = {e["args"]["api_id"]: e for e in events if e.get("cat") == "hip_api"}
        inner = [e for e in events if e.get("cat") == "hsa_api"]
        self.assertEqual(len(inner), 10)
        for e in inner:
            outer = calls[e["args"]["parent_id"]]
            self.assertEqual((e["pid"], e["tid"]), (outer["pid"], outer["tid"]))
            self.assertTrue(outer["ts"] <= e["ts"] and e["ts"] + e["dur"] <= outer["ts"] + outer["dur"])
        self.nested(events)

    def test_arrows_lead_from_call_to_each_operation(self):
        for name in (self.write(), self.database()):
            events = self.convert(name)["traceEvents"]
            pairs = self.arrows([e for e in events if e.get("cat") != "launch"])
            self.assertEqual(collections.Counter((c["name"], o["cat"]) for c, o in pairs),
                             {("hipLaunchKernel", "kernel"): 10, ("hipMemcpyAsync", "copy"): 2, ("hipMemset", "copy"): 1})
            for call, op in pairs:
                self.assertEqual(call["args"]["corr_id"], op["args"]["corr_id"])
                self.assertEqual(call["args"]["api_id"], op["args"]["api_id"])
            self.arrows(events)
            self.assertTrue(all(e["ts"] >= 0 for e in events if e["ph"] != "M"))

    def test_operation_with_begin_before_call_keeps_arrow(self):
        s = spool.calls()
        own = s.api(1, s.start + 90_000, s.start + 90_500, ())
        s.dispatch(1, 0, s.start + 89_900, s.start + 91_000, correlation=own)
        own = s.api(1, s.start + 95_000, s.start + 95_500, ())
        s.dispatch(1, 0, s.start + 94_000, s.start + 94_500, correlation=own)
        s.write(self.path("a.rtl"))
        self.arrows(self.convert("a.rtl")["traceEvents"])
        self.arrows(self.convert("a.rtl", "kineto")["traceEvents"])

    def test_streams_have_separate_tracks(self):
        events = self.convert(self.write())["traceEvents"]
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        streams = [e for e in events if e.get("cat") == "stream"]
        seen = collections.Counter(names[e["pid"], e["tid"]] for e in streams)
        # kernels alternate between them; two copies; the fill has no stream argument: it is on the null stream
        self.assertEqual(seen, {"stream 1 (null)": 6, "stream 2 (0x55aa)": 7})
        self.assertEqual(len([e for e in events if e.get("cat") == "kernel"]), 10)
        handles = collections.Counter(e["args"].get("stream") for e in events if e.get("cat") == "kernel")
        self.assertEqual(handles, {"0x0": 5, "0x55aa": 5})

    def test_graph_operations_show_replay_and_node(self):
        s = spool.sample(0)
        make = s.op(1, "hipGraphInstantiate", "pGraphExec:p,graph:h:graph,*pGraphExec:h:exec")
        launch = s.op(2, "hipGraphLaunch", "graphExec:h:exec,stream:h:stream")
        s.api(make, s.start + 1000, s.start + 2000, (0x10, 0x6A, 0x6E))
        for replay in range(2):
            at = s.start + 10_000 + replay * 10_000
            own = s.api(launch, at, at + 500, (0x6E, 0))
            for node in range(3):
                s.dispatch(1, 0, at + 1000 * node + 1000, at + 1000 * node + 1500, correlation=own)
        s.write(self.path("a.rtl"))
        events = self.convert("a.rtl")["traceEvents"]
        self.assertEqual([(e["args"]["graph_exec"], e["args"]["graph_replay"], e["args"]["graph_node"])
                          for e in sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])],
                         [("0x6e", replay, node) for replay in (1, 2) for node in (1, 2, 3)])
        self.assertEqual(len(self.arrows(events)), 6)

    def test_arguments_of_every_type_are_members(self):
        s = spool.calls()
        odd = s.op(50, "hipOdd", "text:s,none:s,real:g,flag:b,big:u,neg:i,mode:e=nothing,cut:s")
        words = (s.string('a "b", c=d\n\\'), 0, 0x3FF8000000000000, 1, (1 << 64) - 1, (1 << 64) - 5, 7, s.string("x{y"))
        s.api(odd, s.start + 90_000, s.start + 90_001, words)
        s.write(self.path("a.rtl"))
        events = self.convert("a.rtl")["traceEvents"]
        args = next(e for e in events if e["name"] == "hipOdd")["args"]["args"]
        self.assertEqual(args, {"text": 'a "b", c=d\n\\', "none": None, "real": 1.5, "flag": True,
                                "big": "18446744073709551615", "neg": -5, "mode": 7, "cut": "x{y"})

    def test_long_arguments_are_shortened(self):
        s = spool.calls()
        odd = s.op(50, "hipOdd", "text:s,after:u")
        s.api(odd, s.start + 90_000, s.start + 90_001, (s.string("y" * 100_000), 1))
        s.write(self.path("a.rtl"))
        args = next(e for e in self.convert("a.rtl")["traceEvents"] if e["name"] == "hipOdd")["args"]["args"]
        text = args["text"] if isinstance(args, dict) else args
        self.assertTrue(len(text) == 100_000 or text.endswith("..."), text[-20:])

    def test_unknown_argument_text_stays_unchanged(self):
        name = self.database()
        db = sqlite3.connect(self.path(name))
        db.execute("update rocpd_ustring set string = 'no such form, at all' where string like 'ptr=0x7000, size=1048576%'")
        db.commit()
        db.close()
        event = next(e for e in self.convert(name)["traceEvents"] if e["name"] == "hipMalloc")
        self.assertEqual(event["args"]["args"], "no such form, at all")


class Kineto(Calls):
    def test_header_has_what_readers_need(self):
        name = self.write(rank=3, world_size=8)
        doc = self.convert(name, "kineto")
        self.assertEqual(doc["schemaVersion"], 1)
        self.assertEqual((doc["distributedInfo"]["rank"], doc["distributedInfo"]["world_size"]), (3, 8))
        with open(self.path("out.json"), encoding="utf-8") as file:
            text = file.read()
        # HTA searches the text for the rank
        self.assertEqual(re.search(r'"rank":\s+(\d+)', text).group(1), "3")
        self.assertEqual([(d["id"], d["computeMajor"], d["computeMinor"], d["numSms"]) for d in doc["deviceProperties"]],
                         [(0, 9, 0, 64), (1, 9, 0, 64)])
        first = min(e["ts"] for e in doc["traceEvents"] if "ts" in e)
        # the earliest event, on the wall clock
        self.assertEqual(doc["baseTimeNanoseconds"] + round(first * 1000), 1_790_000_000_000_000_000 + 500)
        for e in re.findall(r'"(?:ts|dur)":(-?[0-9.]+)', text):
            self.assertRegex(e, r"^\d+\.\d{3}$")

    def test_calls_and_operations_share_correlation(self):
        events = self.convert(self.write(), "kineto")["traceEvents"]
        cats = collections.Counter(e.get("cat") for e in events if e["ph"] == "X")
        self.assertEqual(cats, {"cuda_runtime": 14, "cuda_driver": 10, "kernel": 10, "gpu_memcpy": 3, "gpu_memset": 1,
                                "user_annotation": 2, "gpu_user_annotation": cats["gpu_user_annotation"]})
        calls = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime"}
        for e in events:
            if e.get("cat") == "kernel":
                self.assertEqual(calls[e["args"]["correlation"]]["name"], "hipLaunchKernel")
                self.assertEqual((e["args"]["grid"], e["args"]["block"]), ([4, 1, 1], [256, 1, 1]))
                self.assertGreater(e["args"]["stream"], 0)
                self.assertEqual((e["pid"], e["tid"]), (e["args"]["device"], e["args"]["stream"]))
        copies = [e for e in events if e.get("cat") == "gpu_memcpy" and e["args"]["bytes"] == 2048]
        self.assertEqual({calls[e["args"]["correlation"]]["name"] for e in copies}, {"hipMemcpyAsync"})
        self.assertEqual({e["args"]["memory bandwidth (GB/s)"] for e in copies}, {20.48})
        for call, op in self.arrows(events):
            self.assertEqual(call["args"]["correlation"], op["args"]["correlation"])
        # the first operation of a call has an arrow under their number
        self.assertTrue(set(e["args"]["correlation"] for e in events if e.get("cat") == "kernel")
                        <= {e["id"] for e in events if e["ph"] == "f"})

    def test_ranges_are_shown_on_gpu_tracks(self):
        events = self.convert(self.write(), "kineto")["traceEvents"]
        ranges = {(e["pid"], e["tid"]): e for e in events if e.get("cat") == "gpu_user_annotation"}
        host = next(e for e in events if e["name"] == "step" and e["cat"] == "user_annotation")
        for track, around in ranges.items():
            self.assertEqual((around["name"], around["args"]["External id"]), ("step", host["args"]["External id"]))
            ops = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == track
                   and e["args"].get("External id") == host["args"]["External id"] and e is not around]
            spans = [(round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000)) for e in (around, *ops)]
            self.assertEqual(spans[0], (min(s[0] for s in spans[1:]), max(s[1] for s in spans[1:])))
        self.assertEqual(set(ranges), {(0, 1), (0, 2), (1, 2)})
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertEqual(names, {(host["pid"], host["tid"]): f"thread {host['tid']} (app)", (0, 1): "stream 1",
                                 (0, 2): "stream 2", (1, 2): "stream 2", (0, 10003): "stream 10003"})
        self.nested(events)

    def test_queue_is_stream_of_traces_without_calls(self):
        spool.sample(4).write(self.path("a.rtl"))
        events = self.convert("a.rtl", "kineto")["traceEvents"]
        self.assertEqual(sorted({(e["pid"], e["tid"]) for e in events if e.get("cat") == "kernel"}), [(0, 1), (1, 2)])

    def test_each_process_gets_a_file(self):
        for rank in range(2):
            self.write(f"r{rank}", pid=500 + rank, rank=rank, world_size=2)
        self.rtl("merge", "-q", "-o", "m.db", "r0.rtl", "r1.rtl")
        p = self.rtl("convert", "m.db", "-f", "kineto", "-o", "k.json")
        self.assertIn("2 files written", p.stderr)
        self.assertEqual([f for f in self.files() if f.startswith("k.")], ["k.rank0.json", "k.rank1.json"])
        bases = set()
        for rank in range(2):
            with open(self.path(f"k.rank{rank}.json"), encoding="utf-8") as file:
                doc = json.load(file)
            bases.add(doc["baseTimeNanoseconds"])
            self.assertEqual(doc["distributedInfo"]["rank"], rank)
            self.assertEqual({e["pid"] for e in doc["traceEvents"] if e.get("cat") == "cuda_runtime"}, {500 + rank})
            self.assertEqual(len([e for e in doc["traceEvents"] if e.get("cat") == "kernel"]), 10)
        self.assertEqual(len(bases), 1)
        self.assertIn("--force", self.rtl("convert", "m.db", "-f", "kineto", "-o", "k.json", status=1).stderr)
        self.assertIn("several processes", self.rtl("convert", "m.db", "-f", "kineto", "-o", "-", status=1).stderr)

    def test_default_name_follows_trace(self):
        self.rtl("convert", self.write(), "-f", "kineto")
        self.assertIn("a.pt.trace.json", self.files())


class Hta(Calls):
    """The steps of Holistic Trace Analysis' parser, on our files: docs/formats/kineto.md."""

    def parse(self, name="a", out="out.json"):
        """The header, and the events that the parser keeps, with index and arguments."""
        doc = self.convert(name, "kineto", out)
        rows = []
        for index, e in enumerate(doc["traceEvents"]):
            if e.get("dur") is None or e.get("cat") in (None, "Trace"):
                continue
            args = e.get("args") if isinstance(e.get("args"), dict) else {}
            rows.append({**e, "index": index, "stream": args.get("stream", -1), "correlation": args.get("correlation", -1)})
        return doc, rows

    def linked(self, rows):
        """[(event on the host, event on a GPU)] by correlation id."""
        hosts = [e for e in rows if e["stream"] == -1 and e["correlation"] != -1]
        return [(h, g) for g in rows if g["stream"] > 0 and g["correlation"] != -1
                for h in hosts if h["correlation"] == g["correlation"]]

    def test_header_has_rank_base_time_and_devices(self):
        doc, rows = self.parse(self.write(rank=3, world_size=8))
        self.assertIs(type(doc["distributedInfo"]["rank"]), int)
        self.assertGreaterEqual(doc["distributedInfo"]["rank"], 0)
        self.assertIs(type(doc["baseTimeNanoseconds"]), int)
        launch = next(e for e in rows if e["name"] == "hipLaunchKernel")
        # at most 1 ns less, since the time is a double
        self.assertIn(int(launch["ts"] * 1e3) + doc["baseTimeNanoseconds"] - 1_790_000_000_000_031_000, (-1, 0))
        # the header parser stops at the events, and requires flat objects and a list that is not empty
        self.assertEqual(list(doc)[-1], "traceEvents")
        self.assertGreater(len(doc["deviceProperties"]), 0)
        for value in (doc["distributedInfo"], doc["rocm_trace_lite"], *doc["deviceProperties"]):
            self.assertEqual({type(v) for v in value.values()} & {dict, list}, set())

    def test_each_rank_has_its_file(self):
        for rank in range(2):
            self.write(f"r{rank}", pid=500 + rank)
        self.rtl("merge", "-q", "-o", "m.db", "r0.rtl", "r1.rtl")
        self.rtl("convert", "m.db", "-f", "kineto", "-o", "k.json")
        ranks = []
        for name in ("k.pid500.json", "k.pid501.json"):
            with open(self.path(name), encoding="utf-8") as file:
                ranks.append(json.load(file)["distributedInfo"]["rank"])
        self.assertEqual(sorted(ranks), [0, 1])

    def test_trace_without_gpu_has_no_empty_list(self):
        name = self.database()
        db = sqlite3.connect(self.path(name))
        db.execute("delete from rtl_agent")
        db.commit()
        db.close()
        doc, rows = self.parse(name)
        self.assertNotIn("deviceProperties", doc)
        self.assertGreater(len(rows), 0)

    def test_every_event_has_its_columns(self):
        doc, rows = self.parse(self.write())
        # index 0 means none
        self.assertEqual(doc["traceEvents"][0]["ph"], "M")
        self.assertEqual({e["ph"] for e in rows}, {"X"})
        for e in rows:
            for key, types in (("ts", (int, float)), ("dur", (int, float)), ("name", (str,)), ("cat", (str,)),
                               ("pid", (int,)), ("tid", (int,))):
                self.assertIn(type(e[key]), types, e)
            self.assertGreaterEqual(e["dur"], 0)
        self.assertEqual({e["cat"] for e in rows}, {"cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset",
                                                    "user_annotation", "gpu_user_annotation"})
        # microseconds
        launch = next(e for e in rows if e["name"] == "hipLaunchKernel")
        self.assertEqual(launch["dur"], 0.3)

    def test_host_and_gpu_events_differ_by_stream(self):
        _, rows = self.parse(self.write())
        for e in rows:
            self.assertIs(type(e["stream"]), int)
            self.assertEqual(e["stream"] > 0, e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"), e)
            self.assertTrue(e["stream"] > 0 or e["stream"] == -1, e)
            if e["stream"] > 0:
                self.assertEqual((e["pid"], e["tid"]), (e["args"]["device"], e["stream"]))

    def test_calls_and_operations_are_linked(self):
        _, rows = self.parse(self.write())
        numbers = [e["correlation"] for e in rows if e["stream"] == -1 and e["correlation"] != -1]
        self.assertEqual(len(numbers), len(set(numbers)))
        self.assertTrue(all(type(n) is int and n > 0 for n in numbers))
        self.assertEqual({e["correlation"] for e in rows if e["cat"] in ("user_annotation", "gpu_user_annotation")}, {-1})
        pairs = self.linked(rows)
        self.assertEqual(collections.Counter((h["name"], h["cat"], g["cat"]) for h, g in pairs), {
            ("hipLaunchKernel", "cuda_runtime", "kernel"): 10, ("hipMemcpyAsync", "cuda_runtime", "gpu_memcpy"): 2,
            ("hipMemset", "cuda_runtime", "gpu_memset"): 1})
        self.assertTrue(all(h["index"] > 0 and g["index"] > 0 for h, g in pairs))
        # each operation has one call, those without a recorded call none
        self.assertEqual(len({g["index"] for _, g in pairs}), len(pairs))

    def test_operations_have_their_arguments(self):
        _, rows = self.parse(self.write())
        whole = {"kernel": ("device", "context", "External id", "shared memory"),
                 "gpu_memcpy": ("device", "context", "bytes"), "gpu_memset": ("device", "context", "bytes")}
        for cat, keys in whole.items():
            ops = [e for e in rows if e["cat"] == cat]
            self.assertGreater(len(ops), 0)
            for e in ops:
                self.assertEqual({key: type(e["args"].get(key)) for key in keys}, dict.fromkeys(keys, int))
                # if the code object has them
                self.assertIs(type(e["args"].get("registers per thread", 0)), int)
                if cat == "kernel":
                    self.assertEqual([len(e["args"][key]) for key in ("grid", "block")], [3, 3])
                else:
                    self.assertIn(type(e["args"]["memory bandwidth (GB/s)"]), (int, float))

    def test_kernel_names_give_categories(self):
        s = spool.calls()
        s.dispatch(s.kernel("ncclKernel_AllReduce"), 0, s.start + 90_000, s.start + 91_000)
        s.write(self.path("a.rtl"))
        _, rows = self.parse("a.rtl")

        def kind(name):
            return "communication" if "ncclKernel" in name else "memory" if "Memcpy" in name or "Memset" in name else "computation"

        self.assertEqual({(e["cat"], kind(e["name"])) for e in rows if e["stream"] > 0 and e["cat"] != "gpu_user_annotation"},
                         {("kernel", "computation"), ("kernel", "communication"), ("gpu_memcpy", "memory"),
                          ("gpu_memset", "memory")})
        self.assertEqual({e["name"][:11] for e in rows if e["cat"] == "gpu_memcpy"}, {"Memcpy HtoD"})

    def test_profiler_step_ranges_are_iterations(self):
        s = spool.calls()
        launch = s.op(60, "hipModuleLaunchKernel", "f:p")
        for step in (7, 8):
            at = s.start + 100_000 * step
            marker = s.marker(at, f"ProfilerStep#{step}")
            own = s.api(launch, at + 1000, at + 2000, (0x10,))
            s.dispatch(1, 0, at + 200_000, at + 201_000, marker, correlation=own)
            s.marker_end(at + 50_000, marker)
        s.write(self.path("a.rtl"))
        _, rows = self.parse("a.rtl")
        steps = [(int(e["name"].partition("#")[2]), e["ts"], e["ts"] + e["dur"]) for e in rows
                 if e["cat"] == "user_annotation" and re.match(r"ProfilerStep\s*#\s*\d+", e["name"])]
        of = {h["index"]: [n for n, begin, end in steps if begin <= h["ts"] < end] for h, _ in self.linked(rows)
              if h["name"] == "hipModuleLaunchKernel"}
        # kernels that run long after belong to the iteration that launched them
        self.assertEqual(sorted(of.values()), [[7], [8]])


class Rpd(Calls):
    def test_rpd_database_with_streams_converts(self):
        db = sqlite3.connect(self.path("rpd.db"))
        db.executescript("""
            create table rocpd_metadata(id integer primary key, tag text, value text);
            create table rocpd_string(id integer primary key, string text);
            create table rocpd_ustring(id integer primary key, string text);
            create table rocpd_api(id integer primary key, pid int, tid int, start int, end int, apiName_id int,
                category_id int, domain_id int, args_id int);
            create table rocpd_op(id integer primary key, gpuId int, queueId int, sequenceId int, start int, end int,
                description_id int, opType_id int);
            create table rocpd_api_ops(id integer primary key, api_id int, op_id int);
            create table rocpd_kernelapi(api_ptr_id integer primary key, stream text);
            create table rocpd_copyapi(api_ptr_id integer primary key, stream text);
            insert into rocpd_string values (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution');
            insert into rocpd_ustring values (1, 'hipLaunchKernel(stream=(nil))'), (2, '');
            insert into rocpd_api values (1, 77, 78, 1000, 2000, 2, 1, 1, 1), (2, 77, 78, 3000, 3500, 2, 1, 1, 1);
            insert into rocpd_op values (1, 0, 0, 1, 1900, 2900, 3, 4), (2, 0, 0, 2, 5000, 6000, 3, 4);
            insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2), (3, 2, 1);
            insert into rocpd_kernelapi values (1, '(nil)'), (2, '0x1234');
        """)
        db.close()
        events = self.convert("rpd.db")["traceEvents"]
        self.assertEqual([(e["args"]["stream"], e["args"]["api_id"]) for e in events if e.get("cat") == "kernel"],
                         [("0x0", 1), ("0x1234", 2)])
        self.assertEqual(len(self.arrows(events)), 2)
        self.assertEqual({e["args"]["args"] for e in events if e.get("cat") == "hip_api"}, {"hipLaunchKernel(stream=(nil))"})
        events = self.convert("rpd.db", "kineto")["traceEvents"]
        self.assertEqual([e["args"]["stream"] for e in events if e.get("cat") == "kernel"], [1, 2])
        rows = json.loads(self.rtl("summary", "rpd.db", "--by", "stream", "-f", "json").stdout)
        self.assertEqual([(r["stream"], r["name"], r["pid"], r["total_ns"]) for r in rows],
                         [(1, "null", None, 1000), (2, "0x1234", None, 1000)])
        row = json.loads(self.rtl("summary", "rpd.db", "-f", "json").stdout)[0]
        self.assertEqual((row["joined"], row["launch_mean_ns"], row["delay_mean_ns"]), (2, 1450, 700))


class Summary(Calls):
    def rows(self, name, by, *args):
        return json.loads(self.rtl("summary", name, "--by", by, "-f", "json", *args).stdout)

    def test_summary_by_api_lists_calls_by_name(self):
        for name in (self.write(), self.database()):
            rows = {r["name"]: r for r in self.rows(name, "api")}
            self.assertEqual({n: (r["calls"], r["total_ns"], r["errors"]) for n, r in rows.items()}, {
                "hipLaunchKernel": (10, 3000, 0), "hipMalloc": (2, 400, 1), "hipMemcpyAsync": (1, 500, 0),
                "hipMemset": (1, 1000, 0), "hsa_signal_store_screlease": (10, 500, 0)})
            malloc = rows["hipMalloc"]
            self.assertEqual((malloc["min_ns"], malloc["median_ns"], malloc["p99_ns"], malloc["max_ns"], malloc["mean_ns"]),
                             (100, 100, 300, 300, 200))
            self.assertAlmostEqual(sum(r["share"] for r in rows.values()), 1)
        self.assertIn("ERRORS", self.rtl("summary", name, "--by", "api").stdout)

    def test_summary_shows_kernels_wait(self):
        name = self.write()
        row = self.rows(name, "kernel")[0]
        self.assertEqual(row["joined"], 10)
        # one of ten began 200 ns after its call's begin, 100 before its end; the others 2000 and 1700
        self.assertEqual((row["launch_median_ns"], row["launch_mean_ns"]), (2000, 1820))
        self.assertEqual((row["delay_median_ns"], row["delay_mean_ns"]), (1700, 1520))
        table = self.rtl("summary", name, "--by", "kernel", "--wide").stdout
        self.assertIn("1.700 us", table)
        self.assertIn("DELAY MEAN", table)
        s = spool.sample(4)
        s.write(self.path("b.rtl"))
        row = self.rows("b.rtl", "kernel")[0]
        self.assertEqual((row["joined"], row["launch_median_ns"], row["delay_mean_ns"]), (0, None, None))
        self.assertNotIn("DELAY", self.rtl("summary", "b.rtl", "--by", "kernel", "--wide").stdout)

    def test_kernel_begun_before_call_returned_has_no_wait(self):
        s = spool.sample(0)
        launch = s.op(1, "hipLaunchKernel", "stream:h:stream")
        own = s.api(launch, s.start + 1000, s.start + 5000, (0,))
        s.dispatch(1, 0, s.start + 2000, s.start + 3000, correlation=own)
        s.write(self.path("a.rtl"))
        row = self.rows("a.rtl", "kernel")[0]
        self.assertEqual((row["launch_mean_ns"], row["delay_mean_ns"], row["delay_median_ns"]), (1000, -3000, -3000))
        self.assertIn("-3.000 us", self.rtl("summary", "a.rtl", "--by", "kernel", "--wide").stdout)

    def test_summary_by_stream(self):
        rows = self.rows(self.write(), "stream")
        self.assertEqual([(r["gpu"], r["stream"], r["name"], r["kernels"], r["copies"], r["busy_ns"]) for r in rows],
                         [(0, 1, "null", 5, 1, 2600), (0, 2, "0x55aa", 0, 2, 200), (1, 2, "0x55aa", 5, 0, 2500)])
        self.assertEqual((rows[0]["min_ns"], rows[0]["max_ns"], rows[0]["calls"]), (100, 500, 6))

    def test_summary_by_gpu_has_same_columns(self):
        rows = self.rows(self.write(), "gpu")
        self.assertEqual([(r["gpu"], r["kernels"], r["copies"], r["calls"], r["p99_ns"]) for r in rows],
                         [(0, 5, 4, 9, 1000), (1, 5, 0, 5, 500)])

    def test_number_options_are_followed(self):
        name = self.write()
        copies = self.rtl("summary", name, "--by", "copy", "-f", "csv", "--units", "scaled").stdout
        row = next(csv.DictReader(io.StringIO(copies)))
        self.assertEqual((row["total_ns"], row["bytes"]), ("1.200 us", "1.004 MiB"))
        table = self.rtl("summary", name, "--by", "copy", "-u", "raw", "--wide").stdout
        self.assertIn(str((1 << 20) + 4096), table)
        self.assertNotIn("MiB", table)

    def test_missing_data_is_reported(self):
        spool.sample(4).write(self.path("a.rtl"))
        self.assertIn("no API call was recorded", self.rtl("summary", "a.rtl", "--by", "api").stderr)
        self.assertIn("no stream is known", self.rtl("summary", "a.rtl", "--by", "stream").stderr)
        p = self.rtl("summary", "a.rtl", "--by", "api", "-f", "csv")
        self.assertEqual(len(p.stdout.splitlines()), 1)
        self.assertIn("no API call was recorded", p.stderr)


class Info(Calls):
    def test_raw_trace_and_database_give_same_counts(self):
        raw = self.write()
        self.rtl("recover", "-q", raw, "-o", "a.db")
        self.rtl("merge", "-q", "a.db", "-o", "m.db")
        with sqlite3.connect(self.path("a.db")) as db:
            expected = db.execute("SELECT count(*), count(DISTINCT name) FROM rtl_api").fetchone()
        self.assertGreater(expected[1], 3)
        for name in raw, "a.db", "m.db":
            info = json.loads(self.rtl("info", name, "-f", "json").stdout)
            process = info["processes"][0]
            self.assertEqual((process["counts"]["api_calls"], process["api_functions"]), expected, name)
            self.assertEqual(info["counts"]["api_calls"], expected[0], name)
            self.assertIn(f"{expected[0]} API calls", self.rtl("info", name).stdout)
            self.assertIn(f"{expected[1]} API functions called", self.rtl("info", name).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)
