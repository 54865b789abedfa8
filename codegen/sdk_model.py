# SPDX-License-Identifier: MIT
"""sdk_model.py - reads models/sdk: the interface of rocprofiler-sdk in both of its ABIs

ABI 0 is that of librocprofiler-sdk.so.0 (0.5), ABI 1 that of librocprofiler-sdk.so.1 (1.0, with what was appended up to 1.3.5).
"""

import csv
import json
import os
import re

ABIS = (0, 1)
API_KINDS = ("hip", "hsa", "marker", "rccl")


class ModelError(Exception):
    """The tables contradict each other; the message says where."""


class Struct:
    """A structure or union of one ABI."""

    def __init__(self, name, size):
        self.name, self.size, self.members = name, size, []

    def is_union(self):
        """Whether all members are at its begin: of fields in a row, each would have an offset. Bit-fields have none."""
        return len(self.members) > 1 and all(m.offset is None and ":" not in m.name for m in self.members)


class Member:
    """A member; a group is a structure or union within, with members of its own."""

    def __init__(self, ctype, name, offset, size, group=False):
        self.type, self.name, self.offset, self.size = ctype, name, offset, size
        self.members = [] if group else None


class Parameter:
    """A parameter of one of the APIs' functions, in one ABI."""

    def __init__(self, row, abi):
        self.type, self.name, self.mangled = row["type"], row["name"], row["mangled"]
        self.indirection, self.offset, self.size = int(row["indirection"]), int(row["offset"]), int(row["size"])
        if abi == 1 and row["abi1"]:
            self.type, self.mangled = row["abi1"].split("|")


def number(text):
    """A number of the tables; an empty field and a bit's offset are None."""
    return int(text) if re.fullmatch(r"\d+", text) else None


BUILTINS = {"v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int",
            "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float", "d": "double"}


def type_name(mangled):
    """The C++ type of a mangling, as demanglers write it: "PPKc" is "char const**"."""
    known = []  # what "S_", "S0_" stand for

    def keep(text):
        known.append(text)
        return text

    def take(at):
        """The type at `at` and where it ends. "(*)" of a function stands for where its pointers go."""
        c = mangled[at]
        if c in "PKV":
            inner, end = take(at + 1)
            text = (inner.replace("(", "(*", 1) if "(" in inner else inner + "*") if c == "P" else inner + {"K": " const", "V": " volatile"}[c]
            return keep(text), end
        if c == "S":
            end = mangled.index("_", at)
            return known[int(mangled[at + 1:end], 36) + 1 if end > at + 1 else 0], end + 1
        if c == "F":
            types, at = [], at + 1
            while mangled[at] != "E":
                found, at = take(at)
                types.append(found)
            return keep("%s ()(%s)" % (types[0], ", ".join(t for t in types[1:] if t != "void"))), at + 1
        if c.isdigit():
            size = re.match(r"\d+", mangled[at:]).group()
            at += len(size)
            return keep(mangled[at:at + int(size)]), at + int(size)
        return BUILTINS[c], at + 1

    return take(0)[0] if mangled else ""


class Model:
    """All tables."""

    def __init__(self, folder):
        self.folder = folder
        self.enums = {}  # name -> {enumerator: (value or None in either ABI)}
        for row in self.rows("enums.csv"):
            self.enums.setdefault(row["enum"], {})[row["name"]] = [number(row["abi0"]), number(row["abi1"])]
        self.typedefs = {r["typedef"]: [r["abi0"], r["abi1"]] for r in self.rows("typedefs.csv")}
        self.structs = {}  # name -> [Struct or None, the same]
        self.read_structs()
        self.functions = {}  # name -> [(returns, [(type, name)]) or None, the same]
        for row in self.rows("prototypes.csv"):
            for abi in (int(c) for c in row["abis"]):
                slot = self.functions.setdefault(row["function"], [None, None])
                if slot[abi] is None:
                    slot[abi] = (row["returns"], [])
                if row["type"] != "void":
                    slot[abi][1].append((row["type"], row["param"]))
        self.operations = {}  # table -> [[(name, returns)], the same], by number
        for row in self.rows("operations.csv"):
            for abi in (int(c) for c in row["abis"]):
                table = self.operations.setdefault(row["table"], [[], []])[abi]
                if len(table) != int(row["id"]):
                    raise ModelError("operations.csv: %s: number %s follows %d" % (row["table"], row["id"], len(table) - 1))
                table.append((row["name"], row["returns"]))
        self.parameters = {}  # (table, function) -> [[Parameter], the same]
        for row in self.rows("params.csv"):
            slot = self.parameters.setdefault((row["table"], row["function"]), [[], []])
            if row["ordinal"] != "-":
                for abi in ABIS:
                    slot[abi].append(Parameter(row, abi))
        with open(os.path.join(folder, "headers.json"), encoding="utf-8") as f:
            self.layout = json.load(f)

    def rows(self, name):
        """The rows of one table."""
        with open(os.path.join(self.folder, name), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def read_structs(self):
        """structs.csv: groups are flattened there, with their depth."""
        rows = self.rows("structs.csv")
        for abi in ABIS:
            stack, last = [], None
            for row in (r for r in rows if str(abi) in r["abis"]):
                depth, offset, size = int(row["nesting"]), number(row["offset"]), number(row["size"])
                if row["struct"] != last:
                    last = row["struct"]
                    found = Struct(last, int(row["sizeof"]))
                    self.structs.setdefault(last, [None, None])[abi] = found
                    stack = [found]
                if row["type"] == "end-of-group":
                    stack[depth + 1].name = row["field"]
                    del stack[depth + 1:]
                    continue
                del stack[depth + 1:]
                group = row["field"] == "(group)"
                member = Member(row["type"], "" if group else row["field"], offset, size, group)
                stack[depth].members.append(member)
                if group:
                    stack.append(member)

    def is_left_out(self, name):
        """Whether headers.json leaves the type out."""
        return any(name.startswith(p) for p in self.layout["left_out"])

    def params_of(self, table, name):
        """[[Parameter], the same] of a function. Those of RCCL are in two tables of numbers, and described in one of them."""
        if table.startswith("rccl"):
            table = next((t for t in ("rccl", "rccl_newest") if (t, name) in self.parameters), table)
        return self.parameters.get((table, name))

    def tables(self, api):
        """The tables of an API: hip, hsa, marker, rccl."""
        return [t for t in self.operations if t.split("_")[0] == api]


def declare(ctype, name):
    """`int (*)(void)` and `uint8_t[4]` with a name in them."""
    if "(*)" in ctype:
        return ctype.replace("(*)", "(*%s)" % name, 1)
    array = re.fullmatch(r"(.*?)\s*(\[\d+\])", ctype)
    if array:
        return "%s %s%s" % (array.group(1), name, array.group(2))
    return "%s%s%s" % (ctype, "" if ctype.endswith("*") else " ", name)
