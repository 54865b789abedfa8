#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py - a Python program that records a phase of itself, by ctypes

    embed.py LIBRTL EMBED_WORK DATABASE [launches]

librtl is loaded with RTLD_GLOBAL before the library that brings HIP, so that it is in front of it.
"""
import collections
import ctypes
import os
import sys


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("directory", ctypes.c_char_p),
        ("database", ctypes.c_char_p),
        ("flags", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class Statistics(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_uint64)
        for name in ("calls", "kernels", "copies", "markers", "lost", "skipped", "delivered", "undelivered")
    ]


class Operation(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("kind", ctypes.c_uint32),
        ("thread", ctypes.c_uint32),
        ("correlation", ctypes.c_uint64),
        ("begin_ns", ctypes.c_uint64),
        ("end_ns", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("agent", ctypes.c_uint32),
        ("queue", ctypes.c_uint32),
        ("bytes", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("group", ctypes.c_uint32 * 3),
    ]


OPERATION_FN = ctypes.CFUNCTYPE(None, ctypes.POINTER(Operation), ctypes.c_void_p)


def main():
    librtl, embed_work, database = sys.argv[1:4]
    launches = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    rtl = ctypes.CDLL(librtl, mode=ctypes.RTLD_GLOBAL)
    rtl.rtl_status_text.restype = ctypes.c_char_p

    def check(status, what):
        if status < 0:
            sys.exit(f"{what}: {rtl.rtl_status_text(status).decode()}")

    session = ctypes.c_uint64()
    options = Options(size=ctypes.sizeof(Options), database=os.fsencode(database), flags=1)
    check(rtl.rtl_session_open(ctypes.byref(options), ctypes.byref(session)), "open")

    kernels = collections.Counter()

    @OPERATION_FN
    def on_operation(operation, _user):
        kernels[operation.contents.name.decode()] += operation.contents.kind == 1

    check(rtl.rtl_session_on_operations(session, on_operation, None), "operations")
    work = ctypes.CDLL(embed_work)
    if work.embed_work(launches) != 0:
        sys.exit("wrong results")
    check(rtl.rtl_session_flush(session), "flush")
    figures = Statistics(size=ctypes.sizeof(Statistics))
    check(rtl.rtl_session_statistics(session, ctypes.byref(figures)), "statistics")
    check(rtl.rtl_session_close(session), "close")
    for name, count in sorted(kernels.items()):
        if count:
            print(f"kernel {name}: {count}")
    print(f"{figures.calls} calls, {figures.kernels} kernels, {figures.copies} copies, {figures.lost} lost")


main()
