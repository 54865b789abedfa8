#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""features_test.py - every test that docs/virtual-gpu.md names as one that shows a feature exists

Usage: features_test.py DOCUMENT BUILD
"""
import json
import re
import subprocess
import sys


def main():
    document, build = sys.argv[1:]
    with open(document, encoding="utf-8") as f:
        section = f.read().split("## What is supported\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|\n ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    listed = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], stdout=subprocess.PIPE, check=True
    ).stdout
    tests = {test["name"] for test in json.loads(listed)["tests"]}
    wrong = 0
    for row in rows:
        names = re.findall(r"`([^`]+)`", row[-1])
        if not names:
            print(f"{row[0]}: no test shows it")
        for name in names:
            if name not in tests:
                print(f"{row[0]}: there is no test {name}")
        wrong += not names or not set(names) <= tests
    print(f"{len(rows)} features, {wrong} without their tests")
    sys.exit(wrong > 0 or not rows)


if __name__ == "__main__":
    main()
