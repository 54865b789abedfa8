/* SPDX-License-Identifier: MIT */
/* c_array.hpp - elements behind a pointer as a range: the caller's memory, never copied or freed */
#ifndef ROCPROFILER_SDK_CXX_CONTAINER_C_ARRAY_HPP
#define ROCPROFILER_SDK_CXX_CONTAINER_C_ARRAY_HPP

#include <cstddef>
#include <stdexcept>
#include <string>

namespace rocprofiler
{
namespace sdk
{
namespace container
{
template <typename Tp> class c_array
{
public:
	using value_type = Tp;
	using iterator = Tp *;
	using const_iterator = const Tp *;

	c_array(Tp *first, std::size_t size) : first_(first), size_(size)
	{
	}

	std::size_t size() const
	{
		return size_;
	}
	bool empty() const
	{
		return size_ == 0;
	}
	Tp &operator[](std::size_t i)
	{
		return first_[i];
	}
	const Tp &operator[](std::size_t i) const
	{
		return first_[i];
	}
	/* Out of range: std::out_of_range. */
	Tp &at(std::size_t i)
	{
		return first_[checked(i)];
	}
	const Tp &at(std::size_t i) const
	{
		return first_[checked(i)];
	}
	/* From `begin` to before `end`. */
	c_array slice(std::size_t begin, std::size_t end) const
	{
		return c_array(first_ + begin, end - begin);
	}
	void pop_front()
	{
		first_++;
		size_--;
	}
	void pop_back()
	{
		size_--;
	}
	operator Tp *() const
	{
		return first_;
	}
	iterator begin()
	{
		return first_;
	}
	iterator end()
	{
		return first_ + size_;
	}
	const_iterator begin() const
	{
		return first_;
	}
	const_iterator end() const
	{
		return first_ + size_;
	}

private:
	Tp *first_;
	std::size_t size_;

	std::size_t checked(std::size_t i) const
	{
		if (i >= size_)
			throw std::out_of_range("c_array: element " + std::to_string(i) + " of " +
						std::to_string(size_));
		return i;
	}
};

template <typename Tp> c_array<Tp> make_c_array(Tp *first, std::size_t size)
{
	return c_array<Tp>(first, size);
}
} // namespace container
} // namespace sdk
} // namespace rocprofiler

#endif
