#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""job.py - a made job of several ranks, of which is known what is slow where; as a program it writes the job's data set

    job.py DIR
"""
import collections
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from support import RTL_BIN, spool  # pylint: disable=wrong-import-position

REDUCE = "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LLPv"
RANKS, STEPS, HOSTS = 8, 30, 4
SECOND = 1_000_000_000


class Job:
    """A job of RANKS ranks on HOSTS hosts: gemm is slow on rank 5, norm on host n3, rank 2 is late, rank 1 has a bad second."""

    def __init__(self, rng):
        self.rows = []  # rank, gpu, kernel, begin, ns
        self.ranges = []
        self.spools = [self.rank(rng, n) for n in range(RANKS)]

    def rank(self, rng, n):
        s = spool.Spool(1000 + n)
        for key, value in (("command", "train"), ("exe", "/opt/train"), ("host", f"n{n // 2}"), ("mode", "hip"), ("version", "0.1.0"), ("rank", str(n)),
                           ("world_size", str(RANKS)), ("job", "4711")):
            s.info(key, value)
        s.thread(s.tid, "train")
        s.agent(gpu=False, name="cpu")
        s.record("AGENT", 1, handle=0x1001, name=s.string("gfx90a"), product=s.string("MI250X"), vendor=s.string("AMD"), uuid=s.string(f"GPU-{n}"), agent_type=1,
                 gpu_index=0, node=1, nr_cu=110, simd_per_cu=4, wave_size=64, max_waves_per_cu=40, clock_mhz=1700, bdf=0x300)
        s.nr_agents = 2
        s.clock(1_790_000_000 * SECOND + n)
        queue = s.queue(1)
        names = ("_Z4gemmPf", "_Z4normPf", REDUCE)
        kernels = [s.kernel(name) for name in names]
        for step in range(STEPS):
            at = s.start + step * SECOND // 5
            marker = s.marker(at, "step")
            for i, name in enumerate(("gemm(float*)", "norm(float*)", REDUCE)):
                for k in range(4):
                    ns = 10_000 * (i + 1) + rng.randrange(40)
                    if name.startswith("gemm") and n == 5:
                        ns = ns * 13 // 10
                    if name.startswith("norm") and n >= 6:
                        ns = ns * 6 // 5
                    if name.startswith("gemm") and n == 1 and 10 <= step < 15:
                        ns *= 3
                    if name == REDUCE:
                        ns = 20_000 + rng.randrange(100) - 5000 * (n == 2)
                    begin = at + 1000 * (i * 4 + k) * 100
                    s.dispatch(kernels[i], queue, begin, begin + ns, marker)
                    self.rows.append((n, 0, name, begin - s.start, ns))
            s.copy(at + 500, at + 900, 1 << 20)
            s.marker_end(at + 100_000_000 + n, marker)
            self.ranges.append((n, 100_000_000 + n))
        return s

    def means(self, unit):
        sums = collections.defaultdict(list)
        for n, _, kernel, _, ns in self.rows:
            sums[unit(n), kernel].append(ns)
        return {key: (len(values), sum(values) / len(values)) for key, values in sums.items()}

    def slow(self, unit):
        """(unit, kernel, calls, mean, median, MAD) of those that are slow."""
        means, found = self.means(unit), []
        for kernel in {k for _, k in means}:
            here = {u: v for (u, k), v in means.items() if k == kernel}
            median = statistics.median(m for _, m in here.values())
            mad = statistics.median(abs(m - median) for _, m in here.values())
            for u, (nr, mean) in here.items():
                if mean - median > 3 * 1.4826 * mad and mean > 1.02 * median:
                    found.append((u, kernel, nr, round(mean), round(median), round(mad)))
        return sorted(found)


def write(spools, out):
    """The data set of such traces."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, s in enumerate(spools):
            raw = os.path.join(folder, f"{i}.spool")
            os.mkdir(raw)
            s.write(os.path.join(raw, "a.rtl"))
            names.append(os.path.join(folder, f"{i}.db"))
            subprocess.run([RTL_BIN, "recover", "-q", "-o", names[-1], raw], check=True)
        subprocess.run([RTL_BIN, "convert", "-q", "-f", "parquet", "-o", out, *names], check=True)


if __name__ == "__main__":
    write(Job(random.Random(7)).spools, sys.argv[1])
