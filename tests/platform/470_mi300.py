#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program with kernels for gfx942 on HIP that knows it: results, trace, dies; random kernels."""
from support import *
from support import hiprtc, mi300


@case
def kernels_for_mi300_give_right_results_untraced_and_traced():
    path = mi300.write_code(new_dir("code"))
    env = {"VGPU_ARCH": "gfx942", "VGPU_EXEC": "auto"}
    want = "".join(f"{n} right\n" for n in mi300.KERNELS[:4]) + "dies " + " ".join(str(n % 8) for n in range(20)) + "\n"
    for trace in (None, RTL):
        r = run("mi300", path, trace=trace, env=env)
        equal("what the kernels did", r.out, want)
    complete(r)
    exact_dispatches(r)
    # HIP copies by kernels, too
    traced = [n for n, in r.db().execute("select kernel from rtl_dispatch order by begin_ticks") if n[0] not in "_["]
    equal("kernels in the trace", traced, list(mi300.KERNELS))


@case
def random_kernels_for_mi300_compute_what_the_host_does():
    program = os.path.join(BUILD, "tests/vgpu/stress_gfx90a")
    code = os.path.join(new_dir("code"), "stress.co")
    # one of the suites has the arguments in registers
    hiprtc.compile_file(program + ".cpp", "gfx942", code, *(("-mllvm", "-amdgpu-kernarg-preload-count=8") if HIP7 else ()))
    r = run(program, code, env={"VGPU_ARCH": "gfx942", "VGPU_EXEC": "on", "VGPU_KERNEL_NS": "0"})
    equal("stdout", r.out, "0 of 25 kernels wrong\n")


main()
