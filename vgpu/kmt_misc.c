/* SPDX-License-Identifier: MIT */
/* kmt_misc.c - opening, versions, clocks, process life, and unsupported functions
 *
 * Threads:  any.
 * Locks:    `open_lock`, outermost.
 * Life:     a child that is forked while the GPU is open is inert: it has no engine, and calls return at once. As with the
 *           kernel driver, it has to exec before it can use the GPU; one that is forked after the close can open it.
 */
#include <pthread.h>
#include <string.h>

#include "clock.h"
#include "engine.h"
#include "kmt.h"
#include "kmt_event.h"
#include "kmt_vmem.h"
#include "knobs.h"
#include "log.h"

/* set before the runtime asks */
static bool maps_memory;

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int opened, opened_ever;
static bool inert;
static bool reported[KNOBS_DEVICES_MAX]; /* in the log of this process */

bool kmt_misc_inert(void)
{
	return __atomic_load_n(&inert, __ATOMIC_RELAXED);
}

/* takes all locks in their order, so that none is held by a thread that does not exist in the child */
static void fork_prepare(void)
{
	pthread_mutex_lock(&open_lock);
	engine_lock();
	kmt_event_lock();
	kmt_vmem_lock();
	kmt_memory_lock();
	log_lock();
}

static void fork_release(bool child)
{
	log_unlock(child);
	kmt_memory_unlock();
	kmt_vmem_unlock();
	kmt_event_unlock();
	engine_unlock();
	pthread_mutex_unlock(&open_lock);
}

static void fork_parent(void)
{
	fork_release(false);
}

static void fork_child(void)
{
	__atomic_store_n(&inert, inert || opened, __ATOMIC_RELAXED);
	memset(reported, 0, sizeof(reported));
	engine_forked();
	fork_release(true);
}

KMT_API HSAKMT_STATUS hsaKmtOpenKFD(void)
{
	if (kmt_misc_inert())
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	pthread_mutex_lock(&open_lock);
	if (!opened_ever) {
		knobs_init();
		clock_init();
		pthread_atfork(fork_prepare, fork_parent, fork_child);
	}
	if (!opened++) {
		if (opened_ever++)
			clock_restart();
		log_open();
	}
	pthread_mutex_unlock(&open_lock);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtCloseKFD(void)
{
	pthread_mutex_lock(&open_lock);
	if (opened)
		opened--;
	pthread_mutex_unlock(&open_lock);
	log_flush();
	return HSAKMT_STATUS_SUCCESS;
}

void kmt_misc_map_memory(void)
{
	maps_memory = true;
}

KMT_API HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *info)
{
	if (!info)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	info->KernelInterfaceMajorVersion = 1;
	/* 1.0: the runtime polls signals and uses no events. 1.15: it maps memory; ROCr 6.1.2 also relies on ages of events then */
	info->KernelInterfaceMinorVersion = knobs.no_events ? 0 : maps_memory ? 15 : 8;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *out)
{
	uint64_t ticks = 0, ns = clock_now();

	if (!out || node > knobs.devices)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(out, 0, sizeof(*out));
	if (node) {
		clock_sample(node - 1, &ticks, &ns);
		if (!__atomic_exchange_n(&reported[node - 1], true, __ATOMIC_RELAXED))
			log_clock(node - 1);
	}
	out->GPUClockCounter = ticks;
	out->CPUClockCounter = ns;
	out->SystemClockCounter = ns;
	out->SystemClockFrequencyHz = 1000000000; /* asserted to be set */
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug, bool setup_ttmp)
{
	(void)debug;
	(void)setup_ttmp;
	/* unless supported, the runtime reads queue errors from queue_inactive_signal, as with older drivers */
	return knobs.exceptions ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_API HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
	return knobs.exceptions ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_API HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *mask)
{
	if (!mask)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	*mask = 0;
	return HSAKMT_STATUS_SUCCESS;
}

/* Whether the thunk uses a model instead of a driver. */
KMT_API HSAKMT_STATUS hsaKmtModelEnabled(bool *enabled)
{
	if (!enabled)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	*enabled = false;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 node, HSAuint32 dflt, HSAuint32 alternate,
					    void *addr, HSAuint64 size)
{
	(void)node;
	(void)dflt;
	(void)alternate;
	(void)addr;
	(void)size;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node, void *code, HSAuint64 code_size,
					   void *buffer, HSAuint64 buffer_size)
{
	(void)node;
	(void)code;
	(void)code_size;
	(void)buffer;
	(void)buffer_size;
	return HSAKMT_STATUS_SUCCESS; /* asserted */
}

KMT_API HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable)
{
	if (!enable)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	*enable = 0;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable)
{
	return enable ? HSAKMT_STATUS_NOT_SUPPORTED : HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtSVMSetAttr(void *addr, HSAuint64 size, unsigned int nr,
				       HSA_SVM_ATTRIBUTE *attrs)
{
	(void)addr;
	(void)size;
	(void)nr;
	(void)attrs;
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_API HSAKMT_STATUS hsaKmtSVMGetAttr(void *addr, HSAuint64 size, unsigned int nr,
				       HSA_SVM_ATTRIBUTE *attrs)
{
	(void)addr;
	(void)size;
	(void)nr;
	(void)attrs;
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_API HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 handle,
							  HsaGraphicsResourceInfo *info,
							  HSAuint64 nr, HSAuint32 *nodes)
{
	(void)handle;
	(void)info;
	(void)nr;
	(void)nodes;
	return HSAKMT_STATUS_NOT_SUPPORTED;
}
