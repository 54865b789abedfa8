#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recorded model of HIP: what extract_hip.py says of each release, as one file, models/hip.json.

An entry is a list of variants, each with what it "is", "since" which release and "until" which one, both included. Without "since" it is
that of the first release, without "until" that of the last. Enumerations have variants for each enumerator.

Usage: hip_model.py VERSION    prints the model of one release, as extract_hip.py does
"""

import difflib
import json
import os
import sys

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "hip.json")
WIDTH = 100
SECTIONS = ("api_args", "api_ids", "functions", "layouts")  # name to entry
SINGLE = ("api_data_size", "format")  # one value


class HipModelError(Exception):
    pass


def key(version):
    return [int(x) for x in version.split(".")]


def covers(variant, version):
    return (key(variant.get("since", version)) <= key(version) <= key(variant.get("until", version)))


def variants(by_release, releases):
    """Of one entry: {release: value} as variants. A value that comes back is another variant."""
    out, before = [], None
    for i, release in enumerate(releases):
        if release not in by_release:
            before = None
            continue
        value = by_release[release]
        if before is None or before["is"] != value:
            before = {"is": value} if i == 0 else {"since": release, "is": value}
            out.append(before)
        before["until"] = release
    for variant in out:
        if variant["until"] == releases[-1]:
            del variant["until"]
    return out


def merge_names(dicts, releases):
    """{release: {name: value}} as {name: variants}."""
    names = sorted({name for entries in dicts.values() for name in entries})
    return {name: variants({r: d[name] for r, d in dicts.items() if name in d}, releases) for name in names}


def merge_order(lists, releases):
    """{release: list} as one list of variants, of which those of each release are in its order."""
    merged = []  # (value, releases)
    for release in releases:
        texts = [json.dumps(value) for value, _ in merged]
        mine = [json.dumps(value) for value in lists[release]]
        aligned, taken, at = [], 0, 0
        for block in difflib.SequenceMatcher(None, texts, mine, autojunk=False).get_matching_blocks():
            aligned += merged[at:block.a] + [(v, [release]) for v in lists[release][taken:block.b]]
            aligned += [(v, of + [release]) for v, of in merged[block.a:block.a + block.size]]
            at, taken = block.a + block.size, block.b + block.size
        merged = aligned
    return [v for value, of in merged for v in variants({r: value for r in of}, releases)]


def merge(models):
    """The models of releases, as extract_hip.py has them, as one."""
    # keys in one order, wherever the model comes from
    models = [json.loads(json.dumps(m, sort_keys=True)) for m in models]
    by_release = {m["version"]: m for m in sorted(models, key=lambda m: key(m["version"]))}
    releases = list(by_release)

    def of_each(name):
        return {r: m[name] for r, m in by_release.items()}

    merged = {"releases": releases}
    merged.update({name: variants(of_each(name), releases) for name in SINGLE})
    merged.update({name: merge_names(of_each(name), releases) for name in SECTIONS})
    merged["enums"] = {name: merge_names({r: m["enums"].get(name, {}) for r, m in by_release.items()}, releases)
                       for name in sorted({n for m in models for n in m["enums"]})}
    merged["types"] = merge_order(of_each("types"), releases)
    for release, model in by_release.items():
        if split(merged, release) != model:
            raise HipModelError("the model of %s does not come out of the merged one as it was" % release)
    return merged


def split(merged, version):
    """The model of one release."""
    def value(entry):
        return next((v["is"] for v in entry if covers(v, version)), None)

    def names(entries):
        there = {name: value(entry) for name, entry in entries.items()}
        return {name: v for name, v in there.items() if v is not None}

    model = {"version": version}
    model.update({name: value(merged[name]) for name in SINGLE})
    model.update({name: names(merged[name]) for name in SECTIONS})
    enums = {name: names(entries) for name, entries in merged["enums"].items()}
    model["enums"] = {name: entries for name, entries in enums.items() if entries}
    model["types"] = [v["is"] for v in merged["types"] if covers(v, version)]
    return model


def pretty(value, indent, head=""):
    """Lines of JSON: what fits into one is one."""
    text = head + json.dumps(value)
    if len(indent) + len(text) < WIDTH or not isinstance(value, (dict, list)) or not value:
        return [indent + text]
    ends = "{}" if isinstance(value, dict) else "[]"
    rows = [(json.dumps(k) + ": ", v) for k, v in value.items()] if isinstance(value, dict) else [("", v) for v in value]
    lines = [indent + head + ends[0]]
    for i, (name, v) in enumerate(rows):
        lines += pretty(v, indent + " ", name)
        if i < len(rows) - 1:
            lines[-1] += ","
    return lines + [indent + ends[1]]


def as_text(merged):
    """With short lines, for diffs."""
    return "\n".join(pretty(merged, "")) + "\n"


def load_all(path=RECORDED):
    """The recorded models, in the order of their versions."""
    with open(path, encoding="utf-8") as f:
        merged = json.load(f)
    return [split(merged, release) for release in merged["releases"]]


def record(model, path=RECORDED):
    """Puts the model of a release into the recorded one: instead of that release's, or beside the others."""
    others = [m for m in load_all(path) if m["version"] != model["version"]]
    with open(path, "w", encoding="utf-8") as f:
        f.write(as_text(merge(others + [model])))


def main():
    found = [m for m in load_all() if sys.argv[1:] == [m["version"]]]
    if not found:
        sys.exit(__doc__)
    print(json.dumps(found[0], indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
