# SPDX-License-Identifier: MIT
"""merge_hip.py - the models of several HIP releases as one

One librtl serves all releases: it has a wrapper for each function of any model. A type that a later
release has changed is there under another name as well, `hipMemoryType__6_4`, and a function whose
recorded words differ with it has a variant; which one is right is known when the runtime is.

Models come in the order of their versions, and the first that has a name says what it means.
"""

import re

from decl import Types
from emit_hsa_table import ModelError
from extract import tidy

# the status types of wrappers: releases only add to them
STATUS_ENUMS = ("hipError_t", "enum hipError_t", "hiprtcResult", "enum hiprtcResult")


def ident(version):
    """`6.4` as part of an identifier."""
    return version.replace(".", "_")


def version_key(model):
    """The sort key of versions."""
    return [int(x) for x in model["version"].split(".")]


def is_same_enum(one, other):
    """Whether each value that both have means the same, and each name."""
    for name in set(one) & set(other):
        if one[name] != other[name]:
            return False
    for value in set(one.values()) & set(other.values()):
        if not {n for n in one if one[n] == value} & {n for n in other if other[n] == value}:
            return False
    return True


class Release:
    """One model, and its names in the merged one."""

    def __init__(self, model):
        self.model, self.version = model, model["version"]
        self.exports = model.get("exports", ())  # of its runtime, where that is known
        self.types = Types(model["types"])
        self.names = {}  # of what is called otherwise
        self.functions = {}

    def all_names(self):
        return set(self.types.alias) | set(self.types.body) | set(self.types.enums)

    def renamed(self, text):
        """A type or a declaration with the merged model's names."""
        return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: self.names.get(m.group(0), m.group(0)), text)


class Merged:
    """All releases: `types`, `layouts`, `enums` (of the names in signatures), `functions`."""

    def __init__(self, models):
        self.releases = [Release(m) for m in sorted(models, key=version_key)]
        self.types, self.layouts, self.enums = [], {}, {}
        self.known = {}  # name -> the release that it is of, and its name there
        self.enumerators = set()
        for release in self.releases:
            self.add_types(release)
            release.functions = {name: self.prototype(release, proto)
                                 for name, proto in release.model["functions"].items()}
        self.all_types = Types(self.types)
        for name in sorted({n for r in self.releases for n in r.functions}):
            self.drop_mistakes(name)

    def latest(self):
        return self.releases[-1]

    @staticmethod
    def prototype(release, proto):
        """With the merged names of types."""
        out = dict(proto, returns=release.renamed(proto["returns"]))
        out["params"] = [dict(p, type=release.renamed(p["type"])) for p in proto["params"]]
        return out

    def is_same(self, release, name, other, its):
        """Whether a name means the same in both releases, apart from what pointers point to."""
        mine, theirs = release.types, other.types
        a, b = mine.resolve(name), theirs.resolve(its)
        if a.kind != b.kind:
            return False
        if a.kind == "enum":
            return is_same_enum(release.model["enums"].get(a.key, {}), other.model["enums"].get(b.key, {}))
        if a.kind not in ("struct", "union"):
            return a.size == b.size
        if a.members == b.members:
            # same text, but the types of members may differ
            return all(self.is_same(release, n, other, n) for n in self.held(release, name))
        return False

    @staticmethod
    def held(release, name):
        """Names of types that a structure holds by value, and of enumerations."""
        out = set()
        for path, ctype, _ in release.types.leaves(name):
            if path and release.types.resolve(ctype).kind in ("struct", "union", "enum"):
                out.add(tidy(re.sub(r"\b(const|struct|union|enum)\b", " ", ctype)))
        for _, ctype, _ in release.types.resolve(name).members:
            if release.types.resolve(ctype).kind in ("struct", "union") and "{" not in ctype:
                out.add(tidy(re.sub(r"\bconst\b", " ", ctype)))
        return {n for n in out if n in release.all_names() and n != name}

    def add_types(self, release):
        """Adds the types of one release."""
        suffix = "__" + ident(release.version)
        for name in sorted(release.all_names()):
            word = name.split(" ")[-1]
            if name not in self.known or name in STATUS_ENUMS:
                continue
            meanings = [(name, self.known[name])]
            meanings += [(n, k) for n, k in self.known.items() if n.startswith(name + "__")]
            for merged, (other, its) in meanings:
                if self.is_same(release, name, other, its):
                    if merged != name:
                        release.names[word] = merged.split(" ")[-1]
                    break
            else:
                release.names[word] = word + suffix
        self.declare(release, suffix)
        for name, layout in release.model["layouts"].items():
            self.layouts.setdefault(release.renamed(name), layout)
        for name, values in release.model["enums"].items():
            for called in (name, name.split(" ")[-1]):
                self.enums.setdefault(release.renamed(called), values)
        for alias in release.types.alias:
            found = release.types.resolve(alias)
            if found.kind == "enum":
                self.enums.setdefault(release.renamed(alias), release.model["enums"].get(found.key, {}))

    def declare(self, release, suffix):
        """Adds the declarations of a release that are missing."""
        for decl in release.model["types"]:
            one = Types([decl])
            names = set(one.alias) | set(one.body) | set(one.enums)
            new = {release.renamed(n) for n in names} - set(self.known)
            if names and not new:
                continue
            if not names and decl in self.types:
                continue
            tags = [n for n in list(one.body) + list(one.enums) if release.renamed(n) in self.known]
            if tags:
                # another name for a known type
                self.types += [["typedef %s %s;" % (release.renamed(tags[0]), n)] for n in sorted(new)]
                for name in new:
                    self.known[name] = (release, name)
                continue
            again = {e for values in one.enums.values() for e in values} & self.enumerators
            text = [release.renamed(line) for line in decl]
            for name in again:
                text = [re.sub(r"\b%s\b" % name, name + suffix, line) for line in text]
            self.enumerators |= {e + (suffix if e in again else "") for v in one.enums.values() for e in v}
            self.types.append(text)
            for name in names:
                self.known.setdefault(release.renamed(name), (release, name))

    def class_of(self, ctype):
        """How a value is passed: two prototypes with the same classes are called alike."""
        found = self.all_types.resolve(ctype)
        if found.kind in ("pointer", "function"):
            return "pointer"
        if found.kind in ("struct", "union"):
            bare = tidy(re.sub(r"\bconst\b", " ", ctype))
            return "%d bytes" % self.layouts[bare]["size"]
        return "float %d" % found.size if found.kind == "float" else "word %d" % found.size

    def shape(self, proto):
        """How a function's arguments and its result are passed."""
        return [self.class_of(t) for t in [proto["returns"]] + [p["type"] for p in proto["params"]] if t != "void"]

    def drop_mistakes(self, name):
        """Drops prototypes of functions that a release declares but does not export: they may be wrong."""
        known = [r.functions[name] for r in self.releases if name in r.exports and name in r.functions]
        for release in self.releases:
            proto = release.functions.get(name)
            if proto and known and name not in release.exports and self.shape(proto) != self.shape(known[0]):
                del release.functions[name]

    def check_alike(self, name, one, other, version):
        """Raises ModelError when two prototypes of a symbol can't be served by one wrapper."""
        if self.shape(one) != self.shape(other):
            raise ModelError("%s of HIP %s takes other arguments" % (name, version))

    def offsets(self, release, proto, words):
        """{word: its offset in the release's structure}."""
        out = {}
        params = {p["name"]: p["type"] for p in proto["params"]}
        for w in words:
            param, _, path = re.sub(r"^\*", "", w.name).partition(".")
            found = self.all_types.resolve(params.get(param, "void"))
            ctype = found.pointee if w.name.startswith("*") else params.get(param, "")
            bare = tidy(re.sub(r"\bconst\b", " ", ctype or ""))
            layout = self.layouts.get(bare, {}).get("offsets", {})
            out[w.name] = layout.get(re.sub(r"\[\d+\]$", "", path)) if path else None
        return out

    def is_alike(self, release, mine, other, theirs):
        """Whether two releases' words of a function are the same, read at the same offsets."""
        def described(words):
            return [(w.name, w.kind, w.role, w.guard) for w in words]

        return (described(mine[1]) == described(theirs[1])
                and self.offsets(release, *mine) == self.offsets(other, *theirs))
