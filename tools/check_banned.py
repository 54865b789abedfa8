#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_banned.py - banned calls: some everywhere, more in code that a target loads"""
import re

import rtl_tree

EVERYWHERE = {
    "sprintf": "snprintf", "vsprintf": "vsnprintf", "strcpy": "memcpy or str.h", "strcat": "str.h",
    "strncpy": "str.h (it may leave no NUL)", "strtok": "strtok_r", "gets": "getline", "atoi": "strtol",
    "atol": "strtol", "atof": "strtod", "system": "fork and exec", "alloca": "a buffer of stated size",
}
IN_TARGET_DIRS = ("src/base/", "src/spool/", "src/event/", "src/source/", "src/sink/", "lib/")
IN_TARGET = {
    "exit": "the process is not ours", "quick_exit": "the process is not ours",
    "abort": "the process is not ours",
    "printf": "stdout is not ours", "vprintf": "stdout is not ours", "puts": "stdout is not ours",
    "putchar": "stdout is not ours", "setenv": "the environment is not ours",
    "putenv": "the environment is not ours", "unsetenv": "the environment is not ours",
    "signal": "signal handlers are not ours", "sigaction": "signal handlers are not ours",
}
# In librtl, too: the heap is the program's, and may be instrumented, interposed or in the middle of something.
HEAP_DIRS = ("src/base/", "src/spool/", "src/event/", "src/source/", "src/sink/", "lib/librtl/")
HEAP = {name: "the heap is not ours; instead: alloc_pages()" for name in (
    "malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign", "memalign", "strdup", "strndup", "asprintf",
    "vasprintf", "getline", "open_memstream", "free")}
# Allocations whose failure a test can cause.
FAILABLE_DIRS = ("src/counter/", "src/store/", "src/query/", "src/analysis/", "src/export/", "lib/")
FAILABLE = {name: f"a test can't make it fail; instead: {instead}" for name, instead in (
    ("malloc", "alloc_heap()"), ("calloc", "alloc_zero()"), ("realloc", "alloc_resize()"), ("reallocarray", "alloc_resize()"),
    ("strdup", "alloc_string()"), ("strndup", "alloc_string_n()"), ("asprintf", "alloc_heap() and snprintf()"),
    ("vasprintf", "alloc_heap() and vsnprintf()"), ("free", "alloc_free()"))}
# In rtl: text of the program's goes by ui_putf(), ui_error() or a writer of a format, which make it harmless.
IN_CLI = {name: "text of others is not cleaned; instead: ui_putf()" for name in (
    "printf", "fprintf", "dprintf", "vprintf", "vfprintf", "vdprintf", "puts", "fputs", "putchar")}
# (file, call): why it may
EXCEPTIONS = {
    **{("src/base/alloc.c", call): "what the command line has" for call in HEAP},
    **{("src/cli/ui.c", call): "the functions themselves" for call in ("dprintf", "fputs")},
    ("src/cli/ui_text.c", "fprintf"): "the function itself",
    **{(f"src/cli/{name}.c", "fprintf"): why for name, why in (
        ("selftest/selftest_run", "a child's strerror() of our own command"),
        ("selftest/selftest_report", "results of our own checks"), ("read/tui_slice", "text for the screen, which cleans it"),
        ("read/tui_collectives", "text for the screen, which cleans it"))},
    **{(f"src/cli/{name}.c", "fputs"): "fixed text" for name in ("read/tui_slice", "read/tui_collectives")},
    ("tests/programs/odd.c", "system"): "what the program tests",
    ("src/base/log.c", "abort"): "RTL_STRICT=1 asks for it",
    ("src/source/hsa/queue/queue_calls.c", "abort"): "on behalf of the runtime, which would have",
    ("src/sink/recorder/finish.c", "sigaction"): "resets handlers in a child of its own",
}
CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")
ASSERT_EFFECT = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")


def argument(code, start):
    depth = 0
    for i in range(start, len(code)):
        if code[i] == "(":
            depth += 1
        elif code[i] == ")":
            depth -= 1
            if depth == 0:
                return code[start:i + 1]
    return code[start:]


def check():
    errors = []
    for name in rtl_tree.files(".c", ".h", ".cpp",
                               under=("src", "lib", "vgpu", "include", "tests", "bench", "examples")):
        text = rtl_tree.read(name)
        code = rtl_tree.strip(text)
        raw = text.split("\n")
        target = name.startswith(IN_TARGET_DIRS)
        for match in CALL.finditer(code):
            call = match.group(1)
            line = code.count("\n", 0, match.start()) + 1
            where = f"{name}:{line}"
            before = code[:match.start()].rstrip()[-2:]
            if before.endswith((".", "->")) or (name, call) in EXCEPTIONS:
                continue
            if call in EVERYWHERE:
                errors.append(f"{where}: {call}(); instead: {EVERYWHERE[call]}")
            elif call in ("assert", "static_assert", "_Static_assert"):
                if call == "assert" and ASSERT_EFFECT.search(argument(code, match.end() - 1)):
                    errors.append(f"{where}: assert() with a side effect")
            elif target and call in IN_TARGET:
                errors.append(f"{where}: {call}(): {IN_TARGET[call]}")
            elif name.startswith("src/cli/") and call in IN_CLI:
                errors.append(f"{where}: {call}(): {IN_CLI[call]}")
            elif name.startswith(HEAP_DIRS) and call in HEAP:
                errors.append(f"{where}: {call}(): {HEAP[call]}")
            elif name.startswith(FAILABLE_DIRS) and call in FAILABLE:
                errors.append(f"{where}: {call}(): {FAILABLE[call]}")
            elif target and call in ("fprintf", "fputs", "fputc", "fwrite") and \
                    re.search(r"\bstdout\b", argument(code, match.end() - 1)):
                errors.append(f"{where}: {call}() to stdout, which is not ours")
            elif target and call == "dlopen":
                near = "\n".join(raw[max(0, line - 5):line])
                if "RTLD_NOLOAD" not in argument(code, match.end() - 1) and "/*" not in near:
                    errors.append(f"{where}: dlopen() without RTLD_NOLOAD and without a comment saying why")
    return errors


if __name__ == "__main__":
    rtl_tree.main("check_banned", check)
