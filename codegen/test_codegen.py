#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the extractors and emitters: what they refuse, the stand-in headers, the words of calls.

Run by ctest as codegen.scripts; HIP_INCLUDE names the folder of the vendor's headers.
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import decl
import emit_enums
import emit_hip
import emit_hsa_api
import emit_hsa_table as emit
import operations
import extract
import extract_hip
import hip_model
import hip_tables
import merge_hip
import sdk_model
import words

HERE = os.path.dirname(os.path.abspath(__file__))
HIP_INCLUDE = os.environ.get("HIP_INCLUDE") or ""
ROLES = set("kernel name grid block gridx gridy gridz blockx blocky blockz globalx globaly globalz shared stream "
            "bytes width height depth kind dst src dstdev srcdev agents graph exec node event".split())


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

    def test_unknown_member_is_refused(self):
        with self.assertRaises(extract.ExtractError):
            extract.table_entries("struct T { ApiTableVersion version; int surprise; }")
        with self.assertRaises(extract.ExtractError):
            extract.table_entries("struct T { decltype(a)* a_fn; }")

    def test_recorded_model_has_all_functions_and_types(self):
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

    def test_table_size_that_differs_from_its_names_is_refused(self):
        self.layouts["runtimes"][1]["amd_ext"][1] += 8
        self.refused("5.5")

    def test_insertion_without_own_class_is_refused(self):
        self.layouts["amd_ext_changes"][-1]["at"] = 20
        for c in self.layouts["classes"][2:]:
            c["of"] = "7.14"
        self.refused("no one class for 10.0")

    def test_duplicate_name_is_refused(self):
        self.layouts["amd_ext_changes"][-1]["names"][0] = "hsa_amd_coherency_get_type"
        self.refused("twice")

    def test_headers_with_unrecorded_order_are_refused(self):
        table = self.model["tables"]["amd_ext"]
        table[3], table[4] = table[4], table[3]
        self.refused("record it there")

    def test_headers_that_append_extend_the_newest_order(self):
        newest = emit.layouts_by_release(self.layouts)["10.0"]
        self.model["tables"]["amd_ext"] = newest + ["hsa_amd_brand_new"]
        order, classes, mine = emit.plan(self.model, self.layouts)
        self.assertEqual(order, newest + ["hsa_amd_brand_new"])
        self.assertEqual(mine["name"], "10.0")
        self.assertNotIn("hsa_amd_brand_new", classes[0]["order"])

    def test_headers_of_each_recorded_release_are_accepted(self):
        for release, names in emit.layouts_by_release(self.layouts).items():
            self.model["tables"]["amd_ext"] = list(names)
            order, _, mine = emit.plan(self.model, self.layouts)
            self.assertEqual(len(order), 91, release)
            self.assertEqual(mine["order"][:len(names)], names)

    def test_newer_functions_have_recorded_prototypes(self):
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


class Types(unittest.TestCase):
    def setUp(self):
        self.types = decl.Types([
            ["typedef struct ihip *handle_t;"], ["typedef enum color {", "RED = 1,", "} color;"],
            ["typedef struct pair {", "int a, b;", "unsigned bit : 1;", "char text[16];",
             "union {", "int i;", "float f;", "} u;", "const void *p;", "} pair;"],
            ["typedef const pair *pair_const_t;"], ["typedef void (*fn_t)(int a, void *b);"]])

    def test_types_are_resolved(self):
        for text, kind in (("handle_t", "pointer"), ("color", "enum"), ("enum color", "enum"),
                           ("const pair *", "pointer"), ("pair", "struct"), ("fn_t", "function"),
                           ("void (*)(int)", "function"), ("unsigned long long", "uint"),
                           ("float", "float"), ("struct ihip", "opaque")):
            self.assertEqual(self.types.resolve(text).kind, kind, text)

    def test_const_types_are_not_writable(self):
        for text, const in (("const pair *", True), ("pair *", False), ("pair_const_t", True),
                            ("const char **", False), ("void *", False)):
            self.assertEqual(self.types.resolve(text).const, const, text)

    def test_structure_members_are_listed(self):
        self.assertEqual(decl.member("struct t{ int a; } b"), decl.member("struct t { int a; } b"))
        self.assertEqual(self.types.resolve("pair").members, [
            ("a", "int", 0), ("b", "int", 0), ("text", "char", 16),
            ("u", "union { int i; float f; }", 0), ("p", "const void *", 0)])
        self.assertEqual([p for p, _, _ in self.types.leaves("pair")],
                         ["a", "b", "text", "u.i", "u.f", "p"])


class Words(unittest.TestCase):
    """What is recorded of a call."""

    def setUp(self):
        self.roles = {"opaque": [], "types": {}, "names": {}, "units": [], "members": {},
                      "functions": {}, "kernel": {}}
        self.types = [["typedef struct dim3 {", "uint32_t x;", "uint32_t y;", "uint32_t z;", "} dim3;"],
                      ["typedef struct big {", "long v[4];", "dim3 d;", "char c[64];", "} big;"],
                      ["typedef enum color {", "RED,", "} color;"]]

    def signature(self, *params, returns="int"):
        planner = words.Planner(self.types, self.roles)
        proto = {"returns": returns, "params": [extract.parameter(p, 0) for p in params]}
        return words.signature(planner.plan("f", proto, ("int",)))

    def test_types_of_words(self):
        self.assertEqual(self.signature("const void *p", "int i", "unsigned u", "size_t n",
                                        "unsigned flags", "float f", "double g", "bool b", "color c",
                                        "const char *s", "dim3 d", "void (*fn)(int)"),
                         "p:p,i:i,u:u,n:z,flags:x,f:f,g:g,b:b,c:e=color,s:s,d:d,fn:p")

    def test_pointer_parameter_gives_words_of_its_object(self):
        self.assertEqual(self.signature("int *out", "const int *in", "void *buf", "char *text"),
                         "out:p,*out:i,in:p,buf:p,text:p")
        self.assertTrue(self.signature("const big *b").startswith(
            "b:p,*b.v[0]:i,*b.v[1]:i,*b.v[2]:i,*b.v[3]:i,*b.d:d,*b.c[0]:x"))

    def test_types_have_the_names_of_demanglers(self):
        for mangled, name in (("PPKc", "char const**"), ("12ihipStream_t", "ihipStream_t"), ("PVl", "long volatile*"), ("PFvPvS_E", "void (*)(void*, void*)"),
                              ("PFvPKvmmPvPFvS0_mEE", "void (*)(void const*, unsigned long, unsigned long, void*, void (*)(void const*, unsigned long))"),
                              ("PFPvmE", "void* (*)(unsigned long)"), ("", "")):
            self.assertEqual(sdk_model.type_name(mangled), name)

    def test_role_of_parameter_overrides_role_of_type(self):
        self.roles["functions"]["f"] = {"out": {"in": True}, "name": {"text": "len > 0"}}
        self.assertEqual(self.signature("int *out", "char *name", "int len"),
                         "out:p,name:p,*name:s,len:i")

    def test_union_gives_one_member(self):
        self.types.append(["typedef struct op {", "int kind;", "union { struct { void *p; int n; } mem; void *a; } u;",
                           "union { int old_name; int name; };", "union { int i; float f; };", "} op;"])
        self.assertEqual(self.signature("op *o"), "o:p,*o.kind:i,*o.old_name:i")
        self.roles["unions"] = {"op.u": "mem.p"}
        self.roles["functions"]["f"] = {"o": {"roles": {"u.mem.p": "src"}}}
        self.assertEqual(self.signature("op *o"), "o:p,*o.kind:i,*o.u.mem.p:p:src,*o.old_name:i")

    def test_array_gives_first_element_and_sum(self):
        self.roles["functions"]["f"] = {"list": {"if": "n > 0", "roles": {"": "dst"}},
                                        "sizes": {"if": "n > 0", "sum": ["all", "n"]}}
        for sizes in ("size_t *sizes", "const size_t *sizes"):
            self.assertEqual(self.signature("void **list", sizes, "unsigned n"),
                             "list:p,*list:p:dst,sizes:p,*sizes:z,all:z:bytes,n:u")

    def test_rule_for_unknown_parameter_is_refused(self):
        self.roles["functions"]["f"] = {"gone": {"in": True}}
        with self.assertRaises(words.PlanError):
            self.signature("int *out")

    def test_structure_with_too_many_members_is_refused(self):
        self.types.append(["typedef struct huge {"] + ["int m%d;" % i for i in range(41)] + ["} huge;"])
        with self.assertRaises(words.PlanError):
            self.signature("huge *h")
        self.roles["members"]["huge"] = ["m7"]
        self.assertEqual(self.signature("huge *h"), "h:p,*h.m7:i")

    def test_condition_guards_reading_of_pointer(self):
        self.roles["functions"]["f"] = {"list": {"if": "n > 0"}}
        planner = words.Planner(self.types, self.roles)
        proto = {"returns": "int", "params": [{"name": "list", "type": "int *"},
                                              {"name": "n", "type": "int"}]}
        self.assertEqual(words.fill(planner.plan("f", proto, ("int",))), [
            "word[0] = (uint64_t)(uintptr_t)list;", "if (good && list && n > 0) {",
            "\tword[1] = (uint64_t)(int64_t)*list;", "} else {", "\tapi_word_none(word + 1, 1);", "}",
            "word[2] = (uint64_t)(int64_t)n;"])


class Calls(unittest.TestCase):
    """The recorded models of HIP and HSA as they are."""

    def test_signatures_follow_the_format(self):
        kinds = re.compile(r"^([phizuxbfgsd]|e=\w+)$")
        for plan in (emit_hip.plan_all, emit_hsa_api.plan_all):
            _, ops, planner = plan()
            enums = {name for name, _ in planner.enums}
            for f in ops:
                self.assertLessEqual(len(f.words), words.MAX_WORDS, f.name)
                names = [w.name for w in f.words if not w.more]
                self.assertEqual(len(names), len(set(names)), f.name)
                for arg in filter(None, words.signature(f.words).split(",")):
                    name, kind, *role = arg.split(":")
                    self.assertRegex(name, r"^\*?\w+(\[\d+\])?(\.\w+(\[\d+\])?)*$", f.name)
                    self.assertRegex(kind, kinds, f.name)
                    self.assertLessEqual(set(role), ROLES, f.name)
                    if kind.startswith("e="):
                        self.assertIn(kind[2:], enums)

    def test_roles_name_existing_functions(self):
        for plan in (emit_hip.plan_all, emit_hsa_api.plan_all):
            _, ops, planner = plan()
            named = set(planner.roles["functions"]) | set(planner.roles["kernel"])
            self.assertEqual(sorted(named - {f.name for f in ops}), [])

    def test_launches_have_a_kernel_word(self):
        _, ops, _ = emit_hip.plan_all()
        for f in ops:
            if re.search(r"Launch(Kernel|Cooperative|MultiKernel|ByPtr)|LaunchKernel", f.name):
                roles = {w.role for w in f.words}
                self.assertLessEqual({"kernel", "name"}, roles, f.name)

    def test_copies_have_size_and_stream_words(self):
        _, ops, _ = emit_hip.plan_all()
        for f in ops:
            roles = {w.role for w in f.words}
            if re.match(r"^hip(Drv)?Mem(cpy|set)", f.name):
                counted = f.name.startswith(("hipMemsetD16", "hipMemsetD32"))
                self.assertTrue(roles & {"bytes", "width"} or counted, f.name)
            if any(p["type"] == "hipStream_t" for p in f.proto["params"]):
                self.assertIn("stream", roles, f.name)

    def test_output_parameters_are_read_or_excluded_by_rule(self):
        _, ops, planner = emit_hip.plan_all()
        for f in ops:
            for p in f.proto["params"]:
                found = planner.types.resolve(p["type"])
                if "way" not in p or found.kind != "pointer" or found.const:
                    continue
                inner = planner.types.resolve(found.pointee)
                skip = (inner.kind in ("void", "opaque", "union") or planner.opaque(found.pointee)
                        or planner.handle(p["type"]) or inner.size == 1)
                ruled = "in" in planner.roles["functions"].get(f.name, {}).get(p["name"], {})
                read = any(re.match(r"^\*%s\b" % p["name"], w.name) for w in f.words)
                self.assertTrue(read or skip or ruled, "%s %s" % (f.name, p["name"]))

    def test_enumerators(self):
        enums = emit_enums.collect()
        self.assertEqual(enums["hipMemcpyKind"], {
            "hipMemcpyHostToHost": 0, "hipMemcpyHostToDevice": 1, "hipMemcpyDeviceToHost": 2,
            "hipMemcpyDeviceToDevice": 3, "hipMemcpyDefault": 4})
        # its numbers are others in 6.x
        self.assertEqual(enums["hipMemoryType"]["hipMemoryTypeDevice"], 1)
        self.assertEqual(enums["hipMemoryType__6_4"]["hipMemoryTypeDevice"], 2)
        self.assertEqual(enums["hsa_wait_state_t"], {
            "HSA_WAIT_STATE_BLOCKED": 0, "HSA_WAIT_STATE_ACTIVE": 1})
        self.assertEqual(emit_enums.values_of([["typedef enum {", "A = 1 << 3,", "B,", "C = 0x10u,",
                                                "D = A | C", "} e;"]])["e"],
                         {"A": 8, "B": 9, "C": 16, "D": 24})

    def test_header_comments_mark_output_parameters(self):
        if not os.path.exists(os.path.join(HIP_INCLUDE, "hip", "hiprtc.h")):
            self.skipTest("no HIP headers installed")
        ways = extract_hip.directions(HIP_INCLUDE)
        self.assertEqual(ways["hipMalloc"], {"ptr": "out"})
        self.assertEqual(ways["hipStreamCreate"], {"stream": "inout"})

    def test_comment_of_group_is_not_taken_for_function(self):
        text = "/** @{ */\n/** @param[out] p where */\n/**\n * @}\n */\nint hipFirst(int *p);\n"
        with tempfile.TemporaryDirectory() as tmp:
            os.mkdir(os.path.join(tmp, "hip"))
            for name in extract_hip.DOCUMENTED:
                with open(os.path.join(tmp, "hip", name), "w", encoding="utf-8") as f:
                    f.write(text)
            self.assertEqual(extract_hip.directions(tmp), {"hipFirst": {"p": "out"}})

    def test_export_map_without_local_section_is_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".map") as f:
            f.write("{ global: a; };")
            f.flush()
            with self.assertRaises(emit.ModelError):
                emit_hip.emit_map(f.name, [])


class Operations(unittest.TestCase):
    def test_operation_list_has_each_function_once(self):
        names = operations.load()
        for domain, plan in (("hip", emit_hip.plan_all), ("hsa", emit_hsa_api.plan_all)):
            self.assertEqual(sorted(names[domain]), sorted(set(names[domain])))
            self.assertEqual({f.ident for f in plan()[1]} - set(names[domain]), set(), "operations.py --update")

    def test_operation_number_is_index_in_list(self):
        class Op:
            def __init__(self, name):
                self.ident = name
        first, second, *_, last = operations.load()["hip"]
        ops = operations.number([Op("hipZebra"), Op(last), Op("hipAardvark"), Op(first)], "hip")
        end = len(operations.load()["hip"])
        self.assertEqual([(f.ident, f.number) for f in ops],
                         [(first, 0), (last, end - 1), ("hipAardvark", end), ("hipZebra", end + 1)])
        # a function that no model has keeps its number to itself
        self.assertNotIn(second, [f.ident for f in ops])
        self.assertEqual(operations.enumerators("N_", ops)[-1], "\tN_NR = %d" % (end + 2))


class Releases(unittest.TestCase):
    """Several releases of HIP as one."""

    @staticmethod
    def model(version, types, **functions):
        return {"version": version, "types": types, "enums": {}, "layouts": {}, "api_ids": {}, "api_args": {},
                "functions": {n: {"returns": "int", "params": [extract.parameter(p, 0) for p in params]}
                              for n, params in functions.items()}}

    def test_changed_type_has_two_names(self):
        old = [["typedef struct desc {", "int a;", "} desc;"], ["typedef struct same {", "int a;", "} same;"]]
        new = [["typedef struct desc {", "long a;", "} desc;"], old[1],
               ["typedef struct holder {", "desc d;", "} holder;"]]
        merged = merge_hip.Merged([self.model("6.4", new, f=["desc *d"]), self.model("5.2", old, f=["desc *d"])])
        self.assertEqual([r.version for r in merged.releases], ["5.2", "6.4"])
        self.assertEqual(merged.releases[1].names, {"desc": "desc__6_4"})
        self.assertEqual(merged.releases[1].functions["f"]["params"], [{"name": "d", "type": "desc__6_4 *"}])
        self.assertIn(["typedef struct holder {", "desc__6_4 d;", "} holder;"], merged.types)
        self.assertEqual(sum(t[0] == "typedef struct same {" for t in merged.types), 1)

    def test_structure_with_changed_member_type_has_two_names(self):
        holder = ["typedef struct holder {", "desc d;", "} holder;"]
        types = [[["typedef struct desc {", "%s a;" % t, "} desc;"], holder] for t in ("int", "long")]
        merged = merge_hip.Merged([self.model("5.2", types[0]), self.model("6.4", types[1])])
        self.assertEqual(merged.releases[1].names, {"desc": "desc__6_4", "holder": "holder__6_4"})

    def test_added_enumerators_keep_the_type(self):
        self.assertTrue(merge_hip.is_same_enum({"A": 0, "B": 1}, {"A": 0, "B": 1, "C": 2}))
        self.assertTrue(merge_hip.is_same_enum({"A": 0}, {"A": 0, "ALIAS": 0}))
        self.assertFalse(merge_hip.is_same_enum({"A": 0, "B": 1}, {"A": 1, "B": 0}))
        self.assertFalse(merge_hip.is_same_enum({"A": 0}, {"B": 0}))

    def test_symbol_with_different_calling_convention_is_refused(self):
        for params in (["int a", "int b"], ["float a"], ["long a"]):
            merged = merge_hip.Merged([self.model("5.2", [], f=["int a"]), self.model("6.4", [], f=params)])
            with self.assertRaises(emit.ModelError):
                emit_hip.prototypes(merged, {"functions": {}})
        merged = merge_hip.Merged([self.model("5.2", [], f=["int *a"]), self.model("6.4", [], f=["void *a"])])
        self.assertIn("f", emit_hip.prototypes(merged, {"functions": {}}))

    def test_prototype_of_missing_function_comes_from_release_that_exports_it(self):
        old, new = self.model("6.4", [], f=["int *a"]), self.model("7.2", [], f=["int *a", "int b"])
        new["exports"] = {"f"}
        merged = merge_hip.Merged([old, new])
        self.assertEqual(len(emit_hip.prototypes(merged, {"functions": {}})["f"][2]["params"]), 2)
        old["exports"] = {"f"}
        with self.assertRaises(emit.ModelError):
            emit_hip.prototypes(merge_hip.Merged([old, new]), {"functions": {}})

    def test_words_of_batches_and_launches_of_7(self):
        _, ops, _ = emit_hip.plan_all()
        roles = {f.name: {w.role: w.name for w in f.words if w.role} for f in ops}
        self.assertEqual(roles["hipLaunchKernelExC"], {
            "grid": "*config.gridDim", "block": "*config.blockDim", "shared": "*config.dynamicSmemBytes",
            "stream": "*config.stream", "kernel": "fPtr", "name": "kernelName"})
        self.assertLessEqual({"gridx", "gridz", "blocky", "shared", "stream", "kernel", "name"},
                             set(roles["hipDrvLaunchKernelEx"]))
        self.assertEqual(roles["hipMemcpyBatchAsync"], {
            "dst": "*dsts", "src": "*srcs", "bytes": "totalBytes", "stream": "stream"})
        self.assertLessEqual({"src", "dst", "width", "height", "depth", "stream"}, set(roles["hipMemcpy3DBatchAsync"]))
        self.assertLessEqual({"src", "dst", "srcdev", "dstdev", "width"}, set(roles["hipMemcpy3DPeer"]))
        self.assertEqual(roles["hipMemsetD2D32Async"], {
            "dst": "dst", "width": "width", "height": "height", "stream": "stream", "agents": "agents"})

    def test_agents_of_memory_are_a_word_of_copies_that_name_it(self):
        _, ops, _ = emit_hip.plan_all()
        found = {f.name: [w.expr for w in f.words if w.role == "agents"] for f in ops}
        self.assertEqual(found["hipMemcpyAsync"], ["hip_word_agents((const void *)dst, (const void *)src)"])
        self.assertEqual(found["hipMemset"], ["hip_word_agents((const void *)dst, (const void *)NULL)"])
        self.assertEqual(found["hipMemcpy3D"], ["hip_word_agents((const void *)p->dstPtr.ptr, (const void *)p->srcPtr.ptr)"])
        # arrays and symbols are no addresses of memory, a batch has many
        for name in ("hipMemcpyAtoH", "hipMemcpyHtoA", "hipMemcpy2DToArray", "hipMemcpyToSymbol", "hipMemcpyFromSymbol",
                     "hipMemcpyBatchAsync", "hipGraphAddMemcpyNode1D", "hipMalloc", "hipLaunchKernel"):
            self.assertEqual(found[name], [], name)
        last = {f.name: f.words[-1].role for f in ops if found[f.name]}
        self.assertEqual(set(last.values()), {"agents"})

    def test_renamed_symbols_of_6_are_separate_functions(self):
        _, ops, planner = emit_hip.plan_all()
        symbols = {f.symbol: f for f in ops if f.exported}
        for name, ctype in (("hipGetDeviceProperties", "hipDeviceProp_t *"),
                            ("hipGetDevicePropertiesR0600", "hipDeviceProp_tR0600 *"),
                            ("hipChooseDeviceR0600", "const hipDeviceProp_tR0600 *")):
            self.assertIn(ctype, [p["type"] for p in symbols[name].proto["params"]])
        self.assertEqual(planner.types.resolve("hipDeviceProp_tR0600").kind, "struct")


class RecordedModel(unittest.TestCase):
    """models/hip.json: all releases in one."""

    @staticmethod
    def model(version, functions, enums, types):
        return {"version": version, "format": 1, "api_data_size": 8, "functions": functions, "enums": enums, "types": types,
                "api_args": {}, "api_ids": {}, "layouts": {}}

    def setUp(self):
        self.models = [
            self.model("5.2", {"hipA": 1, "hipB": 1}, {"e": {"x": 0, "gone": 1}}, [["one"], ["two"], ["three"]]),
            self.model("5.7", {"hipA": 1, "hipB": 2, "hipC": 1}, {"e": {"x": 0, "y": 1}, "f": {"z": 0}}, [["two"], ["one"], ["four"]]),
            self.model("10.0", {"hipB": 1, "hipC": 1}, {"e": {"x": 0, "y": 2}}, [["one"], ["three"], ["two"]]),
        ]
        self.merged = hip_model.merge(self.models)

    def test_each_release_comes_out_as_it_went_in(self):
        for model in self.models:
            self.assertEqual(hip_model.split(self.merged, model["version"]), model)
        again = json.loads(hip_model.as_text(self.merged))
        self.assertEqual([hip_model.split(again, r) for r in again["releases"]], self.models)

    def test_variants_have_the_releases_of_their_value(self):
        functions = self.merged["functions"]
        self.assertEqual(functions["hipA"], [{"is": 1, "until": "5.7"}])
        self.assertEqual(functions["hipB"], [{"is": 1, "until": "5.2"}, {"since": "5.7", "is": 2, "until": "5.7"}, {"since": "10.0", "is": 1}])
        self.assertEqual(functions["hipC"], [{"since": "5.7", "is": 1}])
        self.assertEqual(self.merged["enums"]["e"]["x"], [{"is": 0}])

    def test_release_is_recorded_beside_others_or_in_its_own_stead(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "hip.json")
            with open(path, "w", encoding="utf-8") as f:
                f.write(hip_model.as_text(hip_model.merge(self.models[:1])))
            for model in (self.models[2], self.models[1]):
                hip_model.record(model, path)
            self.assertEqual(hip_model.load_all(path), self.models)
            changed = dict(self.models[1], functions={"hipD": 1})
            hip_model.record(changed, path)
            self.assertEqual(hip_model.load_all(path), [self.models[0], changed, self.models[2]])
            with open(path, encoding="utf-8") as f:
                text = f.read()
            hip_model.record(dict(reversed(changed.items())), path)
            with open(path, encoding="utf-8") as f:
                self.assertEqual(f.read(), text)

    def test_model_that_would_not_come_out_is_refused(self):
        self.models[0]["enums"]["empty"] = {}
        with self.assertRaises(hip_model.HipModelError):
            hip_model.merge(self.models)

    def test_recorded_file_is_as_it_is_written(self):
        with open(hip_model.RECORDED, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(hip_model.as_text(hip_model.merge(hip_model.load_all())), text)


class Tables(unittest.TestCase):
    """The order of functions in HIP's dispatch tables."""

    HEADER = """
        // HIP_RUNTIME_API_TABLE_STEP_VERSION == 9 is no step: it stands outside
        #define HIP_RUNTIME_API_TABLE_MAJOR_VERSION 0
        #define HIP_RUNTIME_API_TABLE_STEP_VERSION 3
        typedef hipError_t (*t_hipA)(void** p, size_t n);
        typedef const char* (*t_hipB)(void);
        typedef hipError_t (*t_hipLong)(int (*fn)(void* p),
                                        int a);
        struct HipDispatchTable {
          // HIP_RUNTIME_API_TABLE_STEP_VERSION == 0
          size_t size;
          t_hipA hipA_fn;
          t_hipB
              hipB_fn;
          // HIP_RUNTIME_API_TABLE_STEP_VERSION = 1
          // HIP_RUNTIME_API_TABLE_STEP_VERSION == 3
          t_hipLong hipLong_fn;

          // DO NOT EDIT ABOVE!
          // HIP_RUNTIME_API_TABLE_STEP_VERSION == 4
        };
        """

    def setUp(self):
        self.recorded = recorded("hip_tables.json")
        self.header = hip_tables.read_header(textwrap.dedent(self.HEADER))

    def test_table_header_gives_steps_and_sizes(self):
        self.assertEqual(self.header["steps"], {"runtime": [{"step": 0, "names": ["hipA", "hipB"]},
                                                            {"step": 3, "names": ["hipLong"]}]})
        self.assertEqual(self.header["tables"], {"runtime": [0, 3, 3]})
        self.assertEqual(self.header["prototypes"]["hipA"], {
            "returns": "hipError_t", "params": [{"name": "p", "type": "void **"}, {"name": "n", "type": "size_t"}]})
        self.assertEqual(self.header["prototypes"]["hipB"], {"returns": "const char *", "params": []})
        self.assertEqual(len(self.header["prototypes"]["hipLong"]["params"]), 2)

    def test_table_member_that_is_not_a_function_is_refused(self):
        with self.assertRaises(extract.ExtractError):
            hip_tables.read_header(textwrap.dedent(self.HEADER).replace("t_hipA hipA_fn", "int hipA_fn"))
        with self.assertRaises(extract.ExtractError):
            hip_tables.read_header("struct Other {\n};")

    def test_table_sizes_match_their_steps(self):
        for row in self.recorded["runtimes"]:
            for table in hip_tables.STRUCTS:
                _, step, number = row[table]
                self.assertEqual(hip_tables.functions_at(self.recorded["steps"][table], step), number, row["hip"])

    def test_known_functions_have_their_table_index(self):
        indices = {n: i for i, n in enumerate(hip_tables.order(self.recorded["steps"]["runtime"]), 1)}
        self.assertEqual(len(indices), 506)
        for name, index in (("hipApiName", 1), ("hipGetProcAddress", 443), ("hipEventRecordWithFlags", 474),
                            ("hipLaunchKernelExC", 475), ("hipLibraryEnumerateKernels", 503),
                            ("hipOccupancyAvailableDynamicSMemPerBlock", 506)):
            self.assertEqual(indices[name], index, name)

    def test_table_functions_have_prototypes(self):
        _, ops, _ = emit_hip.plan_all()
        known = {f.name for f in ops}
        for table in hip_tables.STRUCTS:
            names = hip_tables.order(self.recorded["steps"][table])
            self.assertEqual(len(set(names)), len(names))
            self.assertEqual([n for n in names if n not in known and n not in self.recorded["prototypes"]], [])
        # what code registers itself with has no other prototype
        self.assertEqual(known & set(self.recorded["prototypes"]), set(emit_hip.registrations(self.recorded)))
        for change in self.recorded["layouts"]:
            self.assertEqual([n for n in change["functions"] if n not in known], [])

    def test_header_that_contradicts_record_is_reported(self):
        ours = {"steps": self.header["steps"], "runtimes": [{"hip": "7.9.1", "runtime": [0, 3, 3]}],
                "prototypes": {"hipA": self.header["prototypes"]["hipA"]}}
        self.assertEqual(hip_tables.compare(ours, self.header, "7.9"), [])
        ours["runtimes"][0]["runtime"] = [0, 2, 3]
        self.assertEqual(len(hip_tables.compare(ours, self.header, "7.9")), 1)
        self.assertEqual(hip_tables.compare(ours, self.header, "8.0"), [])
        # one that has less or more at its end is no contradiction, another order is
        for steps, wrong in (([{"step": 0, "names": ["hipA", "hipB"]}], 0),
                             ([{"step": 0, "names": ["hipA", "hipB"]}, {"step": 3, "names": ["hipLong", "hipC"]}], 0),
                             ([{"step": 0, "names": ["hipB", "hipA"]}], 2), ([{"step": 1, "names": ["hipA"]}], 1)):
            ours["steps"] = {"runtime": steps}
            self.assertEqual(len(hip_tables.compare(ours, self.header, "8.0")), wrong, steps)
        ours["prototypes"]["hipA"] = {"returns": "void", "params": []}
        self.assertIn("hipA has another prototype", hip_tables.compare(ours, self.header, "8.0"))


if __name__ == "__main__":
    unittest.main()
