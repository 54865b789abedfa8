#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What rocprofiler refuses, each with a status and a text, and what it knows."""
from clients import client
from support import *

METRICS = """# a user's
#include "more.xml"
<gfx9 base="gfx9_more">
  <metric name=MY_WAVES block=SQ event=4 descr="waves" ></metric>
</gfx9>
<global>
  <metric name=MyNine expr=16-10-3*MY_WAVES/MY_WAVES descr="9: what is behind a minus is its right side" ></metric>
</global>
"""


@case
def each_wrong_input_has_a_status_and_a_text():
    for tools in (True, False):
        client("api", "bad", tools=tools)


@case
def counters_traces_and_queries_are_as_documented():
    client("api", "info", gpus=2)


@case
def hooks_of_roctracer_have_events_and_refuse_samples():
    client("api", "hooks")


@case
def times_of_other_clocks_are_within_the_error():
    client("api", "times")


@case
def headers_are_valid_cxx_with_the_layouts_of_amd():
    client("layout_cxx")


@case
def files_of_metrics_are_read_with_the_old_rules():
    folder = new_dir("metrics")
    path = os.path.join(folder, "metrics.xml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(METRICS)
    with open(os.path.join(folder, "more.xml"), "w", encoding="utf-8") as f:
        f.write("<gfx9_more>\n<metric name=MY_GRBM block=GRBM event=0 ></metric>\n</gfx9_more>\n")
    # two counters, a metric, five constants
    r = client("api", "metrics", env={"ROCP_METRICS": path})
    contains("output", r.out, "metrics 8\n")
    r = client("api", "metrics", env={"ROCP_METRICS": path + ".none"})
    contains("error", r.out, "xml error: ")
    contains("error", r.out, "metrics.xml.none")


main()
