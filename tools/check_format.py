#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_format.py - the layout is clang-format 14's (--fix applies it)

Other versions of clang-format differ in a few rules, so only 14 is used.
"""
import re
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
    how = ["-i"] if "--fix" in sys.argv else ["--dry-run"]
    run = subprocess.run([tool, "--style=file", *how, *names], cwd=rtl_tree.ROOT, check=True, capture_output=True, text=True)
    found = re.findall(r"^(.*:\d+):\d+: warning: code should be clang-formatted", run.stderr, re.M)
    errors = [f"{where}: not as clang-format has it; tools/check_format.py --fix" for where in dict.fromkeys(found)]
    sys.exit(rtl_tree.report("check_format", errors))


if __name__ == "__main__":
    main()
