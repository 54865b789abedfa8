#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk's buffers: statuses, threads, records of calls; nothing lost, nothing twice."""
from support import *

ABIS = (0, 1)
LONG = os.environ.get("RTL_TEST_LONG")


def program(name):
    return os.path.join(BUILD, "tests", name)


@case
def every_status_and_rule_of_buffers_is_as_documented():
    for abi in ABIS:
        r = run(program(f"sdk_buffers_{abi}"), status=None)
        equal(f"stdout of sdk_buffers_{abi}", r.out, "0 wrong\n")
        ended(r, 0)
        equal("stderr", r.err, "")


@case
def storm_of_calls_loses_and_doubles_nothing():
    for abi in ABIS:
        # four contexts, stopped a part of the time
        r = run(program(f"sdk_storm_{abi}"), f"calls={640000 if LONG else 10000}", f"seed={os.environ.get('RTL_TEST_SEED', 1)}",
                status=None, timeout=900)
        contains(f"stdout of sdk_storm_{abi}", r.out, "\n0 wrong\n")
        ended(r, 0)
        equal("stderr", r.err, "")
        lines = [l.split() for l in r.out.splitlines() if "records in" in l]
        equal("contexts", [l[0] for l in lines], ["lossless:", "discard:"] * 2)
        for l in lines:
            at_least(f"calls of a context that is {l[0]}", int(l[1]), 100)


main()
