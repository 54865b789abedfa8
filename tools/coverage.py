#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py - share of lines run, per folder of src, from the gcov data of a build directory"""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    build = os.path.abspath(sys.argv[1])
    data = [os.path.join(d, f) for d, _, files in os.walk(build) for f in files if f.endswith(".gcda")]
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    with tempfile.TemporaryDirectory() as tmp:
        for path in data:
            out = subprocess.run(["gcov", "--json-format", "--stdout", path], cwd=tmp,
                                 capture_output=True, check=False).stdout
            if out[:2] == b"\x1f\x8b":
                out = gzip.decompress(out)
            for text in out.splitlines():
                for file in json.loads(text).get("files", []):
                    name = os.path.relpath(os.path.join(build, file["file"]), ROOT)
                    if not name.startswith(("src/", "vgpu/", "lib/")):
                        continue
                    for line in file["lines"]:
                        lines[name][line["line_number"]] += line["count"]
    folders = collections.defaultdict(lambda: [0, 0])
    for name, counts in lines.items():
        for key in (os.path.dirname(name), "all"):
            folders[key][0] += sum(1 for c in counts.values() if c)
            folders[key][1] += len(counts)
    for key in sorted(folders, key=lambda k: (k == "all", k)):
        run, total = folders[key]
        print(f"{key:28} {100.0 * run / total:5.1f} %  {run} of {total} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
