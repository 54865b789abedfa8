/* SPDX-License-Identifier: MIT */
/* types.h - AMD's types of the extension AQLPROFILE */
#ifndef VGPU_AQLPROFILE_TYPES_H
#define VGPU_AQLPROFILE_TYPES_H

#include <hsa/hsa.h>

/* AMD's header defines this in every file that includes it (5.2 to 7.2). */
extern const unsigned HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE __attribute__((weak));
#include <hsa/hsa_ven_amd_aqlprofile.h>

#endif
