#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrows of messages of MPI, in Perfetto's format and in Chrome's JSON: made ranks whose messages are known"""
import json
import unittest

from test_otf2_job import OTHER_BOOT, Rank
from test_viewers import PerfettoReader

WORLD, DUP, ANY, PROC_NULL = 1, 0x800000000005, -1, -2
OF_MESSAGE = 1 << 62


class Messages(PerfettoReader):
    def setUp(self):
        super().setUp()
        self.ranks = [Rank(r, 2) for r in range(2)]
        self.expected = []

    def call(self, rank, at, name, *words, length=100, **kwargs):
        """The call's begin and end."""
        begin = self.ranks[rank].start + at
        self.ranks[rank].call(name, *words, begin=begin, end=begin + length, **kwargs)
        return begin, begin + length

    def send(self, rank, at, tag=7, comm=WORLD, peer=None):
        return self.call(rank, at, "MPI_Send", 8, 1 - rank if peer is None else peer, tag, comm)

    def receive(self, rank, at, tag=7, comm=WORLD, **kwargs):
        return self.call(rank, at, "MPI_Recv", 8, 1 - rank, tag, comm, **kwargs)

    def begin_receive(self, rank, at, request, peer=None, tag=7):
        self.call(rank, at, "MPI_Irecv", 8, 1 - rank if peer is None else peer, tag, WORLD, request)

    def expect(self, send, receive):
        self.expected.append((send, receive))

    def arrows(self, message=""):
        """Both formats have those that are expected; `message`: what is said of others."""
        for rank in self.ranks:
            rank.write(self.path(f"{rank.pid}.rtl"))
        self.rtl("merge", "-q", "--force", "-o", "job.db", *(f"{rank.pid}.rtl" for rank in self.ranks))
        p = self.rtl("convert", "--force", "-f", "pftrace", "-o", "job.pftrace", "job.db")
        self.assertEqual([line.split("without an arrow: ")[1] for line in p.stderr.splitlines() if "without an arrow" in line], [message] if message else [])
        self.read(self.path("job.pftrace"))
        begun = {f: s for s in self.slices for f in s.flows if f & OF_MESSAGE}
        ended = {f: s for s in self.slices for f in s.end_flows if f & OF_MESSAGE}
        self.assertEqual(sorted(begun), sorted(ended))
        found = [((begun[f].begin, begun[f].end), (s.begin, s.end)) for f, s in ended.items()]
        self.assertEqual(sorted(found), sorted(self.expected))
        self.assertTrue(all(send[0] < receive[1] for send, receive in found))
        self.rtl("convert", "-q", "--force", "-f", "chrome", "-o", "job.json", "job.db")
        with open(self.path("job.json"), encoding="utf-8") as file:
            trace = json.load(file)
        slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]

        def bound(end):
            """As viewers bind it: to the slice of the track that is open then."""
            one, = [e for e in slices if (e["pid"], e["tid"]) == (end["pid"], end["tid"]) and e["ts"] <= end["ts"] < e["ts"] + e["dur"]]
            begin = trace["baseTimeNanoseconds"] + round(one["ts"] * 1000)
            return begin, begin + round(one["dur"] * 1000)

        ends = {(e["ph"], e["id"]): e for e in trace["traceEvents"] if e.get("cat") == "message"}
        self.assertEqual(sorted((bound(ends["s", i]), bound(ends["f", i])) for phase, i in ends if phase == "s"), sorted(self.expected))

    def test_messages_of_a_channel_are_in_order_and_tags_overtake(self):
        sends = [self.send(0, 1000 + 200 * i, tag=i % 2) for i in range(6)]
        late = [self.receive(1, 5000 + 200 * i, tag=1) for i in range(3)]
        early = [self.receive(1, 6000 + 200 * i, tag=0) for i in range(3)]
        for i in range(3):
            self.expect(sends[2 * i], early[i])
            self.expect(sends[2 * i + 1], late[i])
        self.arrows()

    def test_receive_that_begins_before_its_send_has_its_arrow(self):
        receive = self.receive(1, 1000, length=4000)
        self.expect(self.send(0, 3000), receive)
        self.arrows()

    def test_receive_without_waiting_ends_in_the_call_that_completes_its_request(self):
        for i, request in enumerate((11, 12, 13)):
            self.begin_receive(1, 1000 + 200 * i, request)
        sends = [self.send(0, 2000 + 200 * i) for i in range(3)]
        # first the last request alone, then the others; one to MPI_PROC_NULL counts, too
        self.begin_receive(1, 1800, 14, peer=PROC_NULL)
        self.expect(sends[2], self.call(1, 4000, "MPI_Wait", 13))
        rest = self.call(1, 5000, "MPI_Waitall", 3)
        self.expect(sends[0], rest)
        self.expect(sends[1], rest)
        self.arrows()

    def test_request_that_one_call_of_several_completed_is_counted(self):
        for i, request in enumerate((11, 12)):
            self.begin_receive(1, 1000 + 200 * i, request)
        for i in range(2):
            self.send(0, 2000 + 200 * i)
        self.call(1, 4000, "MPI_Waitany", 2, 1)
        self.call(1, 5000, "MPI_Waitany", 2, 0)
        self.begin_receive(1, 6000, 13, tag=8)
        self.send(0, 6000, tag=8)
        self.arrows("3 messages of MPI of which no call is known to have completed the receive")

    def test_receive_of_any_rank_without_waiting_makes_its_communicator_unclear(self):
        self.begin_receive(1, 1000, 11, peer=ANY)
        sends = [self.send(0, 2000 + 200 * i) for i in range(3)]
        self.call(1, 4000, "MPI_Wait", 11)
        receives = [self.receive(1, 5000 + 200 * i) for i in range(2)]
        # all that were sent with this tag were received by calls that say so
        self.expect(self.send(0, 3000, tag=9), self.receive(1, 6000, tag=9))
        self.assertEqual((len(sends), len(receives)), (3, 2))
        self.arrows("6 sends and receives of MPI whose partner is not recorded")

    def test_messages_that_were_under_way_at_the_end_have_no_receive(self):
        sends = [self.send(0, 1000 + 200 * i) for i in range(4)]
        for i in range(2):
            self.expect(sends[i], self.receive(1, 3000 + 200 * i))
        self.receive(1, 4000, status=15)
        self.arrows()

    def test_rank_in_a_communicator_is_that_of_the_call_that_made_it(self):
        for rank in range(2):
            self.call(rank, 1000, "MPI_Comm_dup", WORLD, DUP, 2, 1 - rank)
        # rank 0 is the second one there
        send = self.send(0, 2000, comm=DUP, peer=0)
        self.expect(send, self.call(1, 3000, "MPI_Recv", 8, 1, 7, DUP))
        # of one that no call made nothing is known
        self.send(0, 4000, comm=DUP + 1)
        self.arrows("1 sends and receives of MPI whose partner is not recorded")

    def test_both_ways_at_once(self):
        for i in range(2):
            calls = [self.call(rank, 1000 * (i + 1), "MPI_Sendrecv", 8, 8, 1 - rank, 7, 1 - rank, 7, WORLD, length=500) for rank in range(2)]
            self.expect(calls[0], calls[1])
            self.expect(calls[1], calls[0])
        self.arrows()

    def test_hosts_whose_clocks_differ_have_none(self):
        self.ranks[1].boot = OTHER_BOOT
        self.send(0, 1000)
        self.receive(1, 2000)
        self.arrows("1 messages of MPI between hosts with clocks of their own")


if __name__ == "__main__":
    unittest.main()
