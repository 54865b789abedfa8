/* SPDX-License-Identifier: MIT */
/* cxx.cpp - the helpers for tools in C++: names, comparison, hashes, texts
 *
 * Built for each ABI. Exits with 1 if something was not as it should be.
 */
#include <rocprofiler-sdk/cxx/details/name_info.hpp>
#include <rocprofiler-sdk/cxx/details/tokenize.hpp>
#include <rocprofiler-sdk/cxx/hash.hpp>
#include <rocprofiler-sdk/cxx/name_info.hpp>
#include <rocprofiler-sdk/cxx/operators.hpp>
#include <rocprofiler-sdk/cxx/utility.hpp>
#include <rocprofiler-sdk/cxx/version.hpp>
#include <rocprofiler-sdk/rocprofiler.h>

#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "../support/expect.h"

static int nr_wrong;

namespace sdk = rocprofiler::sdk;

template <typename ValueT> static void check_callback_names()
{
	auto names = sdk::get_callback_tracing_names<ValueT>();
	auto kind = ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API;
	auto launch = ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel;
	int n = 0;

	IS(names.size(), ROCPROFILER_CALLBACK_TRACING_LAST);
	for (const auto &k : names) {
		IS(k.value, n++);
		IS(k.name == k() && std::string(k()) != "", 1);
	}
	IS(names[kind].operations.size(), ROCPROFILER_HIP_RUNTIME_API_ID_LAST);
	TEXT(std::string(names.at(kind)).c_str(), "HIP_RUNTIME_API");
	TEXT(std::string(names.at(kind, launch)).c_str(), "hipLaunchKernel");
	TEXT(std::string(names[kind][launch]).c_str(), "hipLaunchKernel");
	TEXT(std::string(names[kind](launch)).c_str(), "hipLaunchKernel");
	IS(names.items().size(), names.size());
	IS(names.items()[kind] == &names[kind], 1);
	IS(names[kind].items()[launch].first, launch);
	TEXT(std::string(*names[kind].items()[launch].second).c_str(), "hipLaunchKernel");
	/* as XLA keeps it */
	std::string copy{ names[kind][launch] };
	TEXT(copy.c_str(), "hipLaunchKernel");
}

static void check_buffer_names()
{
	sdk::buffer_name_info names = sdk::get_buffer_tracing_names();
	sdk::buffer_name_info_t<std::string> own;

	IS(names.size(), ROCPROFILER_BUFFER_TRACING_LAST);
	IS(names.at(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) == "KERNEL_DISPATCH", 1);
	IS(names.at(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
		    ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE) == "MEMORY_COPY_HOST_TO_DEVICE",
	   1);
	own.emplace(ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, "kind");
	own.emplace(ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, 2, "operation");
	IS(own.size(), ROCPROFILER_BUFFER_TRACING_HSA_CORE_API + 1);
	TEXT(own.at(ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, 2).c_str(), "operation");
	IS(own[ROCPROFILER_BUFFER_TRACING_HSA_CORE_API].operations.size(), 3);
	try {
		own.at(ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, 3);
		nr_wrong++;
	} catch (const std::out_of_range &) {
	}
}

static void check_operators()
{
	rocprofiler_agent_id_t one{ 1 }, two{ 2 };
	rocprofiler_dim3_t small{ 1, 2, 3 }, flat{ 1, 3, 0 }, turned{ 3, 2, 1 };
	std::unordered_map<rocprofiler_agent_id_t, int> by_agent{ { one, 10 }, { two, 20 } };
	std::map<rocprofiler_context_id_t, int> by_context{ { { 5 }, 1 }, { { 4 }, 2 } };
	std::unordered_map<hsa_agent_t, int> by_hsa{ { { 3 }, 30 } };
	rocprofiler_agent_v0_t agent{}, other{};

	static_assert(rocprofiler_buffer_id_t{ 1 } == rocprofiler_buffer_id_t{ 1 }, "constexpr");
	IS(one < two && one <= two && one != two && !(one == two) && two > one && two >= one, 1);
	/* by their products, then by their members */
	IS(flat < small && small != flat && !(small <= flat) && small < turned, 1);
	IS(hsa_region_t{ 1 } < hsa_region_t{ 2 }, 1);
	IS(hsa_amd_memory_pool_t{ 1 } != hsa_amd_memory_pool_t{ 2 }, 1);
	std::map<rocprofiler_thread_trace_decoder_pc_t, int> by_pc{ { { { 9 }, { 1 } }, 1 },
								    { { { 8 }, { 2 } }, 2 },
								    { { { 7 }, { 1 } }, 3 } };
	IS(by_pc.begin()->second == 3 && by_pc.rbegin()->first.marker_id == 2, 1);
#if ROCPROFILER_SDK_ABI > 0
	rocprofiler_address_t low{}, high{};
	high.value = 1;
	IS(low < high && std::hash<rocprofiler_address_t>{}(low) !=
				 std::hash<rocprofiler_address_t>{}(high),
	   1);
#endif
	IS(by_agent.at(two), 20);
	IS(by_context.begin()->second, 2);
	IS(by_hsa.at(hsa_agent_t{ 3 }), 30);
	agent.id = one;
	other.id = two;
	IS(agent < other && std::hash<rocprofiler_agent_v0_t>{}(agent) != 0, 1);
}

static void check_texts()
{
	auto parts = sdk::parse::tokenize(" one, two,,three ", ", ");

	IS(parts.size(), 3);
	TEXT(parts.at(2).c_str(), "three");
	IS(sdk::parse::tokenize("", ",").size(), 0);
	TEXT(sdk::parse::strip("  text ", " ").c_str(), "text");
	TEXT(sdk::utility::as_hex(255).c_str(), "0xff");
	TEXT(sdk::utility::as_hex(255u, 4).c_str(), "0x00ff");
#if ROCPROFILER_SDK_ABI > 0
	constexpr auto v = sdk::version::compute_version_triplet(ROCPROFILER_VERSION);
	static_assert(v == rocprofiler_version_triplet_t{ 1, 0, 0 }, "constexpr");
	constexpr rocprofiler_version_triplet_t older = { 7, 2, 3 };
	IS(sdk::version::compute_version_triplet<1000>(7002004) > older, 1);
#endif
}

int main()
{
	static_assert(std::is_same_v<sdk::callback_name_info,
				     sdk::callback_name_info_t<std::string_view>>,
		      "the texts are the library's");
	check_callback_names<std::string_view>();
	check_callback_names<const char *>();
	check_callback_names<std::string>();
	check_buffer_names();
	check_operators();
	check_texts();
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
