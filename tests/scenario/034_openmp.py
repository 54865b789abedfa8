#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of OpenMP offload run on the virtual GPU and are traced: kernels, copies, the end of the process."""
from support import *

ENV = {"VGPU_EXEC": "auto"}
RIGHT = "openmp: 1 GPU, on the GPU, sum right\n"


def is_there():
    built(os.path.join(PROGRAMS, "openmp"), "clang-15", "/usr/lib/llvm-15/lib/libomptarget-amdgpu-gfx900.bc", "/usr/lib/*/amdgcn/bitcode/ocml.bc")


@case
def kernels_of_offload_are_exact():
    is_there()
    # with _exit() the virtual GPU's last lines are written only if each is at once
    r = run("openmp", "end=_exit", trace=RTL, env={**ENV, "VGPU_LOG_SYNC": "1"})
    equal("results", r.out, RIGHT)
    equal("losses", r.losses(), {"sudden_exit": 1})  # the note of the end
    exact_dispatches(r)
    equal("kernels", r.count("rtl_dispatch", "kernel LIKE '__omp_offloading_%'"), 2)
    at_least("copies", r.count("rtl_copy"), 4)


@case
def end_of_the_process_is_the_same_as_untraced():
    # LLVM 15's plugin uses its agents after its own static destructors have freed them, and the process dies of SIGSEGV in
    # hsa_... while it ends, on any GPU. Nothing is lost by that: every operation has completed before.
    is_there()
    plain = run("openmp", env=ENV, status=None)
    traced = run("openmp", trace=RTL, env=ENV, status=None)
    equal("results", (plain.out, traced.out), (RIGHT, RIGHT))
    equal("how it ended untraced", plain.status in (0, -signal.SIGSEGV), True)
    equal("status of rtl trace", traced.status, 0 if plain.status == 0 else 128 + signal.SIGSEGV)
    equal("losses", traced.losses(), {} if plain.status == 0 else {"killed": 1})  # the note of the end
    exact_dispatches(traced)


main()
