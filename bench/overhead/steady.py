#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""steady.py - once warm, a dispatch under librtl makes no system call, no allocation, takes no lock

The counts of the program steady (steady.c) under librtl are those of the same program under a tool that only
passes packets through. A machine that keeps the upkeep thread from running for long makes the
program's thread do some of its work, and one that keeps the program from running lets it fall asleep; so
the least of a few runs counts, and a wake-up or two do not.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ.get("RTL_BUILD", "build")
RUNS = 8
WAKE_UPS = 2


def run(kind, tool, folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "VGPU_", "HSA_", "LD_"))}
    env.update(LD_PRELOAD=os.path.join(BUILD, "vgpu/libvgpu.so"), VGPU_KERNEL_NS="0", VGPU_EXEC="off")
    if tool == "passthrough":
        env["HSA_TOOLS_LIB"] = os.path.join(BUILD, "bench/libpassthrough.so")
    else:
        env.update(
            HSA_TOOLS_LIB=os.path.join(BUILD, "lib/librtl.so.1"),
            RTL_MODE=tool,
            RTL_OUTPUT=os.path.join(folder, "t.db"),
            RTL_BIN="/bin/true",
        )
    argv = [os.path.join(BUILD, "bench/steady"), f"kind={kind}"]
    p = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)
    shutil.rmtree(os.path.join(folder, "t.db.spool"), ignore_errors=True)
    if p.returncode == 77:
        print(p.stdout.strip())
        sys.exit(77)
    if p.returncode != 0:
        sys.exit(f"{' '.join(argv)} under {tool}: status {p.returncode}\n{p.stderr}")
    return json.loads(p.stdout)


def is_same(seen, expected):
    return (
        seen["syscalls"] <= expected["syscalls"] + WAKE_UPS
        and seen["allocations"] <= expected["allocations"]
        and seen["locks"] <= expected["locks"]
    )


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("plain", "signal"):
            expected = run(kind, "passthrough", folder)
            for tool in ("lite", "standard", "full"):
                runs = []
                while len(runs) < RUNS and not (runs and is_same(runs[-1], expected)):
                    runs.append(run(kind, tool, folder))
                print(f"{kind} {tool}, run {len(runs)}: {runs[-1]}")
                if not is_same(runs[-1], expected):
                    failed = True
                    print(f"    none of {RUNS} runs has the counts of the pass-through tool: {expected}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
