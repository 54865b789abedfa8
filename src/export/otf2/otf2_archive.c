/* SPDX-License-Identifier: MIT */
/* otf2_archive.c - the archive of OTF2: groups, locations and their events
 *
 * They are defined at the end, since a definition of a location has the number of events. The
 * library writes a location's events to its file whenever its buffer is full. Memory grows with
 * names and locations.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/otf2/otf2_internal.h"
#include "export/otf2/otf2_part.h"
#include "export/otf2/otf2_rma.h"
#include "rtl_version.h"

/* Of each open location, and of the definitions: the sizes of rocprofv3's archives. */
#define EVENT_CHUNK (UINT64_C(2) << 20)
#define DEFINITION_CHUNK (UINT64_C(8) << 20)

static OTF2_FlushType flush(void *arg, OTF2_FileType type, OTF2_LocationRef location, void *caller,
			    bool final)
{
	(void)arg, (void)type, (void)location, (void)caller, (void) final;
	return OTF2_FLUSH;
}

/* The library prints errors unless a function takes them. */
static OTF2_ErrorCode be_silent(void *arg, const char *file, uint64_t line, const char *function,
				OTF2_ErrorCode error, const char *format, va_list args)
{
	(void)arg, (void)file, (void)line, (void)function, (void)format, (void)args;
	return error;
}

int otf2_archive_check(struct otf2_archive *a, OTF2_ErrorCode error)
{
	int number = errno ? -errno : -EIO;

	if (error == OTF2_SUCCESS)
		return 0;
	return job_fail(a->res, number, "the archive can't be written: %s",
			number == -EIO ? otf2_lib.Error_GetDescription(error) : strerror(-number));
}

int otf2_archive_fail_memory(struct otf2_archive *a)
{
	return job_fail(a->res, -ENOMEM, "the archive: out of memory");
}

int otf2_archive_group(struct otf2_archive *a, enum otf2_group kind, int64_t id, const char *name,
		       const struct otf2_owner *owner, uint32_t *group)
{
	static const OTF2_LocationGroupType types[] = {
		[OTF2_GROUP_OF_PROCESS] = OTF2_LOCATION_GROUP_TYPE_PROCESS,
		[OTF2_GROUP_OF_GPU] = OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
	};
	struct otf2_location_group *grown;
	uint64_t known;
	int ret;

	if (map_get(&a->groups_of[kind], (uint64_t)id, &known)) {
		*group = (uint32_t)known;
		return 0;
	}
	grown = alloc_grow(a->groups, a->nr_groups, &a->max_groups, 16, sizeof(*grown));
	if (!grown)
		return otf2_archive_fail_memory(a);
	a->groups = grown;
	*group = (uint32_t)a->nr_groups;
	grown += a->nr_groups;
	*grown = (struct otf2_location_group){ .type = types[kind],
					       .owner = *owner,
					       .order = a->nr_groups };
	ret = otf2_archive_text(a, name, &grown->name);
	if (ret == 0 && map_put(&a->groups_of[kind], (uint64_t)id, a->nr_groups))
		ret = otf2_archive_fail_memory(a);
	a->nr_groups += ret == 0;
	return ret;
}

const struct otf2_location_group *otf2_archive_find_group(const struct otf2_archive *a,
							  enum otf2_group kind, int64_t id)
{
	uint64_t known;

	return map_get(&a->groups_of[kind], (uint64_t)id, &known) ? &a->groups[known] : NULL;
}

void otf2_archive_next_trace(struct otf2_archive *a)
{
	map_fini(&a->groups_of[OTF2_GROUP_OF_PROCESS]);
	map_fini(&a->groups_of[OTF2_GROUP_OF_GPU]);
	a->nr_of_trace = 0;
	a->last_ns = 0;
}

/* ---- locations and their events ---- */

int otf2_archive_location(struct otf2_archive *a, const char *name, OTF2_LocationType type,
			  uint32_t group, size_t *location)
{
	struct otf2_location *grown =
		alloc_grow(a->locations, a->nr_locations, &a->max_locations, 16, sizeof(*grown));
	int ret;

	if (!grown)
		return otf2_archive_fail_memory(a);
	a->locations = grown;
	*location = a->nr_locations;
	grown += *location;
	*grown = (struct otf2_location){ .id = a->groups[group].owner.key << 32 | a->nr_of_trace,
					 .group = group,
					 .type = type };
	ret = otf2_archive_text(a, name, &grown->name);
	if (ret)
		return ret;
	errno = 0;
	grown->writer = otf2_lib.Archive_GetEvtWriter(a->handle, grown->id);
	if (!grown->writer)
		return otf2_archive_check(a, OTF2_ERROR_FILE_INTERACTION);
	if (!a->groups[group].first)
		a->groups[group].first = grown->id + 1;
	a->nr_locations++;
	a->nr_of_trace++;
	return 0;
}

int otf2_archive_end(struct otf2_archive *a, size_t location)
{
	struct otf2_location *l = &a->locations[location];
	OTF2_EvtWriter *writer = l->writer;
	OTF2_ErrorCode error;

	if (!writer)
		return 0;
	l->writer = NULL;
	errno = 0;
	error = otf2_lib.EvtWriter_GetNumberOfEvents(writer, &l->nr_events);
	if (error == OTF2_SUCCESS)
		error = otf2_lib.Archive_CloseEvtWriter(a->handle, writer);
	return otf2_archive_check(a, error);
}

int otf2_archive_leave(struct otf2_archive *a, size_t location, int64_t ns, uint32_t region)
{
	if ((uint64_t)ns > a->last_ns)
		a->last_ns = (uint64_t)ns;
	errno = 0;
	return otf2_archive_check(a, otf2_lib.EvtWriter_Leave(a->locations[location].writer, NULL,
							      (uint64_t)ns, region));
}

/* ---- the archive ---- */

/* In a process that writes some of an archive's locations: the library makes no folders there and
 * no file that names the others, as in a rank of MPI that is not the first. What such a rank
 * gets is that all is well. */
static OTF2_CallbackCode get_size(void *arg, OTF2_CollectiveContext *comm, uint32_t *size)
{
	(void)arg, (void)comm;
	*size = 2;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode get_rank(void *arg, OTF2_CollectiveContext *comm, uint32_t *rank)
{
	(void)arg, (void)comm;
	*rank = 1;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode pass(void *arg, OTF2_CollectiveContext *comm)
{
	(void)arg, (void)comm;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode get_success(void *arg, OTF2_CollectiveContext *comm, void *data,
				     uint32_t nr, OTF2_Type type, uint32_t root)
{
	size_t size = type == OTF2_TYPE_UINT8 || type == OTF2_TYPE_INT8	  ? 1 :
		      type == OTF2_TYPE_UINT16 || type == OTF2_TYPE_INT16 ? 2 :
		      type == OTF2_TYPE_UINT64 || type == OTF2_TYPE_INT64 ||
				      type == OTF2_TYPE_DOUBLE ?
									    8 :
									    4;

	(void)arg, (void)comm, (void)root;
	memset(data, 0, nr * size);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode leave_out(void *arg, OTF2_CollectiveContext *comm, const void *in,
				   void *out, uint32_t nr, OTF2_Type type, uint32_t root)
{
	(void)arg, (void)comm, (void)in, (void)out, (void)nr, (void)type, (void)root;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode leave_out_v(void *arg, OTF2_CollectiveContext *comm, const void *in,
				     uint32_t nr, void *out, const uint32_t *nrs, OTF2_Type type,
				     uint32_t root)
{
	(void)arg, (void)comm, (void)in, (void)nr, (void)out, (void)nrs, (void)type, (void)root;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode scatter_v(void *arg, OTF2_CollectiveContext *comm, const void *in,
				   const uint32_t *nrs, void *out, uint32_t nr, OTF2_Type type,
				   uint32_t root)
{
	(void)arg, (void)comm, (void)in, (void)nrs, (void)out, (void)nr, (void)type, (void)root;
	return OTF2_CALLBACK_SUCCESS;
}

static const OTF2_CollectiveCallbacks not_first = {
	.otf2_get_size = get_size,
	.otf2_get_rank = get_rank,
	.otf2_barrier = pass,
	.otf2_bcast = get_success,
	.otf2_gather = leave_out,
	.otf2_gatherv = leave_out_v,
	.otf2_scatter = leave_out,
	.otf2_scatterv = scatter_v,
};

int otf2_archive_open(struct otf2_archive *a, struct job_result *res, const char *folder,
		      const char *name, struct otf2_bytes *log)
{
	static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
	OTF2_ErrorCode error;
	uint32_t empty;
	int ret;

	*a = (struct otf2_archive){ .res = res, .log = log, .nr_nodes = log ? 1 : 0 };
	if (otf2_lib_load())
		return job_fail(res, -ENOENT,
				"libotf2.so.10 is not there, or is another one; install it "
				"(Debian: libopen-trace-format2-10)");
	otf2_lib.Error_RegisterCallback(be_silent, NULL);
	errno = 0;
	a->handle = otf2_lib.Archive_Open(folder, name, OTF2_FILEMODE_WRITE, EVENT_CHUNK,
					  DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX,
					  OTF2_COMPRESSION_NONE);
	a->attributes = otf2_lib.AttributeList_New();
	if (!a->handle || !a->attributes)
		return otf2_archive_check(a, OTF2_ERROR_FILE_INTERACTION);
	error = otf2_lib.Archive_SetFlushCallbacks(a->handle, &callbacks, NULL);
	if (error == OTF2_SUCCESS)
		error = log ? otf2_lib.Archive_SetCollectiveCallbacks(a->handle, &not_first, NULL,
								      NULL, NULL) :
			      otf2_lib.Archive_SetSerialCollectiveCallbacks(a->handle);
	if (error == OTF2_SUCCESS && !log)
		error = otf2_lib.Archive_SetCreator(a->handle,
						    "rocm-trace-lite " RTL_VERSION_STRING);
	if (error == OTF2_SUCCESS)
		error = otf2_lib.Archive_OpenEvtFiles(a->handle);
	ret = otf2_archive_check(a, error);
	if (ret)
		return ret;
	if (!log)
		a->defs = otf2_lib.Archive_GetGlobalDefWriter(a->handle);
	if (!log && !a->defs)
		return otf2_archive_check(a, OTF2_ERROR_FILE_INTERACTION);
	return otf2_archive_text(a, "", &empty);
}

static int compare_groups(const void *a, const void *b)
{
	const struct otf2_location_group *x = *(struct otf2_location_group *const *)a,
					 *y = *(struct otf2_location_group *const *)b;

	if (x->owner.key != y->owner.key)
		return x->owner.key < y->owner.key ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Of a GPU's group the process that has the same key, if it is the only one; it is before it. */
static uint32_t creator_of(struct otf2_location_group *const *sorted, size_t at)
{
	uint32_t creator = OTF2_UNDEFINED_LOCATION_GROUP;
	size_t nr = 0;

	for (size_t i = at; i-- > 0 && sorted[i]->owner.key == sorted[at]->owner.key;)
		if (sorted[i]->type == OTF2_LOCATION_GROUP_TYPE_PROCESS) {
			creator = sorted[i]->self;
			nr++;
		}
	return nr == 1 && sorted[at]->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ?
		       creator :
		       OTF2_UNDEFINED_LOCATION_GROUP;
}

/* In the order of their ranks, in which viewers show them. */
static int define_groups(struct otf2_archive *a)
{
	struct otf2_location_group **sorted = alloc_zero(a->nr_groups + 1, sizeof(*sorted));
	OTF2_ErrorCode error = OTF2_SUCCESS;

	if (!sorted)
		return otf2_archive_fail_memory(a);
	for (size_t i = 0; i < a->nr_groups; i++)
		sorted[i] = &a->groups[i];
	qsort(sorted, a->nr_groups, sizeof(*sorted), compare_groups);
	for (size_t i = 0; i < a->nr_groups && error == OTF2_SUCCESS; i++) {
		struct otf2_location_group *g = sorted[i];

		g->self = (uint32_t)i;
		error = otf2_lib.GlobalDefWriter_WriteLocationGroup(a->defs, g->self, g->name,
								    g->type, g->owner.node,
								    creator_of(sorted, i));
	}
	alloc_free(sorted);
	return otf2_archive_check(a, error);
}

static int compare_locations(const void *a, const void *b)
{
	const struct otf2_location *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The paradigms with the names and properties that Score-P gives them: `name`, `comms` and
 * `windows` name what has no name of its own. */
static int define_paradigm(struct otf2_archive *a, OTF2_Paradigm paradigm, const char *name,
			   OTF2_ParadigmClass class, const char *comms, const char *windows)
{
	const char *const templates[] = { comms, windows };
	static const OTF2_ParadigmProperty properties[] = {
		OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
		OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE,
	};
	OTF2_AttributeValue value;
	uint32_t text;
	int ret = otf2_archive_text(a, name, &text);

	if (ret == 0)
		ret = otf2_archive_check(a,
					 otf2_lib.GlobalDefWriter_WriteParadigm(a->defs, paradigm,
										text, class));
	for (size_t i = 0; i < 2 && templates[i] && ret == 0; i++) {
		ret = otf2_archive_text(a, templates[i], &value.stringRef);
		if (ret == 0)
			ret = otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteParadigmProperty(
							    a->defs, paradigm, properties[i],
							    OTF2_TYPE_STRING, value));
	}
	if (ret || class != OTF2_PARADIGM_CLASS_ACCELERATOR)
		return ret;
	/* its communicators are those of windows alone */
	value = (OTF2_AttributeValue){ .uint8 = OTF2_TRUE };
	return otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteParadigmProperty(
					     a->defs, paradigm, OTF2_PARADIGM_PROPERTY_RMA_ONLY,
					     OTF2_TYPE_UINT8, value));
}

static int define_paradigms(struct otf2_archive *a)
{
	int ret = define_paradigm(a, OTF2_PARADIGM_HIP, "HIP", OTF2_PARADIGM_CLASS_ACCELERATOR,
				  NULL, NULL);

	return ret || !a->has_mpi ?
		       ret :
		       define_paradigm(a, OTF2_PARADIGM_MPI, "MPI", OTF2_PARADIGM_CLASS_PROCESS,
				       "Comm ${id}", "Win ${id}");
}

/* The clock's properties, paradigms, groups, locations. */
static int define_last(struct otf2_archive *a, const struct otf2_times *times)
{
	OTF2_ErrorCode error;
	int ret = define_paradigms(a);

	if (ret == 0)
		ret = define_groups(a);
	if (ret)
		return ret;
	error = otf2_lib.GlobalDefWriter_WriteClockProperties(
		a->defs, 1000000000, times->first_ns,
		times->last_ns > times->first_ns ? times->last_ns - times->first_ns + 1 : 1,
		times->realtime_ns ? times->first_ns + (uint64_t)times->realtime_ns :
				     OTF2_UNDEFINED_TIMESTAMP);
	qsort(a->locations, a->nr_locations, sizeof(*a->locations), compare_locations);
	for (size_t i = 0; i < a->nr_locations && error == OTF2_SUCCESS; i++) {
		const struct otf2_location *l = &a->locations[i];

		error = otf2_lib.GlobalDefWriter_WriteLocation(a->defs, l->id, l->name, l->type,
							       l->nr_events,
							       a->groups[l->group].self);
	}
	return otf2_archive_check(a, error);
}

/* Readers expect a file of definitions for each location. It has the offsets of its clock. */
static int write_local_definitions(struct otf2_archive *a, const struct otf2_times *times)
{
	OTF2_ErrorCode error;
	int ret = otf2_archive_check(a, otf2_lib.Archive_OpenDefFiles(a->handle));

	for (size_t i = 0; i < a->nr_locations && ret == 0; i++) {
		const struct otf2_location *l = &a->locations[i];
		size_t clock = a->groups[l->group].owner.clock;
		OTF2_DefWriter *writer = otf2_lib.Archive_GetDefWriter(a->handle, l->id);

		error = writer ? OTF2_SUCCESS : OTF2_ERROR_FILE_INTERACTION;
		if (error == OTF2_SUCCESS)
			ret = otf2_part_map(a, a->groups[l->group].part, writer);
		if (ret)
			break;
		for (size_t k = 0; clock < times->nr_clocks && error == OTF2_SUCCESS &&
				   k < times->clocks[clock].nr_offsets;
		     k++) {
			const struct otf2_offset *o = &times->clocks[clock].offsets[k];

			error = otf2_lib.DefWriter_WriteClockOffset(writer, (uint64_t)o->time,
								    o->offset, o->error);
		}
		if (error == OTF2_SUCCESS)
			error = otf2_lib.Archive_CloseDefWriter(a->handle, writer);
		ret = otf2_archive_check(a, error);
	}
	return ret ? ret : otf2_archive_check(a, otf2_lib.Archive_CloseDefFiles(a->handle));
}

/* Completes the files of events. */
static int end_locations(struct otf2_archive *a, int ret)
{
	for (size_t i = 0; i < a->nr_locations; i++) {
		int error = otf2_archive_end(a, i);

		ret = ret ? ret : error;
	}
	errno = 0;
	return ret ? ret : otf2_archive_check(a, otf2_lib.Archive_CloseEvtFiles(a->handle));
}

static int close_handle(struct otf2_archive *a, int ret)
{
	int error = 0;

	/* the file that names the others is written last */
	if (a->handle)
		error = otf2_archive_check(a, otf2_lib.Archive_Close(a->handle));
	if (a->attributes)
		otf2_lib.AttributeList_Delete(a->attributes);
	a->handle = NULL;
	a->attributes = NULL;
	return ret ? ret : error;
}

void otf2_archive_free(struct otf2_archive *a)
{
	texts_fini(&a->texts);
	map_fini(&a->regions);
	map_fini(&a->named);
	map_fini(&a->nodes);
	map_fini(&a->metrics);
	map_fini(&a->groups_of[OTF2_GROUP_OF_PROCESS]);
	map_fini(&a->groups_of[OTF2_GROUP_OF_GPU]);
	for (size_t i = 0; i < a->nr_windows; i++)
		alloc_free(a->windows[i].members);
	alloc_free(a->windows);
	otf2_parts_end(a);
	alloc_free(a->groups);
	alloc_free(a->locations);
}

int otf2_archive_complete(struct otf2_archive *a, int ret)
{
	return close_handle(a, end_locations(a, ret));
}

int otf2_archive_close(struct otf2_archive *a, const struct otf2_times *times, int ret)
{
	uint32_t group = 0, comm = 0;

	ret = end_locations(a, ret);
	if (ret == 0)
		ret = write_local_definitions(a, times);
	if (ret == 0)
		ret = define_last(a, times);
	if (ret == 0 && times->comms)
		ret = otf2_comms_define(times->comms, &group, &comm);
	if (ret == 0)
		ret = otf2_rma_define(a, group, comm);
	ret = close_handle(a, ret);
	otf2_archive_free(a);
	return ret;
}
