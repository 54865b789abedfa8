#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_format.py - clang-format 14 has nothing to change (--fix lets it change)

Another version of clang-format lays out a few things otherwise, so only 14 is asked.
"""
import shutil
import subprocess
import sys

import rtl_tree


def main():
    tool = shutil.which("clang-format-14")
    if not tool:
        print("clang-format-14 is not installed")
        sys.exit(77)
    names = rtl_tree.files(".c", ".h", ".cpp",
                           under=("src", "lib", "vgpu", "include", "tests", "bench", "examples"))
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    if wanted:
        names = [n for n in names if n.startswith(tuple(wanted))]
    errors = []
    for name in names:
        old = rtl_tree.read(name)
        new = subprocess.run([tool, "--style=file", name], cwd=rtl_tree.ROOT, check=True,
                             capture_output=True, text=True).stdout
        if new == old:
            continue
        if "--fix" in sys.argv:
            with open(f"{rtl_tree.ROOT}/{name}", "w", encoding="utf-8") as f:
                f.write(new)
            continue
        pairs = enumerate(zip(old.split("\n"), new.split("\n")), 1)
        line = next((nr for nr, (a, b) in pairs if a != b), 0)
        errors.append(f"{name}:{line}: not as clang-format has it; tools/check_format.py --fix {name}")
    sys.exit(rtl_tree.report("check_format", errors))


if __name__ == "__main__":
    main()
