# SPDX-License-Identifier: MIT
"""parquet.py - reads what the Parquet files of rtl use of the format, strictly: what is not as the format has it is an AssertionError"""
import struct
import zlib

MAGIC = b"PAR1"
BOOLEAN, INT64, DOUBLE, BYTE_ARRAY = 0, 2, 5, 6
PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
NONE, GZIP = 0, 2


class Bytes:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, size):
        assert self.at + size <= len(self.data), "cut off"
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    # ---- Thrift's compact protocol ----

    def thrift(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            return self.take(self.varint())
        if kind == 9:
            head = self.take(1)[0]
            nr = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.thrift(head & 15) for _ in range(nr)]
        assert kind == 12, kind
        fields, last = {}, 0
        while (head := self.take(1)[0]) != 0:
            assert head >> 4, "a long field"
            last += head >> 4
            fields[last] = self.thrift(head & 15)
        return fields

    # ---- encodings ----

    def unpack(self, nr, width):
        values, mask = [], (1 << width) - 1
        for _ in range(nr // 8):
            bits = self.number(width)
            values += [bits >> i * width & mask for i in range(8)]
        return values

    def runs(self, nr, width):
        values = []
        while len(values) < nr:
            head = self.varint()
            if head & 1:
                values += self.unpack((head >> 1) * 8, width)
            else:
                assert head >> 1, "an empty run"
                values += [self.number((width + 7) // 8)] * (head >> 1)
        assert len(values) < nr + 8, "more values than the page has"
        return values[:nr]

    def deltas(self, nr):
        block, miniblocks, total, first = self.varint(), self.varint(), self.varint(), self.zigzag()
        assert (block, miniblocks, total) == (128, 4, nr)
        values = [first]
        while len(values) < nr:
            least, widths = self.zigzag(), self.take(miniblocks)
            for width in widths:
                if len(values) < nr:
                    for delta in self.unpack(block // miniblocks, width):
                        # modulo 2^64, as the format has it
                        values.append((values[-1] + least + delta + (1 << 63)) % (1 << 64) - (1 << 63))
        return values[:nr]

    def plain(self, kind, nr):
        if kind == BOOLEAN:
            return [bool(b) for b in self.unpack((nr + 7) // 8 * 8, 1)[:nr]]
        if kind == INT64:
            return list(struct.unpack(f"<{nr}q", self.take(8 * nr)))
        if kind == DOUBLE:
            return list(struct.unpack(f"<{nr}d", self.take(8 * nr)))
        return [self.take(self.number(4)).decode() for _ in range(nr)]


class Column:
    """A column of a row group: its values, encodings and bytes."""

    def __init__(self, data, meta, kind, optional):
        self.kind, self.meta = kind, meta
        self.values, self.seen, dictionary, nr, size = [], set(), None, 0, 0
        assert meta[1] == kind and meta[4] in (NONE, GZIP), meta
        begin = meta.get(11, meta[9])
        self.pages = Bytes(data[: begin + meta[7]], begin)
        while nr < meta[5]:
            at = self.pages.at
            head = self.pages.thrift(12)
            size += self.pages.at - at + head[2]
            data = self.pages.take(head[3])
            page = Bytes(data if meta[4] == NONE else zlib.decompress(data, 31))
            assert len(page.data) == head[2]
            if head[1] == 2:
                assert at == meta[11] and dictionary is None
                dictionary = page.plain(kind, head[7][1])
                assert len(set(dictionary)) == len(dictionary), "an entry twice"
                assert page.at == len(page.data)
                continue
            assert head[1] == 0 and (nr or at == meta[9])
            nr += head[5][1]
            self.add(page, head[5], optional, dictionary)
        assert nr == meta[5] and size == meta[6] and self.pages.at == len(self.pages.data)
        assert self.seen | {RLE} | ({PLAIN} if dictionary is not None else set()) == set(meta[2])
        self.check_statistics()

    def add(self, page, head, optional, dictionary):
        nr, encoding = head[1], head[2]
        levels = [1] * nr
        if optional:
            levels_of = Bytes(page.take(page.number(4)))
            levels = levels_of.runs(nr, 1)
            assert levels_of.at == len(levels_of.data)
        there = sum(levels)
        if encoding == DICTIONARY:
            slots = page.runs(there, page.take(1)[0])
            values = [dictionary[i] for i in slots]
        elif encoding == DELTA:
            values = page.deltas(there)
        else:
            assert encoding == PLAIN
            values = page.plain(self.kind, there)
        assert page.at == len(page.data), "bytes behind the values"
        self.seen.add(encoding)
        values.reverse()
        self.values += [values.pop() if level else None for level in levels]

    def check_statistics(self):
        stats = self.meta[12]
        known = [v for v in self.values if v is not None]
        assert stats[3] == len(self.values) - len(known)
        if 5 in stats:
            most, least = (struct.unpack("<q", stats[i])[0] if self.kind == INT64 else stats[i].decode() for i in (5, 6))
            order = (lambda v: v.encode()) if self.kind == BYTE_ARRAY else None
            assert (least, most) == (min(known, key=order), max(known, key=order))


class File:
    """names, kinds and optional of the columns, rows as tuples, groups as lists of Columns, metadata."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        assert data[:4] == MAGIC == data[-4:], "no Parquet"
        size = int.from_bytes(data[-8:-4], "little")
        footer = Bytes(data[: len(data) - 8], len(data) - 8 - size)
        meta = footer.thrift(12)
        assert footer.at == len(footer.data)
        root, *columns = meta[2]
        assert root[5] == len(columns) == len(meta[7])
        self.table = root[4].decode()
        self.names = [c[4].decode() for c in columns]
        self.kinds = [c[1] for c in columns]
        self.optional = [c[3] == 1 for c in columns]
        assert all((c.get(6), c.get(10)) == ((0, {1: {}}) if c[1] == BYTE_ARRAY else (None, None)) for c in columns)
        self.metadata = {pair[1].decode(): pair[2].decode() for pair in meta[5]}
        self.groups, self.rows = [], []
        for group in meta[4]:
            assert [c[3][3][0].decode() for c in group[1]] == self.names
            found = [Column(data, c[3], kind, optional) for c, kind, optional in zip(group[1], self.kinds, self.optional)]
            assert {len(c.values) for c in found} == {group[3]}
            self.groups.append(found)
            self.rows += zip(*(c.values for c in found))
        assert len(self.rows) == meta[3]

    def dicts(self):
        return [dict(zip(self.names, row)) for row in self.rows]


def read(path):
    return File(path)
