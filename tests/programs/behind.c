/* SPDX-License-Identifier: MIT */
/* behind.c - a library that needs the virtual GPU's driver, then HIP
 *
 * RTLD_DEEPBIND makes a library find the names of what it needs before those of preloaded
 * libraries. With the driver among them it finds the driver's.
 */
extern int behind;
int behind = 1;
