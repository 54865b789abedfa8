#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl trace --pmc with users' metrics, with a choice of dispatches, and with a run of the program for each pass"""
import math

from support import *
from support import counted as reference

FLOOD = ("count=30", "kinds=dD")
METRICS = """# rocprof's form
<gfx9><metric name=MY_WAVES block=SQ event=4 descr="wavefronts" unit=wavefronts ></metric></gfx9>
<global>
<metric name=Mine expr=100*MY_WAVES/GRBM_COUNT descr="a \\"ratio\\"" unit=percent ></metric>
<metric name=Odd expr=SQ_WAVES-10-3 rules=v1 ></metric>
<metric name=Even expr="SQ_WAVES - 10 - 3" ></metric>
</global>
"""


def trace(*args, program_args=FLOOD, name="flood", output=None):
    output = output or os.path.join(new_dir("trace"), "t.db")
    r = rtl("trace", "--virtual-gpu", "-o", output, *args, "--", program(name), *program_args)
    return r, output


def values(path):
    """[{counter: value}] of each dispatch of the program, in the order of the packets"""
    out = collections.defaultdict(dict)
    for key, counter, value in open_db(path).execute(
            "select packet_index, counter, value from rtl_dispatch D join rtl_counter C using (op_id) order by 1"):
        out[key][counter] = value
    return list(out.values())


@case
def users_metrics_are_counted_listed_and_described():
    file = os.path.join(new_dir("metrics"), "my.xml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(METRICS)
    r, output = trace("--metrics-file", file, "--pmc", "Mine,Odd,Even,SQ_WAVES,GRBM_COUNT", "--keep-spool")
    ended(r, 0)
    os.unlink(file)  # the trace has what it needs
    for have in values(output):
        waves = have["SQ_WAVES"]
        equal("values", have, {"SQ_WAVES": waves, "GRBM_COUNT": have["GRBM_COUNT"], "Mine": 100 * waves / have["GRBM_COUNT"],
                               "Odd": waves - (10 - 3), "Even": waves - 10 - 3})
    equal("dispatches", len(values(output)), 30)
    db = open_db(output)
    equal("units", db.execute("select distinct counter, unit from rtl_counter order by 1").fetchall(),
          [("Even", ""), ("GRBM_COUNT", "cycles"), ("Mine", "percent"), ("Odd", ""), ("SQ_WAVES", "wavefronts")])
    summary = json.loads(rtl("summary", output, "--by", "counter", "-f", "json").out)
    equal("units in the summary", {s["unit"] for s in summary if s["counter"] == "Mine"}, {"percent"})
    again = os.path.join(new_dir("again"), "t.db")
    ended(rtl("recover", output + ".spool", "-o", again), 0)
    equal("recovered", values(again), values(output))


@case
def what_is_wrong_in_a_metrics_file_ends_rtl():
    file = os.path.join(new_dir("wrong"), "my.xml")
    for text, why in (("<global>\n<metric name=A expr=SQ_WAVS ></metric></global>", "my.xml:2: metric A: gfx900 has no counter 'SQ_WAVS'; did you mean 'SQ_WAVES'?"),
                      ("<global><metric name=A expr=1</global>", "my.xml:1: ")):
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        for r, status in ((trace("--metrics-file", file, "--pmc", "A")[0], 125),
                          (rtl("list-counters", "--gpu", "gfx900", "--metrics-file", file), 1)):
            equal("status", r.status, status)
            contains("message", r.err, why)
    r, _ = trace("--metrics-file", file)
    contains("message without --pmc", r.err, "--metrics-file is about counters")


@case
def dispatches_and_iterations_choose_what_is_counted():
    """flood_short and flood_long take turns: 30 dispatches, 15 of each."""
    for args, want in ((("--pmc-dispatches", "3:6"), [3, 4, 5]), (("--pmc-dispatches", "28:"), [28, 29]), (("--pmc-dispatches", "7"), [7]),
                       (("--pmc-iterations", "[1-2],[15]"), [0, 1, 2, 3, 28, 29]),
                       (("--pmc-dispatches", "0:2", "--pmc-iterations", "1"), [0, 1])):
        r, output = trace("--pmc", "SQ_WAVES", *args)
        ended(r, 0)
        db = open_db(output)
        rows = db.execute("select D.op_id, C.op_id is not null from rtl_dispatch D left join rtl_counter C using (op_id) "
                          "where not D.flags & 32 order by D.packet_index").fetchall()
        equal(f"counted with {args}", [i for i, row in enumerate(rows) if row[1]], want)
        equal("the file is as rtl wrote it", db.execute("select count(*) from rtl_loss").fetchone()[0], 0)
        equal("rtl info", "changed" in rtl("info", output).out, False)


@case
def program_runs_once_for_each_pass_and_each_dispatch_has_all_counters():
    names = [f"SQ:{n}" for n in (4, 26, 30, 31, 28, 27, 34, 38, 3, 25, 60, 61)] + ["FETCH_SIZE"]
    r, output = trace("--pmc", ",".join(names), "--passes=rerun", "--fail-on-loss")
    ended(r, 0)
    equal("runs", r.out.count("flood: 30 dispatches"), 2)
    contains("message", r.err, "30 dispatches have the counters of all 2 runs")
    equal("counters", [sorted(v) for v in values(output)], [sorted(names)] * 30)
    equal("files", os.listdir(os.path.dirname(output)), ["t.db"])
    # as the dispatches of a single run
    short = values(trace("--pmc", "SQ:60,SQ:4")[1])
    equal("values", [(v["SQ:60"], v["SQ:4"]) for v in values(output)], [(v["SQ:60"], v["SQ:4"]) for v in short])
    intact(open_db(output))


@case
def counters_and_metrics_of_gfx90a_equal_the_log():
    """Each counter that the virtual GPU feeds, each metric, vector instructions by kind, of each of the twelve kernels."""
    names = [*reference.LOGGED_GFX90A, *reference.metrics("gfx90a")]
    at_least("metrics", len(names), 140)
    r = run("reference", "rounds=12", trace=RTL, rtl_args=("--pmc", ",".join(names)), env={"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, "VGPU_ARCH": "gfx90a"})
    passes = int(re.search(r"gfx90a needs (\d+) passes", r.err)[1])
    at_most("passes", passes, 12)
    db = r.db()
    logged = {(d["begin"], d["end"]): d["counters"] for d in r.log("dispatch")}
    logs, kernels = {}, {}
    for op, kernel, begin, end in db.execute("select op_id, kernel, begin_ticks, end_ticks from rtl_dispatch"):
        logs[op], kernels[op] = logged.get((begin, end)), kernel
    seen, gpus = set(), {}
    for op, name, value in db.execute("select op_id, counter, value from rtl_counter"):
        if op not in gpus:
            gpus[op] = reference.gpu_of(logs[op], "gfx90a")
        want = reference.total(logs[op], name, "gfx90a") if name in reference.LOGGED_GFX90A else gpus[op].value(name)
        if not math.isclose(value, want, rel_tol=1e-9):
            fail(f"{name} of {kernels[op]}: {value}, not {want}")
        seen.add((kernels[op], name))
    equal("kernels and names that were not counted", {(k, n) for k in reference.NATURE for n in names} - seen, set())
    # 32 waves of ref_valu convert once, and fuse 40 multiplications and additions
    log = next(logs[op] for op, kernel in kernels.items() if kernel == "ref_valu")
    equal("kinds of ref_valu", (log["SQ_INSTS_VALU_FMA_F32"], log["SQ_INSTS_VALU_CVT"], log["SQ_INSTS_VALU_TRANS_F32"]), (32 * 40, 32, 0))
    ops = next(g.value("TOTAL_32_OPS") for op, g in gpus.items() if kernels[op] == "ref_valu")
    equal("operations of ref_valu", ops, 64 * (2 * 32 * 40 + sum(log[f"SQ_INSTS_VALU_{k}"] for k in ("INT32", "ADD_F32", "MUL_F32"))))
    complete(r)


@case
def runs_that_differ_are_said_and_counted():
    folder = new_dir("differ")
    script = os.path.join(folder, "program")
    with open(script, "w", encoding="utf-8") as f:  # 20 dispatches at first, then 30
        f.write(f'#!/bin/sh\nif mkdir {folder}/once 2>/dev/null; then n=20; else n=30; fi\n{program("flood")} count=$n kinds=d || exit\nexit 7\n')
    os.chmod(script, 0o755)
    file = os.path.join(folder, "in.txt")
    with open(file, "w", encoding="utf-8") as f:
        f.write("pmc: SQ_WAVES GRBM_COUNT\npmc: SQ_INSTS_SALU GRBM_COUNT\n")
    r, output = trace("--pmc-file", file, "--passes", "rerun", name=script, program_args=())
    ended(r, 7)
    contains("message", r.err, "0 dispatches of the first run and 10 of this one have no partner")
    equal("values", [sorted(v) for v in values(output)], [["GRBM_COUNT", "SQ_INSTS_SALU", "SQ_WAVES"]] * 20)
    equal("loss", open_db(output).execute("select reason, count from rtl_loss").fetchall(), [("not_counted", 10)])
    for args, why in ((("--split", "1G"), "leave --split out"), (("-o", os.path.join(folder, "%p.db")), "%p in the output")):
        r = rtl("trace", "--virtual-gpu", "--pmc-file", file, "--passes", "rerun", "-o", output, *args, "--", script)
        equal("status", r.status, 125)
        contains("message", r.err, why)


@case
def rates_of_kernels_are_compared_with_the_peaks_of_their_gpu():
    """The virtual GPU has 64 CUs at 1500 MHz; its memory is taken for that of a product of the family, which is named."""
    for view, want in (("memory", {"dram_read", "dram_write", "l2_hits"}), ("roofline", {"ops", "ops_intensity", "dram"})):
        r, output = trace("--pmc", view, "--passes=rerun", name="matrix_transpose", program_args=())
        ended(r, 0)
        rows = [row for row in json.loads(rtl("summary", output, "--by", "kernel", "--metrics", view, "-f", "json").out)
                if row["kernel"].startswith("matrixTranspose")]
        have = {row["metric"]: row for row in rows}
        equal(f"metrics of {view}", want - set(have), set())
        db = open_db(output)
        ns, = (row[0] for row in db.execute("select end_ns - begin_ns from rtl_dispatch where kernel like 'matrixTranspose%'"))
        kib = dict(db.execute("select counter, value from rtl_counter where kernel like 'matrixTranspose%'"))
        moved = kib["FETCH_SIZE"] * 1024 / ns if view == "memory" else (kib["FETCH_SIZE"] + kib["WRITE_SIZE"]) * 1024 / ns
        row = have["dram_read" if view == "memory" else "dram"]
        equal("bandwidth and its peak", (round(row["value"], 9), row["unit"], row["peak"]), (round(moved, 9), "GB/s", 484))
    equal("where both limits meet", round(have["ops_intensity"]["peak"], 9), round(64 * 64 * 1.5 / 484, 9))
    contains("source", rtl("summary", output, "--by", "kernel", "--metrics", "roofline").err, "64 compute units at 1500 MHz, which the trace has; memory as of Radeon RX Vega 64")
    r = rtl("summary", output, "--by", "api", "--metrics", "compute")
    equal("status of another table", r.status, 2)
    contains("hint", rtl("summary", output, "--by", "kernel", "--metrics", "compute", "-n", "1").err + r.err, "--metrics: needs --by kernel")


main()
