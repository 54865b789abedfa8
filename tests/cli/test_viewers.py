#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats of viewers: pftrace, read by protobuf's own reader, OTF2, read by its library, speedscope and folded; every count and time equal to the database"""
import collections
import csv
import io
import json
import re
import shutil
import sqlite3
import subprocess

from support import spool
from support.cli import *

PROTO = os.path.join(SOURCE, "src/export/pftrace")
# what TraceLens reads of rocprofv3's traces
TRACELENS = {"agent", "begin_ns", "end_ns", "delta_ns", "corr_id", "queue", "stream_ID", "kernel_id", "grid_size", "workgroup_size",
             "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "LDS_Block_Size", "Scratch_Size"}
# operations whose call is known; a row of domain rtl stands for a thread
CAUSED = ("FROM rocpd_op O JOIN rocpd_api_ops L ON L.op_id = O.id JOIN rocpd_api A ON A.id = L.api_id JOIN rocpd_string D "
          "ON D.id = A.domain_id WHERE D.string <> 'rtl'")
SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class Viewers(Case):
    def database(self, trace, name="t"):
        trace.write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", name + ".rtl", "-o", name + ".db", "--force")
        return name + ".db"

    def sql(self, name, query, *args):
        with sqlite3.connect(f"file:{self.path(name)}?mode=ro", uri=True) as db:
            return db.execute(query, args).fetchall()

    def convert(self, name, form, out):
        self.rtl("convert", "-q", name, "-f", form, "-o", out, "--force")
        return self.path(out)

    def odd(self):
        """Overlapping kernels, ranges that don't nest, a name that is not UTF-8, an operation without times."""
        s = spool.sample(4)
        for i in range(5):
            s.dispatch(1, 0, s.start + 40_000 + i, s.start + 50_000 + i)
        s.dispatch(1, 0, s.start + 9000, s.start + 8000)
        a = s.marker(s.start + 5000, "one; two\nthree", kind=spool.START)
        b = s.marker(s.start + 6000, "two", kind=spool.START)
        s.marker_end(s.start + 7000, a)
        s.marker_end(s.start + 8000, b)
        return s

    def traced(self):
        """An event of each kind, counters, a process with a rank."""
        s = spool.calls(rank=3, world_size=8)
        s.copy(s.start + 100, s.start + 5000, 4096)
        s.dispatch(1, 0, s.start + 9000, s.start + 8000)
        db = self.database(s)
        with sqlite3.connect(self.path(db)) as c:
            c.execute("UPDATE rtl_kernel_symbol SET vgpr_count = 12, accum_vgpr_count = 4, sgpr_count = 96")
            c.execute("INSERT INTO rocpd_string (id, string) VALUES (999999, 'SQ_WAVES')")
            c.execute("INSERT INTO rocpd_counter (value, op_id, name_id) SELECT 64.5, id, 999999 FROM rocpd_op ORDER BY start LIMIT 9")
            c.execute("INSERT INTO rocpd_monitor (deviceType, deviceId, monitorType, start, end, value) VALUES ('gpu', 0, 'sclk', 5, 9, '1700')")
        return db

    def json(self, db, form, out):
        with open(self.convert(db, form, out), encoding="utf-8") as file:
            return [e for e in json.load(file)["traceEvents"] if e["ph"] in "XiC"]


Slice = collections.namedtuple("Slice", "track category name begin end args flows end_flows", defaults=[()])


class Message:
    """A message in protobuf's text format: fields by name; unset ones are absent from `in`, and None."""

    def __init__(self):
        self.fields = collections.defaultdict(list)

    def __contains__(self, name):
        return name in self.fields

    def __getattr__(self, name):
        return self.fields[name][0] if name in self.fields else None

    def all(self, name):
        return self.fields[name] if name in self.fields else []


def unquote(text):
    """A string of protobuf's text format."""
    return re.sub(rb"\\(?:([0-7]{3})|(.))", lambda m: bytes([int(m[1], 8)]) if m[1] else {b"n": b"\n", b"t": b"\t"}.get(m[2], m[2]),
                  text.encode()).decode()


def parse(text):
    """What protoc --decode prints, as a Message."""
    stack = [Message()]
    for line in text.split("\n"):
        line = line.strip()
        if line.endswith(" {"):
            stack.append(Message())
            stack[-2].fields[line[:-2]].append(stack[-1])
        elif line == "}":
            stack.pop()
        elif line:
            name, value = line.split(": ", 1)
            stack[-1].fields[name].append(unquote(value[1:-1]) if value[0] == '"' else float(value) if re.fullmatch(r"-?[\d.e+-]*[.e][\d.e+-]*", value)
                                          else int(value) if re.fullmatch(r"-?\d+", value) else value)
    return stack[0]


class PerfettoReader(Viewers):
    """protoc reads the files by the part of Perfetto's schema that is written."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("protoc"):
            raise unittest.SkipTest("no protoc: install protobuf-compiler")

    def value(self, a):
        if "dict_entries" in a:
            return {self.keys[e.name_iid]: self.value(e) for e in a.all("dict_entries")}
        if "string_value_iid" in a:
            return self.texts[a.string_value_iid]
        return next(a.fields[f][0] for f in ("uint_value", "int_value", "double_value", "string_value", "bool_value") if f in a)

    def read(self, path):
        """Fills tracks, slices, instants, counters."""
        with open(path, "rb") as file:
            p = subprocess.run(["protoc", f"-I{PROTO}", "--decode=perfetto.protos.Trace", "perfetto.proto"], stdin=file, capture_output=True,
                               check=True)
        text = p.stdout.decode()
        self.assertIsNone(re.search(r"^\s*\d+[:{ ]", text, re.M), "a field that the schema lacks")
        names, self.keys, self.texts, categories = {}, {}, {}, {}
        self.tracks, self.slices, self.instants, self.counters = {}, [], [], []
        stacks = collections.defaultdict(list)
        events = []
        for p in parse(text).all("packet"):
            for table, field in ((names, "event_names"), (self.keys, "debug_annotation_names"), (categories, "event_categories"),
                                 (self.texts, "debug_annotation_string_values")):
                for row in p.interned_data.all(field) if "interned_data" in p else []:
                    self.assertNotIn(row.iid, table)
                    table[row.iid] = row.str if "str" in row else row.name
            if "track_descriptor" in p:
                self.assertNotIn(p.track_descriptor.uuid, self.tracks)
                self.tracks[p.track_descriptor.uuid] = p.track_descriptor
            if "track_event" in p:
                self.assertIn(p.track_event.track_uuid, self.tracks)
                events.append(p)
        # as readers do: by time, those of one time in the order of the file
        for p in sorted(events, key=lambda q: q.timestamp):
            e = p.track_event
            if e.type == "TYPE_COUNTER":
                self.counters.append((self.tracks[e.track_uuid].name, p.timestamp, e.double_counter_value))
            elif e.type == "TYPE_SLICE_END":
                begin = stacks[e.track_uuid].pop()
                self.slices.append(begin._replace(end=p.timestamp, end_flows=e.all("flow_ids")))
            else:
                s = Slice(e.track_uuid, categories[e.category_iids] if "category_iids" in e else "",
                          e.name if "name" in e else names[e.name_iid], p.timestamp, None,
                          {self.keys[a.name_iid]: self.value(a) for a in e.all("debug_annotations")}, e.all("flow_ids"))
                (stacks[e.track_uuid] if e.type == "TYPE_SLICE_BEGIN" else self.instants).append(s)
        self.assertEqual([s for s in stacks.values() if s], [], "slices that never end")

    def of(self, category):
        return [s for s in self.slices if s.category == category]


class Perfetto(PerfettoReader):
    def test_counts_and_times_equal_database(self):
        for trace in (spool.sample(), spool.calls(), self.odd()):
            db = self.database(trace)
            self.read(self.convert(db, "pftrace", "t.pftrace"))
            timed = "(flags & ~1) = 0 AND end_ns >= begin_ns"
            self.assertEqual(sorted((s.begin, s.end) for s in self.of("kernel")),
                             sorted(self.sql(db, f"SELECT begin_ns, end_ns FROM rtl_dispatch WHERE {timed}")))
            self.assertEqual(sorted((s.begin, s.end, s.args["bytes"]) for s in self.of("copy")),
                             sorted(self.sql(db, "SELECT begin_ns, end_ns, bytes FROM rtl_copy")))
            self.assertEqual(sorted((s.begin, s.end, s.name) for c in ("hip_api", "hsa_api") for s in self.of(c)),
                             sorted(self.sql(db, "SELECT begin_ns, end_ns, name FROM rtl_api")))
            self.assertEqual(sorted((s.begin, s.end, s.name) for s in self.of("marker")),
                             sorted(self.sql(db, "SELECT begin_ns, end_ns, message FROM rtl_marker WHERE kind <> 'mark'")))
            # a slice is in the one around it, and times are those of the annotations
            for s in self.slices:
                self.assertLessEqual(s.begin, s.end)
                if "begin_ns" in s.args:
                    self.assertEqual((s.begin, s.end), (s.args["begin_ns"], s.args["end_ns"]))

    def test_tracks_are_processes_threads_queues_and_streams(self):
        db = self.database(spool.calls())
        self.read(self.convert(db, "pftrace", "t.pftrace"))
        process = next(t for t in self.tracks.values() if "process" in t)
        thread = next(t for t in self.tracks.values() if "thread" in t)
        (pid, tid, name), = self.sql(db, "SELECT P.pid, T.tid, T.name FROM rtl_thread T JOIN rtl_process P ON P.id = T.process_id "
                                         "WHERE T.tid <> 0")
        self.assertEqual((process.process.pid, thread.thread.pid, thread.thread.tid, thread.thread.thread_name), (pid, pid, tid, name))
        self.assertEqual({s.track for s in self.of("hip_api")}, {thread.uuid})
        groups = {t.uuid: t.name for t in self.tracks.values() if not t.parent_uuid}
        lanes = {(groups[t.parent_uuid], t.name) for t in self.tracks.values() if t.parent_uuid in groups and t.name}
        self.assertTrue({("GPU 0", "queue 0"), ("GPU 1", "queue 1"), ("GPU 0 by stream", "stream 1 (null)")} <= lanes, lanes)
        self.assertEqual(len(self.of("stream")), self.sql(db, "SELECT count(*) " + CAUSED)[0][0])

    def test_flows_lead_from_calls_to_their_operations(self):
        db = self.database(spool.calls())
        self.read(self.convert(db, "pftrace", "t.pftrace"))
        calls = {s.flows[0]: s for s in self.of("hip_api")}
        ops = self.of("kernel") + self.of("copy")
        linked = {(s.begin, calls[s.flows[0]].begin) for s in ops if s.flows and s.flows[0] in calls}
        self.assertEqual(linked, set(self.sql(db, "SELECT O.start, A.start " + CAUSED)))
        self.assertEqual(len(linked), 13)

    def test_annotations_have_what_tracelens_reads(self):
        db = self.database(spool.calls())
        self.read(self.convert(db, "pftrace", "t.pftrace"))
        for s in self.of("kernel"):
            self.assertLessEqual(TRACELENS, set(s.args))
            self.assertEqual((s.args["grid_size"], s.args["workgroup_size"], s.args["grid"]), (1024, 256, "1024,1,1"))
            self.assertEqual(s.args["delta_ns"], s.end - s.begin)
            self.assertEqual((s.name, s.args["kernel"]), ("vadd", "vadd(float*, float*, float*, int)"))
        launch = next(s for s in self.of("hip_api") if s.name == "hipLaunchKernel")
        self.assertLessEqual({"corr_id", "tid", "operation", "begin_ns", "end_ns"}, set(launch.args))
        self.assertEqual(launch.args["args"]["dimBlocks"], "{256,1,1}")
        failed = next(s for s in self.of("hip_api") if s.args["status"])
        self.assertEqual(failed.args["error"], "hipErrorMemoryAllocation")

    def test_what_overlaps_gets_lanes_and_what_has_no_times_is_an_instant(self):
        self.read(self.convert(self.database(self.odd()), "pftrace", "t.pftrace"))
        self.assertEqual(len({s.track for s in self.of("kernel") if s.args["queue"] == 0}), 5)
        self.assertEqual([s.args["flags"] for s in self.instants if s.category == "kernel"], ["inverted"])
        apart = [s for s in self.of("marker") if s.name.startswith(("one", "two"))]
        self.assertEqual(len({s.track for s in apart}), 2)

    def test_counters_are_tracks(self):
        db = self.database(spool.sample(4))
        with sqlite3.connect(self.path(db)) as c:
            c.execute("INSERT INTO rocpd_string (id, string) VALUES (999999, 'SQ_WAVES')")
            c.execute("INSERT INTO rocpd_counter (value, op_id, name_id) SELECT 64.5, id, 999999 FROM rocpd_op WHERE gpuId = 0 ORDER BY start LIMIT 2")
            c.execute("INSERT INTO rocpd_monitor (deviceType, deviceId, monitorType, start, end, value) VALUES ('gpu', 0, 'sclk', 5, 9, '1700')")
        self.read(self.convert(db, "pftrace", "t.pftrace"))
        waves = [c for c in self.counters if c[0] == "GPU 0 SQ_WAVES"]
        self.assertEqual([v for _, _, v in waves], [64.5, 0, 64.5, 0])
        self.assertEqual([t for _, t, _ in waves],
                         [t for row in self.sql(db, "SELECT start, end FROM rocpd_op WHERE gpuId = 0 ORDER BY start LIMIT 2") for t in row])
        self.assertIn(("GPU 0 gpu sclk", 5, 1700.0), self.counters)

    def test_counters_are_named_after_agents_under_rocprofv3s_name(self):
        trace = spool.sample(4)
        # two at once, one that begins where they end, a fill
        for begin, end, size, kind in ((40, 60, 1000, 1), (50, 60, 3001, 3), (60, 65, 512, 1), (61, 62, 64, 5)):
            trace.copy(trace.start + 1000 * begin, trace.start + 1000 * end, size, kind, engine=size)
        db = self.database(trace)
        with sqlite3.connect(self.path(db)) as c:
            c.execute("INSERT INTO rocpd_string (id, string) VALUES (999999, 'SQ_WAVES')")
            c.execute("INSERT INTO rocpd_counter (value, op_id, name_id) SELECT 64.5, op_id, 999999 FROM rtl_op_kernel")
        agents = {i: (index, kind, gpu) for i, index, kind, gpu in self.sql(db, "SELECT id, agent_index, type, gpu_id FROM rtl_agent")}
        copies = self.sql(db, "SELECT K.dst_agent_id, O.start, O.end, K.bytes FROM rtl_op_copy K JOIN rocpd_op O ON O.id = K.op_id WHERE K.kind <> 5")
        self.assertEqual(len(copies), 4)
        of_gpu = {gpu: f"Agent [{index}]" for index, _, gpu in agents.values()}
        kernels = self.sql(db, "SELECT gpuId, start, end FROM rocpd_op O JOIN rtl_op_kernel K ON K.op_id = O.id WHERE O.end > O.start")
        expected = [(f"{of_gpu[gpu]} PMC SQ_WAVES", at, value) for gpu, start, end in kernels for at, value in ((start, 64.5), (end, 0))]
        for agent in {c[0] for c in copies}:
            to = [c for c in copies if c[0] == agent]
            name = f"COPY BYTES to Agent [{agents[agent][0]}] ({agents[agent][1]})"
            for at in sorted({t for _, start, end, _ in to for t in (start, end)}):
                expected.append((name, at, sum(size for _, start, end, size in to if start <= at < end) / 1024))
        self.read(self.convert(db, "rocprofv3-pftrace", "t.pftrace"))
        self.assertEqual(sorted(self.counters), sorted(expected))
        units = {t.name: (t.counter.unit, t.counter.unit_multiplier) for t in self.tracks.values() if (t.name or "").startswith("COPY BYTES")}
        self.assertEqual(set(units.values()), {("UNIT_SIZE_BYTES", 1024)})

    def test_memory_of_agents_has_tracks_under_rocprofv3s_name(self):
        db = self.database(spool.sample(4))
        with sqlite3.connect(self.path(db)) as c:
            queue, agent, process = c.execute("SELECT Q.id, A.agent_index, Q.process_id FROM rtl_queue Q JOIN rtl_agent A ON A.id = Q.agent_id AND "
                                              "A.type = 'GPU' ORDER BY Q.id LIMIT 1").fetchone()
            thread, first = c.execute("SELECT T.id, P.first_ns FROM rtl_thread T JOIN rtl_process P ON P.id = T.process_id WHERE P.id = ? LIMIT 1",
                                      (process,)).fetchone()
            # a larger one includes the release of the first; the second, smaller one of the queue; the queue's end without a release
            events = ((10, 20, "alloc", 0, 4096), (36, 38, "free", 0, 0), (30, 40, "alloc", 1, 8192), (50, 60, "alloc", 2, 1024),
                      (70, 80, "reclaim", 2, 0))
            for i, (begin, end, operation, flags, size) in enumerate(events, 1):
                c.execute("INSERT INTO rtl_scratch VALUES (?, ?, ?, ?, ?, ?, ?, ?, 4, NULL, 0)",
                          (process + i, thread, queue, operation, flags, first + begin, first + end, size))
            c.execute("UPDATE rtl_queue SET destroy_ns = ? WHERE id = ?", (first + 90, queue))
        self.read(self.convert(db, "rocprofv3-pftrace", "t.pftrace"))
        expected = {10: 0, 20: 4, 30: 4, 36: 4, 38: 0, 40: 8, 50: 8, 60: 9, 70: 9, 80: 8, 90: 0}
        self.assertEqual([(t - first, v) for n, t, v in self.counters if n == f"SCRATCH MEMORY on Agent [{agent}] (GPU)"],
                         sorted(expected.items()))
        # not of another format
        self.read(self.convert(db, "pftrace", "u.pftrace"))
        self.assertEqual([c for c in self.counters if "SCRATCH" in c[0]], [])

    def test_allocations_have_tracks_where_the_pool_is_known(self):
        db = self.database(spool.calls())
        self.read(self.convert(db, "rocprofv3-pftrace", "t.pftrace"))
        self.assertEqual([c for c in self.counters if "ALLOCATE" in c[0]], [])
        with sqlite3.connect(self.path(db)) as c:
            c.execute("UPDATE rocpd_string SET string = 'hsa_amd_memory_pool_allocate' WHERE string = 'hipMalloc'")
            c.execute("UPDATE rocpd_ustring SET string = 'memory_pool=0x10, ' || string WHERE string LIKE 'ptr=0x7000%'")
            agent, label = c.execute("SELECT A.agent_index, A.type FROM rtl_agent A WHERE A.type = 'GPU' LIMIT 1").fetchone()
            c.execute("INSERT INTO rtl_info (process_id, key, value) SELECT id, 'memory_pool', '16 ' || ? FROM rtl_process", (agent,))
            call = c.execute("SELECT A.start, A.end FROM rocpd_api A JOIN rocpd_string N ON N.id = A.apiName_id WHERE N.string LIKE "
                             "'hsa_amd_memory_pool%' ORDER BY A.start LIMIT 1").fetchone()
        self.read(self.convert(db, "rocprofv3-pftrace", "u.pftrace"))
        self.assertEqual([c for c in self.counters if "ALLOCATE" in c[0]],
                         [(f"ALLOCATE BYTES on Agent [{agent}] ({label})", at, 1024.0) for at in call])

    def test_losses_and_verdict_are_instants(self):
        s = spool.sample(2)
        s.loss("buffer_full", 3)
        self.read(self.convert(self.database(s), "pftrace", "t.pftrace"))
        loss = next(i for i in self.instants if i.category == "loss")
        self.assertEqual((loss.name, loss.args["count"]), ("buffer_full", 3))
        self.assertIn("incomplete", next(i for i in self.instants if "verdict" in i.args).name)

    def test_empty_trace_and_compressed_one_are_read(self):
        self.read(self.convert(self.database(spool.Spool()), "pftrace", "t.pftrace"))
        self.assertEqual(self.slices, [])


# annotations and their names in Chrome's JSON and in Perfetto's format
WALK = os.path.join(SOURCE, "src/export/walk.h")
# what kineto has under another name, or an event says itself
KINETO_OWN = {"kernel": None, "grid": "grid", "workgroup": "block", "lds_bytes": "shared memory", "vgprs": "registers per thread", "agent": "device",
              "queue": "hsa_queue", "stream_id": "stream", "stream": "stream", "corr_id": "correlation", "marker": "External id", "bytes": "bytes",
              "gb_per_s": "memory bandwidth (GB/s)", "begin_ns": None, "end_ns": None, "type": None, "tid": None, "api_id": None}


class Annotations(PerfettoReader):
    """Formats have the same annotations of the same event."""

    def names(self):
        with open(WALK, encoding="utf-8") as file:
            return {a: b for a, b in re.findall(r'^\tX\(\w+, "(\w+)", "(\w+)"\)', file.read(), re.M)}

    def plain(self, name, value):
        """A value as Perfetto's format has it."""
        if name in ("grid", "workgroup"):
            return ",".join(map(str, value))
        if name == "flags":
            return " ".join(value)
        return value

    def test_perfettos_formats_have_the_same(self):
        db, names = self.traced(), self.names()
        self.assertGreater(len(names), 35)
        self.read(self.convert(db, "pftrace", "t.pftrace"))
        mine = {(s.category, s.args["begin_ns"], s.args["end_ns"], s.name): s.args for s in self.slices + self.instants if "begin_ns" in s.args}
        seen = set()
        for event in self.json(db, "perfetto", "t.json"):
            args = event.get("args", {})
            if "begin_ns" not in args:
                continue
            theirs = mine.pop((event["cat"], args["begin_ns"], args["end_ns"], event["name"]))
            for name, value in args.items():
                other = names.get(name, name)
                self.assertIn(other, theirs, event)
                if name not in ("args", "mangled"):
                    self.assertEqual(theirs[other], self.plain(name, value), (name, event))
            # what Perfetto's has alone is for TraceLens
            more = set(theirs) - {names.get(n, n) for n in args}
            self.assertLessEqual(more, {"grid_size", "workgroup_size", "delta_ns", "operation", "tid", "stream_ID", "corr_id"})
            seen |= set(args)
        self.assertEqual(mine, {})
        self.assertLessEqual({"kernel_id", "vgprs", "accum_vgprs", "sgprs", "rank", "agent", "stream_id", "SQ_WAVES", "bytes", "flags", "args", "status",
                              "error"}, seen)

    def test_kineto_has_them_under_its_names(self):
        db = self.traced()
        theirs = {e["args"]["api_id"]: e for e in self.json(db, "kineto", "t.pt.trace.json") if "api_id" in e.get("args", {})}
        self.assertGreater(len(theirs), 5)
        for event in self.json(db, "perfetto", "t.json"):
            args = event.get("args", {})
            if event.get("cat") not in ("kernel", "copy") or args.get("api_id") not in theirs:
                continue
            for name, value in args.items():
                other = KINETO_OWN.get(name, name)
                if other and (other != "External id"):
                    self.assertIn(other, theirs[args["api_id"]]["args"], (name, event))
                if name not in KINETO_OWN and name not in ("packet",):
                    self.assertEqual(theirs[args["api_id"]]["args"][other], value)

    def test_counters_are_tracks_of_chromes_json(self):
        db = self.traced()
        self.read(self.convert(db, "pftrace", "t.pftrace"))
        events = self.json(db, "perfetto", "t.json")
        samples = [(f"GPU {e['pid'] - 2000000000} {e['name']}", e["args"]["value"]) for e in events if e["ph"] == "C"]
        self.assertEqual(sorted(samples), sorted((name, value) for name, _, value in self.counters))
        self.assertGreater(len(samples), 10)
        self.assertTrue(all(e["ts"] >= 0 for e in events))


class Speedscope(Viewers):
    def read(self, path):
        """{profile: [(name, begin, end)]}, as the format's schema demands it."""
        with open(path, encoding="utf-8") as file:
            doc = json.load(file)
        self.assertEqual((doc["$schema"], set(doc) - {"exporter", "name", "activeProfileIndex"}), (SCHEMA, {"$schema", "profiles", "shared"}))
        frames = [f["name"] for f in doc["shared"]["frames"]]
        self.assertEqual(len(set(frames)), len(frames), "names aggregate")
        found = {}
        for p in doc["profiles"]:
            self.assertEqual((p["type"], p["unit"]), ("evented", "nanoseconds"))
            stack, last = [], p["startValue"]
            rows = found.setdefault(p["name"], [])
            for e in p["events"]:
                self.assertGreaterEqual(e["at"], last)
                last = e["at"]
                if e["type"] == "O":
                    stack.append((e["frame"], e["at"]))
                else:
                    frame, begin = stack.pop()
                    self.assertEqual(frame, e["frame"])
                    rows.append((frames[frame], begin, e["at"]))
            self.assertEqual((stack, last), ([], p["endValue"]))
        return found

    def test_frames_equal_database(self):
        for trace in (spool.sample(), spool.calls(), self.odd()):
            db = self.database(trace)
            found = self.read(self.convert(db, "speedscope", "t.json"))
            (base,), = self.sql(db, "SELECT min(s) FROM (SELECT min(start) s FROM rocpd_op UNION ALL SELECT min(start) FROM rocpd_api "
                                    "UNION ALL SELECT min(begin_ns) FROM rtl_op_runtime)")
            host = [r for name, rows in found.items() if name.startswith("thread") for r in rows]
            self.assertEqual(sorted((n, b + base, e + base) for n, b, e in host), sorted(self.sql(
                db, "SELECT name, begin_ns, end_ns FROM rtl_api UNION ALL "
                    "SELECT message, begin_ns, end_ns FROM rtl_marker WHERE kind <> 'mark'")))
            gpu = [(b + base, e + base) for name, rows in found.items() if name.startswith("GPU") and "runtime" not in name
                   for _, b, e in rows]
            self.assertEqual(sorted(gpu), sorted(self.sql(db, "SELECT start, end FROM rocpd_op WHERE end >= start")))

    def test_each_lane_is_a_profile(self):
        trace = self.odd()
        trace.tid += 1
        ranges = [trace.marker(trace.start + 5000 + i, f"range {i}", kind=spool.START) for i in range(3)]
        for i, one in enumerate(ranges):
            trace.marker_end(trace.start + 6000 + i, one)
        found = self.read(self.convert(self.database(trace), "speedscope", "t.json"))
        lanes = [(trace.tid - 1, 1), (trace.tid - 1, 2), (trace.tid, 1), (trace.tid, 2), (trace.tid, 3)]
        self.assertEqual(sorted(name for name in found if "overlapping" in name),
                         [f"thread {tid} of process {trace.pid}, overlapping ranges #{n}" for tid, n in lanes])
        self.assertTrue({"GPU 0 queue 0", "GPU 0 queue 0 #5", "GPU 1 queue 1", "GPU 0 copies, engine 0"} <= set(found), sorted(found))

    def test_empty_trace_has_no_profiles(self):
        self.assertEqual(self.read(self.convert(self.database(spool.Spool()), "speedscope", "t.json")), {})


class Otf2(Viewers):
    """otf2-print reads the archives."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("otf2-print"):
            raise unittest.SkipTest("no otf2-print: install otf2-tools")

    def fill(self, name):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("no library")

    def print(self, path, *options):
        p = subprocess.run(["otf2-print", *options, path], capture_output=True, check=False, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return p.stdout

    def read(self, path):
        """{location: [(region, begin, end, attributes)]}; events of a location nest, and their number is that of its definition."""
        groups, names, counts, found = {}, {}, {}, {}
        for line in self.print(path, "-G").splitlines():
            if line.startswith("LOCATION_GROUP"):
                groups[re.search(r'Name: ".*" <(\d+)>', line)[1]] = line
            m = re.match(r'LOCATION +(\d+)  Name: "(.*?)" <\d+>, Type: (\w+), # Events: (\d+), Group: "(.*?)" <', line)
            if m:
                names[m[1]] = f"{m[5]}/{m[2]}"
                counts[m[1]] = int(m[4])
        stacks, last, nr = collections.defaultdict(list), collections.Counter(), collections.Counter()
        event = r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*?)" <\d+>\n(?: +ADDITIONAL ATTRIBUTES: (.*?)\n)?'
        for location in re.findall(r"^(?:METRIC|RMA_\w+) +(\d+) ", self.print(path), re.M):
            nr[location] += 1
        for kind, location, ns, region, about in re.findall(event, self.print(path), re.M | re.S):
            self.assertGreaterEqual(int(ns), last[location])
            last[location] = int(ns)
            nr[location] += 1
            if kind == "ENTER":
                attributes = {k: a or b for k, a, b in re.findall(r'\("(\w+)" <\d+>; \w+; (?:"([^"]*)" <\d+>|([^")]*))\)', about)}
                stacks[location].append((region, int(ns), attributes))
            else:
                name, begin, attributes = stacks[location].pop()
                self.assertEqual(region, name)
                found.setdefault(names[location], []).append((name, begin, int(ns), attributes))
        self.assertFalse([stack for stack in stacks.values() if stack], "regions that are not left")
        self.assertEqual(nr, {k: n for k, n in counts.items() if n})
        self.assertEqual(len(set(names.values())), len(names))
        return found

    def test_events_equal_database(self):
        for trace in (spool.sample(), spool.calls(), self.odd()):
            db = self.database(trace)
            found = self.read(self.convert(db, "otf2", "t.otf2"))
            host = [r for name, rows in found.items() if "/Thread" in name for r in rows]
            self.assertEqual(sorted((n, b, e) for n, b, e, _ in host), sorted(self.sql(
                db, "SELECT name, begin_ns, end_ns FROM rtl_api UNION ALL SELECT message, begin_ns, end_ns FROM rtl_marker")))
            gpu = [r for name, rows in found.items() if name.startswith("GPU") and "runtime" not in name for r in rows]
            self.assertEqual(sorted((b, e) for _, b, e, _ in gpu), sorted(self.sql(db, "SELECT start, end FROM rocpd_op WHERE end >= start")))
            self.assertEqual({a["category"] for *_, a in gpu} - {"kernel_dispatch", "memory_copy"}, set())
            # what has a call has its id
            ids = {a["correlation_id"] for *_, a in host if "correlation_id" in a}
            with_call = self.sql(db, f"SELECT count(*) {CAUSED} AND O.end >= O.start")[0][0]
            self.assertGreaterEqual(sum(a.get("correlation_id") in ids for *_, a in gpu), with_call)

    def test_annotations_are_those_of_chromes_json(self):
        db = self.traced()
        found = self.read(self.convert(db, "otf2", "t.otf2"))
        mine = {(name, begin, end): about for rows in found.values() for name, begin, end, about in rows}
        seen = set()
        for event in self.json(db, "perfetto", "t.json"):
            args = event.get("args", {})
            if "begin_ns" not in args or args["end_ns"] < args["begin_ns"]:
                continue
            about = mine[event["name"], args.pop("begin_ns"), args.pop("end_ns")]
            args.pop("args", None)
            for name, value in args.items():
                if name in ("kernel", "mangled", "flags"):
                    self.assertIn(name, about)
                    continue
                value = ",".join(map(str, value)) if isinstance(value, list) else value
                shown = about["correlation_id" if name == "corr_id" else name]
                if isinstance(value, float):  # otf2-print shows six digits
                    self.assertAlmostEqual(float(shown) / value, 1, 5)
                else:
                    self.assertEqual(shown, str(value), (name, event))
            seen |= set(args)
        self.assertLessEqual({"kernel_id", "vgprs", "accum_vgprs", "sgprs", "rank", "agent", "grid", "SQ_WAVES", "bytes", "status", "error"}, seen)

    def test_counters_are_metrics(self):
        """A counter of a dispatch has its value from the begin to the end, and is 0 between two."""
        db = self.traced()
        path = self.convert(db, "otf2", "t.otf2")
        text = self.print(path, "-G")
        self.assertEqual(sorted(re.findall(r'^METRIC_MEMBER +\d+  Name: "(.*?)" <\d+>, .*ABSOLUTE_NEXT.*DOUBLE', text, re.M)), ["SQ_WAVES", "gpu sclk"])
        names = dict(re.findall(r'^LOCATION +(\d+)  Name: "(.*?)" <\d+>, Type: METRIC,', text, re.M))
        found, last = collections.defaultdict(list), collections.Counter()
        for location, ns, value in re.findall(r"^METRIC +(\d+) +(\d+)  .*?Value: \(.*?; (?:DOUBLE; )?([\d.e+-]+)\)", self.print(path), re.M):
            self.assertGreaterEqual(int(ns), last[location])
            last[location] = int(ns)
            found[names[location]].append((int(ns), float(value)))
        # but for one that begins before the one before has ended
        counted = self.sql(db, "WITH K AS (SELECT O.* FROM rocpd_counter C JOIN rocpd_op O ON O.id = C.op_id WHERE O.start > 0) SELECT DISTINCT start FROM K "
                               "WHERE NOT EXISTS (SELECT 1 FROM K L WHERE L.gpuId = K.gpuId AND L.start < K.start AND L.end > K.start)")
        self.assertGreater(len(counted), 3)
        self.assertEqual({v for _, v in found["SQ_WAVES"]}, {64.5, 0})
        self.assertLessEqual({ns for (ns,) in counted} - {ns for ns, v in found["SQ_WAVES"] if v}, set())
        self.assertEqual(found["gpu sclk"], [(5, 1700.0)])
        # a GPU's group names the process
        self.assertIsNone(re.search(r"Type: ACCELERATOR, .*Creator: UNDEFINED", text))

    def test_locations_are_threads_and_lanes_of_queues(self):
        found = self.read(self.convert(self.database(self.odd()), "otf2", "t.otf2"))
        self.assertTrue({"GPU 0/queue 0", "GPU 0/queue 0 #5", "GPU 1/queue 1", "GPU 0/copies, engine 0"} <= set(found), sorted(found))

    def test_existing_archive_is_replaced_with_force_and_other_files_are_kept(self):
        db = self.database(spool.sample())
        self.rtl("convert", "-q", db, "-f", "otf2")
        self.assertEqual(self.files(), ["t", "t.db", "t.def", "t.otf2", "t.rtl"])
        self.assertIn("--force", self.rtl("convert", db, "-f", "otf2", status=1).stderr)
        self.rtl("convert", "-q", db, "-f", "otf2", "--force")
        self.read(self.path("t.otf2"))
        self.fill("t/mine.txt")
        self.assertIn("other files", self.rtl("convert", db, "-f", "otf2", "--force", status=1).stderr)
        self.assertTrue(os.path.exists(self.path("t/mine.txt")))
        # a name of a location's file, and no such file; links
        os.rename(self.path("t/mine.txt"), self.path("t/0.evt"))
        self.assertIn("other files", self.rtl("convert", db, "-f", "otf2", "--force", status=1).stderr)
        self.assertTrue(os.path.exists(self.path("t/0.evt")))
        os.rename(self.path("t"), self.path("u"))
        os.unlink(self.path("u/0.evt"))
        for name, target in (("t", "u"), ("t.def", "u/0.def"), ("t.otf2", "t.db")):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
            os.symlink(target, self.path(name))
            self.assertIn("no part of an archive", self.rtl("convert", db, "-f", "otf2", "--force", status=1).stderr, name)
            os.unlink(self.path(name))
        with open(self.path("t.def"), "w", encoding="utf-8") as file:
            file.write("mine")
        self.assertIn("other files", self.rtl("convert", db, "-f", "otf2", "--force", status=1).stderr)
        with open(self.path("t.def"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertIn("NAME.otf2", self.rtl("convert", db, "-f", "otf2", "-o", "-", status=1).stderr)
        self.assertEqual([f for f in self.files() if "tmp" in f], [])

    def test_library_that_is_no_library_is_named(self):
        db = self.database(spool.sample())
        for name in ("libotf2.so.10", "libopen-trace-format2.so.10"):
            self.fill(name)
        p = self.rtl("convert", db, "-f", "otf2", status=1, env={"LD_LIBRARY_PATH": self.dir})
        self.assertIn("install it", p.stderr)
        self.assertEqual([f for f in self.files() if "tmp" in f or f.startswith("t.otf2")], [])

    def test_each_process_gets_its_archive_under_rocprofv3s_name(self):
        spool.calls(pid=1111).write(self.path("a.rtl"))
        spool.calls(pid=2222).write(self.path("b.rtl"))
        self.rtl("merge", "-q", "a.rtl", "b.rtl", "-o", "both.db")
        self.convert("both.db", "rocprofv3-otf2", "x-%pid%")
        for pid in (1111, 2222):
            found = self.read(self.path(f"x-{pid}_results.otf2"))
            self.assertEqual({n.split(" ")[-1] for n in found if "Thread" in n} - {str(pid)}, set(), found.keys())


class Folded(Viewers):
    def read(self, path):
        with open(path, encoding="utf-8") as file:
            lines = [line.rstrip("\n").rsplit(" ", 1) for line in file]
        self.assertEqual(len({stack for stack, _ in lines}), len(lines))
        return {tuple(stack.split(";")): int(ns) for stack, ns in lines}

    def test_weights_equal_database(self):
        for trace in (spool.sample(), spool.calls(), self.odd()):
            db = self.database(trace)
            found = self.read(self.convert(db, "folded", "t.folded"))
            self.assertEqual(sum(found.values()), self.sql(db, "SELECT sum(end - start) FROM rocpd_op WHERE end >= start")[0][0])

    def test_stacks_are_ranges_calls_and_kernels(self):
        db = self.database(spool.calls())
        found = self.read(self.convert(db, "folded", "t.folded"))
        (tid,), = self.sql(db, "SELECT tid FROM rtl_thread WHERE tid <> 0")
        stacks = {s[1:]: ns for s, ns in found.items()}
        self.assertEqual(stacks[f"thread {tid}", "step", "hipLaunchKernel", "vadd"], 10 * 500)
        self.assertEqual(stacks[f"thread {tid}", "step", "hipMemcpyAsync", "CopyHostToDevice"], 200)

    def test_separators_in_names_are_replaced(self):
        s = spool.sample(0)
        marker = s.marker(s.start + 30_000, "one; two\nthree")
        s.dispatch(1, 0, s.start + 31_000, s.start + 32_000, marker)
        s.marker_end(s.start + 40_000, marker)
        found = self.read(self.convert(self.database(s), "folded", "t.folded"))
        self.assertIn("one: two three", {frame for stack in found for frame in stack})

    def test_databases_of_rpd_are_read(self):
        with sqlite3.connect(self.path("rpd.db")) as db:
            db.executescript(RPD_TABLES + """
                insert into rocpd_string values (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'), (6, 'UserMarker'), (7, 'step');
                insert into rocpd_api values (1, 77, 78, 1000, 2000, 2, 1), (2, 77, 78, 500, 9000, 6, 7);
                insert into rocpd_op values (1, 0, 0, 1, '', 3000, 5000, 3, 4);
                insert into rocpd_api_ops values (1, 1, 1);
            """)
        found = self.read(self.convert("rpd.db", "folded", "t.folded"))
        self.assertEqual(found, {("process 77", "thread 78", "step", "hipLaunchKernel", "gemm"): 2000})
        for form in ("pftrace", "speedscope"):
            self.convert("rpd.db", form, "t.out")


class Kernels(Viewers):
    """Kernels of different mangled names stay apart, however they read: overloads, local types of one name, names of one beginning."""

    NAMES = ("_Z5scalePf", "_Z5scalePd", "_ZZ1fvE1k", "_ZZ1fvE1k_0", "_Z3addPfDF16b", "_Z3addPfDF16bi", "_ZL1kPi", "_Z1kPi", "alone",
             f"_ZN171{'a' * 171}1fEPi", f"_ZN171{'a' * 171}1gEPi")

    def trace(self):
        s = spool.Spool()
        s.agent(gpu=False, name="cpu")
        s.agent()
        s.queue(1)
        for i, name in enumerate(self.NAMES):
            s.dispatch(s.kernel(name), 0, s.start + 31_000 + 1000 * i, s.start + 31_001 + 1001 * i)
        return s

    def test_each_kernel_is_one_row_and_one_region(self):
        nr = len(self.NAMES)
        db = self.database(self.trace())
        for source in (db, "t.rtl"):
            rows = list(csv.DictReader(io.StringIO(self.rtl("summary", source, "--by", "kernel", "-f", "csv").stdout)))
            self.assertEqual(sorted(int(r["total_ns"]) for r in rows), list(range(1, nr + 1)), source)
            self.assertEqual(len({r["name"] for r in rows}), nr, source)
        self.assertEqual(len(set(self.sql(db, "SELECT kernel FROM rtl_dispatch"))), nr)
        for name in ("k(int*)", "k(int*) [_Z1kPi]", "f()::k", "f()::k [_ZZ1fvE1k_0]", "add(float*, std::bfloat16_t, int)", "alone"):
            self.assertEqual(len(self.sql(db, "SELECT kernel FROM rtl_dispatch WHERE kernel = ?", name)), 1, name)
        with open(self.convert(db, "speedscope", "t.json"), encoding="utf-8") as file:
            frames = [f["name"] for f in json.load(file)["shared"]["frames"]]
        self.assertEqual(len(frames), nr)
        self.assertEqual(len(set(frames)), nr)
        self.assertLess({"alone", "scale(float*)", "scale(double*)"}, set(frames))
        with open(self.convert(db, "folded", "t.folded"), encoding="utf-8") as file:
            self.assertEqual(sorted(int(line.rsplit(" ", 1)[1]) for line in file), list(range(1, nr + 1)))
        if shutil.which("otf2-print"):
            text = subprocess.run(["otf2-print", "-G", self.convert(db, "otf2", "t.otf2")], capture_output=True, check=True, text=True).stdout
            self.assertEqual(len(set(re.findall(r'^REGION .*?Name: "(.*?)"', text, re.M))), nr, text)


if __name__ == "__main__":
    unittest.main()
