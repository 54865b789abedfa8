#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the HSA table model into hsa_table_gen.h and hsa_table_gen.c.

Reads hsa.json (extract.py), models/layouts.json (the order of the tables in each release) and
models/extra.json (prototypes of newer functions). README.md describes what comes out.

Usage: emit_hsa_table.py --model hsa.json --out DIR
Exit:  0 written, 1 the models contradict each other; nothing is written then.
"""

import argparse
import json
import os
import sys

from extract import split_top, write_if_changed

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER_BYTES = 16  # the version at the head of each table
NONE = 0xFF

# table -> (enum and macro prefix, prefix that the short names leave out)
PREFIX = {
    "core": ("HSA_CORE", "hsa_"),
    "amd_ext": ("HSA_AMD", "hsa_amd_"),
    "image_ext": ("HSA_IMAGE", "hsa_ext_"),
    "finalizer_ext": ("HSA_FINALIZER", "hsa_ext_"),
    "tools": ("HSA_TOOLS", "hsa_amd_tool_"),
}

# hsa_api_trace.h alone declares these, and C cannot include it
TRACE_TYPES = ("hsa_amd_queue_intercept_packet_writer", "hsa_amd_queue_intercept_handler",
               "hsa_amd_runtime_queue_notifier")


class ModelError(Exception):
    """Two models contradict each other; the message says where."""


def size_of(entries):
    """Bytes of a table: its minor_id."""
    return HEADER_BYTES + 8 * entries


def short(table, function):
    """hsa_amd_queue_intercept_create -> queue_intercept_create"""
    strip = PREFIX[table][1]
    return function[len(strip):] if function.startswith(strip) else function


def layouts_by_release(layouts):
    """Replays the recorded changes: {release: names of amd_ext in order}."""
    names = list(layouts["amd_ext_base"])
    pending = list(layouts["amd_ext_changes"])
    out = {}
    for run in layouts["runtimes"]:
        version = [int(x) for x in run["rocm"].split(".")]
        while pending and [int(x) for x in pending[0]["rocm"].split(".")] <= version:
            change = pending.pop(0)
            names[change["at"]:change["at"]] = change["names"]
        if size_of(len(names)) != run["amd_ext"][1]:
            raise ModelError("layouts.json: %s has %d bytes of amd_ext, its names make %d"
                             % (run["rocm"], run["amd_ext"][1], size_of(len(names))))
        if len(set(names)) != len(names):
            raise ModelError("layouts.json: a name twice in %s" % run["rocm"])
        out[run["rocm"]] = list(names)
    if pending:
        raise ModelError("layouts.json: a change for %s, which is no runtime" % pending[0]["rocm"])
    return out


def check_classes(layouts, releases):
    """Checks that each release is a prefix of the order of the class that its size selects."""
    for run in layouts["runtimes"]:
        names, size = releases[run["rocm"]], run["amd_ext"][1]
        hit = [c for c in layouts["classes"] if c["first"] <= size <= c["last"]]
        if len(hit) != 1 or releases[hit[0]["of"]][:len(names)] != names:
            raise ModelError("layouts.json: no one class for %s" % run["rocm"])


def plan(model, layouts):
    """Returns (logical order of amd_ext, classes with their order, name of the model's class)."""
    releases = layouts_by_release(layouts)
    check_classes(layouts, releases)
    newest = releases[layouts["classes"][-1]["of"]]
    installed = model["tables"]["amd_ext"]
    if installed[:len(newest)] == newest:
        newest = installed  # headers newer than all records: what they append is known too
    elif installed not in releases.values():
        raise ModelError("the headers' amd_ext table (%d entries) has an order that layouts.json "
                         "does not know; record it there" % len(installed))
    classes = []
    for cls in layouts["classes"]:
        order = newest if cls is layouts["classes"][-1] else releases[cls["of"]]
        classes.append({"name": cls["name"], "first": cls["first"], "last": cls["last"],
                        "order": order})
    size = size_of(len(installed))
    mine = next(c for c in classes if c["first"] <= size <= c["last"])
    head = 0
    while all(len(c["order"]) > head and c["order"][head] == newest[head] for c in classes):
        head += 1
    classes.append({"name": "unknown", "first": 0, "last": 0, "order": newest[:head]})
    return newest, classes, mine


def declare(ctype, name):
    """`void (*)(int)` and `cb` -> `void (*cb)(int)`"""
    if "(*)" in ctype:
        return ctype.replace("(*)", "(*%s)" % name, 1)
    return ctype + ("" if ctype.endswith("*") else " ") + name


def wrapped(head, items, tail, indent="\t\t"):
    """`head item, item tail`, broken before column 100."""
    lines, line = [], head
    for i, item in enumerate(items):
        piece = item + ("," if i + 1 < len(items) else tail)
        joiner = "" if line.endswith("(") or line == indent else " "
        if len(line.expandtabs(8)) + len(joiner) + len(piece) > 100:
            lines.append(line)
            line, joiner = indent, ""
        line += joiner + piece
    if not items:
        line += tail
    return "\n".join(lines + [line])


def fn_typedef(name, proto):
    """typedef of the function pointer."""
    params = []
    for p in proto["params"]:
        # a long callback parameter is broken at its own commas
        params += [x.strip() for x in split_top(declare(p["type"], p["name"]))]
    head = "typedef %s(*%s_fn_t)(" % (declare(proto["returns"], ""), name)
    return wrapped(head, params or ["void"], ");")


def enum(name, prefix, table, functions, comment):
    """The ids of one table."""
    out = ["/* %s */" % comment, "enum %s {" % name]
    for i, f in enumerate(functions):
        out.append("\t%s_%s = %d," % (prefix, short(table, f), i))
    out += ["\t%s_NR = %d" % (prefix, len(functions)), "};", ""]
    return out


def list_macro(name, rows):
    """An X macro, one row a line."""
    return ["#define %s(X) \\" % name] + [
        "\tX(%s)%s" % (", ".join(str(c) for c in row), " \\" if i + 1 < len(rows) else "")
        for i, row in enumerate(rows)] + [""]


def banner(what, label):
    """The head of an emitted file."""
    return ["/* SPDX-License-Identifier: MIT */",
            "/* %s" % what, " *",
            " * Generated by codegen/emit_hsa_table.py from %s. Do not edit." % label, " */"]


HEADER_TYPES = """\
#define HSA_SLOT_NONE 0x%02xu
#define HSA_TABLE_BYTES(nr_entries) (16u + 8u * (uint32_t)(nr_entries))

/* The first member of every table. minor_id is the size of the table in bytes. */
struct hsa_mirror_version {
	uint32_t major_id;
	uint32_t minor_id;
	uint32_t step_id;
	uint32_t reserved;
};

/* What OnLoad is given. A pointer is there only if HSA_ROOT_HAS() says so. */
struct hsa_mirror_root {
	struct hsa_mirror_version version;
	void *core;
	void *amd_ext;
	void *finalizer_ext;
	void *image_ext;
	void *tools;
	void *pc_sampling;
};

#define HSA_ROOT_HAS(root, member) \\
	(offsetof(struct hsa_mirror_root, member) + sizeof(void *) <= (root)->version.minor_id)

/* One order of the amd_ext table, and the sizes of table for which it holds. */
struct hsa_layout {
	const char *name;
	uint32_t first_minor;
	uint32_t last_minor;
	uint32_t nr_slots;	/* known; the table itself may be shorter or longer */
	const uint8_t *slot;	/* by enum hsa_amd_id: index in the table, or HSA_SLOT_NONE */
};
"""

HEADER_FUNCTIONS = """\
/* The order of the amd_ext table whose version has this minor_id, never NULL. A table longer
 * than all known ones has the newest order. A size between two known orders gets the layout
 * named "unknown", which holds only what sits at the same offset in all of them.
 */
const struct hsa_layout *hsa_table_layout(uint32_t amd_ext_minor_id);

/* Address of the entry of a function in a table, for reading and for replacing it. NULL: the
 * table is NULL, ends before that entry, or its layout lacks the function.
 */
void **hsa_table_core_slot(void *core_table, enum hsa_core_id id);
void **hsa_table_amd_slot(void *amd_table, enum hsa_amd_id id);
void **hsa_table_image_slot(void *image_table, enum hsa_image_id id);
void **hsa_table_tools_slot(void *tools_table, enum hsa_tools_id id);
/* ROCr leaves the version of this table all zero, so its size can't be asked; it never changed. */
void **hsa_table_finalizer_slot(void *finalizer_table, enum hsa_finalizer_id id);

/* Name of the function, borrowed for ever; NULL for an id out of range. */
const char *hsa_table_core_name(enum hsa_core_id id);
const char *hsa_table_amd_name(enum hsa_amd_id id);
const char *hsa_table_image_name(enum hsa_image_id id);
const char *hsa_table_finalizer_name(enum hsa_finalizer_id id);
const char *hsa_table_tools_name(enum hsa_tools_id id);
"""


def emit_header(model, extra, tables, mine, label):
    """Text of hsa_table_gen.h."""
    functions = dict(extra["functions"])
    functions.update(model["functions"])
    out = banner("hsa_table_gen.h - C mirror of the HSA API tables, for all known layouts", label)
    out += ["#ifndef RTL_GEN_HSA_TABLE_GEN_H", "#define RTL_GEN_HSA_TABLE_GEN_H", "",
            "#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>", "",
            "#include <hsa/hsa.h>", "#include <hsa/hsa_ext_amd.h>",
            "#include <hsa/hsa_ext_finalize.h>", "#include <hsa/hsa_ext_image.h>", "",
            "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
            HEADER_TYPES % NONE,
            "/* Declared by hsa_api_trace.h, which is C++ only. */"]
    for decl in model["types"]:
        if any("(*%s)(" % t in decl[0] for t in TRACE_TYPES):
            head, args = decl[0].split(")(", 1)
            out.append(wrapped(head + ")(", [a.strip() for a in split_top(args[:-2])], ");"))
    out += ["", "/* Types of the functions, <function>_fn_t. */"]
    for table in ("core", "amd_ext", "image_ext", "finalizer_ext"):
        out += [fn_typedef(f, functions[f]) for f in tables[table] if f in functions] + [""]
    out += enum("hsa_core_id", "HSA_CORE", "core", tables["core"],
                "Functions of the core table; the id is the index.")
    out += enum("hsa_amd_id", "HSA_AMD", "amd_ext", tables["amd_ext"],
                "Functions of amd_ext in all releases; NOT the index, that depends on the layout.")
    out += enum("hsa_image_id", "HSA_IMAGE", "image_ext", tables["image_ext"],
                "Functions of the image table; the id is the index.")
    out += enum("hsa_finalizer_id", "HSA_FINALIZER", "finalizer_ext", tables["finalizer_ext"],
                "Functions of the finalizer table; the id is the index.")
    out += enum("hsa_tools_id", "HSA_TOOLS", "tools", tables["tools"],
                "Entries of the tools table (ROCm 6.1 and later); the id is the index.")
    out += ["/* X(function, id): every function of a table that has a <function>_fn_t. */"]
    for table in ("core", "amd_ext", "image_ext", "finalizer_ext"):
        prefix = PREFIX[table][0]
        out += list_macro("%s_LIST" % prefix, [(f, "%s_%s" % (prefix, short(table, f)))
                                               for f in tables[table] if f in functions])
    out += ["/* X(function, id, index): amd_ext as the headers at hand declare it. */"]
    out += list_macro("HSA_AMD_HEADER_LIST",
                      [(f, "HSA_AMD_%s" % short("amd_ext", f), mine["order"].index(f))
                       for f in model["tables"]["amd_ext"]])
    out += [HEADER_FUNCTIONS, "#ifdef __cplusplus", "}", "#endif", "#endif"]
    return "\n".join(out) + "\n"


SOURCE_SLOTS = """\
static uint32_t table_size(const void *table)
{
	return table ? ((const struct hsa_mirror_version *)table)->minor_id : 0;
}

static void **entry(void *table, uint32_t slot, uint32_t size)
{
	uint32_t offset = HSA_TABLE_BYTES(slot);

	if (offset >= size || size - offset < sizeof(void *))
		return NULL;
	return (void **)((char *)table + offset);
}

const struct hsa_layout *hsa_table_layout(uint32_t amd_ext_minor_id)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (amd_ext_minor_id >= layouts[i].first_minor && amd_ext_minor_id <= layouts[i].last_minor)
			return &layouts[i];
	return &layout_unknown;
}

void **hsa_table_core_slot(void *core_table, enum hsa_core_id id)
{
	return (uint32_t)id < HSA_CORE_NR ? entry(core_table, (uint32_t)id, table_size(core_table)) : NULL;
}

void **hsa_table_amd_slot(void *amd_table, enum hsa_amd_id id)
{
	uint32_t size = table_size(amd_table);
	uint8_t slot;

	if ((uint32_t)id >= HSA_AMD_NR)
		return NULL;
	slot = hsa_table_layout(size)->slot[id];
	return slot == HSA_SLOT_NONE ? NULL : entry(amd_table, slot, size);
}

void **hsa_table_image_slot(void *image_table, enum hsa_image_id id)
{
	return (uint32_t)id < HSA_IMAGE_NR ?
		entry(image_table, (uint32_t)id, table_size(image_table)) : NULL;
}

void **hsa_table_tools_slot(void *tools_table, enum hsa_tools_id id)
{
	return (uint32_t)id < HSA_TOOLS_NR ?
		entry(tools_table, (uint32_t)id, table_size(tools_table)) : NULL;
}

void **hsa_table_finalizer_slot(void *finalizer_table, enum hsa_finalizer_id id)
{
	if (!finalizer_table || (uint32_t)id >= HSA_FINALIZER_NR)
		return NULL;
	return entry(finalizer_table, (uint32_t)id, HSA_TABLE_BYTES(HSA_FINALIZER_NR));
}
"""


def emit_source(layouts, tables, classes, label):
    """Text of hsa_table_gen.c."""
    out = banner("hsa_table_gen.c - index maps and names of the HSA API tables", label)
    out += ['#include "hsa_table_gen.h"', "", "#include <assert.h>", "",
            "static_assert(sizeof(void *) == 8, \"the tables are those of a 64-bit runtime\");",
            "static_assert(sizeof(struct hsa_mirror_version) == %d, \"version\");" % HEADER_BYTES]
    for i, member in enumerate(("core", "amd_ext", "finalizer_ext", "image_ext", "tools",
                                "pc_sampling")):
        out.append('static_assert(offsetof(struct hsa_mirror_root, %s) == %d, "root");'
                   % (member, HEADER_BYTES + 8 * i))
    seen = set()
    for run in layouts["runtimes"]:
        for version, what, count in (
                (run["core"], "core", "HSA_CORE_NR"),
                (run["amd_ext"], "amd_ext", len(tables["releases"][run["rocm"]]))):
            line = 'static_assert(HSA_TABLE_BYTES(%s) == %d, "%s %s");' % (
                count, version[1], what, run["rocm"])
            if (what, version[1]) not in seen:
                seen.add((what, version[1]))
                out.append(line)
    out += ["static_assert(HSA_AMD_NR < HSA_SLOT_NONE, \"an index fits its byte\");", ""]
    for cls in classes:
        out += ["static const uint8_t slots_%s[HSA_AMD_NR] = {" % cls["name"].replace(".", "_")]
        for f in tables["amd_ext"]:
            slot = str(cls["order"].index(f)) if f in cls["order"] else "HSA_SLOT_NONE"
            out.append("\t[HSA_AMD_%s] = %s," % (short("amd_ext", f), slot))
        out += ["};", ""]
    row = '{ "%s", %du, %du, %du, slots_%s }'
    rows = [row % (c["name"], c["first"], c["last"], len(c["order"]), c["name"].replace(".", "_"))
            for c in classes]
    out += ["static const struct hsa_layout layouts[] = {"] + ["\t%s," % r for r in rows[:-1]]
    out += ["};", "", "static const struct hsa_layout layout_unknown =", "\t%s;" % rows[-1], "",
            SOURCE_SLOTS]
    for table, stem in (("core", "core"), ("amd_ext", "amd"), ("image_ext", "image"),
                        ("finalizer_ext", "finalizer"), ("tools", "tools")):
        prefix = PREFIX[table][0]
        out += ["static const char *const %s_names[%s_NR] = {" % (stem, prefix)]
        out += ['\t"%s",' % f for f in tables[table]] + ["};", ""]
        out += ["const char *hsa_table_%s_name(enum hsa_%s_id id)" % (stem, stem), "{",
                "\treturn (uint32_t)id < %s_NR ? %s_names[id] : NULL;" % (prefix, stem), "}", ""]
    return "\n".join(out).rstrip("\n") + "\n"


def load(path):
    """Reads one JSON model."""
    with open(path, encoding="utf-8") as f:
        model = json.load(f)
    if model.get("format") != 1:
        raise ModelError("%s: format %s, not 1" % (path, model.get("format")))
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", default=os.path.join(HERE, "models", "5.2.3", "hsa.json"))
    parser.add_argument("--layouts", default=os.path.join(HERE, "models", "layouts.json"))
    parser.add_argument("--extra", default=os.path.join(HERE, "models", "extra.json"))
    parser.add_argument("--label", default="", help="what the banner calls the model")
    parser.add_argument("--out", required=True, help="folder for hsa_table_gen.[ch]")
    args = parser.parse_args()
    label = args.label or os.path.relpath(args.model, HERE)
    try:
        model, layouts, extra = load(args.model), load(args.layouts), load(args.extra)
        newest, classes, mine = plan(model, layouts)
    except (ModelError, OSError, ValueError) as err:
        print("emit_hsa_table.py: %s" % err, file=sys.stderr)
        return 1
    tables = {t: list(model["tables"][t]) for t in ("core", "image_ext", "finalizer_ext")}
    tables.update(amd_ext=newest, tools=layouts["tools"], releases=layouts_by_release(layouts))
    os.makedirs(args.out, exist_ok=True)
    write_if_changed(os.path.join(args.out, "hsa_table_gen.h"),
                     emit_header(model, extra, tables, mine, label))
    write_if_changed(os.path.join(args.out, "hsa_table_gen.c"),
                     emit_source(layouts, tables, classes, label))
    return 0


if __name__ == "__main__":
    sys.exit(main())
