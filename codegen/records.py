#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The description of records (src/spool/records.json): reads and checks it, and reads traces by it."""

import json
import re
import struct

SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4, "char": 1}
CTYPES = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "i32": "int32_t",
          "char": "char", "bool": "bool", "text": "const char *"}
CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "char": "s"}
HEAD = 8  # bytes of struct rec_head
MAX = 255 * 8
CLASSES = ("fact", "operation", "call", "internal")
STORES = ("kept", "visited", "owned")
REFS = ("string", "agent", "queue", "code_object", "kernel", "shape", "thread", "marker", "correlation")
KEYS = {"name", "number", "since", "class", "what", "struct", "id", "flags", "fields", "tail", "event", "event_of",
        "event_extra", "by_hand", "store", "extra", "live", "packed"}
# fields that an operation must have: the recorder and the bus read them
OPERATION = {"begin_ns", "end_ns", "correlation"}


class RecordError(Exception):
    """The description is wrong; the message says where."""


class Field:
    """One field of a record: its offset, and what its type refers to."""

    def __init__(self, row, offset, where):
        if len(row) != 4:
            raise RecordError(f"{where}: a field is [name, type, unit, meaning]: {row}")
        self.name, kind, self.unit, self.what = row
        match = re.fullmatch(r"(\w+)(?:\[(\d+)\])?(?::(\w+))?", kind)
        if not match or match.group(1) not in CTYPES:
            raise RecordError(f"{where}.{self.name}: type {kind}")
        self.type, self.nr, self.ref = match.group(1), int(match.group(2) or 0), match.group(3) or ""
        self.ctype = CTYPES[self.type]
        self.offset = offset
        self.size = SIZES.get(self.type, 0) * (self.nr or 1)
        self.reserved = self.name.startswith("reserved")

    def declare(self, ctype=None):
        """The field as a C declaration."""
        ctype = ctype or self.ctype
        return f"{ctype}{'' if ctype.endswith('*') else ' '}{self.name}{f'[{self.nr}]' if self.nr else ''};"


class Record:
    """One type of record."""

    def __init__(self, entry, structs):
        self.name = entry.get("name", "?")
        if set(entry) - KEYS or not re.fullmatch(r"[A-Z][A-Z_]*", self.name):
            raise RecordError(f"{self.name}: {', '.join(sorted(set(entry) - KEYS)) or 'name'} is not understood")
        for key in ("number", "since", "class", "what"):
            if key not in entry:
                raise RecordError(f"{self.name}: has no {key}")
        self.number, self.since, self.klass, self.what = (entry[k] for k in ("number", "since", "class", "what"))
        if self.klass not in CLASSES or entry.get("store", "kept") not in STORES:
            raise RecordError(f"{self.name}: class {self.klass}, store {entry.get('store')}")
        self.lower = self.name.lower()
        self.struct = entry.get("struct", self.lower)
        self.first = self.struct not in structs  # of those that share the structure
        self.id = entry.get("id")
        flags = entry.get("flags", "").partition(":")
        self.flags, self.flags_enum = flags[0], flags[2]
        self.tail = entry.get("tail")
        self.by_hand = entry.get("by_hand", "")
        self.store = entry.get("store", "")
        self.packed = entry.get("packed", False)  # has a layout in packed chunks; others are words
        self.has_event = self.klass != "internal"
        self.event_rows, self.event_of = entry.get("event"), entry.get("event_of", [])
        self.event_extra = entry.get("event_extra", [])
        self.live = entry.get("live")  # None: nothing that later sinks have to know
        self.extra = [Field(row, 0, self.name) for row in entry.get("extra", [])]
        self.size = HEAD
        self.fields = []
        rows = structs.setdefault(self.struct, entry.get("fields", []))
        for row in rows:
            field = Field(row, self.size, self.name)
            self.fields.append(field)
            self.size += field.size
        self.check()

    def check(self):
        """Raises RecordError for what the format does not allow."""
        names = [f.name for f in self.fields]
        if len(set(names)) != len(names):
            raise RecordError(f"{self.name}: two fields of one name")
        for field in self.fields:
            unit = SIZES.get(field.type)
            if not unit or field.offset % unit:
                raise RecordError(f"{self.name}.{field.name}: at {field.offset}, which is not a multiple of its size")
        if self.size % 8 or self.size > MAX:
            raise RecordError(f"{self.name}: {self.size} bytes, which is not a multiple of 8 up to {MAX}")
        if self.klass == "operation" and not self.event_of and not OPERATION <= set(names):
            raise RecordError(f"{self.name}: an operation has {', '.join(sorted(OPERATION))}")
        for name in (self.tail or {}).get("rest", []) [:2] + [(self.tail or {}).get("count")]:
            if name and name not in names:
                raise RecordError(f"{self.name}: the size of its tail is {name}, which it does not have")

    def id_name(self):
        """The event's name of the number in the record's head; "" if it has parts, or there is none."""
        return self.id[0] if self.id and isinstance(self.id[0], str) else ""

    def id_ref(self):
        """What the number in the record's head refers to."""
        return self.id[1] if self.id_name() else ""

    def thread(self):
        """The field of the event that names a thread; "": there is none."""
        if self.id_ref() == "thread":
            return self.id_name()
        return next((f.name for f in self.fields if f.ref == "thread"), "")

    def parts(self):
        """The parts of a packed record, as (offset, size, what is expected of it): those that are expected to change,
        then the others. Behind them are words of 8 bytes."""
        if not self.packed:
            return [], [(4, 4, "SAME"), (2, 2, "SAME")]
        moving, same, seen = [], [], set()
        at = HEAD
        while at < self.size:
            f = next(f for f in self.fields if f.offset <= at < f.offset + f.size)
            unit = SIZES[f.type]
            if unit < 4 and at % 4 == 0:
                unit = 4  # small neighbours are one part
            mode = "SAME"
            if f.type == "u64" and f.unit == "ns":
                mode = "END" if "ns" in seen else "BEGIN"
                seen.add("ns")
            elif f.ref == "correlation" and "correlation" not in seen:
                mode = "CORRELATION"
                seen.add("correlation")
            elif f.name == "packet" or (f.name == "marker" and self.struct in ("marker", "end")):
                mode = "NEXT"
            (same if mode == "SAME" else moving).append((at, unit, mode))
            at += unit
        head = (4, 4, "NEXT" if self.id_ref() == "shape" else "SAME")
        (same if head[2] == "SAME" else moving).append(head)
        return moving, same + [(2, 2, "SAME")]


class Description:
    """All of records.json."""

    def __init__(self, data):
        structs = {}
        self.enums, self.constants = data["enums"], data["constants"]
        self.records = [Record(entry, structs) for entry in data["records"]]
        self.by_name = {r.name: r for r in self.records}
        self.events = [r for r in self.records if r.has_event]
        last = 0
        for record in self.records:
            if record.number <= last or record.number > 255:
                raise RecordError(f"{record.name}: number {record.number} after {last}: they ascend, and stay")
            last = record.number
            known = set(REFS) | {e["name"] for e in self.enums} | {""}
            for ref in [f.ref for f in record.fields] + [record.id_ref(), record.flags_enum]:
                if ref not in known:
                    raise RecordError(f"{record.name}: refers to {ref}, which does not exist")
        for record in self.records:
            for end in record.live or {}:
                if end not in self.by_name or self.by_name[end].struct != "end":
                    raise RecordError(f"{record.name}: ends with {end}, which ends nothing")
        if len(self.by_name) != len(self.records):
            raise RecordError("two records of one name")


def load(path):
    """The description at `path`."""
    with open(path, encoding="utf-8") as f:
        return Description(json.load(f))


def constant(description, name):
    """The value of a constant of the description."""
    return int(next(c[1] for c in description.constants if c[0] == name).rstrip("u"))


def tail_size(description, record, values, flags):
    """(bytes of the tail, elements), by the record's fields."""
    tail = record.tail
    if not tail:
        return 0, 0
    if "rest" in tail:
        nr = min(values[tail["rest"][0]] - values[tail["rest"][1]], constant(description, tail["rest"][2]))
    else:
        nr = values[tail["count"]]
    if "if" in tail:
        bit = next(v[1] for e in description.enums for v in e["values"] if e["prefix"] + v[0] == tail["if"])
        nr = nr if flags & bit else 0
    return nr * SIZES[tail["type"]], nr


def dump_record(description, data):
    """One record's bytes as a line of text."""
    number, _, flags, ident = struct.unpack_from("<BBHI", data)
    record = next(r for r in description.records if r.number == number)
    values, shown = {}, []
    for field in record.fields:
        code = CODES[field.type]
        got = struct.unpack_from(f"<{field.nr or ''}{code}", data, field.offset)
        value = got[0].rstrip(b"\0").decode() if code == "s" else list(got) if field.nr else got[0]
        values[field.name] = value
        if field.reserved and value:
            raise RecordError(f"{record.name}.{field.name}: {value} instead of 0")
        if not field.reserved:
            shown.append(f"{field.name}={value}")
    size, nr = tail_size(description, record, values, flags)
    if len(data) != record.size + (size + 7) // 8 * 8 or any(data[record.size + size:]):
        raise RecordError(f"{record.name}: {len(data)} bytes, not {record.size} and {size} with zeroes up to 8")
    if record.tail and size:
        tail = data[record.size:record.size + size]
        text = tail.decode() if record.tail["type"] == "char" else str(list(struct.unpack(f"<{nr}Q", tail)))
        shown.append(f"{record.tail['name']}={text}")
    return " ".join([record.name, f"id={ident}", f"flags={flags}"] + shown)


GROUP = 28  # parts with a mask in front of them


class Packed:
    """The bytes of a packed chunk (docs/formats/spool.md, Packed chunks), and what is known from earlier records."""

    def __init__(self, description, data):
        self.types = {r.number: r for r in description.records}
        self.data, self.at = data, 0
        self.last = {"BEGIN": 0, "CORRELATION": 0}
        self.models = {}

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        first = self.data[self.at]
        size = (first & -first).bit_length() if first else 9
        value = int.from_bytes(self.data[self.at:self.at + size], "little") >> min(size, 8)
        self.at += size
        return value

    def difference(self):
        number = self.number()
        return number >> 1 if number % 2 == 0 else -(number >> 1) - 1

    def record(self):
        """The next record."""
        slot = self.byte()
        if slot & 128:
            number, words = self.byte(), self.byte()
            record = bytearray([number, words]) + bytes(words * 8 - 2)
        else:
            record = bytearray(self.models[slot])
        kind = self.types.get(record[0])
        whole = kind and len(record) >= kind.size
        moving, same = kind.parts() if whole else ([], [(4, 4, "SAME"), (2, 2, "SAME")])
        begin = kind.size if whole and kind.packed else HEAD
        parts = moving + same + [(at, 8, "SAME") for at in range(begin, len(record), 8)]
        moved = mask = 0
        for i, (at, size, mode) in enumerate(parts):
            if i % GROUP == 0:
                mask = self.number()
            was = int.from_bytes(record[at:at + size], "little")
            value = {"SAME": was, "NEXT": was + 1, "BEGIN": self.last["BEGIN"], "END": was + moved,
                     "CORRELATION": self.last["CORRELATION"] + 1}[mode]
            value = (value + (self.difference() if mask >> i % GROUP & 1 else 0)) % (1 << 8 * size)
            record[at:at + size] = value.to_bytes(size, "little")
            if mode == "BEGIN":
                moved = value - was
            if mode in ("BEGIN", "END"):
                self.last["BEGIN"] = value
            if mode == "CORRELATION" and value:
                self.last["CORRELATION"] = value
        self.models[slot & 127] = bytes(record)
        return bytes(record)


KEPT_FROM = 4096 + 120 + 48 * 24  # in struct spool_header


def dump(description, data):
    """All records of the disk half `data` of a closed trace, as lines."""
    kept_from = struct.unpack_from("<Q", data, KEPT_FROM)[0]
    at = kept_from or struct.unpack_from("<I", data, 12)[0]
    lines = []
    while at < len(data):
        seq, committed, _, _, stored = struct.unpack_from("<QIIII", data, at + 8)
        at += 32
        if seq >> 63 and (seq & ~(1 << 63)) >> 12 != kept_from // 8:
            at += committed  # superseded
            continue
        if stored:
            packed = Packed(description, data[at:at + stored])
            while committed:
                record = packed.record()
                lines.append(dump_record(description, record))
                committed -= len(record)
            if any(packed.data[packed.at:]) or len(packed.data) - packed.at >= 8:
                raise RecordError(f"the chunk at {at - 32}: more than its records")
            at += stored
            continue
        end = at + committed
        while at < end:
            size = data[at + 1] * 8
            lines.append(dump_record(description, data[at:at + size]))
            at += size
    return lines
