/* SPDX-License-Identifier: MIT */
/* kmt_absent.c - entry points of later thunks that a runtime must find, and that return "not supported"
 *
 * They are declared without arguments, because they don't read them and on x86-64 the caller removes them. That is
 * why this file does not include hsakmt.h, which declares some of them.
 *
 * Threads:  any.
 */
#include <hsakmttypes.h>

#define ABSENT(name)                                                                               \
	HSAKMT_STATUS name(void);                                                                  \
	__attribute__((visibility("default"))) HSAKMT_STATUS name(void)                            \
	{                                                                                          \
		return HSAKMT_STATUS_NOT_SUPPORTED;                                                \
	}

/* debuggers */
ABSENT(hsaKmtCheckRuntimeDebugSupport)
ABSENT(hsaKmtDbgAddressWatch)
ABSENT(hsaKmtDbgDisable)
ABSENT(hsaKmtDbgEnable)
ABSENT(hsaKmtDbgGetDeviceData)
ABSENT(hsaKmtDbgGetQueueData)
ABSENT(hsaKmtDbgRegister)
ABSENT(hsaKmtDbgUnregister)
ABSENT(hsaKmtDbgWavefrontControl)
ABSENT(hsaKmtDebugTrapIoctl)
ABSENT(hsaKmtGetQueueInfo)

ABSENT(hsaKmtGetKernelQueueId)
ABSENT(hsaKmtSetSigbusDelay)

/* core dumps of the runtime */
ABSENT(hsaKmtGetCoreDeviceInfo)
ABSENT(hsaKmtGetCoreRuntimeInfo)

/* files that the GPU reads and writes itself */
ABSENT(hsaKmtAisReadWriteFile)

/* sharing with other processes and with graphics */
ABSENT(hsaKmtDestroyExternalSemaphore)
ABSENT(hsaKmtGetAmdGPUDeviceFd)
ABSENT(hsaKmtGetDefaultHostGpu)
ABSENT(hsaKmtGetMemoryHandle)
ABSENT(hsaKmtHandleExport)
ABSENT(hsaKmtHandleImport)
ABSENT(hsaKmtImportExternalSemaphore)
ABSENT(hsaKmtMapGraphicHandle)
ABSENT(hsaKmtMemHandleFree)
ABSENT(hsaKmtMemHandleFreePreserveMetadata)
ABSENT(hsaKmtMemoryCpuMap)
ABSENT(hsaKmtMemoryGetCpuAddr)
ABSENT(hsaKmtMemoryVaMap)
ABSENT(hsaKmtMemoryVaUnmap)
ABSENT(hsaKmtProcessVMRead)
ABSENT(hsaKmtProcessVMWrite)
ABSENT(hsaKmtQueueSignalExternalSemaphore)
ABSENT(hsaKmtQueueWaitExternalSemaphore)
ABSENT(hsaKmtUnmapGraphicHandle)

/* counters and samples that the driver collects */
ABSENT(hsaKmtPcSamplingCreate)
ABSENT(hsaKmtPcSamplingDestroy)
ABSENT(hsaKmtPcSamplingQueryCapabilities)
ABSENT(hsaKmtPcSamplingStart)
ABSENT(hsaKmtPcSamplingStop)
ABSENT(hsaKmtPcSamplingSupport)
ABSENT(hsaKmtPmcAcquireTraceAccess)
ABSENT(hsaKmtPmcGetCounterProperties)
ABSENT(hsaKmtPmcQueryTrace)
ABSENT(hsaKmtPmcRegisterTrace)
ABSENT(hsaKmtPmcReleaseTraceAccess)
ABSENT(hsaKmtPmcStartTrace)
ABSENT(hsaKmtPmcStopTrace)
ABSENT(hsaKmtPmcUnregisterTrace)
ABSENT(hsaKmtSPMAcquire)
ABSENT(hsaKmtSPMRelease)
ABSENT(hsaKmtSPMSetDestBuffer)

/* events of the driver, and sanitized builds of the runtime */
ABSENT(hsaKmtOpenSMI)
ABSENT(hsaKmtReplaceAsanHeaderPage)
ABSENT(hsaKmtReturnAsanHeaderPage)
