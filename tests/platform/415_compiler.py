#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cache in front of AMD's compiler library, which the tests of the dev preset use (tests/support/comgr_cache.c)."""
import os
import shutil

from support import *

NAME = "libamd_comgr.so.2"


def folder():
    """A folder of the virtual GPU without results."""
    path = new_dir("vgpu")
    os.mkdir(os.path.join(path, "comgr"))
    os.symlink(os.path.join(VGPU_DIR, NAME), os.path.join(path, NAME))
    return path


def results(path):
    """{file: (time, size)} of the results."""
    there = os.path.join(path, "comgr")
    stats = {name: os.stat(os.path.join(there, name)) for name in os.listdir(there)}
    return {name: (st.st_mtime_ns, st.st_ino, st.st_size) for name, st in stats.items()}


def copies(path):
    r = run("launcher", "launches=10", "copies=4", env={"LD_LIBRARY_PATH": path, "VGPU_EXEC": "auto"})
    ended(r, 0)
    contains("launcher", r.out, "0 wrong copies")
    return [(l["kind"], l.get("object")) for l in r.log("dispatch")]


@case
def second_run_takes_what_the_first_compiled():
    path = folder()
    first = copies(path)
    made = results(path)
    at_least("results of the first run", len(made), 1)
    equal("dispatches of the second run", len(copies(path)), len(first))
    equal("results after the second run", results(path), made)


@case
def damaged_results_are_made_again():
    path = folder()
    copies(path)
    made = results(path)
    for number, name in enumerate(sorted(made)):
        file = os.path.join(path, "comgr", name)
        size = made[name][2]
        with open(file, "r+b") as f:
            if number % 2:
                f.truncate(size - 9)
            else:
                f.seek(100)
                f.write(b"another key")
    copies(path)
    # results have names of temporary files: the keys of later steps, which have them as input, may be new
    again = results(path)
    at_least("those that were made again", len(set(again.items()) - set(made.items())), len(made))
    copies(path)
    equal("results after the next run", results(path), again)


@case
def folder_that_takes_no_results_is_no_error():
    path = folder()
    shutil.rmtree(os.path.join(path, "comgr"))
    copies(path)


main()
