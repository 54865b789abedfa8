/* SPDX-License-Identifier: MIT */
/* yaml_lib.c - YAML by libyaml */
#include "cli/pmc/yaml_lib.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#define DEPTH_MAX 32u

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

static bool load(void)
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
		fputs((const char *)n->data.scalar.value, w->out);
	else if (is_plain(n, "") || is_plain(n, "~") || is_plain(n, "null"))
		fputs("null", w->out);
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

/* Whether a mapping has the key itself. */
static bool has_key(struct writer *w, const yaml_node_t *mapping, const yaml_node_t *key)
{
	for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
	     p < mapping->data.mapping.pairs.top; p++)
		if (node_at(w, p->key)->type == YAML_SCALAR_NODE &&
		    same_key(node_at(w, p->key), key))
			return true;
	return false;
}

/* The pairs of a mapping, those that `own` has left out; "<<" merges another one, or several. */
static bool put_pairs(struct writer *w, const yaml_node_t *n, const yaml_node_t *own, bool *any)
{
	bool good = n->type == YAML_MAPPING_NODE && w->depth++ < DEPTH_MAX;

	for (const yaml_node_pair_t *p = good ? n->data.mapping.pairs.start : NULL;
	     p && good && p < n->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = node_at(w, p->key), *value = node_at(w, p->value);

		if (key->type != YAML_SCALAR_NODE)
			return false;
		if (is_plain(key, "<<") && value->type == YAML_SEQUENCE_NODE) {
			for (const yaml_node_item_t *i = value->data.sequence.items.start;
			     good && i < value->data.sequence.items.top; i++)
				good = put_pairs(w, node_at(w, *i), own ? own : n, any);
			continue;
		}
		if (is_plain(key, "<<")) {
			good = put_pairs(w, value, own ? own : n, any);
			continue;
		}
		if (own && has_key(w, own, key))
			continue;
		if (*any)
			fputc(',', w->out);
		*any = true;
		put_text(w, key);
		fputc(':', w->out);
		good = put_node(w, p->value);
	}
	w->depth -= good;
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
	bool any = false, good = n && w->depth++ < DEPTH_MAX && ftell(w->out) < (long)YAML_LIB_MAX;

	if (good && n->type == YAML_SCALAR_NODE) {
		put_scalar(w, n);
	} else if (good && n->type == YAML_SEQUENCE_NODE) {
		good = put_items(w, n);
	} else if (good) {
		fputc('{', w->out);
		good = put_pairs(w, n, NULL, &any);
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

	if (!load() || !lib.yaml_parser_initialize(&parser))
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
	free(json);
	return NULL;
}
