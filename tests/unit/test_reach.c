/* SPDX-License-Identifier: MIT */
/* test_reach.c - the memory that kernels can reach, as the table has it after calls of the
 * runtime */
#include <stdlib.h>

#include "source/hsa/memory/reach.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/test.h"

#define PAGE UINT64_C(4096)
#define HOST UINT64_C(0x7f0000000000)

static uint64_t gpu_offset; /* of locked memory: where a GPU has it */
static struct reach_view view;

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static hsa_status_t real_lock(void *host, size_t size, hsa_agent_t *agents, int nr, void **gpu)
{
	(void)size;
	(void)agents;
	(void)nr;
	*gpu = (char *)host + gpu_offset;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_unlock(void *host)
{
	(void)host;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_set_attributes(void *ptr, size_t size, hsa_amd_svm_attribute_pair_t *list,
					size_t nr)
{
	(void)ptr;
	(void)size;
	(void)list;
	(void)nr;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_map(void *va, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
	(void)va;
	(void)size;
	(void)offset;
	(void)handle;
	(void)flags;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t no_pools(hsa_agent_t agent,
			     hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data),
			     void *data)
{
	(void)agent;
	(void)callback;
	(void)data;
	return HSA_STATUS_SUCCESS;
}

static void open_table(void)
{
	setenv("RTL_PMC_REPLAY", "1", 1);
	fake_setup(NULL);
	fake_build_tables(FAKE_MAX_AMD);
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_agent_iterate_memory_pools) = (void *)no_pools;
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_memory_lock) = (void *)real_lock;
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_memory_unlock) = (void *)real_unlock;
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_svm_attributes_set) = (void *)real_set_attributes;
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_vmem_map) = (void *)real_map;
	CHECK(table_take(&fake.root));
}

static void lock_pages(uint64_t first, uint64_t nr)
{
	void *gpu;

	CHECK_EQ_INT(FAKE_AMD(memory_lock)(at(HOST + first * PAGE), nr * PAGE, NULL, 0, &gpu),
		     HSA_STATUS_SUCCESS);
}

static void unlock_page(uint64_t first)
{
	CHECK_EQ_INT(FAKE_AMD(memory_unlock)(at(HOST + first * PAGE)), HSA_STATUS_SUCCESS);
}

/* Pages [0, 64) of the host that the table has as such: a bit for each. */
static uint64_t known(void)
{
	uint64_t bits = 0;

	CHECK(reach_read(&view));
	CHECK(view.is_complete);
	for (uint64_t i = 0; i < 64; i++) {
		const struct reach_range *r = reach_find(&view, HOST + gpu_offset + i * PAGE);

		CHECK(!r || r->kind == REACH_HOST);
		bits |= (uint64_t)(r != NULL) << i;
	}
	for (size_t i = 1; i < view.nr; i++)
		CHECK(view.ranges[i - 1].base + view.ranges[i - 1].size <= view.ranges[i].base);
	return bits;
}

TEST(memory_locked_twice_is_known_until_both_locks_end)
{
	open_table();
	lock_pages(0, 4);
	lock_pages(0, 4);
	CHECK_EQ_UINT(known(), 0xf);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0xf);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0);
}

TEST(overlapping_locks_are_known_each_until_it_ends)
{
	open_table();
	lock_pages(0, 4);
	lock_pages(2, 4);
	lock_pages(10, 1);
	CHECK_EQ_UINT(known(), 0x43f);
	unlock_page(2);
	CHECK_EQ_UINT(known(), 0x40f);
	lock_pages(2, 4);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0x43c);
	lock_pages(0, 32); /* around the others */
	CHECK_EQ_UINT(known(), 0xffffffff);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0x43c);
}

TEST(locks_of_different_sizes_keep_the_largest_last)
{
	open_table();
	lock_pages(0, 8);
	lock_pages(0, 2);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0xff);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0);
}

TEST(lock_ends_by_the_address_of_the_host)
{
	open_table();
	gpu_offset = UINT64_C(1) << 40;
	lock_pages(0, 4);
	CHECK_EQ_UINT(known(), 0xf);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0);
}

TEST(shared_memory_stays_known_when_a_lock_of_it_ends)
{
	open_table();
	CHECK_EQ_INT(FAKE_AMD(svm_attributes_set)(at(HOST + 2 * PAGE), 4 * PAGE, NULL, 0),
		     HSA_STATUS_SUCCESS);
	lock_pages(0, 4);
	CHECK_EQ_UINT(known(), 0x3f);
	unlock_page(0);
	CHECK_EQ_UINT(known(), 0x3c);
	/* the other order: what is left of the lock stays, too */
	lock_pages(10, 4);
	CHECK_EQ_INT(FAKE_AMD(svm_attributes_set)(at(HOST + 12 * PAGE), 4 * PAGE, NULL, 0),
		     HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(known(), 0xfc3c);
	unlock_page(10);
	CHECK_EQ_UINT(known(), 0xf03c);
}

TEST(many_locks_fit_in_the_table)
{
	open_table();
	for (uint64_t i = 0; i < 1000; i++)
		lock_pages(2 * i, 1);
	CHECK_EQ_UINT(known(), 0x5555555555555555);
	CHECK_EQ_UINT(view.nr, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		unlock_page(2 * i);
	CHECK_EQ_UINT(known(), 0);
	CHECK_EQ_UINT(view.nr, 0);
}

TEST(mapped_memory_of_an_unknown_handle_is_another_users)
{
	hsa_status_t (*map)(void *va, size_t size, size_t offset, uint64_t handle, uint64_t flags);
	const struct reach_range *r;

	open_table();
	*(void **)&map = *hsa_table_amd_slot(&fake.amd, HSA_AMD_vmem_map);
	CHECK(map != real_map);
	CHECK_EQ_INT(map(at(HOST), PAGE, 0, 77, 0), HSA_STATUS_SUCCESS);
	CHECK(reach_read(&view));
	r = reach_find(&view, HOST);
	CHECK_NOT_NULL(r);
	CHECK_EQ_INT(r->kind, REACH_OTHER_USER);
}
