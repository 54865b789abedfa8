/* SPDX-License-Identifier: MIT */
/* tokenize.hpp - parts of a text */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_TOKENIZE_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_TOKENIZE_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rocprofiler
{
namespace sdk
{
namespace parse
{
/* What stands between characters of `delimiters`; there are no empty parts. */
inline std::vector<std::string> tokenize(std::string_view text,
					 std::string_view delimiters = "\"',;: ")
{
	std::vector<std::string> out;
	std::size_t begin = text.find_first_not_of(delimiters);

	while (begin != std::string_view::npos) {
		std::size_t end = text.find_first_of(delimiters, begin);

		out.emplace_back(text.substr(begin, end - begin));
		begin = text.find_first_not_of(delimiters, end);
	}
	return out;
}

/* The text without leading and trailing characters of `characters`. */
inline std::string strip(std::string text, std::string_view characters)
{
	std::size_t begin = text.find_first_not_of(characters);

	if (begin == std::string::npos)
		return {};
	return text.substr(begin, text.find_last_not_of(characters) - begin + 1);
}
} // namespace parse
} // namespace sdk
} // namespace rocprofiler

#endif
