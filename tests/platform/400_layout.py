# SPDX-License-Identifier: MIT
"""400_layout.py - librtl.so needs a map of the AMD table for each of its sizes

A copy of librtl.so has the map of 5.2 instead of that of 5.6 and later. On 5.2 the copy works. On a runtime that has
functions inserted in the middle of the table it calls wrong functions, and must fail where librtl.so succeeds.
"""
import os
import re
import shutil
import stat

from support import *

GENERATED = os.path.join(BUILD, "gen/hsa_table_gen")
AMD_EXT = 1  # number of the table


def generated_maps():
    """{release: bytes}: the slot of each function in the table, 0xff for none, as codegen wrote them."""
    with open(GENERATED + ".h", encoding="ascii") as f:
        ids = {n: int(v) for n, v in re.findall(r"\b(HSA_AMD_\w+) = (\d+),", f.read())}
    with open(GENERATED + ".c", encoding="ascii") as f:
        text = f.read()
    maps = {}
    for release, body in re.findall(r"slots_(\w+)\[HSA_AMD_NR\] = \{(.*?)\};", text, re.S):
        slots = dict(re.findall(r"\[(HSA_AMD_\w+)\] = (\w+),", body))
        row = bytearray(len(slots))
        for name, slot in slots.items():
            row[ids[name]] = 0xFF if slot == "HSA_SLOT_NONE" else int(slot)
        maps[release] = bytes(row)
    return maps


def copy_of_librtl(change):
    """A folder with a copy of the library, which finds rtl beside it as the built one does."""
    tree = new_dir("tree")
    os.makedirs(os.path.join(tree, "lib"))
    os.symlink(os.path.dirname(RTL_BIN), os.path.join(tree, "bin"))
    path = os.path.join(tree, "lib/librtl.so.1")
    shutil.copyfile(LIBRTL, path)
    os.chmod(path, stat.S_IRWXU)
    with open(path, "r+b") as f:
        data = f.read()
        f.seek(0)
        maps = generated_maps()
        alike = [row for row in maps.values() if row == maps["5_6"]]
        equal("copies of the map of 5.6 in librtl.so", data.count(maps["5_6"]), len(alike))
        if change:
            f.write(data.replace(maps["5_6"], maps["5_2"]))
    return path


def traced_by(lib):
    """A run with HSA_TOOLS_LIB alone: rtl trace would change the exit status of a crash."""
    env = {"HSA_TOOLS_LIB": lib, "RTL_STRICT": None}
    return run("launcher", "launches=40", trace=TOOLS, env=env, status=None, timeout=60)


def table_sizes():
    """{number of the table: its size}, as a tool receives them."""
    r = run("launcher", "launches=1", env={"HSA_TOOLS_LIB": os.path.join(PROGRAMS, "platform/libtablesize.so")})
    rows = [l.split()[1:] for l in r.err.splitlines() if l.startswith("table ")]
    return {int(n): int(v.split(".")[1]) for n, v in rows if n.isdigit()}


@case
def runtime_tables_have_known_sizes():
    sizes = table_sizes()
    print(f"    core {sizes[0]} bytes, amd_ext {sizes[AMD_EXT]}")
    equal("size of the core table", sizes[0], 1016)
    # 5.2, 5.5, 5.6 and 5.7, 6.0, 6.1, 6.2, 6.3, 7.0, 7.2
    if sizes[AMD_EXT] not in (400, 424, 456, 552, 560, 576, 584, 608, 624):
        fail(f"size of the AMD table: {sizes[AMD_EXT]} belongs to no release")


@case
def copied_library_traces():
    r = traced_by(copy_of_librtl(change=False))
    ended(r, 0)
    complete(r)
    equal("dispatches in the trace", r.count("rtl_dispatch"), len(r.log("dispatch")))


@case
def wrong_map_fails_on_other_layout():
    r = traced_by(copy_of_librtl(change=True))
    if table_sizes()[AMD_EXT] <= 400:
        ended(r, 0)
        equal("dispatches in the trace", r.count("rtl_dispatch"), len(r.log("dispatch")))
        return
    print(f"    status {r.status}, trace: {os.path.exists(r.output)}")
    traced = r.status == 0 and os.path.exists(r.output) and r.count("rtl_dispatch") == len(r.log("dispatch"))
    if traced:
        fail("the map of another layout has done no harm on this runtime")


main()
