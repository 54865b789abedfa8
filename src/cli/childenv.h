/* SPDX-License-Identifier: MIT */
/* childenv.h - the environment that a traced program gets */
#ifndef RTL_CLI_CHILDENV_H
#define RTL_CLI_CHILDENV_H

#include <stdbool.h>
#include <stdint.h>

struct childenv_setup {
	const char *librtl;    /* absolute */
	const char *lib_dir;   /* its directory */
	const char *vgpu_dir;  /* NULL: the machine's own GPUs */
	uint64_t vgpu_devices; /* 0: VGPU_DEVICES of the user, or 1 */
	const char *session;   /* the spool directory, absolute */
	const char *mode; /* of what follows NULL, 0 and false leave the user's variable alone */
	const char *trace_start;
	bool is_registered; /* librtl by rocprofiler-register, too */
	uint64_t drain_ms, buffer_mb;
	bool has_drain_ms, has_buffer_mb, barriers, hsa;
};

/* A malloc'd, NULL-ended copy of `vars` with the changes; its texts live for ever. Changed are
 * HSA_TOOLS_LIB and LD_PRELOAD (ours in front of what was there), RTL_SESSION, RTL_MODE,
 * HSA_TOOLS_ROCPROFILER_V1_TOOLS (both librtl and AMD's SDK get the tables) unless given, with is_registered
 * ROCPROFILER_REGISTER_LIBRARY unless given, RTL_LOG_FILE unless given, RTL_DRAIN_MS, RTL_BUFFER_MB,
 * RTL_BARRIERS, RTL_TRACE_START, RTL_HSA_API; with vgpu_dir also LD_LIBRARY_PATH and VGPU_DEVICES. A directory
 * whose name the loader would split (a blank in LD_PRELOAD) is named through LD_LIBRARY_PATH; one with a
 * colon can't be: NULL, *why says so. */
char **childenv_build(const struct childenv_setup *setup, char *const *vars, const char **why);

/* The value of name in a NULL-ended array, or NULL. */
const char *childenv_get(char *const *vars, const char *name);

#endif
