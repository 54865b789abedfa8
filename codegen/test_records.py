#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the description of records: what it refuses, and that traces written before it are what it says.

Run by ctest as codegen.records. test_records.py --update writes tests/golden/*.records anew.
"""

import copy
import json
import os
import sys
import unittest

import emit_records
import records

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = os.path.join(ROOT, "src/spool/records.json")
GOLDEN = os.path.join(ROOT, "tests/golden")


def data():
    """The description, fresh for each caller."""
    with open(PATH, encoding="utf-8") as f:
        return json.load(f)


def entry(d, name):
    """The entry of one record."""
    return next(r for r in d["records"] if r["name"] == name)


def dumped(name):
    """The records of a golden trace, as text."""
    with open(os.path.join(GOLDEN, name), "rb") as f:
        return "\n".join(records.dump(records.load(PATH), f.read())) + "\n"


class Description(unittest.TestCase):
    def refused(self, change, why):
        d = data()
        change(d)
        with self.assertRaises(records.RecordError) as raised:
            records.Description(d)
        self.assertIn(why, str(raised.exception))

    def test_mistake_is_refused_with_record_and_field(self):
        def add(name, field):
            return lambda d: entry(d, name)["fields"].append(field)

        def change(name, key, value):
            return lambda d: entry(d, name).update({key: value})

        self.refused(add("INFO", ["odd", "u32", "", ""]), "INFO: 20 bytes")
        self.refused(add("INFO", ["wide", "u64", "", "", ""]), "INFO: a field is")
        self.refused(add("STRING", ["late", "u64", "", ""]) and
                     (lambda d: entry(d, "INFO")["fields"].insert(1, ["wide", "u64", "", ""])), "INFO.wide: at 12")
        self.refused(add("INFO", ["key", "u64", "", ""]), "INFO: two fields of one name")
        self.refused(add("INFO", ["x", "u64:nobody", "", ""]), "INFO: refers to nobody")
        self.refused(add("INFO", ["x", "u63", "", ""]), "INFO.x: type u63")
        self.refused(change("COPY", "number", 15), "BARRIER: number 15 after 15")
        self.refused(change("COPY", "number", 256), "COPY: number 256")
        self.refused(change("COPY", "class", "copy"), "COPY: class copy")
        self.refused(change("COPY", "sise", 8), "COPY: sise is not understood")
        self.refused(change("LINK", "class", "operation"), "LINK: an operation has")
        self.refused(change("QUEUE", "live", {"QUEUE_STOP": "index"}), "QUEUE: ends with QUEUE_STOP")
        self.refused(lambda d: entry(d, "API")["tail"].update(count="nr"), "API: the size of its tail is nr")
        self.refused(lambda d: entry(d, "COPY").pop("since"), "COPY: has no since")

    def test_numbers_of_version_1_are_unchanged(self):
        names = ("STRING INFO CLOCK THREAD AGENT QUEUE QUEUE_END CODE_OBJECT CODE_OBJECT_END KERNEL SHAPE DISPATCH "
                 "DISPATCH_WIDE COPY BARRIER MARKER MARKER_END OP API LINK").split()
        got = {r.name: r.number for r in records.load(PATH).records}
        for number, name in enumerate(names, 1):
            self.assertEqual(got[name], number)

    def test_added_record_needs_one_entry(self):
        d = data()
        d["records"].append({
            "name": "MADE_UP", "number": 200, "since": 1, "class": "call", "store": "visited", "what": "A value.",
            "id": ["tid", "thread", "who took it"],
            "fields": [["time_ns", "u64", "ns", ""], ["name", "u32:string", "", ""], ["reserved", "u32", "", ""]]})
        description = records.Description(d)
        made = emit_records.sources(description)
        for name, text in (("records_gen.h", "REC_MADE_UP = 200"), ("records_events_gen.h", "struct event_made_up made_up;"),
                           ("records_encode_gen.h", "return put_made_up(b, &ev->made_up);"),
                           ("records_check_gen.h", "is too short for its type, MADE_UP"),
                           ("records_store_gen.h", "X(made_up)"),
                           ("records_visit_gen.h", "return v->made_up(arg, &op);")):
            self.assertIn(text, made[name])
        self.assertIn("| 200 | `MADE_UP` |", emit_records.document(description))

    def test_document_without_table_markers_is_refused(self):
        with self.assertRaises(records.RecordError):
            emit_records.with_tables("# no marker\n", "tables\n")


def records_of(name):
    """The file with the records of a golden trace: one of version 2 has those of version 1, packed."""
    return os.path.join(GOLDEN, name.replace("v2", "v1")[:-4] + ".records")


class Golden(unittest.TestCase):
    maxDiff = None

    def test_golden_traces_match_description(self):
        seen = set()
        for name in sorted(os.listdir(GOLDEN)):
            if name.endswith(".rtl"):
                text = dumped(name)
                seen |= {line.split()[0] for line in text.splitlines()}
                with open(records_of(name), encoding="utf-8") as f:
                    self.assertEqual(text, f.read())
        self.assertLessEqual({r.name for r in records.load(PATH).records if r.number <= 20}, seen)

    def test_layout_of_packed_records_is_that_of_version_2(self):
        # a change needs a new version; a type that is added has no layout
        layouts = {"SHAPE": "4.4N 8.4S 12.4S 16.4S 20.4S 24.4S 28.4S 32.4S 36.4S 40.4S 44.4S 2.2S",
                   "DISPATCH": "16.8B 36.4N 40.4C 8.8S 24.4S 28.4S 32.4S 44.4S 4.4S 2.2S",
                   "DISPATCH_WIDE": "24.8B 32.8E 40.8N 48.8C 8.8S 16.8S 56.8S 64.4S 68.4S 4.4S 2.2S",
                   "COPY": "8.8B 16.8E 32.8C 24.8S 40.8S 48.8S 56.8S 64.4S 68.4S 72.4S 76.4S 4.4S 2.2S",
                   "BARRIER": "8.8B 16.8E 24.8N 32.8C 40.4S 44.4S 4.4S 2.2S",
                   "MARKER": "8.8B 16.8N 24.8S 32.4S 36.4S 40.4S 44.4S 4.4S 2.2S",
                   "MARKER_END": "8.8B 16.8N 4.4S 2.2S",
                   "API": "8.8B 16.8E 24.8C 32.8S 40.4S 44.4S 4.4S 2.2S",
                   "LINK": "8.8C 16.8S 24.8S 4.4S 2.2S"}
        got = {r.name: " ".join(f"{at}.{size}{mode[0]}" for at, size, mode in sum(r.parts(), []))
               for r in records.load(PATH).records if r.packed}
        self.assertEqual(got, layouts)

    def test_wrong_description_does_not_match_golden_traces(self):
        d = data()
        fields = entry(d, "COPY")["fields"]
        fields[5], fields[6] = copy.deepcopy(fields[6]), copy.deepcopy(fields[5])
        with open(os.path.join(GOLDEN, "v1-kinds.rtl"), "rb") as f:
            wrong = records.dump(records.Description(d), f.read())
        self.assertNotEqual("\n".join(wrong) + "\n", dumped("v1-kinds.rtl"))


if __name__ == "__main__":
    if "--update" in sys.argv:
        for rtl in os.listdir(GOLDEN):
            if rtl.endswith(".rtl"):
                with open(records_of(rtl), "w", encoding="utf-8") as out:
                    out.write(dumped(rtl))
    else:
        unittest.main()
