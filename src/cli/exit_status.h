/* SPDX-License-Identifier: MIT */
/* exit_status.h - the exit statuses of rtl's commands; a program that rtl runs has its own */
#ifndef RTL_CLI_EXIT_STATUS_H
#define RTL_CLI_EXIT_STATUS_H

#define STATUS_USAGE 2 /* the command line was wrong */
#define STATUS_FAILED 1
#define STATUS_INPUT                                                                               \
	3 /* an input is no file: a device, a FIFO or a socket; rtl diff: any failure */
#define STATUS_UNDECIDED 4 /* rtl diff: a condition can't be decided */
/* rtl fleet: an answer without some ranks, which can't be read */
#define STATUS_LEFT_OUT 4
#define STATUS_TRACE 125     /* `rtl trace`: rtl itself failed */
#define STATUS_CANT_RUN 126  /* as env(1) */
#define STATUS_NOT_FOUND 127 /* as env(1) */
#define STATUS_LOSS 123	     /* --fail-on-loss */
#define STATUS_LACKS 121     /* `rtl rocprofv3`: an option that rtl has nothing for */
#define STATUS_EMPTY 122     /* --fail-on-empty */

#endif
