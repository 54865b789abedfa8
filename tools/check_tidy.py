#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_tidy.py - clang-tidy finds nothing with the checks of .clang-tidy

Usage: tools/check_tidy.py BUILD     a build directory of clang's (preset tsa) with a compile_commands.json
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

import rtl_tree

TOOL = "clang-tidy-15"


def findings(name, *options):
    """Its findings in a file, one line each; a file that it can't read is one, too."""
    run = subprocess.run([TOOL, "--quiet", name, *options], cwd=rtl_tree.ROOT, check=False, capture_output=True, text=True)
    found = re.findall(r"^\S+:\d+:\d+: (?:error|warning): .*", run.stdout, re.M)
    return found or ([f"{name}: {TOOL}: {run.stderr.strip()[-300:]}"] if run.returncode else [])


def main():
    if not shutil.which(TOOL):
        print(f"{TOOL} is not installed")
        sys.exit(77)
    names = rtl_tree.files(".c", under=("src", "lib", "vgpu"))
    jobs = int(os.environ.get("JOBS", "2"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        errors = [e for found in pool.map(lambda n: findings(n, "-p", sys.argv[1]), names) for e in found]
    sys.exit(rtl_tree.report("check_tidy", sorted(e.replace(rtl_tree.ROOT + "/", "") for e in set(errors))))


if __name__ == "__main__":
    main()
