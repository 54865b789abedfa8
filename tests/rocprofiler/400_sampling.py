#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Standalone contexts count what all queues of a GPU do: the counts are those counted by hand."""
from clients import client
from support import *


@case
def each_legal_order_of_calls_has_its_values():
    for tools in (True, False):
        client("sampling", "sequences", tools=tools)


@case
def groups_of_several_runs_are_saved_and_loaded():
    client("sampling", "groups")


@case
def handler_is_called_once_for_each_reset():
    client("sampling", "handler")


@case
def contexts_of_four_gpus_count_at_the_same_time():
    client("sampling", "gpus", gpus=4)
    r = client("sampling", "gpus", gpus=4, trace=RTL)
    complete(r)
    intact(r.db())


@case
def sequence_of_papi_works_for_every_event():
    client("sampling", "papi")


main()
