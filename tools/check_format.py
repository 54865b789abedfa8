#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_format.py - the layout is clang-format 14's, and no line is longer than 100 columns (--fix applies it)

Other versions of clang-format differ in a few rules, so only 14 is used. It does not break comments as they are written here, so this does: what is too
long goes on below the text, and in front of the next line of the paragraph. A line with a string, and the macro around one, may be longer.
"""
import os
import re
import shutil
import subprocess
import sys

import rtl_tree

COLUMNS = 100
UNDER = ("src", "lib", "vgpu", "include", "tests", "bench", "examples")
COLUMN = re.compile(r"\t+| {2,}")  # between the columns of a table in a comment
SPACE = re.compile(r"(?<=[^\s]) (?=[^\s])")


def width(text):
    return len(text.expandtabs(8))


def lead_of(text):
    return text[:len(text) - len(text.lstrip())]


def hanging(before, text):
    """The white space in front of the text that goes on with `text`, behind `before`: below its last column, its item, or its begin."""
    lead = lead_of(text)
    columns = [m.end() for m in COLUMN.finditer(text) if m.start() >= len(lead)]
    item = re.match(r"\s*(?:- |\d+\. )", text)
    at = columns[-1] if columns else item.end() if item else len(lead)
    to = width(before + text[:at])
    if at == len(lead) or to > COLUMNS - 30:
        return lead
    if "\t" not in text[:at]:
        return " " * (to - width(before))
    tabs = "\t" * (to // 8 - width(before) // 8)
    return tabs + " " * (to - width(before + tabs))


def cut(before, text):
    """Where a line that is too long is cut: at its last space that is in the columns. None: there is none."""
    end = text[:-3].rstrip() if text.endswith(" */") else text
    lead = len(lead_of(text))
    fits = [m.start() for m in SPACE.finditer(end) if m.start() > lead and width(before + text[:m.start()]) <= COLUMNS]
    return fits[-1] if fits else None


def goes_on(lead, text):
    """Whether a line is the next one of a paragraph whose lines begin with `lead`."""
    body = text[len(lead):]
    return text.startswith(lead) and bool(body) and not body[0].isspace() and body[0] not in "-*/|+" and not COLUMN.search(body) and \
        not re.match(r"\d+\. |\w+:\s", body)


def wrap(indent, comment):
    """A comment of whole lines, as lines that fit."""
    rule = re.fullmatch(r"(/\* -+ .* )(-+)( \*/)", comment)
    if rule:
        return indent + rule.group(1) + rule.group(2)[:COLUMNS - width(indent + rule.group(1) + rule.group(3))] + rule.group(3)
    mark = comment[:2]
    rows = [re.sub(r"^\s*(\*(?!/)|//)?", "", line) if i else line[2:] for i, line in enumerate(comment.split("\n"))]
    out, i = [], 0
    before = indent + "//" if mark == "//" else indent + " *"
    while i < len(rows):
        text, head = rows[i].rstrip(), indent + mark if i == 0 else before
        at = cut(head, text) if width(head + text) > COLUMNS else None
        if at is not None:
            rest, text, lead = text[at + 1:], text[:at], hanging(head, text[:at])
            # the writer's own, where the next line goes on with this one
            if i + 1 < len(rows) and width(lead_of(rows[i + 1])) > width(lead_of(text)) and goes_on(lead_of(rows[i + 1]), rows[i + 1]):
                lead = lead_of(rows[i + 1])
            if i + 1 < len(rows) and goes_on(lead, rows[i + 1]) and not rest.endswith("*/"):
                rows[i + 1] = lead + rest + " " + rows[i + 1][len(lead):]
            else:
                rows.insert(i + 1, lead + rest)
        out.append(indent + " */" if text == "*/" and i else head + text)
        i += 1
    return "\n".join(out)


def wrap_comments(text):
    """The text with all comments in the columns."""
    out, at = [], 0
    for match in rtl_tree.TOKEN.finditer(text):
        comment = match.group(0)
        begin = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        before, after = text[begin:match.start()], text[match.end():end if end >= 0 else len(text)]
        whole = text[begin:match.end()] + after
        if comment[0] != "/" or begin < at or all(width(line) <= COLUMNS for line in whole.split("\n")) or after.strip():
            continue
        if not before.strip():
            out += [text[at:begin], wrap(before, comment)]
        elif width(before) <= COLUMNS and not text[:begin].endswith("\\\n"):
            # behind code: now in front of it
            joined = " ".join(line.strip().lstrip("*").strip() if i else line.rstrip() for i, line in enumerate(comment.split("\n")))
            out += [text[at:begin], wrap(lead_of(before), joined), "\n", before.rstrip()]
        else:
            continue
        at = match.end()
    return "".join(out) + text[at:]


def too_long(name, text):
    """Lines beyond the columns, but for strings."""
    lines = text.split("\n")
    in_macro = False
    for nr, line in enumerate(lines, 1):
        if width(line) > COLUMNS and '"' not in line and not (in_macro or line.endswith("\\")):
            yield f"{name}:{nr}: {width(line)} columns; tools/check_format.py --fix"
        in_macro = line.endswith("\\")


def main():
    tool = shutil.which("clang-format-14")
    if not tool:
        print("clang-format-14 is not installed")
        sys.exit(77)
    names = rtl_tree.files(".c", ".h", ".cpp", ".hpp", under=UNDER)
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    if wanted:
        names = [n for n in names if n.startswith(tuple(wanted))]
    how = ["-i"] if "--fix" in sys.argv else ["--dry-run"]
    # twice: clang-format aligns what is left behind code
    for _ in range(2 if "--fix" in sys.argv else 1):
        for name in names if "--fix" in sys.argv else ():
            text = rtl_tree.read(name)
            fits = wrap_comments(text)
            if fits != text:
                with open(os.path.join(rtl_tree.ROOT, name), "w", encoding="utf-8") as f:
                    f.write(fits)
        run = subprocess.run([tool, "--style=file", *how, *names], cwd=rtl_tree.ROOT, check=True, capture_output=True, text=True)
    found = re.findall(r"^(.*:\d+):\d+: warning: code should be clang-formatted", run.stderr, re.M)
    errors = [f"{where}: not as clang-format has it; tools/check_format.py --fix" for where in dict.fromkeys(found)]
    for name in names:
        errors += too_long(name, rtl_tree.read(name))
    sys.exit(rtl_tree.report("check_format", errors))


if __name__ == "__main__":
    main()
