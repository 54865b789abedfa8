#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runtimes that a program brings along, as wheels do: copies in a folder of their own, found by an RPATH."""
import subprocess

from support import *

LIBRARIES = re.compile(r"lib(amdhip64|hsa-runtime64|hsakmt|amd_comgr)\.so\.\d+$")


def needed(path):
    """(name, path) of the libraries that the loader finds for a file."""
    return re.findall(r"(\S+) => (/\S+) ", run("/usr/bin/env", "ldd", path).out)


def patched(path, rpath):
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", rpath, path], check=True, timeout=120)


def wheel(name):
    """A program and the runtimes that it needs, in a folder like a wheel's; the program's path and the runtimes'."""
    if not shutil.which("patchelf"):
        skip("patchelf is not installed")
    folder = new_dir("wheel")
    libs = os.path.join(folder, "lib")
    os.mkdir(libs)
    path = shutil.copy(program(name), folder)
    copies = []
    for soname, source in needed(path):
        if LIBRARIES.match(soname):
            copies.append(shutil.copy(source, os.path.join(libs, soname)))
            patched(copies[-1], "$ORIGIN")
    patched(path, "$ORIGIN/lib")
    return path, copies


@case
def runtimes_of_a_wheel_are_traced_exactly():
    path, copies = wheel("launcher")
    for name in ("libamdhip64", "libhsa-runtime64"):
        equal(f"copies of {name}", len([c for c in copies if os.path.basename(c).startswith(name)]), 1)
    for elsewhere in (None, new_dir("empty"), "/usr/lib/x86_64-linux-gnu"):
        r = run(path, "launches=20", trace=RTL, env={"LD_LIBRARY_PATH": elsewhere, "VGPU_EXEC": "auto"})
        complete(r)
        exact_dispatches(r)
        at_least("dispatches", r.count("rtl_dispatch"), 20)


@case
def runtimes_of_a_wheel_are_the_ones_that_run():
    path, copies = wheel("launcher")
    env = {"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu", "LD_PRELOAD": os.path.join(VGPU_DIR, "libvgpu.so"), "LD_DEBUG": "files"}
    r = run(path, "launches=1", env=env)
    for copy in copies:
        contains("libraries that were initialised", r.err, f"calling init: {copy}\n")


main()
