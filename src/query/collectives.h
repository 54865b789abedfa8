/* SPDX-License-Identifier: MIT */
/* collectives.h - names of kernels that are collectives, for C and SQL */
#ifndef RTL_QUERY_COLLECTIVES_H
#define RTL_QUERY_COLLECTIVES_H

/* Patterns of SQLite's GLOB, which fnmatch(3) understands the same way; `x` gets each one. */
#define COLLECTIVES_EACH(x)                                                                        \
	/* RCCL, also with MSCCL */                                                                \
	x("nccl*Kernel*") x("void nccl*Kernel*") x("mscclKernel*")                                 \
		x("void mscclKernel*") /* MSCCL++ */                                               \
		x("*mscclpp::*")       /* vLLM, SGLang, AITER */                                   \
		x("*cross_device_reduce_[12]stage*") x("*quickreduce::*")                          \
			x("*allreduce_prototype_*shot*") x("*allreduce_fusion_kernel*")            \
				x("*reduce_scatter_cross_device*")

/* SQL: whether the column `demangled` of rtl_kernel_symbol is such a name. */
#define COLLECTIVES_GLOB(pattern) " OR demangled GLOB '" pattern "'"
#define COLLECTIVES_IN_SYMBOLS "(0" COLLECTIVES_EACH(COLLECTIVES_GLOB) ")"

/* SQL: the same for the column `string` of rocpd_string. */
#define COLLECTIVES_STRING_GLOB(pattern) " OR string GLOB '" pattern "'"
#define COLLECTIVES_IN_STRINGS "(0" COLLECTIVES_EACH(COLLECTIVES_STRING_GLOB) ")"

/* MPI's, without the _c of large counts: those in which all ranks wait for all, and those in which
 * a rank may leave before others have come. */
#define COLLECTIVES_MPI_ALL(x)                                                                     \
	x("MPI_Barrier") x("MPI_Allreduce") x("MPI_Allgather") x("MPI_Allgatherv")                 \
		x("MPI_Reduce_scatter") x("MPI_Reduce_scatter_block") x("MPI_Alltoall")            \
			x("MPI_Alltoallv") x("MPI_Alltoallw")
#define COLLECTIVES_MPI_ROOTED(x)                                                                  \
	x("MPI_Bcast") x("MPI_Reduce") x("MPI_Gather") x("MPI_Gatherv") x("MPI_Scatter")           \
		x("MPI_Scatterv") x("MPI_Scan") x("MPI_Exscan")

/* SQL: whether the column `string` of rocpd_string is such a name. */
#define COLLECTIVES_MPI_IS(name) " OR string IN ('" name "', '" name "_c')"
#define COLLECTIVES_MPI_IN_STRINGS                                                                 \
	"(0" COLLECTIVES_MPI_ALL(COLLECTIVES_MPI_IS) COLLECTIVES_MPI_ROOTED(COLLECTIVES_MPI_IS) ")"

#endif
