# SPDX-License-Identifier: MIT
"""spool.py - traces for tests that have no GPU: spool_make.h writes them, src/spool/records.json says what a record is

Run as a program it is a traced program: `spool.py N [ms]` writes a spool with N dispatches into
$RTL_SESSION, as librtl would.
"""
import ctypes
import mmap
import os
import random
import re
import struct
import sys
import time

SOURCE = os.environ.get("RTL_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.append(os.path.join(SOURCE, "codegen"))
import records  # noqa: E402

MAKE = ctypes.CDLL(os.path.join(os.environ.get("RTL_BUILD", "build/dev"), "tests/libspool_make.so"))
MAKE.spool_make_new.restype = ctypes.c_void_p
for name, types in {"process": "PQQQs", "chunk": "PI", "chunk_end": "P", "chunk_slot": "PI", "left": "P", "raw": "PsQ",
                    "loss": "PIQQQ", "end": "P?", "free": "P"}.items():
    getattr(MAKE, f"spool_make_{name}").argtypes = [
        {"P": ctypes.c_void_p, "Q": ctypes.c_uint64, "I": ctypes.c_uint32, "s": ctypes.c_char_p, "?": ctypes.c_bool}[t]
        for t in types]
FORMAT = records.load(os.path.join(SOURCE, "src/spool/records.json"))
PIECE = records.constant(FORMAT, "REC_STRING_PIECE")
MARKER_TEXT_MAX = records.constant(FORMAT, "REC_MARKER_TEXT_MAX")
SLOT_OPEN = 2
F_INVERTED, F_INTERNAL, F_TEXT = 2, 32, 128
MARK, PUSH, START = 0, 1, 2
HIP, HSA = 1, 2


def pack(name, ident, /, flags=0, tail=b"", **values):
    """A record's bytes, with a size that is a multiple of 8; fields that are not named are 0."""
    record = FORMAT.by_name[name]
    body = b""
    for f in record.fields:
        value = values.pop(f.name, b"" if f.type == "char" else (0,) * f.nr if f.nr else 0)
        body += struct.pack(f"<{f.nr or ''}{records.CODES[f.type]}", *(value if isinstance(value, tuple) else (value,)))
    assert not values, f"{name} has no {values}"
    size = (records.HEAD + len(body) + len(tail) + 7) // 8
    return (struct.pack("<BBHI", record.number, size, flags, ident) + body + tail).ljust(size * 8, b"\0")


def raw(m, record):
    MAKE.spool_make_raw(m, record, len(record))


def reasons():
    """Reasons of losses in the order of their numbers, from format.h."""
    with open(os.path.join(SOURCE, "src/spool/format.h"), encoding="utf-8") as file:
        return re.findall(r"^\tX\((\w+), (?:LOSS|SKIPPED|NOTE)", file.read(), re.M)


def boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip().encode()


class Spool:
    """One process' trace. Ids are given out in order; times are ns."""

    def __init__(self, pid=None, start=1_000_000_000_000):
        self.pid = self.tid = pid or os.getpid()
        self.start = start
        self.boot = boot_id()
        self.records = []
        self.strings = {}
        self.losses = {}
        self.nr_kernels = self.nr_markers = self.nr_queues = self.nr_agents = 0
        self.correlation = 0

    def record(self, name, ident, /, flags=0, tail=b"", **values):
        self.records.append(pack(name, ident, flags, tail, **values))

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        if data in self.strings:
            return self.strings[data]
        ident = self.strings[data] = len(self.strings) + 1
        for offset in range(0, max(len(data), 1), PIECE):
            self.record("STRING", ident, tail=data[offset:offset + PIECE], total=len(data), offset=offset)
        return ident

    def info(self, key, value):
        self.record("INFO", 0, key=self.string(key), value=self.string(value))

    def thread(self, tid, name):
        self.record("THREAD", tid, first_ns=self.start, name=name.encode())

    def agent(self, gpu=True, name="gfx900"):
        ident = self.nr_agents
        self.nr_agents += 1
        self.record("AGENT", ident, handle=0x1000 + ident, name=self.string(name), product=self.string("Vega"),
                    vendor=self.string("AMD"), uuid=self.string(f"GPU-{ident}"), agent_type=1 if gpu else 0,
                    gpu_index=ident - 1 if gpu else 0xFFFFFFFF, node=ident, nr_cu=64, simd_per_cu=4, wave_size=64,
                    max_waves_per_cu=40, clock_mhz=1500, bdf=0x300)
        return ident

    def queue(self, agent, internal=False):
        ident = self.nr_queues
        self.nr_queues += 1
        self.record("QUEUE", ident, 1 if internal else 0, hsa_id=ident, handle=0x7F0000000000 + ident * 4096,
                    time_ns=self.start, agent=agent, size=4096, tid=self.tid)
        return ident

    def kernel(self, name, agent=1):
        self.nr_kernels += 1
        self.record("KERNEL", self.nr_kernels, object=0x5000 + self.nr_kernels, name=self.string(name), agent=agent,
                    kernarg_size=64)
        return self.nr_kernels

    def next_correlation(self, correlation=None):
        if correlation is None:
            self.correlation += 1
            return self.correlation
        return correlation

    def op(self, number, name, signature, domain=HIP):
        self.record("OP", domain << 16 | number, name=self.string(name), signature=self.string(signature))
        return number

    def api(self, number, begin, end, words=(), status=0, domain=HIP, parent=0, tid=None):
        """A call; returns its correlation id."""
        correlation = self.next_correlation()
        self.record("API", tid or self.tid, tail=struct.pack(f"<{len(words)}Q", *words), begin_ns=begin, end_ns=end,
                    correlation=correlation, parent=parent, op=number, domain=domain, nr_words=len(words), status=status)
        return correlation

    def clock(self, realtime):
        self.record("CLOCK", 0, system_ns=self.start, monotonic_ns=self.start, boottime_ns=self.start,
                    realtime_ns=realtime)

    def dispatch(self, kernel, queue, begin, end, marker=0, grid=(1024, 1, 1), group=(256, 1, 1), flags=0,
                 correlation=None):
        correlation = self.next_correlation(correlation)
        if end < begin:
            flags |= F_INVERTED
        # a shape is local to its chunk: write() gives it a number
        self.records.append((dict(kernel=kernel, queue=queue, grid=grid, group=group),
                             dict(flags=flags, begin_ticks=begin // 10, end_ticks=end // 10, begin_ns=begin, end_ns=end,
                                  packet=correlation, correlation=correlation, marker=marker)))
        return correlation

    def copy(self, begin, end, size, kind=1, marker=0, correlation=None, engine=0):
        self.record("COPY", self.tid, begin_ns=begin, end_ns=end, bytes=size,
                    correlation=self.next_correlation(correlation), marker=marker, dst=0x1000, src=0x2000, dst_agent=1,
                    kind=kind, engine=engine)

    def marker(self, time_ns, text, kind=PUSH, level=0, parent=0):
        self.nr_markers += 1
        data = text.encode()
        fits = len(data) <= MARKER_TEXT_MAX
        self.record("MARKER", self.tid, F_TEXT if fits else 0, data if fits else b"", time_ns=time_ns,
                    marker=self.nr_markers, parent=parent, kind=kind, level=level,
                    text_size=len(data) if fits else self.string(data))
        return self.nr_markers

    def marker_end(self, time_ns, marker):
        self.record("MARKER_END", self.tid, time_ns=time_ns, marker=marker)

    def loss(self, reason, count):
        self.losses[reasons().index(reason)] = count

    def write(self, path, running_since=None):
        """A closed trace; with the start time of a process that runs (field 22 of its stat) all of it in the memory half."""
        is_running = running_since is not None
        m = MAKE.spool_make_new(os.path.abspath(path).encode(), self.pid, is_running)
        MAKE.spool_make_process(m, random.getrandbits(64), self.start, running_since or 1, self.boot)
        shapes = None

        def end_chunk():
            if shapes is not None and is_running:
                MAKE.spool_make_chunk_slot(m, SLOT_OPEN)
            elif shapes is not None:
                MAKE.spool_make_chunk_end(m)

        for record in self.records:
            size = len(record) if isinstance(record, bytes) else 200
            if shapes is None or MAKE.spool_make_left(m) < size:
                end_chunk()
                MAKE.spool_make_chunk(m, self.tid)
                shapes = {}
            if not isinstance(record, bytes):
                shape, dispatch = record
                key = tuple(shape.values())
                if key not in shapes:
                    shapes[key] = len(shapes)
                    raw(m, pack("SHAPE", shapes[key], **shape))
                record = pack("DISPATCH_WIDE", self.tid, shape=shapes[key], **dispatch)
            raw(m, record)
        end_chunk()
        for reason, count in self.losses.items():
            MAKE.spool_make_loss(m, reason, count, self.start, self.start + 1000)
        MAKE.spool_make_end(m, not is_running)
        MAKE.spool_make_free(m)
        if is_running:
            # mapped as by librtl: a process without the mapping has executed another program
            with open(path[:-4] + ".mem", "r+b") as f:
                self.memory_half = mmap.mmap(f.fileno(), 0)


def sample(dispatches=100, pid=None, names=("_Z4vaddPfS_S_i", "_Z4copyPfi"), rank=None):
    """A process with two GPUs, `dispatches` kernels in a range, a copy, an instant marker."""
    s = Spool(pid)
    for key, value in (("command", "./app --n 1"), ("exe", "/opt/app"), ("host", "node1"), ("mode", "standard"),
                       ("version", "0.1.0"), ("library", "/usr/lib/libhsa-runtime64.so.1.5.0")):
        s.info(key, value)
    if rank is not None:
        s.info("rank", str(rank))
    s.thread(s.tid, "app")
    s.agent(gpu=False, name="cpu")
    s.agent()
    s.agent()
    queues = [s.queue(1), s.queue(2), s.queue(1, internal=True)]
    kernels = [s.kernel(name) for name in names]
    base = s.start
    s.marker(base + 500, "epoch 0 starts", kind=MARK)
    marker = s.marker(base + 1000, "train")
    for i in range(dispatches):
        begin = base + 10_000 + i * 2000
        s.dispatch(kernels[i % len(kernels)], queues[i % 2], begin, begin + 1000 + 10 * (i % 7), marker)
    s.dispatch(kernels[-1], queues[2], base + 5000, base + 6000, flags=F_INTERNAL)
    s.copy(base + 3000, base + 4000, 1 << 20)
    s.marker_end(base + 20_000 + dispatches * 2000, marker)
    return s


def calls(pid=None, rank=None, world_size=None):
    """What HIP mode records: launches, a copy of two parts, a fill, a failed call, HSA calls within one, two streams."""
    s = sample(0, pid, rank=rank)
    if world_size:
        s.info("world_size", str(world_size))
    s.clock(1_790_000_000_000_000_000)
    launch = s.op(1, "hipLaunchKernel",
                  "function_address:p:kernel,numBlocks:d:grid,dimBlocks:d:block,kernel:s:name,sharedMemBytes:z:shared,stream:h:stream")
    copy = s.op(2, "hipMemcpyAsync", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
    malloc = s.op(3, "hipMalloc", "ptr:p,size:z,*ptr:p")
    ring = s.op(1, "hsa_signal_store_screlease", "signal:h,value:i", domain=HSA)
    fill = s.op(4, "hipMemset", "dst:p:dst,value:i,sizeBytes:z:bytes")
    name = s.string("_Z4vaddPfS_S_i")
    at = s.start + 30_000
    marker = s.marker(at, "step")
    s.api(malloc, at + 100, at + 400, (0x7000, 1 << 20, 0xDEAD0000))
    s.api(malloc, at + 500, at + 600, (0x7000, 1 << 50, 0), status=2)
    for i in range(10):
        begin = at + 1000 + i * 1000
        own = s.api(launch, begin, begin + 300, (0x4000, 4 | 1 << 32, 1, 256 | 1 << 32, 1, name, 0, (0, 0x55AA)[i % 2]))
        s.api(ring, begin + 100, begin + 150, (0x99, i), domain=HSA, parent=own)
        # the second one begins before its call returns
        s.dispatch(1, i % 2, begin + (200 if i == 1 else 2000), begin + (700 if i == 1 else 2500), marker, correlation=own)
    own = s.api(copy, at + 12_000, at + 12_500, (0x1, 0x2, 4096, 1, 0x55AA))
    s.copy(at + 13_000, at + 13_100, 2048, correlation=own, marker=marker)
    s.copy(at + 13_100, at + 13_200, 2048, correlation=own, marker=marker)
    own = s.api(fill, at + 14_000, at + 15_000, (0x1, 0, 512))
    s.copy(at + 14_100, at + 14_200, 512, kind=5, correlation=own)
    s.marker_end(at + 20_000, marker)
    return s


def main():
    nr = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    folder = os.environ["RTL_SESSION"]
    os.makedirs(folder, mode=0o700, exist_ok=True)  # as librtl.so: rtl trace removes an empty one when it ends
    path = os.path.join(folder, f"{os.getpid()}.rtl")
    if nr:
        sample(nr).write(path)
    if len(sys.argv) > 2:
        time.sleep(int(sys.argv[2]) / 1000)


if __name__ == "__main__":
    main()
