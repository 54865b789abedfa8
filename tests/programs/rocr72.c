/* SPDX-License-Identifier: MIT */
/* rocr72.c - a file that looks like the libhsa-runtime64 of ROCm 7.2.1, which is known to be faulty */
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
