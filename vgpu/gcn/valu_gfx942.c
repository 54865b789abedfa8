/* SPDX-License-Identifier: MIT */
/* valu_gfx942.c - vector instructions that gfx942 alone has (list: valu_gfx942.inc) */
#include "fp8.h"

#define VALU_LIST "valu_gfx942.inc"
#define VALU_NAME valu_gfx942
#include "valu_template.inc"
