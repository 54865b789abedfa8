#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names and texts that are not UTF-8: they run as untraced, and every text of the database is UTF-8, with a mark where it was not."""
import shutil

from support import *

KERNEL = b"caf\xe9\x01ker\xffl"
MARK = "\ufffd"


def traced(kernel):
    module = os.path.join(BUILD, "tests", "nottext.co")
    if not os.path.exists(module):
        skip("no clang for AMD's GPUs here")
    r = Run("nottext", new_dir("nottext"))
    copied = os.fsdecode(os.fsencode(r.dir) + b"/caf\xe9 mod\xff.co")
    shutil.copy(module, copied)
    r = run("nottext", copied, os.fsdecode(kernel), trace=RTL, rtl_args=("-q", "--hsa"),
            env={"VGPU_EXEC": "auto", "LD_LIBRARY_PATH": LIB})
    contains("output", r.out, f"nottext: {9 if kernel == KERNEL else 7}")
    return r


@case
def every_text_of_the_database_is_utf8():
    r = traced(KERNEL)
    complete(r)
    with contextlib.closing(sqlite3.connect(r.output)) as db:
        names = [name for name, in db.execute("select name from sqlite_master where type in ('table', 'view')")]
        for name in names:
            # SQLite's texts are decoded: one that is no UTF-8 raises an error
            list(db.execute(f'select * from "{name}"'))
    kernels = [k for k, in r.rows("select kernel from rtl_dispatch where kernel like 'caf%'")]
    equal("kernels", len(kernels), 1)
    texts = [kernels[0], *(m for m, in r.rows("select message from rtl_marker")),
             *(a for a, in r.rows("select args from rtl_api where name like 'hipModule%' and args like '%.co%' or args like '%missing%'"))]
    at_least("texts", len(texts), 5)
    for text in texts:
        if MARK not in text and "\\x" not in text:
            fail(f"{text!r} has no mark")


@case
def name_that_is_utf8_stays_as_it_is():
    r = traced(b"plain")
    equal("dispatches", r.value("select count(*) from rtl_dispatch where kernel = 'plain'"), 1)


@case
def every_format_of_such_a_trace_is_utf8():
    r = traced(KERNEL)
    for form in "perfetto", "jsonl", "csv", "folded", "speedscope", "kineto", "rocprofv3-json", "rocprofv3-csv":
        out = os.path.join(r.dir, "out." + form)
        ended(rtl("convert", "-f", form, "-o", out, r.output), 0)
        files = [out] if os.path.isfile(out) else glob.glob(glob.escape(out) + "*") + glob.glob(glob.escape(out) + "/**/*", recursive=True)
        at_least(f"files of {form}", len([f for f in files if os.path.isfile(f)]), 1)
        for path in files:
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    f.read().decode("utf-8")


main()
