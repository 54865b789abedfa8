/* SPDX-License-Identifier: MIT */
/* message.c - checks what a client has sent
 *
 * Owns:     nothing.
 * Threads:  any.
 * Fails:    what is no request of this version is refused with the reason.
 */
#include "control/message.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static int refuse(char text[CONTROL_TEXT_SIZE], int err, const char *what, uint64_t number,
		  const char *then)
{
	struct str s;

	str_init(&s, text, CONTROL_TEXT_SIZE);
	str_add(&s, what);
	str_add_uint(&s, number);
	str_add(&s, then);
	return err;
}

static int check_path(char text[CONTROL_TEXT_SIZE], const char path[CONTROL_PATH_SIZE])
{
	if (!memchr(path, '\0', CONTROL_PATH_SIZE))
		return refuse(text, -ENAMETOOLONG, "the path has more than ", CONTROL_PATH_SIZE - 1,
			      " bytes");
	if (*path && *path != '/')
		return refuse(text, -EINVAL, "the path does not begin with /: byte ",
			      (unsigned char)*path, "");
	return 0;
}

int message_check(const void *message, size_t size, struct control_request *out,
		  char text[CONTROL_TEXT_SIZE])
{
	int err;

	*text = '\0';
	memset(out, 0, sizeof(*out));
	if (size < CONTROL_REQUEST_LEAST || size > CONTROL_MAX_SIZE)
		return refuse(text, -EBADMSG, "the request has ", size, " bytes: it is none");
	memcpy(out, message, size < sizeof(*out) ? size : sizeof(*out));
	if (out->magic != CONTROL_MAGIC)
		return refuse(text, -EBADMSG, "the request begins with ", out->magic,
			      ": it is none");
	if (out->version != CONTROL_VERSION)
		return refuse(text, -EPROTONOSUPPORT, "the request is of version ", out->version,
			      ", this process's librtl answers version 1: use the rtl beside it");
	if (out->size != size)
		return refuse(text, -EBADMSG, "the request says that it has ", out->size,
			      " bytes, and has not");
	if (!out->command || out->command >= CONTROL_NR_COMMANDS)
		return refuse(text, -EOPNOTSUPP, "command ", out->command,
			      " is not known to this process's librtl: use the rtl beside it");
	err = check_path(text, out->dir);
	return err ? err : check_path(text, out->output);
}

void message_begin_reply(struct control_reply *reply)
{
	memset(reply, 0, sizeof(*reply));
	reply->magic = CONTROL_MAGIC;
	reply->version = CONTROL_VERSION;
	reply->size = sizeof(*reply);
}

void message_text(char *out, size_t size, const char *text, size_t max, int join)
{
	size_t n = 0;

	for (size_t i = 0; i < max && n + 1 < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (!c && (!join || i + 1 == max))
			break;
		out[n++] = !c ? ' ' : c < ' ' || c == 127 ? '?' : (char)c;
	}
	out[n] = '\0';
}
