/* SPDX-License-Identifier: MIT */
/* name_info.hpp - names of kinds and of their operations, in vectors by number
 *
 * The texts are the library's and stay valid. A number that does not exist is std::out_of_range.
 */
#ifndef ROCPROFILER_SDK_CXX_NAME_INFO_HPP
#define ROCPROFILER_SDK_CXX_NAME_INFO_HPP

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/fwd.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rocprofiler
{
namespace sdk
{
namespace utility
{
/* A kind: its number, its name, its operations' names. */
template <typename EnumT, typename ValueT = std::string_view> struct name_info_impl {
	using enum_type = EnumT;
	using value_type = ValueT;
	using item_type = std::pair<rocprofiler_tracing_operation_t, const ValueT *>;

	EnumT value = {};
	ValueT name = {};
	std::vector<ValueT> operations = {};

	ValueT operator()() const
	{
		return name;
	}
	ValueT operator()(rocprofiler_tracing_operation_t operation) const
	{
		return operations.at(static_cast<std::size_t>(operation));
	}
	ValueT operator[](rocprofiler_tracing_operation_t operation) const
	{
		return operations.at(static_cast<std::size_t>(operation));
	}

	/* Numbers of operations with their names, which live as long as this. */
	std::vector<item_type> items() const
	{
		std::vector<item_type> out;

		out.reserve(operations.size());
		for (const auto &text : operations)
			out.emplace_back(static_cast<rocprofiler_tracing_operation_t>(out.size()),
					 &text);
		return out;
	}
};

/* All kinds, by number. */
template <typename EnumT, typename ValueT = std::string_view> class name_info
{
public:
	using enum_type = EnumT;
	using value_type = ValueT;
	using support_type = name_info_impl<EnumT, ValueT>;
	using iterator = typename std::vector<support_type>::iterator;
	using const_iterator = typename std::vector<support_type>::const_iterator;

	/* Names a kind; kinds before it that have no name yet have the empty one. */
	support_type &emplace(EnumT kind, const char *name)
	{
		support_type &s = get(kind);

		s.name = ValueT(name);
		return s;
	}
	/* The same for an operation. */
	support_type &emplace(EnumT kind, rocprofiler_tracing_operation_t operation,
			      const char *name)
	{
		support_type &s = get(kind);
		auto index = static_cast<std::size_t>(operation);

		if (index >= s.operations.size())
			s.operations.resize(index + 1);
		s.operations[index] = ValueT(name);
		return s;
	}

	iterator begin()
	{
		return infos_.begin();
	}
	iterator end()
	{
		return infos_.end();
	}
	const_iterator begin() const
	{
		return infos_.begin();
	}
	const_iterator end() const
	{
		return infos_.end();
	}
	std::size_t size() const
	{
		return infos_.size();
	}
	support_type &operator[](std::size_t kind)
	{
		return infos_.at(kind);
	}
	const support_type &operator[](std::size_t kind) const
	{
		return infos_.at(kind);
	}
	ValueT at(EnumT kind) const
	{
		return infos_.at(static_cast<std::size_t>(kind)).name;
	}
	ValueT at(EnumT kind, rocprofiler_tracing_operation_t operation) const
	{
		return infos_.at(static_cast<std::size_t>(kind))[operation];
	}

	/* The kinds; the pointers live as long as this. */
	std::vector<const support_type *> items() const
	{
		std::vector<const support_type *> out;

		out.reserve(infos_.size());
		for (const auto &s : infos_)
			out.push_back(&s);
		return out;
	}

private:
	std::vector<support_type> infos_;

	support_type &get(EnumT kind)
	{
		auto index = static_cast<std::size_t>(kind);

		while (index >= infos_.size()) {
			infos_.emplace_back();
			infos_.back().value = static_cast<EnumT>(infos_.size() - 1);
		}
		return infos_[index];
	}
};
} // namespace utility

template <typename ValueT = std::string_view>
using callback_name_info_t = utility::name_info<rocprofiler_callback_tracing_kind_t, ValueT>;
template <typename ValueT = std::string_view>
using buffer_name_info_t = utility::name_info<rocprofiler_buffer_tracing_kind_t, ValueT>;
using callback_name_info = callback_name_info_t<>;
using buffer_name_info = buffer_name_info_t<>;

/* All kinds of callbacks, with their operations. */
template <typename ValueT = std::string_view>
callback_name_info_t<ValueT> get_callback_tracing_names()
{
	using info_t = callback_name_info_t<ValueT>;
	info_t info;

	rocprofiler_iterate_callback_tracing_kinds(
		[](rocprofiler_callback_tracing_kind_t kind, void *data) {
			const char *name = nullptr;

			rocprofiler_query_callback_tracing_kind_name(kind, &name, nullptr);
			if (name)
				static_cast<info_t *>(data)->emplace(kind, name);
			rocprofiler_iterate_callback_tracing_kind_operations(
				kind,
				[](rocprofiler_callback_tracing_kind_t of,
				   rocprofiler_tracing_operation_t operation, void *to) {
					const char *text = nullptr;

					rocprofiler_query_callback_tracing_kind_operation_name(
						of, operation, &text, nullptr);
					if (text)
						static_cast<info_t *>(to)->emplace(of, operation,
										   text);
					return 0;
				},
				data);
			return 0;
		},
		&info);
	return info;
}

/* The same of records in buffers. */
template <typename ValueT = std::string_view> buffer_name_info_t<ValueT> get_buffer_tracing_names()
{
	using info_t = buffer_name_info_t<ValueT>;
	info_t info;

	rocprofiler_iterate_buffer_tracing_kinds(
		[](rocprofiler_buffer_tracing_kind_t kind, void *data) {
			const char *name = nullptr;

			rocprofiler_query_buffer_tracing_kind_name(kind, &name, nullptr);
			if (name)
				static_cast<info_t *>(data)->emplace(kind, name);
			rocprofiler_iterate_buffer_tracing_kind_operations(
				kind,
				[](rocprofiler_buffer_tracing_kind_t of,
				   rocprofiler_tracing_operation_t operation, void *to) {
					const char *text = nullptr;

					rocprofiler_query_buffer_tracing_kind_operation_name(
						of, operation, &text, nullptr);
					if (text)
						static_cast<info_t *>(to)->emplace(of, operation,
										   text);
					return 0;
				},
				data);
			return 0;
		},
		&info);
	return info;
}
} // namespace sdk
} // namespace rocprofiler

#endif
