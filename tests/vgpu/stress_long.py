#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stress_long.py - random kernels by the thousand, at all levels of optimisation

    stress_long.py --vgpu DIR [--arch gfx90a] [--kernels 1000] [--seed 1000]

Kernels come in programs of a hundred, one after the other at -O2, -O3, -O1 and -O0. What fails can be made again with
stress_gen.py and the seed that is printed.
"""
import argparse
import os
import subprocess
import sys
import tempfile

BATCH = 100


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--arch", default="gfx900")
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1000)
    args = parser.parse_args()
    gen = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stress_gen.py")
    env = dict(os.environ, LD_PRELOAD=os.path.join(os.path.abspath(args.vgpu), "libvgpu.so"), VGPU_EXEC="on", VGPU_KERNEL_NS="0",
               VGPU_ARCH=args.arch)
    failed = 0
    for n in range(0, args.kernels, BATCH):
        level = ("-O2", "-O3", "-O1", "-O0")[n // BATCH % 4]
        with tempfile.TemporaryDirectory(prefix="vgpu-stress.") as tmp:
            source, program = tmp + "/stress.cpp", tmp + "/stress"
            subprocess.run([sys.executable, gen, "--kernels", str(min(BATCH, args.kernels - n)), "--seed",
                            str(args.seed + n // BATCH), "--out", source], check=True)
            subprocess.run(["hipcc", f"--offload-arch={args.arch}", level, "-ffp-contract=off", "-w", source, "-o", program],
                           check=True)
            p = subprocess.run([program], env=env, text=True, capture_output=True, timeout=600, check=False)
        print(f"seed {args.seed + n // BATCH} {level}: {p.stdout.strip()}{p.stderr}", flush=True)
        failed |= p.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
