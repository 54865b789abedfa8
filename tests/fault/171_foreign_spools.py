#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Directories of raw traces that come from someone else: no file is touched that they name and that is not a part of them."""

from support import *



def spool():
    """A folder with a raw trace, in a folder of its own."""
    r = run("launcher", "launches=30", trace=RTL, rtl_args=("-q", "--no-convert"))
    return r.output + ".spool"


def victims():
    """Files of the user, each with its text."""
    folder = os.path.join(work_dir(), "victim")
    os.makedirs(folder, exist_ok=True)
    for name in "thesis.txt", "secret.key", "x.rtl", "rtl-0-1.mem", "x.db.part-17":
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(f"my {name}")
    return folder


def unharmed(folder):
    equal("the user's files", {name: open(os.path.join(folder, name), encoding="ascii").read() for name in os.listdir(folder)},
          {name: f"my {name}" for name in ("thesis.txt", "secret.key", "x.rtl", "rtl-0-1.mem", "x.db.part-17")})


def make_database(path, table):
    db = sqlite3.connect(path)
    with db:
        db.execute(f"create table {table}(id integer primary key, data blob)")
    db.close()


def names_of(found):
    """What `unfinished` may say: lists of the lines."""
    inside, victim = found + "/ending.db", os.path.join(work_dir(), "victim")
    return {
        "deleted": [f"{victim}/thesis.txt", inside, "x.db"],
        "moved": [f"{victim}/thesis.txt", f"{victim}/secret.key", f"{found}/stolen"],
        "with the form of a part": [f"{victim}/x.db.part-17", f"{victim}/x.db.part-17", "x.db"],
        "by a relative path": ["../victim/thesis.txt"],
        "without a name": ["/"],
        "with bytes that are no text": ["\0", "\0/x.db.part-17"],
        "without a line's name": ["", f"{victim}/thesis.txt"],
        "with a form that is not quite one": [f"{victim}/x.db.part-017", f"{victim}/x.db.part-1-", f"{victim}/x.db.part-"],
    }


@case
def names_in_a_list_of_unfinished_databases_are_not_followed():
    found = spool()
    folder = victims()
    for table in "rtl_state", "rtl_process":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(found + "/ending.db")
        make_database(found + "/ending.db", table)
        for what, lines in names_of(found).items():
            for out in os.path.join(work_dir(), "out.db"), os.path.join(folder, "new.db"):
                with open(found + "/unfinished", "w", encoding="utf-8") as f:
                    f.write("".join(line + "\n" for line in lines))
                r = rtl("recover", "--remove", "-o", out, found)
                equal(f"status, {what}", r.status, 1)
                contains(f"message, {what}", r.err, found)
                at_least("files that stay", len(glob.glob(found + "/*.rtl")), 1)
                equal("output", os.path.exists(out), False)
                unharmed(folder)
    os.unlink(found + "/unfinished")
    ended(rtl("recover", "--remove", "-o", "out.db", found), 0)


@case
def trace_with_force_deletes_its_own_files_alone():
    r = run("launcher", "launches=30", trace=RTL, rtl_args=("-q", "--no-convert"))
    folder = victims()
    found = r.output + ".spool"
    own = r.output + ".part-4711"
    for lines in *names_of(found).values(), [own]:
        with open(own, "w", encoding="ascii") as f:
            f.write("the part of an earlier run")
        with open(found + "/unfinished", "w", encoding="utf-8") as f:
            f.write("".join(line + "\n" for line in lines))
        ended(rtl("trace", "--force", "--no-convert", "-q", "-o", r.output, "--", "/bin/true"), 0)
        equal("the part of an earlier run", os.path.exists(own), lines != [own])
        os.makedirs(found, exist_ok=True)
        unharmed(folder)


@case
def unfinished_database_of_another_trace_is_not_taken():
    found = spool()
    out = os.path.join(os.path.dirname(found), "trace.db")
    make_database(out + ".part-17", "rtl_state")
    with open(found + "/unfinished", "w", encoding="utf-8") as f:
        f.write(out + ".part-17\n")
    r = rtl("recover", "--remove", found)
    equal("status", r.status, 1)
    equal("the other trace's file", os.path.exists(out + ".part-17"), True)


@case
def memory_half_that_a_header_names_is_of_that_trace():
    """A header that names any other file as its memory half, or as its disk half."""
    found = spool()
    folder = victims()
    path, = glob.glob(found + "/*.rtl")
    with open(path, "rb") as f:
        good = f.read()
    names = {good.index(path.encode()): "disk_path"}
    # the other path is beside it, and empty in a closed trace
    at = min(names)
    size = 512
    for name in os.listdir(folder):
        victim = os.path.join(folder, name).encode().ljust(size, b"\0")
        for where in at, at - size, at + size:
            with open(path, "wb") as f:
                f.write(good[:where] + victim + good[where + size:])
            rtl("recover", "--remove", "--force", "-o", "out.db", found)
            rtl("snapshot", "--force", "-o", "out.db", found)
            rtl("info", path)
            os.makedirs(found, exist_ok=True)
            unharmed(folder)


@case
def links_in_a_directory_of_spools_are_not_followed():
    found, other = spool(), spool()
    theirs = os.path.join(work_dir(), "theirs")
    os.makedirs(theirs)
    os.rename(found, os.path.join(theirs, "a.db.spool"))
    os.symlink(other, os.path.join(theirs, "b.db.spool"))
    folder = victims()
    os.symlink(os.path.join(folder, "thesis.txt"), os.path.join(theirs, "a.db.spool/unfinished"))
    os.symlink(os.path.join(folder, "thesis.txt"), os.path.join(theirs, "a.db.spool/log.1"))
    os.symlink(os.path.join(folder, "secret.key"), os.path.join(theirs, "a.db.spool/1-1.rtl"))
    before = sorted(os.listdir(other))
    r = rtl("recover", "--remove", "-o", "out.db", theirs)
    equal("the other directory", sorted(os.listdir(other)), before)
    lacks("what is said", r.out + r.err, "my thesis")
    unharmed(folder)


main()
