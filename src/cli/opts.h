/* SPDX-License-Identifier: MIT */
/* opts.h - one table for each command: its options and their documentation
 *
 * The parser, --help, docs/cli/, docs/man/ and the shell completions read the same table
 * (docgen.c).
 * Rules: --name VALUE, --name=VALUE, -xVALUE, -x VALUE, -xy for flags; names can't be abbreviated;
 * an optional value takes the form --name=VALUE only; the last of several counts; "--" ends the
 * options. In a command of lists an optional value may be the next word, elsewhere an optional
 * number. If a command runs another one (`child`), the first operand ends the options, too, and
 * begins the other command line.
 */
#ifndef RTL_CLI_OPTS_H
#define RTL_CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_type {
	OPT_FLAG,
	OPT_TEXT,
	OPT_FILE,   /* as OPT_TEXT; completes file names */
	OPT_DIR,    /* as OPT_TEXT; completes directories */
	OPT_UINT,   /* `choices` is its range, "1..4096" */
	OPT_CHOICE, /* `choices` is "one|another" */
};

struct opt {
	char letter;	  /* 0: none */
	const char *name; /* without dashes */
	enum opt_type type;
	bool optional;	 /* the value may be left out */
	const char *arg; /* the value's name in the help: FILE */
	const char *choices;
	const char *help; /* one short clause: fits on a line of --help */
	const char *more; /* further sentences for the manual, or NULL */
	/* The message for a value that isn't one of the choices; if NULL, or if it returns NULL,
	 * the message lists them. Of
	 * OPT_TEXT: what is wrong with the value, NULL: nothing. */
	const char *(*why_not)(const char *value);
	bool in_manual; /* --help lists the name alone, behind the other options */
	bool unlisted;	/* and not even that */
	bool list;	/* in a command of lists: takes several words */
	/* a letter that means something else now: the message for it names the option; 0: none */
	char was;
	/* OPT_CHOICE: one or more of the choices, separated by commas; `num` is the first one's */
	bool several;
};

struct opt_value {
	unsigned int count; /* occurrences on the command line */
	const char *text;   /* borrowed from argv; NULL where it was left out or is a flag */
	uint64_t num;	    /* OPT_UINT; OPT_CHOICE: index of the choice */
	char **more;	    /* borrowed from argv: further words of a list, that follow `text` */
	unsigned int nr_more;
};

struct opt_status {
	const char *status; /* "125" */
	const char *text;
};

#define OPTS_MAX 128

struct opt_parsed {
	struct opt_value values[OPTS_MAX]; /* by the option's index in the table */
	char **operands;		   /* borrowed: within argv */
	int nr_operands;
	bool help, has_dashes; /* --help; "--" in front of the operands */
};

struct command {
	const char *name, *summary;
	const char *usage;    /* behind the options: "FILE [-o OUT]" without them */
	const char *operands; /* one clause about the operands, for --help */
	const struct opt *opts;
	size_t nr_opts;
	const char *about;		   /* paragraphs for the manual */
	const char *examples;		   /* lines of commands */
	const struct opt_status *statuses; /* end in a NULL */
	bool child;			   /* the operands are another command */
	bool reads;			   /* the operands are traces */
	/* Words behind an option are its values, up to the next option; -- begins the operands. */
	bool lists;
	int min_operands, max_operands; /* max < 0: no limit */
	int usage_status;		/* exit status for a wrong command line */
	int (*run)(const struct opt_parsed *parsed);
};

#define OPTS_ERROR_SIZE 512

/* The index of the choice at *text, which moves behind it and a comma; -1: none of them. */
int opts_next_choice(const char *choices, const char **text);

/* argv[0] is the command's name. Moves the operands to the end of argv. 0, or -EINVAL
 * with `error`: what is wrong and what to do. */
int opts_parse(const struct command *cmd, int argc, char **argv, struct opt_parsed *out,
	       char error[OPTS_ERROR_SIZE]);

/* Options that commands which write a file have in common. */
#define OPTS_FORCE                                                                                 \
	{                                                                                          \
		0, "force", .was = 'f', .help = "overwrite an existing output"                     \
	}
#define OPTS_QUIET                                                                                 \
	{                                                                                          \
		'q', "quiet", .help = "print errors only"                                          \
	}
#define OPTS_PROGRESS                                                                              \
	{                                                                                          \
		0, "progress", OPT_CHOICE, .arg = "WHEN", .choices = "auto|always|never",          \
					   .help = "progress bar: auto (default), always, never"   \
	}
/* --public, an option of all commands that write a trace, and whether it or its variable is set. */
#define OPTS_PUBLIC                                                                                           \
	{                                                                                                     \
		0, "public",                                                                                  \
			.in_manual = true,                                                                    \
			.help = "let others read the output, as the umask has it",                            \
			.more = "Arguments of calls may be a program's data: without this option an output "  \
				"that has some, in any format, can be read by its owner alone (mode 0600). "  \
				"Without arguments (RTL_ARGS=0, or a mode without calls) the umask decides. " \
				"Variable: RTL_PUBLIC."                                                       \
	}
bool opts_is_public(const struct opt_value *v);

/* The name in `names` (NULL-ended) that is most similar to an unknown word, or NULL. */
const char *opts_suggest(const char *word, const char *const *names);

/* --help: fits a screen of 80 columns. */
void opts_help(const struct command *cmd);

/* "-o, --output=FILE"; returned buf */
#define OPTS_LABEL_SIZE 64
const char *opts_label(const struct opt *opt, char buf[OPTS_LABEL_SIZE]);

#endif
