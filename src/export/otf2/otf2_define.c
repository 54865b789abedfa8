/* SPDX-License-Identifier: MIT */
/* otf2_define.c - definitions of an archive, each once, when they are used first
 *
 * An archive's own are written at once. Those of a trace that a process of its own writes are noted
 * in the order of their references, and defined again in the archive by otf2_definitions_adopt().
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "export/otf2/otf2_part.h"

struct definition {
	enum otf2_defined kind;
	uint32_t self;
	uint32_t texts[2]; /* of a text its size */
	uint32_t role, type;
	uint32_t parent;
};

static int write_node(struct otf2_archive *a, const struct definition *d, const char *class)
{
	int ret =
		otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteSystemTreeNode(a->defs, d->self,
										   d->texts[0],
										   d->texts[1],
										   d->parent));

	return ret ? ret :
		     otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteSystemTreeNodeDomain(
						   a->defs, d->self,
						   strcmp(class, "machine") == 0 ?
							   OTF2_SYSTEM_TREE_DOMAIN_MACHINE :
							   OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
}

/* A metric and its class have one reference. */
static int write_metric(struct otf2_archive *a, const struct definition *d)
{
	/* the description is the empty text, which is the first */
	int ret =
		otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteMetricMember(
					      a->defs, d->self, d->texts[0], 0,
					      OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_NEXT,
					      OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, d->texts[1]));

	return ret ? ret :
		     otf2_archive_check(a,
					otf2_lib.GlobalDefWriter_WriteMetricClass(
						a->defs, d->self, 1, &d->self,
						OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_GPU));
}

/* `text`: a text, or the class of a node. */
static int define(struct otf2_archive *a, const struct definition *d, const char *text)
{
	int ret;

	if (a->log) {
		ret = otf2_bytes_put(a->log, d, sizeof(*d));
		if (ret == 0 && d->kind == OTF2_A_TEXT)
			ret = otf2_bytes_put(a->log, text, d->texts[0] + 1);
		return ret ? otf2_archive_fail_memory(a) : 0;
	}
	errno = 0;
	switch (d->kind) {
	case OTF2_A_TEXT:
		return otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteString(a->defs, d->self,
										  text));
	case OTF2_AN_ATTRIBUTE:
		return otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteAttribute(
						     a->defs, d->self, d->texts[0], d->texts[1],
						     (OTF2_Type)d->type));
	case OTF2_A_NODE:
		return write_node(a, d, text);
	case OTF2_A_REGION:
		/* the description and the file are the empty text, which is the first */
		return otf2_archive_check(a,
					  otf2_lib.GlobalDefWriter_WriteRegion(
						  a->defs, d->self, d->texts[0], d->texts[0], 0,
						  (OTF2_RegionRole)d->role, (OTF2_Paradigm)d->type,
						  OTF2_REGION_FLAG_NONE, 0, 0, 0));
	case OTF2_A_METRIC:
		return write_metric(a, d);
	case OTF2_NR_DEFINED:
		break;
	}
	return 0;
}

static int define_valid(struct otf2_archive *a, const char *text, uint32_t *ref)
{
	size_t size = strlen(text);
	bool is_new;
	uint64_t number = texts_number(&a->texts, text, size, &is_new);
	struct definition d = { .kind = OTF2_A_TEXT, .self = (uint32_t)number - 1 };

	if (!number || number > UINT32_MAX - 1 || size > UINT32_MAX - 1)
		return otf2_archive_fail_memory(a);
	*ref = d.self;
	d.texts[0] = (uint32_t)size;
	return is_new ? define(a, &d, text) : 0;
}

/* Texts of OTF2 are UTF-8. Of our own databases they are; RPD's have what the program had. */
int otf2_archive_text(struct otf2_archive *a, const char *text, uint32_t *ref)
{
	char *valid = text_valid(text);
	int ret = define_valid(a, valid ? valid : text, ref);

	alloc_free(valid);
	return ret;
}

int otf2_archive_attribute(struct otf2_archive *a, const char *name, const char *description,
			   OTF2_Type type, OTF2_AttributeRef *self)
{
	struct definition d = { .kind = OTF2_AN_ATTRIBUTE, .type = type };
	uint64_t known;
	int ret = otf2_archive_text(a, name, &d.texts[0]);

	if (ret)
		return ret;
	if (map_get(&a->named, d.texts[0], &known)) {
		*self = (OTF2_AttributeRef)known;
		return 0;
	}
	*self = d.self = a->nr_attributes++;
	if (map_put(&a->named, d.texts[0], *self))
		return otf2_archive_fail_memory(a);
	ret = otf2_archive_text(a, description, &d.texts[1]);
	return ret ? ret : define(a, &d, NULL);
}

int otf2_archive_node(struct otf2_archive *a, const char *name, const char *class, uint32_t parent,
		      uint32_t *node)
{
	struct definition d = { .kind = OTF2_A_NODE, .parent = parent };
	uint64_t known;
	int ret = otf2_archive_text(a, name, &d.texts[0]);

	if (ret)
		return ret;
	if (parent != OTF2_UNDEFINED_SYSTEM_TREE_NODE && map_get(&a->nodes, d.texts[0], &known)) {
		*node = (uint32_t)known;
		return 0;
	}
	ret = otf2_archive_text(a, class, &d.texts[1]);
	*node = d.self = a->nr_nodes++;
	if (ret == 0 && parent != OTF2_UNDEFINED_SYSTEM_TREE_NODE &&
	    map_put(&a->nodes, d.texts[0], *node))
		ret = otf2_archive_fail_memory(a);
	return ret ? ret : define(a, &d, class);
}

int otf2_archive_region(struct otf2_archive *a, const char *name, OTF2_RegionRole role,
			OTF2_Paradigm paradigm, uint32_t *region)
{
	struct definition d = { .kind = OTF2_A_REGION, .role = role, .type = paradigm };
	uint64_t known, key;
	int ret = otf2_archive_text(a, *name ? name : "unnamed", &d.texts[0]);

	if (ret)
		return ret;
	key = (uint64_t)d.texts[0] << 32 | (uint64_t)paradigm;
	if (map_get(&a->regions, key, &known)) {
		*region = (uint32_t)known;
		return 0;
	}
	*region = d.self = a->nr_regions++;
	a->has_mpi |= paradigm == OTF2_PARADIGM_MPI;
	return map_put(&a->regions, key, *region) ? otf2_archive_fail_memory(a) :
						    define(a, &d, NULL);
}

int otf2_archive_metric(struct otf2_archive *a, const char *counter, uint32_t *metric)
{
	struct definition d = { .kind = OTF2_A_METRIC };
	uint64_t known;
	int ret = otf2_archive_text(a, counter, &d.texts[0]);

	if (ret == 0 && map_get(&a->metrics, d.texts[0], &known)) {
		*metric = (uint32_t)known;
		return 0;
	}
	if (ret == 0)
		ret = otf2_archive_text(a, "#", &d.texts[1]);
	if (ret)
		return ret;
	*metric = d.self = a->nr_metrics++;
	return map_put(&a->metrics, d.texts[0], *metric) ? otf2_archive_fail_memory(a) :
							   define(a, &d, NULL);
}

/* ---- those of a trace, in the archive ---- */

static int add_ref(struct otf2_archive *a, struct otf2_refs *refs, uint32_t ref)
{
	uint32_t *grown = alloc_grow(refs->all, refs->nr, &refs->max, 64, sizeof(*grown));

	if (!grown)
		return otf2_archive_fail_memory(a);
	refs->all = grown;
	grown[refs->nr++] = ref;
	return 0;
}

/* `texts`: the trace's, by their references there. */
static int adopt_one(struct otf2_archive *a, const struct definition *d, const char *const *texts,
		     uint32_t *ref)
{
	switch (d->kind) {
	case OTF2_AN_ATTRIBUTE:
		return otf2_archive_attribute(a, texts[d->texts[0]], texts[d->texts[1]],
					      (OTF2_Type)d->type, ref);
	case OTF2_A_NODE:
		return otf2_archive_node(a, texts[d->texts[0]], texts[d->texts[1]], 0, ref);
	case OTF2_A_REGION:
		return otf2_archive_region(a, texts[d->texts[0]], (OTF2_RegionRole)d->role,
					   (OTF2_Paradigm)d->type, ref);
	case OTF2_A_METRIC:
		return otf2_archive_metric(a, texts[d->texts[0]], ref);
	default:
		return 0;
	}
}

int otf2_definitions_adopt(struct otf2_archive *a, struct otf2_bytes *from, size_t size,
			   struct otf2_refs refs[OTF2_NR_DEFINED])
{
	size_t end = from->at + size, nr = 0, max = 0;
	const char **texts = NULL, **grown;
	struct definition d;
	uint32_t ref = 0;
	int ret = 0;

	while (ret == 0 && from->at < end && otf2_bytes_get(from, &d, sizeof(d))) {
		if (d.kind == OTF2_A_TEXT) {
			grown = alloc_grow(texts, nr, &max, 64, sizeof(*texts));
			if (!grown) {
				ret = otf2_archive_fail_memory(a);
				break;
			}
			texts = grown;
			texts[nr++] = from->data + from->at;
			ret = otf2_archive_text(a, texts[nr - 1], &ref);
			from->at += d.texts[0] + 1;
		} else {
			ret = adopt_one(a, &d, texts, &ref);
		}
		if (ret == 0)
			ret = add_ref(a, &refs[d.kind], ref);
	}
	alloc_free(texts);
	return ret;
}
