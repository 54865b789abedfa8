#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_locks.py - every lock that a target loads has a rank, and an annotation of what it guards

A lock is a struct lock of src/base/lock.h, never a plain mutex. Its file, or the .c of its header, names it in an RTL_GUARDED_BY() or an RTL_REQUIRES(),
so that clang's analysis (./check --tsa) can check the accesses. Each rank belongs to one file.
"""
import re

import rtl_tree

TARGET = ("src/base", "src/event", "src/source", "src/sink", "lib")
# sys.c: a mutex on the stack, which no other thread sees
OWN = ("src/base/lock.h", "src/base/lock.c", "src/base/sys.c", "lib/face/fork_guard.h")
PLAIN = re.compile(r"\b(pthread_(?:mutex|rwlock|spin)_\w+|PTHREAD_(?:MUTEX|RWLOCK)_INITIALIZER|mtx_\w+)\b")
LOCK = re.compile(r"^(?:\s*(?:static\s+)?struct lock |GUARDED_LOCK\()(\w+)\s*(?:;|=|,)", re.M)
RANK = re.compile(r"\b(?:LOCK_INIT\(|GUARDED_LOCK\(\w+, |lock_init\([^;]*?,\s*)(LOCK_\w+)\)")


def check():
    errors, ranks = [], {}
    sources = set(rtl_tree.files(".c", under=TARGET))
    for name in rtl_tree.files(".c", ".h", under=TARGET):
        if name in OWN:
            continue
        code = rtl_tree.strip(rtl_tree.read(name))
        for match in PLAIN.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            errors.append(f"{name}:{line}: {match.group(1)}; instead: struct lock, which has a rank")
        uses = code + (rtl_tree.strip(rtl_tree.read(source)) if (source := name[:-1] + "c") != name and source in sources else "")
        for match in LOCK.finditer(code):
            lock = match.group(1)
            if not re.search(rf"RTL_(GUARDED_BY|REQUIRES)\((?:\w+->)?{lock}\)", uses):
                line = code.count("\n", 0, match.start(1)) + 1
                errors.append(f"{name}:{line}: no annotation names `{lock}`: RTL_GUARDED_BY(), RTL_REQUIRES()")
        for rank in set(RANK.findall(code)):
            other = ranks.setdefault(rank, name)
            if other != name:
                errors.append(f"{name}: {rank} is {other}'s rank")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_locks", check)
