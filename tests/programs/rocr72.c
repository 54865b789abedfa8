/* SPDX-License-Identifier: MIT */
/* rocr72.c - a file that looks like the libhsa-runtime64 of ROCm 7.2.1, which is known to be faulty
 *
 * TAKES_ONE: like that of ROCm 7.0, which passes its tables to one tool alone; MAKES_BY_DESCRIPTOR:
 * like that of ROCm 10.
 */
const char *const hsa_names[3];
int hsa_init(void);

__attribute__((visibility("default"))) const char *const hsa_names[3] = {
	"HSA_AMD_TOOL_PRIORITY",
	"rocprofiler_register_library_api_table",
#ifndef TAKES_ONE
	"HSA_TOOLS_ROCPROFILER_V1_TOOLS",
#endif
};

__attribute__((visibility("default"))) int hsa_init(void)
{
	return hsa_names[0] ? 0x1000 : 0;
}

#ifndef TAKES_ONE
int hsa_amd_ais_file_write(void);
__attribute__((visibility("default"))) int hsa_amd_ais_file_write(void)
{
	return 0x1000;
}
#endif

#ifdef MAKES_BY_DESCRIPTOR
int hsa_amd_queue_create(void);
__attribute__((visibility("default"))) int hsa_amd_queue_create(void)
{
	return 0x1000;
}
#endif
