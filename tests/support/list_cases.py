# SPDX-License-Identifier: MIT
"""list_cases.py SCRIPT... - the cases of scripts: a line "SCRIPT CASE" for each

One process for all: most of what a script with --list takes is the start of Python and of the harness.
"""
import contextlib
import io
import os
import runpy
import sys

import support  # noqa: F401 # once, for all of the scripts


def cases(script):
    out = io.StringIO()
    sys.argv = [script, "--list"]
    sys.path[0] = os.path.dirname(script)
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as e:
            if e.code:
                raise
    return out.getvalue().split()


def main():
    for script in sys.argv[1:]:
        sys.stdout.flush()
        # what a script imports and registers is gone after it
        child = os.fork()
        if child == 0:
            print("".join(f"{script} {name}\n" for name in cases(script)), end="")
            sys.stdout.flush()
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{script} --list failed")


main()
