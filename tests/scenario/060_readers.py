#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files are what other programs read: RPD's readers and trimmers, viewers of Chrome JSON."""
import ast
import collections
import contextlib
import functools
import gzip
import html
import http.server
import re
import shutil
import sqlite3
import threading

from support import *
from support import browser

# RPD v3: table -> columns in order; more columns may follow
RPD_TABLES = {
    "rocpd_metadata": "id tag value",
    "rocpd_string": "id string",
    "rocpd_ustring": "id string",
    "rocpd_api": "id pid tid start end apiName_id category_id domain_id args_id",
    "rocpd_op": "id gpuId queueId sequenceId start end description_id opType_id",
    "rocpd_api_ops": "id api_id op_id",
    "rocpd_kernelapi": "api_ptr_id stream gridX gridY gridZ workgroupX workgroupY workgroupZ groupSegmentSize "
    "privateSegmentSize kernelName_id",
    "rocpd_copyapi": "api_ptr_id stream size width height kind dst src dstDevice srcDevice sync pinned",
    "rocpd_monitor": "id deviceType deviceId monitorType start end value",
    "rocpd_counter": "id value op_id name_id",
    "rocpd_stackframe": "id api_ptr_id depth name_id",
}
RPD_VIEWS = {
    "api": "id pid tid start end domain category apiName args",
    "op": "id gpuId queueId sequenceId start end description opType",
    "busy": "gpuId GpuTime WallTime Busy",
    "top": "Name TotalCalls TotalDuration_us Ave_us Percentage",
}
OUR_VIEWS = {
    "rtl_dispatch": "op_id kernel agent queue packet_index begin_ticks end_ticks begin_ns end_ns grid_x grid_y grid_z "
    "group_x group_y group_z correlation_id marker_id flags",
    "rtl_copy": "op_id kind bytes src dst begin_ns end_ns correlation_id marker_id",
    "rtl_transfer": "op_id kind bytes agent queue begin_ns end_ns correlation_id marker_id flags means src dst src_agent_id dst_agent_id",
    "rtl_host_copy": "api_id pid tid name kind bytes src dst begin_ns end_ns correlation_id",
    "rtl_api": "api_id pid tid domain name begin_ns end_ns status correlation_id parent_id args",
    "rtl_marker": "marker_id pid tid kind message begin_ns end_ns level",
    "rtl_loss": "pid reason count first_ns last_ns",
}

_traced = None


def traced():
    """The trace that all cases share: two GPUs, two processes, copies, markers."""
    global _traced
    if _traced is None or not os.path.exists(_traced.output):
        launcher, ranges = program("launcher"), program("ranges")
        shared = os.path.join(TMP, "060_readers.trace")
        shutil.rmtree(shared, ignore_errors=True)
        _traced = run(
            "/bin/sh", "-c",
            f"'{launcher}' launches=600 threads=3 streams=2 devices=2 copies=3 roctx=1 ext=1 && '{ranges}'",
            trace=RTL, gpus=2)
        # shared: it stays when the case that made it ends
        shutil.move(_traced.dir, shared)
        _traced.dir, _traced.output = shared, os.path.join(shared, "trace.db")
    return _traced


def columns(r, table):
    return [row[1] for row in r.rows(f"pragma table_info({table})")]


@case
def rpd_tables_and_views_have_their_columns():
    r = traced()
    for table, names in RPD_TABLES.items():
        seen = columns(r, table)
        equal(f"columns of {table}", " ".join(seen[: len(names.split())]), names)
    for view, names in RPD_VIEWS.items():
        equal(f"columns of view {view}", " ".join(columns(r, view)), names)
    equal("schema_version", r.value("select value from rocpd_metadata where tag = 'schema_version'"), "3")
    equal("gpu_stride", r.value("select value from rocpd_metadata where tag = 'gpu_stride'"), "1000")
    equal("pid_stride", r.value("select value from rocpd_metadata where tag = 'pid_stride'"), "10000000")


@case
def rtl_views_have_their_columns():
    r = traced()
    for view, names in OUR_VIEWS.items():
        seen = columns(r, view)
        missing = [n for n in names.split() if n not in seen]
        equal(f"columns that view {view} lacks (has {' '.join(seen)})", missing, [])


@case
def rpd2tracing_finds_what_it_queries():
    r = traced()
    at_least("rows of rocpd_api", r.count("rocpd_api"), 1)
    at_least("rows of rocpd_op", r.count("rocpd_op"), 600)
    at_least("rows of rocpd_string", r.count("rocpd_string"), 10)
    # its join: rows without a partner would be dropped silently
    joined = r.value(
        "select count(*) from rocpd_api A join rocpd_string B on B.id = A.apiName_id "
        "join rocpd_ustring C on C.id = A.args_id")
    equal("API rows with a name and arguments", joined, r.count("rocpd_api"))
    joined = r.value(
        "select count(*) from rocpd_op A join rocpd_string B on B.id = A.opType_id "
        "join rocpd_string C on C.id = A.description_id")
    equal("operations with type and description", joined, r.count("rocpd_op"))
    equal("rows of view op", r.count("op"), r.count("rocpd_op"))
    equal("rows of view api", r.count("api"), r.count("rocpd_api"))


@case
def trim_tools_keep_all_rows():
    r = traced()
    unlinked = r.value("select count(*) from rocpd_op where id not in (select op_id from rocpd_api_ops)")
    equal("operations that no API row is linked to", unlinked, 0)
    # rpd_trim keeps API rows in the window and the operations linked to them
    lo, hi = r.rows("select min(start), max(end) from rocpd_api")[0]
    kept = r.value(
        "select count(distinct op_id) from rocpd_api_ops where api_id in "
        "(select id from rocpd_api where start >= ? and end <= ?)", lo, hi)
    equal("operations left after a trim to the whole range", kept, r.count("rocpd_op"))
    first, last = r.rows("select min(start), max(end) from rocpd_op")[0]
    at_most("begin of the first API row (before the first operation)", lo, first)
    at_least("end of the last API row is after the last operation's begin", hi + 10**9, last)


def names_of(db):
    """What the strings of rocpd_string are of, by view."""
    return [db.execute(q).fetchall() for q in (
        "select * from api order by id", "select * from op order by id", "select api_ptr_id, string from rocpd_kernelapi K "
        "join rocpd_string S on S.id = K.kernelName_id order by 1", "select * from rtl_counter order by 1, 4")]


@case
def strings_with_new_ids_keep_their_columns():
    """RPD's tools drop strings that no known column has, and give the others new ids."""
    r = traced()
    copy = os.path.join(new_dir("strings"), "copy.db")
    shutil.copy(r.output, copy)
    with contextlib.closing(sqlite3.connect(copy)) as db:
        names = names_of(db)
        users = [("rocpd_op", "description_id"), ("rocpd_op", "opType_id"), ("rocpd_api", "apiName_id"),
                 ("rocpd_kernelapi", "kernelName_id")]
        for value, in db.execute("select value from rocpd_metadata where tag = 'references::rocpd_string.id'").fetchall():
            if ast.literal_eval(value) not in users:
                users.append(ast.literal_eval(value))
        used = " union ".join(f"select {c} from {t}" for t, c in users)
        db.execute("insert into rocpd_string(id, string) values (0, 'unused')")
        db.execute(f"create temp table new as select row_number() over (order by id desc) + 5 as after, id as before, string "
                   f"from rocpd_string where id in ({used})")
        db.execute("delete from rocpd_string")
        db.execute("insert into rocpd_string select after, string from new")
        for table, column in users:
            db.execute(f"update {table} set {column} = (select after from new where before = {column})")
        equal("foreign key check", db.execute("pragma foreign_key_check").fetchall(), [])
        equal("names", names_of(db), names)
        equal("strings that nothing has", db.execute("select count(*) from rocpd_string where string = 'unused'").fetchone(), (0,))


@case
def arguments_survive_a_trim():
    """RPD's trim takes the arguments of calls for strings of rocpd_string, and gives them new ids."""
    r = traced()
    copy = os.path.join(new_dir("trim"), "copy.db")
    shutil.copy(r.output, copy)
    with contextlib.closing(sqlite3.connect(copy)) as db:
        # the begin of the call that causes the operation in the middle
        starts = [start for start, in db.execute("select A.start from rocpd_api_ops L join rocpd_api A on A.id = L.api_id order by 1")]
        middle = starts[len(starts) // 2]
        expected = [db.execute(f"select * from {view} order by id").fetchall() for view in ("api where start >= " + str(middle), "op where id in "
                    f"(select op_id from rocpd_api_ops L join rocpd_api A on A.id = L.api_id where A.start >= {middle})")]
        db.execute("delete from rocpd_api where start < ?", (middle,))
        db.execute("delete from rocpd_api_ops where api_id not in (select id from rocpd_api)")
        db.execute("delete from rocpd_op where id not in (select op_id from rocpd_api_ops)")
        db.execute("create temp table new as select id as before, id + 1 as after, string from rocpd_string")
        db.execute("delete from rocpd_string")
        db.execute("insert into rocpd_string select after, string from new")
        users = {("rocpd_op", "description_id"), ("rocpd_op", "opType_id"), ("rocpd_api", "apiName_id"), ("rocpd_api", "args_id")}
        users.update(ast.literal_eval(v) for v, in db.execute("select value from rocpd_metadata where tag = 'references::rocpd_string.id'"))
        for table, column in sorted(users):
            db.execute(f"update {table} set {column} = coalesce((select after from new where before = {column}), 1)")
        kept = [db.execute(f"select * from {view} order by id").fetchall() for view in ("api", "op")]
        at_least("calls that are kept", len(kept[0]), 10)
        at_least("operations that are kept", len(kept[1]), len(starts) // 2)
        equal("calls", kept[0], expected[0])
        equal("operations", kept[1], expected[1])
        # a statement that is not the trim's
        call, = db.execute("select min(id) from rocpd_api").fetchone()
        db.execute("update rocpd_api set args_id = -5, category_id = -6 where id = ?", (call,))
        equal("changed together", db.execute("select args_id, category_id from rocpd_api where id = ?", (call,)).fetchone(), (-5, -6))


@case
def references_lead_to_rows():
    r = traced()
    equal("foreign key check", r.rows("pragma foreign_key_check"), [])
    intact(r.db())
    equal("null columns of rocpd_op", r.value(
        "select count(*) from rocpd_op where gpuId is null or queueId is null or sequenceId is null or start is null "
        "or end is null or description_id is null or opType_id is null"), 0)


@case
def operations_have_plausible_values():
    r = traced()
    types = dict(r.rows("select opType, count(*) from op group by opType"))
    at_least(f"KernelExecution among {types}", types.get("KernelExecution", 0), 600)
    gpus = [row[0] for row in r.rows("select distinct gpuId from rocpd_op order by 1")]
    equal("gpuId of operations", gpus, [0, 1])
    equal("operations that end before they begin", r.value("select count(*) from rocpd_op where end < start"), 0)
    equal("markers among operations", r.value("select count(*) from op where opType like '%Marker%'"), 0)
    # demangled by default
    equal("mangled names in description", r.value("select count(*) from op where description like '\\_Z%' escape '\\'"), 0)
    at_least("templates in description", r.value("select count(*) from op where description like '%<%>%'"), 1)
    longest = r.value("select max(length(description)) from op")
    at_least("length of the longest kernel name", longest, 1000)


@case
def rpd_views_agree_with_rows():
    r = traced()
    for gpu, gpu_time, wall, busy in r.rows("select gpuId, GpuTime, WallTime, Busy from busy"):
        want = r.value("select sum(end - start) from rocpd_op where gpuId = ?", gpu)
        equal(f"GpuTime of GPU {gpu}", gpu_time, want)
        equal(f"Busy of GPU {gpu}", round(busy, 9), round(gpu_time / wall, 9))
    total = r.value("select sum(TotalCalls) from top")
    equal("TotalCalls of view top", total, r.count("rocpd_op"))
    share = r.value("select sum(Percentage) from top")
    equal("Percentage of view top", round(share), 100)


@case
def markers_are_api_rows():
    r = traced()
    rows = dict(r.rows("select args, count(*) from api where apiName = 'UserMarker' group by args"))
    for text in ("outer", "inner", "mark in inner"):
        equal(f"UserMarker rows {text!r}", rows.get(text), 1)
    instant = r.value("select count(*) from api where apiName = 'UserMarker' and args = 'mark in inner' and start = end")
    equal("an instant is an instant", instant, 1)
    # categories as in RPD's own files
    equal("categories", {tuple(r) for r in r.rows("select A.category, M.kind = 'mark' from api A join rtl_marker M on M.marker_id = A.id")},
          {("mark", 1), ("range", 0)})


@case
def ids_are_unique():
    r = traced()
    pids = r.value("select count(distinct pid) from rocpd_api")
    at_least("processes", pids, 2)
    equal("correlation ids that two processes share in rocpd_op links", r.value(
        "select count(*) from (select op_id from rocpd_api_ops group by op_id having count(distinct api_id) > 1)"), 0)


def json_of(r, name="trace.json"):
    path = os.path.join(r.dir, name)
    if not os.path.exists(path):
        ended(r.rtl("convert", r.output, "-f", "perfetto", "-o", path), 0)
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        return json.load(f), path


@case
def perfetto_json_is_valid():
    r = traced()
    doc, _ = json_of(r)
    events = doc["traceEvents"] if isinstance(doc, dict) else doc
    phases = collections.Counter(e["ph"] for e in events)
    dispatches = r.count("rtl_dispatch", "not flags & 32")
    at_least(f"complete events among {dict(phases)}", phases["X"], dispatches)
    for e in events:
        if e["ph"] in ("M",):
            continue
        for key in ("name", "pid", "tid", "ts"):
            if key not in e:
                fail(f"event without {key}: {e}")
        if e["ts"] < 0 or (e["ph"] == "X" and e["dur"] < 0):
            fail(f"event with a negative time: {e}")
    kernels = [e for e in events if e["ph"] == "X" and e["cat"] == "kernel" and "k09_wide" in e["name"]]
    want = r.count("rtl_dispatch", "kernel like '%k09_wide%'")
    equal("events named k09_wide", len(kernels), want)
    marks = [e for e in events if e["name"] == "mark in inner"]
    equal("phase of a mark", [e["ph"] for e in marks], ["i"])
    inner = [e for e in events if e["name"] == "inner" and e["ph"] in ("X", "B")]
    equal("events of range 'inner'", len(inner), 1)


@case
def perfetto_tracks_have_no_overlap():
    r = traced()
    doc, _ = json_of(r)
    events = doc["traceEvents"] if isinstance(doc, dict) else doc
    names = [e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"]
    at_least(f"tracks of GPUs among {names}", sum("GPU" in n for n in names), 2)
    # events on a track nest: Perfetto drops partial overlaps
    tracks = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            tracks[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
    for key, spans in tracks.items():
        spans.sort(key=lambda s: (s[0], -s[1]))
        stack = []
        for span in spans:
            while stack and stack[-1][1] <= span[0] + 1e-6:
                stack.pop()
            if stack and span[1] > stack[-1][1] + 1e-3:
                fail(f"track {key}: {span} overlaps {stack[-1]} without lying in it")
            stack.append(span)


@case
def perfetto_flows_are_paired():
    r = traced()
    doc, _ = json_of(r)
    events = doc["traceEvents"] if isinstance(doc, dict) else doc
    starts = collections.Counter((e.get("cat"), e["id"]) for e in events if e["ph"] == "s")
    ends = collections.Counter((e.get("cat"), e["id"]) for e in events if e["ph"] == "f")
    same_counter("ends of flows", ends.elements(), starts.elements())


@case
def perfetto_gzip_has_same_times():
    r = traced()
    plain, _ = json_of(r)
    packed, path = json_of(r, "trace.json.gz")
    equal("events of the compressed file", len(packed["traceEvents"]), len(plain["traceEvents"]))
    at_least("bytes", os.path.getsize(path), 1000)
    # durations are those of the trace, to the ns
    seen = collections.Counter(
        round(e["dur"] * 1000) for e in plain["traceEvents"]
        if e["ph"] == "X" and e["cat"] == "kernel" and "k09_wide" in e["name"])
    want = collections.Counter(
        row[0] for row in r.rows("select end_ns - begin_ns from rtl_dispatch where kernel like '%k09_wide%'"))
    same_counter("durations of k09_wide", seen.elements(), want.elements())


class Folder(http.server.SimpleHTTPRequestHandler):
    """Serves a folder to the browser, which decompresses .gz files."""

    def end_headers(self):
        if self.path.endswith(".gz"):
            self.send_header("Content-Encoding", "gzip")
        super().end_headers()

    def log_message(self, *args):
        pass


# Loads Chrome JSON, builds tracks and binds arrows as a viewer does; shows its counts as JSON.
VIEWER = r"""<!doctype html>
<meta charset="utf-8">
<pre id="found"></pre>
<script>
"use strict";

function load(name) {
  const request = new XMLHttpRequest();
  request.open("GET", name, false); // the page is done when this is
  request.send();
  if (request.status !== 200)
    throw new Error(name + ": status " + request.status);
  return JSON.parse(request.responseText);
}

function tracksOf(events) {
  const tracks = new Map();
  for (const e of events) {
    if (e.ph !== "X")
      continue;
    const key = e.pid + "/" + e.tid;
    if (!tracks.has(key))
      tracks.set(key, []);
    tracks.get(key).push(e);
  }
  for (const slices of tracks.values())
    slices.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
  return tracks;
}

// Viewers nest the slices of a track and drop partial overlaps.
function dropped(slices) {
  const open = [];
  let count = 0;
  for (const s of slices) {
    while (open.length && open[open.length - 1] <= s.ts + 1e-6)
      open.pop();
    if (open.length && s.ts + s.dur > open[open.length - 1] + 1e-3)
      count++;
    else
      open.push(s.ts + s.dur);
  }
  return count;
}

// An end of an arrow binds to a slice of its track that contains it.
function isOnSlice(tracks, e) {
  const slices = tracks.get(e.pid + "/" + e.tid) || [];
  return slices.some(s => s.ts <= e.ts + 1e-3 && e.ts <= s.ts + s.dur + 1e-3);
}

function walk(name) {
  const doc = load(name);
  const events = doc.traceEvents;
  const tracks = tracksOf(events);
  const found = { events: events.length, tracks: tracks.size, slices: {}, phases: {}, names: {},
    dropped: 0, starts: 0, ends: 0, unbound: 0, unpaired: 0, unnamed: 0, complete: doc.metadata.complete };
  const starts = new Map(), named = new Set();

  for (const e of events) {
    found.phases[e.ph] = (found.phases[e.ph] || 0) + 1;
    if (e.ph === "X") {
      found.slices[e.cat] = (found.slices[e.cat] || 0) + 1;
      if (e.cat === "kernel")
        found.names[e.args.kernel] = (found.names[e.args.kernel] || 0) + 1;
    }
    if (e.ph === "M" && e.name === "thread_name")
      named.add(e.pid + "/" + e.tid);
    if (e.ph === "s")
      starts.set(e.cat + e.id, e);
  }
  for (const e of events) {
    if (e.ph !== "s" && e.ph !== "f")
      continue;
    found[e.ph === "s" ? "starts" : "ends"]++;
    if (!isOnSlice(tracks, e))
      found.unbound++;
    if (e.ph === "f" && !starts.has(e.cat + e.id))
      found.unpaired++;
  }
  for (const [key, slices] of tracks) {
    found.dropped += dropped(slices);
    if (!named.has(key))
      found.unnamed++;
  }
  return found;
}

let result;
try {
  result = { plain: walk("trace.json"), packed: walk("trace.json.gz") };
} catch (e) {
  result = { error: String(e) };
}
document.getElementById("found").textContent = JSON.stringify(result);
</script>
"""


def seen_by_chromium(folder):
    with open(os.path.join(folder, "viewer.html"), "w", encoding="utf-8") as f:
        f.write(VIEWER)
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        skip("chromium is not installed")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Folder, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        p = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", f"--user-data-dir={work_dir()}/profile", "--dump-dom",
             f"http://127.0.0.1:{server.server_port}/viewer.html"],
            capture_output=True, text=True, timeout=150, check=False, env={**os.environ, "HOME": work_dir()})
        server.shutdown()
    found = re.search(r'<pre id="found">(.*?)</pre>', p.stdout, re.DOTALL)
    if not found or not found[1]:
        fail(f"{browser} gave no result, status {p.returncode}\n{shorten(p.stdout)}\n{p.stderr[-2000:]}")
    return json.loads(html.unescape(found[1]))


@case
def chromium_loads_chrome_json():
    """A page in Chromium loads the JSON, plain and compressed, as a viewer does; its counts equal the database's."""
    r = traced()
    for name in ("trace.json", "trace.json.gz"):
        json_of(r, name)
    result = seen_by_chromium(r.dir)
    if "error" in result:
        fail(f"the page failed: {result['error']}")
    found = result["plain"]
    equal("what is found in the packed file", result["packed"], found)
    timed = "end_ns > begin_ns"
    kernels = f"not flags & 32 and kernel not glob '__amd_rocclr_[cf]*' and {timed}"
    equal("kernels", found["slices"].get("kernel"), r.count("rtl_dispatch", kernels))
    equal("kernels by name", found["names"], dict(r.rows(f"select kernel, count(*) from rtl_dispatch where {kernels} group by kernel")))
    equal("copies", found["slices"].get("copy"), r.count("rtl_transfer", timed))
    calls = sum(found["slices"].get(cat, 0) for cat in ("hip_api", "hsa_api"))
    at_least("calls", calls, 1000)
    equal("calls", calls, r.count("rtl_api", "domain in ('hip', 'hsa')"))
    at_least("arrows", found["starts"], 600)
    equal("ends of arrows", found["ends"], found["starts"])
    for what in ("dropped", "unbound", "unpaired", "unnamed"):
        equal(f"{what} of {found['events']} events on {found['tracks']} tracks", found[what], 0)
    equal("verdict in the file", found["complete"], True)


@case
def chromium_opens_report():
    """The report of a real trace: its sums are the database's, a click finds a kernel, nothing is requested, nothing fails."""
    r = traced()
    if not browser.find():
        skip("chromium is not installed")
    report = os.path.join(r.dir, "trace.html")
    ended(r.rtl("report", r.output, "-o", report), 0)
    at_most("bytes", os.path.getsize(report), 3 << 20)
    with browser.Browser(work_dir()) as chromium:
        page = chromium.open(report)
        page.wait("document.body && document.body.dataset.loaded")
        sums = "rtlReport.trace.tables.%s.reduce((n, s) => n + s.%s, 0)"
        for table, rows, where in (("kernels", "rtl_dispatch", "not flags & 32 and kernel not glob '__amd_rocclr_[cf]*'"), ("copies", "rtl_transfer", "1"), ("ranges", "rtl_marker", "1"),
                                   ("calls", "rtl_api", "1")):
            equal(f"number of {table}", page.evaluate(sums % (table, "calls")), r.count(rows, where))
            equal(f"time of {table}", page.evaluate(sums % (table, "total_ns")), r.value(f"select sum(end_ns - begin_ns) from {rows} where {where}"))
        page.click_on("#tab-timeline")
        op = r.value("select op_id from rtl_dispatch where end_ns > begin_ns and not flags & 32 and correlation_id order by begin_ns desc limit 1")
        x, y = page.evaluate(f"""(() => {{ const t = rtlReport.page.timeline, s = rtlReport.trace.find(['kernels'], 'id', {op});
            t.fit(s.begin, s.end); t.reveal(s.row); t.drawNow();
            const box = t.canvas.getBoundingClientRect(), at = t.layout.positionOf(s.row);
            return [box.x + t.picture.x((s.begin + s.end) / 2), box.y + 30 + at.y + at.height / 2 - t.scroll]; }})()""")
        page.click(x, y)
        equal("selected operation", page.evaluate("rtlReport.page.timeline.selected.id"), op)
        equal("the call of its arrow", page.evaluate("rtlReport.page.timeline.arrows[0].from.id"),
              r.value("select A.api_id from rtl_api A join rtl_dispatch D on D.correlation_id = A.correlation_id where D.op_id = ?", op))
        equal("requests but the page's own", page.requests[1:], [])
        equal("errors in the console", page.errors, [])


main(together=True)
