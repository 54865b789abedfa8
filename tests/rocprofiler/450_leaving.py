#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dispatch callbacks of rocprofiler's clients that do not return leave no lock and no turn behind."""
from clients import TOOL
from support.leaving import *


def dispatch(how):
    path = built("leaving_rocprofiler", HSA_HEADERS)
    built("hsa_kernels.co")
    env = {"HSA_TOOLS_LIB": TOOL, "LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}", "ROCP_HSA_INTERCEPT": 1, "VGPU_EXEC": "auto", "VGPU_COUNTERS": 1}
    check(run(path, f"how={how}", trace=PLAIN, env=env), how, kernels=True)


for each in HOWS:
    add_case(f"{each}_from_dispatch", functools.partial(dispatch, each))

main()
