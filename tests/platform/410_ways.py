# SPDX-License-Identifier: MIT
"""410_ways.py - how librtl.so gets into a runtime of this version

HSA_TOOLS_LIB is looked at by all of them. From 5.3 on the runtime also asks every library of the process for
HSA_AMD_TOOL_PRIORITY, so that a preloaded librtl.so is found without the variable. Either way it is one tool, once.
"""
import glob
import os

from support import *

# 5.0 to 5.2 as Debian and as AMD number their libraries
OLD = glob.glob("/usr/lib/*/libhsa-runtime64.so.1.5.0") + glob.glob("/opt/rocm*/lib/libhsa-runtime64.so.1.5.50[012]*")


def traced(env):
    r = run("launcher", "launches=40", trace=TOOLS, env=env)
    at_least("dispatches that the virtual GPU had", len(r.log("dispatch")), 40)
    return r


def all_there_once(r):
    complete(r)
    equal("dispatches in the trace", r.count("rtl_dispatch"), len(r.log("dispatch")))


@case
def named_by_the_variable():
    all_there_once(traced({}))


@case
def found_by_its_symbol():
    r = traced({"HSA_TOOLS_LIB": None, "LD_PRELOAD": LIBRTL})
    if OLD:
        equal("a database is there", os.path.exists(r.output), False)
    else:
        all_there_once(r)


@case
def both_ways_at_once():
    all_there_once(traced({"LD_PRELOAD": LIBRTL}))


main()
