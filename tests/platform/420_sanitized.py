#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""420_sanitized.py - a sanitized librtl makes the sanitizer check the program that loads it"""
from support import *

# a byte behind an allocation
PLANTED = (
    "import ctypes; c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p; "
    "c.memset(ctypes.c_void_p(c.malloc(16)), 0, 17)"
)


@case
def planted_error_is_found():
    r = run(sys.executable, "-c", PLANTED, trace=RTL, status=None)
    contains("stderr", r.err, "heap-buffer-overflow")
    equal("status", r.status, 1)


main()
