#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what a libamdhip64 exports with what librtl wraps, and what it calls of that itself with what hip_roles.json says.

Usage: check_symbols.py --map librtl.map --roles hip_roles.json [--nm NM] [--readelf READELF] LIBRARY
       check_symbols.py --map librtl.map --names FILE    the exports of a release, recorded
Exit:  0 every function of HIP is wrapped, and the roles are complete, 1 some are not, 77 nothing to compare with.
"""

import argparse
import json
import os
import re
import subprocess
import sys

CALLS = r"^(hip\w+|__hip(Push|Pop)CallConfiguration|_Z\w*hip\w*)$"
KNOWN = ("libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7")


def run(*cmd):
    """Standard output of a command."""
    return subprocess.run(cmd, capture_output=True, text=True, check=True).stdout


def calls_of_its_own(readelf, library):
    """The functions of HIP that the library calls by their symbols, so that the calls come to librtl's wrappers."""
    return set(re.findall(r"_JUMP_SLOT? +[0-9a-f]+ (hip(?!rtc)\w+)", run(readelf, "-rW", library)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--map", required=True)
    parser.add_argument("--names")
    parser.add_argument("--roles")
    parser.add_argument("library", nargs="?", default="")
    args = parser.parse_args()
    if args.names:
        soname = args.names
        with open(args.names, encoding="utf-8") as f:
            exported = {name for name in f.read().split() if re.match(CALLS, name)}
    elif not os.path.exists(args.library):
        print("no libamdhip64 installed")
        return 77
    else:
        soname = re.search(r"SONAME.*\[(.*)\]", run(args.readelf, "-d", args.library)).group(1)
        if soname not in KNOWN:
            print("%s is of a release without a model" % soname)
            return 77
        exported = set()
        for line in run(args.nm, "-D", "--defined-only", args.library).splitlines():
            _, kind, name = line.split()[:3]
            name = name.split("@")[0]
            if kind in "TW" and re.match(CALLS, name):
                exported.add(name)
    with open(args.map, encoding="utf-8") as f:
        wrapped = set(re.findall(r"^\t(\w+);$", f.read(), re.M))
    missing = sorted(exported - wrapped)
    print("%s: %d functions, %d not wrapped" % (soname, len(exported), len(missing)))
    for name in missing:
        print("not wrapped: %s" % name)
    unknown = []
    if args.roles:
        with open(args.roles, encoding="utf-8") as f:
            unknown = sorted((calls_of_its_own(args.readelf, args.library) & wrapped) - set(json.load(f)["own"]))
        for name in unknown:
            print("called by the library, not in `own` of hip_roles.json: %s" % name)
    return 1 if missing or unknown or len(exported) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
