/* SPDX-License-Identifier: MIT */
/* layout_cxx.cpp - the same, as C++ */
#include "layout.c"
