# SPDX-License-Identifier: MIT
"""spool.py - writes raw traces as event/format.h states them, for tests that have no GPU

Run as a program it is a traced program: `spool.py N [ms]` writes a spool with N dispatches into
$RTL_SESSION, as librtl would have.
"""
import os
import random
import re
import struct
import sys
import time
import zlib

SPOOL_MAGIC = 0x4C4F4F50534C5452
CHUNK_MAGIC = 0x4B4E4843
HEADER_SIZE = 8192
SLOT_SIZE = 32768
(STRING, INFO, CLOCK, THREAD, AGENT, QUEUE, QUEUE_END, CODE_OBJECT, CODE_OBJECT_END, KERNEL, SHAPE, DISPATCH,
 DISPATCH_WIDE, COPY, BARRIER, MARKER, MARKER_END, OP, API) = range(1, 20)
F_INVERTED, F_INTERNAL, F_TEXT = 2, 32, 128
MARK, PUSH, START = 0, 1, 2
HIP, HSA = 1, 2
CLOSED_AT_EXIT = 1


def reasons():
    """Names of losses in the order of their numbers, as format.h lists them."""
    path = os.path.join(os.environ.get("RTL_SOURCE", "."), "src/event/format.h")
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^\tX\((\w+), (?:LOSS|SKIPPED|NOTE)", file.read(), re.M)


def boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip().encode()


class Spool:
    """One process' trace. Ids are given out in order; times are ns."""

    def __init__(self, pid=None, tid=None, start=1_000_000_000_000):
        self.pid = pid or os.getpid()
        self.tid = tid or self.pid
        self.start = start
        self.records = []
        self.strings = {}
        self.losses = {}
        self.nr_kernels = 0
        self.nr_markers = 0
        self.nr_queues = 0
        self.nr_agents = 0
        self.correlation = 0

    def record(self, kind, ident, body, flags=0):
        size = (8 + len(body) + 7) // 8
        assert size <= 255
        raw = struct.pack("<BBHI", kind, size, flags, ident) + body
        self.records.append(raw.ljust(size * 8, b"\0"))

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        if data in self.strings:
            return self.strings[data]
        ident = self.strings[data] = len(self.strings) + 1
        offset = 0
        while True:
            piece = data[offset:offset + 1984]
            self.record(STRING, ident, struct.pack("<II", len(data), offset) + piece)
            offset += len(piece)
            if offset >= len(data):
                return ident

    def info(self, key, value):
        self.record(INFO, 0, struct.pack("<II", self.string(key), self.string(value)))

    def thread(self, tid, name):
        self.record(THREAD, tid, struct.pack("<Q16s", self.start, name.encode()))

    def agent(self, gpu=True, name="gfx900"):
        ident = self.nr_agents
        self.nr_agents += 1
        gpu_index = ident - 1 if gpu else 0xFFFFFFFF
        words = [self.string(name), self.string("Vega"), self.string("AMD"), self.string(f"GPU-{ident}")]
        body = struct.pack("<Q4I10I", 0x1000 + ident, *words, 1 if gpu else 0, gpu_index, ident,
                           64, 4, 64, 40, 1500, 0x300, 0)
        self.record(AGENT, ident, body)
        return ident

    def queue(self, agent, internal=False):
        ident = self.nr_queues
        self.nr_queues += 1
        self.record(QUEUE, ident, struct.pack("<QQQIIII", ident, 0x7F0000000000 + ident * 4096, self.start,
                                              agent, 4096, self.tid, 0), 1 if internal else 0)
        return ident

    def kernel(self, name, agent=1):
        self.nr_kernels += 1
        self.record(KERNEL, self.nr_kernels, struct.pack("<QIIIIIIIIII", 0x5000 + self.nr_kernels, self.string(name),
                                                         0, agent, 64, 0, 0, 0, 0, 0, 0))
        return self.nr_kernels

    def next_correlation(self, correlation=None):
        if correlation is None:
            self.correlation += 1
            return self.correlation
        return correlation

    def op(self, number, name, signature, domain=HIP):
        self.record(OP, domain << 16 | number, struct.pack("<II", self.string(name), self.string(signature)))
        return number

    def api(self, number, begin, end, words=(), status=0, domain=HIP, parent=0, tid=None):
        """A call; its correlation id comes back."""
        correlation = self.next_correlation()
        self.record(API, tid or self.tid, struct.pack("<QQQQHBBi", begin, end, correlation, parent, number, domain,
                                                      len(words), status) + struct.pack(f"<{len(words)}Q", *words))
        return correlation

    def clock(self, realtime):
        self.record(CLOCK, 0, struct.pack("<5Q", self.start, self.start, self.start, realtime, 0))

    def dispatch(self, kernel, queue, begin, end, marker=0, grid=(1024, 1, 1), group=(256, 1, 1), flags=0,
                 correlation=None):
        correlation = self.next_correlation(correlation)
        shape = struct.pack("<II3I3HHIII", kernel, queue, *grid, *group, 0, 0, 0, 0)
        # shapes are local to a chunk: write() sees to that
        if end < begin:
            flags |= F_INVERTED
        body = struct.pack("<QQQQQQQII", begin // 10, end // 10, begin, end, correlation, correlation,
                           marker, 0, 0)
        self.records.append((shape, self.tid, flags, body))
        return correlation

    def copy(self, begin, end, size, kind=1, marker=0, correlation=None):
        correlation = self.next_correlation(correlation)
        self.record(COPY, self.tid, struct.pack("<QQQQQQQIIII", begin, end, size, correlation, marker,
                                                0x1000, 0x2000, 1, 0, kind, 0))

    def marker(self, time_ns, text, kind=PUSH, level=0, parent=0):
        self.nr_markers += 1
        data = text.encode()
        flags, size, tail = 0, 0, b""
        if len(data) <= 1024:
            flags, size, tail = F_TEXT, len(data), data
        else:
            size = self.string(data)
        self.record(MARKER, self.tid, struct.pack("<QQQIIII", time_ns, self.nr_markers, parent, kind, level, size, 0)
                    + tail, flags)
        return self.nr_markers

    def marker_end(self, time_ns, marker):
        self.record(MARKER_END, self.tid, struct.pack("<QQ", time_ns, marker))

    def loss(self, reason, count):
        self.losses[reasons().index(reason)] = (count, self.start, self.start + 1000)

    def chunks(self):
        """Payloads of chunks, each with the shapes that it needs."""
        out, current, shapes, nr = [], bytearray(), {}, 0
        for rec in self.records:
            parts = [rec]
            if isinstance(rec, tuple):
                shape, tid, flags, body = rec
                parts = []
                if len(current) > SLOT_SIZE - 32 - 200:
                    out.append((bytes(current), nr))
                    current, shapes, nr = bytearray(), {}, 0
                if shape not in shapes:
                    parts.append(struct.pack("<BBHI", SHAPE, 6, 0, len(shapes)) + shape)
                    shapes[shape] = len(shapes)
                body = body[:56] + struct.pack("<II", shapes[shape], 0)
                parts.append(struct.pack("<BBHI", DISPATCH_WIDE, 9, flags, tid) + body)
            for part in parts:
                if len(current) + len(part) > SLOT_SIZE - 32:
                    out.append((bytes(current), nr))
                    current, shapes, nr = bytearray(), {}, 0
                current += part
                nr += 1
        if current:
            out.append((bytes(current), nr))
        return out

    def write(self, path, closed=True, end_kind=CLOSED_AT_EXIT):
        body = bytearray()
        chunks = self.chunks()
        for seq, (payload, nr) in enumerate(chunks, 1):
            head = struct.pack("<IIQIIII", CHUNK_MAGIC, 0, seq, len(payload), self.tid, nr, 0)
            crc = zlib.crc32(head + payload)
            body += struct.pack("<IIQIIII", CHUNK_MAGIC, crc, seq, len(payload), self.tid, nr, 0) + payload
        first = struct.pack("<QII2QIIQQIIII40s512s512s", SPOOL_MAGIC, 1, HEADER_SIZE, random.getrandbits(64),
                            random.getrandbits(64), self.pid, os.getppid(), self.start, 1, 0, SLOT_SIZE, 0, 0,
                            boot_id(), b"", os.path.abspath(path).encode())
        second = struct.pack("<5Q", HEADER_SIZE + len(body), len(chunks), 0, 0, 0)
        second += struct.pack("<6I", 1, 1 if closed else 0, 0, 0, 0, end_kind)
        second += struct.pack("<2Q", self.start, len(self.records)) + bytes(40)
        for i in range(48):
            second += struct.pack("<QQQ", *self.losses.get(i, (0, 0, 0)))
        temporary = path + ".part"
        with open(temporary, "wb") as file:
            file.write(first.ljust(4096, b"\0") + second.ljust(4096, b"\0") + body)
        os.rename(temporary, path)


def with_memory_half(s, path, start_ticks):
    """The trace of a process that lives: all of it in the memory half, in open chunks."""
    chunks = s.chunks()
    mem_path = path[:-4] + ".mem"
    trace_id = (random.getrandbits(64), random.getrandbits(64))
    slots_offset = HEADER_SIZE + 4096
    first = struct.pack("<QII2QIIQQIIII40s512s512s", SPOOL_MAGIC, 1, HEADER_SIZE, *trace_id, os.getpid(), os.getppid(),
                        s.start, start_ticks, len(chunks), SLOT_SIZE, slots_offset, HEADER_SIZE, boot_id(),
                        os.path.abspath(mem_path).encode(), os.path.abspath(path).encode()).ljust(4096, b"\0")
    second = struct.pack("<5Q6I2Q", HEADER_SIZE, len(chunks), 0, 0, 0, 1, 0, 0, 0, len(chunks), 0, 0, 0)
    second = second.ljust(4096, b"\0")
    slots = b""
    for seq, (payload, nr) in enumerate(chunks, 1):
        head = struct.pack("<IIQIIII", CHUNK_MAGIC, 0, seq, len(payload), s.tid, nr, 0)
        slots += (head + payload).ljust(SLOT_SIZE, b"\0")
    with open(mem_path, "wb") as file:
        file.write(first + second + struct.pack("<II", 2, 0) * len(chunks))
        file.seek(slots_offset)
        file.write(slots)
    with open(path + ".part", "wb") as file:
        file.write(first + second)
    os.rename(path + ".part", path)


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
        # the second one begins before its call returns, the last one ends long after
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
    path = os.path.join(os.environ["RTL_SESSION"], f"{os.getpid()}.rtl")
    if nr:
        sample(nr).write(path)
    if len(sys.argv) > 2:
        time.sleep(int(sys.argv[2]) / 1000)


if __name__ == "__main__":
    main()
