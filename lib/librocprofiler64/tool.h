/* SPDX-License-Identifier: MIT */
/* tool.h - the plug-in that ROCP_TOOL_LIB names */
#ifndef RTL_LIB_LIBROCPROFILER64_TOOL_H
#define RTL_LIB_LIBROCPROFILER64_TOOL_H

/* Loads it, once, and lets it change the settings. */
void tool_load(void);
/* The runtime goes away: the plug-in's OnUnloadTool(). */
void tool_unload(void);

#endif
