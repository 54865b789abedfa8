/* SPDX-License-Identifier: MIT */
/* ranges_none.c - libroctx64.so.4 has no RangeStackIterate() and keeps no ranges */
#include "roctx.h"

void ranges_start(const struct rtl_core *core)
{
	(void)core;
}
