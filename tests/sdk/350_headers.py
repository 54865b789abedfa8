#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The headers of rocprofiler-sdk and rocprofiler-sdk-roctx: those that tools include are there, each compiles alone, in C and C++."""
import concurrent.futures

from support import *

ROOTS = (os.path.join(SOURCE, "include"), os.path.join(BUILD, "gen"))
# What tools may include, by folder.
TREE = {
    "rocprofiler-sdk": """agent.h agent_profile.h buffer.h buffer_tracing.h callback_tracing.h context.h counter_config.h counters.h
        defines.h device_counting_service.h dispatch_counting_service.h dispatch_profile.h ext_version.h external_correlation.h fwd.h
        hip.h hsa.h intercept_table.h internal_threading.h marker.h ompt.h ompt/api_args.h ompt/omp-tools.h pc_sampling.h profile_config.h rccl.h registration.h
        rocdecode.h rocjpeg.h rocprofiler.h version.h""",
    "rocprofiler-sdk/hip": "api_args.h api_id.h compiler_api_id.h runtime_api_id.h table_id.h",
    "rocprofiler-sdk/hsa": """amd_ext_api_id.h api_args.h api_id.h api_trace_version.h core_api_id.h finalize_ext_api_id.h
        image_ext_api_id.h scratch_memory_args.h scratch_memory_id.h table_id.h""",
    "rocprofiler-sdk/marker": "api_args.h api_id.h table_id.h",
    "rocprofiler-sdk/rccl": "api_args.h api_id.h table_id.h",
    "rocprofiler-sdk/kfd": "kfd_id.h",
    "rocprofiler-sdk/deprecated": "counters.h counting_services.h profile_config.h",
    "rocprofiler-sdk/experimental": "counters.h registration.h spm.h thread_trace.h",
    "rocprofiler-sdk/experimental/thread-trace": "agent.h core.h dispatch.h trace_decoder.h trace_decoder_types.h",
    "rocprofiler-sdk/cxx": "enum_string.hpp hash.hpp name_info.hpp operators.hpp perfetto.hpp serialization.hpp utility.hpp version.hpp",
    "rocprofiler-sdk/cxx/codeobj": "code_printing.hpp disassembly.hpp segment.hpp",
    "rocprofiler-sdk/cxx/container": "c_array.hpp",
    "rocprofiler-sdk/cxx/details": "archive.hpp name_info.hpp tokenize.hpp",
    "rocprofiler-sdk/cxx/serialization": "load.hpp save.hpp",
    "rocprofiler-sdk-roctx": "api_trace.h defines.h roctx.h types.h version.h",
}
# Of other projects: the packages, and what they have. Perfetto's SDK is no package of Debian's: a stand-in has what the header uses.
COMGR = ("libamd-comgr-dev", ("amd_comgr.h", "amd_comgr/amd_comgr.h"))
LIBDW = ("libdw-dev", ("elfutils/libdw.h",))
NEEDS = {"rocprofiler-sdk/cxx/codeobj/disassembly.hpp": (COMGR,), "rocprofiler-sdk/cxx/codeobj/code_printing.hpp": (COMGR, LIBDW)}
STAND_INS = os.path.join(SOURCE, "tests/sdk/perfetto")
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Werror")


def headers():
    """{name: file} of all that are installed."""
    found = {}
    for root in ROOTS:
        for project in ("rocprofiler-sdk", "rocprofiler-sdk-roctx"):
            for at, _, names in os.walk(os.path.join(root, project)):
                found.update({os.path.relpath(os.path.join(at, n), root): os.path.join(at, n) for n in names})
    return found


def rocm_folders():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as f:
        return sorted(set(re.findall(r"^RTL_(?:HIP|HSA)_INCLUDE:\w+=(/.*)$", f.read(), re.M)) - {"/usr/include"})


@case
def each_header_that_tools_include_is_there():
    have = headers()
    missing = [f"{folder}/{n}" for folder, names in TREE.items() for n in names.split() if f"{folder}/{n}" not in have]
    equal("missing", missing, [])


def compile_alone(job):
    name, (compiler, language, standard), abi = job
    include = [f"-I{r}" for r in (*ROOTS, STAND_INS)] + [a for f in rocm_folders() for a in ("-isystem", f)]
    argv = [compiler, "-fsyntax-only", *WARNINGS, "-x", language, standard, f"-DROCPROFILER_SDK_ABI={abi}", "-DROCPROFILER_SDK_HAS_CEREAL=0",
            *include,
            "-include", name, "-include", name, "/dev/null"]
    p = subprocess.run(argv, capture_output=True, text=True, check=False)
    return f"{name}, {language}, ABI {abi}: {p.stderr[:800]}" if p.returncode else ""


def lacks_packages(name):
    return [package for package, files in NEEDS.get(name, ())
            if not any(os.path.exists(os.path.join(folder, f)) for f in files for folder in ("/usr/include", *rocm_folders()))]


@case
def headers_of_projects_that_are_not_installed_say_which():
    if not shutil.which("g++"):
        skip("no g++")
    for name, words in (("codeobj/disassembly.hpp", "libamd-comgr-dev"), ("perfetto.hpp", "needs perfetto.h of Perfetto's C++ SDK")):
        # -nostdinc: nothing is installed
        p = subprocess.run(["g++", "-fsyntax-only", "-nostdinc", "-std=c++17", "-fmax-errors=1", *(f"-I{r}" for r in ROOTS), "-x", "c++",
                            "-include", f"rocprofiler-sdk/cxx/{name}", "/dev/null"], capture_output=True, text=True, check=False)
        equal(f"status of {name}", p.returncode, 1)
        contains(name, p.stderr, "#error \"rocprofiler-sdk/cxx/")
        contains(name, p.stderr, words)


@case
def headers_for_comgr_and_elfutils_have_their_packages():
    lacking = sorted({package for name in NEEDS for package in lacks_packages(name)})
    if lacking:
        skip(f"not compiled: cxx/codeobj needs {' and '.join(lacking)}")


@case
def sources_for_rocm_6_4_find_their_names():
    if not shutil.which("gcc"):
        skip("no gcc")
    text = """#include <rocprofiler-sdk/rocprofiler.h>
        rocprofiler_status_t (*each)(rocprofiler_context_id_t, rocprofiler_dispatch_counting_service_callback_t, void *,
            rocprofiler_profile_counting_record_callback_t, void *) = rocprofiler_configure_callback_dispatch_counting_service;
        rocprofiler_status_t (*all)(rocprofiler_context_id_t, rocprofiler_buffer_id_t, rocprofiler_agent_id_t,
            rocprofiler_device_counting_service_callback_t, void *) = rocprofiler_configure_device_counting_service;
        #include <rocprofiler-sdk/deprecated/counting_services.h>
        rocprofiler_counter_info_t info;
        void *in_buffers = (void *)rocprofiler_configure_buffered_dispatch_counting_service;"""
    include = [f"-I{r}" for r in ROOTS] + [a for f in rocm_folders() for a in ("-isystem", f)]
    p = subprocess.run(["gcc", "-fsyntax-only", *WARNINGS, "-x", "c", "-std=c11", *include, "-"], input=text.encode(), capture_output=True,
                       check=False)
    equal("refused", p.stderr.decode(), "")


@case
def each_header_compiles_alone_and_twice():
    languages = [(c, *rest) for c, *rest in (("gcc", "c", "-std=c11"), ("g++", "c++", "-std=c++17")) if shutil.which(c)]
    if not languages:
        skip("no gcc")
    jobs = [(name, language, abi) for name in sorted(headers()) for language in languages for abi in (0, 1)
            if (name.endswith(".h") or language[1] == "c++") and not lacks_packages(name)
            # no ABI is in them
            and (abi or "/codeobj/" not in name)]
    at_least("headers that are compiled", len(jobs), 200)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [w for w in pool.map(compile_alone, jobs) if w]
    equal("refused", wrong, [])


main()
