#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Standalone contexts count what all queues of a GPU do: the counts are those counted by hand."""
from clients import client
from support import *


@case
def each_legal_order_of_calls_has_its_values():
    for tools in (True, False):
        client("sampling", "sequences", tools=tools)


@case
def groups_of_several_runs_are_saved_and_loaded():
    client("sampling", "groups")


@case
def handler_is_called_once_for_each_reset():
    client("sampling", "handler")


@case
def contexts_of_four_gpus_count_at_the_same_time():
    client("sampling", "gpus", gpus=4)
    r = client("sampling", "gpus", gpus=4, trace=RTL)
    complete(r)
    intact(r.db())


@case
def sequence_of_papi_works_for_every_event():
    client("sampling", "papi")


@case
def thread_traces_have_each_wave_and_report_overflow():
    client("sampling", "trace")
    tool = {"ROCP_TOOL_LIB": os.path.join(BUILD, "tests/librocprofiler_tool.so"), "TOOL_TRACE_SIZE": 16384}
    client("sampling", "overflow", env=tool)
    client("sampling", "overflow", env={**tool, "TOOL_TRACE_HOST": 1})


main()
