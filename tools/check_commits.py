#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_commits.py - subjects of commits are `area: what it does now`, of at most 72 columns

Checks the commits since this check exists, except merges.
"""
import os
import re
import subprocess
import sys

import rtl_tree

MAX_COLUMNS = 72
AREA = re.compile(r"[a-z0-9_.][\w./-]*(?:, [\w./-]+)*: \S")


def git(*args):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", rtl_tree.ROOT, *args],
                          capture_output=True, check=True, text=True).stdout


def check():
    added = git("log", "--diff-filter=A", "--format=%H", "--", "tools/check_commits.py").split()
    rows = git("log", "--no-merges", "--format=%h %s", *([f"{added[-1]}..HEAD"] if added else ["HEAD"])).splitlines()
    errors = []
    for commit, _, subject in (row.partition(" ") for row in rows):
        if len(subject) > MAX_COLUMNS:
            errors.append(f"{commit}: {len(subject)} columns, {MAX_COLUMNS} are the limit: {subject}")
        if not AREA.match(subject):
            errors.append(f"{commit}: no `area: ` in front: {subject}")
    return errors


if __name__ == "__main__":
    if not os.path.exists(os.path.join(rtl_tree.ROOT, ".git")):
        print("the tree is no clone")
        sys.exit(77)
    try:
        rtl_tree.main("check_commits", check)
    except (OSError, subprocess.CalledProcessError) as e:
        print(f"git can't tell: {e}")
        sys.exit(77)
