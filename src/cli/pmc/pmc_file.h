/* SPDX-License-Identifier: MIT */
/* pmc_file.h - input files of rocprof (text, XML) and rocprofv3 (JSON, YAML): what is to be
 * counted, of which kernels and GPUs
 *
 *	# a comment
 *	pmc : SQ_WAVES, SQ_INSTS_VALU
 *	pmc : TCC_HIT_sum
 *	range : 1:4
 *	gpu : 0 1
 *	kernel : gemm conv
 *
 *	<metric name=SQ_WAVES,SQ_INSTS_VALU gpu_index="0,1" kernel="gemm,conv" range="1:4"
 *	></metric>
 *
 *	{"jobs": [{"pmc": ["SQ_WAVES"], "kernel_include_regex": "gemm|conv",
 *	"kernel_iteration_range": "[1-2],[5]"}]}
 *
 *	jobs:
 *	  - pmc: [SQ_WAVES]
 *	    kernel_exclude_regex: conv
 */
#ifndef RTL_CLI_PMC_PMC_FILE_H
#define RTL_CLI_PMC_PMC_FILE_H

#include "cli/pmc/pmc.h"

struct pmc_file {
	struct pmc_names names;	 /* a set for each line pmc, element metric or job */
	const char *gpus;	 /* as --gpus has them; NULL: all */
	const char *kernels;	 /* as --kernels has them; NULL: all */
	const char *not_kernels; /* as --not-kernels has them; NULL: none */
	const char *dispatches;	 /* as --pmc-dispatches has them; NULL: all */
	const char *iterations;	 /* as --pmc-iterations has them; NULL: all */
};

/* Reads the file; its texts live as long as the process. Ends the process with a message that names
 * file and line if it can't be read or understood. */
void pmc_file_read(const char *path, struct pmc_file *f);

#endif
