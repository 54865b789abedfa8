/* SPDX-License-Identifier: MIT */
/* planted_race.c - what the analysis of locking has to find: the data is read without its lock */
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
