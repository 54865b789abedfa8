#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_comments.py - every file has its licence line, every .c and .h a first sentence; no file has left-over notes"""
import os
import re

import rtl_tree

LEFT_TO_DO = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
SPDX = "SPDX-License-Identifier: MIT"


def check():
    errors = []
    for name in rtl_tree.files(".c", ".h", ".cpp", ".py", ".sh", ".cmake", "CMakeLists.txt"):
        lines = rtl_tree.read(name).split("\n")
        if not any(SPDX in l for l in lines[:3]):
            errors.append(f"{name}:1: no line '{SPDX}'")
        if name.endswith((".c", ".h", ".cpp")):
            if lines[0] != f"/* {SPDX} */":
                errors.append(f"{name}:1: the first line is not '/* {SPDX} */'")
            base = os.path.basename(name)
            head = "\n".join(lines[1:4])
            if not re.search(r"(?m)^/\* " + re.escape(base) + r" - \S", head):
                errors.append(f"{name}:2: does not open with '/* {base} - what it is'")
        for nr, line in enumerate(lines, 1):
            if LEFT_TO_DO.search(line):
                errors.append(f"{name}:{nr}: left to do: {line.strip()[:70]}")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_comments", check)
