#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libroctracer64 without a GPU: exported names, every status, names, pools, ids, start and stop."""
import re

from support import *

NODE_40 = """
roctracer_version_major roctracer_version_minor roctracer_error_string roctracer_op_string roctracer_op_code
roctracer_set_properties roctracer_get_timestamp roctracer_enable_op_callback roctracer_enable_domain_callback
roctracer_enable_callback roctracer_disable_op_callback roctracer_disable_domain_callback roctracer_disable_callback
roctracer_enable_op_activity_expl roctracer_enable_domain_activity_expl roctracer_enable_activity_expl
roctracer_disable_op_activity roctracer_disable_domain_activity roctracer_disable_activity roctracer_open_pool_expl
roctracer_close_pool_expl roctracer_default_pool_expl roctracer_flush_activity_expl
roctracer_activity_push_external_correlation_id roctracer_activity_pop_external_correlation_id roctracer_start
roctracer_stop roctracer_mark roctracer_load roctracer_unload roctracer_flush_buf
""".split()
NODE_41 = """
roctracer_open_pool roctracer_close_pool roctracer_default_pool roctracer_enable_op_activity
roctracer_enable_domain_activity roctracer_enable_activity roctracer_flush_activity roctracer_next_record
""".split()


@case
def exports_match_soname_and_version_nodes():
    want = [f"{n}@@ROCTRACER_4.0" for n in NODE_40 + ["OnLoad", "OnUnload"]]
    want += [f"{n}@@ROCTRACER_4.1" for n in NODE_41 + ["HSA_AMD_TOOL_PRIORITY"]]
    equal("libroctracer64.so.4", exports("libroctracer64.so.4"), sorted(want))
    equal("libroctracer64.so.1", exports("libroctracer64.so.1"), sorted(NODE_40 + NODE_41))
    for name in ("libroctracer64.so.4", "libroctracer64.so.1"):
        equal(f"SONAME of {name}", dynamic(name, "SONAME"), [name])


@case
def version_node_4_1_inherits_4_0():
    out = subprocess.run(["readelf", "-VW", os.path.join(LIB, "libroctracer64.so.4")], check=True,
                         capture_output=True, text=True).stdout
    contains("version definitions", re.sub(r"\s+", " ", out), "Cnt: 2 Name: ROCTRACER_4.1")
    contains("version definitions", out, "Parent 1: ROCTRACER_4.0")


def client(name, **kwargs):
    r = run(os.path.join(BUILD, "tests", name), status=None, **kwargs)
    equal(f"stdout of {name}", r.out, "0 wrong\n")
    ended(r, 0)
    equal(f"stderr of {name}", r.err, "")
    return r


@case
def each_function_returns_statuses_of_rocm_5_4():
    r = client("roctracer_api", trace=PLAIN)
    equal("files beside the program's", sorted(os.listdir(r.dir)), ["stderr", "stdout"])


@case
def each_function_returns_statuses_of_rocm_5_2():
    client("roctracer_api_old", trace=PLAIN)


@case
def traced_client_gets_the_same_statuses():
    for name in ("roctracer_api", "roctracer_api_old"):
        r = client(name, trace=RTL)
        equal("markers", r.value("select count(*) from rtl_marker where message not in "
                                 "('a text that is not kept', 'another')"), 7)


@case
def records_lost_without_memory_are_counted_in_trace():
    """The program loses 16 records twice, and gets an error each time. Its launches, of a HIP without a GPU, have no operations."""
    r = client("roctracer_records", trace=RTL)
    equal("losses", {reason: n for reason, n in r.losses().items() if reason != "no_tables"}, {"pool_memory": 32})
    contains("rtl info", r.info(), "pool_memory")
    contains("rtl info", r.info(), "no_tables")


@case
def both_generations_work_in_one_process():
    code = (
        "import ctypes; a = ctypes.CDLL('libroctracer64.so.4'); b = ctypes.CDLL('libroctracer64.so.1'); "
        "print(a.roctracer_disable_domain_callback(4), b.roctracer_disable_domain_callback(4), "
        "a.roctracer_version_minor(), b.roctracer_version_minor())"
    )
    r = run("/usr/bin/env", "python3", "-c", code, trace=PLAIN, env={"LD_LIBRARY_PATH": f"{LIB}:{VGPU_DIR}"})
    equal("stdout", r.out, "-2 4 1 0\n")


main()
