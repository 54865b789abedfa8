#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The call sequences of tools that people use, with HIP on the virtual GPU: what they get is what the GPU did; each alone and all at once."""
from support import *

LAUNCHES = 5
COPY = 65536 * 4
# how each gets into the process: its library is preloaded, named by ROCP_TOOL_LIBRARIES, or loaded by the program
PRELOADED = ("kineto", "xla", "rpd", "tau")
NAMED = ("rocprofsys", "caliper")
LOADED = ("proton", "papi")
ALL = PRELOADED + NAMED + LOADED


def library(client):
    return os.path.join(BUILD, "tests", f"libsdk_client_{client}.so")


class Said:
    """What the clients printed: name -> lines of words."""

    def __init__(self, r):
        self.run, self.lines = r, collections.defaultdict(list)
        for line in r.out.splitlines():
            name, colon, text = line.partition(": ")
            if colon:
                self.lines[name].append(text)

    def of(self, client, word):
        """The words behind `word` of each line that begins with it."""
        return [l.split()[1:] for l in self.lines[client] if l.split()[0] == word]


def work(*clients, sessions=1, trace=PLAIN, **env):
    """A run with these clients."""
    path = os.path.join(BUILD, "tests", "sdk_client_app")
    if not os.path.exists(path):
        skip("sdk_client_app was not built: hipcc is not installed")
    sdk = os.path.join(LIB, "librocprofiler-sdk.so.1")
    full = {"LD_PRELOAD": ":".join([library(c) for c in clients if c in PRELOADED] + [sdk]),
            "ROCP_TOOL_LIBRARIES": ":".join(library(c) for c in clients if c in NAMED), **env}
    if trace == PLAIN:
        full["LD_LIBRARY_PATH"] = f"{VGPU_DIR}:{LIB}"
    else:
        full["LD_LIBRARY_PATH"] = LIB
    args = [f"load={library(c)}" for c in clients if c in LOADED] + [f"client={library(c)}" for c in clients]
    r = run(path, f"sessions={sessions}", f"launches={LAUNCHES}", "copies=1", *args, trace=trace, env=full)
    contains("stdout", r.out, "done\n")
    equal("stderr", r.err, "")
    said = Said(r)
    for c in clients:
        equal(f"what is wrong with {c}", [l for l in said.lines[c] if l.startswith("wrong")], ["wrong 0"])
    return said


@case
def papi_finds_its_functions_and_accepts_that_there_are_no_counters():
    said = work("papi")
    equal("lines", said.lines["papi"], ["functions 25, gpus 1, counters 0, pauses 0", "wrong 0"])


main()
