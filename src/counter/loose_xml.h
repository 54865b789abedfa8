/* SPDX-License-Identifier: MIT */
/* loose_xml.h - XML as rocprof's files have it
 *
 * XML without a document type, and besides:
 *	expr=A/B	values of attributes need not be in quotes; in quotes \" is a quote and \\ a
 *			backslash
 *	# ...		a comment to the end of the line, outside of quotes
 *	#include "FILE"	at the begin of a line: the elements of FILE, whose path is relative to this
 *			file's folder
 * There may be any number of elements that no other one encloses.
 *
 * Threads:  any; nothing is kept.
 */
#ifndef RTL_COUNTER_LOOSE_XML_H
#define RTL_COUNTER_LOOSE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LOOSE_XML_ERROR_SIZE 512u

/* Where an element begins. */
struct loose_xml_at {
	const char *file;
	unsigned int line;
};

/* False stops the reading, with an error that is already in `error`. Texts live as long as the
 * call. */
struct loose_xml_handler {
	/* attributes: name, value, name, value, ..., NULL */
	bool (*begin)(void *arg, const char *name, const char **attributes, struct loose_xml_at at);
	bool (*end)(void *arg, const char *name);
	void *arg;
	char *error; /* of LOOSE_XML_ERROR_SIZE bytes: "FILE:LINE: what is wrong" */
};

/* Reads a file. False: the handler stopped it, or it is not understood, which h->error says. */
bool loose_xml_read(const char *path, const struct loose_xml_handler *h);
/* The same of a text that is called `name`. */
bool loose_xml_parse(const char *name, const char *text, size_t size,
		     const struct loose_xml_handler *h);
/* Writes ` NAME="TEXT"`, so that it is read as it is. Control characters, which XML can't have, are
 * blanks. */
void loose_xml_put_attribute(FILE *out, const char *name, const char *text);

#endif
