#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn models/sdk into the headers for C++ that go through enumerations and structures.

rocprofiler-sdk/cxx/enum_string.hpp: the names of enumerators;
rocprofiler-sdk/cxx/serialization/save.hpp, load.hpp: structures to and from an archive.

Usage: emit_sdk_cxx.py --out DIR
Exit:  0 written, 1 a table is not understood; nothing is written then.
"""

import argparse
import os
import re
import sys

from emit_sdk import HERE, banner, by_abi, enum_lines, operation_lines
from extract import write_if_changed
from sdk_model import ABIS, Model, ModelError

# Headers whose structures are saved.
SAVED = ("fwd.h", "agent.h", "hip/api_args.h", "hsa/api_args.h", "marker/api_args.h", "rccl/api_args.h", "callback_tracing.h", "buffer_tracing.h", "counters.h",
         "device_counting_service.h", "dispatch_counting_service.h", "pc_sampling.h")
# What tools read back: the types that describe agents and code, and what these are made of.
LOADED = ("rocprofiler_dim3_t", "rocprofiler_uuid_t", "rocprofiler_agent_runtime_visiblity_t", "rocprofiler_agent_cache_t",
          "rocprofiler_agent_io_link_t", "rocprofiler_agent_mem_bank_t", "rocprofiler_agent_v0_t",
          "rocprofiler_callback_tracing_code_object_load_data_t",
          "rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t")
# Members that have another name in archives, by structure or of all.
NAMES = {"rocprofiler_pc_sampling_record_host_trap_v0_t": {"correlation_id": "corr_id", "workgroup_id": "wrkgrp_id",
                                                           "wave_in_group": "wave_in_grp"},
         "rocprofiler_pc_sampling_record_stochastic_v0_t": {"correlation_id": "corr_id", "workgroup_id": "wrkgrp_id",
                                                            "wave_in_group": "wave_in_grp", "wave_count": "wave_cnt"},
         "rocprofiler_pc_sampling_record_stochastic_header_t": {"has_memory_counter": "has_mem_cnt"},
         "rocprofiler_counter_info_v1_t": {"dimensions": "dims", "instance_ids": "instances"}}
# Structures that are only part of others, or only mean something in the process.
LEFT_OUT = ("rocprofiler_user_data_t", "rocprofiler_record_header_t")
# The driver's words: bits that the driver's headers of all releases have.
WORDS = {"HsaCacheType": "Data Instruction CPU HSACU",
         "HSA_LINKPROPERTY": "Override NonCoherent NoAtomics32bit NoAtomics64bit NoPeerToPeerDMA",
         "HSA_CAPABILITY": "HotPluggable HSAMMUPresent SharedWithGraphics QueueSizePowerOfTwo QueueSize32bit QueueIdleEvent VALimit "
                           "WatchPointsSupported WatchPointsTotalBits DoorbellType AQLQueueDoubleMap DebugTrapSupported "
                           "WaveLaunchTrapOverrideSupported WaveLaunchModeSupported PreciseMemoryOperationsSupported Mem_EDCSupport "
                           "RASEventNotify ASICRevision SRAM_EDCSupport SVMAPISupported CoherentHostAccess",
         "HSA_MEMORYPROPERTY": "HotPluggable NonVolatile",
         "HSA_ENGINE_VERSION": "uCodeSDMA uCodeRes",
         "HSA_ENGINE_ID": "uCode Major Minor Stepping"}
# Unions of results: what is saved of them, in either ABI.
RETVALS = {"rocprofiler_hip_api_retval_t": ("int_retval", "uint64_t_retval"),
           "rocprofiler_hsa_api_retval_t": ("uint64_t_retval", "uint64_t_retval"),
           "rocprofiler_marker_api_retval_t": ("int64_t_retval", "int64_t_retval"),
           "rocprofiler_rccl_api_retval_t": ("ncclResult_t_retval", "ncclResult_t_retval")}
SPACES = ["namespace rocprofiler", "{", "namespace sdk", "{"]
SPACES_END = ["} // namespace sdk", "} // namespace rocprofiler"]


def headers_of(model):
    """Includes for all that has an enumeration or a structure."""
    return ["#include <rocprofiler-sdk/%s>" % e["file"] for e in model.layout["headers"]
            if (e["enums"] or e["types"] or e.get("operations")) and not e["file"].startswith("deprecated/")]


# ---- names of enumerators ----

def enumerators(lines):
    """[(name, value)] of the lines of an enumeration."""
    found = []
    for line in lines:
        m = re.fullmatch(r"\t(\w+) = (-?\d+),", line)  # not a second name for another
        if m:
            found.append((m.group(1), m.group(2)))
    return found


def label_lines(enum, lines):
    """What is known of one enumeration: nothing for one of a single value and none."""
    if not lines:
        return None
    cases, values = [], set()
    for name, value in enumerators(lines):
        if value not in values:  # a second name of a value
            values.add(value)
            cases.append(name)
    numbers = [int(v, 0) for v in values]
    last = [int(v, 0) for n, v in enumerators(lines) if n.endswith("LAST")]
    bits = all(n & (n - 1) == 0 for n in numbers if n > 0) and max(numbers) > 3
    return (["template <> struct rocprofiler_enum_info<%s> : rocprofiler_enum_range<%s, %d, %d, %s> {" %
             (enum, enum, max(0, min(numbers)), last[0] if last else max(numbers) + 1, "true" if bits else "false"),
             "\tstatic constexpr auto unsupported = \"unsupported_%s\";" % enum, "};",
             "constexpr std::string_view label_of(%s value)" % enum, "{", "\tswitch (value) {"] +
            ["\tcase %s: return \"%s\";" % (n, n) for n in cases] +
            ["\t}", "\treturn rocprofiler_enum_info<%s>::unsupported;" % enum, "}"])


def trace_enums():
    """{name: lines} of the enumerations of thread traces, whose headers are not generated. Flags that are no values by themselves are left out."""
    folder = os.path.join(os.path.dirname(HERE), "include/rocprofiler-sdk/experimental/thread-trace")
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as f:
            for body, enum in re.findall(r"typedef enum \w+ \{\n(.*?)\n\} (\w+);", f.read(), re.S):
                found[enum] = ["typedef enum"] + [re.sub(r" */\*.*?\*/$", "", line) for line in body.split("\n")]
    found.pop("rocprofiler_thread_trace_control_flags_t")
    return found


def enum_string(model):
    """cxx/enum_string.hpp"""
    out = banner("rocprofiler-sdk/cxx/enum_string.hpp", "the names of enumerators, at compile time too").copy()
    out = [line.replace("emit_sdk.py", "emit_sdk_cxx.py") for line in out]
    out += ["#ifndef ROCPROFILER_SDK_CXX_ENUM_STRING_HPP", "#define ROCPROFILER_SDK_CXX_ENUM_STRING_HPP", ""] + headers_of(model)
    out += ["#include <rocprofiler-sdk/experimental/thread_trace.h>", "",
            "#include <cstddef>", "#include <string_view>", "#include <type_traits>", "#include <utility>", "",
            "/* For enumerations of others, within rocprofiler::sdk::details: its range, and the values that have a name. */",
            "#define ROCPROFILER_ENUM_INFO(type, first, last, bits) \\",
            "\ttemplate <> struct rocprofiler_enum_info<type> : rocprofiler_enum_range<type, first, last, bits> { \\",
            "\t\tstatic constexpr auto unsupported = \"unsupported_\" #type; \\", "\t};",
            "#define ROCPROFILER_ENUM_LABEL(enumerator) \\",
            "\ttemplate <> struct rocprofiler_enum_label<decltype(enumerator), static_cast<std::size_t>(enumerator)> { \\",
            "\t\tusing type = decltype(enumerator); \\", "\t\tstatic constexpr bool supported = true; \\",
            "\t\tstatic constexpr auto name = #enumerator; \\",
            "\t\tstatic constexpr std::size_t value = static_cast<std::size_t>(enumerator); \\", "\t};", ""] + SPACES + ["namespace details", "{",
            "/* supported: whether the names of EnumT are known. All values from `begin` to before `end` then have one, but for those of bits. */",
            "template <typename EnumT> struct rocprofiler_enum_info {", "\tstatic constexpr bool supported = false;", "};", "",
            "/* is_bitset: values are bits; compute() gives the value with that number. */",
            "template <typename EnumT, std::size_t First, std::size_t Last, bool Bits> struct rocprofiler_enum_range {",
            "\tusing type = EnumT;", "\tusing value_type = EnumT;", "\tstatic constexpr bool supported = true;",
            "\tstatic constexpr bool is_bitset = Bits;", "\tstatic constexpr std::size_t begin = First;",
            "\tstatic constexpr std::size_t end = Last;", "\tstatic constexpr std::size_t compute(std::size_t index)", "\t{",
            "\t\treturn Bits ? std::size_t{ 1 } << index : index;", "\t}", "};", "",
            "template <typename EnumT, std::size_t Value> struct rocprofiler_enum_label {", "\tstatic constexpr bool supported = false;", "};", "",
            "template <typename EnumT, std::size_t Value> constexpr void label_if(EnumT value, std::string_view &label)", "{",
            "\tif constexpr (rocprofiler_enum_label<EnumT, Value>::supported) {", "\t\tif (value == static_cast<EnumT>(Value))",
            "\t\t\tlabel = rocprofiler_enum_label<EnumT, Value>::name;", "\t} else {", "\t\t(void)value;", "\t\t(void)label;", "\t}", "}", "",
            "template <typename EnumT, std::size_t... Index>",
            "constexpr std::string_view label_among(EnumT value, std::index_sequence<Index...>)", "{",
            "\tstd::string_view label = rocprofiler_enum_info<EnumT>::unsupported;", "",
            "\t(label_if<EnumT, rocprofiler_enum_info<EnumT>::compute(Index)>(value, label), ...);", "\treturn label;", "}", "",
            "/* How many bits, or values, lie before `end`. */",
            "template <typename EnumT> constexpr std::size_t nr_values()", "{", "\tusing info = rocprofiler_enum_info<EnumT>;",
            "\tstd::size_t nr = 0;", "", "\tif (!info::is_bitset)", "\t\treturn info::end;", "\tfor (std::size_t rest = info::end; rest; rest >>= 1)",
            "\t\tnr++;", "\treturn nr;", "}", "",
            "/* Of an enumeration that is not of this library. */",
            "template <typename EnumT> constexpr std::string_view label_of(EnumT value)", "{",
            "\tif constexpr (rocprofiler_enum_info<EnumT>::supported)",
            "\t\treturn label_among(value, std::make_index_sequence<nr_values<EnumT>()>{});",
            "\treturn \"unsupported_enum\";", "}"]
    for entry in model.layout["headers"]:
        for enum in entry["enums"]:
            out += by_abi([label_lines(enum, enum_lines(model, enum, abi)) for abi in ABIS])
        for table in entry.get("operations", []):
            texts = []
            for abi in ABIS:
                lines = operation_lines(model, table, abi)
                name = re.sub(r"^\} (\w+);$", r"\1", lines[-1]) if lines else ""
                texts.append(label_lines(name, lines))
            out += by_abi(texts)
    for enum, lines in trace_enums().items():
        out += by_abi([None, label_lines(enum, lines)])
    out += ["} // namespace details", "",
            "/* The enumerator's name. \"unsupported_TYPE\" for a value without one, \"unsupported_enum\" for a type that is not of this library. */",
            "template <typename EnumT> constexpr std::string_view get_enum_label(EnumT value)", "{",
            "\treturn details::label_of(value);", "}"] + SPACES_END
    return out + ["", "#endif"]


# ---- archives ----

class Member:
    """How a member is saved and loaded: statements with `data`; load is None if it can't be."""

    def __init__(self, save, load):
        self.save, self.load = save, load


def simple(name, path):
    line = 'ar(make_nvp("%s", data.%s));' % (name, path)
    return Member([line], [line])


def bits(name, path):
    """A bit-field can't be referenced."""
    return Member(["{", "\tauto value = data.%s;" % path, '\tar(make_nvp("%s", value));' % name, "}"],
                  ["{", "\tauto value = data.%s;" % path, '\tar(make_nvp("%s", value));' % name, "\tdata.%s = value;" % path, "}"])


def text(name, path):
    return Member(['{', '\tauto value = std::string{ data.%s ? data.%s : "" };' % (path, path), '\tar(make_nvp("%s", value));' % name, "}"],
                  ["{", "\tauto value = std::string{};", '\tar(make_nvp("%s", value));' % name,
                   "\tdata.%s = sdk::serialization::kept(value);" % path, "}"])


def vector(name, path, count):
    """Elements behind a pointer."""
    return Member(["{", "\tauto value = sdk::serialization::list(data.%s, %s);" % (path, count),
                   '\tar(make_nvp("%s", value));' % name, "}"],
                  ["sdk::serialization::load_list(ar, \"%s\", data.%s, %s,\n\t\t[](const char *key, auto &value) { return make_nvp(key, value); });"
                   % (name, path, count)])


def count_of(members, name):
    """The member that counts the elements of `name`."""
    have = {m.name for m in members}
    for count in (name + "_count", "num_" + name, name[:-1] + "_count"):
        if count in have:
            return count
    return None


def members_of(struct, members, prefix=""):
    """[Member] in the order of the structure, without those that are not saved."""
    out = []
    for m in members:
        path, names = prefix + m.name.split(":")[0], NAMES.get(struct, {})
        name = names.get(m.name.split(":")[0], m.name.split(":")[0])
        if m.members is not None:
            out.append(None)
        elif m.name == "args" and struct.endswith("_ext_record_t"):
            out.append(Member(["{", "\tauto value = sdk::serialization::get_buffer_tracing_args(data);", '\tar(make_nvp("args", value));', "}"],
                              None))
        elif m.name.startswith(("reserved", "_rsvd", "unused")) or not m.name or m.type.endswith("_args_t") or "(*)" in m.type:
            out.append(None)
        elif ":" in m.name:
            out.append(bits(name, path))
        elif m.type == "const char *":
            out.append(text(name, path))
        elif m.type in RETVALS:
            out.append(simple(name, path))
        elif m.type == "rocprofiler_user_data_t":
            out.append(simple(name, path + ".value"))
        elif m.type.endswith("*"):
            count = count_of(members, m.name)
            if count and re.match(r"const \w+ \*$", m.type):
                out.append(vector(name, path, "data." + count))
            else:
                line = ["{", "\tauto value = reinterpret_cast<std::uintptr_t>(data.%s);" % path, '\tar(make_nvp("%s", value));' % name, "}"]
                out.append(Member(line, None))
        elif "[" in m.type:
            size = re.search(r"\[(\d+)\]", m.type).group(1)
            out.append(Member(["{", "\tauto value = sdk::serialization::list(&data.%s[0], %s);" % (path, size),
                               '\tar(make_nvp("%s", value));' % name, "}"], None))
        else:
            out.append(simple(name, path))
    return [m for m in out if m]


def special(name, found, abi):
    """Structures whose members depend on each other."""
    if name == "rocprofiler_callback_tracing_code_object_load_data_t":
        flat = [m for m in found.members if m.members is None]
        storage = ["if (data.storage_type == ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE) {",
                   '\tar(make_nvp("storage_file", data.storage_file));',
                   "} else if (data.storage_type == ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY) {",
                   '\tar(make_nvp("memory_base", data.memory_base));', '\tar(make_nvp("memory_size", data.memory_size));', "}"]
        return members_of(name, [m for m in flat if m.name not in ("hsa_agent", "rocp_agent")]) + agent_of(abi) + [Member(storage, storage)]
    if name == "rocprofiler_address_t":
        return [simple("handle", "handle")]
    if name == "rocprofiler_uuid_t":
        return [Member(["{", "\tauto value = sdk::serialization::list(&data.bytes[0], sizeof(data.bytes));", '\tar(make_nvp("bytes", value));',
                        "}"],
                       ["{", "\tauto value = sdk::serialization::list(&data.bytes[0], sizeof(data.bytes));", '\tar(make_nvp("bytes", value));',
                        "\tfor (std::size_t i = 0; i < value.size() && i < sizeof(data.bytes); i++)", "\t\tdata.bytes[i] = value[i];", "}"])]
    if name in RETVALS:
        return [simple(RETVALS[name][abi], RETVALS[name][abi])]
    return None


def agent_of(abi):
    """The agent of a code object: a union with HSA's in one ABI, a member of its own in the other."""
    path = "agent_id" if abi else "rocp_agent"
    return [simple("agent_id", path)]


def address_member(struct, saved):
    """Addresses of allocations are texts with 16 digits."""
    if "memory_allocation" not in struct:
        return saved
    line = ["{", "\tauto value = sdk::utility::as_hex(data.address.handle, 16);", '\tar(make_nvp("address", value));', "}"]
    return [Member(line, None) if m.save[0].startswith('ar(make_nvp("address"') else m for m in saved]


def function(which, name, members):
    """save() or load() of a structure."""
    statements = [s for m in members for s in (m.save if which == "save" else m.load or [])]
    if not statements:
        return None
    ref = "const %s &" % name if which == "save" else "%s &" % name
    return ["template <typename ArchiveT> void %s(ArchiveT &ar, %sdata)" % (which, ref), "{"] + ["\t" + s for s in statements] + ["}", ""]


def struct_lines(model, name, abi, which):
    """save() or load() of one type in one ABI."""
    found = model.structs.get(name, [None, None])[abi]
    if not found:
        return None
    members = special(name, found, abi)
    if members is None and found.is_union():
        return None
    members = members if members is not None else address_member(name, members_of(name, found.members))
    return function(which, name, members)


def word_lines(which):
    """The driver's words, by their bits, or as numbers where its header is missing."""
    out = ["#if ROCPROFILER_SDK_HAS_KMT_TYPES"]
    for word, fields in WORDS.items():
        path = "" if word == "HSA_ENGINE_VERSION" else "ui32."
        out += function(which, word, [bits(f, path + f) for f in fields.split()])
    out += ["#else"]
    for word in ("HSA_CAPABILITY", "HsaCacheType"):
        out += function(which, word, [simple("Value", "Value")])
    return out + ["#endif", ""]


def handles(model, abi):
    """Structures of one member, `handle`."""
    return [n for n, both in model.structs.items() if both[abi] and [m.name for m in both[abi].members] == ["handle"] and
            not model.is_left_out(n)]


def types_of(model, which):
    """Names in the order of the headers, so that each is there before it is used by another."""
    if which == "load":
        return list(dict.fromkeys(handles(model, 0) + handles(model, 1))) + ["rocprofiler_address_t", *LOADED]
    return [t for e in model.layout["headers"] if e["file"] in SAVED for t in e["types"]
            if t not in LEFT_OUT and not model.is_left_out(t)]


def archive_header(model, which, about):
    """cxx/serialization/save.hpp, load.hpp"""
    name = "rocprofiler-sdk/cxx/serialization/%s.hpp" % which
    guard = "ROCPROFILER_SDK_CXX_SERIALIZATION_%s_HPP" % which.upper()
    out = [line.replace("emit_sdk.py", "emit_sdk_cxx.py") for line in banner(name, about)]
    out += ["#ifndef " + guard, "#define " + guard, ""] + headers_of(model)
    out += ["#include <rocprofiler-sdk/cxx/details/archive.hpp>", "", "ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN", ""]
    out += word_lines(which)
    if which == "save":
        out += ["template <typename ArchiveT> void save(ArchiveT &ar, hsa_agent_t data)", "{", '\tar(make_nvp("handle", data.handle));', "}", ""]
    for t in types_of(model, which):
        out += by_abi([struct_lines(model, t, abi, which) for abi in ABIS])
    return out + ["ROCPROFILER_SDK_CEREAL_NAMESPACE_END", "", "#endif"]


def emit(model):
    """{file: lines}"""
    return {"rocprofiler-sdk/cxx/enum_string.hpp": enum_string(model),
            "rocprofiler-sdk/cxx/serialization/save.hpp": archive_header(model, "save", "structures to an archive of cereal's kind"),
            "rocprofiler-sdk/cxx/serialization/load.hpp": archive_header(model, "load", "structures from an archive of cereal's kind")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--model", default=os.path.join(HERE, "models", "sdk"))
    args = parser.parse_args()
    try:
        files = emit(Model(args.model))
    except (ModelError, OSError, KeyError, ValueError) as e:
        sys.stderr.write("emit_sdk_cxx: %s: %s\n" % (type(e).__name__, e))
        sys.exit(1)
    for name, lines in files.items():
        path = os.path.join(args.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_if_changed(path, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
