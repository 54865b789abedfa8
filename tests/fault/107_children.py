#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes of every kind: daemons, other users, cleared environments, half a set-up. Each is traced, or the verdict says what is
missing and rtl trace says why."""
import functools
import re
import stat

from support import *

LAUNCHES = 30
SESSION_GONE = 60


def infos(path):
    r = rtl("info", "--format", "json", path)
    ended(r, 0)
    return json.loads(r.out)


def lost(r, reason, *said):
    """The trace has one loss, of that reason; rtl trace says these words."""
    equal("losses", r.losses(), {reason: 1})
    trace = infos(r.output)
    equal("verdict", trace["verdict"], f"incomplete: 1 lost ({reason} 1)")
    for words in said:
        contains("what rtl trace says", r.err, words)


def traced(*command, status=0, **kwargs):
    return run(*command, trace=RTL, status=status, **{"rtl_args": ("--fail-on-loss",), **kwargs})


def launcher():
    return [program("launcher"), f"launches={LAUNCHES}"]


# ---- forked children that use HIP themselves ---------------------------------------------------


def forked(how, trace, *args, **env):
    """Each child is a process of the trace, with its dispatches, calls and markers."""
    plain = run("children", how, *args, env={"VGPU_EXEC": "auto"})
    if "status 256" in plain.out:
        skip("HIP can't be used in a child of this process, untraced, too")
    folder = new_dir("out")
    env = {"VGPU_EXEC": "auto", "RTL_MODE": "hip", **env}
    if trace == TOOLS:
        env = {**env, "LD_PRELOAD": LIBRTL, "RTL_OUTPUT": os.path.join(folder, "%p.db")}
    r = run("children", how, *args, trace=trace, rtl_args=("-q", "--fail-on-loss"), env=env)
    equal("stdout", r.out, plain.out)
    equal("stderr", r.err, plain.err)
    if trace == TOOLS:
        parts = glob.glob(os.path.join(folder, "*.db"))
        ended(rtl("merge", "-o", r.output, *parts), 0)
    exact_dispatches(r)
    equal("verdict", infos(r.output)["verdict"], "complete")
    launched = [int(n) for n in re.findall(r"child: (\d+) launches", r.out)]
    by_process = "select count(*) from rtl_dispatch d join rtl_op o using (op_id) where d.kernel like 'child\\_work%' escape '\\' group by o.pid"
    equal("dispatches of each child", sorted(row[0] for row in r.rows(by_process)), sorted(launched))
    for name, each in (("hipMalloc", 1), ("hipLaunchKernel", None), ("hipFree", 1)):
        equal(f"calls of {name}", r.count("rtl_api", f"name = '{name}'"), sum(launched) if each is None else each * len(launched))
    equal("operations without a call", r.value(
        "select count(*) from rtl_dispatch where not flags & 32 and correlation_id not in (select correlation_id from rtl_api)"), 0)
    equal("markers of the children", r.count("rtl_marker", "message = 'child'"), len(launched))
    return r


for name, how in (("hsa_was_used", "hsa"), ("range_is_open", "range"), ("hip_was_called", "query"), ("child_was_forked_like_this", "deep")):
    add_case(f"child_of_process_where_{name}_is_traced", functools.partial(forked, how, RTL))
add_case("child_of_process_where_hsa_was_used_is_traced_tools", functools.partial(forked, "hsa", TOOLS))


# ---- programs that clean their environment before they use the GPU -----------------------------


for cleaned in ("pop", "set", "clear", "overwrite"):
    add_case(f"program_that_cleans_its_environment_is_whole_{cleaned}", functools.partial(forked, "work", RTL, f"cleared={cleaned}"))
add_case("program_that_cleans_its_environment_is_whole_preloaded", functools.partial(forked, "work", TOOLS, "cleared=clear"))
add_case("forked_child_of_a_cleaned_environment_is_traced", functools.partial(forked, "hsa", RTL, "cleared=clear"))

# The names of the library are found behind librtl's back, and the runtime does not know of it. The C library's are found behind the virtual GPU's,
# too, unless the library that is loaded needs it: libbehind.so does.
BEHIND = """
import ctypes, os, sys
if "marker" in sys.argv:
    ctypes.CDLL(None).roctxMarkA(b"one")
for name in ("LD_PRELOAD", "HSA_TOOLS_LIB"):
    os.unsetenv(name)
hip = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_DEEPBIND)
p = ctypes.c_void_p()
calls = [hip.hipMalloc(ctypes.byref(p), ctypes.c_size_t(4096))]
calls += [hip.hipMemset(p, 0, ctypes.c_size_t(4096)) for i in range(10)]
sys.exit(any(calls))
"""


def behind(mode, lost, *words):
    """A runtime before 5.3 knows of librtl by the environment alone."""
    r = traced(sys.executable, "-c", BEHIND, built("libbehind.so"), *words, status=123, rtl_args=("--fail-on-loss", "--mode", mode))
    equal("losses", r.losses(), {"no_tables": lost})
    lacks("what rtl trace says", r.err, "found no GPU")


add_case("calls_of_an_unseen_runtime_are_lost", functools.partial(behind, "hip", 10))
add_case("unseen_runtime_is_a_loss_without_calls", functools.partial(behind, "standard", 1))
add_case("unseen_runtime_is_a_loss_of_a_trace_of_markers", functools.partial(behind, "standard", 1, "marker"))


@case
def many_forked_children_are_traced():
    forked("hsa", RTL, "children=6", "n=20")


@case
def exit_of_a_cloned_child_leaves_the_trace_to_its_parent():
    """No fork handler runs in it, but librtl's exit handler does. With TOOLS that would close the trace, and write the database."""
    # the driver refuses the child's requests, and HIP's own destructors, which run after librtl's handler, may end it by an assertion
    plain = run("children", "clone", "n=20", env={"VGPU_EXEC": "auto"})
    r = run("children", "clone", "n=20", trace=TOOLS, env={"VGPU_EXEC": "auto", "LD_PRELOAD": LIBRTL})
    equal("stdout", r.out, plain.out)
    equal("launches", re.findall(r"child: (\d+)", r.out), ["20", "21"])
    equal("dispatches", r.count("rtl_dispatch", "kernel like 'child\\_work%' escape '\\'"), 41)
    equal("verdict", infos(r.output)["verdict"], "complete")


@case
def forked_child_without_library_file_is_a_named_loss():
    """A second copy of librtl can't be made: it was deleted while the program ran, or files may not be as large as that, which sends no signal."""
    if "status 256" in run("children", "hsa", env={"VGPU_EXEC": "auto"}).out:
        skip("HIP can't be used in a child of this process, untraced, too")
    tree = new_dir("tree")
    for name, source in (("bin/rtl", RTL_BIN), ("lib/librtl.so.1", LIBRTL)):
        os.makedirs(os.path.dirname(os.path.join(tree, name)))
        shutil.copy(source, os.path.join(tree, name))
    os.symlink(VGPU_DIR, os.path.join(tree, "vgpu"))
    with open(os.path.join(tree, "lib/librtl.so.1"), "ab") as f:
        f.truncate(16 << 20)
    for number, how in enumerate((f"largest={8 << 20}", f"remove={tree}/lib/librtl.so.1")):
        output = os.path.join(tree, f"trace{number}.db")
        p = subprocess.run([os.path.join(tree, "bin/rtl"), "trace", "--virtual-gpu", "--fail-on-loss", "-o", output, program("children"), "hsa", how],
                           env=clean_env({"VGPU_EXEC": "auto"}), capture_output=True, text=True, check=False, cwd=tree)
        equal("status", p.returncode, 123)
        contains("stdout", p.stdout, "child: 11 launches")
        equal("verdict", infos(output)["verdict"], "incomplete: 2 lost (forked 2)")
        contains("what rtl trace says", p.stderr, "was forked from a traced process and uses the GPU")


# ---- daemons -----------------------------------------------------------------------------------


def daemon(wait, seconds):
    """A shell that leaves a daemon behind: double fork and a session of its own. It works after `wait` seconds."""
    work = f"sleep {wait}; exec '{program('lifecycle')}' steady seconds={seconds} period_us=2000"
    return ["/bin/sh", "-c", f"(setsid /bin/sh -c \"{work}\" </dev/null >/dev/null 2>&1 &)"]


def recovered(r):
    """After the daemon's end: what rtl recover writes."""
    spool = r.output + ".spool"
    wait_until("the daemon's end", lambda: not holders(spool), SESSION_GONE)
    ended(rtl("recover", "--remove", spool, cwd=r.dir), 0)
    equal("the raw trace is gone", os.path.exists(spool), False)
    equal("verdict", infos(r.output)["verdict"], "complete")
    exact_dispatches(r)


def is_within_exec(process):
    """Its environment reads as empty then, and field 50 of its stat (env_start) is 0; a process that ends has no program any more."""
    with contextlib.suppress(OSError), open(f"{process}/stat", encoding="utf-8", errors="replace") as f:
        return f.read().rpartition(")")[2].split()[50 - 3] == "0" and bool(os.readlink(f"{process}/exe"))
    return False


def variables_of(process):
    with open(f"{process}/environ", "rb") as f:
        return f.read()


def holders(session):
    """The processes that have that session in their environment, or may have it in a moment."""
    found = []
    for process in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            # a file that is opened before an exec and read behind it is empty: the second one is the new program's
            variables = variables_of(process) or variables_of(process)
            if f"RTL_SESSION={session}".encode() in variables.split(b"\0") or (not variables and is_within_exec(process)):
                found.append(process)
    return found


@case
def daemon_that_works_is_recovered():
    r = traced(*daemon(0, 4))
    contains("what rtl trace says", r.err, "still run")
    contains("what rtl trace says", r.err, f"'rtl recover {r.output}.spool'")
    equal("a database of a part", os.path.exists(r.output), False)
    recovered(r)


@case
def daemon_that_works_later_is_recovered():
    """It uses the GPU for the first time when rtl trace has ended."""
    r = traced(*daemon(3, 1))
    contains("what rtl trace says", r.err, "left behind still run")
    contains("what rtl trace says", r.err, f"'rtl recover {r.output}.spool'")
    recovered(r)


@case
def daemon_beside_traced_program_is_recovered():
    shell = daemon(3, 1)
    shell[2] += f"; '{program('launcher')}' launches={LAUNCHES}"
    r = traced(*shell)
    contains("what rtl trace says", r.err, "left behind still run")
    equal("dispatches of the program", r.count("rtl_dispatch", "kernel like '%k__\\_%' escape '\\'"), LAUNCHES)
    # what is in the database is no raw trace any more
    contains("what rtl trace says", r.err, f"'rtl recover -o FILE {r.output}.spool'")
    os.rename(r.output, r.output + ".first")
    r._db = None
    spool = r.output + ".spool"
    wait_until("the daemon's end", lambda: not holders(spool), SESSION_GONE)
    ended(rtl("recover", "--remove", spool, cwd=r.dir), 0)
    at_least("dispatches of the daemon", r.count("rtl_dispatch"), 50)
    equal("verdict", infos(r.output)["verdict"], "complete")


@case
def helper_that_outlives_the_program_by_a_moment_leaves_nothing():
    """As Python's resource tracker: it learns of the program's end, and tidies up then."""
    helper = "(while kill -0 $$; do sleep 0.02; done 2>/dev/null; sleep 0.2)"
    r = run("/bin/sh", "-c", f"{helper} & exec '{program('launcher')}' launches={LAUNCHES}", trace=RTL)
    equal("what rtl trace says", r.err, "")
    equal("files", [n for n in os.listdir(r.dir) if n.startswith("trace.db")], ["trace.db"])
    equal("dispatches", r.count("rtl_dispatch", "kernel like '%k__\\_%' escape '\\'"), LAUNCHES)


# ---- other users -------------------------------------------------------------------------------


@case
def process_of_another_user_is_a_named_loss():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        skip("only root can start a process of another user")
    become = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*become, "test", "-x", program("launcher")], check=False).returncode:
        skip("the other user can't execute the programs of this build")
    r = traced(*become, *launcher(), status=123, env={"VGPU_LOG": None})
    lost(r, "spool_denied", "of user 65534 could not make its trace", "Permission denied", "setpriv ... rtl trace ... PROGRAM")
    contains("stdout", r.out, f"launcher: {LAUNCHES} launches")
    mode = stat.S_IMODE(os.stat(os.path.dirname(r.output)).st_mode)
    # what the advice says
    folder = new_dir("other")
    os.chmod(folder, 0o777)
    path = folder
    while path != "/":
        if not os.stat(path).st_mode & stat.S_IXOTH:
            skip(f"the other user can't enter {path} (mode {mode:o})")
        path = os.path.dirname(path)
    output = os.path.join(folder, "x.db")
    p = subprocess.run([*become, RTL_BIN, "trace", "--virtual-gpu", "-o", output, *launcher()], env=clean_env({"VGPU_EXEC": "off"}),
                       capture_output=True, text=True, check=False, cwd=folder)
    equal("status", p.returncode, 0)
    equal("verdict", infos(output)["verdict"], "complete")


@case
def spool_directory_is_closed_to_others():
    p, r = start("lifecycle", "steady", "seconds=30", trace=RTL, umask=0)
    spool = wait_until("the spool directory", lambda: glob.glob(r.output + ".spool"))[0]
    equal("its mode", stat.S_IMODE(os.stat(spool).st_mode), 0o700)
    os.kill(p.pid, signal.SIGTERM)
    finish(p, r, 20)


# ---- environments ------------------------------------------------------------------------------


@case
def cleared_environment_is_a_named_loss():
    r = traced("/usr/bin/env", "-i", f"LD_PRELOAD={with_driver()}", "VGPU_EXEC=off", *launcher(), status=123)
    lost(r, "librtl_missing", "its environment was cleared", "env -i ... rtl trace ... PROGRAM")


@case
def removed_preload_is_a_named_loss():
    r = traced("/usr/bin/env", "-u", "HSA_TOOLS_LIB", "-u", "ROCPROFILER_REGISTER_LIBRARY", f"LD_PRELOAD={with_driver()}", *launcher(), status=123)
    lost(r, "librtl_missing", "LD_PRELOAD was removed from its environment", "keep LD_PRELOAD and HSA_TOOLS_LIB")


@case
def child_with_cleared_environment_is_a_named_loss():
    """One of several processes; the others are traced."""
    script = f"\"$@\"; env -i LD_PRELOAD='{with_driver()}' VGPU_EXEC=off \"$@\""
    r = traced("/bin/sh", "-c", script, "sh", *launcher(), status=123)
    lost(r, "librtl_missing", "its environment was cleared")
    equal("dispatches", r.count("rtl_dispatch", "kernel like '%k__\\_%' escape '\\'"), LAUNCHES)


@case
def preload_without_tools_variable_is_whole():
    for variables in (("HSA_TOOLS_LIB",), ("HSA_TOOLS_LIB", "ROCPROFILER_REGISTER_LIBRARY", "HSA_TOOLS_ROCPROFILER_V1_TOOLS")):
        r = traced("/usr/bin/env", *(word for name in variables for word in ("-u", name)), *launcher())
        whole(r)


@case
def tools_variable_without_preload_names_missed_calls():
    r = traced("/usr/bin/env", f"LD_PRELOAD={with_driver()}", *launcher(), status=123)
    equal("losses", list(r.losses()), ["api_missed"])
    contains("what rtl trace says", r.err, "LD_PRELOAD")
    exact_dispatches(r)


@case
def static_program_is_named():
    r = traced("still")
    contains("what rtl trace says", r.err, "is statically linked: librtl can't be loaded into it, and neither can the virtual GPU get in")
    equal("a database is there", os.path.exists(r.output), False)


@case
def program_that_needs_no_gpu_in_cleared_environment_is_named():
    r = traced("/usr/bin/env", "-i", "/bin/sleep", "0.5")
    contains("what rtl trace says", r.err, "/sleep) ran without librtl: its environment was cleared")
    lacks("what rtl trace says", r.err, "no ROCm runtime")


# ---- half a set-up, without rtl trace ----------------------------------------------------------


def whole(r):
    equal("verdict", infos(r.output)["verdict"], "complete")
    exact_dispatches(r)
    equal("dispatches of the program", r.count("rtl_dispatch", "kernel like '%k__\\_%' escape '\\'"), LAUNCHES)
    equal("calls that launched", r.count("rtl_api", "name = 'hipLaunchKernel'"), LAUNCHES)


def direct(name, *args, **env):
    """Without rtl trace: librtl by these variables."""
    folder = new_dir("direct")
    env = {"RTL_OUTPUT": os.path.join(folder, "trace.db"), "RTL_STRICT": "1", **env}
    r = run(name, *args, env=env)
    r.output = env["RTL_OUTPUT"]
    return r


@case
def preload_alone_traces_calls_and_operations():
    r = direct("launcher", f"launches={LAUNCHES}", LD_PRELOAD=LIBRTL, RTL_MODE="hip")
    whole(r)
    equal("stderr", r.err, "")


@case
def preload_alone_traces_each_start_of_the_runtime():
    r = direct("lifecycle", "again", "rounds=5", LD_PRELOAD=LIBRTL)
    at_least("dispatches", r.count("rtl_dispatch", "not flags & 32"), 50)


@case
def preload_by_path_with_blank_is_whole():
    folder = os.path.join(new_dir("lib"), "with blank")
    os.makedirs(folder)
    shutil.copy(LIBRTL, os.path.join(folder, "librtl.so.1"))
    r = direct("launcher", f"launches={LAUNCHES}", LD_PRELOAD="librtl.so.1", RTL_MODE="hip", RTL_BIN=RTL_BIN,
               LD_LIBRARY_PATH=f"{folder}:{VGPU_DIR}")
    whole(r)


@case
def tools_variable_alone_names_missed_calls():
    r = direct("launcher", f"launches={LAUNCHES}", HSA_TOOLS_LIB=LIBRTL, RTL_MODE="hip")
    equal("losses", list(r.losses()), ["api_missed"])
    contains("stderr", r.err, "librtl.so.1 is not preloaded")
    exact_dispatches(r)


@case
def preload_alone_leaves_environment_as_it_was():
    """For the program, and for its children: after hsa_init() it has what it had before."""
    seen = {}
    for name, extra in (("plain", {}), ("preload", {"LD_PRELOAD": LIBRTL})):
        r = direct("children", "environment", **extra)
        seen[name] = [line for line in r.out.splitlines() if not line.startswith(("LD_PRELOAD=", "RTL_OUTPUT=", "VGPU_LOG=", "PWD="))]
    equal("environment", seen["preload"], seen["plain"])


main()
