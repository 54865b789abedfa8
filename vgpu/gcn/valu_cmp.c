/* SPDX-License-Identifier: MIT */
/* valu_cmp.c - vector instructions that compare (list: valu_cmp.inc) */
#define VALU_LIST "valu_cmp.inc"
#define VALU_NAME valu_cmp
#include "valu_template.inc"
