# SPDX-License-Identifier: MIT
"""decl.py - types out of declarations: what a type is, its members, its enumerators.

Reads the "types" of a model: declarations as lists of short lines, as extract.type_lines()
makes them. Sizes are those of x86-64.
"""

import re

from extract import parameter, split_top, tidy

# name -> (kind, bytes); kinds: int, uint, bool, float, void
SCALARS = {
    "void": ("void", 0), "bool": ("bool", 1), "char": ("int", 1), "signed char": ("int", 1),
    "unsigned char": ("uint", 1), "short": ("int", 2), "unsigned short": ("uint", 2),
    "unsigned short int": ("uint", 2), "int": ("int", 4), "signed int": ("int", 4),
    "unsigned": ("uint", 4), "unsigned int": ("uint", 4), "long": ("int", 8),
    "long int": ("int", 8), "unsigned long": ("uint", 8), "unsigned long int": ("uint", 8),
    "long long": ("int", 8), "unsigned long long": ("uint", 8), "float": ("float", 4),
    "double": ("float", 8), "size_t": ("uint", 8), "int8_t": ("int", 1), "uint8_t": ("uint", 1),
    "int16_t": ("int", 2), "uint16_t": ("uint", 2), "int32_t": ("int", 4), "uint32_t": ("uint", 4),
    "int64_t": ("int", 8), "uint64_t": ("uint", 8), "intptr_t": ("int", 8),
    "uintptr_t": ("uint", 8),
}


class DeclError(Exception):
    """A declaration is not understood; the message is the declaration."""


class Type:
    """A type with its aliases followed, and the name that it was called by."""

    def __init__(self, kind, size=0, name="", pointee="", members=(), const=False):
        self.kind = kind  # of SCALARS, or enum, struct, union, pointer, function, opaque
        self.size = size  # of scalars
        self.name = self.key = name  # of enums and structs: what C calls it; as the model lists it
        self.pointee = pointee  # the text of what a pointer points to
        self.members = members  # [(name, type text, array length or 0)]
        self.const = const  # what is pointed to is not written


def member(text):
    """`int a[4]` -> [("a", "int", 4)]; `int a, b` gives two; an anonymous one has no name."""
    # spelling of spaces differs between releases
    text = re.sub(r"(\w)\{", r"\1 {", text.strip().rstrip(";").strip())
    nested = re.match(r"^((?:struct|union)\s*\w*\s*\{.*\})\s*(\w*)$", text)
    if nested:
        return [(nested.group(2), nested.group(1), 0)]
    if re.search(r":\s*\d+$", text):
        return []  # a bit-field has no address
    out, base = [], ""
    for i, part in enumerate(split_top(text)):
        if i:
            part = base + " " + part
        array = re.match(r"^(.*?)(\w+)\s*\[\s*(\w+)\s*\]$", part.strip())
        if array:
            out.append((array.group(2), tidy(array.group(1)), int(array.group(3), 0)))
        else:
            one = parameter(part, i)
            out.append((one["name"], one["type"], 0))
        if not i:
            base = re.sub(r"[\s*]*\w+\s*(\[.*\])?$", "", part.strip())
    return out


class Types:
    """All types of a model, by name."""

    def __init__(self, lines):
        self.alias, self.body, self.enums = {}, {}, {}
        for decl in lines:
            self.add(" ".join(decl))

    def add(self, decl):
        """Adds one declaration."""
        text = decl.strip().rstrip(";").strip()
        typedef = text.startswith("typedef ")
        if typedef:
            text = text[len("typedef "):].strip()
        if "{" in text and re.match(r"^(struct|union|enum)\b", text):
            head, tail = text[:text.index("{")].strip(), text[text.rindex("}") + 1:].strip()
            body = text[text.index("{") + 1:text.rindex("}")]
            word, _, tag = head.partition(" ")
            key = "%s %s" % (word, tag.strip()) if tag.strip() else tail
            if word == "enum":
                self.enums[key] = [v.split("=")[0].strip() for v in split_top(body) if v.strip()]
            else:
                self.body[key] = (word, [m for one in split_top(body, ";") if one.strip()
                                         for m in member(one)])
            for name in (n.strip() for n in tail.split(",") if typedef and n.strip()):
                if name != key:
                    self.alias[name] = key
            return
        if not typedef:
            return  # a forward declaration: opaque
        pointer = re.match(r"^(.*\(\s*\*\s*)(\w+)(\s*\).*)$", text)
        if pointer:
            self.alias[pointer.group(2)] = tidy(pointer.group(1) + pointer.group(3))
            return
        plain = re.match(r"^(.*[\s*])(\w+)$", text)
        if not plain:
            raise DeclError(decl)
        self.alias[plain.group(2)] = tidy(plain.group(1))

    def resolve(self, text):
        """The type behind a name, with aliases followed."""
        text = tidy(text)
        if "(*)" in text:
            return Type("function")
        if text.endswith("*"):
            pointee = text[:-1].strip()
            return Type("pointer", 8, pointee=pointee, const=self.is_const(pointee))
        bare = tidy(re.sub(r"\b(const|volatile)\b", " ", text))
        if bare in SCALARS and bare not in self.alias:
            return Type(*SCALARS[bare])
        inline = re.match(r"^(struct|union)\s*\w*\s*\{(.*)\}$", bare)
        if inline:
            return Type(inline.group(1), members=[
                m for one in split_top(inline.group(2), ";") if one.strip() for m in member(one)])
        if bare in self.enums:
            return Type("enum", 4, bare)
        if bare in self.body:
            word, members = self.body[bare]
            return Type(word, name=bare, members=members)
        if bare in self.alias:
            found = self.resolve(self.alias[bare])
            if found.kind in ("enum", "struct", "union") and not bare.startswith("enum "):
                found.name = bare
            return found
        return Type("opaque", name=bare)

    def is_const(self, text):
        """Whether a value of this type must not be written."""
        text = tidy(text)
        if text.endswith("*"):
            return False
        if re.search(r"\bconst\b", text):
            return True
        return text in self.alias and self.is_const(self.alias[text])

    def words(self, text):
        """Names in a type that are types of this model, one level down."""
        found = set()
        for word in re.findall(r"(?:\b(?:struct|union|enum)\s+)?\w+", text):
            word = " ".join(word.split())
            for key in (word, word.split(" ")[-1]):
                if key in self.alias or key in self.body or key in self.enums:
                    found.add(key)
        return found

    def needed(self, texts):
        """All names that the types in `texts` are made of, transitively."""
        todo, seen = list(texts), set()
        while todo:
            for name in self.words(todo.pop()):
                if name in seen:
                    continue
                seen.add(name)
                if name in self.alias:
                    todo.append(self.alias[name])
                if name in self.body:
                    todo += [m[1] for m in self.body[name][1]]
        return seen

    def leaves(self, text, path=""):
        """Paths of the scalar members of a structure: [(path, type text, array length)]."""
        out = []
        for name, ctype, length in self.resolve(text).members:
            here = path + ("." if path and name else "") + name
            kind = self.resolve(ctype).kind
            if kind in ("struct", "union") and not length:
                out += self.leaves(ctype, here)
            else:
                out.append((here, ctype, length))
        return out
