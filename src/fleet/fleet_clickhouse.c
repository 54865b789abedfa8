/* SPDX-License-Identifier: MIT */
/* fleet_clickhouse.c - a ClickHouse server as an engine, by its HTTP interface
 *
 * The server reads the data set itself: the folder has to be at the same path there, below its
 * user_files_path. One request, one answer of CSV; no TLS.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "fleet/fleet_ask.h"

#define SCHEME "clickhouse://"
#define PORT "8123"
#define SETTINGS "use_hive_partitioning=1&cast_keep_nullable=1&join_use_nulls=1"
#define WAIT_S 3600 /* without a byte of the answer */
#define ANSWER_MAX (UINT64_C(1) << 30)

struct server {
	char user[64], host[256], port[8];
};

/* clickhouse://[USER@]HOST[:PORT][/] */
static bool take_url(const char *url, struct server *s)
{
	const char *at = url + strlen(SCHEME), *user = strchr(at, '@');
	size_t n;

	memset(s, 0, sizeof(*s));
	if (user) {
		n = (size_t)(user - at);
		if (!n || n >= sizeof(s->user))
			return false;
		memcpy(s->user, at, n);
		at = user + 1;
	}
	n = strcspn(at, ":/");
	if (!n || n >= sizeof(s->host))
		return false;
	memcpy(s->host, at, n);
	at += n;
	snprintf(s->port, sizeof(s->port), "%s", PORT);
	if (*at == ':') {
		n = strspn(++at, "0123456789");
		if (!n || n >= sizeof(s->port))
			return false;
		snprintf(s->port, sizeof(s->port), "%.*s", (int)n, at);
		at += n;
	}
	return (!*at || strcmp(at, "/") == 0) && !strpbrk(s->user, "\r\n") &&
	       !strpbrk(s->host, "\r\n ");
}

bool fleet_clickhouse_is_url(const char *text)
{
	struct server s;

	return strncmp(text, SCHEME, strlen(SCHEME)) == 0 && take_url(text, &s);
}

static int open_socket(const struct server *s, char *error)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	const struct timeval wait = { .tv_sec = WAIT_S };
	struct addrinfo *list;
	int fd = -1, ret = getaddrinfo(s->host, s->port, &hints, &list);

	if (ret) {
		snprintf(error, FLEET_MESSAGE, "%s: %s", s->host, gai_strerror(ret));
		return -EIO;
	}
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen)) {
			snprintf(error, FLEET_MESSAGE, "%s:%s: %s", s->host, s->port,
				 strerror(errno));
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fd < 0 ? -EIO : fd;
}

static int send_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = send(fd, text, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -errno;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

/* All until the server closes; malloc'd. */
static char *receive_all(int fd, size_t *size)
{
	size_t cap = 65536;
	char *text = malloc(cap + 1);

	*size = 0;
	while (text) {
		char *more;
		ssize_t n = recv(fd, text + *size, cap - *size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*size += (size_t)n;
		if (*size < cap)
			continue;
		cap *= 2;
		more = cap > ANSWER_MAX ? NULL : realloc(text, cap + 1);
		if (!more)
			free(text);
		text = more;
	}
	if (text)
		text[*size] = '\0';
	return text;
}

/* Joins the pieces of a body in `chunked` coding. false: it was cut. */
static bool join_chunks(char *body, const char *end)
{
	const char *at = body;
	char *to = body, *stop;

	for (;;) {
		unsigned long n = strtoul(at, &stop, 16);
		const char *data = strstr(stop, "\r\n");

		if (stop == at || !data || n > (size_t)(end - data))
			return false;
		data += 2;
		if (!n)
			break;
		if (n + 2 > (size_t)(end - data))
			return false;
		memmove(to, data, n);
		to += n;
		at = data + n + 2;
	}
	*to = '\0';
	return true;
}

char *fleet_clickhouse_body(char *answer, size_t size, char error[FLEET_MESSAGE])
{
	char *body = strstr(answer, "\r\n\r\n");
	bool good = strncmp(answer, "HTTP/1.", 7) == 0 && strncmp(answer + 8, " 200", 4) == 0;

	if (body) {
		*body = '\0';
		body += 4;
		if (strcasestr(answer, "\nTransfer-Encoding: chunked") &&
		    !join_chunks(body, answer + size)) {
			snprintf(error, FLEET_MESSAGE, "the server's answer was cut");
			return NULL;
		}
	}
	if (!body || !good) {
		char *said = body ? body : answer;
		size_t n = strlen(said);

		while (n && strchr("\r\n", said[n - 1]))
			said[--n] = '\0';
		/* Debian 12's, 18.16, says only that it does not know a setting */
		snprintf(error, FLEET_MESSAGE, "the server says: %.1500s%s", said,
			 strcasestr(said, "unknown setting") ?
				 "; it is too old: ClickHouse 24.8 and later read data sets" :
				 "");
		return NULL;
	}
	return body;
}

static char *make_request(const struct server *s, const char *sql, size_t *size)
{
	const char *password = getenv("CLICKHOUSE_PASSWORD");
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	fprintf(out,
		"POST /?" SETTINGS " HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n"
		"Content-Length: %zu\r\n",
		s->host, s->port, strlen(sql));
	if (*s->user)
		fprintf(out, "X-ClickHouse-User: %s\r\n", s->user);
	if (password && *password && !strpbrk(password, "\r\n"))
		fprintf(out, "X-ClickHouse-Key: %s\r\n", password);
	fprintf(out, "\r\n%s", sql);
	fclose(out);
	return text;
}

int fleet_clickhouse(const struct fleet_set *set, const struct fleet_question *q, const char *url,
		     struct sheet *t, char error[FLEET_MESSAGE])
{
	char *sql = NULL, *request, *answer = NULL, *body;
	struct server s;
	size_t size;
	int fd, err;

	*error = '\0';
	if (!take_url(url, &s))
		return -EINVAL;
	err = fleet_script(set, q, "clickhouse://", &sql);
	if (err)
		return err;
	request = make_request(&s, sql, &size);
	free(sql);
	if (!request)
		return -ENOMEM;
	fd = open_socket(&s, error);
	err = fd < 0 ? fd : send_all(fd, request, size);
	free(request);
	if (!err)
		answer = receive_all(fd, &size);
	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	body = answer ? fleet_clickhouse_body(answer, size, error) : NULL;
	err = !answer ? -ENOMEM : !body ? -EIO : fleet_csv_text(body, q, t, error);
	free(answer);
	return err;
}
