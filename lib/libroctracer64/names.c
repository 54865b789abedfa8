/* SPDX-License-Identifier: MIT */
/* names.c - operations by name and by number
 *
 * HIP's numbers and names are the runtime's that is in the process; only without one are they those of
 * the headers that this was built with.
 *
 * Threads:  any.
 */
#include <string.h>

#include "facade.h"
#include "roctracer_ops_gen.h"

#define NR_HIP_OPS 3u
#define NR_HSA_OPS 4u
#define NR_HSA_EVENTS 6u
#define NR_ROCTX 5u

static const char *const hsa_names[] = {
#define X(name) #name,
	ROCTRACER_HSA_LIST(X)
#undef X
};
#define NR_HSA (sizeof(hsa_names) / sizeof(hsa_names[0]))

static const struct {
	uint32_t id;
	const char *name;
} hip_names[] = {
#define X(name, id) { id, #name },
	ROCTRACER_HIP_LIST(X)
#undef X
};

static const char *const commands[] = {
	"KernelExecution",
	"Task",
	"NativeKernel",
	"CopyDeviceToHost",
	"CopyHostToDevice",
	"CopyDeviceToDevice",
	"ReadImage",
	"WriteImage",
	"CopyImage",
	"CopyImageToBuffer",
	"CopyBufferToImage",
	"MapBuffer",
	"MapImage",
	"UnmapMemObject",
	"Marker",
	"AcquireGLObjects",
	"ReleaseGLObjects",
	"CopyDeviceToHost2D",
	"CopyHostToDevice2D",
	"CopyDeviceToDevice2D",
	"User",
	"Barrier",
	"MigrateMemObjects",
	"FillBuffer",
	"FillImage",
	"SvmFree",
	"SvmMemcpy",
	"SvmMemFill",
	"SvmMap",
	"SvmUnmap",
};
#define FIRST_COMMAND 0x11f0u
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

typedef const char *(*name_fn)(uint32_t number);

/* HIP's function of that name, remembered: it stays. */
static name_fn hip_function(_Atomic name_fn *known, const char *name)
{
	/* relaxed: a function's address, nothing behind it was written by us */
	name_fn fn = atomic_load_explicit(known, memory_order_relaxed);

	if (fn || !stream_core())
		return fn;
	fn = (name_fn)stream_core()->hip_find(name);
	atomic_store_explicit(known, fn, memory_order_relaxed);
	return fn;
}

static const char *hip_name(uint32_t id)
{
	static _Atomic name_fn known;
	name_fn name = hip_function(&known, "hipApiName");

	if (name)
		return name(id);
	for (size_t i = 0; i < sizeof(hip_names) / sizeof(hip_names[0]); i++) {
		if (hip_names[i].id == id)
			return hip_names[i].name;
	}
	return "unknown";
}

static const char *command_name(uint32_t kind)
{
	static _Atomic name_fn known;
	name_fn name = hip_function(&known, "hipGetCmdName");

	if (name)
		return name(kind);
	if (kind == 0)
		return "InternalMarker";
	if (kind >= FIRST_COMMAND && kind - FIRST_COMMAND < NR_COMMANDS)
		return commands[kind - FIRST_COMMAND];
	return "Unknown command type";
}

const char *names_op(uint32_t domain, uint32_t op, uint32_t kind)
{
	static const char *const hsa_ops[] = { "DISPATCH", "COPY", "BARRIER", "PCSAMPLE" };
	static const char *const hsa_events[] = { "ALLOCATE", "DEVICE",	 "MEMCOPY",
						  "SUBMIT",   "KSYMBOL", "CODEOBJ" };

	switch (domain) {
	case ACTIVITY_DOMAIN_HSA_API:
		return op < NR_HSA ? hsa_names[op] : "unknown";
	case ACTIVITY_DOMAIN_HIP_API:
		return hip_name(op);
	case ACTIVITY_DOMAIN_HIP_OPS:
		return command_name(kind);
	case ACTIVITY_DOMAIN_EXT_API:
		return "EXT_API";
	case ACTIVITY_DOMAIN_HSA_OPS:
		if (op < NR_HSA_OPS)
			return hsa_ops[op];
		break;
	case ACTIVITY_DOMAIN_HSA_EVT:
		if (op < NR_HSA_EVENTS)
			return hsa_events[op];
		break;
	default:
		error_set(ERROR_DOMAIN, "roctracer_op_string", "names_op", "invalid domain ID(%u)",
			  domain);
		return NULL;
	}
	error_set(ERROR_ARGUMENT, "roctracer_op_string", "names_op", "invalid op ID(%u)", op);
	return NULL;
}

uint32_t names_nr_ops(uint32_t domain)
{
	uint32_t last;

	switch (domain) {
	case ACTIVITY_DOMAIN_HSA_API:
		return NR_HSA + 1; /* DISPATCH has a number, too */
	case ACTIVITY_DOMAIN_HSA_OPS:
		return NR_HSA_OPS;
	case ACTIVITY_DOMAIN_HIP_OPS:
		return NR_HIP_OPS;
	case ACTIVITY_DOMAIN_HIP_API:
		last = stream_core() ? stream_core()->activity_last_id() : 0;
		return (last ? last : ROCTRACER_HIP_LAST) + 1;
	case ACTIVITY_DOMAIN_ROCTX:
		return NR_ROCTX;
	case ACTIVITY_DOMAIN_HSA_EVT:
		return NR_HSA_EVENTS;
	default:
		return 0;
	}
}

static uint32_t hip_code(const char *name)
{
	uint32_t nr = names_nr_ops(ACTIVITY_DOMAIN_HIP_API);

	for (uint32_t id = 1; id < nr; id++) {
		if (strcmp(hip_name(id), name) == 0 && strcmp(name, "unknown") != 0)
			return id;
	}
	return 0;
}

static uint32_t hsa_code(const char *name)
{
	uint32_t id = 0;

	while (id < NR_HSA && strcmp(hsa_names[id], name) != 0)
		id++;
	return id < NR_HSA ? id : NR_HSA + 1;
}

enum error names_code(uint32_t domain, const char *name, uint32_t *op, uint32_t *kind)
{
	uint32_t code;
	bool found;

	if (domain != ACTIVITY_DOMAIN_HSA_API && domain != ACTIVITY_DOMAIN_HIP_API)
		return error_set(ERROR_DOMAIN, "roctracer_op_code", "names_code",
				 "limited domain ID(%u)", domain);
	if (!name || !op)
		return error_set(ERROR_ARGUMENT, "roctracer_op_code", "names_code",
				 "NULL argument");
	code = domain == ACTIVITY_DOMAIN_HSA_API ? hsa_code(name) : hip_code(name);
	found = domain == ACTIVITY_DOMAIN_HSA_API ? code < NR_HSA : code != 0;
	*op = code;
	if (!found)
		return error_set(ERROR_ARGUMENT, "roctracer_op_code", "names_code",
				 "Invalid API name \"%s\", domain ID(%u)", name, domain);
	if (kind)
		*kind = 0;
	return ERROR_NONE;
}
