/* SPDX-License-Identifier: MIT */
/* core_layer.h - the functions that librtl itself puts into the runtime's tables */
#ifndef RTL_SOURCE_HSA_CORE_LAYER_H
#define RTL_SOURCE_HSA_CORE_LAYER_H

#include "source/hsa/table/table.h"

extern const struct table_layer core_layer;

#endif
