#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The installed compat libraries are found by find_package(), by pkg-config and by the compiler alone."""
import re

from support import *

PROGRAM = """
#include <roctracer/roctracer_ext.h>
#include <roctracer/roctx.h>
#include <stdio.h>
int main(void)
{
	uint32_t op = 0;
	int status = roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipMalloc", &op, NULL);
	printf("%d %u %u %d\\n", status, op, roctracer_version_minor(), roctxRangePush("a"));
	return 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(client %s)
find_package(roctracer 4 REQUIRED)
add_executable(client %s)
target_link_libraries(client PRIVATE %s)
"""
LANGUAGES = (("C", "client.c", "cc", "${roctracer_LIBRARIES}"),
             ("CXX", "client.cpp", "c++", "roctracer::roctracer64 roctracer::roctx64"))
WORDS = "0 108 1 0\n"


def command(*argv, **kwargs):
    p = subprocess.run(list(map(str, argv)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                       **kwargs)
    if p.returncode:
        fail(f"{' '.join(map(str, argv))}: {p.stdout[-3000:]}")
    return p.stdout


def installed():
    """The prefix with AMD's names in the installed tree, moved to another folder, and a client's source."""
    root = os.path.join(work_dir(), "moved")
    command("cmake", "--install", BUILD, "--prefix", os.path.join(work_dir(), "first"))
    os.rename(os.path.join(work_dir(), "first"), root)
    root = os.path.join(root, "lib/rocm-trace-lite/drop-in")
    for _, name, _, _ in LANGUAGES:
        with open(os.path.join(work_dir(), name), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
    return root


def check(path, root):
    out = command(path, env={"LD_LIBRARY_PATH": os.path.join(root, "lib")})
    equal("what the client prints", out, WORDS)


@case
def package_is_found_by_cmake_and_flags():
    root, source = installed(), os.path.join(work_dir(), "client.c")
    for language, name, compiler, libraries in LANGUAGES:
        with open(os.path.join(work_dir(), "CMakeLists.txt"), "w", encoding="utf-8") as f:
            f.write(PROJECT % (language, name, libraries))
        built = os.path.join(work_dir(), f"built-{language}")
        command("cmake", "-G", "Ninja", "-S", work_dir(), "-B", built, f"-DCMAKE_PREFIX_PATH={root}")
        command("cmake", "--build", built)
        check(os.path.join(built, "client"), root)

        plain = os.path.join(work_dir(), f"plain-{language}")
        command(compiler, os.path.join(work_dir(), name), "-o", plain, f"-I{root}/include", f"-L{root}/lib",
                "-lroctracer64", "-lroctx64", f"-Wl,-rpath-link,{root}/lib")
        check(plain, root)

    # as pkg-config reads them, with or without it
    flags = []
    for name in ("roctracer64", "roctx64"):
        folder = os.path.join(root, "lib/pkgconfig")
        with open(os.path.join(folder, f"{name}.pc"), encoding="utf-8") as f:
            lines = [l.strip() for l in f]
        values = {"pcfiledir": folder}
        for line in lines:
            expanded = re.sub(r"\$\{(\w+)\}", lambda m: values[m.group(1)], line)
            if re.match(r"^\w+=", line):
                values[line.split("=")[0]] = expanded.split("=", 1)[1]
            elif line.startswith(("Libs:", "Cflags:")):
                flags += expanded.split(":", 1)[1].split()
        if shutil.which("pkg-config"):
            command("pkg-config", "--libs", "--cflags", name, env={**os.environ, "PKG_CONFIG_PATH": folder})
    by_flags = os.path.join(work_dir(), "by_flags")
    command("cc", source, "-o", by_flags, *flags)
    check(by_flags, root)


HEADERS = [
    "ext/hsa_rt_utils.hpp", "ext/prof_protocol.h", "hip_ostream_ops.h", "hsa_ostream_ops.h", "hsa_prof_str.h", "roctracer.h",
    "roctracer_cb_table.h", "roctracer_ext.h", "roctracer_hcc.h", "roctracer_hip.h", "roctracer_hsa.h", "roctracer_roctx.h",
    "roctx.h"]
COMPILERS = (("gcc", "c"), ("g++", "c++"))


@case
def each_header_is_installed():
    folder = os.path.join(installed(), "include/roctracer")
    have = [os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names]
    equal("headers", sorted(have), HEADERS)


@case
def each_header_compiles_alone_and_twice():
    """In C and C++, twice, by both ways that clients write: roctracer/x.h, and x.h with the folder on the path."""
    root = installed()
    for compiler, language in COMPILERS:
        for header in HEADERS:
            if language == "c" and header.endswith(".hpp"):
                continue
            for name, folder in ((f"roctracer/{header}", "include"), (header, "include/roctracer")):
                command(compiler, "-fsyntax-only", "-Wall", "-Werror", "-x", language, "-D__HIP_PLATFORM_AMD__",
                        f"-I{root}/{folder}", "-include", name, "-include", name, "/dev/null")


main()
