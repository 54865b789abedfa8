#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is recorded, by name, GPU, call, range, time and rank. What is left out is counted, and is not lost."""
import itertools

from support import *

SKIPPED = {"paused", "filtered_kernel", "filtered_gpu", "filtered_call"}
TABLES = ("rtl_dispatch", "rtl_copy", "rtl_api", "rtl_marker")
OUTSIDE, PUSHED, STARTED, BOTH, PAUSED, OTHER = 32, 64, 96, 128, 160, 192  # of capture.cpp


def capture(*options, do="mix", args=(), mode="hip", gpus=1, env=None, status=0, name="capture", **kwargs):
    args = (f"do={do}", *args) if name == "capture" else args
    r = run(name, *args, trace=RTL, rtl_args=("-q", "-m", mode, *options), gpus=gpus, env=env, status=status, **kwargs)
    equal("stderr", r.err, "")
    return r


def kernels(r):
    """{name without arguments: dispatches} of the program's kernels."""
    rows = r.rows("select kernel, count(*) from rtl_dispatch where not flags & 32 and kernel not like '%amd%' group by 1")
    return {name.replace("void ", "").partition("(")[0]: count for name, count in rows}


def sizes(r):
    """{workgroup size: dispatches} of the program's kernels."""
    return dict(r.rows("select group_x, count(*) from rtl_dispatch where kernel like '%capture%' group by 1"))


def skipped(r):
    return {k: v for k, v in r.losses().items() if k in SKIPPED}


def everything(r):
    return sum(r.count(t) for t in TABLES) + sum(skipped(r).values())


def complete(r):
    equal("reasons", set(r.losses()) - SKIPPED, set())
    text = r.info()
    contains("rtl info", text, "verdict: complete")
    for reason, count in skipped(r).items():
        contains("rtl info", text, f"{reason} {count}")


def own_times(r):
    """Dispatches have the GPU's times, whatever was left out between them."""
    log = {(l["begin"], l["end"]) for l in r.log("dispatch")}
    seen = r.rows("select begin_ticks, end_ticks from rtl_dispatch where not flags & 32")
    equal("dispatches with other times than the GPU's", [s for s in seen if tuple(s) not in log], [])


def in_modes(fn):
    for mode in ("standard", "hip"):
        fn(mode)


# ---- names ----------------------------------------------------------------------------------------


@case
def kernels_are_selected_by_either_name():
    whole = {m: capture(mode=m) for m in ("standard", "hip")}
    equal("kernels of the whole trace", kernels(whole["hip"]), {"app::alpha<int>": 10, "capture_beta": 20})
    for mode, names in itertools.product(whole, ("app::alpha<int>", "^_ZN3app5alphaIi", "alpha|gamma", r"alpha<.*>\(int\*\)$")):
        r = capture("--kernels", names, mode=mode)
        equal(f"kernels by {names!r}", kernels(r), {"app::alpha<int>": 10})
        equal("reasons", set(r.losses()), {"filtered_kernel"})
        equal("recorded and left out", everything(r), everything(whole[mode]))
        equal("copies and calls", [r.count(t) for t in TABLES[1:]], [whole[mode].count(t) for t in TABLES[1:]])
        own_times(r)
        complete(r)


@case
def kernels_are_left_out_by_name():
    def check(mode):
        whole = capture(mode=mode)
        r = capture("--not-kernels", "^void app::", mode=mode)
        equal("kernels", kernels(r), {"capture_beta": 20})
        equal("skipped", skipped(r), {"filtered_kernel": 10})
        equal("recorded and left out", everything(r), everything(whole))
        complete(r)
        r = capture("--kernels", "a", "--not-kernels", "beta", mode=mode)
        equal("kernels by both", kernels(r), {"app::alpha<int>": 10})
        complete(r)

    in_modes(check)


@case
def kernel_that_no_dispatch_is_of_leaves_all_out():
    r = capture("--kernels", "no such kernel", "--fail-on-loss")
    equal("dispatches", r.count("rtl_dispatch"), 0)
    at_least("skipped", skipped(r)["filtered_kernel"], 30)
    complete(r)


@case
def copies_and_fills_by_kernels_stay():
    """HIP's own kernels do the fill; no regular expression of kernels leaves that out."""
    def moved(r):
        return sorted(r.rows("select kind, bytes, means from rtl_transfer"))

    whole = run("children", "work", "n=7", trace=RTL, env={"VGPU_EXEC": "auto"})
    at_least("fills by kernels", sum(1 for kind, _, means in moved(whole) if kind == "Fill" and means.startswith("__amd_rocclr_fill")), 1)
    for options in (("--kernels", "no such kernel"), ("--not-kernels", "."), ("--kernels", "rocclr", "--not-kernels", "child")):
        r = run("children", "work", "n=7", trace=RTL, env={"VGPU_EXEC": "auto"}, rtl_args=("-q", "--fail-on-loss", *options))
        equal(f"copies and fills with {options}", moved(r), moved(whole))
        equal("dispatches of the program's kernels", kernels(r), {})
        equal("skipped", set(skipped(r)), {"filtered_kernel"})
        complete(r)
    r = run("children", "work", "n=7", trace=RTL, env={"VGPU_EXEC": "auto"}, rtl_args=("-q", "--fail-on-loss", "--kernels", "child", "--pmc", "SQ_WAVES"))
    equal("copies and fills of a trace with counters", moved(r), moved(whole))
    equal("counted dispatches", r.count("rtl_counter"), 7)
    complete(r)


@case
def kernels_of_graphs_and_of_intercept_queues_are_selected():
    whole = run("graphs", trace=RTL)
    names = dict(whole.rows("select kernel, count(*) from rtl_dispatch where not flags & 32 group by 1"))
    name = min(names, key=names.get)
    r = run("graphs", trace=RTL, rtl_args=("-q", "--kernels", f"^{re.escape(name)}$"))
    equal("kernels", dict(r.rows("select kernel, count(*) from rtl_dispatch group by 1")), {name: names[name]})
    complete(r)
    r = capture("--kernels", "beta", env={"RTL_QUEUES": "intercept"})
    equal("kernels of an intercept queue", kernels(r), {"capture_beta": 20})
    complete(r)


@case
def dispatches_with_signals_are_selected():
    """Those that are left out keep the signals that the program gave them."""
    for args in (("kinds=ds",), ("kinds=dcsbdwBn", "threads=4", "shared=1", "ring=7")):
        whole = run("flood", "count=2000", *args, trace=RTL)
        r = run("flood", "count=2000", *args, trace=RTL, rtl_args=("-q", "--kernels", "no such kernel"))
        equal("output", r.out, whole.out)
        equal("dispatches", r.count("rtl_dispatch"), 0)
        equal("skipped", skipped(r)["filtered_kernel"], whole.count("rtl_dispatch"))
        complete(r)


@case
def calls_are_selected():
    whole = capture()
    for names, expected in (
        ("^hipLaunchKernel$", {"hipLaunchKernel": 30}),
        ("Memcpy|^hipFree$", {"hipMemcpyAsync": 1, "hipFree": 1}),
        ("no such function", {}),
    ):
        r = capture("--calls", names)
        equal("calls", dict(r.rows("select name, count(*) from rtl_api group by 1")), expected)
        equal("kernels", kernels(r), kernels(whole))
        equal("skipped", skipped(r), {"filtered_call": whole.count("rtl_api") - sum(expected.values())})
        equal("recorded and left out", everything(r), everything(whole))
        of_call = r.count("rtl_dispatch", "not flags & 32 and correlation_id in (select correlation_id from rtl_api)")
        equal("dispatches with their call", of_call, expected.get("hipLaunchKernel", 0))
        own_times(r)
        complete(r)


@case
def operations_of_calls_that_are_left_out_are_not_missed():
    """Neither are those that HIP's own threads submit, and none by HIP's callbacks."""
    for env in ({"AMD_DIRECT_DISPATCH": 0}, {"RTL_HIP_BACKEND": "callback"}, {"RTL_HIP_BACKEND": "preload"}):
        whole = capture(env=env)
        r = capture("--calls", "^hipMalloc$", "--fail-on-loss", env=env)
        equal("kernels", kernels(r), {"app::alpha<int>": 10, "capture_beta": 20})
        names = {row[0] for row in r.rows("select distinct name from rtl_api")}
        expected = {"hipMalloc"} if whole.count("rtl_api") else set()
        equal("calls", names, expected)
        complete(r)


@case
def calls_of_the_runtime_itself_are_no_calls_of_the_program():
    """HIP 5's hipMemcpyPeer() calls hipMemcpy() by its symbol, hipMemcpyPeerAsync() hipMemcpyAsync(): they are left out, and passed on by a jump."""
    copyways = lambda *options: run("copyways", trace=RTL, gpus=2, rtl_args=("-q", *options), env={"VGPU_EXEC": "auto"})
    whole = copyways()
    for names in ("^hip(HostMalloc|Memcpy|MemcpyAsync)$", "no such function"):
        r = copyways("--calls", names)
        expected = whole.rows("select name, count(*) from rtl_api where name in ('hipHostMalloc', 'hipMemcpy', 'hipMemcpyAsync') group by 1")
        equal("calls", r.rows("select name, count(*) from rtl_api group by 1"), expected if names[0] == "^" else [])
        equal("all", r.count("rtl_api") + skipped(r)["filtered_call"], whole.count("rtl_api"))
        complete(r)


@case
def hsa_calls_are_selected():
    r = capture("--calls", "^hsa_queue_create$|^hipMalloc$", "--hsa")
    names = dict(r.rows("select name, count(*) from rtl_api group by 1"))
    equal("calls", set(names), {"hsa_queue_create", "hipMalloc"})
    equal("hipMalloc", names["hipMalloc"], 1)
    at_least("left out", skipped(r)["filtered_call"], 100)
    equal("kernels", kernels(r), {"app::alpha<int>": 10, "capture_beta": 20})
    complete(r)
    r = capture("--calls", "^hsa_queue_create$", "--hsa", mode="standard")
    equal("calls", {row[0] for row in r.rows("select distinct name from rtl_api")}, {"hsa_queue_create"})
    complete(r)


@case
def roctracer_client_receives_what_is_left_out():
    """libroctracer64 still reports each call, kernel and copy to its client; the trace has none of them."""
    path, env = program("hsa_client"), {"HSA_TOOLS_LIB": os.path.join(BUILD, "lib/libroctracer64.so.4")}
    whole = run(path, trace=RTL, env=env)
    reports = lambda x: [l for l in x.out.splitlines() if "0x" not in l]
    r = run(path, trace=RTL, env=env, rtl_args=("-q", "--fail-on-loss", "--kernels", "none", "--gpus", "0", "--calls", "none"))
    equal("reports to the client", reports(r), reports(whole))
    equal("recorded", [r.count(t) for t in ("rtl_dispatch", "rtl_api")], [0, 0])
    equal("left out", set(skipped(r)) - {"filtered_call"}, {"filtered_kernel"})
    equal("recorded and left out", everything(r), everything(whole))
    r = run(path, trace=RTL, env=env, rtl_args=("-q", "--fail-on-loss", "--gpus", "7"))
    equal("reports to the client", reports(r), reports(whole))
    equal("dispatches and copies with a GPU", [r.count("rtl_dispatch"), r.count("rtl_copy", "src like 'GPU%' or dst like 'GPU%'")], [0, 0])
    equal("recorded and left out", everything(r), everything(whole))
    complete(r)


# ---- GPUs and ranks -------------------------------------------------------------------------------


@case
def gpus_are_selected():
    def check(mode):
        whole = capture(mode=mode, gpus=3)
        for gpus in ("1", "0,2", "0-1", "5"):
            r = capture("--gpus", gpus, mode=mode, gpus=3)
            wanted = {n for n in range(3) if str(n) in gpus or gpus == "0-1" and n < 2}
            of = lambda x: dict(x.rows("select agent, count(*) from rtl_dispatch where not flags & 32 group by 1"))
            equal(f"dispatches by GPU with {gpus}", of(r), {k: v for k, v in of(whole).items() if k in wanted})
            equal("copies", r.count("rtl_copy"), len(wanted))
            equal("reasons", set(r.losses()), {"filtered_gpu"})
            equal("recorded and left out", everything(r), everything(whole))
            own_times(r)
            complete(r)

    in_modes(check)


@case
def processes_of_other_ranks_are_not_traced():
    for variable in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        r = capture("--ranks", "0,2-3", env={variable: 2, "SLURM_STEP_ID": 0}, args=("launches=2",))
        equal("kernels of a selected rank", kernels(r), {"app::alpha<int>": 2, "capture_beta": 4})
        equal("losses", r.losses(), {})
        r = run("capture", "launches=2", trace=RTL, env={variable: 1, "SLURM_STEP_ID": 0}, rtl_args=("--ranks", "0,2-3", "--fail-on-empty"))
        equal("database", os.path.exists(r.output), False)
        contains("stderr", r.err, "rank 1 is not traced (--ranks)")
    r = run("capture", "launches=2", trace=RTL, rtl_args=("--ranks", "5"), status=125)
    contains("stderr", r.err, "--ranks 5: no process has a rank, so that all were traced")
    equal("kernels of a process without a rank", kernels(r), {"app::alpha<int>": 2, "capture_beta": 4})


@case
def ranks_are_those_of_each_process():
    """rtl trace above the launcher, which has a rank of its own here, as in a Slurm script."""
    script = "for i in 0 1 2; do SLURM_PROCID=$i SLURM_STEP_ID=0 " + program("capture") + " launches=$((i + 1)) >/dev/null || exit 1; done"
    r = run("/bin/sh", "-c", script, trace=RTL, rtl_args=("-q", "--ranks", "1,2"), env={"SLURM_PROCID": 0})
    equal("processes", r.count("rtl_process"), 2)
    equal("kernels", kernels(r), {"app::alpha<int>": 5, "capture_beta": 10})
    complete(r)


# ---- ranges, the program ----------------------------------------------------------------------------


@case
def range_selects_what_runs_while_it_is_open():
    def check(mode):
        whole = capture(do="ranges", args=("rounds=3",), mode=mode)
        every = {OUTSIDE: 15, PUSHED: 12, STARTED: 60, BOTH: 300}
        equal("dispatches of the whole trace", sizes(whole), every)
        for name, expected in (
            ("step forward", {PUSHED: 12, BOTH: 300}),
            ("step*", {PUSHED: 12, BOTH: 300}),
            ("step forward@1", {PUSHED: 2}),
            ("step forward@4", {BOTH: 100}),
            ("part", {STARTED: 60, BOTH: 300}),
            ("part@2", {STARTED: 20, BOTH: 100}),
            ("p?rt@3", {STARTED: 30, BOTH: 100}),
            ("*", {PUSHED: 12, STARTED: 60, BOTH: 300}),
            ("other", {PUSHED: 6}),
            ("step", {}),
            ("part@4", {}),
        ):
            r = capture("--range", name, do="ranges", args=("rounds=3",), mode=mode)
            equal(f"dispatches in range {name!r}", sizes(r), expected)
            equal("recorded and left out", everything(r), everything(whole))
            equal("reasons", set(r.losses()), {"paused"})
            complete(r)

    in_modes(check)


@case
def selected_range_is_recorded_itself():
    r = capture("--range", "part@2", do="ranges", args=("rounds=3",))
    rows = r.rows("select message, kind, begin_ns, end_ns from rtl_marker order by begin_ns")
    equal("markers", [row[:2] for row in rows], [("part", "start"), ("step forward", "push")])
    calls = r.rows("select min(begin_ns), max(end_ns), count(*) from rtl_api where name = 'hipLaunchKernel'")[0]
    equal("calls", calls[2], 120)
    at_least("first call", calls[0], rows[0][2])
    at_most("last call", calls[1], rows[0][3])
    orphans = r.count("rtl_dispatch", "correlation_id not in (select correlation_id from rtl_api)")
    equal("dispatches without their call", orphans, 0)


@case
def range_of_one_thread_selects_work_of_all():
    r = capture("--range", "part", do="threads")
    equal("dispatches", sizes(r), {OTHER: 7})
    complete(r)


@case
def many_threads_open_selected_ranges():
    args = ("threads=8", "launches=4000", "roctx=1")
    whole, r = (capture(*options, name="launcher", args=args) for options in ((), ("--range", "*")))
    equal("recorded and left out", everything(r), everything(whole))
    at_least("recorded", r.count("rtl_marker"), 8)
    equal("reasons", set(r.losses()) - {"paused"}, set())
    own_times(r)
    complete(r)


@case
def program_pauses_and_resumes_by_roctx():
    def check(mode):
        whole = {OUTSIDE: 3, PAUSED: 12, OTHER: 15}
        for start, expected in (("on", {OUTSIDE: 3, OTHER: 15}), ("off", {OTHER: 15}), ("always", whole)):
            r = capture("--trace-start", start, do="pause", args=("rounds=3",), mode=mode)
            equal(f"dispatches with --trace-start {start}", sizes(r), expected)
            equal("output", r.out, "capture: 30 launches\n")
            complete(r)

    in_modes(check)


# ---- time -------------------------------------------------------------------------------------------


LATE = 400  # ms: windows of librtl begin before main(), and open and close late on a machine that is busy


def in_windows(r, windows):
    """Launches that are certainly within a window, or outside of all, by the program's clock."""
    grids = {row[0] for row in r.rows("select grid_x from rtl_dispatch where kernel like '%capture%'")}
    times = [tuple(map(int, line.split()[1:])) for line in r.out.splitlines() if line.startswith("at ")]
    inside = outside = 0
    for n, (begin, end) in enumerate(times, 1):
        if any(low + LATE <= begin and end <= high - LATE for low, high in windows):
            equal(f"launch {n} at {begin} ms is recorded", n in grids, True)
            inside += 1
        elif all(end <= low - LATE or begin >= high + LATE for low, high in windows):
            equal(f"launch {n} at {begin} ms is recorded", n in grids, False)
            outside += 1
    equal("recorded and left out", r.count("rtl_dispatch") + r.losses().get("paused", 0), len(r.log("dispatch")))
    own_times(r)
    complete(r)
    return inside, outside


def timed(*options, windows, ms):
    return in_windows(capture(*options, do="timed", args=(f"ms={ms}",), mode="standard"), windows)


END = 10**9


@case
def delay_and_duration_select_launches():
    inside, _ = timed("--delay", "2", windows=[(2000, END)], ms=3500)
    at_least("launches in the window", inside, 1)
    _, outside = timed("--duration", "1.5", windows=[(0, 1500)], ms=3000)
    at_least("launches outside of the window", outside, 1)
    inside, outside = timed("--delay", "1.5", "--duration", "1.5", windows=[(1500, 3000)], ms=4500)
    at_least("launches in the window", inside, 1)
    at_least("launches outside of the window", outside, 1)


@case
def windows_before_and_behind_the_program_are_empty():
    r = capture("--delay", "600", do="timed", args=("ms=300",))
    equal("recorded", [r.count(t) for t in TABLES], [0] * 4)
    complete(r)
    r = capture("--duration", "600", do="timed", args=("ms=300",))
    equal("left out", r.losses(), {})


@case
def periods_select_launches():
    inside, outside = timed("--period", "1.2:1.2:0", windows=[(1200, 2400), (3600, 4800), (6000, 7200)], ms=6000)
    at_least("launches in windows", inside, 1)
    at_least("launches outside of windows", outside, 1)
    inside, outside = timed("--period", "0:1:1, 1.2:1.2", windows=[(0, 1000), (2200, 3400)], ms=4800)
    at_least("launches in windows", inside, 1)
    at_least("launches outside of windows", outside, 1)
    inside, _ = timed("--period", "0:3,1.2:600", "--delay", "1.5", windows=[(1500, 3000), (4200, END)], ms=5200)
    at_least("launches in windows", inside, 1)


# ---- together ---------------------------------------------------------------------------------------


@case
def all_conditions_have_to_hold():
    r = capture("--kernels", "alpha", "--gpus", "1", "--calls", "Launch", gpus=2)
    equal("kernels", kernels(r), {"app::alpha<int>": 10})
    equal("GPUs", r.rows("select distinct agent from rtl_dispatch"), [(1,)])
    equal("reasons", set(r.losses()), {"filtered_kernel", "filtered_gpu", "filtered_call"})
    whole = capture(gpus=2)
    equal("recorded and left out", everything(r), everything(whole))
    complete(r)

    r = capture("--range", "step*", "--kernels", "beta", "--trace-start", "off", do="ranges")
    equal("dispatches that the program never starts", sizes(r), {})
    r = capture("--range", "part", "--duration", "60", "--calls", "Launch", "--kernels", "beta", do="ranges")
    equal("dispatches", sizes(r), {STARTED: 10, BOTH: 100})
    equal("calls", r.rows("select name, count(*) from rtl_api group by 1"), [("hipLaunchKernel", 110)])
    complete(r)
    r = capture("--range", "part", "--delay", "60", do="ranges")
    equal("dispatches before the window", sizes(r), {})
    complete(r)
    r = capture("--range", "part", "--not-kernels", "beta", do="ranges")
    equal("dispatches", sizes(r), {})
    equal("left out in the range by name", skipped(r)["filtered_kernel"], 110)


@case
def variables_are_as_options():
    for name, value, options in (
        ("RTL_KERNELS", "alpha", ("--kernels", "alpha")), ("RTL_NOT_KERNELS", "alpha", ("--not-kernels", "alpha")),
        ("RTL_CALLS", "Launch", ("--calls", "Launch")), ("RTL_GPUS", "0", ("--gpus", "0")), ("RTL_DELAY", "60", ("--delay", "60")),
    ):  # fmt: skip
        a, b = capture(env={name: value}), capture(*options)
        equal(name, [kernels(a), skipped(a), a.count("rtl_api")], [kernels(b), skipped(b), b.count("rtl_api")])
    r = capture("--kernels", "beta", env={"RTL_KERNELS": "alpha"})
    equal("the option counts", kernels(r), {"capture_beta": 20})
    r = run("capture", trace=TOOLS, env={"RTL_KERNELS": "alpha", "RTL_RANGE": ""})
    equal("without rtl trace", kernels(r), {"app::alpha<int>": 10})


@case
def bad_values_are_refused_before_program_starts():
    for option, value, *parts in (
        ("delay", "soon", "'soon' at character 1 is not a number of seconds", "2, 0.25, 500ms, 10s, 2m, 1h"),
        ("delay", "-1", "'-1' at character 1"),
        ("duration", "0", "nothing would be recorded"),
        ("duration", "1e3", "'1e3' at character 1"),
        ("period", "5", "'5' at character 1 has no duration", "DELAY:DURATION"),
        ("period", "1:2:3 1:x:2", "'x' at character 9 is not a number of seconds"),
        ("period", "1:0:3", "'0' at character 3 is no duration", "more than 0"),
        ("period", "1:1:-1", "'-1' at character 5 is not a number of repetitions"),
        ("period", "1:1:0,1:1:1", "'1:1:1' at character 7 is never reached"),
        ("range", "@3", "there is no name"),
        ("range", "step@0", "'0' at character 6 is no occurrence", "1 to"),
        ("range", "step@", "no number behind '@'", "NAME@N"),
        ("kernels", "gemm(", "'gemm(' is not a POSIX extended regular expression: Unmatched ( or \\("),
        ("not-kernels", "a[", "'a[' is not a POSIX extended regular expression"),
        ("calls", "a{2,1}", "'a{2,1}' is not a POSIX extended regular expression"),
        ("gpus", "0,x", "'x' at character 3 is not a number", "0,2,4-7"),
        ("gpus", "3-1", "'3-1' at character 1"),
        ("ranks", "1,,2", "at character 3 is not a number"),
        ("ranks", "", "the LIST is empty"),
    ):
        r = rtl("trace", "-o", "none.db", f"--{option}={value}", "/bin/touch", os.path.join(work_dir(), "started"))
        equal(f"status of --{option}={value}", r.status, 125)
        contains("message", r.err, f"--{option}: ")
        for part in parts:
            contains(f"message of --{option}={value}", r.err, part)
        equal("the program has started", os.path.exists(os.path.join(work_dir(), "started")), False)


@case
def bad_variables_are_reported_and_ignored():
    r = run("capture", trace=RTL, rtl_args=(), env={"RTL_KERNELS": "gemm(", "RTL_STRICT": "0", "RTL_PERIOD": "1"})
    equal("kernels", kernels(r), {"app::alpha<int>": 10, "capture_beta": 20})
    contains("stderr", r.err, "RTL_KERNELS=gemm(: 'gemm(' is not a POSIX extended regular expression")
    contains("stderr", r.err, "RTL_PERIOD=1: '1' at character 1 has no duration")


main()
