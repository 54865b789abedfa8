/* SPDX-License-Identifier: MIT */
/* hold.h - keeps threads from writing to entries in flight while their blocks move */
#ifndef RTL_SOURCE_HSA_HOLD_H
#define RTL_SOURCE_HSA_HOLD_H

/* Registers itself with event/block.h. From librtl's constructor. */
void hold_init(void);

#endif
