#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_forks.py - every lock of a face is held around forks, so that it is free in the child

A static lock in lib/ is declared by GUARDED_LOCK() of lib/face/fork_guard.h, and a file of each library that has one calls fork_guard_start().
librtl itself takes no lock in a forked child (docs/design/overview.md).
"""
import os
import re

import rtl_tree

LOCK = re.compile(r"^static struct lock (\w+)", re.M)
GUARDED = re.compile(r"^GUARDED_LOCK\((\w+), \w+\);", re.M)


def check():
    errors = []
    texts = {n: rtl_tree.read(n) for n in rtl_tree.files() if re.match(r"lib/(?!librtl/)[^/]+/[^/]+\.c$", n)}
    for name, text in sorted(texts.items()):
        folder = os.path.dirname(name)
        starts = folder == "lib/face" or any(
            "fork_guard_start();" in t for n, t in texts.items() if os.path.dirname(n) == folder
        )
        for match in LOCK.finditer(text):
            nr = text.count("\n", 0, match.start()) + 1
            errors.append(f"{name}:{nr}: `{match.group(1)}` is not declared by GUARDED_LOCK()")
        for match in GUARDED.finditer(text):
            nr = text.count("\n", 0, match.start()) + 1
            if not starts:
                errors.append(f"{name}:{nr}: nothing in {folder} calls fork_guard_start(), which holds `{match.group(1)}`")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_forks", check)
