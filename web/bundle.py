#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bundle.py - makes the pages of rtl report, rtl diff and rtl fleet of their sources: two C arrays for each, before and behind the data

The scripts are put one behind another, in the order of SCRIPTS, into one function, without their comments. The page's security policy has
the hashes of the script and of the style: nothing else runs, and nothing is loaded. No tool but Python is needed.
With a second name the report's page is also written as HTML, without data.
"""
import base64
import hashlib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Each uses only what those before it define, except in functions that run later.
SCRIPTS = ("format.js", "dom.js", "decode.js", "trace.js", "named.js", "colours.js", "table.js", "layout.js", "strip.js",
           "marks.js", "ranges.js", "picture.js", "timeline.js", "details.js", "histogram.js", "roofline.js", "overview.js", "address.js", "page.js")
# Only in pages with messages of MPI: a script of its own, which defines window.rtlMessages.
MESSAGES = "messages.js"
DIFF_SCRIPTS = ("format.js", "dom.js", "table.js", "diff.js")
FLEET_SCRIPTS = ("format.js", "dom.js", "colours.js", "table.js", "heatmap.js", "lanes.js", "fleet.js")
DATA = "<!-- DATA -->"


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def bare(text):
    """Without indentation, empty lines and comments, which would be a sixth of a page. No text of the scripts spans lines, and none has a comment in it."""
    text = re.sub(r"(?<=[;{},(\[])[\t ]+// [^\"`\n]*$", "", text, flags=re.MULTILINE)
    return re.sub(r"^(?:[\t ]*(?://.*|/\*.*\*/)?\n)*[\t ]*", "", text, flags=re.MULTILINE)


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def function_of(scripts):
    return '\n(() => {\n"use strict";\n' + bare("\n".join(read(name) for name in scripts)) + "})();\n"


def bundle(page_name, scripts, styles=("page.css",), command="", allowed=()):
    """A page's text before and behind the data. `command`: the one that writes it, for pages that share a frame; `allowed`: scripts that may be among the data."""
    script = function_of(scripts)
    style = "\n" + bare("\n".join(read(name) for name in styles))
    for text in (script, style, *allowed):
        assert "</" not in text, "an element may not be closed within the page's script or style"
    policy = f"default-src 'none'; script-src {' '.join(digest(text) for text in (script, *allowed))}; style-src {digest(style)}; img-src data:"
    page = read(page_name).replace("<!-- COMMAND -->", command)
    for mark, text in (("POLICY", policy), ("STYLE", f"<style>{style}</style>"), ("SCRIPT", f"<script>{script}</script>")):
        assert page.count(f"<!-- {mark} -->") == 1, mark
        page = page.replace(f"<!-- {mark} -->", text)
    head, tail = page.split(DATA)
    return head, tail


def c_array(name, text):
    data = text.encode()
    lines = [", ".join(str(b) for b in data[i:i + 24]) for i in range(0, len(data), 24)]
    return f"const unsigned char {name}[] = {{\n\t" + ",\n\t".join(lines) + f"\n}};\nconst size_t {name}_size = sizeof({name});\n"


def main():
    messages = function_of([MESSAGES])
    head, tail = bundle("page.html", SCRIPTS, allowed=[messages])
    diff_head, diff_tail = bundle("frame.html", DIFF_SCRIPTS, command="diff")
    fleet_head, fleet_tail = bundle("frame.html", FLEET_SCRIPTS, ("page.css", "fleet.css"), "fleet")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("/* Made by web/bundle.py of web/; do not edit. */\n#include \"export/report/page_internal.h\"\n#include \"export/report/page.h\"\n\n"
                   + "\n".join(c_array(name, text) for name, text in (("page_head", head), ("page_tail", tail), ("page_script", f"<script>{messages}</script>\n"),
                                                                      ("page_diff_head", diff_head), ("page_diff_tail", diff_tail),
                                                                      ("page_fleet_head", fleet_head), ("page_fleet_tail", fleet_tail))))
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(head + tail)


main()
