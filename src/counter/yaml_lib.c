/* SPDX-License-Identifier: MIT */
/* yaml_lib.c - YAML by libyaml */
#include "counter/yaml_lib.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/alloc.h"

#define DEPTH_MAX 32u
#define KEYS_MAX 1024u /* of a mapping */

#define FUNCTIONS(X)                                                                               \
	X(yaml_parser_initialize)                                                                  \
	X(yaml_parser_set_input_string)                                                            \
	X(yaml_parser_load)                                                                        \
	X(yaml_parser_delete)                                                                      \
	X(yaml_document_get_node)                                                                  \
	X(yaml_document_get_root_node)                                                             \
	X(yaml_document_delete)

#define MEMBER(name) __typeof__(name) *name;
static struct {
	FUNCTIONS(MEMBER)
} lib;

struct writer {
	yaml_document_t document;
	FILE *out;
	unsigned int depth;
};

bool yaml_lib_is_there(void)
{
	void *handle = dlopen("libyaml-0.so.2", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
#define LOAD(name)                                                                                 \
	lib.name = (__typeof__(lib.name))dlsym(handle, #name);                                     \
	if (!lib.name)                                                                             \
		return false;
	FUNCTIONS(LOAD)
	return true;
}

static bool is_plain(const yaml_node_t *n, const char *word)
{
	return n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       strcmp((const char *)n->data.scalar.value, word) == 0;
}

static void put_text(struct writer *w, const yaml_node_t *n)
{
	fputc('"', w->out);
	for (size_t i = 0; i < n->data.scalar.length; i++) {
		unsigned char c = n->data.scalar.value[i];

		if (c == '"' || c == '\\')
			fprintf(w->out, "\\%c", c);
		else if (c < 0x20)
			fprintf(w->out, "\\u%04x", c);
		else
			fputc(c, w->out);
	}
	fputc('"', w->out);
}

static void put_scalar(struct writer *w, const yaml_node_t *n)
{
	if (is_plain(n, "true") || is_plain(n, "false"))
		fprintf(w->out, "%.*s", (int)n->data.scalar.length,
			(const char *)n->data.scalar.value);
	else if (is_plain(n, "") || is_plain(n, "~") || is_plain(n, "null"))
		fprintf(w->out, "null");
	else
		put_text(w, n);
}

static bool put_node(struct writer *w, int index);

static const yaml_node_t *node_at(struct writer *w, int index)
{
	return lib.yaml_document_get_node(&w->document, index);
}

static bool same_key(const yaml_node_t *a, const yaml_node_t *b)
{
	return a->data.scalar.length == b->data.scalar.length &&
	       memcmp(a->data.scalar.value, b->data.scalar.value, a->data.scalar.length) == 0;
}

/* The keys that a mapping has so far. Each stands in the object once. */
struct keys {
	const yaml_node_t *all[KEYS_MAX];
	size_t nr;
};

static bool has_key(const struct keys *keys, const yaml_node_t *key)
{
	for (size_t i = 0; i < keys->nr; i++)
		if (same_key(keys->all[i], key))
			return true;
	return false;
}

/* Of a key that a mapping has twice the last one counts. */
static bool comes_again(struct writer *w, const yaml_node_t *mapping, const yaml_node_pair_t *at)
{
	const yaml_node_t *key = node_at(w, at->key);

	for (const yaml_node_pair_t *p = at + 1; p < mapping->data.mapping.pairs.top; p++)
		if (node_at(w, p->key)->type == YAML_SCALAR_NODE &&
		    same_key(node_at(w, p->key), key))
			return true;
	return false;
}

static bool put_pair(struct writer *w, const yaml_node_t *key, int value, struct keys *keys)
{
	if (has_key(keys, key))
		return true;
	if (keys->nr == KEYS_MAX)
		return false;
	if (keys->nr)
		fputc(',', w->out);
	keys->all[keys->nr++] = key;
	put_text(w, key);
	fputc(':', w->out);
	return put_node(w, value);
}

static bool put_pairs(struct writer *w, const yaml_node_t *n, struct keys *keys);

/* What "<<" names: a mapping, or several, of which the first one counts. */
static bool put_merged(struct writer *w, const yaml_node_t *n, struct keys *keys)
{
	bool good = true;

	if (n->type != YAML_SEQUENCE_NODE)
		return put_pairs(w, n, keys);
	for (const yaml_node_item_t *i = n->data.sequence.items.start;
	     good && i < n->data.sequence.items.top; i++)
		good = put_pairs(w, node_at(w, *i), keys);
	return good;
}

/* The pairs of a mapping whose keys are not there yet: its own, then those that it merges. */
static bool put_pairs(struct writer *w, const yaml_node_t *n, struct keys *keys)
{
	bool good = n->type == YAML_MAPPING_NODE && w->depth < DEPTH_MAX;

	w->depth++;
	for (int merged = 0; merged < 2; merged++)
		for (const yaml_node_pair_t *p = good ? n->data.mapping.pairs.start : NULL;
		     p && good && p < n->data.mapping.pairs.top; p++) {
			const yaml_node_t *key = node_at(w, p->key);

			if (key->type != YAML_SCALAR_NODE)
				good = false;
			else if (is_plain(key, "<<") != merged)
				continue;
			else if (merged)
				good = put_merged(w, node_at(w, p->value), keys);
			else if (!comes_again(w, n, p))
				good = put_pair(w, key, p->value, keys);
		}
	w->depth--;
	return good;
}

static bool put_items(struct writer *w, const yaml_node_t *n)
{
	bool good = true;

	fputc('[', w->out);
	for (const yaml_node_item_t *i = n->data.sequence.items.start;
	     good && i < n->data.sequence.items.top; i++) {
		if (i > n->data.sequence.items.start)
			fputc(',', w->out);
		good = put_node(w, *i);
	}
	fputc(']', w->out);
	return good;
}

/* An alias is its node again: aliases of aliases grow without bound. */
static bool put_node(struct writer *w, int index)
{
	const yaml_node_t *n = node_at(w, index);
	bool good = n && w->depth++ < DEPTH_MAX && ftell(w->out) < (long)YAML_LIB_MAX;

	if (good && n->type == YAML_SCALAR_NODE) {
		put_scalar(w, n);
	} else if (good && n->type == YAML_SEQUENCE_NODE) {
		good = put_items(w, n);
	} else if (good) {
		struct keys keys = { .nr = 0 };

		fputc('{', w->out);
		good = put_pairs(w, n, &keys);
		fputc('}', w->out);
	}
	w->depth -= good;
	return good;
}

char *yaml_lib_to_json(const char *text)
{
	struct writer w = { .depth = 0 };
	yaml_parser_t parser;
	char *json = NULL;
	size_t size = 0;
	bool good;

	if (!yaml_lib_is_there() || !lib.yaml_parser_initialize(&parser))
		return NULL;
	lib.yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
	good = lib.yaml_parser_load(&parser, &w.document);
	if (good) {
		w.out = open_memstream(&json, &size);
		good = w.out && lib.yaml_document_get_root_node(&w.document) &&
		       put_node(&w, 1); /* the root */
		good = w.out && fclose(w.out) == 0 && good;
		lib.yaml_document_delete(&w.document);
	}
	lib.yaml_parser_delete(&parser);
	if (good)
		return json;
	alloc_free(json);
	return NULL;
}
