/* SPDX-License-Identifier: MIT */
/* rocprofv3_options.h - rocprofv3's options, and which of them rtl has */
#ifndef RTL_CLI_CMD_ROCPROFV3_OPTIONS_H
#define RTL_CLI_CMD_ROCPROFV3_OPTIONS_H

#include "cli/opts.h"

enum rocprofv3_state {
	ROCPROFV3_HAS,
	ROCPROFV3_ALSO,	 /* the same, less often used */
	ROCPROFV3_LACKS, /* refused; the option's `more` says what to use instead */
	ROCPROFV3_IDLE,	 /* accepted; there is nothing that it could change */
};

/* A switch, with or without a value; one value; several. */
#define ROCPROFV3_SWITCH                                                                           \
	.type = OPT_TEXT, .optional = true, .arg = "BOOL", .why_not = rocprofv3_options_check_switch
#define ROCPROFV3_VALUE(what) .type = OPT_TEXT, .arg = what
#define ROCPROFV3_LIST(what) .type = OPT_TEXT, .arg = what, .list = true

#define ROCPROFV3_INSTEAD_COUNTERS                                                                 \
	"rtl does not stream counters; AMD's rocprofv3 does, and --pmc counts for each kernel."
#define ROCPROFV3_INSTEAD_PC                                                                       \
	"rtl does not sample instructions; AMD's rocprofv3 does, and --pmc counts for each kernel."
#define ROCPROFV3_INSTEAD_ATT                                                                      \
	"rtl does not trace instructions; AMD's rocprofv3 does, and --pmc counts for each kernel."
#define ROCPROFV3_INSTEAD_HIP "rtl records these calls with the others: use --hip-trace."
#define ROCPROFV3_INSTEAD_KFD                                                                      \
	"rtl does not record the kernel driver's events; there is nothing to use instead."
#define ROCPROFV3_INSTEAD_ATTACH                                                                                                        \
	"rtl does not attach to a process: start it with LD_PRELOAD=$(rtl doctor --path librtl) RTL_IDLE=1 RTL_MODE=hip, then use rtl " \
	"start PID -o FILE and rtl stop PID."
#define ROCPROFV3_IDLE_PERFETTO "Has no effect: rtl writes the file itself."

/* X(id, letter, name, type and value, state, help, more) */
#define ROCPROFV3_OPTIONS(X)                                                                                            \
	X(VERSION, 'v', "version", ROCPROFV3_SWITCH, ALSO, "print the version and stop", NULL)                          \
	X(INPUT, 'i', "input", ROCPROFV3_VALUE("FILE"), HAS, "jobs with their options",                                 \
	  "JSON or YAML: a list `jobs`, each with options under their names; text: lines "                              \
	  "'pmc: NAME ...'. PROGRAM runs once for each job. Options of the command line hold "                          \
	  "for all jobs, and instead of a job's own. The files of several jobs, and of one with "                       \
	  "counters, are in DIR/pass_1, DIR/pass_2 and so on, those of a text in DIR/pmc_1.")                           \
	X(OUTPUT, 'o', "output-file", ROCPROFV3_VALUE("NAME"), HAS,                                                     \
	  "begin of the files' names (%pid%)",                                                                          \
	  "%pid%, %tag%, %launch_time%, %rank% and their like are those of each traced process; a name that several "   \
	  "have gets _PID.")                                                                                            \
	X(DIRECTORY, 'd', "output-directory", ROCPROFV3_VALUE("DIR"), HAS,                                              \
	  "directory of the files",                                                                                     \
	  "Without -o they are DIR/HOST/PID_kernel_trace.csv and its like. It is made if it is missing.")               \
	X(FORMAT, 'f', "output-format", ROCPROFV3_LIST("FORMAT"), HAS,                                                  \
	  "csv, json, rocpd, pftrace, otf2 (rocpd)", "Several.")                                                        \
	X(CONFIG, 0, "output-config", ROCPROFV3_SWITCH, LACKS, "write the configuration",                               \
	  "rtl info shows what a trace was recorded with.")                                                             \
	X(LOG, 0, "log-level", ROCPROFV3_VALUE("LEVEL"), IDLE, "amount of messages",                                    \
	  "Has no effect: RTL_LOG sets that of librtl.")                                                                \
	X(EXTRA, 'E', "extra-counters", ROCPROFV3_VALUE("FILE"), ALSO, "definitions of counters",                       \
	  "YAML: `rocprofiler-sdk` with `counters`, each with `name` and `definitions`; as rtl trace --metrics-file.")  \
	X(RUNTIME, 'r', "runtime-trace", ROCPROFV3_SWITCH, HAS,                                                         \
	  "HIP, RCCL, ranges, kernels, copies, memory",                                                                 \
	  "Of memory allocations and scratch memory. rocprofv3 adds rocDecode and rocJPEG, which rtl does not record.") \
	X(SYS, 's', "sys-trace", ROCPROFV3_SWITCH, HAS, "the same, HIP's compiler calls, HSA",                          \
	  NULL)                                                                                                         \
	X(HIP, 0, "hip-trace", ROCPROFV3_SWITCH, ALSO, "HIP's runtime and compiler calls", NULL)                        \
	X(MARKER, 0, "marker-trace", ROCPROFV3_SWITCH, ALSO, "roctx ranges and marks", NULL)                            \
	X(KERNEL, 0, "kernel-trace", ROCPROFV3_SWITCH, HAS, "kernel dispatches", NULL)                                  \
	X(GRAPH, 0, "hip-graph-trace", ROCPROFV3_SWITCH, LACKS, "records of graphs",                                    \
	  ROCPROFV3_INSTEAD_HIP " The JSON has the launches of graphs.")                                                \
	X(EVENT, 0, "hip-event-trace", ROCPROFV3_SWITCH, LACKS, "records of events",                                    \
	  ROCPROFV3_INSTEAD_HIP)                                                                                        \
	X(COPY, 0, "memory-copy-trace", ROCPROFV3_SWITCH, ALSO, "copies and fills", NULL)                               \
	X(ALLOCATION, 0, "memory-allocation-trace", ROCPROFV3_SWITCH, ALSO,                                             \
	  "allocations and frees", "Those of HSA's calls with --hsa-trace, else those of HIP's.")                       \
	X(KFD, 0, "kfd-trace", ROCPROFV3_SWITCH, LACKS, "events of the kernel driver",                                  \
	  ROCPROFV3_INSTEAD_KFD)                                                                                        \
	X(SCRATCH, 0, "scratch-memory-trace", ROCPROFV3_SWITCH, ALSO, "scratch memory of queues",                       \
	  "That the runtime allocates, frees and takes back; runtimes report it from ROCm 6.1 on.")                     \
	X(HSA, 0, "hsa-trace", ROCPROFV3_SWITCH, ALSO, "HSA's calls", NULL)                                             \
	X(RCCL, 0, "rccl-trace", ROCPROFV3_SWITCH, ALSO, "RCCL's calls", NULL)                                          \
	X(OMPT, 0, "ompt-trace", ROCPROFV3_LIST("GROUP"), LACKS, "OpenMP's events",                                     \
	  "rtl does not record them; what they cause is in --hsa-trace and --kernel-trace.")                            \
	X(KOKKOS, 0, "kokkos-trace", ROCPROFV3_SWITCH, LACKS, "Kokkos' regions",                                        \
	  "rtl has no bridge to Kokkos' tools; one that sets roctx ranges works with --marker-trace.")                  \
	X(DECODE, 0, "rocdecode-trace", ROCPROFV3_SWITCH, LACKS, "rocDecode's calls",                                   \
	  "rtl does not record them; there is nothing to use instead.")                                                 \
	X(JPEG, 0, "rocjpeg-trace", ROCPROFV3_SWITCH, LACKS, "rocJPEG's calls",                                         \
	  "rtl does not record them; there is nothing to use instead.")                                                 \
	X(SHMEM, 0, "rocshmem-trace", ROCPROFV3_SWITCH, LACKS, "rocSHMEM's calls",                                      \
	  "rtl does not record them; their kernels are in --kernel-trace.")                                             \
	X(HIPFILE, 0, "hipfile-trace", ROCPROFV3_SWITCH, LACKS, "hipFile's calls",                                      \
	  "rtl does not record them; there is nothing to use instead.")                                                 \
	X(HIP_RUNTIME, 0, "hip-runtime-trace", ROCPROFV3_SWITCH, ALSO, "HIP's runtime calls",                           \
	  NULL)                                                                                                         \
	X(HIP_COMPILER, 0, "hip-compiler-trace", ROCPROFV3_SWITCH, ALSO, "HIP's compiler calls",                        \
	  NULL)                                                                                                         \
	X(HSA_CORE, 0, "hsa-core-trace", ROCPROFV3_SWITCH, ALSO, "HSA's core calls", NULL)                              \
	X(HSA_AMD, 0, "hsa-amd-trace", ROCPROFV3_SWITCH, ALSO, "calls of AMD's extension", NULL)                        \
	X(HSA_IMAGE, 0, "hsa-image-trace", ROCPROFV3_SWITCH, ALSO, "calls of the image extension",                      \
	  NULL)                                                                                                         \
	X(HSA_FINALIZER, 0, "hsa-finalizer-trace", ROCPROFV3_SWITCH, ALSO,                                              \
	  "calls of the finalizer", NULL)                                                                               \
	X(KFD_MIGRATE, 0, "kfd-page-migration-trace", ROCPROFV3_SWITCH, LACKS, "page migrations",                       \
	  ROCPROFV3_INSTEAD_KFD)                                                                                        \
	X(KFD_MAP, 0, "kfd-page-mapping-trace", ROCPROFV3_SWITCH, LACKS, "page faults",                                 \
	  ROCPROFV3_INSTEAD_KFD)                                                                                        \
	X(KFD_QUEUE, 0, "kfd-queue-trace", ROCPROFV3_SWITCH, LACKS, "evicted queues",                                   \
	  ROCPROFV3_INSTEAD_KFD)                                                                                        \
	X(KFD_DROPPED, 0, "kfd-dropped-events-trace", ROCPROFV3_SWITCH, LACKS, "lost events",                           \
	  ROCPROFV3_INSTEAD_KFD)                                                                                        \
	X(PMC, 0, "pmc", ROCPROFV3_LIST("NAME"), HAS, "counters and metrics of each kernel",                            \
	  "Of several passes each dispatch runs once for each, and the memory of the GPU is "                           \
	  "restored in between: rtl trace --passes=replay.")                                                            \
	X(REPLAY, 0, "replay-mode", ROCPROFV3_VALUE("MODE"), ALSO, "how passes are made",                               \
	  "kernel (default), or application: the program runs once for each pass.")                                     \
	X(REPLAY_BETA, 0, "kernel-replay-beta-enabled", ROCPROFV3_SWITCH, IDLE,                                         \
	  "replay of kernels", "Has no effect: rtl replays where --pmc needs several passes.")                          \
	X(SPM_BETA, 0, "spm-beta-enabled", ROCPROFV3_SWITCH, LACKS, "streaming counters",                               \
	  ROCPROFV3_INSTEAD_COUNTERS)                                                                                   \
	X(SPM, 0, "spm", ROCPROFV3_LIST("NAME"), LACKS, "counters to stream",                                           \
	  ROCPROFV3_INSTEAD_COUNTERS)                                                                                   \
	X(SPM_INTERVAL, 0, "spm-sample-interval", ROCPROFV3_VALUE("N"), LACKS, "their period",                          \
	  ROCPROFV3_INSTEAD_COUNTERS)                                                                                   \
	X(SPM_UNIT, 0, "spm-sample-interval-unit", ROCPROFV3_VALUE("UNIT"), LACKS,                                      \
	  "unit of the period", ROCPROFV3_INSTEAD_COUNTERS)                                                             \
	X(PC_BETA, 0, "pc-sampling-beta-enabled", ROCPROFV3_SWITCH, LACKS, "PC sampling",                               \
	  ROCPROFV3_INSTEAD_PC)                                                                                         \
	X(PC_UNIT, 0, "pc-sampling-unit", ROCPROFV3_VALUE("UNIT"), LACKS, "unit of its interval",                       \
	  ROCPROFV3_INSTEAD_PC)                                                                                         \
	X(PC_METHOD, 0, "pc-sampling-method", ROCPROFV3_VALUE("METHOD"), LACKS, "its method",                           \
	  ROCPROFV3_INSTEAD_PC)                                                                                         \
	X(PC_INTERVAL, 0, "pc-sampling-interval", ROCPROFV3_VALUE("N"), LACKS, "its interval",                          \
	  ROCPROFV3_INSTEAD_PC)                                                                                         \
	X(STATS, 0, "stats", ROCPROFV3_SWITCH, ALSO,                                                                    \
	  "statistics: more CSV files, summary in JSON", NULL)                                                          \
	X(SUMMARY, 'S', "summary", ROCPROFV3_SWITCH, ALSO, "print a summary at the end",                                \
	  "The tables of rtl summary: kernels, HIP calls, copies, ranges, of those that are recorded.")                 \
	X(SUMMARY_DOMAIN, 'D', "summary-per-domain", ROCPROFV3_SWITCH, ALSO, "the same", NULL)                          \
	X(SUMMARY_GROUPS, 0, "summary-groups", ROCPROFV3_LIST("REGEX"), IDLE,                                           \
	  "summaries of groups", "Has no effect: the summary has a table for each domain.")                             \
	X(SUMMARY_FILE, 0, "summary-output-file", ROCPROFV3_VALUE("FILE"), ALSO,                                        \
	  "stdout, stderr (default) or a file", NULL)                                                                   \
	X(SUMMARY_UNITS, 'u', "summary-units", ROCPROFV3_VALUE("UNIT"), IDLE, "unit of times",                          \
	  "Has no effect: each time has its own unit.")                                                                 \
	X(MANGLED, 'M', "mangled-kernels", ROCPROFV3_SWITCH, ALSO, "mangled names of kernels",                          \
	  NULL)                                                                                                         \
	X(TRUNCATE, 'T', "truncate-kernels", ROCPROFV3_SWITCH, ALSO, "bare names of kernels",                           \
	  NULL)                                                                                                         \
	X(RENAME, 0, "kernel-rename", ROCPROFV3_SWITCH, ALSO, "name kernels after their range",                         \
	  "In kernel_trace; rocpd has the range as region in any case.")                                                \
	X(MPI_RANKS, 0, "profile-mpi-ranks", ROCPROFV3_VALUE("LIST"), ALSO,                                             \
	  "trace these ranks only", NULL)                                                                               \
	X(MPI_RANK, 0, "mpi-world-rank-variable", ROCPROFV3_VALUE("NAME"), LACKS,                                       \
	  "variable of the rank",                                                                                       \
	  "rtl knows the variables of the launchers; set RANK for another one.")                                        \
	X(MPI_SIZE, 0, "mpi-world-size-variable", ROCPROFV3_VALUE("NAME"), LACKS,                                       \
	  "variable of the number of ranks",                                                                            \
	  "rtl knows the variables of the launchers; set WORLD_SIZE for another one.")                                  \
	X(INCLUDE, 0, "kernel-include-regex", ROCPROFV3_LIST("REGEX"), ALSO,                                            \
	  "record these kernels only",                                                                                  \
	  "A regular expression, as rtl trace --kernels: POSIX extended, with \\d, \\w, \\s.")                          \
	X(EXCLUDE, 0, "kernel-exclude-regex", ROCPROFV3_LIST("REGEX"), ALSO,                                            \
	  "leave out these kernels", "As rtl trace --not-kernels.")                                                     \
	X(ITERATION, 0, "kernel-iteration-range", ROCPROFV3_LIST("RANGE"), ALSO,                                        \
	  "which launches of each kernel are counted",                                                                  \
	  "Of --pmc: '[1-3],[5]' or '[1, [3-5]]', from 1. Traces have all launches, as rocprofv3's.")                   \
	X(PERIOD, 'P', "collection-period", ROCPROFV3_LIST("D:T:N"), ALSO,                                              \
	  "N times: wait D, record T", "N is 0: for ever.")                                                             \
	X(PERIOD_UNIT, 0, "collection-period-unit", ROCPROFV3_VALUE("UNIT"), ALSO,                                      \
	  "hour, min, sec (default), msec, usec, nsec", NULL)                                                           \
	X(REGIONS, 0, "selected-regions", ROCPROFV3_SWITCH, ALSO,                                                       \
	  "record between resume and pause only", "As rtl trace --trace-start off.")                                    \
	X(REGIONS_COUNT, 0, "selected-regions-ref-count", ROCPROFV3_SWITCH, LACKS,                                      \
	  "count resumes", "rtl does not nest them: use rtl trace --range NAME.")                                       \
	X(PERFETTO, 0, "perfetto-backend", ROCPROFV3_VALUE("BACKEND"), IDLE, "of pftrace",                              \
	  ROCPROFV3_IDLE_PERFETTO)                                                                                      \
	X(PERFETTO_SIZE, 0, "perfetto-buffer-size", ROCPROFV3_VALUE("KB"), IDLE, "of pftrace",                          \
	  ROCPROFV3_IDLE_PERFETTO)                                                                                      \
	X(PERFETTO_FILL, 0, "perfetto-buffer-fill-policy", ROCPROFV3_VALUE("POLICY"), IDLE,                             \
	  "of pftrace", ROCPROFV3_IDLE_PERFETTO)                                                                        \
	X(PERFETTO_HINT, 0, "perfetto-shmem-size-hint", ROCPROFV3_VALUE("KB"), IDLE, "of pftrace",                      \
	  ROCPROFV3_IDLE_PERFETTO)                                                                                      \
	X(LIST, 'L', "list-avail", ROCPROFV3_SWITCH, ALSO, "list counters",                                             \
	  "Those of the machine's GPUs, as rtl list-counters, and stop.")                                               \
	X(GROUP, 0, "group-by-queue", ROCPROFV3_SWITCH, IDLE, "tracks by queue",                                        \
	  "Has no effect: the formats have both the queue and the stream of each operation.")                           \
	X(PRELOAD, 0, "preload", ROCPROFV3_LIST("LIB"), LACKS, "libraries to preload",                                  \
	  "Set LD_PRELOAD; rtl puts librtl in front.")                                                                  \
	X(ROOT, 0, "rocm-root", ROCPROFV3_VALUE("DIR"), IDLE, "where ROCm is",                                          \
	  "Has no effect: rtl does not use ROCm's libraries.")                                                          \
	X(SOVERSION, 0, "sdk-soversion", ROCPROFV3_VALUE("N"), IDLE, "version of a library",                            \
	  "Has no effect: rtl does not use that library.")                                                              \
	X(SDK_VERSION, 0, "sdk-version", ROCPROFV3_VALUE("N"), IDLE, "version of a library",                            \
	  "Has no effect: rtl does not use that library.")                                                              \
	X(READLINK, 0, "readlink", ROCPROFV3_SWITCH, IDLE, "resolve links",                                             \
	  "Has no effect: rtl finds its own libraries.")                                                                \
	X(REALPATH, 0, "realpath", ROCPROFV3_SWITCH, IDLE, "resolve links",                                             \
	  "Has no effect: rtl finds its own libraries.")                                                                \
	X(BENCHMARK, 0, "benchmark-mode", ROCPROFV3_VALUE("MODE"), LACKS, "studies of overhead",                        \
	  "Compare with rtl trace -m lite and with an untraced run.")                                                   \
	X(INDEX, 'A', "agent-index", ROCPROFV3_VALUE("WAY"), ALSO,                                                      \
	  "relative, absolute, type-relative",                                                                          \
	  "How Agent_Id in CSV counts: in HSA's order (default), by the driver's node, within CPUs and GPUs.")          \
	X(SUPPRESS, 0, "suppress-marker-preload", ROCPROFV3_SWITCH, IDLE, "no library for roctx",                       \
	  "Has no effect: librtl itself has roctx.")                                                                    \
	X(ECHO, 0, "echo", ROCPROFV3_SWITCH, ALSO, "print the commands of rtl and stop", NULL)                          \
	X(HANDLERS, 0, "disable-signal-handlers", ROCPROFV3_SWITCH, IDLE,                                               \
	  "no handlers of signals", "Has no effect: librtl has none.")                                                  \
	X(SYNC, 0, "process-sync", ROCPROFV3_SWITCH, IDLE, "processes wait for each other",                             \
	  "Has no effect: files are written when all have ended.")                                                      \
	X(MINIMUM, 0, "minimum-output-data", ROCPROFV3_VALUE("KB"), LACKS,                                              \
	  "no files of small traces",                                                                                   \
	  "rtl trace --fail-on-empty reports traces without operations.")                                               \
	X(PID, 'p', "pid", ROCPROFV3_VALUE("PID"), LACKS, "attach to a process",                                        \
	  ROCPROFV3_INSTEAD_ATTACH)                                                                                     \
	X(ATTACH, 0, "attach", ROCPROFV3_VALUE("PID"), LACKS, "attach to a process",                                    \
	  ROCPROFV3_INSTEAD_ATTACH)                                                                                     \
	X(ATTACH_MS, 0, "attach-duration-msec", ROCPROFV3_VALUE("N"), LACKS, "how long",                                \
	  ROCPROFV3_INSTEAD_ATTACH)                                                                                     \
	X(ATTACH_CHILDREN, 0, "attach-children", ROCPROFV3_SWITCH, LACKS, "its children too",                           \
	  ROCPROFV3_INSTEAD_ATTACH)                                                                                     \
	X(ATTACH_SYNC, 0, "attach-sync-output", ROCPROFV3_SWITCH, LACKS, "wait for the files",                          \
	  ROCPROFV3_INSTEAD_ATTACH)                                                                                     \
	X(ATT, 0, "att", ROCPROFV3_SWITCH, LACKS, "thread trace", ROCPROFV3_INSTEAD_ATT)                                \
	X(ATT_ADVANCED, 0, "advanced-thread-trace", ROCPROFV3_SWITCH, LACKS, "thread trace",                            \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_INTERCEPT, 0, "att-no-intercept", ROCPROFV3_SWITCH, LACKS, "of thread trace",                             \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_LIBRARY, 0, "att-library-path", ROCPROFV3_LIST("DIR"), LACKS, "of thread trace",                          \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_CU, 0, "att-target-cu", ROCPROFV3_VALUE("N"), LACKS, "of thread trace",                                   \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_SIMD, 0, "att-simd-select", ROCPROFV3_VALUE("MASK"), LACKS, "of thread trace",                            \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_KERNELS, 0, "att-consecutive-kernels", ROCPROFV3_VALUE("N"), LACKS,                                       \
	  "of thread trace", ROCPROFV3_INSTEAD_ATT)                                                                     \
	X(ATT_SIZE, 0, "att-buffer-size", ROCPROFV3_VALUE("BYTES"), LACKS, "of thread trace",                           \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_MODE, 0, "att-resource-mode", ROCPROFV3_VALUE("MODE"), LACKS, "of thread trace",                          \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_SE, 0, "att-shader-engine-mask", ROCPROFV3_VALUE("MASK"), LACKS, "of thread trace",                       \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_GPU, 0, "att-gpu-index", ROCPROFV3_LIST("N"), LACKS, "of thread trace",                                   \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_COUNTERS, 0, "att-perfcounters", ROCPROFV3_LIST("NAME"), LACKS, "of thread trace",                        \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_CTRL, 0, "att-perfcounter-ctrl", ROCPROFV3_VALUE("N"), LACKS, "of thread trace",                          \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_TARGET, 0, "att-perfcounter-target-only", ROCPROFV3_SWITCH, LACKS,                                        \
	  "of thread trace", ROCPROFV3_INSTEAD_ATT)                                                                     \
	X(ATT_ACTIVITY, 0, "att-activity", ROCPROFV3_VALUE("N"), LACKS, "of thread trace",                              \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_SERIALIZE, 0, "att-serialize-all", ROCPROFV3_SWITCH, LACKS, "of thread trace",                            \
	  ROCPROFV3_INSTEAD_ATT)                                                                                        \
	X(ATT_DETAIL, 0, "att-no-detail", ROCPROFV3_SWITCH, LACKS, "of thread trace",                                   \
	  ROCPROFV3_INSTEAD_ATT)

/* A row of a table of struct opt. */
#define ROCPROFV3_ROW(id, letter_, name_, type_, state, help_, more_)                              \
	{ .letter = letter_,                                                                       \
	  .name = name_,                                                                           \
	  type_,                                                                                   \
	  .help = help_,                                                                           \
	  .more = more_,                                                                           \
	  .in_manual = ROCPROFV3_##state != ROCPROFV3_HAS,                                         \
	  .unlisted = ROCPROFV3_##state > ROCPROFV3_ALSO },
#define ROCPROFV3_ID(id, letter, name, type, state, help, more) ROCPROFV3_O_##id,
enum { ROCPROFV3_OPTIONS(ROCPROFV3_ID) ROCPROFV3_NR_OPTIONS };

extern const enum rocprofv3_state rocprofv3_options_states[ROCPROFV3_NR_OPTIONS];

/* What is wrong with the value of a switch, or NULL (opt.why_not). */
const char *rocprofv3_options_check_switch(const char *value);
/* Whether a switch is on; of other options, whether they are given. */
bool rocprofv3_options_is_on(const struct opt *opt, const struct opt_value *v);
/* All words of a list with `between` between them, in memory that lives as long as the process. */
char *rocprofv3_options_join(const struct opt_value *v, const char *between);

#endif
