#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""AMD's libraries on the virtual GPU: each program compares their results with the CPU's, untraced and traced.

The libraries and their headers are those of the Debian suite that RTL_LIBRARIES names (tools/userland.sh SUITE libraries). The
programs are compiled here, with this machine's hipcc, and run there. Each case prints its times.

The cases named own_tests run AMD's own test programs of a library, as Debian builds them, traced: a part of their tests, which
googletest chooses by number, because all of them would take days.
"""
import fnmatch
import math
import os
import subprocess
import sys

from support import *

# program -> the libraries that it is linked with
PROGRAMS_OF = {
    "rocblas": ["rocblas"],
    "rocfft": ["rocfft"],
    "rocrand": ["rocrand"],
    "rocsparse": ["rocsparse"],
    "rocsolver": ["rocsolver", "rocblas"],
    "hipcub": [],
    "rccl": ["rccl"],
}
EXECUTED = {"VGPU_EXEC": "auto"}
# RCCL 7 has no code for gfx900


def arch_of(suite, name):
    return "gfx90a" if (suite, name) == ("experimental", "rccl") else "gfx900"


def environment(name, arch=None):
    return {**EXECUTED, "VGPU_ARCH": arch or arch_of(USERLAND, name)}


def folder_of(suite):
    return os.path.join(BUILD, "tests/libraries", suite)


def root_of(suite):
    return os.path.join(os.environ.get("USERLAND_DIR", os.path.join(SOURCE, "build/userland")), suite, "root")


def is_fetched(suite):
    return os.path.exists(os.path.join(root_of(suite), "libraries/asked_for"))


def headers_of(suite, name):
    """hipCUB is headers alone. Those of 7.2 need a newer compiler, and HIP's headers of 7.2, than this machine has."""
    return os.path.join(root_of("debian13" if name == "hipcub" else suite), "libraries/usr/include")


def build(suite, root):
    """Compiles the programs that are older than their sources; returns the compiler's first error."""
    os.makedirs(folder_of(suite), exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    common = os.path.getmtime(os.path.join(here, "common.hpp"))
    lib = os.path.join(root, "usr/lib/x86_64-linux-gnu")
    for name, libraries in PROGRAMS_OF.items():
        source, output = os.path.join(here, name + ".cpp"), os.path.join(folder_of(suite), name)
        if os.path.exists(output) and os.path.getmtime(output) > max(common, os.path.getmtime(source)):
            continue
        if name == "hipcub" and not is_fetched("debian13"):
            continue
        argv = ["hipcc", f"--offload-arch={arch_of(suite, name)}", "-std=c++17", "-O2", "-Wall", "-Werror", source, "-o", output]
        argv += ["-isystem", headers_of(suite, name), "-L" + lib, "-Wl,--allow-shlib-undefined"]
        for library in libraries:
            found = [f for f in sorted(os.listdir(lib)) if f.startswith(f"lib{library}.so.")]
            argv.append("-l:" + found[0])
        p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if p.returncode:
            return f"{name}: " + p.stdout.decode("utf-8", "replace")[:2000]
    return None


def outside(suite):
    """On this machine: compiles, and enters the userland."""
    if not is_fetched(suite):
        print(f"no libraries of {suite} are there: tools/userland.sh {suite} libraries fetches them")
        sys.exit(77)
    error = build(suite, root_of(suite))
    if error:
        print(error)
        sys.exit(1)
    script = os.path.abspath(__file__)
    userland = os.path.join(SOURCE, "tools/userland.sh")
    os.execv(userland, [userland, suite, "run", "python3", script, *sys.argv[1:]])


def right(r, results):
    """Every result of the program's was right, and there were so many."""
    lines = [line for line in r.out.splitlines() if ": right, " in line]
    lacks(f"output of {r.name}", r.out, "WRONG")
    at_least(f"results of {r.name}", len(lines), results)
    return lines


def untraced_and_traced(name, *args, results, gpus=1, unloads=False, arch=None):
    path = os.path.join(folder_of(USERLAND), name)
    plain = run(path, *args, gpus=gpus, env=environment(name, arch), timeout=300)
    traced = run(path, *args, trace=RTL, gpus=gpus, env=environment(name, arch), timeout=300)
    equal("results", right(traced, results), right(plain, results))
    complete(traced)
    exact_dispatches(traced, unloads=unloads)
    kernels = traced.value("SELECT count(DISTINCT kernel) FROM rtl_dispatch")
    print(f"    {plain.seconds:.1f} s, traced {traced.seconds:.1f} s, {traced.count('rtl_dispatch')} dispatches of {kernels} kernels")


@case
def rocblas():
    untraced_and_traced("rocblas", results=7)


# the programs without kernels of their own, which this machine's hipcc can't compile for gfx942: all kernels are AMD's
MI300 = {"rocblas": 7, "rocfft": 8, "rocsparse": 3, "rocsolver": 3}


@case
def kernels_of_the_libraries_for_mi300():
    if USERLAND != "experimental":
        skip("of Debian's packages those of 7.2.4 are the first with kernels for gfx942")
    for name, results in MI300.items():
        untraced_and_traced(name, results=results, unloads=name == "rocfft", arch="gfx942")


@case
def rocfft():
    untraced_and_traced("rocfft", results=8, unloads=True)  # a destroyed plan unloads its kernels


@case
def rocrand():
    untraced_and_traced("rocrand", results=13)


@case
def rocsparse():
    untraced_and_traced("rocsparse", results=3)


@case
def rocsolver():
    untraced_and_traced("rocsolver", results=3)


@case
def hipcub():
    if not os.path.exists(os.path.join(folder_of(USERLAND), "hipcub")):
        skip("its headers are debian13's, which are not there: tools/userland.sh debian13 libraries fetches them")
    untraced_and_traced("hipcub", results=6)


@case
def rccl_2_gpus_in_one_process():
    untraced_and_traced("rccl", 2, results=4, gpus=2)


@case
def rccl_4_gpus_in_one_process():
    untraced_and_traced("rccl", 4, results=8, gpus=4)


def process_per_gpu(gpus):
    program_ = os.path.join(folder_of(USERLAND), "rccl")
    ranks = f"for r in $(seq 0 {gpus - 1}); do {program_} {gpus} id $r & p=\"$p $!\"; done; for q in $p; do wait $q || exit; done"
    plain = run("/bin/sh", "-c", ranks, gpus=gpus, env=environment("rccl"), timeout=300)
    traced = run("/bin/sh", "-c", ranks, trace=RTL, gpus=gpus, env=environment("rccl"), timeout=300)
    equal("results", sorted(right(traced, 2 * gpus)), sorted(right(plain, 2 * gpus)))
    complete(traced)
    exact_dispatches(traced)
    equal("processes", len({pid for pid, in traced.rows("SELECT DISTINCT pid FROM rtl_process")}), gpus)
    print(f"    {plain.seconds:.1f} s, traced {traced.seconds:.1f} s, {traced.count('rtl_dispatch')} dispatches")


@case
def rccl_process_per_gpu_2():
    process_per_gpu(2)


@case
def rccl_process_per_gpu_4():
    process_per_gpu(4)


OWN_TESTS = "/usr/libexec/rocm"
# where Debian's packages have the libraries that the results are compared with
REFERENCES = ":".join(os.path.join("/usr/lib/x86_64-linux-gnu", name) for name in ("blas", "lapack"))
# rocSOLVER 5.5.1 lacks barriers between waves that use the same LDS: in its Jacobi methods (rocm-libraries, pull request 12266) and
# in bisection (its changelog of ROCm 6.2 names STEBZ and the routines that use it). Waves of a workgroup run in turn here, which
# shows it.
RACES = ("SYEVJ", "HEEVJ", "SYGVJ", "HEGVJ", "GESVDJ", "STEBZ", "STEIN", "SYEVX", "HEEVX", "SYGVX", "HEGVX", "BDSVDX", "GESVDX")


def own_tests(library, each, tests="*", programs=("*",)):
    """Runs `each` tests of every program of a library's own whose name is like one of `programs`, under one trace."""
    folder = os.path.join(OWN_TESTS, library + "-tests")
    if USERLAND != "debian13":
        skip(f"tools/userland.sh fetches {library}-tests from Debian 13 alone")
    if not os.path.isdir(folder):
        fail(f"no {folder}: tools/userland.sh {USERLAND} libraries fetches it")
    steps = [f"LD_LIBRARY_PATH=$LD_LIBRARY_PATH:{REFERENCES}"]
    for name in sorted(os.listdir(folder)):
        if not any(fnmatch.fnmatch(name, like) for like in programs):
            continue
        path = os.path.join(folder, name)
        found = run("/bin/sh", "-c", f"{steps[0]} {path} --gtest_list_tests --gtest_filter='{tests}'", env=EXECUTED, timeout=300)
        number = sum(line.startswith("  ") for line in found.out.splitlines())
        at_least(f"tests of {name}", number, 1)
        # googletest gives shard i the tests i, i + shards, i + 2 shards, ...
        shards = math.ceil(number / each)
        steps.append(f"GTEST_TOTAL_SHARDS={shards} GTEST_SHARD_INDEX={shards // 2} {path} --gtest_filter='{tests}' || echo ENDED WITH $?")
    traced = run("/bin/sh", "-c", "\n".join(steps), trace=RTL, env=EXECUTED, timeout=800)
    bad = [line for line in traced.out.splitlines() if line.startswith(("[  FAILED  ] ", "ENDED WITH"))]
    equal(f"failures of {library}'s tests", bad, [])
    passed = sum(line.startswith("[       OK ]") for line in traced.out.splitlines())
    at_least(f"tests of {library} that passed", passed, len(steps) - 1)
    # RCCL's tests have a child that may end without its exit handlers: a note, no loss
    contains("rtl info", traced.info(), "verdict: complete")
    exact_dispatches(traced, unloads=True)
    print(f"    {len(steps) - 1} programs, {passed} tests, {traced.seconds:.1f} s, {traced.count('rtl_dispatch')} dispatches")


@case
def own_tests_of_hipblas():
    own_tests("libhipblas0", 40)


@case
def own_tests_of_hipsparse():
    own_tests("libhipsparse0", 60)


@case
def own_tests_of_rccl():
    own_tests("librccl1", 30)


@case
def own_tests_of_rocprim():
    # the others have inputs of millions of items
    own_tests("librocprim", 4, programs=("test_block_*", "test_warp_*", "test_*_iterator", "test_intrinsics", "test_thread*", "test_hip_*"))


@case
def own_tests_of_rocrand():
    own_tests("librocrand1", 3, programs=("test_rocrand_kernel_*", "test_*_distribution"))


@case
def own_tests_of_rocsolver():
    own_tests("librocsolver0", 60, "checkin*-" + ":".join(f"*{name}*" for name in RACES))


if not USERLAND and "--list" not in sys.argv:
    outside(os.environ.get("RTL_LIBRARIES", "debian13"))
main()
