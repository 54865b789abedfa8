#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a fresh extraction from the installed headers with the recorded model.

Usage: check_model.py [--cc CC] --include DIR hsa.json|hip.json
Exit:  0 the same, 1 different (a diff is printed), 77 nothing to compare with.
"""

import argparse
import difflib
import json
import os
import sys

import extract
import extract_hip

SHOWN = 60  # lines of diff


def other_release(recorded, fresh):
    """Why the two can't be compared; None: they can."""
    if "tables" in recorded and fresh["tables"] != recorded["tables"]:
        sizes = [16 + 8 * len(t["tables"]["amd_ext"]) for t in (recorded, fresh)]
        if sizes[0] != sizes[1]:
            return "amd_ext has %d bytes, the model %d" % (sizes[1], sizes[0])
    if "version" in recorded and fresh["version"] != recorded["version"]:
        return "HIP %s, the model %s" % (fresh["version"], recorded["version"])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", required=True)
    parser.add_argument("models", nargs="+", help="that of the headers' release is looked for")
    args = parser.parse_args()
    is_hip = os.path.basename(args.models[0]) == "hip.json"
    header = "hip/amd_detail/hip_prof_str.h" if is_hip else "hsa/hsa_api_trace.h"
    if not os.path.exists(os.path.join(args.include, header)):
        print("no %s installed" % header)
        return 77
    try:
        fresh = (extract_hip if is_hip else extract).extract(args.cc, args.include)
    except extract.ExtractError as err:
        print("extraction failed: %s" % err)
        return 1
    why = ""
    for model in args.models:
        with open(model, encoding="utf-8") as f:
            recorded = f.read()
        why = other_release(json.loads(recorded), fresh)
        if not why:
            break
    if why:
        print("headers of another release: %s" % why)
        return 77
    text = json.dumps(fresh, indent=1, sort_keys=True) + "\n"
    if text == recorded:
        return 0
    diff = list(difflib.unified_diff(recorded.splitlines(), text.splitlines(), model,
                                     "installed headers", lineterm="", n=2))
    print("\n".join(diff[:SHOWN]))
    print("%d lines of diff; if the new one is right: %s -o %s"
          % (len(diff), "extract_hip.py" if is_hip else "extract.py", model))
    return 1


if __name__ == "__main__":
    sys.exit(main())
