/* SPDX-License-Identifier: MIT */
/* archive.hpp - what saving and loading of structures needs of cereal, with cereal or without
 *
 * The functions are templates over the archive, in the namespace of cereal: where cereal is
 * installed it is included, and its archives take them. Without cereal an archive is anything that
 * can be called with pairs `{ name, value }`. A program whose copy of cereal is in a namespace of
 * its own defines ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN and _END before;
 * ROCPROFILER_SDK_HAS_CEREAL=0 does without an installed one.
 */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_ARCHIVE_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_ARCHIVE_HPP

#include <rocprofiler-sdk/cxx/name_info.hpp>
#include <rocprofiler-sdk/cxx/utility.hpp>
#include <rocprofiler-sdk/hsa/kmt_types.h>

#include <hsa/hsa.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#ifndef ROCPROFILER_SDK_HAS_CEREAL
#if __has_include(<cereal/cereal.hpp>)
#define ROCPROFILER_SDK_HAS_CEREAL 1
#else
#define ROCPROFILER_SDK_HAS_CEREAL 0
#endif
#endif

#if ROCPROFILER_SDK_HAS_CEREAL
#include <cereal/archives/binary.hpp>
#include <cereal/archives/json.hpp>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/common.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>
#endif

#ifndef ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN
#define ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN                                                     \
	namespace cereal                                                                           \
	{
#define ROCPROFILER_SDK_CEREAL_NAMESPACE_END }
#endif

namespace rocprofiler
{
namespace sdk
{
namespace serialization
{
/* A copy of `count` elements; of none if there are none. */
template <typename Tp> std::vector<std::remove_cv_t<Tp>> list(const Tp *first, std::size_t count)
{
	return first ? std::vector<std::remove_cv_t<Tp>>(first, first + count) :
		       std::vector<std::remove_cv_t<Tp>>{};
}

/* A text that stays valid until the process ends; the same one for the same text. */
inline const char *kept(const std::string &text)
{
	static auto *mutex = new std::mutex;
	static auto *texts = new std::unordered_set<std::string>;
	std::lock_guard<std::mutex> lock(*mutex);

	return texts->insert(text).first->c_str();
}

/* Reads elements, which stay valid until the process ends, and their number. */
template <typename ArchiveT, typename Tp, typename CountT, typename PairT>
void load_list(ArchiveT &ar, const char *name, const Tp *&first, CountT &count, PairT &&pair)
{
	auto *values = new std::vector<Tp>;

	ar(pair(name, *values));
	first = values->data();
	count = static_cast<CountT>(values->size());
}

#if !ROCPROFILER_SDK_HAS_CEREAL
/* What an archive gets for each member. */
template <typename Tp> struct pair {
	const char *name;
	Tp &value;
};

template <typename Tp> pair<std::remove_reference_t<Tp>> make_nvp(const char *name, Tp &&value)
{
	return { name, value };
}
#endif

/* An argument of a call in a buffer's record. */
struct buffer_tracing_args {
	std::string type = {};
	std::string name = {};
	std::string value = {};
};

#if ROCPROFILER_SDK_ABI > 0
/* The arguments of a record that has some: one of the kinds whose names end in _EXT. */
template <typename Tp> std::vector<buffer_tracing_args> get_buffer_tracing_args(Tp &data)
{
	std::vector<buffer_tracing_args> args;
	rocprofiler_record_header_t record = {};
	auto take = [](rocprofiler_buffer_tracing_kind_t, rocprofiler_tracing_operation_t,
		       uint32_t number, const void *, int32_t, const char *type, const char *name,
		       const char *value, void *to) {
		auto &all = *static_cast<std::vector<buffer_tracing_args> *>(to);

		if (number >= all.size())
			all.resize(number + 1);
		all[number] = { type, name, value };
		return 0;
	};

	record.hash = rocprofiler_record_header_compute_hash(ROCPROFILER_BUFFER_CATEGORY_TRACING,
							     data.kind);
	record.payload = const_cast<std::remove_const_t<Tp> *>(&data);
	rocprofiler_iterate_buffer_tracing_record_args(record, take, &args);
	return args;
}
#endif
} // namespace serialization
} // namespace sdk
} // namespace rocprofiler

ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN
namespace sdk = ::rocprofiler::sdk;
#if !ROCPROFILER_SDK_HAS_CEREAL
using ::rocprofiler::sdk::serialization::make_nvp;
#endif

template <typename ArchiveT>
void save(ArchiveT &ar, const sdk::serialization::buffer_tracing_args &data)
{
	ar(make_nvp("type", data.type));
	ar(make_nvp("name", data.name));
	ar(make_nvp("value", data.value));
}

/* A kind with the names of its operations; and all kinds, for archives that have arrays. */
template <typename ArchiveT, typename EnumT, typename ValueT>
void save(ArchiveT &ar, const sdk::utility::name_info_impl<EnumT, ValueT> &data)
{
	auto name = std::string{ data.name };
	auto operations = std::vector<std::string>(data.operations.begin(), data.operations.end());

	ar(make_nvp("kind", name));
	ar(make_nvp("operations", operations));
}

template <typename ArchiveT, typename EnumT, typename ValueT>
void save(ArchiveT &ar, const sdk::utility::name_info<EnumT, ValueT> &data)
{
	ar.makeArray();
	for (const auto &kind : data)
		ar(make_nvp("entry", kind));
}
ROCPROFILER_SDK_CEREAL_NAMESPACE_END

#endif
