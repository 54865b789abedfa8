#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a fresh extraction from the installed headers with the recorded model.

Usage: check_model.py [--cc CC] --include DIR hsa.json
Exit:  0 the same, 1 different (a diff is printed), 77 nothing to compare with.
"""

import argparse
import difflib
import json
import os
import sys

from extract import ExtractError, extract

SHOWN = 60  # lines of diff


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", required=True)
    parser.add_argument("model")
    args = parser.parse_args()
    if not os.path.exists(os.path.join(args.include, "hsa", "hsa_api_trace.h")):
        print("no HSA headers installed")
        return 77
    with open(args.model, encoding="utf-8") as f:
        recorded = f.read()
    try:
        fresh = extract(args.cc, args.include)
    except ExtractError as err:
        print("extraction failed: %s" % err)
        return 1
    if fresh["tables"] != json.loads(recorded)["tables"]:
        sizes = [16 + 8 * len(t["tables"]["amd_ext"]) for t in (json.loads(recorded), fresh)]
        if sizes[0] != sizes[1]:
            print("headers of another release: amd_ext has %d bytes, the model %d"
                  % (sizes[1], sizes[0]))
            return 77
    text = json.dumps(fresh, indent=1, sort_keys=True) + "\n"
    if text == recorded:
        return 0
    diff = list(difflib.unified_diff(recorded.splitlines(), text.splitlines(), args.model,
                                     "installed headers", lineterm="", n=2))
    print("\n".join(diff[:SHOWN]))
    print("%d lines of diff; if the new one is right: extract.py -o %s" % (len(diff), args.model))
    return 1


if __name__ == "__main__":
    sys.exit(main())
