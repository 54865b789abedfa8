#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a fresh extraction from the installed headers with the recorded model.

Usage: check_model.py [--cc CC] --include DIR MODEL
MODEL: a recorded extraction of HSA (hsa.json), or the recorded model of all releases of HIP (hip.json).
Exit:  0 the same, 1 different (a diff is printed), 77 nothing to compare with.
"""

import argparse
import difflib
import json
import os
import sys

import emit_hsa_table
import extract
import extract_hip
import hip_model

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
    parser.add_argument("model")
    args = parser.parse_args()
    is_hip = os.path.basename(args.model) == "hip.json"
    header = "hip/amd_detail/hip_prof_str.h" if is_hip else "hsa/hsa_api_trace.h"
    if not os.path.exists(os.path.join(args.include, header)):
        print("no %s installed" % header)
        return 77
    try:
        fresh = (extract_hip if is_hip else extract).extract(args.cc, args.include)
    except extract.ExtractError as err:
        print("extraction failed: %s" % err)
        return 1
    recorded = hip_model.load_all(args.model) if is_hip else [emit_hsa_table.load(args.model)]
    reasons = [other_release(model, fresh) for model in recorded]
    recorded = [model for model, why in zip(recorded, reasons) if not why]
    if not recorded:
        why = reasons[-1]
        print("headers of another release: %s" % why)
        return 77
    if fresh == recorded[0]:
        return 0
    lines = [json.dumps(model, indent=1, sort_keys=True).splitlines() for model in (recorded[0], fresh)]
    diff = list(difflib.unified_diff(*lines, args.model, "installed headers", lineterm="", n=2))
    print("\n".join(diff[:SHOWN]))
    print("%d lines of diff; if the new one is right: %s"
          % (len(diff), "extract_hip.py --record" if is_hip else "extract.py -o " + args.model))
    return 1


if __name__ == "__main__":
    sys.exit(main())
