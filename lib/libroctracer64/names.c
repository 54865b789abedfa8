/* SPDX-License-Identifier: MIT */
/* names.c - operations by name and by number
 *
 * HIP's numbers and names are the runtime's that is in the process; only without one are they those
 * of the headers that this was built with.
 *
 * Threads:  any.
 */
#include <string.h>

#include "facade.h"
#include "roctracer/roctracer_roctx.h"
#include "roctracer_ops_gen.h"

enum { HIP_OP_DISPATCH, HIP_OP_COPY, HIP_OP_BARRIER, NR_HIP_OPS };
#define NR_EXT_OPS 2u

static const char *const hsa_names[] = {
#define X(name) #name,
	ROCTRACER_HSA_LIST(X)
#undef X
};
#define NR_HSA (sizeof(hsa_names) / sizeof(hsa_names[0]))

static const char *const hsa_ops[] = { "DISPATCH", "COPY", "BARRIER", "PCSAMPLE" };
static const char *const hsa_events[] = { "ALLOCATE", "DEVICE",	 "MEMCOPY",
					  "SUBMIT",   "KSYMBOL", "CODEOBJ" };
static const char *const roctx_names[ROCTX_API_ID_NUMBER] = {
	"roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA", "roctxRangeStop",
};
#define NR_HSA_OPS (sizeof(hsa_ops) / sizeof(hsa_ops[0]))
#define NR_HSA_EVENTS (sizeof(hsa_events) / sizeof(hsa_events[0]))

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
#define MAX_COMMANDS 64u /* more than any HIP has */

typedef const char *(*name_fn)(uint32_t number);

/* HIP's function of that name. It is looked up once: HIP is not unloaded. */
static name_fn hip_function(_Atomic name_fn *known, const char *name)
{
	/* relaxed: the address of a function, with no data of this library behind it */
	name_fn fn = atomic_load_explicit(known, memory_order_relaxed);

	if (fn || !link_core())
		return fn;
	fn = (name_fn)link_core()->hip_find(name);
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
		return NR_HSA + 1; /* and DISPATCH, which has no name */
	case ACTIVITY_DOMAIN_HSA_OPS:
		return NR_HSA_OPS;
	case ACTIVITY_DOMAIN_HIP_OPS:
		return NR_HIP_OPS;
	case ACTIVITY_DOMAIN_HIP_API:
		last = link_core() ? link_core()->activity_last_id() : 0;
		return (last ? last : ROCTRACER_HIP_LAST) + 1;
	case ACTIVITY_DOMAIN_ROCTX:
		return ROCTX_API_ID_NUMBER;
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

/* The operation as which HIP reports a command of that kind: up to 5.3 all but kernels are
 * copies. */
static uint32_t op_of_command(uint32_t kind)
{
	const char *name = command_name(kind);

	if (kind == FIRST_COMMAND)
		return HIP_OP_DISPATCH;
	if (link_core() && link_core()->hip_find("hipRegisterActivityCallback"))
		return HIP_OP_COPY;
	if (strcmp(name, "Task") == 0)
		return HIP_OP_DISPATCH;
	return strcmp(name, "Marker") == 0 ? HIP_OP_BARRIER : HIP_OP_COPY;
}

/* By a command's name; NR_HIP_OPS: there is none. */
static uint32_t command_code(const char *name, uint32_t *kind)
{
	if (strncmp(name, "Unknown", strlen("Unknown")) == 0)
		return NR_HIP_OPS;
	for (uint32_t i = 0; i <= MAX_COMMANDS; i++) {
		*kind = i ? FIRST_COMMAND + i - 1 : 0;
		if (strcmp(command_name(*kind), name) == 0)
			return op_of_command(*kind);
	}
	return NR_HIP_OPS;
}

/* `nr`: the name is not among them. */
static uint32_t find_name(const char *const *names, size_t nr, const char *name)
{
	uint32_t i = 0;

	while (i < nr && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* false: there is no such operation, and *op is not one. */
static bool find_code(uint32_t domain, const char *name, uint32_t *op, uint32_t *kind)
{
	switch (domain) {
	case ACTIVITY_DOMAIN_HIP_API:
		*op = hip_code(name);
		return *op != 0;
	case ACTIVITY_DOMAIN_HIP_OPS:
		*op = command_code(name, kind);
		return *op < NR_HIP_OPS;
	case ACTIVITY_DOMAIN_HSA_API:
		*op = find_name(hsa_names, NR_HSA, name);
		if (*op < NR_HSA)
			return true;
		*op = NR_HSA + 1; /* behind DISPATCH, which has no name */
		return false;
	case ACTIVITY_DOMAIN_HSA_OPS:
		*op = find_name(hsa_ops, NR_HSA_OPS, name);
		return *op < NR_HSA_OPS;
	case ACTIVITY_DOMAIN_HSA_EVT:
		*op = find_name(hsa_events, NR_HSA_EVENTS, name);
		return *op < NR_HSA_EVENTS;
	case ACTIVITY_DOMAIN_ROCTX:
		*op = find_name(roctx_names, ROCTX_API_ID_NUMBER, name);
		return *op < ROCTX_API_ID_NUMBER;
	default: /* EXT_API has one name, and records of one operation */
		*op = strcmp(name, "EXT_API") == 0 ? ACTIVITY_EXT_OP_EXTERN_ID : NR_EXT_OPS;
		return *op < NR_EXT_OPS;
	}
}

enum error names_code(uint32_t domain, const char *name, uint32_t *op, uint32_t *kind)
{
	uint32_t its_kind = 0;

	if (!names_nr_ops(domain) && domain != ACTIVITY_DOMAIN_EXT_API)
		return error_set(ERROR_DOMAIN, "roctracer_op_code", "names_code",
				 "invalid domain ID(%u)", domain);
	if (!name || !op)
		return error_set(ERROR_ARGUMENT, "roctracer_op_code", "names_code",
				 "NULL argument");
	if (!find_code(domain, name, op, &its_kind))
		return error_set(ERROR_ARGUMENT, "roctracer_op_code", "names_code",
				 "Invalid API name \"%s\", domain ID(%u)", name, domain);
	if (kind)
		*kind = its_kind;
	return ERROR_NONE;
}
