# SPDX-License-Identifier: MIT
"""clients.py - the clients that the scripts of this folder run"""
import shutil

from support import *

HSA = "/usr/include/hsa/hsa.h"


def client_program(name, needs="hipcc"):
    """The path of a file of build/tests. A missing one fails the case, unless what it is built with is not installed: a command, or a path."""
    path = os.path.join(BUILD, "tests", name)
    if not os.path.exists(path):
        if os.path.exists(needs) if os.path.sep in needs else shutil.which(needs):
            fail(f"{path} was not built, although {needs} is installed")
        skip(f"{name} was not built: {needs} is not installed")
    return path
