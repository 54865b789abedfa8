# SPDX-License-Identifier: MIT
"""vgpu.py - shared by the tests of the virtual GPU: real ROCm runtimes, real hipcc programs, no librtl

The tests compare the programs' output with VGPU_LOG.
"""
from support import *
from support import harness


def run(program, *args, log=True, timeout=120, one_cpu=False, environ=None, **knobs):
    """Runs a program; knobs are VGPU_* without the prefix, in lower case. Kernels are executed if exec= says so."""
    status = knobs.pop("status", 0)
    env = {"VGPU_DEVICES": None, "VGPU_EXEC": "off", **{f"VGPU_{k.upper()}": v for k, v in knobs.items()}, **(environ or {})}
    if not log:
        env["VGPU_LOG"] = None
    cpu = min(os.sched_getaffinity(0))
    return harness.run(os.path.join(BUILD, "tests/vgpu", program), *args, status=status, timeout=timeout, env=env,
                       preexec_fn=(lambda: os.sched_setaffinity(0, {cpu})) if one_cpu else None)


def of_kind(r, *kinds, **where):
    return [e for e in r.log() if e["kind"] in kinds and all(e[k] == v for k, v in where.items())]


def numbers(r, pattern):
    return [tuple(map(int, m.groups())) for m in re.finditer(pattern, r.out)]


def check(cond, what):
    if not cond:
        fail(what)
