/* SPDX-License-Identifier: MIT */
/* point.h - the vendor's AQL packet that points to PM4 packets */
#ifndef VGPU_AQLPROFILE_POINT_H
#define VGPU_AQLPROFILE_POINT_H

#include <stdint.h>
#include <string.h>

#include "stream.h"
#include "types.h"

/* Header and completion signal are the caller's to set. */
static inline void point_to(hsa_ext_amd_aql_pm4_packet_t *packet, const void *at, uint32_t size)
{
	const struct {
		uint16_t format;
		uint32_t jump[4], rest;
	} __attribute__((packed)) body = {
		.format = 1,
		.jump = { 0xc0000000u | 2u << 16 | STREAM_INDIRECT_BUFFER << 8,
			  STREAM_LO((uintptr_t)at), STREAM_HI((uintptr_t)at),
			  0x10800000u | size / 4 },
		.rest = 10,
	};

	packet->header = 0;
	memset(packet->pm4_command, 0, sizeof(packet->pm4_command));
	memcpy(packet->pm4_command, &body, sizeof(body));
}

#endif
