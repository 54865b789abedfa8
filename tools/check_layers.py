#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_layers.py - which module, and which folder of a module, may include which

	base <- spool <- event <- { source/*, sink/*, control }    a source includes no sink and no other source, except
	                                             source/api, the frame around API calls, and of source/rccl source/hip
	base + spool <- store <- query <- analysis <- export <- cli
	base <- counter <- cli
	in export: its own files <- each format's folder <- export.c, the table of formats; no folder includes another
	in cli: its own files <- trace <- read <- pmc <- selftest <- cmd
	selftest: a program of its own that uses none of it
	lib/* may include everything; vgpu and src share nothing
Only source, sink, selftest, lib and vgpu may include ROCm's headers: code that reads a trace needs no ROCm.
"""
import os
import re

import rtl_tree

PROTOCOL = ("src/control/protocol.h",)
BASE = ("src/base/",)
SPOOL = BASE + ("src/spool/",)
EVENT = SPOOL + ("src/event/",)
READER = SPOOL + ("src/store/",)
EXPORT = READER + ("src/query/", "src/analysis/", "src/counter/", "src/export/*")
FORMAT_TABLE = "src/export/export.c"
# a folder for each format, or for formats of one kind
FORMATS = tuple(f"src/export/{f.name}/" for f in sorted(os.scandir(os.path.join(rtl_tree.ROOT, "src/export")), key=lambda f: f.name) if f.is_dir())
COMMAND = READER + PROTOCOL + ("src/query/", "src/analysis/", "src/export/", "src/fleet/", "src/counter/")


def cli(*folders):
    """What a folder of the command line may include: what lies below cli, the files of src/cli itself, and these folders."""
    return COMMAND + ("src/cli/*",) + tuple(f"src/cli/{folder}/" for folder in folders)


# (folder or file, what it may include besides itself, include/ and generated headers); the last row that fits counts. A "*" at the
# end: the files of that folder, not those below.
TABLE = [
    ("src/base/", ()),
    ("src/spool/", SPOOL),
    ("src/event/", EVENT),
    ("src/source/", EVENT + ("src/source/api/",)),
    # how librtl finds functions behind its symbols
    ("src/source/rccl/", EVENT + ("src/source/api/", "src/source/hip/")),
    ("src/sink/", EVENT),
    ("src/control/", EVENT),
    ("src/store/", READER),
    ("src/query/", READER),
    ("src/analysis/", READER + ("src/query/", "src/counter/")),
    ("src/export/", EXPORT),
    *((folder, EXPORT) for folder in FORMATS),
    (FORMAT_TABLE, EXPORT + FORMATS),
    ("src/fleet/", EXPORT + ("src/export/parquet/", "src/export/report/page.h")),
    ("src/counter/", ("src/base/",)),
    ("src/selftest/", ()),
    ("src/cli/", cli()),
    ("src/cli/trace/", cli()),
    ("src/cli/read/", cli("trace")),
    ("src/cli/pmc/", cli("trace", "read")),
    ("src/cli/selftest/", cli("trace", "read", "pmc")),
    ("src/cli/cmd/", cli("trace", "read", "pmc", "selftest")),
    ("src/cli/main.c", cli("trace", "read", "pmc", "selftest", "cmd")),
    ("src/cli/cmd/commands.c", cli("cmd")),
    ("lib/", ("src/", "lib/")),
    ("vgpu/", ()),
    ("include/", ()),
]
MAY_USE_ROCM = ("src/source/", "src/sink/", "src/selftest/", "lib/", "vgpu/", "include/", "tests/", "bench/", "examples/")
MAY_USE_GENERATED = ("src/source/", "src/sink/", "src/selftest/", "lib/", "vgpu/")
# Generated headers that hold no ROCm tables.
PLAIN_GENERATED = re.compile(r"^(rtl_version|names_|args_|records_).*\.h$")
ROCM = re.compile(r"^(hsa|hip|roctracer|rocprofiler)(/|\w*\.h)")


def own_folder(name):
    """What a file may always include: its folder; for source/x and sink/x that one mechanism, for cli and export the folder itself."""
    parts = name.split("/")
    if name.startswith(("src/cli/", "src/export/")):
        return os.path.dirname(name) + ("/" if len(parts) > 3 else "/*")
    depth = 3 if name.startswith(("src/source/", "src/sink/")) else 2 if parts[0] == "src" else 1
    return "/".join(parts[:depth]) + "/"


def resolve(name, target):
    """The project's file that an include means, or None for a generated or system header."""
    root = rtl_tree.ROOT
    for base in (os.path.dirname(name), "src", "include", "vgpu" if name.startswith("vgpu/") else "src"):
        path = os.path.normpath(os.path.join(base, target))
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def allowed_to(name):
    """What the last row of the table that has the file lets it use; None: it is in no layer."""
    allowed = None
    for folder, others in TABLE:
        if name.startswith(folder):
            allowed = others
    return allowed


def may_use(name, path):
    """Whether a file may use what is in another one."""
    for allowed in (own_folder(name), "include/", *allowed_to(name)):
        if allowed.endswith("*"):
            if os.path.dirname(path) + "/*" == allowed:
                return True
        elif path == allowed or allowed.endswith("/") and path.startswith(allowed):
            return True
    return False


def check():
    errors = []
    for name in rtl_tree.files(".c", ".h", ".cpp", under=("src", "lib", "vgpu", "include")):
        if allowed_to(name) is None:
            errors.append(f"{name}: in no layer of the table")
            continue
        text = rtl_tree.strip(rtl_tree.read(name), keep_strings=True)
        for nr, line in enumerate(text.split("\n"), 1):
            match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if not match:
                continue
            target = match.group(2)
            path = resolve(name, target)
            where = f"{name}:{nr}"
            if path is None:
                if ROCM.match(target) and not name.startswith(MAY_USE_ROCM):
                    errors.append(f"{where}: {target} is ROCm's, which this layer may not include")
                elif match.group(1) == '"' and not ROCM.match(target) and \
                        not name.startswith(MAY_USE_GENERATED) and not PLAIN_GENERATED.match(target):
                    errors.append(f"{where}: {target} is nowhere in the tree, and generated tables "
                                  "are not for this layer")
                continue
            if not may_use(name, path):
                errors.append(f"{where}: {own_folder(name)} may not include {path}")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_layers", check)
