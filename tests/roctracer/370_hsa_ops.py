#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HSA_OPS: records of the kernels and copies of a program of HSA's alone."""
import collections

from support import *

TODAY = ("hsa_ops", os.path.join(LIB, "libroctracer64.so.4"))
OLD = ("hsa_ops_old", os.path.join(BUILD, "tests/libroctracer_old_tool.so"))


class Client:
    """The records of a run, until the program stopped tracing: (begin, end) by the rest of the line."""

    def __init__(self, *args, which=TODAY, trace=PLAIN, **kwargs):
        path = built(which[0], HSA_HEADERS)
        built("hsa_kernels.co")
        env = {"HSA_TOOLS_LIB": which[1]}
        if trace == PLAIN:
            env["LD_LIBRARY_PATH"] = f"{VGPU_DIR}:{LIB}"
        self.run = run(path, *args, trace=trace, env=env, **kwargs)
        equal("stderr", self.run.err, "")
        lines = self.run.out.splitlines()
        equal("after the stop", lines[lines.index("-- stopped"):], ["-- stopped", "wrong 0"])
        self.times = collections.defaultdict(list)
        for line in lines[:lines.index("-- stopped")]:
            op, begin, end, *rest = line.split()
            self.times[" ".join([op, *rest])].append((int(begin), int(end)))
        self.counts = {what: len(times) for what, times in self.times.items()}


COPY = {"COPY bytes 1024": 1}


def kernels(device):
    return {f"DISPATCH device {device} flood_short": 5, f"DISPATCH device {device} flood_long": 3}


@case
def kernels_and_copies_have_records_of_rocm_5_4():
    equal("records", Client().counts, {**kernels(1), **COPY})


@case
def kernels_and_copies_have_records_of_rocm_5_2():
    equal("records", Client(which=OLD).counts, {"DISPATCH device 0": 8, **COPY})


@case
def kernel_record_has_device_of_its_queue():
    equal("node", Client("gpu=1", gpus=2).counts, {**kernels(2), **COPY})
    equal("index", Client("gpu=1", gpus=2, which=OLD).counts, {"DISPATCH device 1": 8, **COPY})


@case
def operation_enabled_alone_has_records():
    equal("kernels", Client("op=0").counts, kernels(1))
    equal("copies", Client("op=1").counts, COPY)


@case
def records_have_the_times_of_the_trace():
    client = Client(trace=RTL)
    equal("records", client.counts, {**kernels(1), **COPY})
    for name in ("flood_short", "flood_long"):
        rows = client.run.rows(f"select begin_ns, end_ns from rtl_dispatch where kernel like '{name}%' order by begin_ns")
        equal(f"times of {name}", sorted(client.times[f"DISPATCH device 1 {name}"]), rows[:5])


@case
def process_with_hip_has_no_kernel_records():
    hip = os.path.join(BUILD, "tests/fake_hip/libamdhip64.so.5")
    equal("records", Client(f"hip={hip}").counts, COPY)


main()
