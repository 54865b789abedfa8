#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_shell.py - shellcheck finds nothing in the shell scripts"""
import shutil
import subprocess
import sys

import rtl_tree


def main():
    if not shutil.which("shellcheck"):
        print("shellcheck is not installed")
        sys.exit(77)
    names = []
    for name in rtl_tree.files():
        if name.endswith((".sh", ".bash")):
            names.append(name)
        elif "." not in name.rsplit("/", 1)[-1]:
            first = rtl_tree.read(name)[:60].split("\n")[0]
            if first.startswith("#!") and first.split("/")[-1].split()[-1] in ("sh", "bash"):
                names.append(name)
    run = subprocess.run(["shellcheck", "-x", *names], cwd=rtl_tree.ROOT, check=False)
    print(f"check_shell: {len(names)} scripts, {'errors above' if run.returncode else '0 errors'}")
    sys.exit(1 if run.returncode else 0)


if __name__ == "__main__":
    main()
