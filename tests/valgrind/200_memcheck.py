#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No leak and no use of bytes that were never set: rtl's commands, and librtl in programs on the virtual GPU.

The commands must end without a word of memcheck's. Under a traced program AMD's libraries make noise of
their own (amd.supp): there, what has a frame in librtl or in the virtual GPU must be nothing.
"""
import xml.etree.ElementTree as ET

from support import *

OURS = ("librtl.so", "libvgpu.so", "libvgpu_engine.so")
SUPPRESSIONS = os.path.join(SOURCE, "tests/valgrind/amd.supp")
MEMCHECK_FAILED = 99


def valgrind():
    found = shutil.which("valgrind")
    if not found:
        skip("valgrind is not installed")
    return [found, "--tool=memcheck", "--leak-check=full", "--num-callers=40", f"--suppressions={SUPPRESSIONS}"]


# ---- programs: errors with their stacks, from memcheck's XML -----------------------------------


def frames_of(error):
    stack = error.find("stack")
    return [
        (os.path.basename(f.findtext("obj", "?")), f.findtext("fn", "?"), f.findtext("file", ""), f.findtext("line", ""))
        for f in (stack.findall("frame") if stack is not None else [])
    ]


def show(error):
    what = error.findtext("what") or error.findtext("xwhat/text") or error.findtext("kind")
    return "\n".join([f"      {what}"] + ["        " + " ".join(f).rstrip() for f in frames_of(error)[:16]])


def errors_in(folder, names):
    """The errors that have a frame in an object of these names."""
    paths = glob.glob(os.path.join(folder, "memcheck.*.xml"))
    equal("processes under memcheck", len(paths), 1)
    errors = ET.parse(paths[0]).getroot().findall("error")
    return [e for e in errors if any(obj.startswith(names) for obj, *_ in frames_of(e))]


def watched(name, folder):
    """A program's command line under memcheck. Fair scheduling: a thread that spins would starve the others."""
    return [*valgrind(), "-q", "--fair-sched=yes", "--child-silent-after-fork=yes", "--xml=yes", f"--xml-file={folder}/memcheck.%p.xml", f"--log-file={folder}/memcheck.%p.log",
            program(name)]


def traced(name, *args, trace=RTL, rtl_args=("-q",), gpus=1):
    folder = new_dir("memcheck")
    argv = watched(name, folder)
    r = run(argv[0], *argv[1:], *args, trace=trace, rtl_args=rtl_args, gpus=gpus, timeout=200,
            env={"RTL_DRAIN_MS": 60000})
    errors = errors_in(folder, OURS)
    if errors:
        fail(f"{len(errors)} errors in {name}:\n" + "\n".join(show(e) for e in errors[:5]))
    equal("stderr", r.err, "")
    intact(r.db())
    return r


@case
def planted_errors_are_found():
    folder = new_dir("memcheck")
    argv = watched("planted", folder)
    ended(run(argv[0], *argv[1:]), 0)
    kinds = sorted(e.findtext("kind") for e in errors_in(folder, ("planted",)))
    equal("errors in a program with two", kinds, ["Leak_DefinitelyLost", "SyscallParam"])


@case
def hip_program_has_no_error():
    exact_dispatches(
        traced("launcher", "launches=60", "threads=2", "streams=2", "copies=1", "roctx=1", "ext=1", "waits=1"))


@case
def hsa_programs_have_no_error():
    exact_dispatches(traced("lifecycle", "storm", "rounds=6", "threads=3"))
    full = ("-q", "-m", "full", "--barriers")
    exact_dispatches(traced("lifecycle", "storm", "rounds=4", "threads=2", rtl_args=full, gpus=2))
    # it reuses signals at once: at this speed times are lost, and counted
    r = traced("signals")
    equal("rows in rtl_dispatch", r.count("rtl_dispatch"), len(r.log("dispatch")))


@case
def direct_mode_program_has_no_error():
    exact_dispatches(traced("lifecycle", "storm", "rounds=6", "threads=3", trace=TOOLS))


# ---- commands ----------------------------------------------------------------------------------


ANY, FAILS = None, "not 0"


def checked(*args, cwd, status=0, env=None):
    argv = [*valgrind(), "-q", f"--error-exitcode={MEMCHECK_FAILED}", "--show-leak-kinds=definite,indirect,possible",
            "--errors-for-leak-kinds=definite,indirect,possible", RTL_BIN, *args]
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=clean_env(env), cwd=cwd,
                       timeout=200, check=False)
    if p.returncode == MEMCHECK_FAILED or status not in (ANY, p.returncode, FAILS if p.returncode else 0):
        fail(f"rtl {' '.join(args)} under memcheck: status {p.returncode}, expected {status}\n{p.stderr[-4000:]}")
    lacks(f"stderr of rtl {args[0]}", p.stderr, "==")
    return p.stdout


def small_trace():
    need_product()
    return run("lifecycle", "storm", "rounds=10", "threads=3", trace=RTL, gpus=2)


def spool_of_a_killed_program():
    p, r = start("lifecycle", "steady", "seconds=20", trace=TOOLS)
    deadline = time.monotonic() + 20
    while b"ready" not in open(os.path.join(r.dir, "stdout"), "rb").read():
        if time.monotonic() > deadline:
            fail("the program was not ready in 20 s")
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(p.pid, signal.SIGKILL)
    finish(p, r, 30)
    return r, glob.glob(os.path.join(r.dir, "*.spool"))[0]


@case
def reading_commands_have_no_error():
    valgrind()
    r = small_trace()
    contains("rtl info", checked("info", "trace.db", cwd=r.dir), "complete")
    for what in ("kernel", "gpu"):
        for form in ("table", "csv", "json"):
            said = checked("summary", "trace.db", "--by", what, "--format", form, cwd=r.dir)
            at_least(f"lines of rtl summary by {what} as {form}", len(said.splitlines()), 2)
    for name in ("t.json", "t.json.gz"):
        checked("convert", "trace.db", "-f", "perfetto", "-o", name, cwd=r.dir)
    for form in ("pftrace", "speedscope", "folded", "jsonl"):
        checked("convert", "trace.db", "-f", form, cwd=r.dir)
    with open(os.path.join(r.dir, "t.json"), encoding="utf-8") as f:
        at_least("events", len(json.load(f)["traceEvents"]), 100)
    with open(os.path.join(r.dir, "broken.db"), "wb") as f:
        f.write(open(r.output, "rb").read()[:20000])
    checked("info", "broken.db", cwd=r.dir, status=1)


@case
def writing_commands_have_no_error():
    valgrind()
    r, spool = spool_of_a_killed_program()
    contains("rtl info of a spool", checked("info", spool, cwd=r.dir), "without its exit handlers")
    checked("recover", spool, "-o", "trace.db", cwd=r.dir)
    checked("recover", "--remove", spool, "-o", "again.db", cwd=r.dir)
    other = small_trace()
    checked("merge", "-o", "merged.db", "again.db", other.output, cwd=r.dir)
    merged = open_db(os.path.join(r.dir, "merged.db"))
    equal("dispatches of the merged database", merged.execute("select count(*) from rtl_dispatch").fetchone()[0],
          r.count("rtl_dispatch") + other.count("rtl_dispatch"))


@case
def rtl_trace_has_no_error():
    valgrind()
    folder = new_dir("trace")
    checked("trace", "-q", "-o", "t.db", "--virtual-gpu", "--", program("lifecycle"), "storm", "rounds=3", cwd=folder,
            env={"VGPU_EXEC": "off"})
    at_least("dispatches", open_db(os.path.join(folder, "t.db")).execute("select count(*) from rtl_dispatch").fetchone()[0], 3)


@case
def doctor_help_and_usage_errors_have_no_error():
    valgrind()
    folder = new_dir("commands")
    contains("rtl help", checked("help", cwd=folder), "usage")
    contains("rtl help trace", checked("help", "trace", cwd=folder), "usage")
    checked("--version", cwd=folder)
    checked("doctor", cwd=folder, status=ANY)
    for wrong in (["summry"], ["trace"], ["info", "nothing.db"], ["merge", "--what"], ["summary", "x", "-n", "many"]):
        checked(*wrong, cwd=folder, status=FAILS)


main()
