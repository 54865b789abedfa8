/* SPDX-License-Identifier: MIT */
/* env.h - every environment variable that the product reads, in one table
 *
 * Read once, in env_init(); ignored in a setuid program (AT_SECURE). A variable named RTL_* that is
 * not in the table, or an invalid value, is reported once (env_report()) and ignored.
 */
#ifndef RTL_BASE_ENV_H
#define RTL_BASE_ENV_H

#include <stdbool.h>
#include <stdint.h>

/* The longest value of RTL_PMC and RTL_PMC_METRICS; others have 4095 bytes at most. */
#define ENV_LONG_VALUE_MAX 65535u

/* X(ID, "NAME", type, "default", "choices or range", "help"). Types: STR, UINT, BOOL, ENUM;
 * SECONDS, PERIODS, RANGE, REGEX, LIST, FLIGHT and TIME, see base/capture.h: empty is as unset. */
#define ENV_TABLE(X)                                                                                      \
	X(MODE, "RTL_MODE", ENUM, "standard", "lite|standard|default|full|hip",                           \
	  "what is traced: see the modes table; `rtl trace` sets hip where it is unset")                  \
	X(OUTPUT, "RTL_OUTPUT", STR, "trace.db", "",                                                      \
	  "the database; %p pid, %h host, %r rank, %j job, %q{VAR}, %%")                                  \
	X(FORCE, "RTL_FORCE", BOOL, "0", "0|1", "overwrite an existing output")                           \
	X(PUBLIC, "RTL_PUBLIC", BOOL, "0", "0|1",                                                         \
	  "outputs with arguments of calls are readable as the umask has it, not by their owner alone")   \
	X(SPOOL_DIR, "RTL_SPOOL_DIR", STR, "", "", "where the spool lies (default: OUTPUT.spool)")        \
	X(MEM_DIR, "RTL_MEM_DIR", STR, "/dev/shm", "",                                                    \
	  "memory file system for buffers; \"none\": beside the spool")                                   \
	X(BUFFER_MB, "RTL_BUFFER_MB", UINT, "64", "1..4096", "buffers in memory, MiB")                    \
	X(DRAIN_MS, "RTL_DRAIN_MS", UINT, "5000", "0..600000",                                            \
	  "at exit, how long to wait for what is in flight, ms")                                          \
	X(ARGS, "RTL_ARGS", BOOL, "1", "0|1", "record the arguments of API calls")                        \
	X(HSA_API, "RTL_HSA_API", BOOL, "0", "0|1", "record HSA calls")                                   \
	X(HIP_BACKEND, "RTL_HIP_BACKEND", ENUM, "auto", "auto|preload|callback",                          \
	  "how HIP calls are seen: our symbols and dlsym, our symbols alone, the runtime's callbacks")    \
	X(WAY, "RTL_WAY", ENUM, "auto", "auto|tools|register",                                            \
	  "how `rtl trace` gets librtl into the runtime: HSA_TOOLS_LIB, rocprofiler-register, or as "     \
	  "the installed runtime needs it")                                                               \
	X(QUEUES, "RTL_QUEUES", ENUM, "auto", "auto|interpose|intercept",                                 \
	  "how packets are seen: the program keeps its queues (interpose, auto), or the runtime's "       \
	  "intercept queues")                                                                             \
	X(TRACE_START, "RTL_TRACE_START", ENUM, "on", "on|off|always",                                    \
	  "on: from the start, the program's roctxProfilerPause() and Resume() pause and resume; "        \
	  "always: the program has no influence; off: recording waits for the program's "                 \
	  "roctracer_start(), hipProfilerStart() or roctxProfilerResume() and pauses at its stop")        \
	X(DELAY, "RTL_DELAY", SECONDS, "", "",                                                            \
	  "nothing is recorded in the first seconds of each process")                                     \
	X(DURATION, "RTL_DURATION", SECONDS, "", "",                                                      \
	  "only so many seconds are recorded, after the delay")                                           \
	X(PERIOD, "RTL_PERIOD", PERIODS, "", "",                                                          \
	  "windows of time that are recorded: DELAY:DURATION:REPEAT, see `rtl trace --period`")           \
	X(RANGE, "RTL_RANGE", RANGE, "", "",                                                              \
	  "only while a roctx range of that name is open: NAME or NAME@N")                                \
	X(KERNELS, "RTL_KERNELS", REGEX, "", "", "only dispatches of kernels whose name matches")         \
	X(NOT_KERNELS, "RTL_NOT_KERNELS", REGEX, "", "",                                                  \
	  "no dispatches of kernels whose name matches")                                                  \
	X(CALLS, "RTL_CALLS", REGEX, "", "", "only calls of API functions whose name matches")            \
	X(INTERNAL, "RTL_INTERNAL", BOOL, "0", "0|1",                                                     \
	  "the calls by which the compiler's code prepares a launch <<<...>>> have records, too")         \
	X(GPUS, "RTL_GPUS", LIST, "", "", "only operations of these GPUs: 0,2,4-7")                       \
	X(PMC, "RTL_PMC", STR, "", "",                                                                    \
	  "hardware events to count for each dispatch; `rtl trace --pmc` sets it")                        \
	X(PMC_METRICS, "RTL_PMC_METRICS", STR, "", "",                                                    \
	  "users' metrics that RTL_PMC needs, as XML; `rtl trace --metrics-file` sets it")                \
	X(PMC_DISPATCHES, "RTL_PMC_DISPATCHES", LIST, "", "",                                             \
	  "RTL_PMC counts these dispatches only: 10-19; of each process, from 0 on")                      \
	X(PMC_ITERATIONS, "RTL_PMC_ITERATIONS", LIST, "", "",                                             \
	  "and of these launches of each kernel: 1-3,5; from 1 on, on each GPU")                          \
	X(PMC_WAIT_MS, "RTL_PMC_WAIT_MS", UINT, "10000", "1..3600000",                                    \
	  "how long a counted dispatch may run while dispatches of other queues wait, ms; then its GPU "  \
	  "is not counted any more")                                                                      \
	X(PMC_REPLAY, "RTL_PMC_REPLAY", BOOL, "0", "0|1",                                                 \
	  "a dispatch that needs several passes is run once for each, with the memory of its GPU "        \
	  "restored between them; `rtl trace --passes=replay` sets it")                                   \
	X(PMC_REPLAY_MB, "RTL_PMC_REPLAY_MB", UINT, "1024", "0..1048576",                                 \
	  "how much memory of a GPU is saved for that, MiB; dispatches are counted in one pass while "    \
	  "the program has more")                                                                         \
	X(RANKS, "RTL_RANKS", LIST, "", "",                                                               \
	  "processes of other ranks of an MPI or Slurm job are not traced")                               \
	X(FLIGHT_RECORDER, "RTL_FLIGHT_RECORDER", FLIGHT, "", "",                                         \
	  "keep only the last records: so many bytes of them (64M) or seconds (30s)")                     \
	X(BARRIERS, "RTL_BARRIERS", BOOL, "0", "0|1", "record barrier packets too")                       \
	X(SCRATCH, "RTL_SCRATCH", ENUM, "0", "0|1|auto",                                                  \
	  "record what the runtime does with scratch memory; ROCm 6.1 and later (auto: no message where " \
	  "it is not reported)")                                                                          \
	X(LOG, "RTL_LOG", STR, "warn", "", "level, or topic:level, separated by commas")                  \
	X(LOG_FILE, "RTL_LOG_FILE", STR, "", "", "file for messages (%p = pid), default stderr")          \
	X(STRICT, "RTL_STRICT", BOOL, "0", "0|1", "abort on an error message (tests)")                    \
	X(DISABLE, "RTL_DISABLE", BOOL, "0", "0|1", "stay out of the way entirely")                       \
	X(SESSION, "RTL_SESSION", STR, "", "", "set by `rtl trace`: it drains and converts")              \
	X(BIN, "RTL_BIN", STR, "", "", "the rtl program that writes the database at exit")                \
	X(TEST_STALL, "RTL_TEST_STALL", STR, "", "", "tests: stop the harvester at a named point")        \
	X(TEST_SWALLOW, "RTL_TEST_SWALLOW", STR, "", "",                                                  \
	  "tests: lose one record of each of these types (12,14) without counting it; 31: a "             \
	  "correlation id, 30: the ids of threads")                                                       \
	X(CONTROL, "RTL_CONTROL", BOOL, "1", "0|1",                                                       \
	  "a socket in $XDG_RUNTIME_DIR/rtl or /tmp/rtl-UID, by which rtl ps, start, stop, status "       \
	  "and top reach the process")                                                                    \
	X(IDLE, "RTL_IDLE", BOOL, "0", "0|1",                                                             \
	  "record nothing until rtl start; for programs with librtl.so.1 in LD_PRELOAD")

enum env_id {
#define X(id, name, type, def, range, help) ENV_##id,
	ENV_TABLE(X)
#undef X
		ENV_NR
};

/* Reads the environment. Once, before threads. Safe in a constructor: no malloc, no stdio. */
void env_init(void);

/* The value as text, never NULL; valid for ever. For ENUM the canonical choice in lower case. */
const char *env_str(enum env_id id);
/* Another value for an unset text variable; it lives for ever. After env_init(), before it is
 * read. */
void env_set_default(enum env_id id, const char *value);
uint64_t env_uint(enum env_id id); /* of SECONDS and TIME: nanoseconds */
bool env_bool(enum env_id id);
bool env_is_set(enum env_id id); /* set by the user, and valid */

/* Names unknown RTL_* variables and bad values, once, through `say`. */
void env_report(void (*say)(const char *line));

/* Prints the table for the docs page. */
void env_print_table(void (*say)(const char *line));

#endif
