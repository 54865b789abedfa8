# SPDX-License-Identifier: MIT
"""words.py - which words a record holds of a call's arguments, and the C that fills them.

One plan for each function: a list of words in the order of the record, each with name, type, role
(struct rec_op in spool/format.h says what these are), the expression that gives it, and what must
hold for the expression to be read. Wrapper, callback decoder and test are all made from it.
"""

import re

from decl import Types

MAX_WORDS = 240  # REC_API_MAX_WORDS
MAX_LEAVES = 40  # members of one structure; larger ones have a list in the roles
MAX_ARRAY = 4  # elements of one array of numbers
MAX_OPAQUE = 64  # bytes of one array of bytes
TAKEN = {"word", "good", "call", "ret", "real", "words", "nr"}  # what wrappers have of their own


class PlanError(Exception):
    """A function that cannot be recorded as it is; the message says which and why."""


class Word:
    """One word of a record."""

    def __init__(self, name, kind, expr, role="", guard="", ctype=""):
        self.name, self.kind, self.expr, self.role = name, kind, expr, role
        self.guard = guard  # C condition, "" = always
        self.ctype = ctype  # of what is read; "" where the expression is the word
        self.more = kind == "d2"  # the second word of a dim3: no argument of its own

    def renamed(self, expr):
        """The same word with `expr` as its value."""
        return Word(self.name, self.kind, expr, self.role, self.guard, self.ctype)


def plain(name):
    """A type's name without the suffix of its release."""
    return re.sub(r"__\d+_\d+$", "", name)


class Planner:
    """Plans for the functions of one model."""

    def __init__(self, types, roles, handle_member=""):
        self.types = Types(types)
        self.roles = roles
        # by-value structures of this one member are handles (HSA)
        self.handle_member = handle_member
        self.enums = set()

    def handle(self, ctype):
        """Whether a value of this type is a handle rather than a pointer to look through."""
        found = self.types.resolve(ctype)
        if found.kind == "pointer" and not ctype.strip().endswith("*"):
            inner = self.types.resolve(found.pointee)
            return inner.kind in ("opaque", "struct") and (
                inner.kind == "opaque" or self.opaque(found.pointee))
        return self.handle_struct(found)

    def handle_struct(self, found):
        return (self.handle_member and found.kind == "struct"
                and [(m[0], m[2]) for m in found.members] == [(self.handle_member, 0)])

    def opaque(self, ctype):
        bare = " ".join(re.sub(r"\bconst\b", " ", ctype).split())
        return plain(bare) in self.roles["opaque"]

    def role(self, name, ctype, kind):
        """The role of a word by its type, or by the end of its name."""
        by_type = self.roles["types"].get(plain(" ".join(
            re.sub(r"\b(const|enum|struct)\b", " ", ctype).split())))
        if by_type:
            return by_type
        path = name.lstrip("*").split(".")
        for end in (".".join(path[-2:]), path[-1]):
            found = self.roles["names"].get(end)
            if not found:
                continue
            fits = {"dst": "ph", "src": "ph", "grid": "d", "block": "d",
                    "bytes": "z"}.get(found, "zui")
            return found if kind[0] in fits else ""
        return ""

    def scalar(self, name, ctype, expr, guard=""):
        """The words of one value: a scalar, a dim3 or a handle."""
        found = self.types.resolve(ctype)
        if found.kind == "struct" and found.name == "dim3":
            role = self.role(name, ctype, "d")
            return [Word(name, "d", "%s.x | (uint64_t)%s.y << 32" % (expr, expr), role, guard, "dim3"),
                    Word(name, "d2", "%s.z" % expr, "", guard, "dim3")]
        if self.handle_struct(found):
            return [Word(name, "h", "%s.%s" % (expr, self.handle_member),
                         self.role(name, ctype, "h"), guard, ctype)]
        if found.kind in ("pointer", "function"):
            kind = "h" if self.handle(ctype) else "p"
            value = "(uint64_t)(uintptr_t)%s" % expr
        elif found.kind == "enum":
            name_of = found.name.split(" ")[-1]
            self.enums.add((name_of, found.key))
            kind, value = "e=" + name_of, "(uint64_t)(int64_t)(int)%s" % expr
        elif found.kind == "int":
            kind, value = "i", "(uint64_t)(int64_t)%s" % expr
        elif found.kind == "uint":
            last = name.lstrip("*").split(".")[-1]
            size = re.search(r"\bsize_t\b", self.spelled(ctype))
            units = any(re.search(u, last) for u in self.roles["units"])
            flags = re.search(r"[fF]lags$|[mM]ask$", last)
            kind = "x" if flags else "z" if size and not units else "u"
            value = "(uint64_t)%s" % expr
        elif found.kind == "bool":
            kind, value = "b", "(uint64_t)%s" % expr
        elif found.kind == "float":
            kind = "f" if found.size == 4 else "g"
            value = "api_word_%s(%s)" % ("float" if kind == "f" else "double", expr)
        else:
            raise PlanError("%s: a %s (%s)" % (name, ctype, found.kind))
        return [Word(name, kind, value, self.role(name, ctype, kind), guard, ctype)]

    def spelled(self, ctype):
        """The type with its aliases followed, as text."""
        while ctype in self.types.alias:
            ctype = self.types.alias[ctype]
        return ctype

    def union(self, name, ctype, expr, guard, path):
        """The word of the one member of a union that the roles name, or of one that all members share."""
        leaves = self.types.leaves(ctype)
        if not path and len({(t, n) for _, t, n in leaves}) == 1:
            path = leaves[0][0]
        for leaf, ltype, length in leaves:
            if leaf == path and not length:
                return self.scalar("%s.%s" % (name, leaf), ltype, "%s.%s" % (expr, leaf), guard)
        return []

    def members(self, name, ctype, expr, guard, chosen=None):
        """The words of a structure's members; most unions and long arrays are left out."""
        found, out = self.types.resolve(ctype), []
        if found.kind == "union":
            return out
        for member, mtype, length in found.members:
            if not member and self.types.resolve(mtype).kind == "union" and not chosen:
                out += self.union(name, mtype, expr, guard, "")
            if not member or (chosen and member not in chosen):
                continue
            path, read = "%s.%s" % (name, member), "%s.%s" % (expr, member)
            inner = self.types.resolve(mtype)
            named = self.roles.get("unions", {}).get("%s.%s" % (plain(found.name), member))
            if named:
                out += self.union(path, mtype, read, guard, named)
            if inner.kind in ("void", "opaque") or named:
                continue
            size = length * inner.size
            if length and inner.kind in ("int", "uint") and (inner.size == 1 or length > MAX_ARRAY):
                # an opaque handle, in words of eight bytes
                if chosen:
                    out.append(Word(path, "s", "hip_word_text(%s)" % read, "", guard, "char []"))
                elif size <= MAX_OPAQUE and size % 8 == 0:
                    out += [Word("%s[%d]" % (path, i), "x", "api_word_bytes(&%s[%d])" % (
                        read, 8 * i // inner.size), "", guard, "bytes") for i in range(size // 8)]
            elif length:
                if length <= MAX_ARRAY and inner.kind not in ("struct", "union"):
                    for i in range(length):
                        out += self.scalar("%s[%d]" % (path, i), mtype, "%s[%d]" % (read, i), guard)
            elif inner.kind in ("struct", "union") and inner.name != "dim3" \
                    and not self.handle_struct(inner):
                out += self.members(path, mtype, read, guard)
            else:
                out += self.scalar(path, mtype, read, guard)
        return out

    def pointed(self, param, ctype, rule):
        """The words of what a pointer parameter points to."""
        found = self.types.resolve(ctype)
        inner = self.types.resolve(found.pointee)
        guard = "good && %s" % param
        if rule.get("if"):
            guard += " && %s" % rule["if"]
        if rule.get("in") or inner.kind in ("void", "function", "opaque") or self.opaque(found.pointee) \
                or self.handle(ctype):
            return []
        if inner.kind in ("int", "uint") and inner.size == 1 and not rule.get("out"):
            return []
        if inner.kind in ("struct", "union") and inner.name != "dim3" \
                and not self.handle_struct(inner):
            out = self.members("*" + param, found.pointee, "(*%s)" % param, guard,
                               self.roles["members"].get(plain(inner.name)))
            if len(out) > MAX_LEAVES:
                raise PlanError("%s: %d members; choose some" % (inner.name, len(out)))
            for word in out:
                member = word.name.split(".", 1)[1]
                word.expr = word.expr.replace("(*%s)." % param, "%s->" % param)
                word.role = rule.get("roles", {}).get(member, word.role)
            return out
        if found.const and inner.name != "dim3" and not set(rule) & {"out", "sum"}:
            return []
        if inner.kind == "pointer" and self.char(inner.pointee) and inner.const:
            return [Word("*" + param, "s", "hip_word_text(*%s)" % param, "", guard, "char *")]
        if inner.name == "dim3":
            one = self.scalar("*" + param, found.pointee, "(*%s)" % param, guard)
            for word in one:
                word.expr = word.expr.replace("(*%s)." % param, "%s->" % param)
            return one
        if self.handle_struct(inner):
            one = self.scalar("*" + param, found.pointee, param, guard)
            one[0].expr = "%s->%s" % (param, self.handle_member)
            return one
        one = self.scalar("*" + param, found.pointee, "*%s" % param, guard)
        one[0].role = rule.get("roles", {}).get("", one[0].role)
        if "sum" in rule:
            called, number = rule["sum"]
            one.append(Word(called, "z", "hip_word_sum(%s, %s)" % (param, number), "bytes", guard, "sum"))
        return one

    def char(self, ctype):
        """Whether this is a string's character type."""
        return " ".join(re.sub(r"\bconst\b", " ", ctype).split()) == "char"

    def parameter(self, param, ctype, rule):
        """The words of one parameter."""
        found = self.types.resolve(ctype)
        if found.kind == "pointer":
            if self.char(found.pointee) and found.const and not rule.get("in"):
                return [Word(param, "s", "hip_word_text(%s)" % param, "", "", ctype)]
            out = self.scalar(param, ctype, param)
            if rule.get("text"):
                out.append(Word("*" + param, "s", "hip_word_text(%s)" % param, "",
                                "good && %s && %s" % (param, rule["text"]), "char *"))
            else:
                out += self.pointed(param, ctype, rule)
            return out
        if found.kind in ("struct", "union") and found.name != "dim3" \
                and not self.handle_struct(found):
            return self.members(param, ctype, param, "")
        return self.scalar(param, ctype, param)

    def plan(self, function, proto, status_types):
        """The words of a call of this function."""
        rules, out = self.roles["functions"].get(function, {}), []
        unknown = set(rules) - {p["name"] for p in proto["params"]}
        if unknown:
            raise PlanError("roles of %s: no parameter %s" % (function, ", ".join(sorted(unknown))))
        for p in proto["params"]:
            name, rule = p["name"], rules.get(p["name"], {})
            if name in TAKEN:
                raise PlanError("%s: a parameter named %s" % (function, name))
            words = self.parameter(name, p["type"], rule)
            if "role" in rule:
                words[0].role = rule["role"]
            if "type" in rule:
                words[0].kind = rule["type"]
            out += words
        kernel = self.roles["kernel"].get(function)
        if kernel:
            out.append(self.kernel_name(kernel, rules))
        out += self.agents(function, out)
        if proto["returns"] not in status_types and proto["returns"] != "void":
            found = self.types.resolve(proto["returns"])
            if found.kind == "pointer" and self.char(found.pointee):
                out.append(Word("return", "s", "hip_word_text(ret)", "", "", proto["returns"]))
            elif found.kind == "struct" and not self.handle_struct(found):
                out += self.members("return", proto["returns"], "ret", "")
            else:
                out += self.scalar("return", proto["returns"], "ret")
        if len(out) > MAX_WORDS:
            raise PlanError("%s: %d words" % (function, len(out)))
        return out

    @staticmethod
    def agents(function, words):
        """The word with the agents of the memory that a copy or fill names by addresses: of the runtime's arrays and symbols they are
        not known, a batch has many."""
        if not re.match(r"hip(Drv)?Mem(cpy|set)", function) or re.search(r"Array|Symbol|Batch|Node", function):
            return []
        ends = [[w for w in words if w.role == role and w.kind == "p" and "Array" not in w.name]
                for role in ("dst", "src")]
        if any(len(end) > 1 for end in ends) or not ends[0] or ("cpy" in function and not ends[1]):
            return []
        exprs = [end[0].expr.replace("(uint64_t)(uintptr_t)", "") if end else "NULL" for end in ends]
        return [Word("agents", "x", "hip_word_agents((const void *)%s, (const void *)%s)" % tuple(exprs), "agents",
                     ends[0][0].guard, "agents")]

    @staticmethod
    def kernel_name(kernel, rules):
        """The word with the kernel's name, of a host function or a hipFunction_t."""
        param, _, member = kernel[1].partition(".")
        expr, guard, good = param, "", "good"
        if member:
            expr, good = "%s->%s" % (param, member), "true"
            guard = "good && %s" % param
            if rules.get(param, {}).get("if"):
                guard += " && %s" % rules[param]["if"]
        call = "hip_word_host_function" if kernel[0] == "host" else "hip_word_function"
        return Word("kernelName", "s", "%s((const void *)%s, %s)" % (call, expr, good), "name", guard,
                    "kernel")


def signature(words):
    """The signature as in struct rec_op."""
    return ",".join("%s:%s%s" % (w.name, w.kind, ":" + w.role if w.role else "")
                    for w in words if not w.more)


def fill(words):
    """C statements that fill word[]: one condition for words that share it."""
    out, i = [], 0
    while i < len(words):
        n = i
        while n < len(words) and words[n].guard == words[i].guard:
            n += 1
        rows = ["word[%d] = %s;" % (k, words[k].expr) for k in range(i, n)]
        if words[i].guard:
            out += ["if (%s) {" % words[i].guard] + ["\t" + r for r in rows] + ["} else {"]
            out += ["\tapi_word_none(word + %d, %d);" % (i, n - i), "}"]
        else:
            out += rows
        i = n
    return out
