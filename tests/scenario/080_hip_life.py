#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HIP calls at every stage of a program are recorded once; programs without HIP run unchanged."""
import re
import stat

from support import *

NR_THREADS = 16


def numbers(first, nr):
    return list(range(first, first + nr))


def hiplife_numbers():
    """Every number that hiplife.c and its libraries call hipGetErrorString() with."""
    want = []
    # part 1: constructor before librtl's, exit handler behind all others, destructor, used
    for first in (1000, 1100, 1200, 1300):
        want += numbers(first, 10)
    # part 2: loaded and unloaded three times
    want += 3 * (numbers(2000, 10) + numbers(2200, 10))
    want += numbers(2300, 30)
    # part 3: unloaded after HIP
    want += numbers(3000, 10) + numbers(3200, 10)
    # the program: constructor, exit handler, destructor, main()
    for first in (10000, 10100, 10200, 10300):
        want += numbers(first, 10)
    for thread in range(NR_THREADS):
        want += numbers(20000 + 100 * thread, 50) + numbers(30000 + 100 * thread, 5)
    return want


def hiplife(trace=RTL, rtl_args=("-q",), **env):
    return run(
        "hiplife", program("libhiplife2.so"), trace=trace, rtl_args=rtl_args, env=env, status=7, timeout=120
    )


def hiplife_calls(r, with_arguments=True):
    nr = NR_THREADS * 50 + 3 + 1
    want = {"hipGetErrorString": len(hiplife_numbers()), "hipMalloc": nr, "hipFree": nr}
    seen = dict(r.rows("select name, count(*) from rtl_api group by name"))
    equal("calls by name", seen, want)
    equal("statuses", r.rows("select distinct status from rtl_api"), [(0,)])
    equal("calls of calls", r.count("rtl_api", "parent_id != 0"), 0)
    complete(r)
    args = [a for (a,) in r.rows("select args from rtl_api where name = 'hipGetErrorString'")]
    if with_arguments:
        seen = [int(re.search(r"hipError=(\d+)", a).group(1)) for a in args]
        same_counter("numbers that hipGetErrorString() was called with", seen, hiplife_numbers())
    else:
        equal("arguments", set(args) - {"", None}, set())


@case
def calls_before_main_and_at_exit_are_recorded_once():
    plain = hiplife(trace=PLAIN)
    r = hiplife()
    equal("stdout", r.out, plain.out)
    equal("stderr", r.err, plain.err)
    hiplife_calls(r)


@case
def calls_have_no_arguments_when_switched_off():
    hiplife_calls(hiplife(RTL_ARGS=0), with_arguments=False)


@case
def hsa_call_has_hip_call_as_parent():
    """HSA's calls that HIP makes have the HIP call as their parent."""
    r = hiplife(rtl_args=("-q", "--hsa"))
    at_least("HSA calls", r.count("rtl_api", "domain = 'hsa'"), 100)
    at_least("of them, from HIP calls", r.count("rtl_api", "domain = 'hsa' and parent_id != 0"), 100)
    alone = r.count(
        "rtl_api a",
        "domain = 'hsa' and parent_id != 0 and not exists "
        "(select 1 from rtl_api b where b.correlation_id = a.parent_id and b.domain = 'hip' "
        "and b.tid = a.tid and b.begin_ns <= a.begin_ns and b.end_ns >= a.end_ns)",
    )
    equal("HSA calls that do not lie in their parents", alone, 0)
    want = len(hiplife_numbers()) + 2 * (NR_THREADS * 50 + 4)
    equal("HIP calls", r.count("rtl_api", "domain = 'hip'"), want)


@case
def mode_standard_records_no_calls():
    r = hiplife(rtl_args=("-q", "-m", "standard"))
    if os.path.exists(r.output):
        equal("calls", r.count("rtl_api"), 0)


@case
def program_with_dlsym_is_traced():
    r = run("dlopen_hip", trace=RTL)
    seen = dict(r.rows("select name, count(*) from rtl_api group by name"))
    # the runtime tells of no hipGetDeviceCount()
    seen.pop("hipGetDeviceCount", None)
    equal("calls", seen, {"hipMalloc": 2, "hipMemcpy": 20, "hipDeviceSynchronize": 2, "hipFree": 2})
    joined = r.value(
        "select count(*) from rocpd_api_ops J join rtl_api A using (api_id) join rtl_copy C using (op_id) "
        "where A.name = 'hipMemcpy' and A.args like '%sizeBytes=' || C.bytes || ',%'"
    )
    equal("copies that are joined to their calls", joined, r.count("rtl_copy"))
    equal("copies", r.count("rtl_copy"), 20)
    complete(r)


@case
def program_with_dlsym_has_no_callbacks_with_preload_backend():
    """RTL_HIP_BACKEND=preload: no callbacks; operations of unseen calls are counted."""
    r = run("dlopen_hip", trace=RTL, env={"RTL_HIP_BACKEND": "preload"})
    equal("calls", r.count("rtl_api"), 0)
    equal("copies", r.count("rtl_copy"), 20)


# ---- programs without a GPU ----------------------------------------------------------------------


def nothing_to_trace(argv, status=0):
    """The same output and status as untraced; rtl says that nothing was recorded, and writes nothing."""
    name, *args = argv
    plain = run(name, *args, status=status)
    quiet = run(name, *args, trace=RTL, status=status)
    equal("stdout", quiet.out, plain.out)
    r = run(name, *args, trace=RTL, rtl_args=(), status=status)
    equal("stdout", r.out, plain.out)
    contains("stderr", r.err, "nothing to trace")
    for line in plain.err.splitlines():
        contains("stderr", r.err, line)
    equal("database", os.path.exists(r.output), False)
    left = [n for n in os.listdir(r.dir) if n not in ("stdout", "stderr")]
    equal("what is left", left, [])


@case
def ls():
    nothing_to_trace(["/bin/ls", "/"])


@case
def bash():
    nothing_to_trace(["/bin/bash", "-c", "echo $((6 * 7)); (exit 3); echo $?; exit 5"], 5)


@case
def python():
    nothing_to_trace([sys.executable, "-c", "import threading; print(threading.active_count())"])


@case
def dlerror_is_the_same_as_untraced():
    nothing_to_trace([program("dlsymnext")])


@case
def dlsym_does_not_find_functions_of_later_hip():
    """librtl has wrappers for functions of later releases of HIP: dlsym() must not find those."""
    for scope in ("global", "linked"):
        lib = "libamdhip64.so.5" if scope == "global" else "libc.so.6"
        env = {"LD_PRELOAD": "libamdhip64.so.5"} if scope == "linked" else {}
        plain = run("dlsymnext", lib, scope, env=env)
        contains("stdout", plain.out, "hipMalloc: default 1")
        traced = run("dlsymnext", lib, scope, trace=RTL, env=env)
        equal("stdout", traced.out, plain.out)


@case
def static_program_runs_untraced():
    nothing_to_trace([program("still"), "9", "a b"], 9)


@case
def setuid_program_runs_untraced():
    if os.getuid() != 0:
        skip("only root can make a program that is another user's")
    path = os.path.join(new_dir("setuid"), "id")
    shutil.copy("/usr/bin/id", path)
    os.chown(path, 65534, -1)
    os.chmod(path, 0o755 | stat.S_ISUID)
    os.chmod(os.path.dirname(path), 0o755)
    plain = run(path)
    if "euid" not in plain.out:
        skip("this file system has no setuid programs")
    nothing_to_trace([path])


@case
def managed_variable_is_set_by_the_runtime_and_no_call_is_missed():
    """HIP 5 copies the first value while the program's code registers itself, before main()."""
    r = run("sdk_registers", trace=RTL, env={"VGPU_EXEC": "auto"})
    equal("stdout", r.out, "12\n" * 2)
    equal("calls before main()", r.count("rtl_api", "name LIKE '__hip%egister%'"), 0)
    equal("dispatches", r.count("rtl_dispatch", "kernel = 'registered'"), 2)
    complete(r)


main()
