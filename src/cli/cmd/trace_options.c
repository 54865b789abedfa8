/* SPDX-License-Identifier: MIT */
/* trace_options.c - the options of rtl trace: their help, manual page and completions are made of
 * this table
 *
 * Not here: what they do (cmd_trace.c).
 */
#include "cli/cmd/trace_options.h"

#include <stddef.h>

#include "cli/checks.h"
#include "cli/pmc/pmc_trace.h"

const struct opt trace_options[TRACE_NR_OPTIONS] = {
	[TRACE_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE",
			   .help = "the database (trace.db); %p pid, %h host, %r rank",
			   .more = "Further patterns: %j job, %q{VAR} an environment variable, %% a percent sign; "
				   "%pid%, %hostname%, %rank% and %env{VAR}% mean the same. Behind a launcher a name that is the same for "
				   "all ranks gets the rank: trace-rank0.db; of a rank that is started again (torchrun's --max-restarts) trace-rank0-restart1.db. A name that ends in /, and that of a directory, is a data set: each rank adds the folder "
				   "DIR/job=JOB/rank=RANK of Parquet files to it when it has ended, for rtl fleet. Variable: RTL_OUTPUT." },
	[TRACE_MODE] = { 'm', "mode", OPT_CHOICE, .arg = "MODE",
			 .choices = "lite|standard|default|full|hip",
			 .help = "what to record: hip (default), lite, standard, full",
			 .more = "default is hip. hip is standard with the program's HIP calls, their arguments and the operations that each "
				 "of them caused; RTL_ARGS=0 leaves the arguments out, RTL_HIP_BACKEND selects how calls "
				 "are intercepted. Variable: RTL_MODE." },
	[TRACE_HSA] = { 0, "hsa", .in_manual = true, .help = "record HSA calls too, in any mode",
			.more = "Calls of the program and of HIP. Variable: RTL_HSA_API." },
	[TRACE_MPI] = { 0, "mpi", .in_manual = true, .help = "record the program's MPI calls, too",
			.more = "Of Open MPI 4 to 6, MPICH 4 and 5 and libraries with the interface of MPI 5, from C and Fortran: function, "
				"bytes, peer, tag, communicator and root. librtlmpi.so.1 is preloaded for it." },
	[TRACE_VGPU] = { 0, "virtual-gpu", OPT_UINT, true, "N", "1..16",
			 "run on N virtual GPUs (1): no GPU is needed",
			 .more = "The real ROCm runtimes run on it, and kernels are executed, unless VGPU_EXEC=off. Times "
				 "are those of a model, not of a real GPU. VGPU_* variables configure it; VGPU_ARCH is its architecture, gfx900 "
				 "(default), gfx90a or gfx942." },
	[TRACE_SUMMARY] = { 0, "summary", .help = "print the overview of rtl summary at the end",
			    .more = "On stderr, behind the line that says what was recorded." },
	[TRACE_FORCE] = { 0, "force", .was = 'f', .help = "overwrite an existing output",
			  .more = "Traces that an earlier run left in the spool directory are deleted. "
				  "Variable: RTL_FORCE." },
	[TRACE_QUIET] = { 'q', "quiet", .help = "print errors only" },
	[TRACE_VERBOSE] = { 'v', "verbose", .in_manual = true, .help = "print what rtl does" },
	[TRACE_PROGRESS] = { 0, "progress", OPT_CHOICE, .arg = "WHEN",
			     .choices = "auto|always|never",
			     .help = "progress bar: auto (default), always, never",
			     .more = "auto: on a terminal, for work that takes longer than a second.",
			     .in_manual = true },
	[TRACE_FAIL_LOSS] = { 0, "fail-on-loss",
			      .help = "status 123 when the trace is incomplete" },
	[TRACE_FAIL_EMPTY] = { 0, "fail-on-empty",
			       .help = "status 122 when no GPU operation was recorded",
			       .in_manual = true },
	[TRACE_KEEP] = { 0, "keep-spool", .help = "keep the raw trace beside the database",
			 .in_manual = true },
	[TRACE_DRAIN] = { 0, "drain-ms", OPT_UINT, .arg = "MS", .choices = "0..600000",
			  .help = "at exit, wait MS for operations in flight (5000)",
			  .more = "Operations that do not complete in time are recorded as unfinished. Variable: RTL_DRAIN_MS.",
			  .in_manual = true },
	[TRACE_BARRIERS] = { 0, "barriers", .help = "record barrier packets too",
			     .more = "Variable: RTL_BARRIERS.", .in_manual = true },
	[TRACE_SCRATCH] = { 0, "scratch", .in_manual = true,
			    .help = "record what happens to scratch memory",
			    .more = "That the runtime allocates, frees and takes back for queues whose kernels need it: the table rtl_scratch. "
				    "Runtimes report it from ROCm 6.1 on. rocprofv3: --scratch-memory-trace. Variable: RTL_SCRATCH." },
	[TRACE_TRACE_START] = { 0, "trace-start", OPT_CHOICE, .arg = "WHEN",
				.choices = "on|off|always", .in_manual = true,
				.help = "off: nothing before the program's roctracer_start()",
				.more = "With off the program controls recording: roctracer_start(), hipProfilerStart() and "
					"roctxProfilerResume() start it, roctracer_stop(), hipProfilerStop() and "
					"roctxProfilerPause() stop it, any number of times and on any thread. With on (the default) "
					"recording begins with the program, and roctxProfilerPause() and roctxProfilerResume() "
					"alone have an effect. With always none of them has. "
					"rocprofv3: --selected-regions is off. Variable: RTL_TRACE_START." },
	[TRACE_DELAY] = { 0, "delay", OPT_TEXT, .arg = "SECONDS", .why_not = checks_seconds,
			  .help = "record nothing in the first SECONDS",
			  .more = "Of each process; fractions and units (500ms, 10s, 2m, 1h) allowed. rocprofv3: -P SECONDS:... Variable: RTL_DELAY.",
			  .in_manual = true },
	[TRACE_DURATION] = { 0, "duration", OPT_TEXT, .arg = "SECONDS", .why_not = checks_duration,
			     .help = "record SECONDS only, after the delay",
			     .more = "Fractions and units allowed, as with --delay. Variable: RTL_DURATION.",
			     .in_manual = true },
	[TRACE_PERIOD] = { 0, "period", OPT_TEXT, .arg = "D:T:N", .why_not = checks_periods,
			   .help = "N times: wait D seconds, record T; N=0: for ever",
			   .more = "Fractions and units (10s:500ms:3) allowed; :N may be left out and is 1. Several, separated by blanks or commas, follow "
				   "each other: '10:1:3 60:5:0'. rocprofv3: -P, --collection-period. Variable: RTL_PERIOD.",
			   .in_manual = true },
	[TRACE_RANGE] = { 0, "range", OPT_TEXT, .arg = "NAME[@N]", .why_not = checks_range,
			  .help = "record while a roctx range NAME is open",
			  .more = "Of push and pop, or of start and stop, on any thread; work of all threads is recorded meanwhile. In "
				  "NAME * is any text, ? any character, \\ takes the next one literally. @N selects the N-th range "
				  "of that name in each process, from 1. Variable: RTL_RANGE." },
	[TRACE_KERNELS] = { 0, "kernels", OPT_TEXT, .arg = "REGEX", .why_not = checks_regex,
			    .in_manual = true, .help = "record dispatches of these kernels only",
			    .more = "A POSIX extended regular expression that matches a part of the kernel's name: the mangled one, "
				    "without .kd, or the demangled one, as rtl shows it. Kernels without a name, "
				    "which the runtime uses for itself, do not match. Copies and fills are not affected, also those "
				    "that HIP does by kernels. "
				    "rocprofv3: --kernel-include-regex. Variable: RTL_KERNELS." },
	[TRACE_NOT_KERNELS] = { 0, "not-kernels", OPT_TEXT, .arg = "REGEX", .why_not = checks_regex,
				.help = "leave out dispatches of these kernels",
				.more = "As --kernels; a kernel that both match is left out. rocprofv3: "
					"--kernel-exclude-regex. Variable: RTL_NOT_KERNELS.",
				.in_manual = true },
	[TRACE_CALLS] = { 0, "calls", OPT_TEXT, .arg = "REGEX", .why_not = checks_regex,
			  .help = "record calls of these API functions only",
			  .more = "A POSIX extended regular expression that matches a part of the function's name, of HIP's and RCCL's, with "
				  "--hsa of HSA's and with --mpi of MPI's functions. Operations of calls that are left out are recorded, without their "
				  "call. Variable: RTL_CALLS.",
			  .in_manual = true },
	[TRACE_INTERNAL] = { 0, "internal",
			     .help = "record the calls that prepare a launch <<<>>>, too",
			     .more = "The compiler makes three calls of a launch <<<...>>>: __hipPushCallConfiguration(), "
				     "__hipPopCallConfiguration() and hipLaunchKernel(). The first two belong to the launch and are "
				     "counted, but have no rows, unless this option or --calls asks for them. Variable: RTL_INTERNAL.",
			     .in_manual = true },
	[TRACE_GPUS] = { 0, "gpus", OPT_TEXT, .arg = "LIST", .why_not = checks_list,
			 .help = "record operations of these GPUs only: 0,2,4-7",
			 .more = "The numbers that rtl info shows. A copy between GPUs is recorded if one of them is "
				 "listed; copies whose GPU is not known are recorded. Variable: RTL_GPUS.",
			 .in_manual = true },
	[TRACE_RANKS] = { 0, "ranks", OPT_TEXT, .arg = "LIST", .why_not = checks_list,
			  .help = "do not trace processes of other ranks",
			  .more = "Of a job of MPI, Slurm, Flux, PALS or torchrun, from the variables of the launcher. A process "
				  "without a rank is traced; if none has one, the status is 125. rocprofv3: --profile-mpi-ranks. Variable: RTL_RANKS.",
			  .in_manual = true },
#define COUNTER_OPTION(name) TRACE_##name
	PMC_TRACE_OPTIONS(COUNTER_OPTION),
	[TRACE_BUFFER] = { 0, "buffer-mb", OPT_UINT, .arg = "N", .choices = "1..4096",
			   .help = "MiB of buffers in each traced process (64)",
			   .more = "Larger buffers bridge longer delays of the disk. Variable: RTL_BUFFER_MB.",
			   .in_manual = true },
	[TRACE_SPOOL_DIR] = { 0, "spool-dir", OPT_DIR, .arg = "DIR",
			      .help = "directory for the raw trace (OUTPUT.spool)",
			      .more = "Each run makes a subdirectory in it. Choose a local disk if the output "
				      "is on a network file system. Variable: RTL_SPOOL_DIR.",
			      .in_manual = true },
	[TRACE_NO_CONVERT] = { 0, "no-convert",
			       .help = "keep the raw trace; 'rtl recover' converts it",
			       .in_manual = true },
	[TRACE_PUBLIC] = OPTS_PUBLIC,
	[TRACE_MAX_SIZE] = { 0, "max-size", OPT_TEXT, .arg = "SIZE", .why_not = checks_size,
			     .help = "stop recording when the trace takes SIZE (2G)",
			     .more = "Of the disk, by the raw trace and the database together; K, M and G are powers of 1024. The program "
				     "goes on, and the database has all that was recorded until then. What is left out is counted as "
				     "skipped (max_size). At least 16M. Not of the buffers in memory (--buffer-mb).",
			     .in_manual = true },
	[TRACE_SPLIT] = { 0, "split", OPT_TEXT, .arg = "LIMIT", .why_not = checks_flight,
			  .help = "a database for every 2G or 10min", .in_manual = true,
			  .more = "OUTPUT.001.db, OUTPUT.002.db and so on while the program runs, each complete by itself; OUTPUT has the "
				  "end. An operation, a call and a marker is in one of them, a range that is open when a database "
				  "ends in the next one, too. After a size the database is a little larger; after a time the latest records of a thread, "
				  "which are in memory, are in the next database. rtl merge joins them." },
	[TRACE_FLIGHT] = { 0, "flight-recorder", OPT_TEXT, .arg = "LIMIT", .why_not = checks_flight,
			   .help = "keep the last 64M or 30s only", .in_manual = true,
			   .more = "Records for as long as the program runs, in constant memory and disk space: of each process the last "
				   "LIMIT of its raw trace is kept, a size (64M, 2G) or a time (30s, 5min). Its end is in "
				   "the database, however the program ended; rtl snapshot writes one at any time before. "
				   "What is older is counted as left out: flight_recorder. Variable: RTL_FLIGHT_RECORDER." },
	[TRACE_LONGER] = { 0, "trigger-longer", OPT_TEXT, .arg = "TIME", .why_not = checks_time,
			   .help = "snapshot after an operation that takes longer",
			   .in_manual = true,
			   .more = "Of kernels and copies; 500us, 10ms, 2s. rtl reads it from the records, the program does nothing for it." },
	[TRACE_ERROR] = { 0, "trigger-error", .help = "snapshot after a call that fails",
			  .in_manual = true,
			  .more = "Of HIP, and with --hsa of HSA. hipErrorNotReady is no failure." },
	[TRACE_MARK] = { 0, "trigger-mark", OPT_TEXT, .arg = "NAME",
			 .help = "snapshot after a roctx marker NAME", .in_manual = true,
			 .more = "A mark, or the begin of a range. In NAME * is any text, ? any character, \\ takes the next one literally." },
	[TRACE_USR2] = { 0, "snapshot-on-usr2", .help = "SIGUSR2 to rtl writes a snapshot",
			 .in_manual = true, .more = "Otherwise rtl passes it on to the program." },
	[TRACE_SNAPSHOTS] = { 0, "snapshots", OPT_UINT, .arg = "N", .choices = "0..100000",
			      .help = "write at most N snapshots (10)", .in_manual = true,
			      .more = "OUTPUT-1.db, -2.db and so on. rtl counts the reasons for further ones and prints the number at its end." },
	[TRACE_GAP] = { 0, "snapshot-gap", OPT_UINT, .arg = "SECONDS", .choices = "0..1000000",
			.help = "and at most one in SECONDS (5)", .in_manual = true },
	[TRACE_CHECK] = { 0, "check", .help = "check the options and stop", .in_manual = true,
			  .unlisted = true,
			  .more = "Also the names of counters; COMMAND does not run, and nothing is written." },
};
