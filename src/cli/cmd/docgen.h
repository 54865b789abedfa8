/* SPDX-License-Identifier: MIT */
/* docgen.h - pages and completions, printed from the option tables to stdout */
#ifndef RTL_CLI_CMD_DOCGEN_H
#define RTL_CLI_CMD_DOCGEN_H

#include "cli/opts.h"

void docgen_text(const struct command *cmd);	 /* for the terminal: `rtl help X` */
void docgen_markdown(const struct command *cmd); /* docs/cli/X.md */
void docgen_markdown_index(void);		 /* docs/cli/README.md */
void docgen_man(const struct command *cmd);	 /* docs/man/rtl-X.1 */
void docgen_man_index(void);			 /* docs/man/rtl.1 */
void docgen_bash(void);
void docgen_zsh(void);
void docgen_fish(void);

#endif
