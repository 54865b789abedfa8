/* SPDX-License-Identifier: MIT */
/* hsa_rt_utils.hpp - the time of HSA's runtime, for tools written for ROCm up to 5.2 */
#ifndef INC_ROCTRACER_HSA_RT_UTILS_HPP_
#define INC_ROCTRACER_HSA_RT_UTILS_HPP_

#include <cstdint>

#include <hsa/hsa.h>

namespace hsa_rt_utils
{

/* Reads HSA_SYSTEM_INFO_TIMESTAMP, and converts it to ns. HSA must be initialised when a Timer is
 * constructed; times are 0 if HSA returns an error. Any thread. */
class Timer
{
public:
	typedef uint64_t timestamp_t;
	typedef long double freq_t;
	typedef hsa_status_t (*hsa_system_get_info_fn_t)(hsa_system_info_t attribute, void *value);

	/* `fn`: the runtime's own function, from the tool's API table, so that the tool's
	 * calls are not traced. NULL: every time is 0. */
	explicit Timer(hsa_system_get_info_fn_t fn = hsa_system_get_info) : get_info_(fn), rate_(0)
	{
		const timestamp_t hz = ask(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY);

		if (hz)
			rate_ = static_cast<freq_t>(1000000000) / static_cast<freq_t>(hz);
	}

	/* ns in a tick */
	freq_t timestamp_rate() const
	{
		return rate_;
	}

	timestamp_t timestamp_to_ns(const timestamp_t &ticks) const
	{
		return static_cast<timestamp_t>(static_cast<freq_t>(ticks) * rate_);
	}

	/* the present time in ns; both functions use the Timer's `fn` */
	timestamp_t timestamp_fn_ns() const
	{
		return timestamp_to_ns(ask(HSA_SYSTEM_INFO_TIMESTAMP));
	}

	timestamp_t timestamp_ns() const
	{
		return timestamp_fn_ns();
	}

private:
	timestamp_t ask(hsa_system_info_t what) const
	{
		timestamp_t value = 0;

		if (!get_info_ || get_info_(what, &value) != HSA_STATUS_SUCCESS)
			return 0;
		return value;
	}

	hsa_system_get_info_fn_t get_info_;
	freq_t rate_;
};

} // namespace hsa_rt_utils

#endif
