/* SPDX-License-Identifier: MIT */
/* arg_types.c - librocprofiler-sdk: what the types of arguments are, by their C++ manglings
 *
 * The manglings are constants, so a type that was looked up is known by its address from then on.
 *
 * Owns:     the types that were looked up; they are never freed.
 * Threads:  any.
 * Fails:    without memory a type is looked up each time.
 */
#include "arg_types.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"

static const struct shape shapes[] = {
	{ "rocprofiler_dim3_t",
	  12,
	  { { "z", "j", 8, 4 }, { "y", "j", 4, 4 }, { "x", "j", 0, 4 } } },
	{ "dim3", 12, { { "z", "j", 8, 4 }, { "y", "j", 4, 4 }, { "x", "j", 0, 4 } } },
	{ "hsa_dim3_s", 12, { { "z", "j", 8, 4 }, { "y", "j", 4, 4 }, { "x", "j", 0, 4 } } },
	{ "hipExtent",
	  24,
	  { { "depth", "m", 16, 8 }, { "height", "m", 8, 8 }, { "width", "m", 0, 8 } } },
	{ "hipPitchedPtr",
	  32,
	  { { "ysize", "m", 24, 8 },
	    { "xsize", "m", 16, 8 },
	    { "pitch", "m", 8, 8 },
	    { "ptr", "Pv", 0, 8 } } },
	{ "hipMemLocation", 8, { { "type", "18hipMemLocationType", 0, 4 }, { "id", "i", 4, 4 } } },
	{ "hsa_pitched_ptr_s",
	  24,
	  { { "slice", "m", 16, 8 }, { "pitch", "m", 8, 8 }, { "base", "Pv", 0, 8 } } },
};

/* Enumerations that are shown by name, without this prefix. */
static const struct {
	const char *name, *prefix;
} named_enums[] = {
	{ "hipMemcpyKind", "hipMemcpy" },
	{ "hipGraphNodeType", "hipGraphNodeType" },
	{ "hipGraphInstantiateResult", "hipGraphInstantiate" },
	{ "hipMemAllocationType", "hipMemAllocationType" },
	{ "hipMemLocationType", "hipMemLocationType" },
	{ "hipMemAllocationHandleType", "hipMemHandleType" },
	{ "hsa_access_permission_t", "HSA_ACCESS_PERMISSION_" },
};

/* Handles of HSA that are shown without braces. */
static const char *const bare_handles[] = { "hsa_agent_s", "hsa_amd_memory_pool_s",
					    "hsa_amd_vmem_alloc_handle_s", "hsa_ext_program_s" };
/* Types that no header completes, beside those that begin with "ihip". */
static const char *const opaque_types[] = {
	"hipGraphNode",	 "hipGraphExec",	 "hipArray",	    "hipMipmappedArray",
	"hipUserObject", "__hip_texture",	 "ncclComm",	    "ncclWindow",
	"__hip_surface", "_hipGraphicsResource", "BrigModuleHeader"
};

static bool is_in(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

#define IS_IN(name, list) is_in((name), (list), ARRAY_SIZE(list))

/* `10hipError_t` -> hipError_t */
static void name_of(const char *mangled, char name[64])
{
	size_t length = 0;

	for (; isdigit((unsigned char)*mangled); mangled++)
		length = length * 10 + (size_t)(*mangled - '0');
	length = length < 64 ? length : 63;
	memcpy(name, mangled, strnlen(mangled, length));
	name[strnlen(mangled, length)] = '\0';
}

static const struct shape *shape_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (strcmp(shapes[i].name, name) == 0)
			return &shapes[i];
	return NULL;
}

static bool is_hsa_handle(const char *name)
{
	static const char *const handles[] = {
		"hsa_agent_s",
		"hsa_amd_memory_pool_s",
		"hsa_amd_vmem_alloc_handle_s",
		"hsa_ext_program_s",
		"hsa_cache_s",
		"hsa_callback_data_s",
		"hsa_code_object_s",
		"hsa_code_object_reader_s",
		"hsa_code_symbol_s",
		"hsa_executable_s",
		"hsa_executable_symbol_s",
		"hsa_ext_image_s",
		"hsa_ext_sampler_s",
		"hsa_isa_s",
		"hsa_loaded_code_object_s",
		"hsa_region_s",
		"hsa_signal_group_s",
		"hsa_signal_s",
		"hsa_wavefront_s",
	};

	return IS_IN(name, handles);
}

static const struct names_enum *enum_of(const char *name)
{
	for (uint32_t i = 0; i < names_enums_nr; i++)
		if (strcmp(names_enums[i].name, name) == 0)
			return &names_enums[i];
	return NULL;
}

static const char *prefix_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(named_enums); i++)
		if (strcmp(named_enums[i].name, name) == 0)
			return named_enums[i].prefix;
	return NULL;
}

static void look_up(const char *mangled, struct arg_type *t)
{
	char name[64];

	name_of(mangled, name);
	*t = (struct arg_type){
		.mangled = mangled,
		.shape = shape_of(name),
		.values = enum_of(name),
		.prefix = prefix_of(name),
		.is_handle = is_hsa_handle(name),
		.is_bare = IS_IN(name, bare_handles),
		.is_opaque = strncmp(name, "ihip", 4) == 0 || IS_IN(name, opaque_types),
	};
	t->size = t->shape ? t->shape->size : t->is_handle ? 8 : t->values ? 4 : 0;
}

/* A power of two, several times the number of types. */
#define NR_SLOTS 4096u
#define NR_TRIES 16u
static _Atomic(const struct arg_type *) known[NR_SLOTS];

static const struct arg_type *keep(_Atomic(const struct arg_type *) *slot, const struct arg_type *t)
{
	const struct arg_type *there = NULL;
	struct arg_type *copy = alloc_heap(sizeof(*copy));

	if (!copy)
		return t;
	*copy = *t;
	/* release: pairs with arg_type_of() */
	if (atomic_compare_exchange_strong_explicit(slot, &there, copy, memory_order_release,
						    memory_order_relaxed))
		return copy;
	/* another thread's is there: looked up once more, next time */
	alloc_free(copy);
	return t;
}

const struct arg_type *arg_type_of(const char *mangled, struct arg_type *own)
{
	uint32_t at = (uint32_t)((uintptr_t)mangled * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	for (uint32_t i = 0; i < NR_TRIES; i++, at++) {
		_Atomic(const struct arg_type *) *slot = &known[at % NR_SLOTS];
		/* acquire: pairs with keep() */
		const struct arg_type *t = atomic_load_explicit(slot, memory_order_acquire);

		if (t && t->mangled == mangled)
			return t;
		if (t)
			continue;
		look_up(mangled, own);
		return keep(slot, own);
	}
	look_up(mangled, own);
	return own;
}
