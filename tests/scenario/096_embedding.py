#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that record themselves (include/rtl/rtl.h): what sessions record and report is what the virtual GPU executed."""
import re

from support import *

EXAMPLES = os.path.join(BUILD, "examples")
LIBRTL = os.path.join(BUILD, "lib/librtl.so.1")
WORK = os.path.join(EXAMPLES, "embed_work")
ADD = "_Z7add_onePii.kd"


def example(name):
    return built(os.path.join(EXAMPLES, name))


def adds(r):
    """Launches of the program's kernel that the virtual GPU executed; the runtime has kernels of its own."""
    return [l for l in r.log("dispatch") if (l["grid"][0], l["group"][0]) in ((1024, 256), (64, 64))]


def read(path):
    """(launches of the program's kernel, "calls, kernels, copies", losses) of a database."""
    db = open_db(path)

    def count(rows):
        return db.execute(f"select count(*) from {rows}").fetchone()[0]

    lost = db.execute("select reason, count from rtl_loss where class = 'loss'").fetchall()
    figures = f"{count('rtl_api')} calls, {count('rtl_dispatch')} kernels, {count('rtl_copy')} copies, 0 lost"
    kernels = count("rtl_dispatch where kernel like '%add_one%'")
    at_least("calls", count("rtl_api"), kernels + 4)
    return kernels, figures, lost


@case
def c_program_records_two_phases():
    path = example("embed_c")
    r = run(path, ".", 10, env={"VGPU_EXEC": None})
    equal("launches on the GPU", len(adds(r)), 3 + 10 + 5 + 20)
    for phase in (1, 2):
        kernels, figures, lost = read(os.path.join(r.dir, f"phase{phase}.db"))
        equal(f"dispatches of phase {phase}", kernels, 10 * phase)
        equal(f"losses of phase {phase}", lost, [])
        contains("stdout", r.out, f"phase {phase}: {figures}")
        db = open_db(os.path.join(r.dir, f"phase{phase}.db"))
        joined = db.execute("select count(*) from rtl_dispatch join rtl_api using (correlation_id) "
                            "where name = 'hipLaunchKernel' and kernel like '%add_one%'").fetchone()[0]
        equal("dispatches joined to their launches", joined, 10 * phase)
    equal("other files", sorted(n for n in os.listdir(r.dir) if ".db" in n), ["phase1.db", "phase2.db"])


@case
def hip_before_librtl_in_the_order_of_libraries_changes_nothing():
    path = example("embed_cpp")
    r = run(path, 10, env={"VGPU_EXEC": None, "LD_PRELOAD": "libamdhip64.so.5"})
    contains("stdout", r.out, f"kernel {ADD}: 11\n")
    contains("stdout", r.out, "call hipLaunchKernel: 11 begun, 11 ended\n")
    equal("stderr", r.err, "")


@case
def cpp_program_gets_callbacks():
    path = example("embed_cpp")
    r = run(path, 10, env={"VGPU_EXEC": None})
    equal("launches on the GPU", len(adds(r)), 10 + 7 + 1)
    contains("stdout", r.out, f"kernel {ADD}: 11\n")
    contains("stdout", r.out, "call hipLaunchKernel: 11 begun, 11 ended\n")
    contains("stdout", r.out, "call hipMalloc: 2 begun, 2 ended\n")
    contains("stdout", r.out, "failed calls: 0; with words: yes; with times: yes")
    equal("stderr", r.err, "")


@case
def python_program_records_itself():
    example("embed_c")
    script = os.path.join(SOURCE, "examples/embed.py")
    r = run(sys.executable, script, LIBRTL, WORK, "p.db", 12, env={"VGPU_EXEC": None})
    equal("launches on the GPU", len(adds(r)), 12)
    contains("stdout", r.out, f"kernel {ADD}: 12\n")
    kernels, figures, lost = read(os.path.join(r.dir, "p.db"))
    equal("dispatches", kernels, 12)
    equal("losses", lost, [])
    contains("stdout", r.out, figures)


# Prints the statuses of tables that are written, and of what can't be.
TABLES = """
import ctypes, sys
rtl = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
for trace, tables, form, path in ((b"p.db", b"kernel,api", b"json", b"p.json"), (b"p.db", None, b"csv", b"p.csv"),
                                  (b"p.db", b"nosuch", b"json", b"p.json"), (b"p.db", b"kernel", b"xml", b"p.json"),
                                  (b"nosuch.db", b"kernel", b"json", b"p.json"), (b"p.db", b"kernel", b"json", b"no/p"),
                                  (b"p.db", b"k" * 300, b"json", b"p.json"), (None, b"kernel", b"json", b"p.json")):
    print(rtl.rtl_write_tables(trace, tables, form, path))
"""


@case
def tables_are_those_of_rtl_summary():
    example("embed_c")
    r = run(sys.executable, os.path.join(SOURCE, "examples/embed.py"), LIBRTL, WORK, "p.db", 12, env={"VGPU_EXEC": None})
    t = subprocess.run([sys.executable, "-c", TABLES, LIBRTL], cwd=r.dir, capture_output=True, text=True, check=True)
    equal("statuses", t.stdout.split(), ["0", "0", "-1", "-1", "-7", "-7", "-1", "-1"])
    equal("stderr", t.stderr, "")
    for path, args in (("p.json", ("--by", "kernel,api", "-f", "json")), ("p.csv", ("-f", "csv"))):
        printed = subprocess.run([os.path.join(BUILD, "bin/rtl"), "summary", *args, "p.db"], cwd=r.dir, capture_output=True, text=True, check=True)
        with open(os.path.join(r.dir, path), encoding="utf-8") as file:
            equal(path, file.read(), printed.stdout)
    equal("other files", [n for n in os.listdir(r.dir) if n.endswith(".part")], [])


@case
def session_in_a_traced_program_leaves_the_trace_alone():
    r = run(example("embed_c"), ".", 10, trace=RTL, env={"VGPU_EXEC": None})
    equal("rows in rtl_dispatch", r.count("rtl_dispatch"), len(r.log("dispatch")))
    complete(r)
    equal("databases of sessions", [n for n in os.listdir(r.dir) if n.startswith("phase")], [])
    contains("stdout", r.out, "phase 1: ")
    r = run(example("embed_cpp"), 10, trace=RTL, env={"VGPU_EXEC": None})
    contains("stdout", r.out, f"kernel {ADD}: 11\n")
    equal("rows", r.count("rtl_dispatch", "kernel like '%add_one%'"), 11)


# Opens and closes sessions while eight threads launch; prints launches and how much its address space has grown.
SESSIONS = """
import ctypes, sys
class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("directory", ctypes.c_char_p), ("database", ctypes.c_char_p),
                ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]
def mapped():
    return int(open("/proc/self/statm").read().split()[0]) * 4
rtl = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
assert rtl.rtl_prepare() == 0
work = ctypes.CDLL(sys.argv[2])
work.embed_threads_end.restype = ctypes.c_long
session, options, before = ctypes.c_uint64(), Options(size=ctypes.sizeof(Options), directory=b"traces"), 0
work.embed_threads(8)
for i in range(int(sys.argv[3])):
    for status in (rtl.rtl_session_open(ctypes.byref(options), ctypes.byref(session)), rtl.rtl_session_close(session)):
        assert status == 0, status
    if i == 20:
        before = mapped()
print("launches", work.embed_threads_end(), "grown", mapped() - before)
"""


@case
def sessions_open_and_close_while_threads_launch():
    """Each dispatch is in one trace at most, none is lost, and memory is bounded."""
    example("embed_c")
    nr = 1000 if LONG else 100
    r = run(sys.executable, "-c", SESSIONS, LIBRTL, WORK, nr, env={"VGPU_KERNEL_NS": 3000}, timeout=300)
    launches, grown = (int(n) for n in re.search(r"launches (\d+) grown (-?\d+)", r.out).groups())
    equal("launches on the GPU", len([l for l in r.log("dispatch") if l["group"][0] == 64 and l["grid"][0] == 64]), launches)
    traces = sorted(glob.glob(os.path.join(r.dir, "traces/*.rtl")))
    equal("traces", len(traces), nr)
    path = os.path.join(r.dir, "all.db")
    rtl("merge", "-q", "-o", path, *traces)
    db = open_db(path)
    equal("losses", db.execute("select reason, count from rtl_loss where class = 'loss'").fetchall(), [])
    twice = "select queue, packet_index from rtl_dispatch group by 1, 2 having count(*) > 1"
    equal("dispatches in two traces", db.execute(twice).fetchall(), [])
    at_least("dispatches in traces", db.execute("select count(*) from rtl_dispatch").fetchone()[0], 1)
    if grown > 128 << 10:
        fail(f"the address space has grown by {grown} KiB in {nr - 21} sessions")


main()
