# SPDX-License-Identifier: MIT
"""clients.py - the clients that the scripts of this folder run, on the virtual GPU"""
from support import *

TOOL = os.path.join(LIB, "librocprofiler64.so.1")


def client(name, *args, trace=PLAIN, tools=True, env=(), wrong=0, **kwargs):
    """Runs tests/vgpu/rocprofiler_NAME of the build; it finds nothing wrong."""
    path = os.path.join(PROGRAMS, "vgpu", f"rocprofiler_{name}")
    full = {"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, **dict(env)}
    if trace == PLAIN:
        full.setdefault("LD_LIBRARY_PATH", f"{VGPU_DIR}:{LIB}")
    if tools:
        full.setdefault("HSA_TOOLS_LIB", TOOL)
    r = run(path, *args, trace=trace, env=full, **kwargs)
    equal("what the client finds wrong", r.out.splitlines()[-1:], [f"wrong {wrong}"] if r.out else ["wrong 0"])
    return r
