#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where AMD's library ends the process. Here: a status with a text, or a message, and the program goes on."""
from clients import client
from support import *


def with_metrics(text):
    path = os.path.join(new_dir("metrics"), "mine.xml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return client("ends", "metrics", env={"ROCP_METRICS": path}).out


@case
def trace_without_its_parameters():
    client("ends", "trace")


@case
def queue_callbacks_that_are_set_twice():
    client("ends", "callbacks")


@case
def malformed_element_in_the_metrics():
    contains("text", with_metrics("<gfx9>\n<metric name=A block=SQ event=4 descr=\"waves ></metric>\n</gfx9>\n"), "mine.xml:2: ")


@case
def unknown_base_in_the_metrics():
    contains("text", with_metrics("<gfx9 base=\"gfx_none\">\n<metric name=A block=SQ event=4 ></metric>\n</gfx9>\n"), "mine.xml:1: base=gfx_none: there is no such scope")


@case
def start_after_the_stop():
    client("ends", "order")


@case
def two_reads_before_the_data():
    client("ends", "reads")


@case
def kernel_that_no_code_object_has():
    client("ends", "object", env={"ROCP_HSA_INTERCEPT": 1})


@case
def error_of_a_queue():
    client("ends", "queue", env={"ROCP_HSA_INTERCEPT": 1})


def plug_in(part, library="rocprofiler_tool", **env):
    return client("ends", part, env={"ROCP_HSA_INTERCEPT": 1, "ROCP_TOOL_LIB": os.path.join(BUILD, "tests", f"lib{library}.so"),
                                     "TOOL_OUTPUT": os.path.join(new_dir("tool"), "seen"), **env})


@case
def hsa_call_that_fails_while_it_is_intercepted():
    plug_in("allocation", TOOL_HSA=1)


@case
def copies_and_hsa_calls_that_are_both_tracked():
    plug_in("allocation", TOOL_HSA=1, TOOL_COPIES=1)


@case
def plug_in_that_is_not_there():
    contains("message", plug_in("allocation", "no_such_tool").err, "no_such_tool.so: cannot open shared object file")


@case
def plug_in_without_its_functions():
    contains("message", plug_in("allocation", "rocprofiler_no_tool").err, "has no OnLoadTool() or OnLoadToolProp()")
    contains("message", plug_in("allocation", "rocprofiler_tool_broken").err, "has no OnUnloadTool()")


@case
def machine_without_aqlprofile():
    folder = new_dir("vgpu")
    for name in os.listdir(VGPU_DIR):
        if "aqlprofile" not in name:
            os.symlink(os.path.join(VGPU_DIR, name), os.path.join(folder, name))
    client("ends", "none", env={"LD_LIBRARY_PATH": f"{folder}:{LIB}"})


main()
