#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read the installed HIP headers into a JSON model of HIP's API.

One preprocessor run over hip_runtime_api.h, hiprtc.h and the profiler's headers gives prototypes
and types; the comments before the prototypes tell which pointers come back filled; the C compiler
tells sizes, offsets and the enumerators' values. hip_prof_str.h gives the numbers and argument
structures of the runtime's callbacks.

Usage: extract_hip.py [--cc CC] [--include DIR] [-o hip.json | --record]
Exit:  0 written, 2 no headers there, 1 anything else.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import hip_model
from decl import DeclError, Types
from extract import (ExtractError, declarations, prototype, split_top, tidy, type_lines,
                     write_if_changed)

SOURCE = """\
#define __HIP_PLATFORM_AMD__ 1
#include <stdbool.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <hip/amd_detail/hip_runtime_prof.h>
#include <hip/amd_detail/hip_prof_str.h>
"""
DOCUMENTED = ("hip_runtime_api.h", "hiprtc.h")
WRAPPED = r"^(hip\w+|__hip(Push|Pop)CallConfiguration)$"
MARK = b"rtl-measured-here"


def preprocess(cc, include):
    """Returns the preprocessed text of the HIP headers only."""
    run = subprocess.run(cc.split() + ["-E", "-x", "c", "-I", include, "-"], input=SOURCE,
                         capture_output=True, text=True, check=False)
    if run.returncode:
        raise ExtractError("preprocessor: %s" % run.stderr.strip())
    keep, out = False, []
    for line in run.stdout.splitlines():
        marker = re.match(r'#\s*\d+\s+"([^"]*)"', line)
        if marker:
            keep = "/hip/" in marker.group(1)
        elif keep and not line.startswith("#"):
            out.append(line)
    return "\n".join(out)


def measure(cc, include, expressions):
    """The values of constant expressions, by way of an object file."""
    source = SOURCE + "#include <stddef.h>\n"
    source += "const struct { char mark[%d]; long long v[%d]; } measured = { \"%s\", {\n" % (
        len(MARK), len(expressions), MARK.decode())
    source += "".join("(long long)(%s),\n" % e for e in expressions) + "}};\n"
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "measure.o")
        run = subprocess.run(cc.split() + ["-w", "-c", "-x", "c", "-I", include, "-", "-o", path],
                             input=source, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ExtractError("compiler: %s" % run.stderr.strip()[:2000])
        with open(path, "rb") as f:
            data = f.read()
    at = data.index(MARK) + (len(MARK) + 7) // 8 * 8
    return struct.unpack_from("<%dq" % len(expressions), data, at)


def directions(include):
    """{function: {parameter: "out" or "inout"}} by the headers' comments."""
    found = {}
    for name in DOCUMENTED:
        with open(os.path.join(include, "hip", name), encoding="utf-8") as f:
            text = f.read()
        # the end of a group may stand between a comment and its prototype, its begin before a comment
        text = re.sub(r"/\*\*[\s*]*@}[\s*]*\*/", "", text)
        for match in re.finditer(r"/\*\*(.*?)\*/((?:(?!/\*\*)[^;{])*)", text, re.S):
            function = re.search(r"\b(hip\w+)\s*\(", re.sub(r"//.*", "", match.group(2)))
            if not function:
                continue
            for mark, param in re.findall(r"@param\s*\[([^]]*)\]\s*\*?(\w+)", match.group(1)):
                if "out" in mark:
                    way = "inout" if "in," in mark.replace(" ", "") else "out"
                    found.setdefault(function.group(1), {})[param] = way
    return found


def callback_args(decl):
    """Members of the union in hip_api_data_t: {function: [[type, name], ...]}."""
    body = decl[decl.index("union") + len("union"):]
    body = body[body.index("{") + 1:body.rindex("}")]
    body = body[:body.rindex("}")]
    out = {}
    for one in split_top(body, ";"):
        match = re.match(r"^\s*struct\s*\{(.*)\}\s*(\w+)\s*$", one, re.S)
        if not match:
            continue
        members = []
        for text in split_top(match.group(1), ";"):
            plain = re.match(r"^\s*(.*[\s*])(\w+)\s*$", text)
            if plain:
                members.append([tidy(plain.group(1)), plain.group(2)])
            elif text.strip():
                raise ExtractError("callback member not understood: %s" % text)
        out[match.group(2)] = members
    return out


def layouts(types, names):
    """[(structure, path)] of every member whose offset is recorded."""
    out = []
    for name in names:
        if name not in types.body and types.resolve(name).kind not in ("struct", "union"):
            continue
        if types.resolve(name).kind in ("struct", "union") and types.resolve(name).members:
            out += [(name, path) for path, _, _ in types.leaves(name)]
    return out


def extract(cc, include):
    """Returns the model as a dictionary."""
    functions, lines, api_ids, api_args = {}, [], [], {}
    for decl in declarations(preprocess(cc, include)):
        decl = re.sub(r"\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)\s*", "", decl)
        decl = re.sub(r"^extern\s+", "", decl).strip()
        if decl.startswith("enum hip_api_id_t"):
            api_ids = re.findall(r"HIP_API_ID_(\w+)\s*=", decl)
        elif "struct hip_api_data_s {" in decl:
            api_args = callback_args(decl)
        elif re.match(r"^(typedef|enum|struct|union)\b", decl):
            lines.append(type_lines(decl))
        else:
            const = decl.startswith("const ")
            proto = prototype(decl[len("const "):] if const else decl)
            if proto and re.match(WRAPPED, proto[0]):
                functions[proto[0]] = proto[1]
                if const:
                    proto[1]["returns"] = "const " + proto[1]["returns"]
    if not functions or not api_ids:
        raise ExtractError("no functions, or no callback numbers, in the headers")

    ways = directions(include)
    for name, proto in functions.items():
        for param in proto["params"]:
            way = ways.get(name, {}).get(param["name"])
            if way:
                param["way"] = way

    types = Types(lines)
    used = [p["type"] for f in functions.values() for p in f["params"]]
    used += [f["returns"] for f in functions.values()]
    used += [m[0] for members in api_args.values() for m in members]
    needed = types.needed(used)
    kept = []
    for decl in lines:
        one = Types([decl])
        if needed & (set(one.alias) | set(one.body) | set(one.enums)):
            kept.append(decl)

    # one run of the compiler for all that depends on it
    ask, enums = [], {n: v for n, v in sorted(types.enums.items()) if n in needed}
    structs = sorted(n for n in needed if types.resolve(n).kind in ("struct", "union")
                     and types.resolve(n).members)
    offsets = layouts(types, structs)
    for values in enums.values():
        ask += values
    ask += ["HIP_API_ID_%s" % name for name in api_ids]
    ask += ["sizeof(%s)" % s for s in structs]
    ask += ["offsetof(%s, %s)" % (s, path) for s, path in offsets]
    data = "((struct hip_api_data_s *)0)->args"
    members = [(f, m[1]) for f, ms in sorted(api_args.items()) for m in ms]
    ask += ["(char *)&%s.%s.%s - (char *)&%s" % (data, f, m, data) for f, m in members]
    ask = ["HIP_VERSION_MAJOR", "HIP_VERSION_MINOR", "sizeof(struct hip_api_data_s)"] + ask
    got = iter(measure(cc, include, ask))

    model = {"format": 1, "version": "%d.%d" % (next(got), next(got)), "api_data_size": next(got),
             "functions": functions, "types": kept,
             "enums": {n: {v: next(got) for v in values} for n, values in enums.items()},
             "api_ids": {n: next(got) for n in api_ids},
             "layouts": {s: {"size": next(got), "offsets": {}} for s in structs}}
    for s, path in offsets:
        model["layouts"][s]["offsets"][path] = next(got)
    model["api_args"] = {f: [] for f in sorted(api_args)}
    kinds = {(f, m[1]): m[0] for f, ms in api_args.items() for m in ms}
    for f, m in members:
        model["api_args"][f].append([kinds[f, m], m, next(got)])
    return model


def as_text(model):
    """The model as text with short lines, for diffs."""
    return json.dumps(model, indent=1, sort_keys=True) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cc", default=os.environ.get("CC") or "cc", help="C compiler")
    parser.add_argument("--include", default="/usr/include", help="folder that holds hip/")
    parser.add_argument("-o", "--output", default="-")
    parser.add_argument("--record", action="store_true", help="into the recorded model, models/hip.json, as that of its release")
    args = parser.parse_args()
    if not os.path.exists(os.path.join(args.include, "hip", "amd_detail", "hip_prof_str.h")):
        print("extract_hip.py: no hip/amd_detail/hip_prof_str.h in %s" % args.include,
              file=sys.stderr)
        return 2
    try:
        model = extract(args.cc, args.include)
        if args.record:
            hip_model.record(model)
            return 0
        text = as_text(model)
    except (ExtractError, DeclError, hip_model.HipModelError, OSError, ValueError) as err:
        print("extract_hip.py: %s" % err, file=sys.stderr)
        return 1
    if args.output == "-":
        sys.stdout.write(text)
    else:
        write_if_changed(args.output, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
