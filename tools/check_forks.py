#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_forks.py - every lock of a compat library is held around forks, so that it is free in the child

A lock is a static struct lock. Its file has a function NAME_hold(bool on) that calls lock_hold() for it, and a file of the same folder
calls pthread_atfork() and NAME_hold(true) and NAME_hold(false).
"""
import os
import re

import rtl_tree

LOCK = re.compile(r"^static struct lock (\w+) = LOCK_INIT\(\w+\);", re.M)
HOLD = re.compile(r"^(?:static )?void (\w+_hold)\(bool on\)\n\{\n(.*?)^\}", re.M | re.S)


def check():
    errors = []
    texts = {n: rtl_tree.read(n) for n in rtl_tree.files() if re.match(r"lib/[^/]+/[^/]+\.c$", n)}
    for name, text in sorted(texts.items()):
        folder = os.path.dirname(name)
        handlers = "".join(t for n, t in texts.items() if os.path.dirname(n) == folder and "pthread_atfork(" in t)
        for match in LOCK.finditer(text):
            nr = text.count("\n", 0, match.start()) + 1
            lock = match.group(1)
            holds = [m.group(1) for m in HOLD.finditer(text) if f"lock_hold(&{lock}, on);" in m.group(2)]
            if not holds:
                errors.append(f"{name}:{nr}: no function *_hold(bool on) takes and releases `{lock}`")
            for hold in holds:
                missing = [v for v in ("true", "false") if f"{hold}({v});" not in handlers]
                if missing:
                    errors.append(f"{name}:{nr}: no fork handler of {folder} calls {hold}({', '.join(missing)})")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_forks", check)
