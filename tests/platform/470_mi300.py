#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program with kernels for gfx942 on HIP that knows it: results, trace, dies.

The compilers of Debian 12 don't know gfx942: mi300.co.txt keeps what clang 19 made of mi300.hip, by

    clang -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch=gfx942 -nogpuinc -nogpulib -O2 mi300.hip -o mi300.co
    python3 470_mi300.py --keep mi300.co
"""
import base64
import sys
import textwrap
import zlib

from support import *

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mi300.co.txt")


def keep(path):
    with open(path, "rb") as f:
        text = base64.b64encode(zlib.compress(f.read(), 9)).decode()
    with open(KEPT, "w", encoding="ascii") as f:
        f.write("# mi300.hip, compiled for gfx942, zlib's stream in base64; 470_mi300.py says how\n")
        f.write("\n".join(textwrap.wrap(text, 120)) + "\n")


@case
def kernels_for_mi300_give_right_results_untraced_and_traced():
    with open(KEPT, encoding="ascii") as f:
        text = "".join(line.strip() for line in f if not line.startswith("#"))
    path = os.path.join(new_dir("code"), "mi300.co")
    with open(path, "wb") as f:
        f.write(zlib.decompress(base64.b64decode(text)))
    env = {"VGPU_ARCH": "gfx942", "VGPU_EXEC": "auto"}
    names = ["add", "product", "product_fp8", "digits"]
    want = "".join(f"{n} right\n" for n in names) + "dies " + " ".join(str(n % 8) for n in range(20)) + "\n"
    for trace in (None, RTL):
        r = run("mi300", path, trace=trace, env=env)
        equal("what the kernels did", r.out, want)
    complete(r)
    exact_dispatches(r)
    # HIP copies by kernels, too
    traced = [n for n, in r.db().execute("select kernel from rtl_dispatch order by begin_ticks") if n[0] not in "_["]
    equal("kernels in the trace", traced, names + ["die"])


if len(sys.argv) == 3 and sys.argv[1] == "--keep":
    keep(sys.argv[2])
else:
    main()
