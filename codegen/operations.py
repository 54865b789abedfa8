#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""operations.py - the numbers of HIP's and HSA's functions in records: their indices in models/operations.json

The list only grows at its end, so that a number means the same function in every version of librtl. Functions of installed
headers that are not on it come after it, in the order of their names; functions that are on it and in no model leave a gap.

Usage: operations.py --update     appends the functions of the recorded models that are not on the list
"""
import json
import os
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "operations.json")


def load():
    """{domain: names in the order of their numbers}."""
    with open(LIST, encoding="utf-8") as f:
        return json.load(f)


def number(ops, domain):
    """Gives each of `ops`, which have an ident, its number; returns them in that order."""
    numbers = {name: i for i, name in enumerate(load()[domain])}
    new = sorted(f.ident for f in ops if f.ident not in numbers)
    numbers.update({name: len(numbers) + i for i, name in enumerate(new)})
    for f in ops:
        f.number = numbers[f.ident]
    return sorted(ops, key=lambda f: f.number)


def enumerators(prefix, ops):
    """The members of an enum: each with its number, last how many numbers there are."""
    return ["\t%s%s = %d," % (prefix, f.ident, f.number) for f in ops] + ["\t%sNR = %d" % (prefix, ops[-1].number + 1)]


def main():
    import emit_hip
    import emit_hsa_api
    names = load()
    for domain, plan in (("hip", emit_hip.plan_all), ("hsa", emit_hsa_api.plan_all)):
        names[domain] += [f.ident for f in plan()[1] if f.ident not in names[domain]]
    with open(LIST, "w", encoding="utf-8") as f:
        json.dump(names, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    main()
