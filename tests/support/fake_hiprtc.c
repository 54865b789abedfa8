/* SPDX-License-Identifier: MIT */
/* fake_hiprtc.c - libhiprtc, as HIP 7 has it beside libamdhip64; for test_hip.c and given_rtc.c */

#pragma GCC visibility push(default)

int hiprtcVersion(int *major, int *minor);
int fake_hiprtc_version(int *major, int *minor);
int (*fake_hiprtc_address(void))(int *, int *);

static int version(int *major, int *minor)
{
	*major = 9;
	*minor = 7;
	return 5;
}

int hiprtcVersion(int *major, int *minor) __attribute__((alias("version")));

/* Calls it as a linked library does: the first definition in the loader's order. */
int fake_hiprtc_version(int *major, int *minor)
{
	return hiprtcVersion(major, minor);
}

/* The address of this library's definition. */
int (*fake_hiprtc_address(void))(int *, int *)
{
	return version;
}
