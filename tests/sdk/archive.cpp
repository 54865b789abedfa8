/* SPDX-License-Identifier: MIT */
/* archive.cpp - structures in archives, names of enumerators, arrays behind pointers; thread trace,
 * SPM and attaching as declared
 *
 * Built for each ABI and two standards, with cereal and without. Exits with 1 if something was not
 * as it should be.
 */
#include <rocprofiler-sdk/cxx/container/c_array.hpp>
#include <rocprofiler-sdk/cxx/enum_string.hpp>
#include <rocprofiler-sdk/cxx/serialization.hpp>
#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/experimental/spm.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "../support/expect.h"

static int nr_wrong;

namespace sdk = rocprofiler::sdk;

/* ---- archives of our own: one that writes text, one that keeps words ---- */

#if !ROCPROFILER_SDK_HAS_CEREAL
class writer
{
public:
	std::string text;

	template <typename Tp> void operator()(const sdk::serialization::pair<Tp> &member)
	{
		text += text.empty() || text.back() == '{' ? "" : ",";
		text += std::string("\"") + member.name + "\":";
		put(member.value);
	}
	void makeArray()
	{
	}

private:
	void put(const std::string &value)
	{
		text += "\"" + value + "\"";
	}
	template <typename Tp> void put(const std::vector<Tp> &values)
	{
		text += "[";
		for (const auto &value : values) {
			text += text.back() == '[' ? "" : ",";
			put(value);
		}
		text += "]";
	}
	template <typename Tp> void put(const Tp &value)
	{
		if constexpr (std::is_enum_v<Tp>) {
			text += std::to_string(static_cast<long long>(value));
		} else if constexpr (std::is_arithmetic_v<Tp>) {
			text += std::to_string(value);
		} else {
			text += "{";
			save(*this, value);
			text += "}";
		}
	}
	template <typename Tp> void save(writer &ar, const Tp &value)
	{
		using cereal::save;
		save(ar, value);
	}
};

static std::string text_of(const rocprofiler_agent_v0_t &agent)
{
	writer w;

	cereal::save(w, agent);
	return w.text;
}

template <typename Tp> static std::string json_of(const Tp &value)
{
	writer w;

	cereal::save(w, value);
	return w.text;
}
#else
template <typename Tp> static std::string json_of(const Tp &value)
{
	std::ostringstream out;
	{
		cereal::JSONOutputArchive ar(out, cereal::JSONOutputArchive::Options::NoIndent());
		ar(cereal::make_nvp("value", value));
	}
	std::string text = out.str();
	text.erase(std::remove_if(text.begin(), text.end(),
				  [](char c) { return c == ' ' || c == '\n'; }),
		   text.end());
	return text;
}

static std::string text_of(const rocprofiler_agent_v0_t &agent)
{
	return json_of(agent);
}
#endif

static bool has(const std::string &text, const char *part)
{
	if (text.find(part) != std::string::npos)
		return true;
	printf("no %s in %s\n", part, text.c_str());
	return false;
}

/* ---- structures ---- */

static rocprofiler_agent_v0_t make_agent(const rocprofiler_agent_mem_bank_t *banks)
{
	rocprofiler_agent_v0_t agent = {};

	agent.size = sizeof(agent);
	agent.id.handle = 77;
	agent.type = ROCPROFILER_AGENT_TYPE_GPU;
	agent.mem_banks_count = 2;
	agent.mem_banks = banks;
	agent.cu_count = 104;
	agent.workgroup_max_dim = { 1024, 1023, 1022 };
	agent.name = "gfx90a";
	agent.logical_node_id = -1;
#if ROCPROFILER_SDK_HAS_KMT_TYPES
	agent.capability.ui32.DoorbellType = 2;
	agent.fw_version.ui32.Major = 9;
#endif
#if ROCPROFILER_SDK_ABI > 0
	agent.uuid.bytes[15] = 200;
	agent.runtime_visibility.hip = 1;
#endif
	return agent;
}

static void check_save()
{
	rocprofiler_agent_mem_bank_t banks[2] = {};
	rocprofiler_buffer_tracing_kernel_dispatch_record_t dispatch = {};
	rocprofiler_callback_tracing_code_object_load_data_t code = {};

	banks[1].size_in_bytes = 1ull << 36;
	std::string text = text_of(make_agent(banks));
	IS(has(text, "\"cu_count\":104") && has(text, "\"name\":\"gfx90a\"") &&
		   has(text, "\"workgroup_max_dim\":{\"x\":1024,\"y\":1023,\"z\":1022}") &&
		   has(text, "\"id\":{\"handle\":77}") && has(text, "\"logical_node_id\":-1") &&
		   has(text, "68719476736") && has(text, "\"vendor_name\":\"\""),
	   1);
#if ROCPROFILER_SDK_HAS_KMT_TYPES
	IS(has(text, "\"DoorbellType\":2") && has(text, "\"Major\":9"), 1);
#endif
	dispatch.size = sizeof(dispatch);
	dispatch.correlation_id.internal = 5;
	dispatch.correlation_id.external.value = 6;
	dispatch.start_timestamp = 1000;
	dispatch.dispatch_info.kernel_id = 12;
	dispatch.dispatch_info.grid_size = { 64, 1, 1 };
	text = json_of(dispatch);
	IS(has(text, "\"internal\":5") && has(text, "\"external\":6") &&
		   has(text, "\"start_timestamp\":1000") && has(text, "\"kernel_id\":12") &&
		   has(text, "\"grid_size\":{\"x\":64,\"y\":1,\"z\":1}"),
	   1);
	IS(text.find("reserved") == std::string::npos, 1);
	code.code_object_id = 3;
	code.uri = "file:///a.hsaco";
	code.storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
	code.memory_size = 4096;
	text = json_of(code);
	IS(has(text, "\"uri\":\"file:///a.hsaco\"") && has(text, "\"memory_size\":4096"), 1);
	IS(text.find("storage_file") == std::string::npos, 1);
}

#if ROCPROFILER_SDK_HAS_CEREAL
/* What is written is read back the same: as JSON, by names, and in binary, in order. */
template <typename OutT, typename InT, typename Tp> static Tp copy_of(const Tp &value)
{
	std::stringstream stream;
	Tp copy = {};
	{
		OutT ar(stream);
		ar(cereal::make_nvp("value", value));
	}
	InT in(stream);
	in(cereal::make_nvp("value", copy));
	return copy;
}

template <typename OutT, typename InT> static void check_load()
{
	rocprofiler_agent_mem_bank_t banks[2] = {};
	rocprofiler_callback_tracing_code_object_load_data_t code = {};

	banks[1].size_in_bytes = 1ull << 36;
	auto agent = make_agent(banks);
	auto copy = copy_of<OutT, InT>(agent);
	IS(copy.cu_count, 104);
	IS(copy.id.handle, 77);
	IS(copy.mem_banks_count, 2);
	IS(copy.mem_banks[1].size_in_bytes == 1ull << 36, 1);
	IS(copy.caches_count, 0);
	IS(copy.workgroup_max_dim.z, 1022);
	IS(copy.logical_node_id, -1);
	TEXT(copy.name, "gfx90a");
#if ROCPROFILER_SDK_HAS_KMT_TYPES
	IS(copy.capability.ui32.DoorbellType, 2);
#endif
#if ROCPROFILER_SDK_ABI > 0
	IS(copy.uuid.bytes[15], 200);
	IS(copy.runtime_visibility.hip, 1);
#endif
	code.storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE;
	code.storage_file = 7;
	code.load_delta = -8;
	code.uri = "file:///a";
	auto other = copy_of<OutT, InT>(code);
	IS(other.storage_file, 7);
	IS(other.load_delta, -8);
	TEXT(other.uri, "file:///a");
}
#endif

/* ---- the other headers ---- */

namespace others
{
enum colour { RED, GREEN, BLUE, COLOUR_LAST };
enum bits { BIT_A = 1, BIT_B = 2, BIT_C = 4 };
} // namespace others

namespace rocprofiler::sdk::details
{
ROCPROFILER_ENUM_INFO(others::colour, others::RED, others::COLOUR_LAST, false)
ROCPROFILER_ENUM_LABEL(others::GREEN);
ROCPROFILER_ENUM_LABEL(others::BLUE);
ROCPROFILER_ENUM_INFO(others::bits, others::BIT_A, others::BIT_C, true)
ROCPROFILER_ENUM_LABEL(others::BIT_C);
} // namespace rocprofiler::sdk::details

static void check_enums_of_others()
{
	static_assert(sdk::get_enum_label(others::GREEN) == "others::GREEN", "constexpr");
	IS(sdk::get_enum_label(others::BLUE) == "others::BLUE", 1);
	IS(sdk::get_enum_label(others::RED) == "unsupported_others::colour", 1);
	IS(sdk::get_enum_label(others::BIT_C) == "others::BIT_C", 1);
	IS(sdk::get_enum_label(others::BIT_B) == "unsupported_others::bits", 1);
	IS(sdk::details::rocprofiler_enum_info<others::bits>::compute(2), others::BIT_C);
	IS(sdk::details::rocprofiler_enum_info<rocprofiler_intercept_table_t>::is_bitset, true);
#if ROCPROFILER_SDK_ABI > 0
	IS(sdk::get_enum_label(ROCPROFILER_THREAD_TRACE_PARAMETER_BUFFER_SIZE) ==
		   "ROCPROFILER_THREAD_TRACE_PARAMETER_BUFFER_SIZE",
	   1);
	IS(sizeof(rocprofiler_thread_trace_decoder_id_t), 8);
#endif
}

static void check_enums()
{
	check_enums_of_others();
	static_assert(sdk::get_enum_label(ROCPROFILER_STATUS_ERROR_BUFFER_BUSY) ==
			      "ROCPROFILER_STATUS_ERROR_BUFFER_BUSY",
		      "constexpr");
	static_assert(sdk::get_enum_label(ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc) ==
			      "ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc",
		      "operations");
	enum own { OWN };
	using info = sdk::details::rocprofiler_enum_info<rocprofiler_status_t>;

	for (auto i = info::begin; i < info::end; i++)
		IS(sdk::get_enum_label(static_cast<rocprofiler_status_t>(i)).substr(0, 19) ==
			   "ROCPROFILER_STATUS_",
		   1);
	IS(info::end, ROCPROFILER_STATUS_LAST);
	IS(sdk::get_enum_label(static_cast<rocprofiler_status_t>(9999)) ==
		   "unsupported_rocprofiler_status_t",
	   1);
	IS(sdk::details::rocprofiler_enum_info<own>::supported, 0);
	IS(sdk::get_enum_label(OWN) == "unsupported_enum", 1);
}

static void check_array()
{
	int values[] = { 1, 2, 3, 4 };
	auto array = sdk::container::make_c_array(values, 4);

	IS(std::accumulate(array.begin(), array.end(), 0), 10);
	array.pop_front();
	array.pop_back();
	IS(array.size(), 2);
	IS(array.at(1), 3);
	IS(array.slice(1, 2)[0], 3);
	try {
		array.at(2);
		nr_wrong++;
	} catch (const std::out_of_range &) {
	}
}

static void check_refused()
{
#if ROCPROFILER_SDK_ABI > 0
	auto refusal = ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	rocprofiler_context_id_t context = {};
	rocprofiler_agent_id_t agent = {};
	rocprofiler_buffer_id_t buffer = {};
	rocprofiler_thread_trace_decoder_handle_t decoder = { 4 };
	auto shader = [](rocprofiler_agent_id_t, int64_t, void *, size_t, rocprofiler_user_data_t) {
	};
	auto service = [](const rocprofiler_spm_dispatch_counting_service_data_t *,
			  rocprofiler_counter_config_id_t *, rocprofiler_user_data_t *, void *) {};

	static_assert(sizeof(rocprofiler_thread_trace_parameter_t) == 24, "layout");
	static_assert(sizeof(rocprofiler_spm_available_configuration_t) == 32, "layout");
	static_assert(sizeof(rocprofiler_spm_parameters_t) == 24, "layout");
	static_assert(sizeof(rocprofiler_spm_dispatch_counting_service_data_t) == 152, "layout");
	static_assert(offsetof(rocprofiler_spm_counter_record_t, value) == 40, "layout");
	static_assert(sizeof(rocprofiler_tool_configure_attach_result_t) == 32, "layout");
	IS(rocprofiler_configure_device_thread_trace_service(context, agent, nullptr, 0, shader,
							     {}),
	   refusal);
	IS(rocprofiler_configure_dispatch_thread_trace_service(context, agent, nullptr, 0, nullptr,
							       shader, nullptr),
	   refusal);
	// its library is not there
	IS(rocprofiler_thread_trace_decoder_create(&decoder, "/opt/rocm/lib"),
	   ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE);
	IS(decoder.handle, 4);
	IS(rocprofiler_spm_configure_buffer_dispatch_service(context, buffer, service, nullptr),
	   refusal);
	IS(rocprofiler_configure_spm_device_counting_service(context, buffer, agent, nullptr,
							     nullptr),
	   refusal);
#endif
}

int main()
{
	check_save();
#if ROCPROFILER_SDK_HAS_CEREAL
	check_load<cereal::JSONOutputArchive, cereal::JSONInputArchive>();
	check_load<cereal::BinaryOutputArchive, cereal::BinaryInputArchive>();
	IS(has(json_of(sdk::get_callback_tracing_names()), "hipLaunchKernel"), 1);
#endif
	check_enums();
	check_array();
	check_refused();
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
