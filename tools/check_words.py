#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_words.py - names, comments and messages use the terms of docs/glossary.md

Some words were terms of this project alone, where the field has its own. They are refused as a whole word
and as a part of a name: `told_late` and `free_place` are, `placed` and `mushroom` are not.
"""
import re

import rtl_tree

INSTEAD = {
    "told": "notified, reported, emitted, subscribed",
    "untold": "suppressed, left out",
    "place": "slot, entry, offset, index, location, field",
    "room": "space, capacity, slot",
    "author": "origin, submitter",
    "whoever": "the thread, the caller, the program",
}
UNDER = ("src", "lib", "codegen", "vgpu", "bench", "tools", "examples", "tests")
QUOTE_THEM = ("tools/check_words.py", "tests/style/test_checkers.py")
# names of interfaces that are not ours
OTHERS = ("MPI_IN_PLACE", "ompt_get_num_places", "ompt_get_partition_place_nums", "ompt_get_place_num", "ompt_get_place_proc_ids")
SUFFIXES = (".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".map", "CMakeLists.txt")
WORD = re.compile(r"(?<![a-z])(" + "|".join(INSTEAD) + r")(s?)(?![a-z])", re.I)


def check():
    errors = []
    for name in rtl_tree.files(*SUFFIXES, under=UNDER):
        if name in QUOTE_THEM:
            continue
        for nr, line in enumerate([name.rsplit("/", 1)[-1], *rtl_tree.read(name).split("\n")]):
            for other in OTHERS:
                line = line.replace(other, "")
            for match in WORD.finditer(line):
                word = match.group(1).lower()
                errors.append(f"{name}:{nr or 1}: '{match.group(0)}'; instead: {INSTEAD[word]}")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_words", check)
