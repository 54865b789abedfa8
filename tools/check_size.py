#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_size.py - files of at most 1000 lines (600 is the aim), functions of at most 120 (60)

Tests and generated code are exempt.
"""
import rtl_tree

FILE_HARD, FILE_SOFT = 1000, 600
FUNC_HARD, FUNC_SOFT = 120, 60


def check():
    errors, notes = [], []
    for name in rtl_tree.files(".c", ".h", ".cpp",
                               under=("src", "lib", "vgpu", "include", "bench", "examples")):
        text = rtl_tree.read(name)
        lines = text.count("\n")
        if lines > FILE_HARD:
            errors.append(f"{name}: {lines} lines, {FILE_HARD} are the limit")
        elif lines > FILE_SOFT:
            notes.append(f"{name}: {lines} lines, {FILE_SOFT} are the aim")
        for f in rtl_tree.functions(text):
            if f.lines > FUNC_HARD:
                errors.append(f"{name}:{f.first}: {f.name}() has {f.lines} lines, {FUNC_HARD} are the limit")
            elif f.lines > FUNC_SOFT:
                notes.append(f"{name}:{f.first}: {f.name}() has {f.lines} lines, {FUNC_SOFT} are the aim")
    return errors, notes


if __name__ == "__main__":
    rtl_tree.main("check_size", check)
