#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""core_version.py - the version of the table that librtl gives to the compat libraries: a hash of all headers that describe it

Usage: core_version.py INCLUDE_FOLDER... -- HEADER...

Reads the headers and the project's headers that they include, generated ones as well. Prints the version, 8 hexadecimal digits, then the files, one a line.
"""
import hashlib
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
OWN = "core_version.h"  # what is made of the version


def walk(path, folders, seen):
    """The header and what it includes, in the order of their inclusion, to `seen`."""
    if path in seen:
        return
    with open(path, encoding="utf-8") as f:
        seen[path] = f.read()
    for name in INCLUDE.findall(seen[path]):
        paths = [os.path.normpath(os.path.join(d, name)) for d in [os.path.dirname(path), *folders]]
        found = next((p for p in paths if os.path.isfile(p)), None)
        if found:
            walk(found, folders, seen)
        elif name != OWN:
            sys.exit(f"core_version: {path}: {name} is not in {', '.join(paths)}")


def version(folders, headers):
    seen = {}
    for header in headers:
        walk(header, folders, seen)
    seen = {p: t for p, t in seen.items() if os.path.basename(p) != OWN}
    return hashlib.sha256("\0".join(seen.values()).encode()).hexdigest()[:8], list(seen)


def main():
    split = sys.argv.index("--")
    result, files = version(sys.argv[1:split], sys.argv[split + 1:])
    print("\n".join([result, *files]))


if __name__ == "__main__":
    main()
