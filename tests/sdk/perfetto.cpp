/* SPDX-License-Identifier: MIT */
/* perfetto.cpp - the categories of kinds and the annotations of events, with a stand-in for
 * Perfetto's SDK. Exits with 1 if something was not as it should be. */
#include <rocprofiler-sdk/cxx/perfetto.hpp>

#include <cstring>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "../support/expect.h"

static int nr_wrong;

namespace sdk = rocprofiler::sdk;

struct point {
	int x, y;
};

static std::ostream &operator<<(std::ostream &out, const point &p)
{
	return out << p.x << ',' << p.y;
}

static std::string annotated(sdk::perfetto_event_context_t &context)
{
	const auto &last = context.kept.annotations.back();

	return last.name + " " + last.value;
}

static void check_annotations()
{
	sdk::perfetto_event_context_t context;
	const std::string text = "of a string";
	int n = -3;

#define ANNOTATED(name, value, expected)                                                           \
	do {                                                                                       \
		sdk::add_perfetto_annotation(context, name, value);                                \
		const std::string seen = annotated(context);                                       \
		TEXT(seen.c_str(), expected);                                                      \
	} while (0)
	sdk::add_perfetto_annotation(context, "empty", sdk::category::none{});
	IS(context.kept.annotations.size(), 0);
	ANNOTATED("a", "literal", "a text literal");
	ANNOTATED(std::string("b"), text, "b text of a string");
	ANNOTATED(std::string_view("ccc", 1), std::string_view(text).substr(0, 2), "c text of");
	ANNOTATED("d", true, "d bool true");
	ANNOTATED("e", n, "e int -3");
	ANNOTATED("f", 7u, "f uint 7");
	ANNOTATED("g", ~0ull, "g uint 18446744073709551615");
	ANNOTATED("h", 0.5f, "h double 0.500000");
	ANNOTATED("i", ROCPROFILER_CALLBACK_PHASE_EXIT,
		  ("i int " + std::to_string(ROCPROFILER_CALLBACK_PHASE_EXIT)).c_str());
	ANNOTATED("j", reinterpret_cast<const void *>(4096), "j pointer 4096");
	ANNOTATED("k", (point{ 1, 2 }), "k text 1,2");
	IS(context.kept.annotations.size(), 11);
}

template <typename Kind> static void check_kinds(int last, const std::set<std::string> &names)
{
	for (int kind = 0; kind < last; kind++) {
		const char *const name = sdk::get_perfetto_category(static_cast<Kind>(kind));

		IS(name && names.count(name), 1);
	}
	IS(sdk::get_perfetto_category(static_cast<Kind>(last)) == nullptr, true);
}

int main()
{
	std::set<std::string> names;

	for (const auto &c : perfetto::kCategories) {
		IS(names.insert(c.name).second, true);
		IS(c.description && *c.description, true);
	}
	IS(names.size(), 13);
	TEXT(sdk::perfetto_category<sdk::category::kernel_dispatch>::name, "kernel_dispatch");
	TEXT(sdk::perfetto_category<sdk::category::hip_api>::description, "HIP API function");
	TEXT(sdk::perfetto_category<sdk::category::none>::name, "none");
	check_kinds<rocprofiler_buffer_tracing_kind_t>(ROCPROFILER_BUFFER_TRACING_LAST, names);
	check_kinds<rocprofiler_callback_tracing_kind_t>(ROCPROFILER_CALLBACK_TRACING_LAST, names);
	TEXT(sdk::get_perfetto_category(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY), "memory_copy");
	TEXT(sdk::get_perfetto_category(ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API), "hsa_api");
	TEXT(sdk::get_perfetto_category(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT), "none");
	TEXT((sdk::rocprofiler_tracing_perfetto_category<
		     rocprofiler_buffer_tracing_kind_t, ROCPROFILER_BUFFER_TRACING_RCCL_API>::name),
	     "rccl_api");
	TEXT(sdk::get_perfetto_category(ROCPROFILER_CALLBACK_TRACING_NONE,
					std::index_sequence<0, 1>{}),
	     "none");
	IS(sdk::get_perfetto_category(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,
				      std::index_sequence<0, 1>{}) == nullptr,
	   true);
#if ROCPROFILER_SDK_ABI
	TEXT(sdk::get_perfetto_category(ROCPROFILER_BUFFER_TRACING_KFD_QUEUE), "kfd_events");
	TEXT(sdk::get_perfetto_category(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT), "hip_api");
	TEXT(sdk::get_perfetto_category(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API),
	     "marker_api");
#endif
	check_annotations();
	return nr_wrong != 0;
}
