/* SPDX-License-Identifier: MIT */
/* rtl.h - recording of GPU work by the program itself: sessions of librtl
 *
 * A session records HIP's calls, kernel dispatches and copies from its opening to its closing, in a
 * trace of its own, or passes them to callbacks, or both. docs/embedding.md is the manual.
 *
 * Threads:  every function may be called by any thread, except from a callback of a session:
 *           RTL_ERROR_IN_CALLBACK.
 * Errors:   each function returns a status; none ends the process or prints. rtl_status_text() says
 *           what to do.
 * Forks:    in a forked child every function returns RTL_ERROR_FORKED; the child is not recorded by
 *           its parent's sessions.
 * Versions: a structure begins with its size in bytes, which the caller sets; later versions append
 * members. Times are nanoseconds of the clock that ROCr calls system time.
 */
#ifndef RTL_RTL_H
#define RTL_RTL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_API_VERSION 1

typedef enum rtl_status {
	RTL_OK = 0,
	RTL_SHARED = 1, /* `rtl trace` records this process: the session has no trace of its own */
	RTL_ERROR_ARGUMENT = -1,
	RTL_ERROR_SESSION = -2,	 /* no such session: never opened, or closed */
	RTL_ERROR_BUSY = -3,	 /* another session has an output, or all sessions are in use */
	RTL_ERROR_DISABLED = -4, /* RTL_DISABLE is set, or the process ends */
	RTL_ERROR_TOO_LATE =
		-5, /* the GPU was used before the first rtl_prepare() or rtl_session_open() */
	RTL_ERROR_NOT_IN_FRONT = -6, /* librtl is behind the runtime in the order of libraries */
	RTL_ERROR_OUTPUT = -7,	     /* the trace or the database can't be written, or exists */
	RTL_ERROR_IN_CALLBACK = -8,
	RTL_ERROR_FORKED = -9,
	RTL_ERROR_MEMORY = -10,
	RTL_ERROR_END = -11, /* there is no loss with that index */
} rtl_status_t;

/* Never NULL; lives for ever. */
const char *rtl_status_text(rtl_status_t status);

/* RTL_API_VERSION of the library. */
uint32_t rtl_api_version(void);

/* Makes sessions possible later. A program that opens its first session after its first use of HIP
 * or HSA calls this before that use; until a session is opened a dispatch then costs a few
 * nanoseconds. */
rtl_status_t rtl_prepare(void);

typedef uint64_t rtl_session_t; /* 0: none */

enum rtl_session_flags {
	RTL_SESSION_REPLACE = 1, /* an existing database is replaced */
	RTL_SESSION_STOPPED = 2, /* recording begins with rtl_session_start() */
};

typedef struct rtl_session_options {
	size_t size; /* sizeof(rtl_session_options_t) */
	/* The raw trace, one *.rtl file, is written to this directory, which is made if it is
	 * missing (one level). NULL: none, or database.spool. `rtl convert` and `rtl info` read
	 * it. */
	const char *directory;
	/* The raw trace becomes this database at the closing, by the program `rtl`. NULL: none.
	 * Paths are copied. */
	const char *database;
	uint32_t flags; /* enum rtl_session_flags */
	uint32_t reserved;
} rtl_session_options_t;

/* Opens a session; `options` NULL: without output, for callbacks. What is called and submitted from
 * its return on belongs to it. At most one session at a time has an output, and at most 4 are open.
 * In a process that `rtl trace` records the trace remains rtl trace's: directory and database are
 * not used. *session is set on RTL_OK. */
rtl_status_t rtl_session_open(const rtl_session_options_t *options, rtl_session_t *session);

/* Closes it: waits for callbacks that run, and writes the output. Operations in flight are recorded
 * as unfinished; call hipDeviceSynchronize() first to have them complete. RTL_ERROR_OUTPUT: the raw
 * trace stays. */
rtl_status_t rtl_session_close(rtl_session_t session);

/* Recording goes on, or pauses: what is called and submitted meanwhile is left out and counted as
 * `paused`. */
rtl_status_t rtl_session_start(rtl_session_t session);
rtl_status_t rtl_session_stop(rtl_session_t session);

/* What has completed before the call is in the trace on disk or in memory that outlives the
 * process, and has been passed to the callbacks. */
rtl_status_t rtl_session_flush(rtl_session_t session);

/* The path of the session's output, or with RTL_SHARED "". Cut to `size` bytes. */
rtl_status_t rtl_session_output(rtl_session_t session, char *path, size_t size);

enum rtl_phase { RTL_CALL_BEGIN = 0, RTL_CALL_END = 1 };

/* A HIP call. Pointers are valid during the callback. */
typedef struct rtl_call {
	size_t size;
	uint32_t phase;	      /* enum rtl_phase */
	uint32_t thread;      /* tid */
	uint64_t correlation; /* the operations that the call submits have it, too */
	const char *name;
	const char *
		/* name:type[:role] of each word, separated by commas (docs/formats/spool.md) */
		signature;
	/* the arguments, as in the trace; at RTL_CALL_END, 0 before */
	const uint64_t *words;
	uint32_t nr_words;
	int32_t status; /* what the function returned; at RTL_CALL_END */
} rtl_call_t;

/* On the calling thread, before and after the runtime's function. HIP may be called; those calls
 * have no callback. */
typedef void (*rtl_call_fn)(const rtl_call_t *call, void *user);

/* Calls `fn` for each HIP call that begins from now on; NULL: no longer. RTL_ERROR_NOT_IN_FRONT:
 * the program's calls don't reach librtl. */
rtl_status_t rtl_session_on_calls(rtl_session_t session, rtl_call_fn fn, void *user);

enum rtl_operation_kind { RTL_KERNEL = 1, RTL_COPY = 2 };

/* A kernel dispatch, a copy or a fill that has completed. Pointers are valid during the
 * callback. */
typedef struct rtl_operation {
	size_t size;
	uint32_t kind;		   /* enum rtl_operation_kind */
	uint32_t thread;	   /* tid that submitted it */
	uint64_t correlation;	   /* of the call that submitted it */
	uint64_t begin_ns, end_ns; /* 0: the GPU wrote no times */
	const char *name;	   /* of the kernel, mangled; "" for a copy or if unknown */
	uint32_t agent; /* index in the trace; UINT32_MAX: unknown. Of a copy: where it writes to */
	uint32_t queue; /* index in the trace; UINT32_MAX: none */
	uint64_t bytes; /* of a copy */
	uint32_t grid[3]; /* work-items */
	uint32_t group[3];
} rtl_operation_t;

/* On a thread of librtl's, or on the one that calls rtl_session_flush() or rtl_session_close(); one
 * call at a time, in no order. HIP may be called, but not waited for with operations that
 * themselves wait for the callback. */
typedef void (*rtl_operation_fn)(const rtl_operation_t *operation, void *user);

/* Calls `fn` for each operation that completes from now on; NULL: no longer. Operations beyond
 * 32768 that wait for the callback are dropped and counted in rtl_statistics_t.undelivered. */
rtl_status_t rtl_session_on_operations(rtl_session_t session, rtl_operation_fn fn, void *user);

typedef struct rtl_statistics {
	size_t size; /* the caller sets it; the function writes no more */
	/* recorded in the trace since the opening; 0 for a session without output */
	uint64_t calls, kernels, copies, markers;
	uint64_t lost;	  /* by all reasons of class "loss" */
	uint64_t skipped; /* left out by choice: paused, filtered */
	/* operations passed to the callback of this session, and dropped */
	uint64_t delivered, undelivered;
} rtl_statistics_t;

rtl_status_t rtl_session_statistics(rtl_session_t session, rtl_statistics_t *statistics);

typedef struct rtl_loss {
	size_t size;
	uint64_t count;
	const char *reason; /* as in docs/formats/database.md; lives for ever */
	const char *text;
	uint32_t is_loss; /* 0: left out by choice, or a note */
	uint32_t reserved;
} rtl_loss_t;

/* The nth reason, from 0, whose count is not 0. RTL_ERROR_END: there are fewer. */
rtl_status_t rtl_session_loss(rtl_session_t session, uint32_t nth, rtl_loss_t *loss);

/* Writes tables of a trace to `file`, by the program `rtl` beside librtl: those that `rtl summary
 * --by=TABLES --format=FORMAT` prints, with the same columns, numbers and units
 * (docs/cli/summary.md). `trace` is a database or a raw trace; `tables` as "kernel,api",
 * NULL for the overview; `format` "json", "csv" or "table". An existing file is replaced, and only
 * by a whole one. RTL_ERROR_ARGUMENT: there is no such table or format. RTL_ERROR_OUTPUT: the trace
 * can't be read, the file can't be written, or there is no rtl. Waits for rtl, 60 s at most. */
rtl_status_t rtl_write_tables(const char *trace, const char *tables, const char *format,
			      const char *file);

#ifdef __cplusplus
}
#endif

#endif
