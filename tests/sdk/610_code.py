#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cxx/codeobj of rocprofiler-sdk: kernels of a running program as LLVM's own tools disassemble them, with lines and the calls that were inlined."""
from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
OBJDUMP, SYMBOLIZER = (shutil.which(n) or f"/usr/lib/llvm-15/bin/{n.removesuffix('-15')}" for n in ("llvm-objdump-15", "llvm-symbolizer-15"))


def by_objdump(path):
    """{address: text}"""
    out = subprocess.run([OBJDUMP, "-d", path], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\t(.*?)\s*// ([0-9A-F]{12}):", out, re.M)
    return {int(address, 16): " ".join(text.split()) for text, address in found}


def by_symbolizer(path, addresses):
    """[FILE:LINE -> FILE:LINE, from the inside out]"""
    out = subprocess.run([SYMBOLIZER, "--functions=none", f"--obj={path}"], input="\n".join(hex(a) for a in addresses), capture_output=True,
                         text=True, check=True).stdout
    return [" -> ".join(line.rpartition(":")[0] for line in block.split("\n")) for block in out.strip().split("\n\n")]


@case
def kernels_of_a_program_are_disassembled_as_by_llvm_with_lines():
    client = built("sdk_code_client", "hipcc", "amd_comgr.h|amd_comgr/amd_comgr.h", "elfutils/libdw.h")
    if not os.path.exists(OBJDUMP):
        skip("no llvm-objdump")
    folder = new_dir()
    ran = run(client, folder, env=RUNTIME)
    rows = [line.split("\t") for line in ran.out.splitlines()]
    at_least("instructions", len(rows), 30)
    for object_id in sorted({r[0] for r in rows}):
        path = os.path.join(folder, f"{object_id}.co")
        mine = {int(r[1], 16): " ".join(r[3].split()) for r in rows if r[0] == object_id}
        texts = by_objdump(path)
        equal("instructions that are not LLVM's", {a: (t, texts.get(a)) for a, t in mine.items() if t != texts.get(a)}, {})
        equal("ends of programs", any(t == "s_endpgm" for t in mine.values()), True)
        lines = {int(r[1], 16): r[4] for r in rows if r[0] == object_id}
        equal("lines that are not LLVM's",
              {hex(a): (lines[a], s) for a, s in zip(lines, by_symbolizer(path, lines)) if lines[a] != s and not s.endswith(":0")}, {})
    # the root is in inner(), which outer() calls, which the kernel calls
    of_root = [r[4].split(" -> ") for r in rows if "sqrt" in r[3]]
    at_least("square roots", len(of_root), 1)
    with open(os.path.join(SOURCE, "tests/sdk/code_client.cpp"), encoding="utf-8") as f:
        source = f.read().splitlines()
    want = [1 + next(i for i, line in enumerate(source) if text in line) for text in ("__builtin_sqrtf(a)", "inner(a + 1.0f)", "= outer(")]
    equal("where the root comes from", [int(line.rpartition(":")[2]) for line in of_root[0]], want)


main()
