# SPDX-License-Identifier: MIT
"""410_ways.py - how a runtime of this version loads librtl.so

All versions read HSA_TOOLS_LIB. From 5.3 on the runtime also looks HSA_AMD_TOOL_PRIORITY up in every library of the
process, so that it finds a preloaded librtl.so without the variable; for earlier ones librtl's hsa_init() sets it. Both ways
together load it once.
"""
from support import *


def traced(env):
    r = run("launcher", "launches=40", trace=TOOLS, env=env)
    at_least("dispatches in the log", len(r.log("dispatch")), 40)
    return r


def each_dispatch_once(r):
    complete(r)
    equal("dispatches in the trace", r.count("rtl_dispatch"), len(r.log("dispatch")))


@case
def tools_lib_variable_loads_librtl():
    each_dispatch_once(traced({}))


@case
def preloaded_librtl_is_found_by_symbol():
    r = traced({"HSA_TOOLS_LIB": None, "LD_PRELOAD": LIBRTL})
    each_dispatch_once(r)


@case
def both_ways_load_librtl_once():
    each_dispatch_once(traced({"LD_PRELOAD": LIBRTL}))


main()
