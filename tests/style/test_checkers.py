#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_checkers.py - the checkers of tools/ find the planted errors and report no others; a test whose program is missing is not skipped at will"""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(FOLDER, "..", "..", "tools"), os.path.join(FOLDER, "..")]
import check_banned  # noqa: E402
import check_comments  # noqa: E402
import check_commits  # noqa: E402
import check_exports  # noqa: E402
import check_forks  # noqa: E402
import check_layers  # noqa: E402
import check_links  # noqa: E402
import check_locks  # noqa: E402
import check_names  # noqa: E402
import check_paths  # noqa: E402
import check_results  # noqa: E402
import check_size  # noqa: E402
import check_tidy  # noqa: E402
import check_mentions  # noqa: E402
import check_words  # noqa: E402
import draw_modules  # noqa: E402
import rtl_tree  # noqa: E402
from support import harness  # noqa: E402

SPDX = "/* SPDX-License-Identifier: MIT */\n"


class Tree(unittest.TestCase):
    """Each test has its own tree."""

    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.root, rtl_tree.ROOT = rtl_tree.ROOT, self.tmp.name
        self.put("tools/names_exceptions.txt", "src/base/odd.c legacy_* kept for old callers\n")

    def tearDown(self):
        rtl_tree.ROOT = self.root
        self.tmp.cleanup()

    def put(self, name, text):
        path = os.path.join(rtl_tree.ROOT, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def found(self, check, *parts):
        """The one error of a check has these parts."""
        result = check()
        errors = result[0] if isinstance(result, tuple) else result
        self.assertEqual(len(errors), 1 if parts else 0, errors)
        for part in parts:
            self.assertIn(part, errors[0])


class Functions(unittest.TestCase):
    def names(self, text):
        return [(f.name, f.static, f.lines) for f in rtl_tree.functions(text)]

    def test_plain_static_and_split_heads(self):
        text = "int a(void)\n{\n\treturn 0;\n}\n\nstatic const char *\nb(int x,\n  int y)\n{\n}\n"
        self.assertEqual(self.names(text), [("a", False, 4), ("b", True, 5)])

    def test_data_types_and_prototypes_are_no_heads(self):
        text = ("struct s { int (*f)(void); };\nint p(void);\nstatic struct s t[] = { { p }, };\n"
                "enum e { A, B };\n")
        self.assertEqual(self.names(text), [])

    def test_comments_strings_and_branches_do_not_confuse(self):
        text = ('/* f() { */\nint a(void)\n{\n\tchar c = \'{\';\n\tputs("}");\n#if X\n\tif (c) {\n'
                "#else\n\twhile (c) {\n#endif\n\t}\n}\nint b(void)\n{\n}\n")
        self.assertEqual([n for n, _, _ in self.names(text)], ["a", "b"])

    def test_attributes_and_extern_c(self):
        text = 'extern "C" {\n__attribute__((visibility("default"))) int a(void)\n{\n}\n}\n'
        self.assertEqual(self.names(text), [("a", False, 3)])

    def test_macros_that_are_invoked_are_no_heads(self):
        text = "LIST(a, b)\nLIST(c, d)\n\nvoid a(void)\n{\n}\nTEST(b)\n{\n}\n"
        self.assertEqual(self.names(text), [("a", False, 3), ("b", False, 3)])


class Forks(Tree):
    LOCK = "GUARDED_LOCK(lock, LOCK_A);\n"

    def test_guarded_lock_of_a_library_that_starts_the_guard(self):
        self.put("lib/x/pool.c", self.LOCK)
        self.put("lib/x/main.c", "\tfork_guard_start();\n")
        self.found(check_forks.check)

    def test_lock_that_is_not_guarded(self):
        self.put("lib/x/pool.c", "\nstatic struct lock lock = LOCK_INIT(LOCK_A);\n\tfork_guard_start();\n")
        self.found(check_forks.check, "lib/x/pool.c:2", "`lock`", "GUARDED_LOCK()")

    def test_guard_that_another_library_starts(self):
        self.put("lib/x/pool.c", self.LOCK)
        self.put("lib/y/main.c", "\tfork_guard_start();\n")
        self.found(check_forks.check, "lib/x/pool.c:1", "lib/x", "fork_guard_start()")


class Words(Tree):
    def test_terms_of_the_field_are_accepted(self):
        self.put("src/base/a.c", "/* placed in a mushroom: replaced */\nint free_slot, authority;\n")
        self.found(check_words.check)

    def test_banned_word_in_a_comment(self):
        self.put("src/event/a.h", "int a;\n/* Whoever reads it. */\n")
        self.found(check_words.check, "src/event/a.h:2", "'Whoever'", "the caller")

    def test_banned_word_as_part_of_a_name(self):
        self.put("src/sink/a.c", "static int free_places;\n")
        self.found(check_words.check, "src/sink/a.c:1", "'places'", "slot")

    def test_banned_word_in_a_macro(self):
        self.put("src/base/a.h", "#define ROOM_SIZE 1\n")
        self.found(check_words.check, "src/base/a.h:1", "'ROOM'", "space")

    def test_banned_word_as_name_of_a_file(self):
        self.put("src/base/told.h", "int a;\n")
        self.found(check_words.check, "src/base/told.h:1", "'told'")


class Locks(Tree):
    LOCK = "static struct lock lock = LOCK_INIT(LOCK_A);\n"

    def test_lock_that_guards_data_or_a_function(self):
        self.put("src/event/a.c", self.LOCK + "static int data RTL_GUARDED_BY(lock);\n")
        self.put("src/event/b.c", "struct q {\n\tstruct lock lock;\n};\nvoid f(struct q *q) RTL_REQUIRES(q->lock);\n"
                                  "void g(void)\n{\n\tlock_init(&q->lock, LOCK_B);\n}\n")
        self.found(check_locks.check)

    def test_lock_that_guards_nothing(self):
        self.put("src/event/a.c", self.LOCK + "static int data; /* RTL_GUARDED_BY(lock) */\n")
        self.found(check_locks.check, "src/event/a.c:1", "no annotation names `lock`")

    def test_mutex_without_a_rank(self):
        self.put("src/event/a.c", "void f(void)\n{\n\tpthread_mutex_lock(&m);\n}\n")
        self.found(check_locks.check, "src/event/a.c:3", "pthread_mutex_lock")

    def test_rank_of_two_files(self):
        for name in ("a", "b"):
            self.put(f"src/event/{name}.c", self.LOCK + "static int data RTL_GUARDED_BY(lock);\n")
        self.found(check_locks.check, "src/event/b.c", "LOCK_A", "src/event/a.c")


class Layers(Tree):
    def test_arrows(self):
        self.put("src/base/log.h", "")
        self.put("src/event/bus.h", '#include "base/log.h"\n')
        self.put("src/spool/format.h", "")
        self.put("src/source/hsa/queue.c", '#include "event/bus.h"\n#include <hsa/hsa.h>\n')
        self.put("src/store/load.h", '#include "spool/format.h"\n')
        self.put("src/cli/main.c", '#include "store/load.h"\n#include "rtl_version.h"\n')
        self.put("lib/librtl/entry.c", '#include "source/hsa/queue.c"\n')
        self.found(check_layers.check)

    def test_base_includes_no_module(self):
        self.put("src/event/bus.h", "")
        self.put("src/base/log.c", '#include "event/bus.h"\n')
        self.found(check_layers.check, "src/base/log.c:1", "src/event/bus.h")

    def test_source_including_source_is_refused(self):
        self.put("src/source/hip/wrap.h", "")
        self.put("src/source/hsa/queue.c", '#include "source/hip/wrap.h"\n')
        self.found(check_layers.check, "src/source/hsa/", "wrap.h")

    def test_source_including_sink_is_refused(self):
        self.put("src/sink/recorder/spool.h", "")
        self.put("src/source/hsa/queue.c", '#include "sink/recorder/spool.h"\n')
        self.found(check_layers.check, "spool.h")

    def test_reader_sees_the_format_only(self):
        self.put("src/event/bus.h", "")
        self.put("src/store/load.c", '#include "event/bus.h"\n')
        self.found(check_layers.check, "src/store/load.c:1")

    def test_reader_needs_no_rocm(self):
        self.put("src/store/load.c", "#include <hsa/hsa.h>\n")
        self.found(check_layers.check, "may not include")

    def test_virtual_gpu_is_separate(self):
        self.put("src/base/log.h", "")
        self.put("vgpu/kfd.c", '#include "../src/base/log.h"\n')
        self.found(check_layers.check, "vgpu/kfd.c:1")

    def test_every_rule_is_seen_to_refuse(self):
        folders = [row[0] for row in check_layers.TABLE]
        files = [row if row.endswith(".c") else f"{row}x.c" for row in folders]
        for folder in folders:
            if folder.endswith("/"):
                self.put(f"{folder}x.h", "")
        headers = [f"{folder}x.h" for folder in folders if folder.endswith("/")]
        for name in files:
            for header in headers:
                if check_layers.may_use(name, header):
                    self.put(name, f'#include "{os.path.relpath(header, os.path.dirname(name))}"\n')
                    self.found(check_layers.check)
                else:
                    self.put(name, f'#include "{os.path.relpath(header, os.path.dirname(name))}"\n')
                    self.found(check_layers.check, f"{name}:1", f"may not include {header}")
            os.unlink(os.path.join(rtl_tree.ROOT, name))

    def test_formats_do_not_include_each_other(self):
        self.put("src/export/otf2/otf2.h", "")
        self.put("src/export/json.h", '#include "export/otf2/otf2.h"\n')
        self.found(check_layers.check, "src/export/json.h:1", "src/export/* may not include src/export/otf2/otf2.h")
        self.put("src/export/json.h", "")
        self.put("src/export/otf2/otf2.c", '#include "export/json.h"\n')
        self.put("src/export/pftrace/pftrace.c", '#include "export/otf2/otf2.h"\n')
        self.found(check_layers.check, "src/export/pftrace/pftrace.c:1", "may not include src/export/otf2/otf2.h")
        self.put("src/export/pftrace/pftrace.c", "")
        self.put("src/export/export.c", '#include "export/otf2/otf2.h"\n')
        self.found(check_layers.check)

    def test_folders_of_the_command_line(self):
        for upper, lower in (("cmd", "selftest"), ("selftest", "pmc"), ("pmc", "read"), ("read", "trace")):
            self.put(f"src/cli/{lower}/b.h", "")
            self.put(f"src/cli/{upper}/a.h", "")
            self.put(f"src/cli/{upper}/a.c", f'#include "cli/{lower}/b.h"\n')
            self.found(check_layers.check)
            self.put(f"src/cli/{lower}/b.c", f'#include "cli/{upper}/a.h"\n')
            self.found(check_layers.check, f"src/cli/{lower}/b.c:1", f"src/cli/{upper}/a.h")
            os.unlink(os.path.join(rtl_tree.ROOT, f"src/cli/{lower}/b.c"))
        self.put("src/cli/ui.c", '#include "cli/read/a.h"\n')
        self.found(check_layers.check, "src/cli/ui.c:1", "src/cli/* may not include src/cli/read/a.h")

    def test_commented_include_does_not_count(self):
        self.put("src/event/bus.h", "")
        self.put("src/base/log.c", '/*\n#include "event/bus.h"\n*/\n')
        self.found(check_layers.check)


class Links(Tree):
    def build(self, **files):
        """Objects of {path, with __ for a slash: code}, where cmake has them."""
        for dotted, code in files.items():
            name = dotted.replace("__", "/") + ".c"
            folder, file = os.path.split(name)
            self.put(name, code)
            out = os.path.join(rtl_tree.ROOT, "build/sub", folder, "CMakeFiles/x.dir", file + ".o")
            os.makedirs(os.path.dirname(out), exist_ok=True)
            subprocess.run(["cc", "-c", os.path.join(rtl_tree.ROOT, name), "-o", out], check=True)
        return lambda: check_links.check(os.path.join(rtl_tree.ROOT, "build"), "nm")

    LOWER = "void bus_emit(void);\nvoid log_put(void);\nvoid log_put(void)\n{\n%s}\n"
    UPPER = "void log_put(void);\nvoid bus_emit(void);\nvoid bus_emit(void)\n{\n\tlog_put();\n}\n"

    def test_call_downwards(self):
        self.found(self.build(src__base__log=self.LOWER % "", src__event__bus=self.UPPER))

    def test_call_upwards_by_a_declaration_of_its_own(self):
        self.found(self.build(src__base__log=self.LOWER % "\tbus_emit();\n", src__event__bus=self.UPPER),
                   "src/base/log.c", "bus_emit of src/event/bus.c")

    def test_hook_that_an_upper_layer_defines(self):
        self.found(self.build(src__base__log="extern int hook;\nint log_get(void);\nint log_get(void)\n{\n\treturn hook;\n}\n",
                              lib__librtl__entry="int hook = 1;\n"), "hook of lib/librtl/entry.c")

    def test_files_of_a_library_in_a_circle(self):
        one = "void two_go(void);\nvoid one_go(void);\nvoid one_go(void)\n{\n%s}\n"
        two = "void one_go(void);\nvoid two_go(void);\nvoid two_go(void)\n{\n\tone_go();\n}\n"
        self.found(self.build(lib__new__one=one % "", lib__new__two=two))
        self.found(self.build(lib__new__one=one % "\ttwo_go();\n"), "lib/new: files in a circle: one.c, two.c")

    def test_build_without_objects(self):
        self.found(lambda: check_links.check(rtl_tree.ROOT, "nm"), "no objects")


class Others(Tree):
    def test_banned_everywhere(self):
        self.put("src/cli/main.c", "int main(void)\n{\n\treturn atoi(s);\n}\n")
        self.found(check_banned.check, "main.c:3", "atoi")

    def test_banned_in_a_target_only(self):
        self.put("src/cli/main.c", "int main(void)\n{\n\texit(1);\n}\n")
        self.found(check_banned.check)
        self.put("src/event/bus.c", "void f(void)\n{\n\texit(1);\n}\n")
        self.found(check_banned.check, "bus.c:3", "exit")

    def test_text_that_is_not_cleaned_is_banned_in_the_command(self):
        self.put("src/cli/main.c", 'int main(void)\n{\n\tprintf("%s", name);\n}\n')
        self.found(check_banned.check, "main.c:3", "ui_putf")

    def test_heap_is_banned_in_librtl(self):
        code = "void f(void)\n{\n\tfree(p);\n}\n"
        for name in ("src/cli/main.c", "src/base/alloc.c"):
            self.put(name, code)
        self.found(check_banned.check)
        self.put("src/source/hip/map.c", code)
        self.found(check_banned.check, "src/source/hip/map.c:3", "alloc_pages")

    def test_allocation_that_no_test_can_make_fail_is_banned(self):
        self.put("src/cli/main.c", "void f(void)\n{\n\tp = calloc(1, 2);\n}\n")
        self.found(check_banned.check)
        for folder in ("src/counter", "src/store", "src/query", "src/analysis", "src/export", "lib/libroctracer64"):
            self.put(folder + "/a.c", "void f(void)\n{\n\tp = calloc(1, 2);\n}\n")
            self.found(check_banned.check, folder + "/a.c:3", "alloc_zero")
            self.put(folder + "/a.c", "void f(void)\n{\n\tp = alloc_zero(1, 2);\n}\n")

    def test_banned_names_in_comments_members_and_words(self):
        self.put("src/event/bus.c", '/* exit(1) */ int x = a->signal(1) + my_exit(2); char *s = "abort()";\n')
        self.found(check_banned.check)

    def test_assert_with_side_effect(self):
        self.put("src/cli/main.c", "void f(void)\n{\n\tassert(x == 1);\n\tassert(x = 1);\n}\n")
        self.found(check_banned.check, "main.c:4")

    def test_dlopen_needs_a_reason(self):
        self.put("src/event/a.c", "void f(void)\n{\n\tdlopen(n, RTLD_NOLOAD);\n}\n")
        self.found(check_banned.check)
        self.put("src/event/b.c", "void f(void)\n{\n\tdlopen(n, RTLD_NOW);\n}\n")
        self.found(check_banned.check, "b.c:3")

    def test_size_of_functions_and_files(self):
        self.put("src/cli/main.c", "int f(void)\n{\n" + "\tx();\n" * 130 + "}\n")
        self.found(check_size.check, "f()", "133")
        self.put("src/cli/main.c", "int x;\n" * 1001)
        self.found(check_size.check, "1001 lines")

    def test_file_names_are_unique(self):
        self.put("src/base/log.c", "")
        self.put("src/store/log.c", "")
        self.found(check_names.check, "src/base and src/store")

    def test_function_names_begin_with_the_file(self):
        self.put("src/base/log.c", "int log_write(void)\n{\n}\nstatic int emit(void)\n{\n}\n")
        self.put("src/base/odd.c", "int legacy_call(void)\n{\n}\n")
        self.put("src/sink/roctracer/api.c", "int roctracer_x(void)\n{\n}\n")
        self.put("src/source/roctx/range.c", "RTL_EXPORT int roctxMarkA(void)\n{\n}\n")
        self.put("src/store/load.c", "")
        self.put("src/store/load_chunk.c", "int load_read(void)\n{\n}\n")
        self.found(check_names.check)
        self.put("src/base/ring.c", "int push(void)\n{\n}\n")
        self.found(check_names.check, "push()")

    def test_comments(self):
        self.put("src/base/log.c", SPDX + "/* log.c - says things */\n")
        self.put("tools/x.py", "# SPDX-License-Identifier: MIT\n")
        self.found(check_comments.check)
        self.put("src/base/ring.c", SPDX + "/* log.c - copied */\n")
        self.found(check_comments.check, "ring.c:2")

    def test_todo_comments_are_refused(self):
        self.put("src/base/log.c", SPDX + "/* log.c - says things */\n/* TO" "DO: more */\n")
        self.found(check_comments.check, "log.c:3")

    def test_functions_and_files_that_comments_name(self):
        self.put("src/base/log.c", SPDX + "/* log.c - says things */\nint log_get(void);\n")
        self.put("src/base/a/ring.h", SPDX + "/* ring.h - log_get(), _put(), strlen (a/ring.h, base/log.c, stdio.h, emitted_gen.h) */\n#include <stdio.h>\n")
        self.put("codegen/emit.py", '"emitted_gen.h"\n')
        self.found(check_mentions.check)
        for mention, what in (("log_gone()", "function log_gone"), ("gone.c", "file gone.c"), ("b/ring.h", "file b/ring.h"),
                              ("strlen, not log_text()", "function log_text")):
            self.put("src/base/a/ring.h", SPDX + f"/* ring.h - a ring\n * as {mention} */\n")
            self.found(check_mentions.check, "ring.h:3: there is no " + what)
        self.put("src/base/a/ring.h", SPDX + "/* ring.h - a ring */\n")
        self.put("CONTRIBUTING.md", "`log_get()`, `log_gone()`\n")
        self.found(check_mentions.check, "CONTRIBUTING.md:1: there is no function log_gone")

    def test_paths_that_documents_name(self):
        self.put("src/base/lock.h", "")
        self.put("tests/unit/test_a.c", "")
        self.put("CONTRIBUTING.md", "`src/base/`, `lock.h`, `base/lock.h`, `tests/unit/test_<file>.c`, `./src`, `a/b:c`, `-O1`, "
                                    "`src/base/lock.h --fix` [it](src/base/lock.h#x) [it](https://x.org/a)\n")
        self.found(check_paths.check)
        self.put("CONTRIBUTING.md", "`src/base/gone.h`\n")
        self.found(check_paths.check, "CONTRIBUTING.md:1", "src/base/gone.h")
        self.put("CONTRIBUTING.md", "one row in `gone.c`\n")
        self.found(check_paths.check, "gone.c")
        self.put("CONTRIBUTING.md", "`docs/cli/<name>.md`\n")
        self.found(check_paths.check, "docs/cli/<name>.md")
        self.put("CONTRIBUTING.md", "")
        self.put("docs/a.md", "[it](../src/gone.c)\n")
        self.found(check_paths.check, "docs/a.md:1", "../src/gone.c")

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_subjects_of_commits(self):
        def git(*args):
            subprocess.run(["git", "-C", rtl_tree.ROOT, "-c", "user.name=a", "-c", "user.email=a@b", *args], check=True,
                           capture_output=True)

        def commit(subject):
            git("commit", "--allow-empty", "-m", subject)

        git("init")
        commit("before the check: " + "x" * 80)
        self.put("tools/check_commits.py", "")
        git("add", "-A")
        commit("tools: subjects are checked")
        commit("src/base, lib: " + "x" * 57)
        self.found(check_commits.check)
        commit("src/base, lib: " + "x" * 58)
        self.found(check_commits.check, "73 columns")
        git("reset", "--hard", "HEAD~1")
        commit("it does something")
        self.found(check_commits.check, "no `area: `")

    def test_paths(self):
        self.put("docs/a.md", "see https://x.org/wo" "rk and $HOME/wo" "rk and /tmp/x and src/wo" "rk/x\n")
        self.found(check_paths.check)
        self.put("docs/b.md", "in /wo" "rk/main\n")
        self.found(check_paths.check, "b.md:1")


class Exports(Tree):
    def test_map_is_read(self):
        self.put("m", "/* c */\nV_1.0 {\nglobal: a; b_*; # no\nlocal: *;\n};\nV_2.0 { global:\n  c;\n} V_1.0;\n")
        nodes = check_exports.parse_map(os.path.join(rtl_tree.ROOT, "m"))
        self.assertEqual(nodes, [("V_1.0", ["a", "b_*"]), ("V_2.0", ["c"])])

    def test_map_without_version(self):
        self.put("m", "{ global: a; local: *; };\n")
        self.assertEqual(check_exports.parse_map(os.path.join(rtl_tree.ROOT, "m")), [(None, ["a"])])


@unittest.skipUnless(shutil.which(check_tidy.TOOL), f"{check_tidy.TOOL} is not installed")
class Tidy(Tree):
    def found_in(self, code):
        self.put("a.c", f"int strcmp(const char *a, const char *b);\nint f(const char *a, const char *b)\n{{\n{code}}}\n")
        with open(os.path.join(self.root, ".clang-tidy"), encoding="utf-8") as f:
            self.put(".clang-tidy", f.read())
        return check_tidy.findings(os.path.join(rtl_tree.ROOT, "a.c"), "--")

    def test_mistakes_that_compile_are_found(self):
        for code, name in (("\tif (strcmp(a, b))\n\t\treturn 1;\n\treturn 0;\n", "suspicious-string-compare"),
                           ("\treturn a == a && b;\n", "redundant-expression"),
                           ("\tunsigned char i;\n\tint n = 300;\n\tfor (i = 0; i < n; i++)\n\t\ta++;\n\treturn *a;\n",
                            "too-small-loop-variable")):
            found = self.found_in(code)
            self.assertEqual(len(found), 1, found)
            self.assertIn(name, found[0])

    def test_good_code(self):
        self.assertEqual(self.found_in("\treturn strcmp(a, b) != 0;\n"), [])


class Results(Tree):
    def last_line(self, **stages):
        """Status and last line, of {stage: {test: status}}."""
        for stage, tests in stages.items():
            rows = "".join(f'<testcase name="{t}" status="{s}"><skipped message="SKIP"/></testcase>'
                           for t, s in tests.items())
            file = stage.replace("_again", ".again") if stage.endswith("_again") else f"{stage}.xml"
            self.put(f"results/{file}", f"<testsuite>{rows}</testsuite>")
        out, argv = io.StringIO(), sys.argv
        sys.argv = ["check_results", os.path.join(rtl_tree.ROOT, "results")]
        try:
            with contextlib.redirect_stdout(out):
                status = check_results.main()
        finally:
            sys.argv = argv
        return status, out.getvalue().splitlines()[-1]

    def test_tests_and_runs_are_counted_apart(self):
        self.put("results/builds", "pass build.dev\n")
        self.assertEqual(
            self.last_line(release={"unit.a.b": "run", "scenario.010_exact.x": "run"},
                           dev={"unit.a.b": "run", "scenario.010_exact.x": "run", "fault.100_kill.y": "notrun"},
                           debian13={"debian13.010_exact.x": "run", "debian13.sanitized.010_exact.x": "run"}),
            (0, "3 tests, 7 runs: 7 passed, 0 failed, 1 skipped"))

    def test_failure_fails(self):
        self.assertEqual(self.last_line(dev={"unit.a.b": "run", "unit.a.c": "fail"}),
                         (1, "2 tests, 2 runs: 1 passed, 1 failed"))

    def test_passed_again_is_unstable(self):
        self.assertEqual(self.last_line(dev={"unit.a.c": "fail"}, dev_again={"unit.a.c": "run"}),
                         (0, "1 tests, 1 runs: 0 passed, 0 failed, 1 unstable"))

    def test_nothing_run_fails(self):
        self.assertEqual(self.last_line(dev={}), (1, "0 tests, 0 runs: 0 passed, 1 failed"))


class Modules(Tree):
    def setUp(self):
        super().setUp()
        self.put("src/base/a.h", "")
        self.put("src/event/b.h", '#include "base/a.h"\n')
        self.put("src/store/c.c", '#include "base/a.h"\n#include "event/b.h"\n')
        self.put(draw_modules.PAGE, "<!-- includes -->\n<!-- end -->\n")

    def test_cycle_of_modules_is_named(self):
        self.put("src/base/d.c", '#include "event/b.h"\n')
        self.found(lambda: draw_modules.run([]), "includes: a cycle: base -> event -> base")

    def test_cycle_of_headers_is_named(self):
        self.put("src/event/e.h", '#include "event/f.h"\n')
        self.put("src/event/f.h", '#include "event/e.h"\n')
        self.found(lambda: draw_modules.run([]), "headers: a cycle: src/event/e.h -> src/event/f.h")

    def test_arrow_past_another_module_is_not_drawn(self):
        picture = draw_modules.draw(draw_modules.includes())
        self.assertEqual(picture.count("-->"), 2)
        self.assertIn("m2 --> m1", picture)


class Built(Tree):
    """harness.built(): whether a case is skipped or fails where its program is missing."""

    def setUp(self):
        super().setUp()
        self.missing = os.path.join(self.tmp.name, "no_program")

    def test_program_that_is_there(self):
        self.put("program", "")
        self.assertEqual(harness.built(os.path.join(self.tmp.name, "program"), "no_compiler"), os.path.join(self.tmp.name, "program"))

    def test_missing_program_fails_where_its_compiler_is(self):
        self.put("include/x.h", "")
        for needs in (("sh",), ("no_compiler|sh",), ("sh", f"no.h|{self.tmp.name}/*/x.h")):
            with self.assertRaisesRegex(harness.Failed, "no_program was not built, although"):
                harness.built(self.missing, *needs)

    def test_missing_program_is_skipped_where_something_is_not_installed(self):
        for needs, named in ((("no_compiler", "sh"), "no_compiler"), (("sh", "no/such.h", "no_compiler"), "no/such.h and no_compiler")):
            with self.assertRaisesRegex(harness.Skipped, f"no_program was not built: {named} not installed"):
                harness.built(self.missing, *needs)


if __name__ == "__main__":
    unittest.main(verbosity=1)
