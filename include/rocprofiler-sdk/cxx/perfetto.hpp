/* SPDX-License-Identifier: MIT */
/* perfetto.hpp - the categories of tools that write traces with Perfetto's SDK
 *
 * Needs Perfetto's C++ SDK, perfetto.h and perfetto.cc, of the program that includes it. The
 * categories are those of the program's default track event namespace: include this in place of
 * PERFETTO_DEFINE_CATEGORIES(), and have PERFETTO_TRACK_EVENT_STATIC_STORAGE() in one source file.
 */
#ifndef ROCPROFILER_SDK_CXX_PERFETTO_HPP
#define ROCPROFILER_SDK_CXX_PERFETTO_HPP

#if !__has_include(<perfetto.h>)
#error "rocprofiler-sdk/cxx/perfetto.hpp needs perfetto.h of Perfetto's C++ SDK (https://perfetto.dev/docs/instrumentation/tracing-sdk)"
#endif
#include <perfetto.h>

#include <rocprofiler-sdk/fwd.h>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/* X(name, what it is) */
#define ROCPROFILER_SDK_CATEGORIES_(X)                                                             \
	X(hsa_api, "HSA API function")                                                             \
	X(hip_api, "HIP API function")                                                             \
	X(marker_api, "Marker API region")                                                         \
	X(rccl_api, "RCCL API function")                                                           \
	X(openmp, "OpenMP")                                                                        \
	X(kernel_dispatch, "GPU kernel dispatch")                                                  \
	X(memory_copy, "Async memory copy")                                                        \
	X(memory_allocation, "Memory Allocation")                                                  \
	X(rocdecode_api, "rocDecode API function")                                                 \
	X(rocjpeg_api, "rocJPEG API function")                                                     \
	X(counter_collection, "Counter Collection")                                                \
	X(kfd_events, "KFD events collection")

namespace rocprofiler
{
namespace sdk
{
/* name and description of a category: perfetto_category<category::hip_api>::name */
template <typename Tp> struct perfetto_category;

#define ROCPROFILER_SDK_CATEGORY_(NAME, WHAT)                                                      \
	namespace category                                                                         \
	{                                                                                          \
	struct NAME {                                                                              \
	};                                                                                         \
	}                                                                                          \
	template <> struct perfetto_category<category::NAME> {                                     \
		static constexpr auto name = #NAME;                                                \
		static constexpr auto description = WHAT;                                          \
	};
ROCPROFILER_SDK_CATEGORIES_(ROCPROFILER_SDK_CATEGORY_)
/* of kinds that are none of these */
ROCPROFILER_SDK_CATEGORY_(none, "Unknown category")
#undef ROCPROFILER_SDK_CATEGORY_
} // namespace sdk
} // namespace rocprofiler

#define ROCPROFILER_SDK_CATEGORY_(NAME, WHAT) ::perfetto::Category(#NAME).SetDescription(WHAT),
PERFETTO_DEFINE_CATEGORIES(
	ROCPROFILER_SDK_CATEGORIES_(ROCPROFILER_SDK_CATEGORY_)::perfetto::Category("none")
		.SetDescription("Unknown category"));
#undef ROCPROFILER_SDK_CATEGORY_
#undef ROCPROFILER_SDK_CATEGORIES_

namespace rocprofiler
{
namespace sdk
{
namespace details
{
constexpr const char *category_of(rocprofiler_buffer_tracing_kind_t kind)
{
	switch (kind) {
	case ROCPROFILER_BUFFER_TRACING_HSA_CORE_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_FINALIZE_EXT_API:
		return "hsa_api";
	case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API:
	case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API:
		return "hip_api";
	case ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API:
	case ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API:
	case ROCPROFILER_BUFFER_TRACING_MARKER_NAME_API:
		return "marker_api";
	case ROCPROFILER_BUFFER_TRACING_RCCL_API:
		return "rccl_api";
	case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH:
		return "kernel_dispatch";
	case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
		return "memory_copy";
	case ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY:
		return "memory_allocation";
#if ROCPROFILER_SDK_ABI
	case ROCPROFILER_BUFFER_TRACING_HIP_STREAM:
	case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT:
	case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT:
	case ROCPROFILER_BUFFER_TRACING_HIP_GRAPH:
		return "hip_api";
	case ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API:
		return "marker_api";
	case ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION:
		return "memory_allocation";
	case ROCPROFILER_BUFFER_TRACING_OMPT:
		return "openmp";
	case ROCPROFILER_BUFFER_TRACING_ROCDECODE_API:
	case ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT:
		return "rocdecode_api";
	case ROCPROFILER_BUFFER_TRACING_ROCJPEG_API:
		return "rocjpeg_api";
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_FAULT:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_QUEUE:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_UNMAP_FROM_GPU:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_DROPPED_EVENTS:
	case ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE:
	case ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT:
	case ROCPROFILER_BUFFER_TRACING_KFD_QUEUE:
		return "kfd_events";
#endif
	default:
		return "none";
	}
}

constexpr const char *category_of(rocprofiler_callback_tracing_kind_t kind)
{
	switch (kind) {
	case ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API:
		return "hsa_api";
	case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
	case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
		return "hip_api";
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API:
		return "marker_api";
	case ROCPROFILER_CALLBACK_TRACING_RCCL_API:
		return "rccl_api";
	case ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH:
		return "kernel_dispatch";
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY:
		return "memory_copy";
	case ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY:
		return "memory_allocation";
#if ROCPROFILER_SDK_ABI
	case ROCPROFILER_CALLBACK_TRACING_HIP_STREAM:
	case ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH:
		return "hip_api";
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API:
		return "marker_api";
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION:
		return "memory_allocation";
	case ROCPROFILER_CALLBACK_TRACING_OMPT:
		return "openmp";
	case ROCPROFILER_CALLBACK_TRACING_ROCDECODE_API:
		return "rocdecode_api";
	case ROCPROFILER_CALLBACK_TRACING_ROCJPEG_API:
		return "rocjpeg_api";
#endif
	default:
		return "none";
	}
}

template <typename KindT> struct nr_kinds;
template <> struct nr_kinds<rocprofiler_buffer_tracing_kind_t> {
	static constexpr auto value = ROCPROFILER_BUFFER_TRACING_LAST;
};
template <> struct nr_kinds<rocprofiler_callback_tracing_kind_t> {
	static constexpr auto value = ROCPROFILER_CALLBACK_TRACING_LAST;
};

template <typename Tp> using plain_t = std::remove_cv_t<std::remove_reference_t<Tp>>;
template <typename Tp> constexpr bool is_text = std::is_convertible<Tp, std::string_view>::value;
} // namespace details

/* The category of a kind as `name`; "none" of those that have none. */
template <typename KindT, std::size_t Idx> struct rocprofiler_tracing_perfetto_category {
	static constexpr auto name = details::category_of(static_cast<KindT>(Idx));
};

/* Of rocprofiler_buffer_tracing_kind_t and rocprofiler_callback_tracing_kind_t; null if there is no
 * such kind. */
template <typename KindT> const char *get_perfetto_category(KindT kind)
{
	return static_cast<std::size_t>(kind) <
			       static_cast<std::size_t>(details::nr_kinds<KindT>::value) ?
		       details::category_of(kind) :
		       nullptr;
}

/* Only if it is one of these kinds, else null. */
template <typename KindT, std::size_t... Idx>
const char *get_perfetto_category(KindT kind, std::index_sequence<Idx...>)
{
	return ((static_cast<std::size_t>(kind) == Idx) || ...) ? details::category_of(kind) :
								  nullptr;
}

using perfetto_event_context_t = ::perfetto::EventContext;

/* Adds a debug annotation to an event: texts, numbers, enumerators (as numbers), pointers, and what
 * can be written to a stream. An object of an empty class adds nothing. */
template <typename Np, typename Tp>
void add_perfetto_annotation(perfetto_event_context_t &context, Np &&name, Tp &&value)
{
	using value_type = details::plain_t<Tp>;

	static_assert(details::is_text<Np>, "the name of an annotation is a text");
	if constexpr (std::is_empty<value_type>::value && !details::is_text<Tp>) {
		(void)context, (void)name, (void)value;
	} else {
		auto *const annotation = context.event()->add_debug_annotations();

		annotation->set_name(std::string(std::string_view(name)));
		if constexpr (details::is_text<Tp>) {
			annotation->set_string_value(std::string(std::string_view(value)));
		} else if constexpr (std::is_same<value_type, bool>::value) {
			annotation->set_bool_value(value);
		} else if constexpr (std::is_floating_point<value_type>::value) {
			annotation->set_double_value(static_cast<double>(value));
		} else if constexpr (std::is_unsigned<value_type>::value) {
			annotation->set_uint_value(value);
		} else if constexpr (std::is_integral<value_type>::value ||
				     std::is_enum<value_type>::value) {
			annotation->set_int_value(static_cast<std::int64_t>(value));
		} else if constexpr (std::is_pointer<value_type>::value) {
			annotation->set_pointer_value(reinterpret_cast<std::uintptr_t>(value));
		} else {
			std::ostringstream text;

			text << value;
			annotation->set_string_value(text.str());
		}
	}
}
} // namespace sdk
} // namespace rocprofiler

#endif
