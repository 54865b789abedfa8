#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of extract.py and emit_hsa_table.py: what they refuse, and the stand-in headers.

Run by ctest as codegen.scripts; CC and HSA_INCLUDE name the compiler and the vendor's headers.
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import emit_hsa_table as emit
import extract

HERE = os.path.dirname(os.path.abspath(__file__))
CC = os.environ.get("CC") or "cc"
INCLUDE = os.environ.get("HSA_INCLUDE") or ""


def recorded(name):
    """A committed model, fresh for each caller."""
    return emit.load(os.path.join(HERE, "models", name))


class Parsing(unittest.TestCase):
    def test_parameters(self):
        for text, name, ctype in (
                ("const void* src", "src", "const void *"),
                ("hsa_queue_t **queue", "queue", "hsa_queue_t **"),
                ("unsigned int", "arg3", "unsigned int"),
                ("void (*callback)(hsa_status_t status, void* data)", "callback",
                 "void (*)(hsa_status_t status, void *data)"),
                ("const uint32_t mask[8]", "mask", "const uint32_t *"),
                ("void* (*alloc)(size_t)", "alloc", "void *(*)(size_t)")):
            self.assertEqual(extract.parameter(text, 3), {"name": name, "type": ctype})

    def test_declarations_skip_inline_bodies(self):
        text = "static inline int f(int a) { return a; } int g(void); struct s { int a; };"
        self.assertEqual(list(extract.declarations(text)), ["int g(void)", "struct s { int a; }"])

    def test_a_member_not_understood_is_refused(self):
        with self.assertRaises(extract.ExtractError):
            extract.table_entries("struct T { ApiTableVersion version; int surprise; }")
        with self.assertRaises(extract.ExtractError):
            extract.table_entries("struct T { decltype(a)* a_fn; }")

    def test_the_recorded_model_is_complete(self):
        model = recorded("5.2.3/hsa.json")
        self.assertEqual({t: len(v) for t, v in model["tables"].items()},
                         {"core": 125, "amd_ext": 48, "image_ext": 13, "finalizer_ext": 6})
        self.assertEqual(len(model["functions"]), 125 + 48 + 13 + 6)


class Layouts(unittest.TestCase):
    def setUp(self):
        self.model = recorded("5.2.3/hsa.json")
        self.layouts = recorded("layouts.json")

    def refused(self, part):
        with self.assertRaises(emit.ModelError) as caught:
            emit.plan(self.model, self.layouts)
        self.assertIn(part, str(caught.exception))

    def test_a_size_that_the_names_do_not_make_is_refused(self):
        self.layouts["runtimes"][1]["amd_ext"][1] += 8
        self.refused("5.5")

    def test_an_insertion_without_a_class_of_its_own_is_refused(self):
        self.layouts["amd_ext_changes"][-1]["at"] = 20
        self.layouts["classes"][-1]["of"] = "6.3"
        self.refused("no one class for 7.0")

    def test_a_name_twice_is_refused(self):
        self.layouts["amd_ext_changes"][-1]["names"][0] = "hsa_amd_coherency_get_type"
        self.refused("twice")

    def test_headers_with_an_order_not_on_record_are_refused(self):
        table = self.model["tables"]["amd_ext"]
        table[3], table[4] = table[4], table[3]
        self.refused("record it there")

    def test_headers_that_append_extend_the_newest_order(self):
        newest = emit.layouts_by_release(self.layouts)["7.0"]
        self.model["tables"]["amd_ext"] = newest + ["hsa_amd_brand_new"]
        order, classes, mine = emit.plan(self.model, self.layouts)
        self.assertEqual(order, newest + ["hsa_amd_brand_new"])
        self.assertEqual(mine["name"], "5.6")
        self.assertNotIn("hsa_amd_brand_new", classes[0]["order"])

    def test_headers_of_every_release_on_record_are_taken(self):
        for release, names in emit.layouts_by_release(self.layouts).items():
            self.model["tables"]["amd_ext"] = list(names)
            order, _, mine = emit.plan(self.model, self.layouts)
            self.assertEqual(len(order), 74, release)
            self.assertEqual(mine["order"][:len(names)], names)

    def test_each_newer_function_has_a_recorded_prototype(self):
        known = set(self.model["functions"]) | set(recorded("extra.json")["functions"])
        newest = emit.layouts_by_release(self.layouts)["7.0"]
        self.assertEqual([f for f in newest if f not in known], [])

    def test_nothing_is_written_when_models_contradict(self):
        layouts = copy.deepcopy(self.layouts)
        layouts["runtimes"][0]["amd_ext"][1] = 408
        with tempfile.TemporaryDirectory() as tmp:
            path = os.path.join(tmp, "layouts.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(layouts, f)
            run = subprocess.run([sys.executable, "-B", os.path.join(HERE, "emit_hsa_table.py"),
                                  "--layouts", path, "--out", os.path.join(tmp, "gen")],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 1)
            self.assertFalse(os.path.exists(os.path.join(tmp, "gen")))


class StandIns(unittest.TestCase):
    """The headers that are emitted where the vendor's are not installed."""

    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        self.fake = os.path.join(self.tmp.name, "headers")
        subprocess.run([sys.executable, "-B", os.path.join(HERE, "emit_hsa_table.py"), "--out",
                        self.tmp.name, "--fallback-headers", self.fake], check=True)

    def compile(self, source, *args):
        return subprocess.run(CC.split() + ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra",
                                            "-Werror", "-x", "c", "-", "-I", self.tmp.name, *args],
                              input=source, capture_output=True, text=True, check=False)

    def test_the_mirror_compiles_with_them_alone(self):
        run = self.compile('#include "hsa_table_gen.c"\n', "-fsyntax-only", "-H", "-I", self.fake)
        self.assertEqual(run.returncode, 0, run.stderr)
        used = re.findall(r"^\.+ (.*/hsa/\S+)$", run.stderr, re.M)
        self.assertTrue(used)
        self.assertEqual([u for u in used if not u.startswith(self.tmp.name)], [])

    def test_values_and_sizes_are_the_vendors(self):
        if not os.path.exists(os.path.join(INCLUDE, "hsa", "hsa.h")):
            self.skipTest("no HSA headers installed")
        model, items = recorded("5.2.3/hsa.json"), []
        if extract.extract(CC, INCLUDE)["tables"] != model["tables"]:
            self.skipTest("HSA headers of another release")
        for decl in model["types"]:
            if "enum" in decl[0]:
                items += ["(unsigned long)%s" % v.split("=")[0].strip(" ,") for v in decl[1:-1]]
            name = re.match(r"^\} (\w+);$", decl[-1])
            if name:
                items.append("sizeof(%s)" % name.group(1))
        self.assertGreater(len(items), 400)
        source = "".join("#include <hsa/%s>\n" % h for h in (
            "hsa.h", "hsa_ext_amd.h", "hsa_ext_image.h", "hsa_ext_finalize.h"))
        source += "const unsigned long v[] = {\n%s\n};\n" % ",\n".join(items)
        ours, theirs = (self.compile(source, "-S", "-o", "-", "-I", folder)
                        for folder in (self.fake, INCLUDE))
        self.assertEqual(ours.returncode, 0, ours.stderr)
        self.assertEqual(theirs.returncode, 0, theirs.stderr)
        self.assertEqual(ours.stdout, theirs.stdout)


if __name__ == "__main__":
    unittest.main()
