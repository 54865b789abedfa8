/* SPDX-License-Identifier: MIT */
/* others.h - commands and options of nsys, perf, rocprof and rocprofv3 that users type at rtl: what
 * is ours instead */
#ifndef RTL_CLI_OTHERS_H
#define RTL_CLI_OTHERS_H

#include <stdbool.h>
#include <stddef.h>

struct command;

/* A sentence for a word that is no command of rtl, or for an option (with its dashes) that stands
 * instead of one; NULL: nothing is known of it. */
const char *others_command(const char *word);
/* The same for a format of `rtl convert`. */
const char *others_format(const char *word);
/* The same for an option that the command does not have, as it was typed: -t, --stats=true,
 * -thip. */
const char *others_option(const struct command *cmd, const char *word);

/* An argument of the traced program that is rather an option of `cmd`, which came too late; NULL:
 * there is none. */
const char *others_behind(const struct command *cmd, char **argv);

#endif
