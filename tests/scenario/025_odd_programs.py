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


def as_untraced(path, *args, rtl_args=("-q",), env=None):
    plain = run(path, *args, status=None, env=env)
    traced = run(path, *args, trace=RTL, rtl_args=rtl_args, status=None, env=env)
    expected = plain.status if plain.status >= 0 else 128 - plain.status
    equal(f"{os.path.basename(path)} {args}: status, output, report", (traced.status, traced.out, report(traced.err)),
          (expected, plain.out, report(plain.err)))
    return plain, traced


def sanitized(names, compiler):
    for name in names:
        path = odd(f"sanitized_{name}", compiler)
        plain, _ = as_untraced(path)
        equal(f"status of {name}", plain.status, 4)
        plain, _ = as_untraced(path, "bug")
        at_least(f"lines that report the fault of {name}", len(report(plain.err)), 1)
    # from a script, which has options of its own for the sanitizer; in a trace that is switched off
    paths = [odd(f"sanitized_{name}", compiler) for name in names]
    as_untraced("/bin/sh", "-c", "for p; do ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=history_size=2 $p; echo $?; done", "sh", *paths)
    as_untraced("/bin/sh", "-c", "for p; do $p; echo $?; done", "sh", *paths, env={"RTL_DISABLE": "1"})


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
    for when, left in (("after", 0), ("after", 3), ("before", 1), ("before", 3), ("before", 5)):
        plain = run(path, when, left, env=env, status=None)
        if plain.status != 6:
            continue  # HIP itself needs more
        r = run(path, when, left, trace=RTL, rtl_args=("-q", "-m", "standard"), env=env, status=6)
        equal(f"output with {left} left {when} HIP", r.out, plain.out)
        # a spool has two files, and the virtual GPU one
        if when == "after" or left == 5 or r.losses() != {"start_failed": 1}:
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


main()
