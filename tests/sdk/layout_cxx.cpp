/* SPDX-License-Identifier: MIT */
/* layout_cxx.cpp - the same as layout.c, in C++ */
#include "layout.c"
