/* SPDX-License-Identifier: MIT */
/* roctracer_cb_table.h - a table of callbacks, for tools written for ROCm up to 5.2; empty in C */
#ifndef INC_ROCTRACER_CB_TABLE_H_
#define INC_ROCTRACER_CB_TABLE_H_

#ifdef __cplusplus

#include <cstdint>
#include <mutex>

#include "ext/prof_protocol.h"

namespace roctracer
{

/* `N` pairs of a callback and its argument, NULL at first. Any thread; pairs are set and read
 * atomically. */
template <int N> class CbTable
{
public:
	/* false: `id` is out of range; does nothing */
	bool set(uint32_t id, activity_rtapi_callback_t callback, void *arg)
	{
		if (id >= static_cast<uint32_t>(N))
			return false;
		std::lock_guard<std::mutex> guard(mutex_);
		pairs_[id].callback = callback;
		pairs_[id].arg = arg;
		return true;
	}

	/* false: `id` is out of range; both results are NULL */
	bool get(uint32_t id, activity_rtapi_callback_t *callback, void **arg) const
	{
		if (id >= static_cast<uint32_t>(N)) {
			*callback = nullptr;
			*arg = nullptr;
			return false;
		}
		std::lock_guard<std::mutex> guard(mutex_);
		*callback = pairs_[id].callback;
		*arg = pairs_[id].arg;
		return true;
	}

private:
	struct pair {
		activity_rtapi_callback_t callback;
		void *arg;
	};

	mutable std::mutex mutex_;
	pair pairs_[N] = {};
};

} // namespace roctracer

#endif

#endif
