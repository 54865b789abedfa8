/* SPDX-License-Identifier: MIT */
/* pmc_file.h - input files of rocprof (text, XML) and rocprofv3 (JSON): what is to be counted, of which kernels and GPUs
 *
 *	# a comment
 *	pmc : SQ_WAVES, SQ_INSTS_VALU
 *	pmc : TCC_HIT_sum
 *	gpu : 0 1
 *	kernel : gemm conv
 *
 *	<metric name=SQ_WAVES,SQ_INSTS_VALU gpu_index="0,1" kernel="gemm,conv" ></metric>
 *
 *	{"jobs": [{"pmc": ["SQ_WAVES"], "kernel_include_regex": "gemm|conv"}]}
 */
#ifndef RTL_CLI_PMC_FILE_H
#define RTL_CLI_PMC_FILE_H

struct pmc_file {
	const char *names;   /* of all pmc lines, separated by commas */
	const char *gpus;    /* as --gpus has them; NULL: all */
	const char *kernels; /* as --kernels has them; NULL: all */
};

/* Reads the file; its texts live as long as the process. Ends the process with a message that names file and line if it can't be
 * read or understood. */
void pmc_file_read(const char *path, struct pmc_file *f);

#endif
