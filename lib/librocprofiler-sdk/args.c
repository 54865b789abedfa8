/* SPDX-License-Identifier: MIT */
/* args.c - librocprofiler-sdk: arguments of calls, with their texts
 *
 * A type is known by its C++ mangling (arg_types.c). What a pointer leads to is copied first
 * (arg_memory.c): an address that can't be read is shown as a number. Structures whose members are
 * not known are not looked into: their pointers are shown as numbers.
 *
 * Owns:     each thread's texts, which stay valid until its next call of this function.
 * Threads:  any.
 * Fails:    without memory for the texts nothing is iterated, which a status says.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg_memory.h"
#include "arg_types.h"
#include "base/alloc.h"
#include "base/str.h"
#include "rccl.h"

#define TEXTS_SIZE 131072u
#define TEXT_MAX 4096u /* of a string of the program's */

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
		texts = alloc_heap(TEXTS_SIZE);
		pthread_setspecific(key, texts);
	}
	return texts;
}

static void add_int(struct text *t, int64_t value)
{
	if (value < 0)
		str_add_n(&t->s, "-", 1);
	str_add_uint(&t->s, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void add_enum(struct text *t, const struct arg_type *type, int32_t value)
{
	const struct names_enum *e = type->prefix ? type->values : NULL;

	for (uint32_t v = 0; e && v < e->nr; v++) {
		if (e->values[v].value == value) {
			str_add(&t->s, e->values[v].name + strlen(type->prefix));
			return;
		}
	}
	if (!type->prefix) {
		add_int(t, value);
	} else if (ROCPROFILER_SDK_ABI == 0) {
		str_add(&t->s, "Unknown");
	} else {
		str_add(&t->s, type->prefix);
		str_add(&t->s, "_UNKNOWN=");
		add_int(t, value);
	}
}

static void add_pointer(struct text *t, const void *p)
{
	if (p)
		str_add_n(&t->s, "0x", 2);
	str_add_hex(&t->s, (uintptr_t)p, 1);
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

/* Bytes of a type that has a letter; 0: it has no value. */
static uint32_t size_of_builtin(char type)
{
	switch (type) {
	case 'a':
	case 'b':
	case 'c':
	case 'h':
		return 1;
	case 's':
	case 't':
		return 2;
	case 'f':
	case 'i':
	case 'j':
		return 4;
	case 'd':
	case 'l':
	case 'm':
	case 'x':
	case 'y':
		return 8;
	default:
		return 0;
	}
}

static void add_builtin(struct text *t, char type, const void *value)
{
	uint32_t size = size_of_builtin(type);
	union {
		char c;
		int8_t a;
		uint8_t h;
		int16_t s;
		int32_t i;
		int64_t l;
		uint64_t m;
		float f;
		double d;
	} v = { .m = 0 };

	memcpy(&v, value, size ? size : sizeof(v));
	switch (type) {
	case 'b':
		str_add(&t->s, v.h ? "true" : "false");
		break;
	case 'c':
		str_add_n(&t->s, &v.c, v.c != '\0');
		break;
	case 'a':
		add_int(t, v.a);
		break;
	case 's':
		add_int(t, v.s);
		break;
	case 'i':
		add_int(t, v.i);
		break;
	case 'l':
	case 'x':
		add_int(t, v.l);
		break;
	case 'f':
		add_real(t, (double)v.f, true);
		break;
	case 'd':
		add_real(t, v.d, false);
		break;
	default:
		/* of the first bytes alone: the others are 0 */
		str_add_uint(&t->s, v.m);
		break;
	}
}

static void add_shape(struct text *t, const struct shape *shape, const char *value)
{
	str_add_n(&t->s, "{", 1);
	for (int i = 0; i < 4 && shape->members[i].name; i++) {
		const struct member *m = &shape->members[i];

		if (i)
			str_add_n(&t->s, ", ", 2);
		str_add(&t->s, m->name);
		str_add_n(&t->s, "=", 1);
		add_value(t, m->mangled, value + m->offset, m->size);
	}
	str_add_n(&t->s, "}", 1);
}

static void add_handle(struct text *t, uint64_t handle, bool is_bare)
{
	str_add(&t->s, is_bare ? "handle=" : "{handle=");
	str_add_uint(&t->s, handle);
	if (!is_bare)
		str_add_n(&t->s, "}", 1);
}

/* What a class or an enumeration is. */
static void add_named(struct text *t, const char *mangled, const void *value, uint32_t size)
{
	struct arg_type own;
	const struct arg_type *type = arg_type_of(mangled, &own);
	uint64_t handle;
	int32_t number;

	if (type->shape) {
		add_shape(t, type->shape, value);
	} else if (type->is_handle) {
		memcpy(&handle, value, sizeof(handle));
		add_handle(t, handle, type->is_bare);
	} else if (size == 4) {
		memcpy(&number, value, sizeof(number));
		add_enum(t, type, number);
	} else {
		str_add_n(&t->s, "{}", 2);
	}
}

static bool is_named(const char *mangled)
{
	return *mangled >= '0' && *mangled <= '9';
}

/* Bytes of what can be shown behind a pointer; 0: it is not looked into. */
static uint32_t size_behind(const char *mangled)
{
	struct arg_type own;

	return is_named(mangled) ? arg_type_of(mangled, &own)->size : size_of_builtin(*mangled);
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
	bool is_readable;
	size_t n = arg_memory_read_text(copy, p, sizeof(copy), &is_readable);

	str_add_n(&t->s, copy, n);
	return is_readable;
}

static bool is_opaque(const char *mangled)
{
	struct arg_type own;

	if (!is_named(mangled))
		return *mangled == 'v' || *mangled == 'F';
	return arg_type_of(mangled, &own)->is_opaque;
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
	    arg_memory_read(copy, p, size) == size) {
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
		if (is_named(mangled))
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
#if ROCPROFILER_SDK_ABI > 0
	case ROCPROFILER_CALLBACK_TRACING_OMPT:
		return payload + offsetof(rocprofiler_callback_tracing_ompt_data_t, args);
#endif
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
	char *out = texts;
	size_t used = 0;

	for (uint32_t i = 0; i < f->nr_params; i++) {
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
	if (!get_texts())
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
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
	char *out = texts;
	size_t used = 0;

	for (uint32_t i = 0; i < f->nr_params; i++) {
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
	if (!get_texts())
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	if (callback && r && r->kind == record.kind &&
	    (uint64_t)(int64_t)r->operation < tables_buffer_kinds[record.kind].nr_ops)
		iterate_record(r, callback, user_data);
	errno = saved;
	return ROCPROFILER_STATUS_SUCCESS;
}
#endif
