#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk without a GPU: exports, statuses, names, contexts, ids, markers; how tools are found."""
import csv

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
            # it configures kinds of which 1.0 shows nothing, and offers such a table twice
            unseen = "warn sdk: calls of rocjpeg are not shown to tools that have asked for them\n" if abi else ""
            equal("stderr", re.sub(r"^rtl\[\d+\] ", "", r.err), unseen)


# What AMD's library has beside the functions of prototypes.csv: for runtimes, and experimental.
BESIDES = {
    0: {"OnLoad", "OnUnload", "rocprofiler_set_api_table", "rocprofiler_configure_agent_thread_trace_service",
        "rocprofiler_configure_dispatch_thread_trace_service"},
    1: {"OnLoad", "OnUnload", "rocprofiler_set_api_table", "rocprofiler_attach", "rocprofiler_configure_device_thread_trace_service",
        "rocprofiler_configure_dispatch_thread_trace_service", "rocprofiler_configure_spm_device_counting_service",
        "rocprofiler_configure_spm_service", "rocprofiler_iterate_runtime_registration_info",
        "ompt_start_tool", "rocprofiler_spm_configure_buffer_dispatch_service",
        "rocprofiler_spm_configure_callback_dispatch_service", "rocprofiler_spm_create_counter_config",
        "rocprofiler_spm_destroy_counter_config", "rocprofiler_spm_iterate_agent_supported_counters",
        "rocprofiler_spm_query_agent_configurations", "rocprofiler_thread_trace_decoder_codeobj_load",
        "rocprofiler_thread_trace_decoder_codeobj_unload", "rocprofiler_thread_trace_decoder_create",
        "rocprofiler_thread_trace_decoder_destroy", "rocprofiler_thread_trace_decoder_info_string", "rocprofiler_trace_decode"},
}


def table(name):
    with open(os.path.join(SOURCE, "codegen/models/sdk", name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


@case
def every_function_of_amds_libraries_is_exported():
    for abi in ABIS:
        functions = {r["function"] for r in table("prototypes.csv") if str(abi) in r["abis"]}
        # the tool's own
        functions.remove("rocprofiler_configure")
        equal(f"exports of ABI {abi}", exports(f"librocprofiler-sdk.so.{abi}"), sorted(functions | BESIDES[abi]))
        marks = {r["name"] for r in table("operations.csv")
                 if str(abi) in r["abis"] and r["table"] in ("marker_core", "marker_control", "marker_name")}
        equal("number of functions of roctx", len(marks), 12)
        equal(f"exports of roctx, ABI {abi}", exports(f"librocprofiler-sdk-roctx.so.{abi}"), sorted(marks))


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


def registered(abi, *args):
    r = run(os.path.join(BUILD, "tests", f"sdk_registered_{abi}"), *args, status=None)
    equal(f"stdout, ABI {abi}, {args}", r.out, "0 wrong\n")
    equal("stderr", r.err, "")
    ended(r, 0)


@case
def tables_of_a_runtime_that_registers_itself_show_its_calls():
    for abi in ABIS:
        for nr in (37, 38, 41):
            registered(abi, f"rccl={nr}")


@case
def tables_offered_to_amds_rocprofiler_register_show_their_calls():
    path = "/usr/lib/x86_64-linux-gnu/librocprofiler-register.so.0"
    if not os.path.exists(path):
        skip(f"this suite has no {path}")
    for abi in ABIS:
        registered(abi, "real", "rccl=41")


main()
