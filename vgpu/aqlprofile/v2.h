/* SPDX-License-Identifier: MIT */
/* v2.h - AMD's functions of AQLprofile's second interface, which rocprofiler-sdk links
 *
 * No header of Debian's has them. Names, layouts and values are those of AMD's aql_profile_v2.h.
 */
#ifndef VGPU_AQLPROFILE_V2_H
#define VGPU_AQLPROFILE_V2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"

/* Versions of the description of an agent; later ones append members. */
enum { V2_AGENT_INFO_FIRST, V2_AGENT_INFO_LAST = 2 };

typedef struct {
	uint64_t handle;
} aqlprofile_handle_t;

typedef struct {
	uint64_t handle;
} aqlprofile_agent_handle_t;

typedef struct {
	const char *agent_gfxip;
	uint32_t xcc_num, se_num, cu_num, shader_arrays_per_se;
} aqlprofile_agent_info_t;

typedef struct {
	uint32_t major, minor, patch;
} aqlprofile_version_t;

/* Bits of the flags by which memory is asked for; the hint is shifted. */
enum {
	V2_DEVICE_ACCESS = 1,
	V2_HOST_ACCESS = 2,
	V2_HINT_SHIFT = 2,
	V2_HINT_HOST = 1,
	V2_HINT_DEVICE_UNCACHED = 2
};

typedef struct {
	uint32_t raw;
} aqlprofile_buffer_desc_flags_t;

typedef hsa_status_t (*aqlprofile_memory_alloc_callback_t)(void **ptr, uint64_t size,
							   aqlprofile_buffer_desc_flags_t flags,
							   void *userdata);
typedef void (*aqlprofile_memory_dealloc_callback_t)(void *ptr, void *userdata);
typedef hsa_status_t (*aqlprofile_memory_copy_t)(void *dst, const void *src, size_t size,
						 void *userdata);

typedef struct {
	uint32_t block_index, event_id;
	uint32_t flags; /* of accumulation; the virtual GPU has none */
	hsa_ven_amd_aqlprofile_block_name_t block_name;
} aqlprofile_pmc_event_t;

typedef struct {
	aqlprofile_agent_handle_t agent;
	const aqlprofile_pmc_event_t *events;
	uint32_t event_count;
} aqlprofile_pmc_profile_t;

typedef struct {
	hsa_ext_amd_aql_pm4_packet_t start_packet, stop_packet, read_packet;
} aqlprofile_pmc_aql_packets_t;

typedef hsa_status_t (*aqlprofile_pmc_data_callback_t)(aqlprofile_pmc_event_t event,
						       uint64_t counter_id, uint64_t counter_value,
						       void *userdata);
typedef hsa_status_t (*aqlprofile_eventname_callback_t)(int id, const char *name, void *data);
typedef hsa_status_t (*aqlprofile_coordinate_callback_t)(int position, int id, int extent,
							 int coordinate, const char *name,
							 void *userdata);

/* The attributes of aqlprofile_get_pmc_info() that have an answer. */
enum { V2_INFO_BLOCK_COUNTERS = 4, V2_INFO_BLOCK_ID = 5 };

hsa_status_t aqlprofile_get_version(aqlprofile_version_t *version);
hsa_status_t aqlprofile_register_agent(aqlprofile_agent_handle_t *agent,
				       const aqlprofile_agent_info_t *info);
hsa_status_t aqlprofile_register_agent_info(aqlprofile_agent_handle_t *agent, const void *info,
					    int version);
hsa_status_t aqlprofile_get_pmc_info(const aqlprofile_pmc_profile_t *profile, int attribute,
				     void *value);
hsa_status_t aqlprofile_validate_pmc_event(aqlprofile_agent_handle_t agent,
					   const aqlprofile_pmc_event_t *event, bool *result);
hsa_status_t aqlprofile_pmc_create_packets(aqlprofile_handle_t *handle,
					   aqlprofile_pmc_aql_packets_t *packets,
					   aqlprofile_pmc_profile_t profile,
					   aqlprofile_memory_alloc_callback_t alloc_cb,
					   aqlprofile_memory_dealloc_callback_t dealloc_cb,
					   aqlprofile_memory_copy_t memcpy_cb, void *userdata);
void aqlprofile_pmc_delete_packets(aqlprofile_handle_t handle);
hsa_status_t aqlprofile_pmc_iterate_data(aqlprofile_handle_t handle,
					 aqlprofile_pmc_data_callback_t callback, void *userdata);
hsa_status_t aqlprofile_iterate_event_ids(aqlprofile_eventname_callback_t callback, void *data);
hsa_status_t aqlprofile_iterate_event_coord(aqlprofile_agent_handle_t agent,
					    aqlprofile_pmc_event_t event, uint64_t counter_id,
					    aqlprofile_coordinate_callback_t callback,
					    void *userdata);

/* Without support: each returns HSA_STATUS_ERROR, whatever its arguments are. */
hsa_status_t aqlprofile_att_create_packets(void);
hsa_status_t aqlprofile_att_iterate_data(void);
hsa_status_t aqlprofile_att_codeobj_marker(void);
hsa_status_t aqlprofile_att_get_buffer_packets(void);
hsa_status_t aqlprofile_att_update_buffer_status(void);
hsa_status_t aqlprofile_spm_create_packets(void);
hsa_status_t aqlprofile_spm_start(void);
hsa_status_t aqlprofile_spm_stop(void);
hsa_status_t aqlprofile_spm_decode_stream_v1(void);
hsa_status_t aqlprofile_spm_decode_query(void);
hsa_status_t aqlprofile_spm_is_event_supported(void);
void aqlprofile_att_delete_packets(aqlprofile_handle_t handle);
void aqlprofile_spm_delete_packets(aqlprofile_handle_t handle);

#endif
