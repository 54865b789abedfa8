#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_names.py - the first word of an internal name is its file

Base names are unique in src/. A function that is not static begins with its file's base name;
in the facades of src/sink/ (except the recorder) with the folder's; if load.c and load_chunk.c form
one module, load_ is allowed for both. Exported functions have the names that
their ABI gives them and are compared with the export maps instead. Exceptions, with reasons, are
in tools/names_exceptions.txt.
"""
import fnmatch
import os
import re

import rtl_tree

EXPORTED = re.compile(r"\b(RTL_EXPORT|RTL_API|EXPORT)\b|visibility")


def exceptions():
    rows = []
    for line in rtl_tree.read("tools/names_exceptions.txt").split("\n"):
        if line.strip() and not line.startswith("#"):
            path, name, _ = line.split(None, 2)
            rows.append((path, name))
    return rows


def is_facade(name):
    return name.startswith("src/sink/") and not name.startswith("src/sink/recorder/")


def check():
    errors = []
    allowed = exceptions()
    stems = {}
    for name in rtl_tree.files(".c", ".h", under=("src",)):
        folder, base = os.path.split(name)
        if not is_facade(name):
            stems.setdefault(os.path.splitext(base)[0], set()).add(folder)
    for stem, folders in sorted(stems.items()):
        if len(folders) > 1:
            errors.append(f"{stem}: the name of files in {' and '.join(sorted(folders))}")

    for name in rtl_tree.files(".c", under=("src",)):
        folder, base = os.path.split(name)
        stem = os.path.splitext(base)[0]
        prefixes = [stem]
        if is_facade(name):
            prefixes.append(os.path.basename(folder))
        words = stem.split("_")
        for n in range(1, len(words)):
            if os.path.exists(os.path.join(rtl_tree.ROOT, folder, "_".join(words[:n]) + ".c")):
                prefixes.append("_".join(words[:n]))
        for f in rtl_tree.functions(rtl_tree.read(name)):
            if f.static or EXPORTED.search(f.head):
                continue
            if any(f.name == p or f.name.startswith(p + "_") for p in prefixes):
                continue
            if any(fnmatch.fnmatch(name, p) and fnmatch.fnmatch(f.name, n) for p, n in allowed):
                continue
            errors.append(f"{name}:{f.first}: {f.name}() does not begin with {stem}_")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_names", check)
