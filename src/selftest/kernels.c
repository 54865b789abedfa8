/* SPDX-License-Identifier: MIT */
/* kernels.c - compiles the kernels of the self-test at run time
 *
 * The source is OpenCL C for comgr and HIP for hipRTC. It uses the compiler's builtins alone, so
 * that no device library and no header has to be found.
 *
 * AMD's headers need not be installed: what is used of comgr and hipRTC is declared here. The
 * numbers of comgr's actions changed with version 3 (ROCm 6.4).
 */
#include "selftest/kernels.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
	"#ifdef __OPENCL_C_VERSION__\n"
	"#define KERNEL __kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
	"#define GLOBAL __global\n"
	"#define ADD(at) __opencl_atomic_fetch_add((volatile __global atomic_uint *)(at), 1u, \\\n"
	"	__ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE)\n"
	"#else\n"
	"#define KERNEL extern \"C\" __global__ __launch_bounds__(64)\n"
	"#define GLOBAL\n"
	"#define ADD(at) atomicAdd((at), 1u)\n"
	"#endif\n"
	"#define FIRST (__builtin_amdgcn_workgroup_id_x() == 0 && __builtin_amdgcn_workitem_id_x() == 0)\n"
	"KERNEL void " KERNELS_COUNT_A "(GLOBAL unsigned int *counter)\n"
	"{\n"
	"	if (FIRST)\n"
	"		ADD(counter);\n"
	"}\n"
	"KERNEL void " KERNELS_COUNT_B "(GLOBAL unsigned int *counter)\n"
	"{\n"
	"	if (FIRST)\n"
	"		ADD(counter);\n"
	"}\n"
	"KERNEL void " KERNELS_SPIN "(GLOBAL unsigned int *counter, unsigned int rounds)\n"
	"{\n"
	"	unsigned int x = counter[1] | 1u, i;\n"
	"	for (i = 0; i < rounds; i++) {\n"
	"		x ^= x << 13;\n"
	"		x ^= x >> 17;\n"
	"		x ^= x << 5;\n"
	"	}\n"
	"	if (x == 0u)\n" /* never; so that the loop is kept */
	"		counter[2] = x;\n"
	"	if (FIRST)\n"
	"		ADD(counter);\n"
	"}\n";

static int fail(char error[KERNELS_ERROR_SIZE], const char *what, const char *why)
{
	snprintf(error, KERNELS_ERROR_SIZE, "%s: %s", what, why);
	return -1;
}

/* Opens the first library of a list that ends in NULL. */
static void *open_any(const char *const *names)
{
	void *lib = NULL;

	while (!lib && *names)
		lib = dlopen(*names++, RTLD_NOW | RTLD_LOCAL);
	return lib;
}

/* ---- comgr ----------------------------------------------------------------------------------- */

typedef struct {
	uint64_t handle;
} handle_t;

enum { LANGUAGE_OPENCL_2_0 = 2, DATA_SOURCE = 1, DATA_LOG = 5, DATA_EXECUTABLE = 8 };

struct comgr {
	void (*get_version)(size_t *major, size_t *minor);
	int (*create_data)(int kind, handle_t *data);
	int (*set_data)(handle_t data, size_t size, const char *bytes);
	int (*set_data_name)(handle_t data, const char *name);
	int (*get_data)(handle_t data, size_t *size, char *bytes);
	int (*release_data)(handle_t data);
	int (*create_data_set)(handle_t *set);
	int (*data_set_add)(handle_t set, handle_t data);
	int (*get_of_set)(handle_t set, int kind, size_t index, handle_t *data);
	int (*destroy_data_set)(handle_t set);
	int (*create_action_info)(handle_t *info);
	int (*set_isa_name)(handle_t info, const char *isa);
	int (*set_language)(handle_t info, int language);
	int (*set_options)(handle_t info, const char *options[], size_t nr);
	int (*set_logging)(handle_t info, _Bool on);
	int (*destroy_action_info)(handle_t info);
	int (*do_action)(int action, handle_t info, handle_t input, handle_t result);
};

static const char *const comgr_names[] = {
	"amd_comgr_get_version",
	"amd_comgr_create_data",
	"amd_comgr_set_data",
	"amd_comgr_set_data_name",
	"amd_comgr_get_data",
	"amd_comgr_release_data",
	"amd_comgr_create_data_set",
	"amd_comgr_data_set_add",
	"amd_comgr_action_data_get_data",
	"amd_comgr_destroy_data_set",
	"amd_comgr_create_action_info",
	"amd_comgr_action_info_set_isa_name",
	"amd_comgr_action_info_set_language",
	"amd_comgr_action_info_set_option_list",
	"amd_comgr_action_info_set_logging",
	"amd_comgr_destroy_action_info",
	"amd_comgr_do_action",
};
_Static_assert(sizeof(struct comgr) ==
		       sizeof(comgr_names) / sizeof(comgr_names[0]) * sizeof(void *),
	       "a function for each name");

static int comgr_load(struct comgr *c)
{
	static const char *const libs[] = { "libamd_comgr.so.3", "libamd_comgr.so.2",
					    "libamd_comgr.so", NULL };
	void *lib = open_any(libs), **at = (void **)(void *)c;

	for (size_t i = 0; i < sizeof(comgr_names) / sizeof(comgr_names[0]); i++) {
		at[i] = lib ? dlsym(lib, comgr_names[i]) : NULL;
		if (!at[i])
			return -1;
	}
	return 0;
}

/* Copies the first item of a kind out of a set; NULL: there is none. */
static void *take_data(const struct comgr *c, handle_t set, int kind, size_t *size)
{
	handle_t data;
	char *bytes = NULL;

	if (c->get_of_set(set, kind, 0, &data))
		return NULL;
	*size = 0;
	if (c->get_data(data, size, NULL) == 0)
		bytes = malloc(*size + 1);
	if (bytes && c->get_data(data, size, bytes)) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes)
		bytes[*size] = 0;
	c->release_data(data);
	return bytes;
}

/* One action from `in` to a new set; on failure `error` has the begin of the compiler's log. */
static int act(const struct comgr *c, int action, handle_t info, handle_t in, handle_t *out,
	       const char *what, char error[KERNELS_ERROR_SIZE])
{
	size_t size;
	char *log;

	if (c->create_data_set(out))
		return fail(error, what, "no data set");
	if (c->do_action(action, info, in, *out) == 0)
		return 0;
	log = take_data(c, *out, DATA_LOG, &size);
	fail(error, what, log && *log ? log : "comgr reports no reason");
	free(log);
	return -1;
}

static int comgr_build(const struct comgr *c, handle_t info, handle_t input, size_t major,
		       struct kernels_code *out, char error[KERNELS_ERROR_SIZE])
{
	/* COMPILE_SOURCE_TO_BC, CODEGEN_BC_TO_RELOCATABLE, LINK_RELOCATABLE_TO_EXECUTABLE */
	const int actions[] = { 2, major < 3 ? 6 : 4, major < 3 ? 9 : 7 };
	static const char *const whats[] = { "comgr: compile", "comgr: generate", "comgr: link" };
	handle_t sets[4] = { input };
	int err = 0, nr = 0;

	while (!err && nr < 3) {
		/* the options are the compiler's: the linker takes none */
		if (nr)
			c->set_options(info, NULL, 0);
		err = act(c, actions[nr], info, sets[nr], &sets[nr + 1], whats[nr], error);
		nr++;
	}
	if (!err) {
		out->bytes = take_data(c, sets[3], DATA_EXECUTABLE, &out->size);
		if (!out->bytes)
			err = fail(error, "comgr", "has made no code object");
	}
	while (nr)
		c->destroy_data_set(sets[nr--]);
	return err;
}

static int compile_with_comgr(const char *isa, struct kernels_code *out,
			      char error[KERNELS_ERROR_SIZE])
{
	const char *options[] = { "-O2", "-cl-std=CL2.0", "-nogpulib" };
	handle_t data = { 0 }, input = { 0 }, info = { 0 };
	size_t major = 0, minor = 0;
	struct comgr c;
	int err;

	if (comgr_load(&c))
		return fail(error, "libamd_comgr", "is not there, or can't be loaded");
	c.get_version(&major, &minor);
	snprintf(out->compiler, sizeof(out->compiler), "comgr %zu.%zu", major, minor);
	if (c.create_data(DATA_SOURCE, &data) || c.set_data(data, sizeof(source) - 1, source) ||
	    c.set_data_name(data, "selftest.cl") || c.create_data_set(&input) ||
	    c.data_set_add(input, data) || c.create_action_info(&info) ||
	    c.set_language(info, LANGUAGE_OPENCL_2_0) || c.set_logging(info, 1) ||
	    c.set_options(info, options, sizeof(options) / sizeof(options[0])))
		err = fail(error, "comgr", "does not take the source");
	else if (c.set_isa_name(info, isa))
		err = fail(error, "comgr does not know the GPU's ISA", isa);
	else
		err = comgr_build(&c, info, input, major, out, error);
	if (info.handle)
		c.destroy_action_info(info);
	if (input.handle)
		c.destroy_data_set(input);
	if (data.handle)
		c.release_data(data);
	return err;
}

/* ---- hipRTC ---------------------------------------------------------------------------------- */

struct hiprtc {
	int (*version)(int *major, int *minor);
	int (*create)(void **program, const char *src, const char *name, int nr_headers,
		      const char **headers, const char **names);
	int (*compile)(void *program, int nr_options, const char **options);
	int (*log_size)(void *program, size_t *size);
	int (*log)(void *program, char *text);
	int (*code_size)(void *program, size_t *size);
	int (*code)(void *program, char *bytes);
	int (*destroy)(void **program);
};

/* HIP 5 has hipRTC in its own library, which calls comgr without a look whether it is there. */
static int hiprtc_load(struct hiprtc *h, _Bool has_comgr)
{
	static const char *const libs[] = { "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
					    "libhiprtc.so", NULL };
	static const char *const hips[] = { "libamdhip64.so.7", "libamdhip64.so.6",
					    "libamdhip64.so.5", "libamdhip64.so", NULL };
	static const char *const names[] = { "hiprtcVersion",	     "hiprtcCreateProgram",
					     "hiprtcCompileProgram", "hiprtcGetProgramLogSize",
					     "hiprtcGetProgramLog",  "hiprtcGetCodeSize",
					     "hiprtcGetCode",	     "hiprtcDestroyProgram" };
	void *lib = open_any(libs), **at = (void **)(void *)h;

	if (!lib && has_comgr)
		lib = open_any(hips);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		at[i] = lib ? dlsym(lib, names[i]) : NULL;
		if (!at[i])
			return -1;
	}
	return 0;
}

static int hiprtc_build(const struct hiprtc *h, void *program, const char *arch,
			struct kernels_code *out, char error[KERNELS_ERROR_SIZE])
{
	const char *options[] = { arch, "-O2" };
	size_t size = 0;
	char *log;

	if (h->compile(program, 2, options)) {
		log = h->log_size(program, &size) == 0 && size ? calloc(1, size + 1) : NULL;
		if (log)
			h->log(program, log);
		fail(error, "hipRTC", log && *log ? log : "reports no reason");
		free(log);
		return -1;
	}
	if (h->code_size(program, &out->size) || !(out->bytes = malloc(out->size)) ||
	    h->code(program, out->bytes))
		return fail(error, "hipRTC", "gives no code");
	return 0;
}

static int compile_with_hiprtc(const char *isa, struct kernels_code *out,
			       char error[KERNELS_ERROR_SIZE])
{
	const char *target = strstr(isa, "gfx");
	char arch[128];
	struct comgr comgr;
	struct hiprtc h;
	void *program = NULL;
	int major = 0, minor = 0, err;

	if (hiprtc_load(&h, comgr_load(&comgr) == 0))
		return fail(error, "hipRTC", "is not found by the loader, or comgr is not");
	h.version(&major, &minor);
	snprintf(out->compiler, sizeof(out->compiler), "hiprtc %d.%d", major, minor);
	snprintf(arch, sizeof(arch), "--gpu-architecture=%s", target ? target : isa);
	if (h.create(&program, source, "selftest.hip", 0, NULL, NULL))
		return fail(error, "hipRTC", "does not take the source");
	err = hiprtc_build(&h, program, arch, out, error);
	h.destroy(&program);
	return err;
}

/* ---- either ---------------------------------------------------------------------------------- */

int kernels_compile(const char *isa, const char *with, struct kernels_code *out,
		    char error[KERNELS_ERROR_SIZE])
{
	char second[KERNELS_ERROR_SIZE];

	memset(out, 0, sizeof(*out));
	if (with && strcmp(with, "hiprtc") == 0)
		return compile_with_hiprtc(isa, out, error);
	if (compile_with_comgr(isa, out, error) == 0)
		return 0;
	if (with || compile_with_hiprtc(isa, out, second))
		return -1;
	return 0;
}
