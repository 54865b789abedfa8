#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py OUT.c FILE.sql... - the questions of rtl fleet as an array of texts, in the order of the files"""
import os
import sys


def literal(text):
    return "\n".join('\t  "' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '\\n"' for line in text.splitlines())


def main():
    out, *names = sys.argv[1:]
    rows = []
    for name in names:
        with open(name, encoding="utf-8") as f:
            rows.append(f'\t{{ "{os.path.splitext(os.path.basename(name))[0]}",\n{literal(f.read())} }},\n')
    with open(out, "w", encoding="utf-8") as f:
        f.write('/* Made by src/fleet/embed.py. */\n#include "fleet/fleet_ask.h"\n\nconst struct fleet_text fleet_texts[] = {\n' + "".join(rows) + "\t{ 0 },\n};\n")


if __name__ == "__main__":
    main()
