/* SPDX-License-Identifier: MIT */
/* expression.c - expressions of metrics: parsed to a tree, which is evaluated
 *
 * Owns:     the tree of each expression.
 * Threads:  any; an expression does not change.
 */
#include "base/alloc.h"
#include "counter/expression.h"

#include <ctype.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200u	   /* of brackets and signs */
#define NODES_MAX 65536u   /* of an expression */
#define INSTANCES_MAX 4096 /* of a function */

enum kind { NUMBER, NAME, ADD, SUBTRACT, MULTIPLY, DIVIDE, SUM, AVERAGE, MIN, MAX };

struct node {
	enum kind kind;
	double number;
	char *name;    /* NAME, functions */
	int32_t index; /* NAME; of functions the number of instances */
	uint32_t left, right;
};

struct expression {
	struct node *nodes;
	uint32_t nr, size, root;
};

struct parser {
	struct expression *e;
	const char *text, *at;
	enum expression_rules rules;
	uint32_t depth;
	char *error; /* "" so far */
};

#define NONE UINT32_MAX

/* The first error counts. */
static uint32_t fail(struct parser *p, const char *what)
{
	if (!p->error[0])
		snprintf(p->error, EXPRESSION_ERROR_SIZE, "%s at column %zu of '%.100s'", what,
			 (size_t)(p->at - p->text) + 1, p->text);
	return NONE;
}

static uint32_t add_node(struct parser *p, struct node n)
{
	struct expression *e = p->e;

	if (e->nr == NODES_MAX) {
		alloc_free(n.name);
		return fail(p, "too many operands");
	}
	if (e->nr == e->size) {
		uint32_t size = e->size ? e->size * 2 : 16;
		struct node *more = alloc_resize(e->nodes, size, sizeof(*more));

		if (!more) {
			alloc_free(n.name);
			return fail(p, "no memory");
		}
		e->nodes = more;
		e->size = size;
	}
	e->nodes[e->nr] = n;
	return e->nr++;
}

/* The next character that means something. */
static char peek(struct parser *p)
{
	while (p->rules == EXPRESSION_ORDINARY && isspace((unsigned char)*p->at))
		p->at++;
	return *p->at;
}

static bool accept(struct parser *p, char c)
{
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '.';
}

static uint32_t parse_sum(struct parser *p);

/* An index or a count; -1: it is none. */
static int32_t parse_count(struct parser *p)
{
	long n;
	char *end;

	if (!isdigit((unsigned char)peek(p)))
		return -1;
	n = strtol(p->at, &end, 10);
	p->at = end;
	return n <= INSTANCES_MAX ? (int32_t)n : -1;
}

static uint32_t parse_function(struct parser *p, enum kind kind)
{
	const char *begin;
	char *name;
	int32_t n;

	(void)peek(p);
	begin = p->at;
	while (is_name(*p->at))
		p->at++;
	if (p->at == begin)
		return fail(p, "a counter's name is expected");
	name = alloc_string_n(begin, (size_t)(p->at - begin));
	if (!name)
		return fail(p, "no memory");
	n = accept(p, ',') ? parse_count(p) : -1;
	if (n < 1 || !accept(p, ')')) {
		alloc_free(name);
		return fail(p, "the number of instances and ')' are expected");
	}
	return add_node(p, (struct node){ .kind = kind, .name = name, .index = n });
}

static bool is_word(const char *begin, const char *end, const char *word)
{
	return (size_t)(end - begin) == strlen(word) && memcmp(begin, word, strlen(word)) == 0;
}

static uint32_t parse_name(struct parser *p)
{
	static const struct {
		const char *name;
		enum kind kind;
	} functions[] = { { "sum", SUM }, { "avr", AVERAGE }, { "min", MIN }, { "max", MAX } };
	struct node n = { .kind = NAME, .index = EXPRESSION_ALL };
	const char *begin = p->at, *end;

	while (is_name(*p->at))
		p->at++;
	end = p->at;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (is_word(begin, end, functions[i].name) && accept(p, '('))
			return parse_function(p, functions[i].kind);
	if (accept(p, '[')) {
		n.index = parse_count(p);
		if (n.index < 0 || !accept(p, ']'))
			return fail(p, "an instance's number and ']' are expected");
	}
	n.name = alloc_string_n(begin, (size_t)(end - begin));
	return n.name ? add_node(p, n) : fail(p, "no memory");
}

static uint32_t parse_number(struct parser *p)
{
	struct node n = { .kind = NUMBER };
	char *end;

	if (p->rules == EXPRESSION_V1) {
		n.number = (uint32_t)strtoull(p->at, &end, 10);
	} else {
		n.number = strtod(p->at, &end);
	}
	if (is_name(*end))
		return fail(p, "a number or a name is expected");
	p->at = end;
	return add_node(p, n);
}

static uint32_t zero(struct parser *p)
{
	return add_node(p, (struct node){ .kind = NUMBER });
}

/* Behind its '('. */
static uint32_t parse_bracket(struct parser *p)
{
	uint32_t inner = parse_sum(p);

	if (inner != NONE && !accept(p, ')') && p->rules == EXPRESSION_ORDINARY)
		return fail(p, "')' is expected");
	return inner;
}

static uint32_t parse_negative(struct parser *p);

static uint32_t parse_operand(struct parser *p)
{
	char c = peek(p);

	if (accept(p, '('))
		return parse_bracket(p);
	if (isdigit((unsigned char)c))
		return parse_number(p);
	if (isalpha((unsigned char)c) || c == '_')
		return parse_name(p);
	if (p->rules == EXPRESSION_V1 && (!c || strchr("+-*/)", c)))
		return zero(p);
	if (accept(p, '-'))
		return parse_negative(p);
	return fail(p, c ? "an operand is expected" : "an operand is missing");
}

static uint32_t parse_factor(struct parser *p)
{
	uint32_t n;

	if (p->depth == DEPTH_MAX)
		return fail(p, "brackets or signs are nested too deeply");
	p->depth++;
	n = parse_operand(p);
	p->depth--;
	return n;
}

/* left op right; NONE if one of them is */
static uint32_t join(struct parser *p, enum kind kind, uint32_t left, uint32_t right)
{
	if (left == NONE || right == NONE)
		return NONE;
	return add_node(p, (struct node){ .kind = kind, .left = left, .right = right });
}

/* Behind its '-'. */
static uint32_t parse_negative(struct parser *p)
{
	uint32_t nothing = zero(p);

	return join(p, SUBTRACT, nothing, parse_factor(p));
}

static uint32_t parse_product(struct parser *p)
{
	uint32_t left = parse_factor(p);

	while (left != NONE) {
		if (accept(p, '*'))
			left = join(p, MULTIPLY, left, parse_factor(p));
		else if (accept(p, '/'))
			left = join(p, DIVIDE, left, parse_factor(p));
		else
			break;
	}
	return left;
}

/* EXPRESSION_V1: the rest is the right operand. */
static uint32_t parse_rest(struct parser *p, enum kind kind, uint32_t left)
{
	uint32_t right;

	if (p->depth == DEPTH_MAX)
		return fail(p, "too many terms");
	p->depth++;
	right = parse_sum(p);
	p->depth--;
	return join(p, kind, left, right);
}

static uint32_t parse_sum(struct parser *p)
{
	uint32_t left = parse_product(p);

	while (left != NONE) {
		enum kind kind = peek(p) == '+' ? ADD : SUBTRACT;

		if (!accept(p, '+') && !accept(p, '-'))
			break;
		if (p->rules == EXPRESSION_V1)
			return parse_rest(p, kind, left);
		left = join(p, kind, left, parse_product(p));
	}
	return left;
}

struct expression *expression_parse(const char *text, enum expression_rules rules, char *error)
{
	struct parser p = { .e = alloc_zero(1, sizeof(*p.e)),
			    .text = text,
			    .at = text,
			    .rules = rules,
			    .error = error };

	error[0] = '\0';
	if (!p.e) {
		fail(&p, "no memory");
		return NULL;
	}
	p.e->root = parse_sum(&p);
	if (p.e->root != NONE && peek(&p) && !(rules == EXPRESSION_V1 && *p.at == ')'))
		p.e->root = fail(&p, "an operator is expected");
	if (p.e->root != NONE)
		return p.e;
	expression_free(p.e);
	return NULL;
}

void expression_free(struct expression *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->nr; i++)
		alloc_free(e->nodes[i].name);
	alloc_free(e->nodes);
	alloc_free(e);
}

static bool names_of_function(const struct node *n, expression_name_fn fn, void *arg)
{
	for (int32_t i = 0; i < n->index; i++)
		if (!fn(n->name, i, arg))
			return false;
	return true;
}

/* Nodes are in the order of the text. */
bool expression_names(const struct expression *e, expression_name_fn fn, void *arg)
{
	for (uint32_t i = 0; i < e->nr; i++) {
		const struct node *n = &e->nodes[i];

		if (n->kind == NAME && !fn(n->name, n->index, arg))
			return false;
		if (n->kind >= SUM && !names_of_function(n, fn, arg))
			return false;
	}
	return true;
}

struct evaluation {
	const struct expression *e;
	expression_value_fn fn;
	void *arg;
	bool lacks, divides_by_zero;
};

static double value_of_name(struct evaluation *v, const char *name, int32_t index)
{
	double value = 0;

	if (!v->fn(name, index, v->arg, &value))
		v->lacks = true;
	return value;
}

static double value_of_function(struct evaluation *v, const struct node *n)
{
	double sum = 0, least = DBL_MAX, most = 0;

	for (int32_t i = 0; i < n->index; i++) {
		double one = value_of_name(v, n->name, i);

		sum += one;
		least = one < least ? one : least;
		most = one > most ? one : most;
	}
	switch (n->kind) {
	case AVERAGE:
		return sum / n->index;
	case MIN:
		return least;
	case MAX:
		return most;
	default:
		return sum;
	}
}

static double divide(struct evaluation *v, double a, double b)
{
	if (b != 0)
		return a / b;
	v->divides_by_zero = true;
	return 0;
}

static double apply(struct evaluation *v, enum kind kind, double a, double b)
{
	switch (kind) {
	case ADD:
		return a + b;
	case SUBTRACT:
		return a - b;
	case MULTIPLY:
		return a * b;
	default:
		return divide(v, a, b);
	}
}

/* The children of a node stand before it: a value for each node, from the first on. */
static double value_of_tree(struct evaluation *v, double *values)
{
	for (uint32_t i = 0; i < v->e->nr; i++) {
		const struct node *n = &v->e->nodes[i];

		if (n->kind == NUMBER)
			values[i] = n->number;
		else if (n->kind == NAME)
			values[i] = value_of_name(v, n->name, n->index);
		else if (n->kind >= SUM)
			values[i] = value_of_function(v, n);
		else
			values[i] = apply(v, n->kind, values[n->left], values[n->right]);
	}
	return values[v->e->root];
}

bool expression_value(const struct expression *e, expression_value_fn fn, void *arg, double *value)
{
	struct evaluation v = { .e = e, .fn = fn, .arg = arg };
	double *values = alloc_zero(e->nr, sizeof(*values));
	double result;

	if (!values)
		return false;
	result = value_of_tree(&v, values);
	alloc_free(values);
	*value = v.divides_by_zero ? 0 : result;
	return !v.lacks;
}
