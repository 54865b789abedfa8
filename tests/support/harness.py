# SPDX-License-Identifier: MIT
"""harness.py - runs programs on the virtual GPU, untraced and traced in each way, and compares

A test is a script of cases:

	from support import *

	@case
	def subject_condition_result():
	    r = run("launcher", "launches=10", trace=RTL)
	    equal("rows in rtl_dispatch", r.count("rtl_dispatch"), 10)

	main()

Each case works in a folder of its own, which is kept when the case fails. A failed check raises with
both sides in its text. Exit status: 0, 1 when a case failed, 77 when all were skipped. Arguments
choose cases by name. RTL_BUILD and RTL_SOURCE come from ctest, RTL_TEST_TMP (a folder for the
cases) too where one build is tested twice at a time. A sanitized build traces the programs
of RTL_TEST_PROGRAMS, with the run-time RTL_TEST_PRELOAD in them. RTL_TEST_LONG=1 asks for the
long variants.
"""
import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback

BUILD = os.path.abspath(os.environ.get("RTL_BUILD", "build/dev"))
SOURCE = os.path.abspath(os.environ.get("RTL_SOURCE", os.path.join(os.path.dirname(__file__), "../..")))
LONG = os.environ.get("RTL_TEST_LONG", "") not in ("", "0")
PROGRAMS = os.environ.get("RTL_TEST_PROGRAMS") or os.path.join(BUILD, "tests")
TMP = os.environ.get("RTL_TEST_TMP") or os.path.join(BUILD, "tests/tmp")
RTL_BIN = os.path.join(BUILD, "bin/rtl")
LIB = os.path.join(BUILD, "lib")
LIBRTL = os.path.join(LIB, "librtl.so.1")
VGPU_DIR = os.environ.get("RTL_TEST_VGPU") or os.path.join(BUILD, "vgpu")
PASSTHROUGH_LIB = os.path.join(BUILD, "bench/libpassthrough.so")

# Where the runtimes of another Debian suite are under test (tools/userland.sh): its name, else "".
USERLAND = os.environ.get("USERLAND", "")
# HIP 7.2.4 on ROCr 7.2.4
HIP7 = USERLAND == "experimental"
# HIP from 6.4 on copies small buffers by kernels.
COPIES_BY_KERNELS = USERLAND in ("unstable", "experimental")
# Debian's build also counts signals that were never destroyed.
LEAK = re.compile(r"Warning: Resource leak detected by SharedSignalPool, (\d+) Signals leaked.\n")

# A shell starts what runs in the background with SIGINT ignored; the programs of a test inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# ways to run a program
PLAIN = None  # not traced
RTL = "rtl"  # rtl trace --virtual-gpu
TOOLS = "tools"  # HSA_TOOLS_LIB=librtl.so.1 alone
PASSTHROUGH = "passthrough"  # the tool of bench/ that only passes packets through


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def fail(text):
    raise Failed(text)


def skip(why):
    raise Skipped(why)


def shorten(value, limit=1200):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def equal(what, seen, expected):
    if seen != expected:
        fail(f"{what}:\n    seen     {shorten(seen)}\n    expected {shorten(expected)}")


def at_least(what, seen, low):
    if not seen >= low:
        fail(f"{what}:\n    seen     {seen}\n    expected at least {low}")


def at_most(what, seen, high):
    if not seen <= high:
        fail(f"{what}:\n    seen     {seen}\n    expected at most {high}")


def contains(what, text, part):
    if part not in text:
        fail(f"{what}:\n    seen     {shorten(text, 4000)}\n    expected to contain {part!r}")


def lacks(what, text, part):
    if part in text:
        fail(f"{what}:\n    seen     {shorten(text, 4000)}\n    expected not to contain {part!r}")


def same_counter(what, seen, expected, limit=6):
    """Compares multisets; reports the elements of one side alone."""
    a, b = collections.Counter(seen), collections.Counter(expected)
    if a == b:
        return
    more, less = list((a - b).elements()), list((b - a).elements())
    fail(
        f"{what}: {sum(a.values())} seen, {sum(b.values())} expected\n"
        f"    seen only ({len(more)}):     {more[:limit]}\n"
        f"    expected only ({len(less)}): {less[:limit]}"
    )


def ended(r, status):
    if r.status != status:
        fail(
            f"exit status of {r.name} (trace: {r.traced}):\n    seen     {r.status}\n    expected {status}\n"
            f"    stdout (end) {r.out[-1500:]!r}\n    stderr (end) {r.err[-3000:]!r}"
        )


# ---- folders of a case -------------------------------------------------------------------------

_dir = None
_count = 0


def work_dir():
    return _dir


def new_dir(name="run"):
    global _count
    _count += 1
    path = os.path.join(_dir, f"{_count:02d}-{name}")
    os.makedirs(path)
    return path


def program(name):
    """A program of tests/programs, or a path."""
    if os.path.sep in name:
        return name
    if not os.path.exists(PROGRAMS):
        skip(f"{PROGRAMS} is not there: ./check --dev builds it")
    return built(os.path.join(PROGRAMS, name))


HIP_HEADERS, HSA_HEADERS = "hip/amd_detail/hip_prof_str.h", "hsa/hsa.h"


def is_installed(what):
    """A command; or a file of a package, below the folders of headers or at its path; or one of several: "x.h|folder/x.h"."""
    folders = ("/usr/include", "/opt/rocm*/include")
    return any(shutil.which(w) or "." in w and any(glob.glob(os.path.join(folder, w)) for folder in folders) for w in what.split("|"))


def built(path, *needs):
    """The path of what the build makes, in tests/ if it is relative. Skips where something that it `needs` is not installed, by default what HIP and HSA
    programs do; fails where all is: a program that does not compile any more is no reason to skip."""
    path = os.path.join(BUILD, "tests", path)
    if os.path.exists(path):
        return path
    missing = [what for what in needs or ("hipcc", HSA_HEADERS) if not is_installed(what)]
    if not missing:
        fail(f"{path} was not built, although what it needs is installed")
    return skip(f"{path} was not built: {' and '.join(missing)} not installed")


def need_product():
    for path in (RTL_BIN, LIBRTL, os.path.join(VGPU_DIR, "libvgpu.so")):
        if not os.path.exists(path):
            fail(f"{path} was not built")


def clean_env(extra=None):
    """The environment without variables that would change a run."""
    prefixes = ("RTL_", "VGPU_", "HSA_", "LD_", "HIP_", "ROC", "AMD_", "GPU_", "OMPI_", "PMI_", "SLURM_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
    env["LC_ALL"] = "C.UTF-8"
    env["TERM"] = "dumb"
    if os.environ.get("RTL_TEST_PRELOAD"):
        env["LD_PRELOAD"] = os.environ["RTL_TEST_PRELOAD"]
    for key, value in (extra or {}).items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = str(value)
    return env


# ---- runs --------------------------------------------------------------------------------------


class Run:
    """A finished run: out, err, status, dir, the trace, the virtual GPU's log."""

    def __init__(self, name, path):
        self.name, self.dir = name, path
        self.traced = PLAIN
        self.out = self.err = ""
        self.leaked = 0  # signals, by the runtime's count
        self.status = None
        self.seconds = 0.0
        self.output = os.path.join(path, "trace.db")
        self._log = self._db = None

    # lines of the virtual GPU's log
    def log(self, kind=None, pid=None):
        if self._log is None:
            self._log = read_logs(self.dir)
        return [l for l in self._log if (kind is None or l["kind"] == kind) and (pid is None or l["pid"] == pid)]

    def log_pids(self):
        return sorted({l["pid"] for l in self.log()})

    # the trace
    def db(self):
        if self._db is None:
            self._db = open_db(self.output)
        return self._db

    def rows(self, sql, *args):
        return self.db().execute(sql, args).fetchall()

    def value(self, sql, *args):
        return self.db().execute(sql, args).fetchone()[0]

    def count(self, table, where="1"):
        return self.value(f"select count(*) from {table} where {where}")

    def losses(self):
        """{reason: count} of the losses of all processes."""
        return dict(self.rows("select reason, sum(count) from rtl_loss group by reason having sum(count) > 0"))

    def rtl(self, *args, timeout=120):
        return rtl(*args, timeout=timeout, cwd=self.dir)

    def info(self):
        r = self.rtl("info", self.output)
        if r.status not in (0, 1):
            fail(f"rtl info {self.output}: status {r.status}\n{r.err}")
        return r.out


def open_db(path):
    if not os.path.exists(path):
        there = sorted(os.listdir(os.path.dirname(path)))
        fail(f"{path}: no database was written; the folder holds {there}")
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = lambda b: b.decode("utf-8", "surrogateescape")
    return db


def read_logs(folder):
    lines = []
    for path in sorted(glob.glob(os.path.join(folder, "gpu.*.log"))):
        pid = int(os.path.basename(path).split(".")[1])
        with open(path, encoding="ascii") as f:
            for number, text in enumerate(f, 1):
                if not text.endswith("\n"):
                    break  # cut off by a kill in the middle of a line
                try:
                    line = json.loads(text)
                except ValueError as e:
                    fail(f"{path}:{number}: {e}: {text!r}")
                line["pid"] = pid
                lines.append(line)
    return lines


def with_driver(preloaded=None):
    """LD_PRELOAD with the virtual GPU behind the libraries of a test, which are behind a sanitizer's."""
    return ":".join(filter(None, [os.environ.get("RTL_TEST_PRELOAD"), preloaded, os.path.join(VGPU_DIR, "libvgpu.so")]))


def command_line(name, args, trace, gpus, rtl_args, env, folder):
    """argv and environment of a run."""
    argv = [program(name), *map(str, args)]
    # Most cases submit packets by the 10 000 and need no results; the others set VGPU_EXEC=auto.
    copies = COPIES_BY_KERNELS and any("copies=" in str(arg) for arg in args)
    full = {"VGPU_LOG": os.path.join(folder, "gpu.%p.log"), "VGPU_EXEC": "auto" if copies else "off", **(env or {})}
    if trace == RTL:
        need_product()
        full = {"RTL_STRICT": "1", **full}
        device = f"--virtual-gpu={gpus}"
        argv = [RTL_BIN, "trace", "-o", os.path.join(folder, "trace.db"), device, *rtl_args, "--", *argv]
        return argv, clean_env(full)
    full = {"LD_LIBRARY_PATH": VGPU_DIR, "VGPU_DEVICES": gpus, **full}
    if full.get("LD_PRELOAD", "") is not None:  # None: without the virtual GPU
        full["LD_PRELOAD"] = with_driver(full.get("LD_PRELOAD"))
    if trace == TOOLS:
        need_product()
        full = {
            "RTL_STRICT": "1",
            "HSA_TOOLS_LIB": LIBRTL,
            "RTL_OUTPUT": os.path.join(folder, "trace.db"),
            **full,
        }
    elif trace == PASSTHROUGH:
        full = {"HSA_TOOLS_LIB": PASSTHROUGH_LIB, **full}
    return argv, clean_env(full)


def start(name, *args, trace=PLAIN, gpus=1, env=None, rtl_args=("-q",), cwd=None, **popen):
    """Starts a run that the caller ends: returns Popen and Run; stdout and stderr are files."""
    r = Run(os.path.basename(name), new_dir(os.path.basename(name)))
    r.traced = trace
    argv, full = command_line(name, args, trace, gpus, rtl_args, env, r.dir)
    out = open(os.path.join(r.dir, "stdout"), "wb")
    err = open(os.path.join(r.dir, "stderr"), "wb")
    popen.setdefault("start_new_session", True)
    with out, err:
        p = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=full, cwd=cwd or r.dir, **popen
        )
    r.argv = argv
    return p, r


def children_of(pid, name=None):
    """The child processes of `pid`; of that name, if one is given."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as f:
            found += [int(child) for child in f.read().split()]
    return [child for child in found if name in (None, name_of(child))]


def name_of(pid):
    """The name of a process; None: it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
        return f.read().strip()


def wait_until(what, ready, seconds=20):
    """What ready() returns as soon as that is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = ready()
        if value:
            return value
        time.sleep(0.003)
    return fail(f"{what}: not in {seconds} s")


def finish(p, r, timeout):
    started = time.monotonic()
    try:
        p.wait(timeout)
    except subprocess.TimeoutExpired:
        stacks = show_stacks(p.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        read_output(r)
        fail(
            f"{r.name} did not end within {timeout} s: {' '.join(r.argv)}\n"
            f"    stdout (end) {r.out[-1500:]!r}\n    stderr (end) {r.err[-3000:]!r}\n{stacks}"
        )
    r.seconds = time.monotonic() - started
    r.status = p.returncode
    read_output(r)
    return r


def read_output(r):
    for attr, name in (("out", "stdout"), ("err", "stderr")):
        with open(os.path.join(r.dir, name), "rb") as f:
            text = f.read().decode("utf-8", "surrogateescape")
        r.leaked += sum(int(n) for n in LEAK.findall(text))
        setattr(r, attr, program_text(text))


def program_text(text):
    """The program's output, without the runtime's count of signals."""
    return LEAK.sub("", text) if HIP7 else text


def show_stacks(pid):
    """The kernel functions in which the threads of a process group wait."""
    lines = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
            if int(fields[2]) != pid:
                continue
            for task in glob.glob(os.path.join(os.path.dirname(path), "task/*")):
                with open(task + "/comm", encoding="utf-8", errors="replace") as f:
                    comm = f.read().strip()
                with open(task + "/wchan", encoding="ascii") as f:
                    lines.append(f"    {task.split('/')[2]} {comm}: {f.read()}")
        except OSError:
            continue
    return "\n".join(lines)


# HIP 7.2.4 frees a command twice, or calls one that it has freed, in its completion thread: in 5 to 10 of 100 runs of a
# short program, traced or not (capture: 22 of 240 untraced). glibc then ends the process, or the process faults.
# Or an allocation of HIP gets a size from freed memory: std::bad_alloc, std::length_error.
HEAP_DAMAGE = re.compile(r"^(double free or corruption|free\(\): |corrupted |malloc\S*\(\): |"
                         r"terminate called after throwing an instance of 'std::(bad_alloc|length_error)')", re.M)
# the same, as the address sanitizer reports it
HEAP_DAMAGE_SANITIZED = re.compile(r"^SUMMARY: AddressSanitizer: double-free \(\S*/libamdhip64\.so", re.M)

# HIP 7.2.4 aborts at times where several threads use a symbol for the first time: seen in an untraced hipmix, once in a whole run.
SYMBOL_LOST = re.compile(r"Cannot create GlobalVar Obj for symbol")

# HIP 5.2.3 looks at a signal after its stream was destroyed: one in a hundred untraced runs of launcher on an idle machine
# without its pause, and few with it on a loaded machine.
DESTROYED_SIGNAL = re.compile(r"Assertion [`']IsValid\(signal\)' failed")

FAULTS = -signal.SIGSEGV, 128 + signal.SIGSEGV


def died_of_hip(r):
    aborted = r.status in (-signal.SIGABRT, 128 + signal.SIGABRT)
    if not HIP7:
        return aborted and bool(DESTROYED_SIGNAL.search(r.err))
    if HEAP_DAMAGE_SANITIZED.search(r.err):
        return "librtl" not in r.err
    if aborted:
        return bool(HEAP_DAMAGE.search(r.err) or SYMBOL_LOST.search(r.err))
    return r.status in FAULTS and not fault_in_librtl(r.name)


def fault_in_librtl(name):
    """Whether the kernel's log, where it can be read, says that the last fault of such a program was in a file of ours."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, errors="replace", check=False).stdout
    lines = [l for l in log.splitlines() if f"{name[:15]}[" in l and " segfault at " in l]
    return bool(lines) and bool(re.search(r" in (librtl|libroc|libvgpu)", lines[-1]))


def run(name, *args, timeout=60, status=0, **kwargs):
    """Runs a program to its end. status: the expected exit status, None for any."""
    for _ in range(8):
        p, r = start(name, *args, **kwargs)
        finish(p, r, timeout)
        # with any status allowed, a fault may be what the test is about
        wanted = r.status == status or status is None and r.status in FAULTS
        if wanted or not died_of_hip(r):
            break
        print(f"    {r.name} died of a known fault of HIP ({r.status}), and runs again: {r.dir}")
    if status is not None:
        ended(r, status)
    return r


def rtl(*args, timeout=120, cwd=None, env=None):
    """Runs an rtl command."""
    need_product()
    r = Run("rtl " + str(args[0] if args else ""), cwd or work_dir())
    p = subprocess.run(
        [RTL_BIN, *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_env(env),
        cwd=cwd or work_dir(),
        timeout=timeout,
        check=False,
    )
    r.status, r.out = p.returncode, p.stdout.decode("utf-8", "replace")
    r.err = program_text(p.stderr.decode("utf-8", "replace"))
    return r


def exports(name):
    """The dynamic symbols of a library of ours, with their versions."""
    if not shutil.which("nm"):
        skip("nm is not installed here")
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", os.path.join(LIB, name)],
                         check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in out.splitlines()]
    return sorted(f[-1] for f in fields if f[-2] != "A")


def dynamic(name, tag):
    """The values of a tag in the dynamic section of a library of ours."""
    out = subprocess.run(["readelf", "-dW", os.path.join(LIB, name)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(%s\).*\[(.*?)\]" % tag, out)


# ---- comparing a trace with the virtual GPU's log ----------------------------------------------

INTERNAL = 32  # flag of a dispatch on an internal queue

# launcher.cpp: the workgroup identifies the kernel
LAUNCHER_KERNELS = {
    (64, 1, 1): "k00_plain",
    (32, 2, 1): "k01_two_dimensions",
    (128, 1, 1): "k02_elementwise",
    (192, 1, 1): "k02_elementwise",
    (16, 1, 1): "k04_variadic",
    (48, 1, 1): "k05_long_name",
    (256, 1, 1): "k06_shared",
    (320, 1, 1): "k07_dynamic_shared",
    (8, 4, 2): "k08_three_dimensions",
    (1024, 1, 1): "k09_wide",
    (100, 1, 1): "k10_local",
}

Clock = collections.namedtuple("Clock", "offset epoch_ns hz ppm")


def clocks_of(log):
    """{(pid, gpu): relation of ticks and ns}, from the log."""
    out = {}
    for l in log:
        if l["kind"] == "clock":
            out[l["pid"], l["gpu"]] = Clock(l["offset"], l["epoch_ns"], l["frequency_hz"], l["drift_ppm"])
    return out


def to_ns(clock, ticks):
    return clock.epoch_ns + (ticks - clock.offset) * 1e9 / (clock.hz * (1 + clock.ppm / 1e6))


def dispatch_key(d):
    """The fields of a dispatch that must be equal: times, grid, workgroup."""
    return d["begin"], d["end"], tuple(d["grid"]), tuple(d["group"])


DISPATCH_SQL = """select queue, begin_ticks, end_ticks, grid_x, grid_y, grid_z, group_x, group_y, group_z,
    kernel, begin_ns, end_ns, packet_index, agent, flags,
    (select process_id from rtl_op o where o.op_id = rtl_dispatch.op_id) as process from rtl_dispatch"""


def db_queues(db, where="1"):
    """{(process, queue): dispatches in order of packets}"""
    queues = collections.defaultdict(list)
    for row in db.execute(f"{DISPATCH_SQL} where {where} order by process, queue, packet_index, begin_ticks"):
        queues[row[15], row[0]].append(row)
    return queues


def row_key(row):
    return row[1], row[2], row[3:6], row[6:9]


# The runtime's line from ticks to ns goes through two of its readings, a tick (10 ns) apart from the truth each: soon
# after the first reading, or when its second one comes late, the line is that much too steep or too flat.
NS_TOLERANCE = 500


def exact_dispatches(r, names=None, pid=None, ns_tolerance=NS_TOLERANCE, where="1", unloads=False):
    """The trace has exactly the dispatches of the log, with the same kernel, queue and times.

    unloads: the program unloads code, so that a kernel object may be another kernel's later.
    """
    log = r.log("dispatch", pid)
    equal("rows in rtl_dispatch", r.count("rtl_dispatch", where), len(log))
    clocks = clocks_of(r.log(pid=pid))

    want = collections.defaultdict(list)
    for d in log:
        want[d["pid"], d["gpu"], d["queue"]].append(d)
    have = db_queues(r.db(), where)
    same_counter("dispatches of each queue", [len(v) for v in have.values()], [len(v) for v in want.values()])
    same_counter(
        "begin, end, grid and workgroup of each dispatch",
        [row_key(row) for rows in have.values() for row in rows],
        [dispatch_key(d) for ds in want.values() for d in ds],
    )

    # queues of trace and log are matched by their dispatches
    by_first = {}
    for key, ds in want.items():
        ds.sort(key=lambda d: d["index"])
        by_first[tuple(dispatch_key(d) for d in ds)] = key
    kernel_of_object = {}
    for queue, rows in have.items():
        key = by_first.get(tuple(row_key(row) for row in rows))
        if key is None:
            explain_queue(queue, rows, want)
        clock = clocks[key[0], key[1]]
        for row, d in zip(rows, want[key]):
            # internal kernels (fill, copy) have workgroups of the same sizes
            if not unloads:
                check_names(kernel_of_object, key[0], d, row[9], None if row[14] & INTERNAL else names)
            check_ns(row, clock, ns_tolerance)
    return log


def explain_queue(queue, rows, want):
    """No queue of the log has these dispatches in this order: fails with the most similar one."""
    mine = [row_key(row) for row in rows]
    best, best_key, best_at = -1, None, 0
    for key, ds in want.items():
        theirs = [dispatch_key(d) for d in ds]
        common = len(set(mine) & set(theirs))
        if common > best:
            at = next((i for i, (a, b) in enumerate(zip(mine, theirs)) if a != b), min(len(mine), len(theirs)))
            best, best_key, best_at = common, key, at
    theirs = want[best_key]
    fail(
        f"queue {queue[1]} of process {queue[0]} in the trace ({len(mine)} dispatches) matches no queue of the log; most similar is "
        f"{best_key} ({len(theirs)}, {best} in common), first difference at dispatch {best_at}:\n"
        f"    seen     {mine[best_at:best_at + 3]}\n"
        f"    expected {[dispatch_key(d) for d in theirs[best_at:best_at + 3]]}"
    )


def check_names(kernel_of_object, pid, d, kernel, names):
    """A kernel object has one name, the expected one where the workgroup identifies the kernel."""
    known = kernel_of_object.setdefault((pid, d["object"]), kernel)
    if known != kernel:
        fail(f"kernel object {d['object']} has two names: {known!r} and {kernel!r}")
    if not kernel:
        fail(f"kernel object {d['object']} has no name: {d}")
    part = names.get(tuple(d["group"])) if names else None
    if part and part not in kernel and not kernel.startswith("__amd_rocclr_"):
        fail(f"kernel of a dispatch with workgroup {d['group']}:\n    seen     {kernel!r}\n    expected {part!r}")


def check_ns(row, clock, tolerance):
    for what, ticks, ns in (("begin", row[1], row[10]), ("end", row[2], row[11])):
        want = to_ns(clock, ticks)
        if abs(ns - want) > tolerance:
            fail(
                f"{what}_ns of packet {row[12]} on queue {row[0]} (ticks {ticks}):\n    seen     {ns}\n"
                f"    expected {want:.0f} ({ns - want:+.0f} ns; {tolerance} ns are allowed)"
            )


def complete(r):
    """Nothing was lost."""
    bad = {k: v for k, v in r.losses().items() if k not in ("lite_signal", "inverted", "shared_signal", "unfinished")}
    equal("losses", bad, {})


def intact(db):
    equal("pragma integrity_check", db.execute("pragma integrity_check").fetchall(), [("ok",)])


# ---- the harness -------------------------------------------------------------------------------

_cases = []


def case(fn):
    _cases.append((fn.__name__, fn))
    return fn


def add_case(name, fn):
    _cases.append((name, fn))


def sweep_memory(folder):
    """Removes memory halves that killed programs of this case left."""
    for path in glob.glob("/dev/shm/rtl-*.mem"):
        with contextlib.suppress(OSError):
            with open(path, "rb") as f:
                mine = folder.encode() + b"/" in f.read(4096)
            if mine:
                os.unlink(path)


def run_case(script, name, fn):
    global _dir, _count
    _dir = os.path.join(TMP, script, name)
    _count = 0
    shutil.rmtree(_dir, ignore_errors=True)
    os.makedirs(_dir)
    started = time.monotonic()
    try:
        fn()
    except Skipped as e:
        print(f"skip {name}: {e}")
        result = "skipped"
    except Failed as e:
        print(f"FAILED {name}: {e}\n    kept: {_dir}")
        result = "failed"
    except Exception:  # an error in the case itself: the next case runs
        print(f"FAILED {name}: {traceback.format_exc()}\n    kept: {_dir}")
        result = "failed"
    else:
        print(f"ok {name} ({time.monotonic() - started:.1f} s)")
        result = "passed"
    sweep_memory(_dir)
    if result != "failed" and not os.environ.get("RTL_TEST_KEEP"):
        shutil.rmtree(_dir, ignore_errors=True)
    sys.stdout.flush()
    return result


def main(together=False):
    """together: the cases share a trace, and are one test."""
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    if "--list" in sys.argv:
        print("\n".join(name for name, _ in _cases if not together))
        sys.exit(0)
    unknown = set(wanted) - {name for name, _ in _cases}
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}")
    results = collections.Counter()
    for name, fn in _cases:
        if not wanted or name in wanted:
            results[run_case(script, name, fn)] += 1
    print(f"{results['passed']} passed, {results['failed']} failed, {results['skipped']} skipped")
    if results["failed"]:
        sys.exit(1)
    sys.exit(0 if results["passed"] else 77)
