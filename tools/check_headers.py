#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_headers.py - each header compiles alone, and twice; those of include/ also as C++

Usage: check_headers.py BUILD_DIR [CC [CXX]]      BUILD_DIR/gen holds the generated headers
"""
import concurrent.futures
import os
import subprocess
import sys

import rtl_tree

FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wundef", "-Werror", "-D_GNU_SOURCE", "-D__HIP_PLATFORM_AMD__"]

# C++, under the name that its users include
CXX_ALONE = {"tests/sdk/perfetto/perfetto.h": "c++17"}


def compile_alone(compiler, language, standard, dirs, header):
    """The compiler's complaint, or None."""
    name = os.path.join(rtl_tree.ROOT, header)
    program = f'#include "{name}"\n#include "{name}"\nextern int header_is_alone;\n'
    run = subprocess.run([compiler, "-x", language, f"-std={standard}", *FLAGS,
                          *[f"-I{d}" for d in dirs], "-"],
                         input=program, capture_output=True, text=True, check=False, cwd=rtl_tree.ROOT)
    if run.returncode == 0:
        return None
    lines = [l for l in run.stderr.splitlines() if "error" in l] or run.stderr.splitlines()
    return f"{header}: not alone as {standard}: {lines[0] if lines else 'unknown reason'}"


def main():
    gen = os.path.join(os.path.abspath(sys.argv[1]), "gen")
    cc = sys.argv[2] if len(sys.argv) > 2 else "cc"
    cxx = sys.argv[3] if len(sys.argv) > 3 else ""
    jobs = []
    for header in rtl_tree.files(".h", under=("src", "include", "vgpu", "lib", "tests")):
        dirs = [os.path.dirname(header)]
        dirs += ["vgpu", gen] if header.startswith("vgpu/") else ["src", "include", "tests", gen]
        if header not in CXX_ALONE:
            jobs.append((cc, "c", "c11", dirs, header))
        if cxx and (header.startswith("include/") or header in CXX_ALONE):
            jobs.append((cxx, "c++", CXX_ALONE.get(header, "c++14"), dirs, header))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        errors = [e for e in pool.map(lambda j: compile_alone(*j), jobs) if e]
    sys.exit(rtl_tree.report(f"check_headers: {len(jobs)} compilations", errors))


if __name__ == "__main__":
    main()
