/* SPDX-License-Identifier: MIT */
/* valu_int.c - vector instructions on integers and bits (list: valu_int.inc) */
#define VALU_LIST "valu_int.inc"
#define VALU_NAME valu_int
#include "valu_template.inc"
