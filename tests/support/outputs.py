# SPDX-License-Identifier: MIT
"""outputs.py - what each output of a trace says of its operations, in one form

numbers(): {output: {what: figure}} of kernels (number, ns), and of copies and fills by type (number, ns, bytes). A figure that an output
does not have is not in its dictionary.
"""
import base64
import collections
import csv
import json
import os
import re
import zlib

KINETO = {"Memcpy HtoD (Host -> Device)": "CopyHostToDevice", "Memcpy DtoH (Device -> Host)": "CopyDeviceToHost",
          "Memcpy DtoD (Device -> Device)": "CopyDeviceToDevice", "Memcpy HtoH (Host -> Host)": "CopyHostToHost",
          "Memset (Device)": "FillBuffer"}
BLIT = "__amd_rocclr_"


class Sums(dict):
    """Adds up figures: ("kernels", "number"), ("CopyHostToDevice", "bytes")."""

    def add(self, name, **figures):
        for what, value in figures.items():
            self[name, what] = self.get((name, what), 0) + value


def is_copy(name):
    return name.startswith(("Copy", "Fill"))


def of_name(name, **figures):
    return ("kernels" if not is_copy(name) else name), figures


def fields(data):
    """Fields of a message of protocol buffers: number, value."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = varint() if key & 7 == 2 else 8 if key & 7 == 1 else 4
        yield key >> 3, data[at:at + size]
        at += size


def of_pftrace(path):
    """Annotations have the id of their name in field 1, integers in 3 and 4; names are interned: id in 1, text in 2."""
    keys, categories, names, sums = {}, {}, {}, Sums()
    with open(path, "rb") as file:
        packets = [p for _, p in fields(file.read())]
    for packet in packets:
        for number, interned in fields(packet):
            if number == 12:
                for table, row in fields(interned):
                    row = dict(fields(row))
                    {1: categories, 2: names, 3: keys}.get(table, {})[row[1]] = row[2].decode()
    for packet in packets:
        for number, event in fields(packet):
            event = list(fields(event)) if number == 11 else []
            figures = {}
            for n, value in event:
                if n == 4:
                    a = dict(fields(value))
                    figures[keys[a[1]]] = a.get(3, a.get(4))
            own = dict(event)
            category = categories.get(own.get(3))
            if category == "kernel":
                sums.add("kernels", number=1, ns=figures["delta_ns"])
            elif category == "copy":
                sums.add(names[own[10]], number=1, ns=figures["delta_ns"], bytes=figures["bytes"])
    return sums


def of_perfetto(path):
    sums = Sums()
    for e in load(path)["traceEvents"]:
        if e.get("cat") in ("kernel", "copy") and e["ph"] == "X":
            ns = e["args"]["end_ns"] - e["args"]["begin_ns"]
            name = "kernels" if e["cat"] == "kernel" else e["name"]
            sums.add(name, number=1, ns=ns, **({} if e["cat"] == "kernel" else {"bytes": e["args"]["bytes"]}))
    return sums


def of_kineto(path):
    sums = Sums()
    for e in load(path)["traceEvents"]:
        if e.get("cat") == "kernel":
            sums.add("kernels", number=1, ns=round(e["dur"] * 1000))
        elif e.get("cat") in ("gpu_memcpy", "gpu_memset"):
            sums.add(KINETO.get(e["name"], e["name"]), number=1, ns=round(e["dur"] * 1000), bytes=e["args"]["bytes"])
    return sums


def of_speedscope(path):
    sums = Sums()
    data = load(path)
    frames = [f["name"] for f in data["shared"]["frames"]]
    for profile in data["profiles"]:
        if profile["name"].startswith("thread ") or "runtime's queue" in profile["name"]:
            continue
        for begin, end in zip(profile["events"][::2], profile["events"][1::2]):
            name, figures = of_name(frames[begin["frame"]], number=1, ns=end["at"] - begin["at"])
            sums.add(name, **figures)
    return sums


def of_folded(path):
    sums = Sums()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, ns = line.rstrip("\n").rsplit(" ", 1)
            name, figures = of_name(stack.split(";")[-1], ns=int(ns))
            sums.add(name, **figures)
    return sums


def of_csv(folder):
    sums, lists = Sums(), Sums()
    for row in table(folder, "stats.csv"):
        sums.add("kernels", number=int(row["Calls"]), ns=int(row["TotalDurationNs"]))
    for row in table(folder, "copy_stats.csv"):
        sums.add(row["Name"], number=int(row["Calls"]), ns=int(row["TotalDurationNs"]))
    for name, kernel in (("results.csv", "KernelName"), ("kernel_trace.csv", "Kernel_Name")):
        lists.add(name, number=sum(not row[kernel].startswith(BLIT) for row in table(folder, name)))
    return sums, lists


def of_summary(text):
    sums = Sums()
    data = json.loads(text)
    for row in data["kernel"]:
        sums.add("kernels", number=row["calls"], ns=row["total_ns"])
    for row in data["copy"]:
        sums.add(row["name"], number=row["calls"], ns=row["total_ns"], bytes=row["bytes"])
    return sums


def of_report(path):
    sums = Sums()
    with open(path, "rb") as file:
        block = re.search(rb'<script type="text/plain" id="main">([A-Za-z0-9+/]*=*)</script>', file.read())[1]
    main = json.loads(zlib.decompress(base64.b64decode(block)))
    for row in main["tables"]["kernels"]:
        sums.add("kernels", number=row["calls"], ns=row["total_ns"])
    for row in main["tables"]["copies"]:
        sums.add(main["names"][row["name"]], number=row["calls"], ns=row["total_ns"], bytes=row["bytes"])
    return sums


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


READERS = {"pftrace": of_pftrace, "perfetto": of_perfetto, "kineto": of_kineto, "speedscope": of_speedscope, "folded": of_folded}


def numbers(rtl, db, folder):
    """rtl: runs a command line and returns its output. Lists of dispatches count without kernels of HIP."""
    found = collections.OrderedDict()
    for name, read in READERS.items():
        path = os.path.join(folder, "out." + name)
        rtl("convert", "-q", db, "-f", name, "-o", path)
        found[name] = read(path)
    rtl("convert", "-q", db, "-f", "csv", "-o", folder + "/")
    found["csv"], found["lists"] = of_csv(folder)
    found["summary"] = of_summary(rtl("summary", db, "--by", "kernel,copy", "-f", "json"))
    rtl("report", "-q", db, "-o", os.path.join(folder, "out.html"))
    found["report"] = of_report(os.path.join(folder, "out.html"))
    return found
