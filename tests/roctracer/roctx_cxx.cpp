/* SPDX-License-Identifier: MIT */
/* roctx_cxx.cpp - the same client, as C++ */
#include "roctx_calls.c"
