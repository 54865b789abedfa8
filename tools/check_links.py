#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_links.py - which module may call which: the table of check_layers.py, for the symbols of the objects

Usage: tools/check_links.py BUILD NM

Symbols also show uses without an include: a function that is declared by hand, or that an upper layer puts by name into a table of
pointers that a lower layer defines. Generated files belong to no layer.

Within a folder of lib/ files use each other in one direction only: a circle of them is an error.
"""
import os
import re
import subprocess
import sys

import check_layers
import rtl_tree

OBJECT = re.compile(r"^sub/(.*)/CMakeFiles/[^/]+\.dir/(.*)\.o$")

# name: why a lower layer may use what an upper one defines
EXCEPTIONS = {
    **dict.fromkeys(("dlsym", "execl", "execv", "execve", "execvp", "execvpe"), "libc's; librtl has one in front of it"),
    "hip_boot": "a constant of the link: a call may come before every constructor, before any hook is filled in",
}


# whose names are all libc's
LIBC_NAMES = "vgpu/driver/files.c"


def objects(build):
    """(object, its source), of src, lib and vgpu."""
    for folder, _, names in os.walk(os.path.join(build, "sub")):
        for name in names:
            path = os.path.join(folder, name)
            match = OBJECT.match(os.path.relpath(path, build))
            if not match:
                continue
            source = os.path.normpath(os.path.join(match.group(1), match.group(2).replace("__", "..")))
            if source.startswith(("src/", "lib/", "vgpu/")) and os.path.exists(os.path.join(rtl_tree.ROOT, source)):
                yield path, source


def symbols(nm, paths):
    """{object: (defined, undefined) names}, by one nm for all: a process for each object takes most of the time."""
    found = {path: (set(), set()) for path in paths}
    if not found:
        return found
    out = subprocess.run([nm, "--extern-only", "--print-file-name", *found], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        path, rest = line.split(".o:", 1)
        kind, name = rest.split()[-2:]
        found[path + ".o"][kind in "Uwv"].add(name)
    return found


def in_circles(edges):
    """The nodes that reach themselves."""
    found = set()
    for start in edges:
        seen, todo = set(), list(edges[start])
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += edges.get(node, ())
        if start in seen:
            found.add(start)
    return found


def file_circles(files):
    """Errors for circles of the files of each folder of lib/."""
    folders = {}
    for source, names in files.items():
        if source.startswith("lib/"):
            folders.setdefault(os.path.dirname(source), {})[source] = names
    errors = []
    for folder, members in sorted(folders.items()):
        # two libraries of one folder may define the same name: then it is each one's own
        owners = {}
        for source, (defined, _) in members.items():
            for name in defined:
                owners.setdefault(name, set()).add(source)
        edges = {
            source: {t for name in undefined for t in owners.get(name, ()) if t != source and len(owners[name]) == 1}
            for source, (_, undefined) in members.items()
        }
        circle = {os.path.basename(source) for source in in_circles(edges)}
        if circle:
            errors.append(f"{folder}: files in a circle: {', '.join(sorted(circle))}; of a function that two need, make a file below both")
    return errors


def check(build, nm):
    files, sources = {}, dict(objects(build))
    for path, (defined, undefined) in symbols(nm, sources).items():
        source = sources[path]
        both = files.setdefault(source, (set(), set()))
        both[0].update(defined)
        both[1].update(undefined)
    owners = {}
    for source, (defined, _) in files.items():
        for name in defined if source != LIBC_NAMES else ():
            owners.setdefault(name, set()).add(source)
    errors = [] if files else [f"{build}: no objects of src, lib and vgpu"]
    for source, (_, undefined) in sorted(files.items()):
        for name in sorted(undefined):
            theirs = owners.get(name, set())
            if theirs and name not in EXCEPTIONS and not any(check_layers.may_use(source, t) for t in theirs):
                errors.append(f"{source}: {check_layers.own_folder(source)} may not use {name} of {min(theirs)}")
    return errors + file_circles(files)


if __name__ == "__main__":
    rtl_tree.main("check_links", lambda: check(*sys.argv[1:]))
