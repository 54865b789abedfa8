/* SPDX-License-Identifier: MIT */
/* protocol.h - what rtl asks a traced process, and what that answers, byte by byte
 *
 * One message each way over a SOCK_SEQPACKET socket of the file system, then the process closes the
 * connection. The kernel keeps messages whole. A message may be longer than its structure here,
 * from a later version, up to CONTROL_MAX_SIZE, or shorter by members at the end, which are zero
 * then; what exists is never changed. Texts end in NUL; a reader does not rely on it. Every message
 * is answered, also one that is none; who is not the process's user or root is answered by the end
 * of the connection.
 */
#ifndef RTL_CONTROL_PROTOCOL_H
#define RTL_CONTROL_PROTOCOL_H

#include <stdint.h>

#define CONTROL_MAGIC UINT32_C(0x434c5452) /* "RTLC" */
#define CONTROL_VERSION 1
#define CONTROL_MAX_SIZE 4096u
#define CONTROL_PATH_SIZE 512
#define CONTROL_TEXT_SIZE 256

enum control_command {
	CONTROL_STATUS = 1,
	/* records from now on; an idle process opens a trace in the directory `dir` */
	CONTROL_START,
	CONTROL_STOP,  /* holds recording back; a trace that START opened is closed */
	CONTROL_FLUSH, /* what has completed is in the spool when the answer comes */
	CONTROL_NR_COMMANDS,
};

enum control_state {
	CONTROL_RECORDING = 1,
	CONTROL_PAUSED,
	CONTROL_IDLE,	/* no trace is open, and START opens one */
	CONTROL_ENDING, /* the trace has ended, the process has not */
};

/* What holds recording back: bits. */
enum control_cause {
	CONTROL_BY_PROGRAM = 1,
	CONTROL_BY_WINDOW = 2, /* --delay, --duration, --period */
	CONTROL_BY_RANGE = 4,
	CONTROL_BY_STOP = 8,
};

struct control_request {
	uint32_t magic;
	uint32_t version;
	uint32_t size;	  /* of the message */
	uint32_t command; /* enum control_command */
	/* of START to an idle process, absolute: where the raw trace goes, and the database that is
	 * written if the process ends before STOP */
	char dir[CONTROL_PATH_SIZE];
	char output[CONTROL_PATH_SIZE];
};
_Static_assert(sizeof(struct control_request) == 1040, "control_request");
#define CONTROL_REQUEST_LEAST 16u /* without paths */

/* bits of control_reply.flags */
#define CONTROL_F_COUNTED 1u /* the counts are valid: the harvester has answered */
#define CONTROL_F_IDLE 2u    /* the process was started with RTL_IDLE */

struct control_reply {
	uint32_t magic;
	uint32_t version;
	uint32_t size;
	int32_t status;	 /* 0 or -errno; `text` has the message */
	uint32_t state;	 /* enum control_state */
	uint32_t causes; /* enum control_cause */
	uint32_t pid;	 /* in the process's pid namespace */
	uint32_t flags;
	uint64_t state_age_ns; /* since the state has been what it is */
	uint64_t age_ns;       /* since librtl was started */
	/* of the trace that is open, or was open last */
	uint64_t dispatches, copies, calls; /* recorded */
	uint64_t left_out;		    /* while recording was paused, and by filters */
	uint64_t losses;
	uint64_t reserved[3];
	char text[CONTROL_TEXT_SIZE];
	char spool[CONTROL_PATH_SIZE];	 /* the disk half */
	char output[CONTROL_PATH_SIZE];	 /* as START gave it */
	char command[CONTROL_TEXT_SIZE]; /* the process's arguments, separated by blanks */
};
_Static_assert(sizeof(struct control_reply) == 1648, "control_reply");
#define CONTROL_REPLY_LEAST 16u

#endif
