#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What runs before librtl's start calls nothing that a program may have in front of the C library.

Usage: early_calls.py NM LIBRARY LIMIT OBJECT... [-- SYMBOL...]
A symbol that an object needs is one of the library's own, or one of those behind `--`. The library's table has fewer symbols than LIMIT.
"""
import subprocess
import sys


def needed(nm, *args):
    out = subprocess.run([nm, *args], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].partition("@")[0] for line in out.splitlines() if line.strip()}


def main():
    args = sys.argv[1:]
    at = args.index("--") if "--" in args else len(args)
    nm, library, limit, *objects = [path for arg in args[:at] for path in arg.split(";")]  # lists of CMake
    outside = needed(nm, "-D", "--undefined-only", library)
    if "dlvsym" not in outside or not objects:
        print(f"{library} needs {len(outside)} symbols, dlvsym is not one of them; {len(objects)} objects")
        return 1
    nr = len(needed(nm, "-D", library))
    if nr >= int(limit):
        print(f"{library} has {nr} symbols; lib/librtl/visible.c has an entry for {limit}")
        return 1
    wrong = 0
    for path in objects:
        for name in sorted((needed(nm, "--undefined-only", path) & outside) - set(args[at + 1:])):
            print(f"{path} calls {name}, which a program may have in front of the C library's")
            wrong += 1
    print(f"{len(objects)} objects, {wrong} calls too many")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
