# SPDX-License-Identifier: MIT
"""leaving.py - what clients print whose callback does not return (programs/leaving.h)"""
import functools

from support import *

MORE = 100
HOWS = ("exception", "exit", "cancel", "jump")


def kernels_of(r):
    """Those of the program; the runtime's own have larger grids."""
    return [d for d in r.log("dispatch") if d["grid"][0] == 64]


def check(r, how, kernels=False, cancels=False, made=True, called=None):
    """cancels: the callback runs with cancellation on, so that it is a cancellation that leaves it. made: the operation is carried out though the
    callback leaves it."""
    goes_on = how in ("exception", "jump") or how == "cancel" and not cancels
    # the first call, 100 of that thread if it lives, of another one, and of the main one
    done = 1 + MORE * (2 + goes_on)
    fate = "was cancelled" if how == "cancel" else "went on" if goes_on else "ended"
    lines = [f"left 1, caught {int(how == 'exception')}, the thread {fate}", f"done {done}", f"called {done + 1 if called is None else called}"]
    equal("stdout", r.out.splitlines(), lines)
    equal("stderr", r.err, "")
    if kernels:
        equal("kernels", len(kernels_of(r)), done + made)
