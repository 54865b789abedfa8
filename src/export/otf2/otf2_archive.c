/* SPDX-License-Identifier: MIT */
/* otf2_archive.c - the archive of OTF2: locations, and definitions, each once
 *
 * Texts and regions are defined when they are used first. Locations are defined at the end, since a
 * definition has the number of events. The library writes a location's events to its file whenever
 * its buffer is full. Memory grows with names and locations.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "export/otf2/otf2_internal.h"
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
	return query_fail(a->q, number, "the archive can't be written: %s",
			  number == -EIO ? otf2_lib.Error_GetDescription(error) :
					   strerror(-number));
}

/* ---- definitions ---- */

static int define_valid(struct otf2_archive *a, const char *text, uint32_t *ref)
{
	bool is_new;
	uint64_t number = texts_number(&a->texts, text, strlen(text), &is_new);

	if (!number || number > UINT32_MAX - 1)
		return query_fail_memory(a->q);
	*ref = (uint32_t)number - 1;
	return is_new ? otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteString(a->defs, *ref,
										   text)) :
			0;
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
	uint32_t texts[2];
	uint64_t known;
	int ret = otf2_archive_text(a, name, &texts[0]);

	if (ret)
		return ret;
	if (map_get(&a->named, texts[0], &known)) {
		*self = (OTF2_AttributeRef)known;
		return 0;
	}
	*self = a->nr_attributes++;
	if (map_put(&a->named, texts[0], *self))
		return query_fail_memory(a->q);
	ret = otf2_archive_text(a, description, &texts[1]);
	return ret ? ret :
		     otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteAttribute(a->defs, *self,
										   texts[0],
										   texts[1], type));
}

/* The host is the root of the system's tree. */
static int define_system(struct otf2_archive *a)
{
	sqlite3_stmt *host = NULL;
	uint32_t name, class;
	int ret = a->q->ours ?
			  query_prepare(a->q, &host, "SELECT host FROM rtl_process ORDER BY id") :
			  0;

	if (ret)
		return ret;
	ret = otf2_archive_text(a,
				host && sqlite3_step(host) == SQLITE_ROW ? query_text(host, 0) :
									   "host",
				&name);
	sqlite3_finalize(host);
	if (ret == 0)
		ret = otf2_archive_text(a, "node", &class);
	return ret ? ret :
		     otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteSystemTreeNode(
						   a->defs, 0, name, class,
						   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
}

int otf2_archive_group(struct otf2_archive *a, enum otf2_group kind, int64_t id, const char *name,
		       uint32_t *group)
{
	static const OTF2_LocationGroupType types[] = {
		[OTF2_GROUP_OF_PROCESS] = OTF2_LOCATION_GROUP_TYPE_PROCESS,
		[OTF2_GROUP_OF_GPU] = OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
	};
	uint64_t known;
	uint32_t text;
	int ret;

	if (map_get(&a->groups[kind], (uint64_t)id, &known)) {
		*group = (uint32_t)known;
		return 0;
	}
	ret = otf2_archive_text(a, name, &text);
	*group = a->nr_groups++;
	if (ret == 0 && map_put(&a->groups[kind], (uint64_t)id, *group))
		ret = query_fail_memory(a->q);
	return ret ? ret :
		     otf2_archive_check(a, otf2_lib.GlobalDefWriter_WriteLocationGroup(
						   a->defs, *group, text, types[kind], 0,
						   OTF2_UNDEFINED_LOCATION_GROUP));
}

int otf2_archive_region(struct otf2_archive *a, const char *name, OTF2_RegionRole role,
			uint32_t *region)
{
	uint64_t known;
	uint32_t text;
	int ret = otf2_archive_text(a, *name ? name : "unnamed", &text);

	if (ret)
		return ret;
	if (map_get(&a->regions, text, &known)) {
		*region = (uint32_t)known;
		return 0;
	}
	*region = a->nr_regions++;
	if (map_put(&a->regions, text, *region))
		return query_fail_memory(a->q);
	/* the description and the file are the empty text, which is the first */
	return otf2_archive_check(a,
				  otf2_lib.GlobalDefWriter_WriteRegion(a->defs, *region, text, text,
								       0, role, OTF2_PARADIGM_HIP,
								       OTF2_REGION_FLAG_NONE, 0, 0,
								       0));
}

/* ---- locations and their events ---- */

int otf2_archive_location(struct otf2_archive *a, const char *name, OTF2_LocationType type,
			  uint32_t group, size_t *location)
{
	struct otf2_location *grown =
		alloc_grow(a->locations, a->nr_locations, &a->max_locations, 16, sizeof(*grown));
	int ret;

	if (!grown)
		return query_fail_memory(a->q);
	a->locations = grown;
	*location = a->nr_locations;
	grown += *location;
	*grown = (struct otf2_location){ .group = group, .type = type };
	ret = otf2_archive_text(a, name, &grown->name);
	if (ret)
		return ret;
	errno = 0;
	grown->writer = otf2_lib.Archive_GetEvtWriter(a->handle, *location);
	if (!grown->writer)
		return otf2_archive_check(a, OTF2_ERROR_FILE_INTERACTION);
	a->nr_locations++;
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

int otf2_archive_open(struct otf2_archive *a, struct query *q, const char *folder, const char *name)
{
	static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
	OTF2_ErrorCode error;
	uint32_t empty;
	int ret;

	*a = (struct otf2_archive){ .q = q };
	if (otf2_lib_load())
		return query_fail(q, -ENOENT,
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
		error = otf2_lib.Archive_SetSerialCollectiveCallbacks(a->handle);
	if (error == OTF2_SUCCESS)
		error = otf2_lib.Archive_SetCreator(a->handle,
						    "rocm-trace-lite " RTL_VERSION_STRING);
	if (error == OTF2_SUCCESS)
		error = otf2_lib.Archive_OpenEvtFiles(a->handle);
	ret = otf2_archive_check(a, error);
	if (ret)
		return ret;
	a->defs = otf2_lib.Archive_GetGlobalDefWriter(a->handle);
	if (!a->defs)
		return otf2_archive_check(a, OTF2_ERROR_FILE_INTERACTION);
	ret = otf2_archive_text(a, "", &empty);
	return ret ? ret : define_system(a);
}

static int define_locations(struct otf2_archive *a)
{
	uint64_t first = (uint64_t)a->q->first_ns;
	int64_t realtime = a->q->nr_processes ? a->q->processes[0].realtime_ns : 0;
	OTF2_ErrorCode error = otf2_lib.GlobalDefWriter_WriteClockProperties(
		a->defs, 1000000000, first, a->last_ns > first ? a->last_ns - first + 1 : 1,
		realtime ? first + (uint64_t)realtime : OTF2_UNDEFINED_TIMESTAMP);

	for (size_t i = 0; i < a->nr_locations && error == OTF2_SUCCESS; i++) {
		const struct otf2_location *l = &a->locations[i];

		error = otf2_lib.GlobalDefWriter_WriteLocation(a->defs, i, l->name, l->type,
							       l->nr_events, l->group);
	}
	return otf2_archive_check(a, error);
}

/* Readers expect a file of definitions for each location: an empty one. */
static int write_local_definitions(struct otf2_archive *a)
{
	OTF2_ErrorCode error = otf2_lib.Archive_OpenDefFiles(a->handle);

	for (size_t i = 0; i < a->nr_locations && error == OTF2_SUCCESS; i++) {
		OTF2_DefWriter *writer = otf2_lib.Archive_GetDefWriter(a->handle, i);

		error = writer ? otf2_lib.Archive_CloseDefWriter(a->handle, writer) :
				 OTF2_ERROR_FILE_INTERACTION;
	}
	if (error == OTF2_SUCCESS)
		error = otf2_lib.Archive_CloseDefFiles(a->handle);
	return otf2_archive_check(a, error);
}

int otf2_archive_close(struct otf2_archive *a, int ret)
{
	for (size_t i = 0; i < a->nr_locations; i++) {
		int error = otf2_archive_end(a, i);

		ret = ret ? ret : error;
	}
	errno = 0;
	if (ret == 0)
		ret = otf2_archive_check(a, otf2_lib.Archive_CloseEvtFiles(a->handle));
	if (ret == 0)
		ret = write_local_definitions(a);
	if (ret == 0)
		ret = define_locations(a);
	if (a->handle) {
		/* the file that names the others is written last */
		int error = otf2_archive_check(a, otf2_lib.Archive_Close(a->handle));

		ret = ret ? ret : error;
	}
	if (a->attributes)
		otf2_lib.AttributeList_Delete(a->attributes);
	texts_fini(&a->texts);
	map_fini(&a->regions);
	map_fini(&a->named);
	map_fini(&a->groups[OTF2_GROUP_OF_PROCESS]);
	map_fini(&a->groups[OTF2_GROUP_OF_GPU]);
	alloc_free(a->locations);
	return ret;
}
