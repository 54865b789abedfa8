/* SPDX-License-Identifier: MIT */
/* crc.h - CRC-32 as in zlib and Ethernet (polynomial 0xedb88320, reflected) */
#ifndef RTL_BASE_CRC_H
#define RTL_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Extends `crc` by `size` bytes; begin with 0. Any thread. */
uint32_t crc_add(uint32_t crc, const void *data, size_t size);

#endif
