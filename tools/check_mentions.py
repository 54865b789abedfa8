#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_mentions.py - functions and files that comments of C name exist, and functions that the documents for contributors name

A function, `name()`, is a word of some file's code, a description or a script; what only others have is in OTHERS. A file is in the tree with that
path, or the end of it, or is emitted or included by something.
"""
import os
import re

import rtl_tree

# what is neither called nor declared here: whose it is
OTHERS = {
    "PERFETTO_TRACK_EVENT_STATIC_STORAGE": "Perfetto's", "Submit": "ROCr's", "roundeven": "libc's", "setcontext": "libc's", "setproctitle": "libbsd's", "sigabbrev_np": "libc's",
    "sqlite3_table_column_metadata": "SQLite's",
}
OTHER_FILES = {
    "amd_hsa_signal.h", "aql_profile_v2.h", "curses.h", "drm/amdgpu_drm.h", "drm/drm.h", "hsa_amd_tool.h", "hsa_api_trace.h", "hsa_ext_amd.h", "linux/kfd_ioctl.h",
    "linux/landlock.h", "mpif.h",
}
# an emitted function for each of HIP's: codegen/emit_hip.py
EMITTED = re.compile(r"(any|late|seen)_hip\w+")

C = (".c", ".h", ".cpp", ".hpp")
# check_paths.py has the files that these name
DOCUMENTS = ("CONTRIBUTING.md", "tests/README.md", "docs/design/", "docs/glossary.md")
WITH_NAMES = (".py", ".sh", ".js", ".json", ".csv", ".txt", ".map", ".cmake", ".in")
FUNCTION = re.compile(r"(?<![\w.])([A-Za-z]\w*)\(\)")  # a name that begins with _ is the end of another one: "copy_held_enter() and _leave()"
FILE = re.compile(r"(?<![\w./<-])((?:[\w-]+/)*[\w-]+\.(?:c|h|hpp|cpp|py|sh))\b(?![\w(])")


def comments(name, text):
    """(line, text) of each comment."""
    for match in rtl_tree.TOKEN.finditer(text):
        if match.group(0)[0] == "/":
            yield text.count("\n", 0, match.start()) + 1, match.group(0)


def known():
    """The words of code, and the names of files that something emits or includes."""
    words, emitted = set(), set()
    for name in rtl_tree.files(*C, *WITH_NAMES):
        text = rtl_tree.read(name)
        if name.endswith(C):
            text = rtl_tree.strip(text, keep_strings=True)
        words.update(re.findall(r"\w+", text))
        emitted.update(os.path.basename(f) for f in re.findall(r"[\w./-]+\.(?:c|h|hpp)\b", text))
    return words, emitted


def check():
    words, emitted = known()
    names = rtl_tree.files()
    paths = {"/" + name for name in names}
    bases = {os.path.basename(name) for name in names}
    errors = []

    def is_file(path):
        if "/" in path:
            return any(p.endswith("/" + path) for p in paths) or path in OTHER_FILES or os.path.basename(path) in emitted - bases
        return path in bases or path in emitted or path in OTHER_FILES

    for name in rtl_tree.files(*C):
        for first, text in comments(name, rtl_tree.read(name)):
            for pattern, exists, what in ((FUNCTION, lambda f: f in words or f in OTHERS or EMITTED.fullmatch(f), "function"), (FILE, is_file, "file")):
                for match in pattern.finditer(text):
                    if not exists(match.group(1)):
                        errors.append(f"{name}:{first + text.count(chr(10), 0, match.start())}: there is no {what} {match.group(1)}")
    for name in filter(lambda n: n.startswith(DOCUMENTS), rtl_tree.files(".md")):
        for nr, line in enumerate(rtl_tree.read(name).split("\n"), 1):
            errors += [f"{name}:{nr}: there is no function {f}" for f in re.findall(r"`([a-z]\w*)\(\)`", line) if f not in words and f not in OTHERS]
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_mentions", check)
