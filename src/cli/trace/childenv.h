/* SPDX-License-Identifier: MIT */
/* childenv.h - the environment that a traced program gets */
#ifndef RTL_CLI_TRACE_CHILDENV_H
#define RTL_CLI_TRACE_CHILDENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct childenv_setup {
	const char *librtl;	       /* absolute */
	const char *lib_dir;	       /* its directory */
	const char *vgpu_dir;	       /* NULL: use the machine's GPUs */
	const char *librtlmpi;	       /* NULL: calls of MPI are not recorded; beside librtl */
	const char *tsan_suppressions; /* NULL: not there */
	uint64_t vgpu_devices;	       /* 0: the user's VGPU_DEVICES, or 1 */
	const char *session;	       /* the spool directory, absolute */
	const char *mode;	       /* from here on NULL, 0 and false keep the user's variable */
	const char *trace_start;
	bool is_registered; /* register librtl with rocprofiler-register, too */
	uint64_t drain_ms, buffer_mb;
	bool has_drain_ms, has_buffer_mb, barriers, hsa;
	const struct childenv_var {
		const char *name, *value;
	} * more; /* those whose value is not NULL */
	size_t nr_more;
};

/* A malloc'd, NULL-ended copy of `vars` with changes; its texts live as long as the process. It
 * changes HSA_TOOLS_LIB and LD_PRELOAD (librtl and librtlmpi in front of the user's libraries, but
 * behind run-times of sanitizers), ASAN_OPTIONS and TSAN_OPTIONS, RTL_SESSION, RTL_MODE,
 * HSA_TOOLS_ROCPROFILER_V1_TOOLS (both librtl and AMD's SDK get the tables) unless given, with
 * is_registered ROCPROFILER_REGISTER_LIBRARY unless given, RTL_LOG_FILE unless given, RTL_DRAIN_MS,
 * RTL_BUFFER_MB, RTL_BARRIERS, RTL_TRACE_START, RTL_HSA_API, and `more`; with vgpu_dir also
 * LD_LIBRARY_PATH and VGPU_DEVICES, and its libvgpu.so in LD_PRELOAD, behind librtl. The loader
 * splits LD_PRELOAD at blanks, so a directory with a blank goes into LD_LIBRARY_PATH instead; with
 * a colon neither works: NULL, and *why is the reason. */
char **childenv_build(const struct childenv_setup *setup, char *const *vars, const char **why);

/* The value of name in a NULL-ended array, or NULL. */
const char *childenv_get(char *const *vars, const char *name);

#endif
