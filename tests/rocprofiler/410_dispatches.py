#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dispatches that are intercepted: callbacks, groups, records, pools; by the program itself and by a tool plug-in."""
from clients import client
from support import *


def intercept(mode, *args, **kwargs):
    return client("dispatches", *args, env={"ROCP_HSA_INTERCEPT": mode}, **kwargs)


@case
def example_of_the_specification_has_right_numbers():
    intercept(1, "spec")


@case
def records_and_handlers_come_with_each_dispatch():
    intercept(2, "times")
    # as TAU: contexts without features
    intercept(2, "tau")


@case
def threads_on_four_gpus_are_counted_each():
    intercept(2, "many", gpus=4)
    r = intercept(2, "many", gpus=4, trace=RTL)
    equal("dispatches in the trace", r.count("rtl_dispatch", "kernel = 'counted'"), 4 * 32)
    complete(r)


@case
def storm_of_threads_pools_groups_and_stops_loses_nothing():
    """Two threads for each of two GPUs, while a third stops and starts the callbacks."""
    r = intercept(1, "storm", 48, gpus=2)
    asked, wanted, handled, beside = map(int, re.search(r"asked (\d+) wanted (\d+) handled (\d+) beside (\d+)", r.out).groups())
    at_least("dispatches that were counted", handled - beside, 1)
    if asked < 8 or wanted < 4:
        fail(f"{asked} callbacks, of which {wanted} wanted counts")
    equal("handlers", handled, wanted)


@case
def program_that_is_linked_with_hsa_first_is_counted():
    """Nothing but the link line brings the library in, and the loader binds hsa_init() to the runtime."""
    r = client("dispatches", "storm", 12, gpus=2, tools=False, env={"ROCP_HSA_INTERCEPT": 1, "LD_PRELOAD": "libhsa-runtime64.so.1"})
    at_least("callbacks", int(re.search(r"asked (\d+)", r.out)[1]), 8)


@case
def memory_of_a_pool_does_not_grow():
    """100,000 dispatches by hand: `dispatches soak 25000` with four GPUs."""
    r = intercept(1, "soak", 2500, gpus=2)
    half, end = map(int, re.search(r"resident (\d+) (\d+)", r.out).groups())
    # a pool grows to what is in flight or not handled yet: seen 3 MiB, 150 entries of 20 KiB, on a busy machine; a leak of 2 KiB for
    # each dispatch would be 5 MiB, of a context 50
    if end - half >= 5000:
        fail(f"resident: {half} KiB after the half, {end} at the end")


@case
def dispatches_have_thread_traces_of_their_own():
    """Of two queues at once, with a counter and without one; beside a trace of rtl."""
    for trace in (PLAIN, RTL):
        r = intercept(1, "traces", trace=trace)
    equal("dispatches in the trace", r.count("rtl_dispatch", "kernel = 'counted'"), 8)


@case
def pools_give_entries_back_in_order():
    """More dispatches at once than a pool has entries; as PAPI."""
    intercept(1, "pool", gpus=2)


@case
def queues_have_callbacks_and_numbers():
    intercept(1, "queues", gpus=2)


@case
def dispatches_are_intercepted_if_the_environment_says_so():
    for mode, callbacks in ((0, 0), (1, 1), (2, 1), (7, 0)):
        r = intercept(mode, "refused")
        contains("output", r.out, f"callbacks {callbacks}\n")
        equal(f"a warning with {mode}", "ROCP_HSA_INTERCEPT=7 is not 0, 1 or 2" in r.err, mode == 7)


@case
def dispatches_of_a_queue_that_ends_have_their_handlers():
    intercept(1, "destroyed")


main()
