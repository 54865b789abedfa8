# SPDX-License-Identifier: MIT
"""mi300.py - the code object of platform/mi300.hip for gfx942

The compilers of Debian 12 don't know gfx942: mi300.co.txt keeps what clang 19 made of mi300.hip, by

    clang -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch=gfx942 -nogpuinc -nogpulib -O2 mi300.hip -o mi300.co
    python3 tests/support/mi300.py mi300.co
"""
import base64
import os
import sys
import textwrap
import zlib

KEPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "platform", "mi300.co.txt")
KERNELS = ("add", "product", "product_fp8", "digits", "die")  # in their order


def keep(path):
    with open(path, "rb") as f:
        text = base64.b64encode(zlib.compress(f.read(), 9)).decode()
    with open(KEPT, "w", encoding="ascii") as f:
        f.write("# mi300.hip, compiled for gfx942, zlib's stream in base64; tests/support/mi300.py says how\n")
        f.write("\n".join(textwrap.wrap(text, 120)) + "\n")


def write_code(folder):
    """The path of the code object, in the folder."""
    with open(KEPT, encoding="ascii") as f:
        text = "".join(line.strip() for line in f if not line.startswith("#"))
    path = os.path.join(folder, "mi300.co")
    with open(path, "wb") as f:
        f.write(zlib.decompress(base64.b64decode(text)))
    return path


if __name__ == "__main__":
    keep(sys.argv[1])
