#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are built or run in an unusual way do under rtl trace what they do untraced."""
import re

from support import *

GCC = ["gcc_asan", "gcc_asan_static", "gcc_tsan", "gcc_tsan_static", "gcc_lsan"]
CLANG = ["clang_asan", "clang_asan_shared", "clang_tsan", "clang_msan"]


def odd(name, *needs):
    return built(f"odd/{name}", *needs)


def report(text):
    """What a sanitizer says, without addresses and process ids; of librtl there is nothing."""
    lacks("report of a sanitizer", text, "librtl")
    return [re.sub(r"0x[0-9a-f]+|\d\d+", "N", line) for line in text.splitlines()
            if line.startswith(("SUMMARY", "==", "WARNING")) and not line.startswith("===")]


def as_untraced(path, *args, rtl_args=("-q",), env=None, untraced=None):
    plain = run(path, *args, status=None, env={**(env or {}), **(untraced or {})})
    traced = run(path, *args, trace=RTL, rtl_args=rtl_args, status=None, env=env)
    expected = plain.status if plain.status >= 0 else 128 - plain.status
    equal(f"{os.path.basename(path)} {args}: status, output, report", (traced.status, traced.out, report(traced.err)),
          (expected, plain.out, report(plain.err)))
    return plain, traced


# the programs need no GPU, and a sanitizer insists on being the first library
NOTHING_PRELOADED = {"LD_PRELOAD": None}


def sanitized(names, compiler):
    for name in names:
        path = odd(f"sanitized_{name}", compiler)
        plain, _ = as_untraced(path, untraced=NOTHING_PRELOADED)
        equal(f"status of {name}", plain.status, 4)
        plain, _ = as_untraced(path, "bug", untraced=NOTHING_PRELOADED)
        at_least(f"lines that report the fault of {name}", len(report(plain.err)), 1)
    # from a script, which has options of its own for the sanitizer; in a trace that is switched off
    paths = [odd(f"sanitized_{name}", compiler) for name in names]
    as_untraced("/bin/sh", "-c", "for p; do ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=history_size=2 $p; echo $?; done", "sh", *paths, untraced=NOTHING_PRELOADED)
    as_untraced("/bin/sh", "-c", "for p; do $p; echo $?; done", "sh", *paths, env={"RTL_DISABLE": "1"}, untraced=NOTHING_PRELOADED)


@case
def programs_with_gccs_sanitizers_run_as_untraced():
    sanitized(GCC, "gcc")


@case
def programs_with_clangs_sanitizers_run_as_untraced():
    sanitized(CLANG, "clang-15")


@case
def sanitizer_preloaded_by_the_user_comes_first():
    path = odd("sanitized_gcc_asan", "gcc")
    libs = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    asan = re.search(r"=> (\S*libasan\.so\S*)", libs).group(1)
    env = {"LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=1"}
    plain = run("/bin/echo", "text", env=env)
    traced = run("/bin/echo", "text", trace=RTL, env=env)
    equal("output, errors", (traced.out, traced.err), (plain.out, plain.err))
    r = run("/bin/sh", "-c", "echo $LD_PRELOAD", trace=RTL, env=env)
    equal("the first library", r.out.split(":")[0], asan)
    # preloaded without rtl trace
    env = {"LD_PRELOAD": LIBRTL}
    equal("output", run(path, env=env, status=4).out, "no GPU used\n")


@case
def sanitized_hip_programs_are_traced():
    for name in ("address", "thread"):
        path = odd(f"sanitized_hip_{name}")
        # HIP itself leaks, and its atomic accesses are not seen by the thread sanitizer
        env = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "exitcode=0", "VGPU_EXEC": "auto"}
        plain = run(path, env=env, status=5)
        r = run(path, trace=RTL, env=env, status=5, rtl_args=("-q", "--fail-on-loss"))
        equal("output", r.out, plain.out)
        lacks("report", r.err, "librtl")
        equal("kernels", r.count("rtl_dispatch", "kernel like 'add(%'"), 20)
        equal("calls", r.count("rtl_api", "name in ('hipStreamCreate', 'hipMalloc', 'hipLaunchKernel', 'hipStreamSynchronize')"), 26)


PRELOADED = {"LD_PRELOAD": LIBRTL, "RTL_MODE": "hip"}


def same_names(path, *args, env=None):
    plain = run(path, *args, status=None, env=env)
    for mode in ("hip", "lite"):
        traced = run(path, *args, trace=RTL, rtl_args=("-q", "-m", mode), status=plain.status, env=env)
        same_lines(f"names in mode {mode}", traced.out, plain.out)
    traced = run(path, *args, status=plain.status, env={**(env or {}), **PRELOADED})
    same_lines("names with librtl preloaded", traced.out, plain.out)
    traced = run(path, *args, status=plain.status, env={**(env or {}), **PRELOADED, "RTL_DISABLE": "1"})
    same_lines("names where tracing is off", traced.out, plain.out)
    return plain


def same_lines(what, seen, expected):
    same_counter(what, seen.splitlines(), expected.splitlines())


@case
def weak_references_find_what_they_find_untraced():
    for env in ({}, {"LD_BIND_NOW": "1"}):
        plain = same_names(odd("weaknames_linked"), "linked", env=env)
        at_least("functions that HIP has", plain.out.count(" there\n"), 600)
        at_least("functions that HIP lacks", plain.out.count(" NULL\n"), 20)


@case
def weak_references_of_loaded_libraries_find_what_they_find_untraced():
    # a library that is not linked with HIP finds it by the global scope
    for how, library, strong in (("local", "libweaknames_linked.so", "libweaknames.so"), ("global", "libweaknames_loaded.so", "libstrongname.so")):
        plain = same_names(odd("weaknames_plain", "gcc"), odd(library), how, odd(strong))
        contains("HIP", plain.out, "HIP: there")
        at_least(f"functions that HIP has, {how}", plain.out.count(" there\n"), 300)


@case
def program_with_few_descriptors_left_runs_as_untraced():
    path, nr_traced = odd("fewfiles"), 0
    env = {"VGPU_EXEC": "auto"}
    for when, left in (("after", 0), ("after", 3), ("before", 9), ("before", 10), ("before", 12)):
        plain = run(path, when, left, env=env, status=None)
        if plain.status != 6:
            continue  # HIP itself needs more
        r = run(path, when, left, trace=RTL, rtl_args=("-q", "-m", "standard"), env=env, status=6)
        equal(f"output with {left} left {when} HIP", r.out, plain.out)
        # a spool has two files, and the virtual GPU some
        if when == "after" or left == 12 or r.losses() != {"start_failed": 1}:
            equal("losses", r.losses(), {})
            exact_dispatches(r)
            nr_traced += 1
    at_least("traces", nr_traced, 3)


@case
def limit_of_open_files_is_the_programs_alone():
    script = "ulimit -%s 8; exec %s trace %s -o trace.db -- /bin/sh -c 'ulimit -Sn; ulimit -Hn; exit 3'"
    # what rtl itself needs is above the soft limit of the program
    r = run("/bin/sh", "-c", script % ("Sn", RTL_BIN, "-q"), status=3)
    equal("soft limit", r.out.split("\n")[0], "8")
    # no process but root's has more than the hard limit
    r = run("/bin/sh", "-c", script % ("n", RTL_BIN, "-q"), status=3)
    equal("limits", r.out, "8\n8\n")
    if r.err:
        contains("errors", r.err, "runs untraced: the limit of 8 open files is too low")
        r = run("/bin/sh", "-c", script % ("n", RTL_BIN, "-q --fail-on-loss"), status=125)
        contains("errors", r.err, "the limit of 8 open files is too low to trace")


FORMS = ["pie", "nopie", "static", "staticpie", "pg", "now", "lazy", "malloc", "dlsym", "strings"]
# libraries of Debian's packages and of the C library, where they are installed; and what else is set for them
PACKAGED = {
    "libmemusage.so": {}, "libpcprofile.so": {}, "libc_malloc_debug.so.0": {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "85"}, "libfakeroot/libfakeroot-sysv.so": {},
    "libjemalloc.so.2": {}, "libtcmalloc.so.4": {}, "libtcmalloc_minimal.so.4": {}, "libmimalloc.so.2": {}, "libmimalloc.so.2.0": {},
    "libeatmydata.so": {}, "faketime/libfaketime.so.1": {"FAKETIME": "+0"}, "libasan.so.8": {"ASAN_OPTIONS": "detect_leaks=0:handle_segv=0:use_sigaltstack=0"},
}
SANITIZERS = ("libasan",)
# what a program is started by: filters, for example; the command is behind it
STARTERS = {"": [], "setarch": ["setarch", "-R"], "nice": ["nice", "-n", "1"], "timeout": ["timeout", "60"]}
# runs several commands, each with what is preloaded behind what there is; writes what each does
RUNNER = r"""
import os, resource, subprocess, sys
preload, first, count = sys.argv[1], sys.argv[2] == "first", int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
starter, commands = sys.argv[4:4 + count], sys.argv[4 + count:]
env, have = dict(os.environ), os.environ.get("LD_PRELOAD", "")
if preload:
    env["LD_PRELOAD"] = ":".join(p for p in ([preload, have] if first else [have, preload]) if p)
for command in commands:
    r = subprocess.run([*starter, *command.split()], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=50)
    print("==", command, r.returncode)
    print(r.stdout.decode("utf-8", "replace"))
"""


def modes():
    listed = subprocess.run([odd("odd_pie", "gcc")], capture_output=True, text=True, check=True).stdout.split()
    at_least("modes", len(listed), 25)
    return listed


def blocks(text):
    """What each command did, without what differs from run to run."""
    out = {}
    for part in text.split("== ")[1:]:
        title, _, rest = part.partition("\n")
        # libmemusage prints a histogram of the process
        rest = re.sub(r"\n?Memory usage summary.*", "", rest, flags=re.S)
        # a sanitizer says its process
        rest = re.sub(r"==\d+==", "==N==", rest)
        # without HIP the message has librtl's name, docs/decisions/049
        rest = re.sub(r"\S+: undefined symbol", "undefined symbol", rest)
        out[title] = re.sub(r"\x1b\[[0-9;]*m", "", rest).rstrip()
    return out


def matrix(commands, preload="", env=None, starter=()):
    """Runs the commands in one untraced and in one traced process tree."""
    is_first = os.path.basename(preload).startswith(SANITIZERS)
    argv = ["-c", RUNNER, preload, "first" if is_first else "last", len(starter), *starter, *commands]
    plain = run("/usr/bin/python3", *argv, env=env, timeout=200)
    traced = run("/usr/bin/python3", *argv, trace=RTL, env=env, timeout=200)
    seen, expected = blocks(traced.out), blocks(plain.out)
    for title, text in expected.items():
        command = title.rpartition(" ")[0]
        its = next((t for t in seen if t.rpartition(" ")[0] == command), None)
        if (its, seen.get(its)) != (title, text):
            fail(f"{command} with {preload or 'nothing'} preloaded, by {list(starter)}:\n    seen     {its}: {shorten(seen.get(its))}\n"
                 f"    expected {title}: {shorten(text)}")
    return len(expected)


def interposers():
    found = [(odd(f"libinterpose_{name}.so", "gcc"), {}) for name in ("strings", "threads", "files", "lookups", "memory")]
    for name, env in PACKAGED.items():
        found += [(path, env) for path in (f"/usr/lib/x86_64-linux-gnu/{name}",) if os.path.exists(path)]
    return found


@case
def odd_programs_in_every_form_run_as_untraced():
    commands = [f"{odd('odd_pie', 'gcc')} {mode}" for mode in modes()]
    some = ("plain", "children", "threads", "looks_up", "faults", "signals") if not LONG else modes()
    # dlvsym(), by which odd_dlsym looks dlsym() up, passes by librtl's, and sets no error for names that are not there yet
    commands += [f"{odd('odd_' + form, 'gcc')} {mode}" for form in FORMS[1:] for mode in some if (form, mode) != ("dlsym", "looks_up")]
    equal("programs", matrix(commands), len(commands))
    matrix(commands[:len(modes())], env={"LD_BIND_NOW": "1", "LC_ALL": "C", **{f"VARIABLE_{i}": "x" * 1000 for i in range(100)}})


@case
def odd_programs_behind_interposers_run_as_untraced():
    some = ("plain", "children", "threads", "looks_up", "storm", "files") if not LONG else modes()
    # a dlsym() of the program makes RTLD_NEXT that of the program, for every library
    forms = ("pie", "strings") if not LONG else [form for form in FORMS if form != "dlsym"]
    for preload, env in interposers():
        matrix([f"{odd('odd_' + form, 'gcc')} {mode}" for form in forms for mode in some], preload, env)


@case
def odd_programs_started_by_other_programs_run_as_untraced():
    some = ("plain", "children", "aborts", "self") if not LONG else modes()
    for starter in STARTERS.values():
        if not starter or is_installed(starter[0]):
            matrix([f"{odd('odd_pie', 'gcc')} {mode}" for mode in some], starter=starter)


main()
