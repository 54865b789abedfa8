#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_paths.py - nothing names a folder that exists only on one machine"""
import re

import rtl_tree

# Split, so that this file does not find itself.
LOCAL = re.compile(r"(?<![\w.$}/-])/(?:wo" r"rk|ro" r"ot|home/\w+|Us" r"ers/\w+|tmp/" r"w)(?![\w.-])")
BINARY = (".png", ".jpg", ".gz", ".db", ".bin", ".rtls", ".zst", ".co", ".hsaco", ".spool")


def check():
    errors = []
    for name in rtl_tree.files():
        if name.endswith(BINARY):
            continue
        for nr, line in enumerate(rtl_tree.read(name).split("\n"), 1):
            match = LOCAL.search(line)
            if match:
                errors.append(f"{name}:{nr}: names {match.group(0)}: {line.strip()[:80]}")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_paths", check)
