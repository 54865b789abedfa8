#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the list of MPI's functions into wrappers of them.

mpi_ops_gen.h: numbers of the functions; mpi_wrap_gen.c: names, signatures, two exported functions for each, MPI_X and PMPI_X;
librtlmpi.map: what the library shows.
lib/librtlmpi/mpi_wrap.h shows the form of a wrapper. No header of MPI is needed: types are those that are passed the same way by all
libraries; a handle is an int (MPICH) or a pointer (Open MPI, the standard ABI), and goes through in a whole register.

Usage: emit_mpi.py --out DIR
Exit:  0 written, 1 the list is not understood; nothing is written then.
"""

import argparse
import os
import re
import sys

from extract import write_if_changed

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "models", "mpi", "functions.txt")
HANDLES = ("MPI_Comm", "MPI_Datatype", "MPI_Request", "MPI_Win", "MPI_File", "MPIO_Request", "MPI_Message", "MPI_Group", "MPI_Info", "MPI_Op",
           "MPI_Errhandler", "MPI_Session")
NUMBERS = {"int": "int", "MPI_Aint": "int64_t", "MPI_Offset": "int64_t", "MPI_Count": "int64_t"}
# pointers to a communicator that the call makes
NEW_COMMS = ("newcomm", "newintercomm", "newintracomm", "comm_cart", "comm_graph", "comm_dist_graph", "intercomm")
# handles that the call takes away or changes: their values before it count
TAKES = re.compile(r"MPI_(Wait|Test|Start|Cancel|Request_free|Request_get_status|Win_free|File_close|Comm_free|Comm_disconnect)$")
# what completes requests, and says which
COMPLETES = re.compile(r"MPI_(Wait|Test)(all|any|some)?$")
# receives and probes, which learn from a status what came
RECEIVES = re.compile(r"MPI_(Recv|Mrecv|Sendrecv|Sendrecv_replace|I?probe|(Im|M)probe)$", re.I)
COLLECTIVE = re.compile(r"MPI_(I?neighbor_)?I?(allgatherv?|allreduce|alltoall[vw]?|barrier|bcast|gatherv?|reduce(_scatter(_block)?)?|"
                        r"scatterv?|exscan|scan)(_init)?$", re.I)


# statements of `before` that are at the function's head
DECLARED = ("struct mpi_comm at;", "struct mpi_list list;", "union")


class ListError(Exception):
    """The list is not understood."""


class Param:
    """A parameter: its name and a type that is passed the same way."""

    def __init__(self, text):
        m = re.match(r"^(?:const )?(.*?)([A-Za-z_]\w*)((?:\[\d*\])*)$", text.strip())
        if not m:
            raise ListError("parameter not understood: " + text)
        base, self.name, array = m.group(1).strip(), m.group(2), m.group(3)
        self.points_to = base.replace("const", "").rstrip("* ").strip() if "*" in base or array else None
        if self.points_to is not None or base.endswith("_function"):
            self.type = "void *"
        elif base in HANDLES:
            self.type = "mpi_handle"
        elif base in NUMBERS:
            self.type = NUMBERS[base]
        else:
            raise ListError("type not understood: " + text)

    def declare(self):
        return self.type + ("" if self.type.endswith("*") else " ") + self.name


class Function:
    """A function and the words of its records."""

    def __init__(self, line):
        m = re.match(r"^(MPI_\w+)\((.*)\)$", line)
        if not m:
            raise ListError("line not understood: " + line)
        self.name, params = m.group(1), m.group(2)
        self.params = [] if params == "void" else [Param(p) for p in params.split(",")]
        self.by_name = {p.name: p for p in self.params}
        if len(self.by_name) != len(self.params):
            raise ListError("two parameters of one name: " + line)
        self.plain = re.sub(r"_c$", "", self.name)  # without the suffix of large counts
        self.is_collective = bool(COLLECTIVE.match(self.plain))
        self.receives = bool(RECEIVES.match(self.plain)) and "status" in self.by_name
        self.before = []  # statements before the call
        self.words = []  # (name, type, expression)
        self.list = None  # the call that appends requests to the words
        self.plan()
        self.plan_list()

    def has(self, *names):
        return all(n in self.by_name for n in names)

    def add(self, name, kind, expression):
        self.words.append((name, kind, expression))

    def comm(self):
        """The parameter of the communicator that the call is on."""
        for n in ("comm", "comm_old", "local_comm", "intercomm", "parent_comm", "comm_param"):
            if self.has(n) and self.by_name[n].type == "mpi_handle":
                return n
        return None

    def share(self, counts, datatype):
        """This rank's own share of what has a count for each rank."""
        return "mpi_bytes(mpi_count(%s, at.rank, IS_LARGE), %s)" % (counts, datatype)

    def rooted(self, at_root, elsewhere):
        return "mpi_is_root(&at, root) ? %s : mpi_is_idle(&at, root) ? 0 : %s" % (at_root, elsewhere)

    def bytes_of_collective(self):
        op = re.sub(r"^i|_init$", "", self.plain[4:].lower())
        send, recv = "mpi_bytes(sendcount, sendtype)", "mpi_bytes(recvcount, recvtype)"
        special = {
            "barrier": None, "neighbor_alltoallv": None, "neighbor_alltoallw": None,
            "neighbor_allgather": send, "neighbor_allgatherv": send, "neighbor_alltoall": send,
            "gather": self.rooted(recv, send), "scatter": self.rooted(send, recv),
            "gatherv": self.rooted(self.share("recvcounts", "recvtype"), send),
            "scatterv": self.rooted(self.share("sendcounts", "sendtype"), recv),
            "allgather": recv, "alltoall": recv, "allgatherv": self.share("recvcounts", "recvtype"),
            "alltoallv": "mpi_bytes(mpi_sum(recvcounts, &at, IS_LARGE), recvtype)",
            "alltoallw": "mpi_bytes_of_types(recvcounts, recvtypes, &at, IS_LARGE)",
            "reduce_scatter": self.share("recvcounts", "datatype"), "reduce_scatter_block": "mpi_bytes(recvcount, datatype)",
            "bcast": "mpi_is_idle(&at, root) ? 0 : mpi_bytes(count, datatype)",
            "reduce": "mpi_is_idle(&at, root) ? 0 : mpi_bytes(count, datatype)",
        }
        if op in special:
            return special[op]
        if not self.has("count", "datatype"):
            raise ListError("no count: " + self.name)
        return "mpi_bytes(count, datatype)"

    def bytes(self):
        if self.is_collective:
            return self.bytes_of_collective()
        if self.receives and not self.has("sendcount") and "replace" not in self.name:
            return "from.bytes"
        for count, datatype in (("sendcount", "sendtype"), ("result_count", "result_datatype"), ("origin_count", "origin_datatype"),
                                ("count", "datatype")):
            if self.has(count, datatype):
                per = "partitions * " if self.has("partitions") else ""
                return "mpi_bytes(%s%s, %s)" % (per, count, datatype)
        return "mpi_bytes(1, datatype)" if self.has("datatype") else None

    def plan(self):
        comm = self.comm()
        old = self.plain in ("MPI_Comm_free", "MPI_Comm_disconnect")
        b = self.bytes()
        if b:
            self.add("bytes", "z:bytes", "ok ? %s : 0" % b.replace("IS_LARGE", "true" if self.name.endswith("_c") else "false"))
        if self.receives and self.has("sendcount") or self.plain == "MPI_Sendrecv_replace":
            self.add("received", "z", "from.bytes")
        self.plan_peers()
        if old:
            self.before.append("uint64_t was;")
            self.before.append("struct mpi_comm at = mpi_comm_take(comm, &was);")
        elif comm:
            # what is there after a call that succeeded is valid
            self.before.append("struct mpi_comm at;")
        if comm or old:
            self.add("comm", "x", "at.id")
        if self.is_collective:
            self.add("ranks", "i", "at.size")
        if self.has("root"):
            self.add("root", "i", "mpi_peer(root)")
        for p in self.params:
            self.plan_param(p, comm)

    def plan_peers(self):
        flag = "ok && *(int *)flag" if self.has("flag") else "ok"
        if self.has("dest", "source"):
            self.add("peer", "i", "mpi_peer(dest)")
            self.add("tag", "i", "mpi_tag(sendtag)")
            source, tag = "source", "recvtag"
            names = ("source", "recvtag")
        else:
            source = next((n for n in ("dest", "source", "target_rank", "rank") if self.has(n)), None)
            tag = "tag"
            names = ("peer", "tag")
        if self.receives:
            got = "from.is_known" if self.has("source") else "true"
            self.add(names[0], "i", "%s ? from.source : %s" % (got, "mpi_peer(%s)" % source if source else "0"))
            self.add(names[1], "i", "%s ? from.tag : %s" % (got, "mpi_tag(%s)" % tag if self.has(tag) else "0"))
            self.before.append("union mpi_status own;")
            self.before.append("status = mpi_status(status, &own);")
            self.after = "struct mpi_from from = mpi_received(%s, status);" % flag
            return
        if source:
            self.add(names[0], "i", "mpi_peer(%s)" % source)
        if self.has(tag):
            self.add(names[1], "i", "mpi_tag(%s)" % tag)

    def plan_list(self):
        """The requests that the call has completed or started: its last words, of which there may be any number."""
        requests = "array_of_requests" if self.has("array_of_requests") else "request"
        nr = next((n for n in ("count", "incount") if self.has(n)), "1")
        if self.plain == "MPI_Startall":
            self.before.append("struct mpi_list list;")
            self.before.append("mpi_list_begin(&list, %s, %s, NULL, 0);" % (nr, requests))
            self.add("started", "r", None)
            self.list = "mpi_list_words(&list, ok ? %s : 0, NULL, NULL, words + nr)" % nr
        if not COMPLETES.match(self.plain):
            return
        statuses = "array_of_statuses" if self.has("array_of_statuses") else "status"
        self.before.append("struct mpi_list list;")
        self.before.append("%s = mpi_list_begin(&list, %s, %s, %s, %s);" % (statuses, nr, requests, statuses, nr if "array" in statuses else "1"))
        ok = "ok && *(int *)flag" if self.has("flag") else "ok"
        done = "*(int *)outcount" if self.has("outcount") else nr if "array" in statuses else "1"
        indices = next((n for n in ("array_of_indices", "indx") if self.has(n)), "NULL")
        self.add("done", "r", None)
        self.list = "mpi_list_words(&list, %s ? %s : 0, %s, %s, words + nr)" % (ok, done, indices, statuses)

    after = None

    def plan_param(self, p, comm):
        taken = bool(TAKES.match(self.plain)) or p.points_to == "MPI_Message" and "probe" not in self.plain
        if p.name in NEW_COMMS and p.points_to == "MPI_Comm":
            self.add("newcomm", "x", "new.id")
            self.add("newranks", "i", "new.size")
            self.add("newrank", "i", "new.rank")
            # one between two groups is made from another one on each side
            how = "mpi_comm_copy(ok, &at, %s)" if "dup" in self.name else "mpi_comm_new(ok, &at, %s)" if comm and comm != "local_comm" else "mpi_comm_new(ok, NULL, %s)"
            self.new = "struct mpi_comm new = %s;" % how % p.name
        elif p.points_to in ("MPI_Request", "MPIO_Request", "MPI_Message", "MPI_Win", "MPI_File") and not p.name.startswith("array"):
            name = {"MPI_Message": "message", "MPI_Win": "win", "MPI_File": "file"}.get(p.points_to, "request")
            if taken:
                self.before.append("uint64_t %s_was = mpi_value(%s);" % (name, p.name))
            self.add(name, "h", "%s_was" % name if taken else "ok ? mpi_value(%s) : 0" % p.name)
        elif p.type == "mpi_handle" and p.name in ("win", "fh", "request"):
            self.add({"fh": "file"}.get(p.name, p.name), "h", "mpi_handle_value(%s)" % p.name)
        elif p.name in ("flag", "outcount", "provided") and p.points_to == "int" or p.name in ("indx", "index") and self.has("array_of_requests"):
            self.add({"indx": "index"}.get(p.name, p.name), "i", "ok ? *(int *)%s : 0" % p.name)
        elif p.name in ("color", "key", "amode", "required", "offset", "size", "maxprocs") and not p.points_to:
            self.add(p.name, "i", p.name)
        elif p.name in ("count", "incount") and any(q.name == "array_of_requests" for q in self.params):
            self.add("count", "i", p.name)
        elif p.name in ("filename", "command") and p.points_to == "char":
            self.add(p.name, "s", "mpi_text(%s)" % p.name)

    new = None


def load():
    with open(LIST, encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    functions = [Function(line) for line in lines]
    if [f.name for f in functions] != sorted({f.name for f in functions}):
        raise ListError("the list is not sorted, or has a function twice")
    return functions


def value(kind, expression):
    return "(uint64_t)(int64_t)(%s)" % expression if kind == "i" else expression


def wrapper(f):
    """The function that records, and the two that call it."""
    op = "MPI_OP_" + f.name[4:]
    params = ", ".join(p.declare() for p in f.params)
    names = ", ".join(p.name for p in f.params)
    types = ", ".join(p.type for p in f.params) or "void"
    comm = f.comm()
    body = "call_" + f.name[4:]
    out = ["static int %s(void *fn%s)" % (body, ", " + params if params else ""), "{",
           "\tint (*real)(%s) = (int (*)(%s))fn;" % (types, types), "\tstruct api_call call;"]
    out += ["\t" + s for s in f.before if s.startswith(DECLARED)]
    if f.words:
        out.append("\tuint64_t end;")
    out += ["\tint ret;", "", "\tif (!fn)", "\t\treturn MPI_NOT_LOADED;",
            "\tif (!mpi_begin(%s, &call, RTL_FRAME())) {" % op,
            "\t\tret = real(%s);" % names, "\t\tmpi_pass(RTL_FRAME());", "\t\treturn ret;", "\t}"]
    early = [s for s in f.before if not s.startswith(DECLARED)]
    out += ["\t" + s for s in early]
    out.append("\tret = real(%s);" % names)
    if not f.words:
        out += ["\tmpi_end(%s, &call, mpi_now(), ret, NULL, 0);" % op]
    else:
        out += ["\tend = mpi_now();", "\tif (mpi_has_args()) {", "\t\tbool ok = ret == 0;"]
        if f.after:
            out.append("\t\t" + f.after)
        if comm:
            out.append("\t\tat = mpi_comm_of(ok, %s);" % comm)
        if f.new:
            out.append("\t\t" + f.new)
        if f.plain in ("MPI_Comm_free", "MPI_Comm_disconnect"):
            out.append("\t\tmpi_comm_gone(ok, was, &at);")
        fixed = [value(k, e) for _, k, e in f.words if e is not None]
        if f.list:
            out += ["\t\tuint64_t words[MPI_WORDS];", "\t\tuint32_t nr = %d;" % len(fixed), ""]
            out += ["\t\twords[%d] = %s;" % row for row in enumerate(fixed)]
            out += ["\t\tnr += %s;" % f.list, "\t\tmpi_end(%s, &call, end, ret, words, nr);" % op]
        else:
            out += ["\t\tuint64_t words[] = { %s };" % ", ".join(fixed), "",
                    "\t\t(void)ok;", "\t\tmpi_end(%s, &call, end, ret, words, %d);" % (op, len(fixed))]
        out += ["\t} else {", "\t\tmpi_end(%s, &call, end, ret, NULL, 0);" % op, "\t}"]
    if f.list:
        out.append("\tmpi_list_end(&list);")
    if f.plain in ("MPI_Init", "MPI_Init_thread"):
        out.append("\tmpi_started(ret == 0);")
    out += ["\treturn ret;", "}", ""]
    for prefix, standard in (("", "false"), ("P", "true")):
        name = prefix + f.name
        out += ["EXPORT int %s(%s);" % (name, params or "void"), "EXPORT int %s(%s)" % (name, params or "void"), "{",
                "\treturn %s(mpi_real(%s, %s)%s);" % (body, op, standard, ", " + names if names else ""), "}", ""]
    return out


def header(functions):
    out = ["/* SPDX-License-Identifier: MIT */", "/* mpi_ops_gen.h - MPI's functions", " *",
           " * Generated by codegen/emit_mpi.py from codegen/models/mpi. Do not edit.", " */",
           "#ifndef RTL_GEN_MPI_OPS_GEN_H", "#define RTL_GEN_MPI_OPS_GEN_H", "",
           "/* The number of a function in the records of one build. */", "enum mpi_op {"]
    out += ["\tMPI_OP_%s = %d," % (f.name[4:], i) for i, f in enumerate(functions)]
    return out + ["\tMPI_OP_NR = %d" % len(functions), "};", "", "#endif"]


def source(functions):
    out = ["/* SPDX-License-Identifier: MIT */", "/* mpi_wrap_gen.c - MPI's functions as the program sees them", " *",
           " * Generated by codegen/emit_mpi.py from codegen/models/mpi. Do not edit.", " */",
           '#include "mpi_wrap.h"', "", "const struct api_op mpi_ops[] = {"]
    out += ['\t[MPI_OP_%s] = { "%s", "%s" },' % (f.name[4:], f.name, ",".join("%s:%s" % (n, k) for n, k, _ in f.words)) for f in functions]
    out += ["};", ""]
    for f in functions:
        out += wrapper(f)
    return out


def symbols(functions):
    out = ["/* What librtlmpi.so shows. Generated by codegen/emit_mpi.py. */", "{", "global:"]
    out += ["\t%s;" % n for f in functions for n in (f.name, "P" + f.name)]
    return out + ["local:", "\t*;", "};"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    try:
        functions = load()
        files = {"mpi_ops_gen.h": header(functions), "mpi_wrap_gen.c": source(functions), "librtlmpi.map": symbols(functions)}
    except (ListError, OSError) as e:
        sys.stderr.write("emit_mpi: %s: %s\n" % (type(e).__name__, e))
        sys.exit(1)
    for name, lines in files.items():
        write_if_changed(os.path.join(args.out, name), "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
