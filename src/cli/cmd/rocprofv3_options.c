/* SPDX-License-Identifier: MIT */
/* rocprofv3_options.c - the table of rocprofv3's options, and their values */
#include "cli/cmd/rocprofv3_options.h"

#include <stddef.h>
#include <strings.h>

#include "cli/ui.h"

#define STATE(id, letter, name, type, state, help, more) ROCPROFV3_##state,

const enum rocprofv3_state rocprofv3_options_states[ROCPROFV3_NR_OPTIONS] = { ROCPROFV3_OPTIONS(
	STATE) };

_Static_assert((int)ROCPROFV3_NR_OPTIONS + 8 < OPTS_MAX, "space for rtl's own options");

/* 1: on; 0: off; -1: neither. */
static int read_switch(const char *text)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on",
					     "0",     "1",    "f",  "t",   "n",	  "y" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(text, words[i]) == 0)
			return (int)(i % 2);
	return -1;
}

const char *rocprofv3_options_check_switch(const char *value)
{
	return read_switch(value) < 0 ? "its value is true or false; the program begins behind --" :
					NULL;
}

bool rocprofv3_options_is_on(const struct opt *opt, const struct opt_value *v)
{
	if (v->count && v->text && opt->why_not == rocprofv3_options_check_switch)
		return read_switch(v->text) == 1;
	return v->count > 0;
}

char *rocprofv3_options_join(const struct opt_value *v, const char *between)
{
	char *text = ui_keep(ui_format("%s", v->text ? v->text : ""));

	for (unsigned int i = 0; i < v->nr_more; i++)
		if (*v->more[i])
			text = ui_keep(ui_format("%s%s%s", text, *text ? between : "", v->more[i]));
	return text;
}
