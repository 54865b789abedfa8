/* SPDX-License-Identifier: MIT */
/* valu_f32.c - vector instructions on single precision (list: valu_f32.inc) */
#define VALU_LIST "valu_f32.inc"
#define VALU_NAME valu_f32
#include "valu_template.inc"
