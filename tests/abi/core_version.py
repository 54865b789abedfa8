#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librtl gives its table to libraries of its own build alone.

The size of the table is not a version: a table with its members in another order is as large. Each change of a header that describes the table is
another version, and librtl refuses every version but its own.

Usage: core_version.py LIBRTL SOURCE BUILD
"""
import ctypes
import os
import re
import sys
import tempfile

LIBRTL, SOURCE, BUILD = sys.argv[1:4]
GEN = os.path.join(BUILD, "gen")
sys.path.insert(0, os.path.join(SOURCE, "codegen"))
import core_version  # noqa: E402

NOW_NS = "\tuint64_t (*now_ns)(void);\n"
HIP_FIND = "\tvoid *(*hip_find)(const char *name);\n"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def version_with(name, edit):
    """The version with the header `name` changed, and copies of those that may include it."""
    with tempfile.TemporaryDirectory() as d:
        own, gen = os.path.join(d, "own"), os.path.join(d, "gen")
        for folder in (own, gen):
            os.mkdir(folder)
        for at, text in [(os.path.join(own, "core.h"), read(os.path.join(SOURCE, "lib/librtl/core.h")))] + [
            (os.path.join(gen, n), read(os.path.join(GEN, n))) for n in os.listdir(GEN) if n.endswith("_gen.h")
        ]:
            changed = edit(text) if os.path.basename(at) == name else text
            if os.path.basename(at) == name and edit(text) == text and edit is not str:
                sys.exit(f"{name}: nothing to change")
            with open(at, "w", encoding="utf-8") as f:
                f.write(changed)
        headers = [os.path.join(own, "core.h"), os.path.join(gen, "hsa_wrap_gen.h"), os.path.join(gen, "rccl_ops_gen.h")]
        return int(core_version.version([os.path.join(SOURCE, "src"), gen], headers)[0], 16)


def swap_members(text):
    return text.replace(NOW_NS, "@").replace(HIP_FIND, NOW_NS).replace("@", HIP_FIND)


def swap_fields(text):
    """Two fields of one type in a structure of an event."""
    return re.sub(r"(\tuint64_t begin_ns[^\n]*\n)(\tuint64_t end_ns[^\n]*\n)", r"\2\1", text, count=1)


def main():
    lib = ctypes.CDLL(LIBRTL)
    lib.rtl_core_get.restype = ctypes.c_void_p
    lib.rtl_core_get.argtypes = [ctypes.c_uint32]
    mine = int(re.search(r"RTL_CORE_VERSION UINT32_C\((0x[0-9a-f]{8})\)", read(os.path.join(GEN, "core_version.h"))).group(1), 16)
    table = lib.rtl_core_get(mine)
    if not table:
        sys.exit(f"no table for version {mine:#x}, which is its own")
    if ctypes.c_uint32.from_address(table).value != mine:
        sys.exit("the table has another version than the one that was requested")
    if version_with("core.h", str) != mine:
        sys.exit("the same headers have another version")
    others = {
        "two members of struct rtl_core in another order": version_with("core.h", swap_members),
        "two fields of an event in another order": version_with("records_events_gen.h", swap_fields),
        "another number of an HSA call": version_with("hsa_wrap_gen.h", lambda t: t.replace("HSA_OP_hsa_init = ", "HSA_OP_hsa_init = 1", 1)),
    }
    for what, other in {**others, "0": 0, "one bit": mine ^ 1, **{f"size {n}": n for n in range(8, 4096, 8)}}.items():
        if other == mine or lib.rtl_core_get(other):
            sys.exit(f"a table for another version, {other:#x} ({what}): its own is {mine:#x}")


if __name__ == "__main__":
    main()
