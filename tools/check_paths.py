#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_paths.py - no file names a folder that exists only on one machine, and documents name existing files

In CONTRIBUTING.md, tests/README.md, docs/design/ and docs/glossary.md a word in `backquotes` that looks like a path of the tree is one, or
the end of one; <x> stands for any name. Links between documents have targets.
"""
import fnmatch
import os
import re

import rtl_tree

# Split, so that this file does not find itself.
LOCAL = re.compile(r"(?<![\w.$}/-])/(?:wo" r"rk|ro" r"ot|home/\w+|Us" r"ers/\w+|tmp/" r"w)(?![\w.-])")
BINARY = (".png", ".jpg", ".gz", ".db", ".bin", ".rtls", ".zst", ".co", ".hsaco", ".spool")
NAMING = ("CONTRIBUTING.md", "tests/README.md", "docs/design/", "docs/glossary.md")
QUOTED = re.compile(r"`(?:\./)?([\w.<>/-]+)(?: [^`]*)?`")
FILE = re.compile(r"\.(c|h|py|sh|txt|md|map|cmake|cpp|json)$")
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")


def is_path(word):
    return not word.startswith(("/", "-", "build/", "<")) and ("/" in word or FILE.search(word)) and ".." not in word


def missing(name, text, paths):
    """(line, path) of missing files that a document names."""
    folder = os.path.dirname(name)
    for nr, line in enumerate(text.split("\n"), 1):
        for target in LINK.findall(line):
            if os.path.normpath(os.path.join(folder, target)) not in paths:
                yield nr, target
        if name.startswith(NAMING):
            for word in filter(is_path, QUOTED.findall(line)):
                pattern = re.sub(r"<[^>]*>", "*", word.rstrip("/"))
                if not (fnmatch.filter(paths, pattern) or fnmatch.filter(paths, f"*/{pattern}")):
                    yield nr, word


def check():
    errors = []
    names = rtl_tree.files()
    paths = set(names)
    for name in names:
        while (name := os.path.dirname(name)):
            paths.add(name)
    for name in names:
        if name.endswith(BINARY):
            continue
        for nr, line in enumerate(rtl_tree.read(name).split("\n"), 1):
            match = LOCAL.search(line)
            if match:
                errors.append(f"{name}:{nr}: names {match.group(0)}: {line.strip()[:80]}")
        if name.endswith(".md"):
            errors += [f"{name}:{nr}: {path} does not exist" for nr, path in missing(name, rtl_tree.read(name), paths)]
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_paths", check)
