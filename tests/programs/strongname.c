/* SPDX-License-Identifier: MIT */
/* strongname.c - a library for HIP from 5.3 on, without a link to it: older ones lack the
 * function */
int hipLaunchHostFunc(void);
int strongname_call(void);

int strongname_call(void)
{
	return hipLaunchHostFunc();
}
