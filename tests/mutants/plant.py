#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plant.py - plants faults in a copy of the tree, and says which of them the unit tests find

Usage: tests/mutants/plant.py [--blind] [--scratch DIR] [--list] [NAME...]
       tests/mutants/plant.py --check                                  whether both lists fit the tree; nothing is built

Each fault of faults.py, or with --blind of blind.py, is one replacement of text in one file. For each: it is applied to the copy, the unit tests that are named with it (programs of
tests/unit, or scripts of rtl by their ctest name, "cli.agree") are built and run, and it is taken out again. "found": a test fails or does not end; "survived": all pass. A fault whose text is not in its file
once, or that does not compile, is an error: it has to be written anew. Scripts other than those of rtl ("scenario.104_rocprof.files") have all built. Without --scratch the copy is made in a new directory and removed; with it,
the copy and its build are kept for the next time. Exit status: 0 if only those of SURVIVORS survive, 1 if others do, 2 if a fault is out of date.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import blind  # noqa: E402
import faults  # noqa: E402

TIMEOUT_S = 300  # of one test program
SCRIPTS_NEED = ("bin/rtl", "tests/libspool_make.so")  # what the scripts of tests/cli run and load


class OutOfDate(Exception):
    pass


def run(*args, **kwargs):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **kwargs)


def copy_tree(scratch):
    """The files that git knows, and a configured build, in `scratch`; files that are the same stay, so that little is built."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = os.path.join(ROOT, name), os.path.join(scratch, name)
        if not os.path.isfile(source):
            continue
        with open(source, "rb") as f:
            data = f.read()
        if os.path.exists(target):
            with open(target, "rb") as f:
                if f.read() == data:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)
    if not os.path.exists(os.path.join(scratch, "build/dev/build.ninja")):
        done = run("cmake", "--preset", "dev", cwd=scratch)
        if done.returncode:
            raise SystemExit(f"plant: the copy can't be configured:\n{done.stdout}")


def build(scratch, tests):
    needs_all = any("." in test and not test.startswith("cli.") for test in tests)
    targets = {target for test in tests for target in (SCRIPTS_NEED if "." in test else (test,))}
    return run("ninja", "-C", os.path.join(scratch, "build/dev"), *([] if needs_all else sorted(targets)))


def runs(scratch, test):
    """Whether all tests of the program, or of the script, pass."""
    try:
        if "." in test:
            return run("ctest", "--test-dir", os.path.join(scratch, "build/dev"), "-R", f"^{re.escape(test)}$", timeout=TIMEOUT_S).returncode == 0
        return run(os.path.join(scratch, "build/dev/tests/unit", test), cwd=os.path.join(scratch, "build/dev"),
                   timeout=TIMEOUT_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def read(folder, fault):
    """The file, its text, and the pattern of the text to replace, which is there once."""
    path = os.path.join(folder, fault.file)
    if not os.path.exists(path):
        raise OutOfDate(f"{fault.name}: {fault.file} does not exist")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    # layout may change: any white space stands for any other
    pattern = r"\s+".join(re.escape(word) for word in fault.old.split())
    if len(re.findall(pattern, text)) != 1:
        raise OutOfDate(f"{fault.name}: {fault.file} has the text {len(re.findall(pattern, text))} times: {fault.old}")
    return path, text, pattern


def check():
    outdated = []
    for fault in faults.FAULTS + blind.FAULTS:
        try:
            read(ROOT, fault)
        except OutOfDate as e:
            outdated.append(str(e))
    print(*outdated, f"{len(outdated)} of {len(faults.FAULTS) + len(blind.FAULTS)} faults are out of date", sep="\n")
    return 2 if outdated else 0


def plant(scratch, fault):
    """'found by TEST' or 'survived'."""
    path, text, pattern = read(scratch, fault)
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(re.sub(pattern, lambda _: fault.new, text))
        done = build(scratch, fault.tests)
        if done.returncode:
            raise OutOfDate(f"{fault.name}: does not compile:\n{done.stdout[-3000:]}")
        for test in fault.tests:
            if not runs(scratch, test):
                return f"found by {test}"
        return "survived"
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def plant_all(scratch, chosen, survivors):
    copy_tree(scratch)
    tests = sorted({test for fault in chosen for test in fault.tests})
    done = build(scratch, tests)
    if done.returncode:
        raise SystemExit(f"plant: the tree does not build without faults:\n{done.stdout[-3000:]}")
    for test in tests:
        if not runs(scratch, test):
            raise SystemExit(f"plant: {test} fails without faults: nothing can be said; run it by hand")
    survived, outdated = [], []
    for fault in chosen:
        try:
            result = plant(scratch, fault)
        except OutOfDate as e:
            outdated.append(fault.name)
            result = f"out of date: {e}"
        if result == "survived":
            survived.append(fault.name)
        print(f"{fault.name:34} {fault.file:44} {result}", flush=True)
    print(f"{len(chosen)} planted, {len(chosen) - len(survived) - len(outdated)} found, {len(survived)} survived, {len(outdated)} out of date")
    return 2 if outdated else int(bool(set(survived) - survivors))


def main(args):
    if "--help" in args or "-h" in args:
        print(__doc__.strip())
        return 0
    if "--check" in args:
        return check()
    scratch = args.pop(args.index("--scratch") + 1) if "--scratch" in args else None
    names = [a for a in args if not a.startswith("--")]
    listed = blind if "--blind" in args else faults
    chosen = [f for f in listed.FAULTS if not names or f.name in names]
    if set(names) - {f.name for f in chosen}:
        raise SystemExit(f"plant: no such fault: {', '.join(sorted(set(names) - {f.name for f in chosen}))}")
    if "--list" in args:
        for f in chosen:
            print(f"{f.name:34} {f.file:44} {f.what}")
        return 0
    if scratch:
        return plant_all(os.path.abspath(scratch), chosen, listed.SURVIVORS)
    with tempfile.TemporaryDirectory(prefix="rtl-plant-") as folder:
        return plant_all(folder, chosen, listed.SURVIVORS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
