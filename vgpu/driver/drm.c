/* SPDX-License-Identifier: MIT */
/* drm.c - the requests of a render node that libdrm makes for a runtime
 *
 * Threads:  any.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../engine/gpu.h"
#include "../engine/knobs.h"
#include "drm_abi.h"
#include "driver.h"

#define FAMILY_AI 141u /* of Vega and Aldebaran */
#define DOMAIN_GTT 2u
#define DOMAIN_VRAM 4u
#define GTT_SIZE (64ull << 30)
#define PAGE 4096u

static void put_string(char *out, size_t *len, const char *text)
{
	size_t size = strlen(text);

	if (out)
		memcpy(out, text, size < *len ? size : *len);
	*len = size;
}

static int version(struct drm_version *v)
{
	v->major = 3;
	v->minor = 60;
	v->patch = 0;
	put_string(v->name, &v->name_len, "amdgpu");
	put_string(v->date, &v->date_len, "20150101");
	put_string(v->desc, &v->desc_len, "AMD GPU");
	return 0;
}

/* Copies an answer to the program, as many bytes of it as it asked for; those beyond the answer are
 * 0. */
static int answer(const struct drm_info *info, const void *data, size_t size)
{
	char *out = (char *)(uintptr_t)info->return_ptr;

	if (!out)
		return -EFAULT;
	memcpy(out, data, size < info->return_size ? size : info->return_size);
	if (info->return_size > size)
		memset(out + size, 0, info->return_size - size);
	return 0;
}

static struct drm_dev_info dev_info(unsigned int gpu)
{
	const struct gpu_kind *k = gpu_kind(gpu);
	uint32_t per_engine = k->cus_per_array;
	struct drm_dev_info d = {
		.device_id = k->device_id,
		.family = FAMILY_AI,
		.num_shader_engines = k->shader_engines,
		.num_shader_arrays_per_engine = 1,
		.counter_khz = (uint32_t)(knobs.clock_hz / 1000),
		.max_engine_khz = k->gpu_mhz * 1000ull,
		.max_memory_khz = k->memory_mhz * 1000ull,
		.cu_active_number = k->nr_cus,
		.num_rb_pipes = 16,
		.enabled_rb_pipes_mask = 0xffff,
		.num_hw_gfx_contexts = 8,
		.virtual_address_offset = 1 << 21,
		.virtual_address_max = 1ull << 47,
		.virtual_address_alignment = PAGE,
		.pte_fragment_size = 1 << 21,
		.gart_page_size = PAGE,
		.vram_type = 6, /* HBM */
		.vram_bit_width = k->memory_bits,
	};

	for (uint32_t se = 0; se < k->shader_engines && se < 4; se++)
		d.cu_bitmap[se][0] = per_engine < 32 ? (1u << per_engine) - 1 : UINT32_MAX;
	return d;
}

static int memory_info(unsigned int gpu, const struct drm_info *info)
{
	uint64_t total = knobs.vram_mb << 20, n = memory_used(gpu);
	struct drm_memory_info m = {
		.vram = { total, total, n, total - n },
		.cpu_vram = { total, total, n, total - n },
		.gtt = { GTT_SIZE, GTT_SIZE, 0, GTT_SIZE },
	};
	uint64_t sizes[] = { total, total, GTT_SIZE };

	return info->query == DRM_INFO_MEMORY ? answer(info, &m, sizeof(m)) :
						answer(info, sizes, sizeof(sizes));
}

static int info(unsigned int gpu, const struct drm_info *args)
{
	struct drm_dev_info d;
	uint32_t words[4] = { 0 };

	switch (args->query) {
	case DRM_INFO_ACCEL_WORKING:
		words[0] = 1;
		return answer(args, words, sizeof(words[0]));
	case DRM_INFO_DEV_INFO:
		d = dev_info(gpu);
		return answer(args, &d, sizeof(d));
	case DRM_INFO_READ_MMR_REG:
		/* GB_ADDR_CONFIG */
		words[0] = GPU_ADDR_CONFIG;
		return args->read_mmr_reg.count > 4 ?
			       -EINVAL :
			       answer(args, words, args->read_mmr_reg.count * sizeof(words[0]));
	case DRM_INFO_HW_IP_COUNT:
	case DRM_INFO_HW_IP_INFO:
		/* no rings: all work comes by /dev/kfd */
		return answer(args, words, sizeof(words[0]));
	case DRM_INFO_MEMORY:
	case DRM_INFO_VRAM_GTT:
		return memory_info(gpu, args);
	default:
		return -EINVAL;
	}
}

static int prime(unsigned int number, struct drm_prime *p)
{
	if (number == DRM_PRIME_FD_TO_HANDLE)
		return memory_gem_import(p->fd, &p->handle);
	return memory_gem_export(p->handle, (int)p->flags, &p->fd);
}

static int gem_va(const struct drm_gem_va *a)
{
	switch (a->operation) {
	case DRM_VA_MAP:
	case DRM_VA_REPLACE:
		return memory_gem_map(a->handle, a->va, a->offset, a->size);
	case DRM_VA_UNMAP:
	case DRM_VA_CLEAR:
		return memory_gem_unmap(a->va, a->size);
	default:
		return -EINVAL;
	}
}

static int gem_op(const struct drm_gem_op_args *a)
{
	struct memory_facts facts;
	struct drm_create_info *out = (struct drm_create_info *)(uintptr_t)a->value;
	int err = memory_gem_facts(a->handle, &facts);

	if (err || a->op != DRM_GEM_OP_GET_CREATE_INFO)
		return err ? err : -EINVAL;
	*out = (struct drm_create_info){
		.size = facts.size,
		.alignment = PAGE,
		.domains = facts.is_vram ? DOMAIN_VRAM : DOMAIN_GTT,
	};
	return 0;
}

/* As many bytes of a structure as the program has; the rest is 0. */
#define TAKE(type, name)                                                                           \
	type name = { 0 };                                                                         \
	memcpy(&(name), arg, size < sizeof(name) ? size : sizeof(name))
#define GIVE(name) memcpy(arg, &(name), size < sizeof(name) ? size : sizeof(name))

int drm_request(unsigned int gpu, unsigned int number, void *arg, size_t size)
{
	int ret;

	if (!arg)
		return -EFAULT;
	switch (number) {
	case DRM_VERSION: {
		TAKE(struct drm_version, v);
		ret = version(&v);
		GIVE(v);
		return ret;
	}
	case DRM_AMDGPU_INFO: {
		TAKE(struct drm_info, i);
		return info(gpu, &i);
	}
	case DRM_PRIME_FD_TO_HANDLE:
	case DRM_PRIME_HANDLE_TO_FD: {
		TAKE(struct drm_prime, p);
		ret = prime(number, &p);
		GIVE(p);
		return ret;
	}
	case DRM_GEM_CLOSE: {
		TAKE(struct drm_gem_close, c);
		return memory_gem_close(c.handle);
	}
	case DRM_AMDGPU_GEM_MMAP: {
		TAKE(union drm_gem_mmap, m);
		ret = memory_gem_offset(m.in.handle, &m.offset);
		GIVE(m);
		return ret;
	}
	case DRM_AMDGPU_GEM_VA: {
		TAKE(struct drm_gem_va, v);
		return gem_va(&v);
	}
	case DRM_AMDGPU_GEM_METADATA: {
		TAKE(struct drm_gem_metadata, m);
		ret = memory_gem_metadata(m.handle, m.op == DRM_METADATA_SET, &m.data);
		GIVE(m);
		return ret;
	}
	case DRM_AMDGPU_GEM_OP: {
		TAKE(struct drm_gem_op_args, o);
		return gem_op(&o);
	}
	default:
		return -EINVAL;
	}
}
