#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seeds.py - the first inputs of the fuzzers of commands

Usage: seeds.py spool TRACES OUT	raw traces that make_seeds has made, as directories of spools
       seeds.py drain TRACES OUT	the same, as halves and steps of fuzz_drain.c
       seeds.py reply - OUT	answers of a process
       seeds.py input SOURCE OUT	files that say what to count
"""
import os
import struct
import sys

FILES = ("100.rtl", "100.mem", "101.rtl", "101.mem", "unfinished", "part.db", "next.db", "part.db-journal", "log.100", "log.200", "try", "102.rtl")
COMMANDS = 15  # of fuzz_spool.c
VALID = 128

INPUTS = {  # by the number of the reader in fuzz_input.c
    0: ["# a comment\npmc : SQ_WAVES, SQ_INSTS_VALU\npmc : TCC_HIT_sum\nrange : 1:4\ngpu : 0 1\nkernel : gemm conv\n",
        "pmc: TCC_HIT[3] SQ:4\nrange: 1\n"],
    1: ['<metric name=SQ_WAVES,SQ_INSTS_VALU gpu_index="0,1" kernel="gemm,conv" range="1:4" ></metric>\n',
        '<!-- x --><metric name=SQ_WAVES />\n'],
    2: ['{"jobs": [{"pmc": ["SQ_WAVES"], "kernel_include_regex": "gemm|conv", "kernel_iteration_range": "[1-2],[5]"}]}',
        '{"jobs":[{"pmc":["A","B"],"kernel_exclude_regex":""},{"pmc":[]}]}'],
    3: ["jobs:\n  - pmc: [SQ_WAVES]\n    kernel_exclude_regex: conv\n  - pmc:\n      - GRBM_COUNT\n",
        "\"jobs\":\n- {pmc: [A, \"B\"], 'kernel_include_regex': 'x'}\n"],
    4: ["pmc: SQ_WAVES\npmc: GRBM_COUNT\n"],
    5: ['{"jobs":[{"pmc":["SQ_WAVES"],"kernel_trace":true,"output_directory":"@CWD/%pid%","output_file":"out","output_format":["csv","json"],'
        '"truncate_kernels":true,"kernel_include_regex":"a.*","kernel_iteration_range":"[1-2]"}]}'],
    6: ["jobs:\n  - pmc: [SQ_WAVES, GRBM_COUNT]\n    kernel_trace: true\n    output_format: [csv, json]\n    sys_trace: 'on'\n"],
    7: ['<gfx90a><metric name=A block=SQ event=4 descr="x"></metric></gfx90a>\n<global><metric name=B expr=100*A/GRBM_COUNT rules=v1></metric></global>\n',
        '#include "a.xml"\n<gfx9 base="gfx90a"><metric name=C block=TA event=15 /></gfx9>\n'],
    8: ["rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n    - name: BUSY\n      description: x\n      definitions:\n"
        "        - architectures: [gfx90a]\n          expression: reduce(GRBM_GUI_ACTIVE,max)*CU_NUM\n"
        "        - architectures: [gfx90a]\n          block: CPC\n          event: 25\n"],
    9: ["#!/usr/bin/env -S A=b python3 -x\n", "#!/bin/sh\r\n", "#! ./a.out\n"],
}


NAMES_AT, NAME_SIZE = 112, 512  # of spool_header: mem_path, disk_path


def named(data, mem=b"", disk=b""):
    """With the names of its halves; @ is the run's directory."""
    return data[:NAMES_AT] + mem.ljust(NAME_SIZE, b"\0") + disk.ljust(NAME_SIZE, b"\0") + data[NAMES_AT + 2 * NAME_SIZE:]


def bare(mem):
    """A memory half without the zeros at its end."""
    return mem.rstrip(b"\0") + bytes(8)


def spool(traces, out):
    def trace(name):
        with open(os.path.join(traces, name), "rb") as file:
            return file.read()[1:]

    def part(name, data, valid=0):
        return struct.pack("<BH", FILES.index(name) | valid, len(data)) + data

    def put(name, command, *parts):
        with open(os.path.join(out, name), "wb") as file:
            file.write(bytes([command]) + b"".join(parts))

    kinds = {name: trace(name) for name in ("sample", "calls", "rest", "counters")}
    for name, data in kinds.items():
        for command in range(COMMANDS):
            put(f"{name}-{command}", command, part("100.rtl", data[:65535], VALID))
    mem = trace("mem-alone")
    disk = trace("halves")[:-len(mem)]
    mem = bare(mem)
    for command in range(COMMANDS):
        for number, where in enumerate((b"@/out/a.db.spool/100.mem", b"@/victim", b"@/in/1.mem")):
            put(f"halves-{number}-{command}", command, part("100.rtl", named(disk, where)[:65535]), part("100.mem", named(mem, where)[:65535]))
        put(f"two-{command}", command, part("100.rtl", kinds["sample"][:65535]), part("101.rtl", kinds["calls"][:65535]), part("log.100", b"a line\n"))
        for number, lines in enumerate((b"../victim\na.db.spool/next.db\nx.db\n", b"../victim\n../victim\na.db.spool/x\n", b"a.db.spool/part.db\n")):
            put(f"unfinished-{number}-{command}", command, part("100.rtl", kinds["sample"][:65535]), part("unfinished", lines), part("part.db", b"x"))
        put(f"link-{command}", command, part("100.rtl", kinds["sample"][:65535]), part("102.rtl", b"../../victim"))


def drain(traces, out):
    def trace(name):
        with open(os.path.join(traces, name), "rb") as file:
            return file.read()[1:]

    mem = bare(trace("mem-alone"))
    take, run, final, look, evict, flight, follow, header, waiting, give, finish = range(11)
    for name in ("sample", "calls", "rest", "counters", "v2-api", "v2-program"):
        disk = trace(name)[:65535]
        for number, steps in enumerate(([take, run, follow, final, finish], [follow, take, flight + 11, evict + 55, evict + 231, final, follow, finish],
                                        [take, run, look, waiting, header, give, take, run, evict + 121, follow, final, finish])):
            with open(os.path.join(out, f"{name}-{number}"), "wb") as file:
                file.write(bytes([1, len(steps), *steps]) + struct.pack("<H", len(disk)) + disk + mem)


def reply(_, out):
    """Each command, with answers that name files as the raw trace."""
    for command in range(10):
        for number, path in enumerate((b"@/out/x.spool/1.rtl", b"../victim", b"@/victim", b"@/in/1.rtl", b"@/out/x.spool/../../in/1.rtl", b"x.spool/1.rtl", b"/dev/null")):
            for state in (2, 3):
                change = bytes([0, 2, 16, state, 113, len(path)]) + path  # state; spool
                with open(os.path.join(out, f"{command}-{number}-{state}"), "wb") as file:
                    file.write(bytes([command]) + change * 3)


def inputs(source, out):
    for reader, texts in INPUTS.items():
        for number, text in enumerate(texts):
            with open(os.path.join(out, f"{reader}-{number}"), "wb") as file:
                file.write(bytes([reader]) + text.encode())
    with open("/bin/true", "rb") as file:
        program = file.read()
    with open(os.path.join(out, "program"), "wb") as file:
        file.write(b"\11" + program[:60000])
    metrics = os.path.join(source, "src/counter/data/metrics.csv")
    with open(metrics, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines()[1:40]):
            with open(os.path.join(out, f"metric-{number}"), "wb") as into:
                formula = line.split(",", 2)[2].strip('"')
                into.write(b"\7<gfx90a><metric name=B expr=" + formula.encode() + b"></metric></gfx90a>\n")


if __name__ == "__main__":
    {"spool": spool, "drain": drain, "reply": reply, "input": inputs}[sys.argv[1]](sys.argv[2], sys.argv[3])
