#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read the installed HSA headers into a JSON model of AMD's API tables.

The vendor's hsa_api_trace.h is C++, but it goes through a C preprocessor like any other
text: one preprocessor run over it gives the table structs, and the prototypes and types of
all headers that it includes, already free of comments, macros and #ifdefs. What comes from
other files (libc) is dropped by the line markers.

Usage: extract.py [--cc CC] [--include DIR] [-o hsa.json]
Exit:  0 written, 2 no headers there, 1 anything else.
"""

import argparse
import functools
import json
import os
import re
import subprocess
import sys

HEADERS = ("hsa.h", "hsa_ext_image.h", "hsa_ext_amd.h", "hsa_ext_finalize.h", "hsa_api_trace.h",
           "hsa_ven_amd_pc_sampling.h")

# model name of a table -> the C++ struct that holds it
TABLES = {
    "core": "CoreApiTable",
    "amd_ext": "AmdExtTable",
    "finalizer_ext": "FinalizerExtTable",
    "image_ext": "ImageExtTable",
    "tools": "ToolsApiTable",
    "pc_sampling": "PcSamplingExtTable",
}

BARE_TYPE_WORDS = {"void", "int", "char", "long", "short", "unsigned", "signed", "bool", "float",
                   "double", "const"}


class ExtractError(Exception):
    """The headers are not as expected; the message says where."""


def preprocess(cc, include):
    """Returns the preprocessed text of the HSA headers only."""
    source = "#define AMD_INTERNAL_BUILD 1\n#include <hsa/hsa_api_trace.h>\n"
    cmd = cc.split() + ["-E", "-x", "c", "-I", include, "-I", os.path.join(include, "hsa"), "-"]
    run = subprocess.run(cmd, input=source, capture_output=True, text=True, check=False)
    if run.returncode:
        raise ExtractError("preprocessor: %s" % run.stderr.strip())
    keep, out = False, []
    for line in run.stdout.splitlines():
        marker = re.match(r'#\s*\d+\s+"([^"]*)"', line)
        if marker:
            keep = os.path.basename(marker.group(1)) in HEADERS
        elif keep and not line.startswith("#"):
            out.append(line)
    return "\n".join(out)


def declarations(text):
    """Splits into top-level declarations, each on one line with single spaces.

    Inline function bodies and C++ structs that have constructors end at their brace.
    """
    depth, start, i = 0, 0, 0
    while i < len(text):
        ch = text[i]
        if ch in "{(":
            depth += 1
        elif ch in "})":
            depth -= 1
            if ch == "}" and depth == 0 and re.match(
                    r"\s*(static\b|void\s+inline\b|inline\b)", text[start:i]):
                start = i + 1  # an inline function: of no interest
        elif ch == ";" and depth == 0:
            one = " ".join(text[start:i].split())
            start = i + 1
            if one:
                yield one
        i += 1


@functools.lru_cache(maxsize=None)
def tidy(ctype):
    """One spelling for a type: `const void *`, `bool`, `void (*)(int a, void *b)`."""
    out = " ".join(ctype.split())
    out = re.sub(r"\b_Bool\b", "bool", out)
    out = re.sub(r"\s*\*\s*", " *", out)
    out = re.sub(r"\* \*", "**", out)
    out = re.sub(r"\(\s+", "(", out)
    out = re.sub(r"\s+\)", ")", out)
    out = re.sub(r"\s+,", ",", out)
    out = re.sub(r",\s*", ", ", out)
    out = re.sub(r"\) \(", ")(", out)
    return out.strip()


def split_top(text, sep=","):
    """Splits at separators outside parentheses."""
    depth, cur, out = 0, "", []
    for ch in text:
        depth += ch in "({["
        depth -= ch in ")}]"
        if ch == sep and depth == 0:
            out.append(cur)
            cur = ""
        else:
            cur += ch
    if cur.strip():
        out.append(cur)
    return out


def parameter(text, ordinal):
    """`const void* src` -> {"name": "src", "type": "const void *"}"""
    text = text.strip()
    pointer = re.match(r"^(.*?\(\s*\*\s*)(\w*)(\s*\)\s*\(.*)$", text)
    if pointer:
        name = pointer.group(2) or "arg%d" % ordinal
        return {"name": name, "type": tidy(pointer.group(1) + pointer.group(3))}
    array = re.match(r"^(.*?)(\w+)\s*((?:\[[^]]*\])+)$", text)
    if array:
        # a parameter declared as an array is a pointer
        return {"name": array.group(2), "type": tidy(array.group(1) + "*")}
    plain = re.match(r"^(.*[\s*])(\w+)$", text)
    if plain and plain.group(2) not in BARE_TYPE_WORDS:
        return {"name": plain.group(2), "type": tidy(plain.group(1))}
    return {"name": "arg%d" % ordinal, "type": tidy(text)}


def prototype(decl):
    """Returns (name, {"returns", "params"}), None if it is not a function."""
    if decl.startswith(("typedef", "enum", "struct", "union", "static", "const ")):
        return None
    match = re.match(r"^([\w\s*]+?[\s*])(\w+)\s*\((.*)\)$", decl)
    if not match:
        return None
    args = match.group(3).strip()
    params = [] if args in ("", "void") else [
        parameter(p, i) for i, p in enumerate(split_top(args))]
    return match.group(2), {"returns": tidy(match.group(1)), "params": params}


def table_entries(decl):
    """Names of the functions in a table struct, in order, without the _fn ending."""
    body = decl[decl.index("{") + 1:decl.rindex("}")]
    members = [m.strip() for m in body.split(";") if m.strip()]
    if not members or not re.match(r"^ApiTableVersion\s+version$", members[0]):
        raise ExtractError("table does not start with its version: %s" % decl[:80])
    names = []
    for member in members[1:]:
        match = re.match(r"^decltype\s*\(\s*(?:::)?\s*(\w+)\s*\)\s*\*\s*(\w+)_fn$", member)
        if match and match.group(1) == match.group(2):
            names.append(match.group(1))
            continue
        match = re.match(r"^hsa_amd_tool_event\s+(\w+)_fn$", member)
        if not match:
            raise ExtractError("table member not understood: %s" % member)
        names.append(match.group(1))
    return names


def type_lines(decl):
    """A type declaration as short lines, so that a diff shows the one line that changed."""
    decl = re.sub(r"\b_Bool\b", "bool", decl)
    decl = re.sub(r"\b__attribute__\s*\(\(.*?\)\)\s*", "", decl)
    open_at = decl.find("{")
    if open_at < 0:
        return [tidy(decl) + ";"]
    close_at = decl.rindex("}")
    head, body, tail = decl[:open_at], decl[open_at + 1:close_at], decl[close_at + 1:]
    if re.search(r"\benum\b", head):
        items = [" ".join(v.split()) + "," for v in split_top(body)]
    else:
        items = [tidy(v) + ";" for v in split_top(body, ";") if v.strip()]
    return [tidy(head) + " {"] + items + [("} " + tidy(tail)).strip() + ";"]


def extract(cc, include):
    """Returns the model as a dictionary."""
    tables, functions, types = {}, {}, []
    by_struct = {struct: name for name, struct in TABLES.items()}
    for decl in declarations(preprocess(cc, include)):
        struct = re.match(r"^struct (\w+) \{", decl)
        if struct and struct.group(1) in by_struct:
            tables[by_struct[struct.group(1)]] = table_entries(decl)
            continue
        if struct and re.search(r"Api|Table", struct.group(1)):
            continue
        proto = prototype(decl)
        if proto:
            functions[proto[0]] = proto[1]
        elif re.match(r"^(typedef|enum|struct)\b", decl):
            types.append(type_lines(decl))
    for name in ("core", "amd_ext", "finalizer_ext", "image_ext"):
        if name not in tables:
            raise ExtractError("no struct %s in hsa_api_trace.h" % TABLES[name])
    wanted = [f for entries in tables.values() for f in entries]
    lacking = [f for n, entries in tables.items() if n != "tools" for f in entries
               if f not in functions]
    if lacking:
        raise ExtractError("in a table but declared nowhere: %s" % ", ".join(lacking))
    return {
        "format": 1,
        "tables": tables,
        "functions": {f: functions[f] for f in sorted(wanted) if f in functions},
        "types": types,
    }


def write_if_changed(path, text):
    """Writes the file only if its text changed, so that nothing is rebuilt."""
    try:
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return
    except OSError:
        pass
    with open(path, "w", encoding="utf-8") as new:
        new.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cc", default=os.environ.get("CC") or "cc", help="C compiler")
    parser.add_argument("--include", default="/usr/include", help="folder that holds hsa/")
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args()
    if not os.path.exists(os.path.join(args.include, "hsa", "hsa_api_trace.h")):
        print("extract.py: no hsa/hsa_api_trace.h in %s" % args.include, file=sys.stderr)
        return 2
    try:
        model = extract(args.cc, args.include)
    except (ExtractError, OSError) as err:
        print("extract.py: %s" % err, file=sys.stderr)
        return 1
    text = json.dumps(model, indent=1, sort_keys=True) + "\n"
    if args.output == "-":
        sys.stdout.write(text)
    else:
        write_if_changed(args.output, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
