/* SPDX-License-Identifier: MIT */
/* planted_race.c - reads data without its lock, which the analysis of locking must find */
#include "base/lock.h"

int planted_race(void);

static struct lock lock = LOCK_INIT(LOCK_META);
static int data RTL_GUARDED_BY(lock);

int planted_race(void)
{
	lock_take(&lock);
	data++;
	lock_drop(&lock);
	return data;
}
