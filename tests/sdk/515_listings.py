#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk: the listings of the specification's callbacks, as a tool; 510_hip.py has the other ones."""
from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}


@case
def listings_time_calls_of_hip_and_report_errors_of_hsa():
    for abi in (0, 1):
        path = built(f"sdk_listings_client_{abi}")
        r = run(path, env=RUNTIME)
        equal(f"calls, ABI {abi}", r.out, "calls 12, of them 12 with a time\n")
        # 0x1004; runtimes ask agents for what they don't know, too
        contains("stderr", r.err, "[domain=HSA_CORE_API] hsa_agent_get_info returned a non-zero exit code: 4100\n")


main()
