/* SPDX-License-Identifier: MIT */
/* special.c - one word that hot paths test for unusual conditions */
#include "event/special.h"

/* Read by all threads: shares its cache line with nothing that changes often. */
_Alignas(64) _Atomic uint32_t special_bits = SPECIAL_NOT_ON | SPECIAL_CLOCK | SPECIAL_NO_HIP;

void special_set(enum special bit, bool on)
{
	/* release: the condition's own state was stored before */
	if (on)
		atomic_fetch_or_explicit(&special_bits, bit, memory_order_release);
	else
		atomic_fetch_and_explicit(&special_bits, ~(uint32_t)bit, memory_order_release);
}
