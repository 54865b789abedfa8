#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Emit the stand-in runtime and one test case for each wrapped function.

The cases name each argument and each word by its C path; what a word must be is taken from the
argument itself, not from the expressions that the wrappers are made of.

Usage: emit_cases.py --domain hip|hsa --out DIR [the emitter's options]
Exit:  0 written.
"""

import argparse
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "codegen"))

# pylint: disable=wrong-import-position
import emit_hip
import emit_hsa_api
from emit_hsa_table import declare, wrapped
from extract import write_if_changed


def bare(ctype):
    """What a variable of a type is declared as."""
    return ctype if ctype.endswith("*") else re.sub(r"\bconst\b\s*", "", ctype).strip()


class Case:
    """One function's case."""

    def __init__(self, f, planner, roles, domain, base=None):
        self.f, self.planner, self.domain = f, planner, domain
        self.base = base or f  # what is called; of a variant, the function that it is one of
        self.rules = roles["functions"].get(f.name, {})
        self.kernel = roles["kernel"].get(f.name)
        self.sums = {r["sum"][0]: (p, r["sum"][1]) for p, r in self.rules.items() if "sum" in r}
        self.looked = {}  # parameter -> the words of what it points to
        for w in f.words:
            if w.name.startswith("*"):
                self.looked.setdefault(re.match(r"\*(\w+)", w.name).group(1), []).append(w)

    def storage(self, name):
        """`*p.a.b` -> `o_p.a.b`, `p` -> `a_p`."""
        if name.startswith("*"):
            return "o_" + name[1:]
        if re.match(r"^return\b", name):
            return "ret" + name[len("return"):]
        return "a_" + name

    def declarations(self):
        """The variables for arguments and for what they point to."""
        out = []
        for p in self.f.proto["params"]:
            name, ctype = p["name"], p["type"]
            if name in self.looked:
                pointee = self.planner.types.resolve(ctype).pointee
                if self.rules.get(name, {}).get("text"):
                    out.append("char o_%s[64];" % name)
                else:
                    out.append("%s;" % declare(bare(pointee), "o_" + name))
            out.append("%s;" % declare(ctype if "(*)" in ctype else bare(ctype), "a_" + name))
        return out

    def values(self):
        """Statements that give them values."""
        out = []
        for p in self.f.proto["params"]:
            name, found = p["name"], self.planner.types.resolve(p["type"])
            var = "a_" + name
            if name in self.looked:
                out += self.object(name, found)
                out.append("run_pointer(run, &%s, &o_%s, %s);" % (
                    var, name, "true" if set(self.rules.get(name, {})) & {"if", "text"} else "false"))
            elif any(w.name == name and w.kind == "s" for w in self.f.words):
                out.append('%s = run_text(run, "%s of %s");' % (var, name, self.f.name))
            elif found.kind in ("pointer", "function"):
                out.append("run_pointer(run, &%s, NULL, false);" % var)
            elif found.kind == "bool":
                out.append("run_bool(run, &%s);" % var)
            elif name in [number for _, number in self.sums.values()]:
                out.append("run_count(run, &%s);" % var)
            elif found.kind in ("struct", "union"):
                out.append("run_struct(run, &%s, sizeof(%s));" % (var, var))
            else:
                out.append("run_number(run, &%s, sizeof(%s));" % (var, var))
        return out

    def object(self, name, found):
        """Statements for what a pointer points to."""
        obj, inner = "o_" + name, self.planner.types.resolve(found.pointee)
        words = self.looked[name]
        back = "false" if found.const and words[0].ctype != "char *" else "true"
        what = "STAND_IN_BYTES"
        if words[0].ctype == "char *":
            what = "STAND_IN_TEXT" if inner.kind == "int" else "STAND_IN_POINTER_TO_TEXT"
        elif inner.kind == "bool":
            what = "STAND_IN_BOOL"
        out = ["run_object(run, &%s, sizeof(%s), %s, %s);" % (obj, obj, what, back)]
        for w in words:
            if w.ctype == "char []":
                where = self.storage(w.name)
                out.append("run_object(run, &%s, sizeof(%s), STAND_IN_TEXT, true);" % (where, where))
            elif w.kind == "b" and "." in w.name:
                out.append("run_object(run, &%s, 1, STAND_IN_BOOL, %s);" % (self.storage(w.name), back))
        return out

    def word(self, w):
        """The statement that looks for one word."""
        guarded = "true" if w.name.startswith("*") else "false"
        where = self.storage(w.name)
        if w.ctype == "sum":
            # of the one element that there is
            where, guarded = "o_" + self.sums[w.name][0], "true"
        if w.ctype == "agents":
            ends = [next(("&" + self.storage(o.name) for o in self.f.words
                          if o.role == role and o.kind == "p" and "Array" not in o.name), "NULL")
                    for role in ("dst", "src")]
            dst = next(o.name for o in self.f.words if o.role == "dst")
            return 'run_word_agents(run, "%s", %s, %s, %s);' % (
                w.name, "true" if dst.startswith("*") else "false", *ends)
        if w.ctype == "kernel":
            param, _, member = self.kernel[1].partition(".")
            value = "o_%s.%s" % (param, member) if member else "a_" + param
            return "run_word_kernel(run, %s, %s, (uint64_t)%s);" % (
                "true" if member else "false", "true" if self.f.status else "false", value)
        if w.kind == "s":
            text = where
            if w.name == "return":
                text = "STAND_IN_RETURN_TEXT"
            elif w.ctype == "char *" and w.name.startswith("*") \
                    and not self.rules.get(w.name[1:], {}).get("text"):
                text = "STAND_IN_BACK_TEXT"
            return 'run_word_text(run, "%s", %s, %s);' % (w.name, guarded, text)
        if w.ctype == "bytes":
            whole, index = re.match(r"^(.*)\[(\d+)\]$", where).groups()
            return 'run_word(run, "%s", %s, (const char *)%s + %d, 8);' % (
                w.name, guarded, whole, 8 * int(index))
        return 'run_word(run, "%s", %s, &%s, sizeof(%s));' % (w.name, guarded, where, where)

    def call(self):
        """The call of the wrapper."""
        args = ", ".join("a_" + n for n in self.f.names())
        if self.domain == "hip":
            cast = ["" if mine["type"] == its["type"] else "(%s)" % its["type"]
                    for mine, its in zip(self.f.proto["params"], self.base.proto["params"])]
            return "%s(%s)" % (self.base.ident, ", ".join(
                c + "a_" + n for c, n in zip(cast, self.f.names())))
        return "((%s_fn_t)*slot_of(HSA_OP_%s))(%s)" % (self.f.name, self.f.name, args)

    def callback(self, release, number, members):
        """Statements that decode the same call as a release's callback shows it."""
        index = "HIP_RELEASE_%s" % emit_hip.ident(release.version)
        out = ["\t{", "\t\tconst struct hip_callback *c = &hip_releases[%s].callbacks[%d];" % (index, number)]
        out += ["\t\tstruct {"] + ["\t\t\t%s;" % declare(release.renamed(t), n) for t, n, _ in members]
        out += ["\t\t} args;" if members else "\t\t\tint none;\n\t\t} args;", "",
                "\t\tmemset(&args, 0x5a, sizeof(args));"]
        plain = [(t, n) for t, n, _ in members if not n.endswith("__val")]
        for (_, n), mine in zip(plain, self.f.names()):
            out.append("\t\tmemcpy(&args.%s, &a_%s, sizeof(args.%s));" % (n, mine, n))
        out.append("\t\trun_callback(run, c->op, HIP_OP_%s, c->decode, &args);" % self.f.ident)
        return out + ["\t}"]

    def emit(self, callbacks=()):
        """The C function."""
        f, prefix = self.f, "HIP" if self.domain == "hip" else "HSA"
        void = f.proto["returns"] == "void"
        out = ["static void case_%s(struct run *run)" % f.ident, "{"]
        out += ["\t" + d for d in self.declarations()]
        if not void:
            out.append("\t%s;" % declare(f.proto["returns"], "ret"))
        out += [""] + ["\t" + v for v in self.values()]
        if self.base is not f:
            out.append("\trun_release(HIP_RELEASE_%s);" % emit_hip.ident(f.releases[-1].version))
        shape = "struct %s_args_%s" % (self.domain, self.base.ident)
        out.append("\trun_expect(%s, %s);" % ("sizeof(%s)" % shape if f.names() else "0", "0" if void else "sizeof(ret)"))
        out += ["\trun_begin(run);", "\t%s%s;" % ("" if void else "ret = ", self.call())]
        if self.base is not f:
            out.append("\trun_release(0);")
        status = "true, (int32_t)ret" if f.status else "false, 0"
        out.append("\trun_end(run, %s_OP_%s, %s);" % (prefix, f.ident, status))
        for n in f.names():
            out.append('\trun_got(run, "%s", &a_%s, sizeof(a_%s));' % (n, n, n))
        out.append("\trun_got_all(run);")
        for n, its in zip(f.names(), self.base.names()):
            out.append('\trun_seen(run, "%s", &a_%s, offsetof(%s, %s), sizeof(a_%s));' % (n, n, shape, its, n))
        if not void:
            out.append("\trun_seen_result(run, &ret, sizeof(ret));")
        if not void and not f.status:
            found = self.planner.types.resolve(f.proto["returns"])
            text = found.kind == "pointer" and self.planner.char(found.pointee)
            out.append("\trun_returned(run, &ret, sizeof(ret), %s);" % ("true" if text else "false"))
        out += ["\t" + self.word(w) for w in f.words if not w.more]
        out.append("\trun_words_all(run);")
        for one in callbacks:
            out += self.callback(*one)
        return out + ["}", ""]


def stand_in(f, head, planner):
    """The runtime's function."""
    out = [head, "{"]
    void, status = f.proto["returns"] == "void", f.status
    found = planner.types.resolve(f.proto["returns"])
    text = found.kind == "pointer" and planner.char(found.pointee)
    if not void and not text and not status:
        out += ["\t%s;" % declare(f.proto["returns"], "ret"), ""]
    asked = "NULL"
    if f.name in ("hipKernelNameRef", "hipKernelNameRefByPtr"):
        asked = "stand_in_kernel((uint64_t)(uintptr_t)%s)" % f.names()[0]
    nothing = "" if void else " %s" % asked if text else " (%s)0" % f.proto["returns"] if status else ""
    if void or text or status:
        out += ['\tif (!stand_in_called("%s"))' % f.ident, "\t\treturn%s;" % nothing]
    else:
        out += ['\tstand_in_called("%s");' % f.ident]
    out += ["\tstand_in_got(&%s, sizeof(%s));" % (n, n) for n in f.names()]
    if status:
        out.append("\treturn (%s)stand_in_finish();" % f.proto["returns"])
    else:
        out.append("\tstand_in_finish();")
        if text:
            out.append("\treturn STAND_IN_RETURN_TEXT;")
        elif found.kind == "bool":
            out += ["\tret = true;", "\treturn ret;"]
        elif not void:
            out += ["\tstand_in_return(&ret, sizeof(ret));", "\treturn ret;"]
    return out + ["}", ""]


def table(tested, out):
    """The list of cases: [(function, the one that it is a variant of or itself)]."""
    out += ["const struct run_case run_cases[] = {"]
    out += ['\t{ "%s", "%s", "%s", %s, case_%s },' % (
        f.ident, base.ident, f.name, "true" if f.status else "false", f.ident) for f, base in tested]
    out += ["};", "", "const unsigned run_nr_cases = sizeof(run_cases) / sizeof(run_cases[0]);"]


def banner(what):
    """The head of an emitted file."""
    return ["/* SPDX-License-Identifier: MIT */", "/* %s" % what, " *",
            " * Generated by tests/hip_wrappers/emit_cases.py. Do not edit.", " */"]


def cases_of_hip(args):
    """The runtime's stand-in and the cases of HIP."""
    merged, ops, planner = emit_hip.plan_all(emit_hip.arguments(argparse.ArgumentParser()).parse_args(args))
    roles = planner.roles
    called = [f for f in ops if f.exported and not f.shown]
    lib = banner("hip_stand_in_gen.c - instead of libamdhip64")
    lib += ["#include <string.h>", "", '#include "hip_types_gen.h"', '#include "stand_in.h"', ""]
    cases = banner("hip_cases_gen.c - one call of each of HIP's functions, with each release's arguments")
    cases += ["#include <string.h>", "", '#include "hip_args_gen.h"', '#include "hip_ops_gen.h"', '#include "hip_types_gen.h"',
              '#include "run.h"', '#include "source/hip/release.h"', ""]
    for f in called:
        tail = ') __asm__("%s");' % f.symbol if f.symbol != f.ident else ");"
        head = "%s(" % declare(f.proto["returns"], f.ident)
        cases.append(wrapped(head, f.params() or ["void"], tail))
        lib.append(wrapped("STAND_IN_API " + head, f.params() or ["void"], tail))
        lib += stand_in(f, wrapped("STAND_IN_API " + head, f.params() or ["void"], ")"), planner)
    lib += addresses(called)
    cases.append("")
    shown = callbacks_of(merged, ops)
    tested = []
    for base in called:
        for f in [base] + base.variants:
            tested.append((f, base))
            cases += Case(f, planner, roles, "hip", base).emit(shown.get(f.ident, ()))
    table(tested, cases)
    return {"hip_stand_in_gen.c": lib, "hip_cases_gen.c": cases}, [f.ident for f, _ in tested]


def addresses(called):
    """The stand-in's functions by name."""
    out = ["static const struct {", "\tconst char *name;", "\tvoid *fn;", "} functions[] = {"]
    out += ['\t{ "%s", (void *)%s },' % (f.symbol, f.ident) for f in called]
    out += ["};", "", "void *stand_in_address(const char *name)", "{",
            "\tfor (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)",
            "\t\tif (strcmp(functions[i].name, name) == 0)", "\t\t\treturn functions[i].fn;", "\treturn NULL;"]
    return out + ["}", ""]


def callbacks_of(merged, ops):
    """{op: [(release, number, members)]} of the callbacks that show a call."""
    out = {}
    for release in merged.releases:
        by_name = emit_hip.by_release(ops, release)
        for name, number in emit_hip.callbacks(release).items():
            f, members = by_name[name], release.model["api_args"].get(name, [])
            if members or not f.words:
                out.setdefault(f.ident, []).append((release, number, members))
    return out


def cases_of_hsa(args):
    """The tables' stand-ins and the cases of HSA."""
    _, ops, planner = emit_hsa_api.plan_all(emit_hsa_api.arguments(argparse.ArgumentParser()).parse_args(args))
    out = banner("hsa_cases_gen.c - one call of each of HSA's functions")
    out += ['#include "hsa_wrap_gen.h"', '#include "hsa_cases.h"', '#include "run.h"', ""]
    for f in ops:
        out += stand_in(f, wrapped("static %s(" % declare(f.proto["returns"], "real_" + f.name),
                                   f.params() or ["void"], ")"), planner)
    out += ["const struct hsa_case_slot hsa_case_slots[] = {"]
    out += ["\t{ HSA_CASE_%s, %s, (void *)real_%s }," % (f.stem.upper(), f.id, f.name) for f in ops]
    out += ["};", ""]
    for f in ops:
        out += Case(f, planner, planner.roles, "hsa").emit()
    table([(f, f) for f in ops], out)
    return {"hsa_cases_gen.c": out}, [f.name for f in ops]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--domain", choices=("hip", "hsa"), required=True)
    parser.add_argument("--out", required=True)
    args, rest = parser.parse_known_args()
    texts, names = (cases_of_hip if args.domain == "hip" else cases_of_hsa)(rest + ["--out", args.out])
    texts["%s_cases.txt" % args.domain] = names
    os.makedirs(args.out, exist_ok=True)
    for name, lines in texts.items():
        write_if_changed(os.path.join(args.out, name), "\n".join(lines).rstrip("\n") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
