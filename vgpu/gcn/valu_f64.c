/* SPDX-License-Identifier: MIT */
/* valu_f64.c - vector instructions on double precision (list: valu_f64.inc) */
#define VALU_LIST "valu_f64.inc"
#define VALU_NAME valu_f64
#include "valu_template.inc"
