#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that looks HIP's functions up with dlsym() has the same trace as one that is linked."""
import functools
import os
import re

from support.hipcalls import *

PROGRAMS = {
    "linked": ("hiplinked", "way=linked"),
    "dlsym": ("hipdlsym",),
    "linked_dlsym": ("hiplinked", "way=dlsym"),
    "mixed": ("hiplinked", "way=mixed"),
}


def traced(which, backend, *args, **env):
    need = program("hsa_kernels.co")
    name, *way = PROGRAMS[which]
    r = run_account(
        name, f"module={need}", *way, *args, trace=RTL, env={"RTL_HIP_BACKEND": backend, **env}
    )
    contains(f"stdout of {which}", r.out, " right\n")
    return r


def check(r, calls):
    at_least("calls of the program", len(calls), 150)
    exact_program_dispatches(r)
    matched = same_calls(r, calls)
    exact_callers(r, calls, matched)
    launch_details(r, calls, matched)
    copy_details(r, calls, matched)
    complete(r)


def without_addresses(text):
    """Arguments by name and value, without addresses, which differ from run to run."""
    out = []
    for part in text.split(", "):
        name, _, value = part.partition("=")
        out.append((name, "address" if len(value) > 10 and value.startswith("0x") else value))
    return out


def records(r):
    """The calls as a reader sees them, without times and addresses."""
    return [
        (name, status, without_addresses(args), ops)
        for name, status, args, ops in r.rows(
            "select name, status, args, (select count(*) from rocpd_api_ops where api_id = A.api_id) "
            "from rtl_api A order by begin_ns, api_id"
        )
    ]


def one(which, backend):
    r = traced(which, backend)
    calls = read_account(r)
    check(r, callback_calls(r, calls) if backend == "callback" else calls)


for which_, backend_ in (
    ("linked", "preload"), ("linked", "auto"), ("linked", "callback"),
    ("dlsym", "auto"), ("dlsym", "callback"),
    ("linked_dlsym", "auto"), ("linked_dlsym", "callback"), ("mixed", "callback"),
):
    add_case(f"{which_}_{backend_}", functools.partial(one, which_, backend_))


@case
def linked_program_is_traced_without_callbacks():
    r = traced("linked", "auto")
    check(r, read_account(r))


@case
def linked_and_looked_up_calls_are_recorded_alike():
    """auto records both; with preload the calls by dlsym() are counted as missed."""
    r = traced("mixed", "auto")
    check(r, read_account(r))
    r = traced("mixed", "preload")
    calls = read_account(r)
    exact_program_dispatches(r)
    seen = calls[::2]  # every other call is linked
    matched = same_calls(r, seen)
    some_callers(r, calls, seen, matched)
    past = sum(len(c.ops) for c in calls[1::2])
    # what the runtime does for a module that is loaded past the wrappers, too
    past += r.count(
        "rtl_dispatch", f"flags & {INTERNAL} and correlation_id not in (select correlation_id from rtl_api)"
    )
    losses = r.losses()
    equal("operations that are counted as missed", losses.pop("api_missed"), past)
    losses.pop("signal_reused", 0)
    equal("losses", losses, {})


@case
def operations_of_unseen_calls_are_counted_exactly():
    """Calls by dlvsym() are not seen: exactly the operations whose call is not in the trace are counted."""
    need = program("hsa_kernels.co")
    for name in ("hiplinked", "hipdlsym"):
        for way in ("past", "dlvsym"):
            r = run_account(name, f"module={need}", f"way={way}", trace=RTL, env={"VGPU_EXEC": "auto"})
            calls = read_account(r)
            seen = calls[::2] if way == "past" else []
            same_calls(r, seen)
            # the operations that calls submit; the runtime adds some of its own
            at_least("operations without a call", exact_missed(r), sum(len(c.ops) for c in calls) - sum(len(c.ops) for c in seen))
    r = run_account("hiplinked", f"module={need}", "way=linked", trace=RTL, env={"VGPU_EXEC": "auto"})
    equal("operations without a call of the linked program", exact_missed(r), 0)


@case
def records_are_the_same_in_every_way():
    want = records(traced("linked", "preload"))
    for which, backend in (
        ("linked", "callback"), ("linked", "auto"), ("dlsym", "auto"), ("dlsym", "callback"), ("mixed", "callback"),
    ):
        seen = records(traced(which, backend))
        at_least(f"records of {which} by {backend}", len(seen), len(want) - 1)
        differ = [(a, b) for a, b in zip(seen[::-1], want[::-1]) if a != b]
        equal(f"records of {which} by {backend} that differ from the linked program's", differ[:2], [])


@case
def preload_backend_does_not_see_dlsym():
    """RTL_HIP_BACKEND=preload: calls by dlsym() are not recorded, dispatches are."""
    r = traced("dlsym", "preload")
    equal("calls", r.count("rtl_api", "domain = 'hip'"), 0)
    at_least("operations that are said to be missed", r.losses()["api_missed"], 1)
    exact_program_dispatches(r)


GIVEN = os.path.join(BUILD, "tests/given")


def given(whom="hipGetProcAddress", **more):
    """Runs given.c with that function of the stand-in runtime; -> its results"""
    r = run(GIVEN, whom, timeout=60, **more)
    contains("stdout", r.out, "\n0 bad\n")
    return r


def handed_out_by(whom):
    wrapped = ("known", "again", "release", "of the release", "of the thread", "itself")
    plain = given(whom)
    for what in wrapped:
        contains("untraced", plain.out, f"{what}: runtime 0\n")
    r = given(whom, trace=RTL, rtl_args=("-q", "-m", "hip"))
    expected = plain.out
    for what in wrapped:
        expected = expected.replace(f"{what}: runtime 0\n", f"{what}: wrapper 0\n")
    equal("stdout", r.out, expected)
    # each once: what was asked, with its status, and what was called through the answer
    rows = r.rows("select name, status, args from rtl_api order by begin_ns")
    equal("calls through what was given", [row[:2] for row in rows if row[0] != whom], [
        ("hipFree", 7), ("hipFree", 7), ("hipGetDevicePropertiesR0600", 7), ("hipGetDevicePropertiesR0600", 7),
        ("hipMemcpy_spt", 7)])
    asked = [(status, args) for name, status, args in rows if name == whom]
    equal("questions", [status for status, _ in asked], [0] * 6 + [500] * 2 + [0] * 7)
    # the record has what the program got: the same wrapper for both names of it
    first, again, release, alike = (re.search(r"\*(pfn|funcPtr)=(0x[0-9a-f]+)", args).group(2) for _, args in asked[:4])
    equal("what was given", (first == again, release == alike, first == release), (True, True, False))


@case
def function_from_hipGetProcAddress_is_wrapped():
    """hipGetProcAddress() of HIP 6."""
    handed_out_by("hipGetProcAddress")


@case
def function_from_hipGetDriverEntryPoint_is_wrapped():
    """hipGetDriverEntryPoint() of HIP 7, and its form _spt."""
    handed_out_by("hipGetDriverEntryPoint")
    handed_out_by("hipGetDriverEntryPoint_spt")


@case
def function_from_hip_is_not_wrapped_without_tracing():
    for whom in ("hipGetProcAddress", "hipGetDriverEntryPoint"):
        plain = given(whom).out
        disabled = {"LD_PRELOAD": LIBRTL, "RTL_MODE": "hip", "RTL_DISABLE": "1"}
        equal("disabled", given(whom, env=disabled).out, plain)
        preload = given(whom, trace=RTL, rtl_args=("-q", "-m", "hip"), env={"RTL_HIP_BACKEND": "preload"})
        equal("preload", preload.out, plain)
        equal("standard", given(whom, env={"LD_PRELOAD": LIBRTL, "RTL_MODE": "standard"}).out, plain)


@case
def calls_of_libhiprtc_are_recorded():
    """HIP 7's libhiprtc, loaded with local scope: works as untraced, and its calls are recorded."""
    rtc = os.path.join(BUILD, "tests/given_rtc")
    plain = run(rtc)
    equal("untraced", plain.out, "linked: 5, 9.7, errno 77\ngiven: library\ndlsym: 5, 9.7, errno 77\n")
    r = run(rtc, trace=RTL, rtl_args=("-q", "-m", "hip"))
    equal("stdout", r.out, plain.out.replace("given: library", "given: wrapper"))
    rows = r.rows("select name, status, args like '%*major=0, %' from rtl_api")
    equal("calls", rows, [("hiprtcVersion", 5, 1)] * 2)
    r = run(rtc, env={"LD_PRELOAD": LIBRTL, "RTL_MODE": "standard"})
    equal("stdout in mode standard", r.out, plain.out)


@case
def callback_backend_records_arguments():
    r = traced("dlsym", "callback")
    (args,) = r.rows("select args from rtl_api where name = 'hipModuleLaunchKernel' order by begin_ns limit 1")[0]
    contains("arguments of hipModuleLaunchKernel", args, "gridDimX=1")
    contains("arguments of hipModuleLaunchKernel", args, "blockDimX=64")
    (args,) = r.rows("select args from rtl_api where name = 'hipMemcpyAsync' order by begin_ns limit 1")[0]
    contains("arguments of hipMemcpyAsync", args, "sizeBytes=4160")
    contains("arguments of hipMemcpyAsync", args, "hipMemcpyHostToDevice")


@case
def callback_backend_records_calls_of_many_threads():
    """The mixture of hipmix, all records by the runtime's callbacks."""
    # not "t": HIP announces its functions by other names
    parts = CALLBACK_PARTS.replace("t", "")
    r = run_account("hipmix", "rounds=1", f"parts={parts}", trace=RTL, env={"RTL_HIP_BACKEND": "callback"})
    calls = read_account(r)
    # HIP has no number, and so no callback, for some
    known = {row[0] for row in r.rows("select distinct name from rtl_api where domain = 'hip'")}
    at_least("functions seen", len(known), 55)
    seen = [c for c in callback_calls(r, calls) if c.api in known]
    some_callers(r, calls, seen, same_calls(r, seen))


def some_callers(r, calls, seen, matched):
    """As exact_callers(), where some calls are not in the trace: no operation has a wrong call."""
    ops = trace_ops(r)
    cause, _ = callers(calls, ops)
    index = {id(c): i for i, c in enumerate(seen)}
    joined = joined_apis(r)
    apis = {a.api_id for a in matched.values()}
    for op in ops:
        c = calls[cause[op.op_id]]
        mine = [api for api in joined[op.op_id] if api in apis]
        equal(f"call that {op} is joined to", mine, [matched[index[id(c)]].api_id] if id(c) in index else [])


main()
