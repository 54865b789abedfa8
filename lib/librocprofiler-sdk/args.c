/* SPDX-License-Identifier: MIT */
/* args.c - librocprofiler-sdk: arguments of calls, with their texts
 *
 * A type is known by its C++ mangling. What a pointer leads to is copied by the kernel: an address that can't be read is shown as a number.
 * Structures other than those of `structs` are not looked into: their pointers are shown as numbers.
 *
 * Owns:     each thread's texts, which stay valid until its next call of this function.
 * Threads:  any.
 * Fails:    without memory for the texts nothing is iterated.
 */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/str.h"
#include "names_enums_gen.h"
#include "sdk.h"

#define TEXTS_SIZE 131072u
#define TEXT_MAX 4096u /* of a string of the program's */

struct member {
	const char *name, *mangled;
	uint16_t offset, size;
};

/* A structure, with its members in the order in which they are shown: AMD's, the last first. */
struct shape {
	const char *name;
	uint32_t size;
	struct member members[4];
};

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

struct text {
	struct str s;
	int32_t derefs, max_derefs;
	bool is_over; /* the call has returned: what it fills is filled */
};

static _Thread_local char *texts;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
	pthread_key_create(&key, free);
}

static char *get_texts(void)
{
	if (!texts) {
		pthread_once(&key_once, make_key);
		texts = malloc(TEXTS_SIZE);
		pthread_setspecific(key, texts);
	}
	return texts;
}

/* Bytes that could be read. */
static size_t read_memory(void *to, const void *from, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)from, size };
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static bool is_in(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

#define IS_IN(name, list) is_in((name), (list), sizeof(list) / sizeof((list)[0]))

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
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
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

/* A number, or a name with one. */
__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	char out[128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(out, sizeof(out), format, ap);
	va_end(ap);
	str_add(&t->s, out);
}

static void add_enum(struct text *t, const char *name, int32_t value)
{
	const struct names_enum *e = enum_of(name);

	for (size_t i = 0; i < sizeof(named_enums) / sizeof(named_enums[0]); i++) {
		size_t length = strlen(named_enums[i].prefix);

		if (strcmp(named_enums[i].name, name) != 0)
			continue;
		for (uint32_t v = 0; e && v < e->nr; v++) {
			if (e->values[v].value != value)
				continue;
			str_add(&t->s, e->values[v].name + length);
			return;
		}
		if (ROCPROFILER_SDK_ABI == 0)
			str_add(&t->s, "Unknown");
		else
			put(t, "%s_UNKNOWN=%d", named_enums[i].prefix, (int)value);
		return;
	}
	put(t, "%d", (int)value);
}

static void add_pointer(struct text *t, const void *p)
{
	put(t, "%s%llx", p ? "0x" : "", (unsigned long long)(uintptr_t)p);
}

/* The shortest that reads back as the same. */
static void add_real(struct text *t, double value, bool is_float)
{
	char out[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(out, sizeof(out), "%.*g", digits, value);
		if (is_float ? strtof(out, NULL) == (float)value : strtod(out, NULL) == value)
			break;
	}
	str_add(&t->s, out);
}

static void add_value(struct text *t, const char *mangled, const void *value, uint32_t size);

static void add_builtin(struct text *t, char type, const void *value)
{
	union {
		int8_t a;
		uint8_t h;
		int16_t s;
		uint16_t t;
		int32_t i;
		uint32_t j;
		int64_t l;
		uint64_t m;
		float f;
		double d;
	} v;

	memcpy(&v, value,
	       strchr("abch", type) ? 1 :
	       strchr("st", type)   ? 2 :
	       strchr("ijf", type)  ? 4 :
				      8);
	switch (type) {
	case 'b':
		str_add(&t->s, v.h ? "true" : "false");
		break;
	case 'c':
		put(t, "%c", v.a);
		break;
	case 'a':
		put(t, "%d", (int)v.a);
		break;
	case 's':
		put(t, "%d", (int)v.s);
		break;
	case 'i':
		put(t, "%d", (int)v.i);
		break;
	case 'h':
		put(t, "%u", (unsigned int)v.h);
		break;
	case 't':
		put(t, "%u", (unsigned int)v.t);
		break;
	case 'j':
		put(t, "%u", (unsigned int)v.j);
		break;
	case 'f':
		add_real(t, (double)v.f, true);
		break;
	case 'd':
		add_real(t, v.d, false);
		break;
	case 'l':
	case 'x':
		put(t, "%lld", (long long)v.l);
		break;
	default:
		put(t, "%llu", (unsigned long long)v.m);
		break;
	}
}

static void add_shape(struct text *t, const struct shape *shape, const char *value)
{
	str_add(&t->s, "{");
	for (int i = 0; i < 4 && shape->members[i].name; i++) {
		const struct member *m = &shape->members[i];

		put(t, "%s%s=", i ? ", " : "", m->name);
		add_value(t, m->mangled, value + m->offset, m->size);
	}
	str_add(&t->s, "}");
}

/* What a class or an enumeration is. */
static void add_named(struct text *t, const char *mangled, const void *value, uint32_t size)
{
	const struct shape *shape;
	uint64_t handle = 0;
	int32_t number = 0;
	char name[64];

	name_of(mangled, name);
	shape = shape_of(name);
	if (shape) {
		add_shape(t, shape, value);
	} else if (is_hsa_handle(name)) {
		bool is_bare = IS_IN(name, bare_handles);

		memcpy(&handle, value, sizeof(handle));
		put(t, "%shandle=%llu%s", is_bare ? "" : "{", (unsigned long long)handle,
		    is_bare ? "" : "}");
	} else if (size == 4) {
		memcpy(&number, value, sizeof(number));
		add_enum(t, name, number);
	} else {
		str_add(&t->s, "{}");
	}
}

/* Bytes of what can be shown behind a pointer; 0: it is not looked into. */
static uint32_t size_behind(const char *mangled)
{
	const struct shape *shape;
	char name[64];

	if (strchr("abch", *mangled))
		return 1;
	if (strchr("st", *mangled))
		return 2;
	if (strchr("ijf", *mangled))
		return 4;
	if (strchr("lmxyd", *mangled))
		return 8;
	if (!isdigit((unsigned char)*mangled))
		return 0;
	name_of(mangled, name);
	shape = shape_of(name);
	if (shape)
		return shape->size;
	if (is_hsa_handle(name))
		return 8;
	return enum_of(name) ? 4 : 0;
}

static const char *skip_qualifiers(const char *mangled)
{
	while (*mangled == 'K' || *mangled == 'V')
		mangled++;
	return mangled;
}

/* false: the address can't be read. */
static bool add_text(struct text *t, const char *p)
{
	char copy[TEXT_MAX];
	size_t to_page = 4096 - ((uintptr_t)p & 4095), n = read_memory(copy, p, to_page);

	if (n && !memchr(copy, 0, n) && n < sizeof(copy))
		n += read_memory(copy + n, p + n, sizeof(copy) - n);
	if (!n)
		return false;
	str_add_n(&t->s, copy, strnlen(copy, n));
	return true;
}

static bool is_opaque(const char *mangled)
{
	char name[64];

	if (!isdigit((unsigned char)*mangled))
		return *mangled == 'v' || *mangled == 'F';
	name_of(mangled, name);
	return strncmp(name, "ihip", 4) == 0 || IS_IN(name, opaque_types);
}

static void add_pointed(struct text *t, const char *pointee, const void *p)
{
	uint64_t copy[8];
	bool is_pointer = *pointee == 'P';
	uint32_t size = is_pointer ? 8 : size_behind(pointee);

	/* void **, and what is behind it, is never followed */
	if (is_pointer && *skip_qualifiers(pointee + 1) == 'v')
		size = 0;
	if (t->derefs < t->max_derefs && size && size <= sizeof(copy) &&
	    read_memory(copy, p, size) == size) {
		t->derefs++;
		add_value(t, pointee, copy, size);
	} else {
		add_pointer(t, p);
	}
}

static void add_value(struct text *t, const char *mangled, const void *value, uint32_t size)
{
	const char *pointee;
	const void *p;

	if (*mangled != 'P') {
		if (isdigit((unsigned char)*mangled))
			add_named(t, mangled, value, size);
		else
			add_builtin(t, *mangled, value);
		return;
	}
	memcpy(&p, value, sizeof(p));
	pointee = skip_qualifiers(mangled + 1);
	if (is_opaque(pointee))
		add_pointer(t, p);
	else if (!p)
		str_add(&t->s, "(null)");
	else if (*pointee == 'c') {
		/* a buffer that the call fills holds no text before */
		if ((mangled[1] != 'K' && !t->is_over) || !add_text(t, p))
			add_pointer(t, p);
	} else
		add_pointed(t, pointee, p);
}

/* What the arguments of a kind are; NULL: they can't be iterated. */
static const char *args_of(const rocprofiler_callback_tracing_record_t *r)
{
	const char *payload = r->payload;

	switch (r->kind) {
	case ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API:
		return payload + offsetof(rocprofiler_callback_tracing_hsa_api_data_t, args);
	case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
	case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
		return payload + offsetof(rocprofiler_callback_tracing_hip_api_data_t, args);
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API:
		return payload + offsetof(rocprofiler_callback_tracing_marker_api_data_t, args);
	case ROCPROFILER_CALLBACK_TRACING_RCCL_API:
		return payload + offsetof(rocprofiler_callback_tracing_rccl_api_data_t, args);
	default:
		return NULL;
	}
}

/* Writes the text of an argument, and returns how many pointers were followed for it. */
static int32_t write_text(const struct tables_param *p, const char *args, int32_t max_derefs,
			  bool is_over, char *out, size_t size)
{
	struct text t = { .max_derefs = max_derefs, .is_over = is_over };

	str_init(&t.s, out, size);
	add_value(&t, p->mangled, args + p->offset, p->size);
	return t.derefs;
}

static void iterate(const rocprofiler_callback_tracing_record_t *r, const char *args,
		    rocprofiler_callback_tracing_operation_args_cb_t callback, int32_t max_derefs,
		    void *data)
{
	const struct tables_function *f = &rccl_callback_kind(r->kind)->functions[r->operation];
	bool is_over = r->phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
	char *out = get_texts();
	size_t used = 0;

	for (uint32_t i = 0; out && i < f->nr_params; i++) {
		const struct tables_param *p = &f->params[i];
		int32_t derefs =
			write_text(p, args, max_derefs, is_over, out + used, TEXTS_SIZE - used);

		if (callback(r->kind, r->operation, i, args + p->offset, p->indirection, p->mangled,
			     p->name, out + used, derefs, data))
			break;
		used += strlen(out + used) + 1;
	}
}

EXPORT rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operation_args(
	rocprofiler_callback_tracing_record_t record,
	rocprofiler_callback_tracing_operation_args_cb_t callback, int32_t max_dereference_count,
	void *user_data)
{
	uint32_t kind = record.kind;
	int saved = errno;
	const char *args;

	if (kind == ROCPROFILER_CALLBACK_TRACING_NONE || kind == SDK_NR_KINDS)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (kind > SDK_NR_KINDS)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	args = args_of(&record);
	if (!args)
		return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	if (callback && record.payload &&
	    (uint64_t)(int64_t)record.operation < rccl_callback_kind(kind)->nr_ops)
		iterate(&record, args, callback, max_dereference_count, user_data);
	errno = saved;
	return ROCPROFILER_STATUS_SUCCESS;
}

#if ROCPROFILER_SDK_ABI > 0
static void iterate_record(const rocprofiler_buffer_tracing_hip_api_ext_record_t *r,
			   rocprofiler_buffer_tracing_operation_args_cb_t callback, void *data)
{
	const struct tables_function *f = &tables_buffer_kinds[r->kind].functions[r->operation];
	const char *args = (const char *)&r->args;
	char *out = get_texts();
	size_t used = 0;

	for (uint32_t i = 0; out && i < f->nr_params; i++) {
		const struct tables_param *p = &f->params[i];

		write_text(p, args, 0, true, out + used, TEXTS_SIZE - used);
		if (callback(r->kind, r->operation, i, args + p->offset, p->indirection, p->mangled,
			     p->name, out + used, data))
			break;
		used += strlen(out + used) + 1;
	}
}

EXPORT rocprofiler_status_t rocprofiler_iterate_buffer_tracing_record_args(
	rocprofiler_record_header_t record, rocprofiler_buffer_tracing_operation_args_cb_t callback,
	void *user_data)
{
	const rocprofiler_buffer_tracing_hip_api_ext_record_t *r = record.payload;
	int saved = errno;

	if (record.category != ROCPROFILER_BUFFER_CATEGORY_TRACING ||
	    record.kind == ROCPROFILER_BUFFER_TRACING_NONE || record.kind == SDK_NR_BUFFER_KINDS)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (record.kind > SDK_NR_BUFFER_KINDS)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (record.kind != ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT &&
	    record.kind != ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT)
		return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	if (callback && r && r->kind == record.kind &&
	    (uint64_t)(int64_t)r->operation < tables_buffer_kinds[record.kind].nr_ops)
		iterate_record(r, callback, user_data);
	errno = saved;
	return ROCPROFILER_STATUS_SUCCESS;
}
#endif
