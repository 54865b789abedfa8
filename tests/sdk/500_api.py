#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk without a GPU: statuses, names, contexts, ids, markers; how tools are found."""
from support import *

VERSIONS = {0: 500, 1: 10000}
ABIS = sorted(VERSIONS)


def program(name):
    return os.path.join(BUILD, "tests", name)


def library(abi):
    return os.path.join(LIB, f"librocprofiler-sdk.so.{abi}")


def tool(name, abi):
    return program(f"libsdk_tool_{name}_{abi}.so")


def said(name, abi, priority, marks=2, status=-1):
    """The lines of a tool."""
    lines = [f"version {VERSIONS[abi]}", f"priority {priority}", "initialize 1", "context 0", "service 0", "start 0"]
    return [f"{name}: {l}" for l in lines + ["enter 0", "exit 0"] * marks + [f"finalize {status}"]]


def lines_of(r, name):
    return [l for l in r.out.splitlines() if l.startswith(f"{name}:")]


def marker_app(**env):
    r = run(program("marker_app"), env=env)
    contains("stdout", r.out, "done\n")
    return r


def each_abi(function):
    for abi in ABIS:
        function(abi)


@case
def every_status_name_and_context_rule_is_as_documented():
    for abi in ABIS:
        for args in ((), ("force",), ("force", "null")):
            r = run(program(f"sdk_api_{abi}"), *args, status=None)
            equal(f"stdout of sdk_api_{abi}", r.out, "0 wrong\n")
            ended(r, 0)
            equal("stderr", r.err, "")


@case
def preloaded_tool_is_found():
    def check(abi):
        r = marker_app(LD_PRELOAD=tool("a", abi))
        equal("lines", lines_of(r, "a"), said("a", abi, 0))
        equal("stderr", r.err, "")
    each_abi(check)


@case
def every_named_tool_is_found():
    def check(abi):
        r = marker_app(LD_PRELOAD=library(abi), ROCP_TOOL_LIBRARIES=f"{tool('a', abi)}:{tool('b', abi)}")
        equal("lines of a", lines_of(r, "a"), said("a", abi, 0))
        equal("lines of b", lines_of(r, "b"), said("b", abi, 1))
        equal("stderr", r.err, "")
    each_abi(check)


@case
def preloaded_and_named_tools_are_found_once():
    def check(abi):
        r = marker_app(LD_PRELOAD=f"{tool('b', abi)}:{tool('a', abi)}", ROCP_TOOL_LIBRARIES=tool("a", abi))
        equal("lines of a", lines_of(r, "a"), said("a", abi, 0))
        equal("lines of b", lines_of(r, "b"), said("b", abi, 1))
    each_abi(check)


@case
def tool_that_cannot_be_loaded_is_left_out_with_a_message():
    def check(abi):
        names = f"/nowhere/libtool.so:{library(abi)}:{tool('a', abi)}:"
        r = marker_app(LD_PRELOAD=library(abi), ROCP_TOOL_LIBRARIES=names)
        equal("lines", lines_of(r, "a"), said("a", abi, 0))
        contains("stderr", r.err, "ROCP_TOOL_LIBRARIES: /nowhere/libtool.so: not loaded")
        contains("stderr", r.err, f"{library(abi)}: no tool: it has no rocprofiler_configure()")
    each_abi(check)


@case
def program_without_a_tool_is_left_alone():
    def check(abi):
        r = marker_app(LD_PRELOAD=library(abi))
        equal("stdout", r.out, "done\n")
        equal("stderr", r.err, "")
    each_abi(check)


@case
def constructor_initialises_tools_if_asked_to():
    def check(abi):
        r = run("/bin/true", env={"LD_PRELOAD": tool("a", abi), "ROCPROFILER_LIBRARY_CTOR": "1"})
        equal("lines", lines_of(r, "a"), said("a", abi, 0, marks=0))
    each_abi(check)


main()
