/* SPDX-License-Identifier: MIT */
/* valu_f16.c - vector instructions on half precision, and packed (list: valu_f16.inc) */
#define VALU_LIST "valu_f16.inc"
#define VALU_NAME valu_f16
#include "valu_template.inc"
