/* SPDX-License-Identifier: MIT */
/* valu_gfx90a.c - vector instructions that gfx90a alone has (list: valu_gfx90a.inc) */
#define VALU_LIST "valu_gfx90a.inc"
#define VALU_NAME valu_gfx90a
#include "valu_template.inc"
