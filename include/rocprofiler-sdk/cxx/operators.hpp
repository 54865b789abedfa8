/* SPDX-License-Identifier: MIT */
/* operators.hpp - handles, agents, dimensions and versions can be compared and ordered
 *
 * Handles by their value, agents by their ids, dimensions by their product first, the others by
 * their members from the first to the last. ROCPROFILER_SDK_CXX_HANDLES(X) is X(type) for each type
 * of handle; hash.hpp uses it, too.
 */
#ifndef ROCPROFILER_SDK_CXX_OPERATORS_HPP
#define ROCPROFILER_SDK_CXX_OPERATORS_HPP

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder_types.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/internal_threading.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <tuple>
#include <type_traits>

#if ROCPROFILER_SDK_ABI > 0
#define ROCPROFILER_SDK_CXX_HANDLES_OF_ABI(X)                                                      \
	X(rocprofiler_counter_config_id_t)                                                         \
	X(rocprofiler_address_t)                                                                   \
	X(rocprofiler_stream_id_t)                                                                 \
	X(rocprofiler_graph_exec_id_t)                                                             \
	X(rocprofiler_graph_node_id_t)
#else
#define ROCPROFILER_SDK_CXX_HANDLES_OF_ABI(X) X(rocprofiler_profile_config_id_t)
#endif
#define ROCPROFILER_SDK_CXX_HANDLES(X)                                                             \
	X(rocprofiler_context_id_t)                                                                \
	X(rocprofiler_queue_id_t)                                                                  \
	X(rocprofiler_buffer_id_t)                                                                 \
	X(rocprofiler_agent_id_t)                                                                  \
	X(rocprofiler_counter_id_t)                                                                \
	X(rocprofiler_callback_thread_t)                                                           \
	X(hsa_agent_t)                                                                             \
	X(hsa_signal_t)                                                                            \
	X(hsa_executable_t)                                                                        \
	X(hsa_region_t)                                                                            \
	X(hsa_amd_memory_pool_t)                                                                   \
	ROCPROFILER_SDK_CXX_HANDLES_OF_ABI(X)

namespace rocprofiler
{
namespace sdk
{
namespace details
{
/* What values of a type are compared by. */
#define ROCPROFILER_SDK_CXX_KEY(type)                                                              \
	constexpr auto key_of(const type &value)                                                   \
	{                                                                                          \
		return value.handle;                                                               \
	}
ROCPROFILER_SDK_CXX_HANDLES(ROCPROFILER_SDK_CXX_KEY)
#undef ROCPROFILER_SDK_CXX_KEY

constexpr auto key_of(const rocprofiler_agent_v0_t &value)
{
	return value.id.handle;
}

constexpr auto key_of(const rocprofiler_dim3_t &value)
{
	return std::make_tuple(std::uint64_t{ value.x } * value.y * value.z, value.x, value.y,
			       value.z);
}

#if ROCPROFILER_SDK_ABI > 0
constexpr auto key_of(const rocprofiler_version_triplet_t &value)
{
	return std::make_tuple(value.major, value.minor, value.patch);
}
#endif
} // namespace details
} // namespace sdk
} // namespace rocprofiler

/* In the namespace of the types, where they are looked up. */
#define ROCPROFILER_SDK_CXX_COMPARE(type, op)                                                      \
	constexpr bool operator op(const type &lhs, const type &rhs)                               \
	{                                                                                          \
		return ::rocprofiler::sdk::details::key_of(lhs)                                    \
			op ::rocprofiler::sdk::details::key_of(rhs);                               \
	}
#define ROCPROFILER_SDK_CXX_OPERATORS(type)                                                        \
	ROCPROFILER_SDK_CXX_COMPARE(type, ==)                                                      \
	ROCPROFILER_SDK_CXX_COMPARE(type, !=)                                                      \
	ROCPROFILER_SDK_CXX_COMPARE(type, <)                                                       \
	ROCPROFILER_SDK_CXX_COMPARE(type, >)                                                       \
	ROCPROFILER_SDK_CXX_COMPARE(type, <=)                                                      \
	ROCPROFILER_SDK_CXX_COMPARE(type, >=)

ROCPROFILER_SDK_CXX_HANDLES(ROCPROFILER_SDK_CXX_OPERATORS)
ROCPROFILER_SDK_CXX_OPERATORS(rocprofiler_agent_v0_t)
ROCPROFILER_SDK_CXX_OPERATORS(rocprofiler_dim3_t)
#if ROCPROFILER_SDK_ABI > 0
ROCPROFILER_SDK_CXX_OPERATORS(rocprofiler_version_triplet_t)
#endif

/* As a key: a program's own operator, which AMD's later samples have, is preferred to a
 * template. */
template <typename T, typename = std::enable_if_t<
			      std::is_same<T, rocprofiler_thread_trace_decoder_pc_t>::value>>
constexpr bool operator<(const T &lhs, const T &rhs)
{
	return lhs.code_object_id != rhs.code_object_id ? lhs.code_object_id < rhs.code_object_id :
							  lhs.address < rhs.address;
}

#undef ROCPROFILER_SDK_CXX_OPERATORS
#undef ROCPROFILER_SDK_CXX_COMPARE

#endif
