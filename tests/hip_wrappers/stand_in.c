/* SPDX-License-Identifier: MIT */
/* stand_in.c - functions instead of a runtime's, which note their arguments */
#include "stand_in.h"

#include <stdio.h>
#include <string.h>

struct stand_in stand_in;

void stand_in_pattern(void *to, size_t size, unsigned seed, unsigned char base)
{
	unsigned char *bytes = to;

	for (size_t i = 0; i < size; i++) {
		uint32_t x = (seed * 2654435761u) ^ ((uint32_t)i * 2246822519u);

		bytes[i] = (unsigned char)(base + ((x ^ x >> 15) * 3266489917u >> 16) % 30);
	}
}

bool stand_in_called(const char *function)
{
	bool armed = stand_in.armed;

	if (!armed)
		return false;
	stand_in.armed = false;
	stand_in.nr_calls++;
	stand_in.function = function;
	stand_in.nr_bytes = 0;
	return true;
}

void stand_in_got(const void *parameter, size_t size)
{
	if (stand_in.nr_bytes + size > sizeof(stand_in.bytes))
		return;
	memcpy(stand_in.bytes + stand_in.nr_bytes, parameter, size);
	stand_in.nr_bytes += size;
}

int stand_in_finish(void)
{
	for (unsigned i = 0; i < stand_in.nr_back; i++) {
		const struct stand_in_back *b = &stand_in.back[i];
		const char *text = STAND_IN_BACK_TEXT;

		if (b->what == STAND_IN_BOOL) {
			*(bool *)b->at = true;
		} else if (b->what == STAND_IN_ADDRESS) {
			*(void **)b->at = b->address;
		} else if (b->what == STAND_IN_POINTER_TO_TEXT) {
			memcpy(b->at, &text, sizeof(text));
		} else {
			stand_in_pattern(b->at, b->size, b->seed, stand_in.base);
			if (b->what == STAND_IN_TEXT)
				((char *)b->at)[b->size - 1] = '\0';
		}
	}
	return stand_in.status;
}

void stand_in_return(void *to, size_t size)
{
	stand_in_pattern(to, size, STAND_IN_SEED_RETURN, stand_in.base);
}

const char *stand_in_kernel(uint64_t function)
{
	static char text[64];

	snprintf(text, sizeof(text), "kernel_at_%llx", (unsigned long long)function);
	return text;
}
