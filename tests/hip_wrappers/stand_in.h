/* SPDX-License-Identifier: MIT */
/* stand_in.h - functions instead of a runtime's, which note their arguments
 *
 * The test arms the stand-in and calls a wrapper; the stand-in's function keeps the bytes of each
 * of its parameters, fills the output parameters that the test has named, and returns the test's
 * status.
 */
#ifndef RTL_HIP_WRAPPERS_STAND_IN_H
#define RTL_HIP_WRAPPERS_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAND_IN_API __attribute__((visibility("default")))
#define STAND_IN_MAX_BYTES 4096
#define STAND_IN_MAX_BACK 32

enum stand_in_what {
	STAND_IN_BYTES,
	STAND_IN_BOOL,
	STAND_IN_TEXT,
	STAND_IN_POINTER_TO_TEXT,
	STAND_IN_ADDRESS
};

/* An output parameter that the stand-in fills. */
struct stand_in_back {
	void *at;
	size_t size;
	enum stand_in_what what;
	unsigned seed;
	void *address;
};

struct stand_in {
	bool armed; /* the next call is noted */
	unsigned nr_calls;
	const char *function; /* that was called */
	unsigned char base;   /* of the pattern of output parameters */
	int status;
	unsigned char bytes[STAND_IN_MAX_BYTES]; /* the parameters, one after the other */
	size_t nr_bytes;
	struct stand_in_back back[STAND_IN_MAX_BACK];
	unsigned nr_back;
};

STAND_IN_API extern struct stand_in stand_in;

#define STAND_IN_SEED_RETURN 999u
#define STAND_IN_RETURN_TEXT "what the stand-in returns"
#define STAND_IN_BACK_TEXT "what comes back"

/* Distinct bytes by seed; none is 0. With base 'A' they are letters, and all values positive. */
STAND_IN_API void stand_in_pattern(void *to, size_t size, unsigned seed, unsigned char base);

/* A call begins; false: it is not noted (the wrapper's own). */
STAND_IN_API bool stand_in_called(const char *function);
STAND_IN_API void stand_in_got(const void *parameter, size_t size);
/* The call ends: fills what comes back, returns the status. */
STAND_IN_API int stand_in_finish(void);
STAND_IN_API void stand_in_return(void *to, size_t size);
/* The runtime's own function of that name, not librtl's; NULL: there is none. HIP alone. */
STAND_IN_API void *stand_in_address(const char *name);
/* The name of the kernel that has this address or handle. */
STAND_IN_API const char *stand_in_kernel(uint64_t function);

#endif
