#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librtl gives its table to libraries of its own build alone.

The size of the table is no version: a table with its members in another order is as large.

Usage: core_version.py LIBRTL CORE_VERSION_H
"""
import ctypes
import re
import sys


def main():
    lib = ctypes.CDLL(sys.argv[1])
    lib.rtl_core_get.restype = ctypes.c_void_p
    lib.rtl_core_get.argtypes = [ctypes.c_uint32]
    with open(sys.argv[2], encoding="ascii") as f:
        mine = int(re.search(r"RTL_CORE_VERSION UINT32_C\((0x[0-9a-f]{8})\)", f.read()).group(1), 16)
    table = lib.rtl_core_get(mine)
    if not table:
        sys.exit(f"no table for version {mine:#x}, which is its own")
    if ctypes.c_uint32.from_address(table).value != mine:
        sys.exit("the table has another version than it was asked for")
    for other in (0, mine ^ 1, *range(8, 4096, 8)):
        if lib.rtl_core_get(other):
            sys.exit(f"a table for version {other:#x}: its own is {mine:#x}")


if __name__ == "__main__":
    main()
