#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scatter.py - plants faults at random in src and lib, chosen by a seed and not by a person who knows the tests

Usage: tests/mutants/scatter.py [--seed N] [--count N] [--from N] [--scratch DIR] [--units] [--list]

A fault is one small change within a function, as a slip would make it (KINDS). The kind is drawn first, then where it is, so that each kind
is as likely as the others. For each fault the unit tests are built, and those that link the changed file are run, the likeliest first. What they do not find
is looked for by the scripts that STAGES names for its folder, unless --units is given: a script finds a fault if it fails twice with the fault, and passes without.
A fault that does not compile, or whose object is the same, is replaced by the next one of the seed. --from N: the first N faults are passed over. A fault that
changes nothing that could be seen is "survived", too: a person has to say so.

The changed programs run: --scratch is best in a mount namespace of its own, where they can do no harm. Exit status: 0 if all are found, 1 if some survive.
"""
import argparse
import collections
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tools"))
import check_links  # noqa: E402
import plant  # noqa: E402
import rtl_tree  # noqa: E402

STAGE_S = 400  # for the scripts of one fault
Fault = collections.namedtuple("Fault", "kind file line start end new")

# kind: pattern of what is replaced, and by what; a call is found by find_calls()
SWAPS = {"<": "<=", ">": ">=", "<=": "<", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "true": "false", "false": "true"}
KINDS = {
    "bound": (r"(?<![<=\-])<=?(?![<=])|(?<![>=\-])>=?(?![>=])", lambda old: SWAPS[old]),
    "equal": (r"[=!]=", lambda old: SWAPS[old]),
    "logic": (r"&&|\|\|", lambda old: SWAPS[old]),
    "negation": (r"!(?=[A-Za-z_(])", lambda old: ""),
    "off by one": (r" [+-] 1\b(?![.\w])", lambda old: ""),
    "constant": (r"(?<![\w.\"])[0-9]+(?=[uUlL]*\b)(?![.xX\w])", lambda old: str(int(old) + 1)),
    "truth": (r"\b(?:true|false)\b", lambda old: SWAPS[old]),
    "error": (r"(?<=return )-E[A-Z]+(?=;)", lambda old: "0"),
    "call": (None, None),
}
CALL = re.compile(r"(?<=\n)(\t+)([a-z_]\w*)\(")
NO_CALLS = re.compile(r"assert|^sizeof$|^defined$|^if$|^while$|^for$|^switch$|^return$")

# folder: the scripts that look at what it does
READERS = r"^cli\.[^s]|^cli\.summary|^golden|^scenario\.(060|091|099|100|107)|^fault\.130"
STAGES = (
    ("src/cli/selftest/", r"^scenario\.105"),
    ("src/cli/pmc/", r"^scenario\.10[346]"),
    ("src/cli/trace/", r"^cli\.(trace|signals)|^scenario\.(050|097|098|100)|^fault\.(120|160)"),
    ("src/cli/cmd/", r"^cli\.|^scenario\.(09[2789]|10[046])"),
    ("src/cli/", READERS),
    ("src/export/", READERS),
    ("src/analysis/", READERS),
    ("src/query/", READERS),
    ("src/store/", READERS + r"|^fault\.1[0-3]"),
    ("src/counter/", r"^counter|^scenario\.10[2346]|^sdk\.580"),
    ("src/control/", r"^scenario\.097"),
    ("src/selftest/", r"^scenario\.105"),
    ("src/spool/", r"^fault|^scenario\.(010|100)"),
    ("src/sink/", r"^fault|^scenario\.(010|100)"),
    ("src/event/", r"^fault|^scenario\.(010|050|09|100)"),
    ("src/source/hip/", r"^scenario\.(010|032|07|08|09)|^wrappers"),
    ("src/source/roctx/", r"^scenario\.(040|09[03])"),
    ("src/source/rccl/", r"^scenario\.107|^sdk\.590"),
    ("src/source/hsa/counter/", r"^scenario\.10[2346]|^sdk\.580|^rocprofiler"),
    ("src/source/", r"^scenario\.0[1-4]|^scenario\.(07|09)|^fault\.1[0145]"),
    ("src/base/", r"^scenario\.(010|050|09)|^cli\.|^fault\.1[237]"),
    ("lib/face/", r"^roctracer|^rocprofiler|^sdk"),
    ("lib/libroctracer64/", r"^roctracer"),
    ("lib/libroctx64/", r"^roctracer|^scenario\.040"),
    ("lib/librocprofiler64/", r"^rocprofiler"),
    ("lib/librocprofiler-sdk", r"^sdk"),
    ("lib/librtl/", r"^scenario\.(02|05|08|09)|^fault\.1[0145]|^platform"),
)


def blank(text):
    """The text with spaces for comments, strings and directives: each sign keeps its offset."""
    text = rtl_tree.TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)


def end_of_call(code, at):
    """The offset behind `(...);`, or None if something else follows."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i + 2 if code[i + 1:i + 2] == ";" else None
    return None


def sites(code):
    """(kind, start, end, new) of each possible fault."""
    for kind, (pattern, change) in KINDS.items():
        for match in re.finditer(pattern, code) if pattern else ():
            yield kind, match.start(), match.end(), change(match.group(0))
    for match in CALL.finditer(code):
        end = None if NO_CALLS.search(match.group(2)) else end_of_call(code, match.end() - 1)
        if end:
            yield "call", match.start(2), end, "(void)0;"


def all_faults():
    """{kind: its possible faults}, within functions of src and lib."""
    found = {}
    for name in rtl_tree.files(".c", under=("src", "lib")):
        text = rtl_tree.read(name)
        code = blank(text)
        inside = set()
        for function in rtl_tree.functions(text):
            inside.update(range(function.first, function.last + 1))
        for kind, start, end, new in sites(code):
            line = code.count("\n", 0, start) + 1
            around = text.split("\n")[line - 1]
            if line in inside and not re.search(r"assert", around, re.I):
                found.setdefault(kind, []).append(Fault(kind, name, line, start, end, new))
    return found


def draw(seed):
    """Endless: the faults of this seed, in order."""
    by_kind = all_faults()
    chance = random.Random(seed)
    kinds = sorted(by_kind)
    seen = set()
    while True:
        fault = chance.choice(by_kind[chance.choice(kinds)])
        if fault not in seen:
            seen.add(fault)
            yield fault


def shown(fault):
    text = rtl_tree.read(fault.file)
    old = " ".join(text[fault.start:fault.end].split())
    line = text.split("\n")[fault.line - 1].strip()
    return f"{fault.file}:{fault.line}: {fault.kind}: `{old}` -> `{fault.new}` in: {line}"


def run(*args, limit=None, **kwargs):
    """The process when it has ended. After the limit all that it began is killed, and its status is that of the signal."""
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, **kwargs) as p:
        try:
            out, _ = p.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            out, _ = p.communicate()
        return subprocess.CompletedProcess(args, p.returncode, out)


class Scratch:
    """A copy of the tree, and its build."""

    def __init__(self, folder, everything):
        plant.copy_tree(folder)
        self.folder, self.build_dir = folder, os.path.join(folder, "build/dev")
        listed = run("ninja", "-C", self.build_dir, "-t", "targets", "all").stdout
        self.units = sorted(set(re.findall(r"^(tests/unit/test_\w+):", listed, re.M)))
        if not self.units:
            raise SystemExit("scatter: the copy has no unit tests")
        # what scripts run but for their own programs, which load the libraries
        self.products = sorted(set(re.findall(r"^((?:bin|lib|libexec)/[^:]+):", listed, re.M)))
        if run("nice", "ninja", "-j2", "-C", self.build_dir, *(self.products if everything else []), *self.units).returncode:
            raise SystemExit("scatter: the copy does not build without faults")
        self.objects = list(check_links.objects(self.build_dir))

    def build(self, products=False):
        return run("nice", "ninja", "-j2", "-C", self.build_dir, *(self.products if products else self.units)).returncode == 0

    def changed_since(self, times):
        return [u for u in self.units if self.times().get(u) != times.get(u)]

    def times(self):
        paths = {u: os.path.join(self.build_dir, u) for u in self.units}
        return {u: os.stat(p).st_mtime_ns for u, p in paths.items() if os.path.exists(p)}

    def objects_of(self, name):
        """What the objects of a file hold."""
        held = []
        for path in sorted(p for p, source in self.objects if source == name):
            run("ninja", "-C", self.build_dir, os.path.relpath(path, self.build_dir))
            with open(path, "rb") as f:
                held.append(f.read())
        return held

    def unit_fails(self, unit):
        env = dict(os.environ, RTL_STRICT="1", RTL_TEST_TIMEOUT="60")
        done = run("nice", os.path.join(self.build_dir, unit), cwd=self.build_dir, limit=plant.TIMEOUT_S, env=env)
        return done.returncode not in (0, 77)

    def ctest(self, regex, *options):
        """Names of the tests that failed, within the limit of time."""
        done = run("nice", "ctest", "--test-dir", self.build_dir, "-R", regex, *options, limit=STAGE_S)
        return re.findall(r"Test\s+#\d+: (\S+) \.*\s*\*\*\*(?!Skipped|Not Run)", done.stdout)


def likeliest_first(units, name):
    stem = os.path.splitext(os.path.basename(name))[0]
    first = {u: 0 if u.endswith("test_" + stem) else 1 if stem in u or u[len("tests/unit/test_"):] in stem else 2 for u in units}
    return sorted(units, key=lambda u: (first[u], u))


def by_scripts(scratch, fault):
    """The script that finds the fault, or None. The file is as it was when this returns."""
    regex = next((r for prefix, r in STAGES if fault.file.startswith(prefix)), None)
    if not regex or not scratch.build(True):
        return None
    passed = set()
    for name in scratch.ctest(regex, "-j2", "--stop-on-failure"):
        exact = "^" + re.escape(name) + "$"
        if scratch.ctest(exact):
            passed.add(name)
    write(scratch, fault.file, rtl_tree.read(fault.file))
    scratch.build(True)
    return next((name for name in sorted(passed) if not scratch.ctest("^" + re.escape(name) + "$")), None)


def write(scratch, name, text):
    with open(os.path.join(scratch.folder, name), "w", encoding="utf-8") as f:
        f.write(text)


def plant_one(scratch, fault, units_only):
    """'found by X', 'survived', or None: it is no fault."""
    before = scratch.objects_of(fault.file)
    if not before:
        return None
    times = scratch.times()
    text = rtl_tree.read(fault.file)
    try:
        write(scratch, fault.file, text[:fault.start] + fault.new + text[fault.end:])
        if not scratch.build() or scratch.objects_of(fault.file) == before:
            return None
        for unit in likeliest_first(scratch.changed_since(times), fault.file):
            if scratch.unit_fails(unit):
                return f"found by {os.path.basename(unit)}"
        script = None if units_only else by_scripts(scratch, fault)
        return f"found by {script}" if script else "survived"
    finally:
        write(scratch, fault.file, text)
        scratch.build()
        scratch.objects_of(fault.file)


def plant_all(folder, options):
    scratch = Scratch(folder, not options.units)
    found = survived = 0
    for number, fault in enumerate(draw(options.seed)):
        if number < options.skip:
            continue
        if found + survived == options.count:
            break
        what = shown(fault)
        result = plant_one(scratch, fault, options.units)
        print(f"{number} {result or 'no fault'}: {what}", flush=True)
        found += (result or "").startswith("found")
        survived += result == "survived"
    print(f"{found + survived} planted, {found} found, {survived} survived")
    return int(survived > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--from", type=int, default=0, dest="skip")
    parser.add_argument("--scratch")
    parser.add_argument("--units", action="store_true", help="unit tests alone")
    parser.add_argument("--list", action="store_true", help="names the first faults of the seed, plants none")
    options = parser.parse_args()
    if options.list:
        for number, fault in zip(range(options.skip + options.count), draw(options.seed)):
            if number >= options.skip:
                print(number, shown(fault))
        return 0
    if options.scratch:
        return plant_all(os.path.abspath(options.scratch), options)
    with tempfile.TemporaryDirectory(prefix="rtl-scatter-") as folder:
        return plant_all(folder, options)


if __name__ == "__main__":
    sys.exit(main())
