/* SPDX-License-Identifier: MIT */
/* perfetto.h - stands for Perfetto's C++ SDK, for cxx/perfetto.hpp: the names that it uses, with
 * the SDK's parameters. What is written is kept. */
#ifndef RTL_TESTS_PERFETTO_H
#define RTL_TESTS_PERFETTO_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace perfetto
{
struct Category {
	const char *name;
	const char *description = nullptr;

	constexpr explicit Category(const char *n) : name(n)
	{
	}
	constexpr Category &SetDescription(const char *text)
	{
		description = text;
		return *this;
	}
};

struct DebugAnnotation {
	std::string name;
	std::string value;

	void set_name(std::string text)
	{
		name = std::move(text);
	}
	void set_string_value(std::string text)
	{
		value = "text " + text;
	}
	void set_bool_value(bool b)
	{
		value = b ? "bool true" : "bool false";
	}
	void set_double_value(double d)
	{
		value = "double " + std::to_string(d);
	}
	void set_uint_value(std::uint64_t n)
	{
		value = "uint " + std::to_string(n);
	}
	void set_int_value(std::int64_t n)
	{
		value = "int " + std::to_string(n);
	}
	void set_pointer_value(std::uint64_t n)
	{
		value = "pointer " + std::to_string(n);
	}
};

struct TrackEvent {
	std::deque<DebugAnnotation> annotations;

	DebugAnnotation *add_debug_annotations()
	{
		return &annotations.emplace_back();
	}
};

struct EventContext {
	TrackEvent *event()
	{
		return &kept;
	}

	TrackEvent kept;
};
} // namespace perfetto

#define PERFETTO_DEFINE_CATEGORIES(...)                                                            \
	namespace perfetto                                                                         \
	{                                                                                          \
	constexpr Category kCategories[] = { __VA_ARGS__ };                                        \
	}                                                                                          \
	static_assert(sizeof(::perfetto::kCategories) > 0, "")

#endif
