# SPDX-License-Identifier: MIT
"""rtl_tree.py - shared by the checkers: the project's files, and C code without comments"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
THIRD_PARTY = "third_party/"
SKIP_DIRS = {".git", "build", "__pycache__"}


def files(*suffixes, under=()):
    """Paths relative to the root, sorted: tracked files, or all files outside of a git checkout. Not others' sources."""
    names = None
    if os.path.exists(os.path.join(ROOT, ".git")):
        try:
            out = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z"],
                                 capture_output=True, check=True, text=True).stdout
            names = [n for n in out.split("\0") if n]
        except (OSError, subprocess.CalledProcessError):
            pass
    if names is None:
        names = []
        for folder, dirs, found in os.walk(ROOT):
            dirs[:] = [d for d in dirs if d not in SKIP_DIRS and not d.startswith("build-")]
            names += [os.path.relpath(os.path.join(folder, f), ROOT) for f in found]
    return sorted(n for n in names
                  if not (n.startswith(THIRD_PARTY) and not n.endswith("README.md")) and (not suffixes or n.endswith(suffixes))
                  and (not under or n.startswith(tuple(u + "/" for u in under)))
                  and os.path.isfile(os.path.join(ROOT, n)))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as f:
        return f.read()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def strip(text, keep_strings=False):
    """The code without comments and with empty strings; keeps line numbers."""
    def blank(match):
        token = match.group(0)
        if token[0] == "/":
            return " " + "\n" * token.count("\n")
        return token if keep_strings else token[0] + token[-1]
    return TOKEN.sub(blank, text)


def strip_preprocessor(code):
    """The code without directives; of an #if with branches only the first one."""
    out, skipping = [], []
    continued = False
    for line in code.split("\n"):
        text = line.lstrip()
        if continued:
            continued = text.rstrip().endswith("\\")
            out.append("")
            continue
        if text.startswith("#"):
            word = text[1:].split()[0] if text[1:].split() else ""
            word = re.match(r"[a-z]*", word).group(0)
            if word in ("if", "ifdef", "ifndef"):
                skipping.append(False)
            elif word in ("else", "elif") and skipping:
                skipping[-1] = True
            elif word == "endif" and skipping:
                skipping.pop()
            continued = text.rstrip().endswith("\\")
            out.append("")
            continue
        out.append("" if any(skipping) else line)
    return "\n".join(out)


class Function:
    def __init__(self, name, head, first, last):
        self.name, self.head, self.first, self.last = name, head, first, last
        self.static = re.search(r"\bstatic\b", head) is not None
        self.lines = last - first + 1


ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)|\b(RTL|VGPU)_[A-Z_]+\s*\([^()]*\)|_Alignas\s*\([^()]*\)",
                       re.S)


# A line that invokes a macro and is not the head of a function: macros that define functions are followed by a brace.
INVOKED = re.compile(r"^[A-Z][A-Z0-9_]*\([^(){};]*\)[ \t]*$(?!\s*\{)", re.MULTILINE)


def functions(text):
    """The functions that a C file defines, in order."""
    code = INVOKED.sub("", strip_preprocessor(strip(text)))
    found, stack = [], []
    head_start, line = 0, 1
    current = None
    for i, c in enumerate(code):
        if c == "\n":
            line += 1
        elif c == "{":
            if not stack or all(s == "transparent" for s in stack):
                head = code[head_start:i]
                plain = ATTRIBUTE.sub(" ", head)
                match = re.search(r"([A-Za-z_]\w*)\s*\(", plain)
                if re.match(r'\s*extern\s*""\s*$', head) or re.match(r"\s*namespace\b", head):
                    stack.append("transparent")
                    head_start = i + 1
                    continue
                if match and "=" not in plain.split("(")[0]:
                    begin = line - head.lstrip().count("\n")
                    name = match.group(1)
                    if name == "TEST":
                        name = re.search(r"\(\s*(\w+)", plain).group(1)
                    current = (name, head.strip(), begin)
            stack.append("brace")
        elif c == "}":
            kind = stack.pop() if stack else None
            if not stack or all(s == "transparent" for s in stack):
                if current and kind == "brace":
                    found.append(Function(*current, line))
                current = None
                head_start = i + 1
        elif c == ";" and (not stack or all(s == "transparent" for s in stack)):
            head_start = i + 1
    return found


def report(tool, errors, notes=()):
    """Prints and returns the exit status."""
    for n in notes:
        print(f"note: {n}")
    for e in errors:
        print(e)
    print(f"{tool}: {len(errors)} errors" + (f", {len(notes)} notes" if notes else ""))
    return 1 if errors else 0


def main(tool, run):
    result = run()
    sys.exit(report(tool, *result) if isinstance(result, tuple) else report(tool, result))
