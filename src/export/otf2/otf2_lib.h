/* SPDX-License-Identifier: MIT */
/* otf2_lib.h - libotf2, loaded when it is used, as the screen's library is (docs/decisions/041) */
#ifndef RTL_EXPORT_OTF2_OTF2_LIB_H
#define RTL_EXPORT_OTF2_OTF2_LIB_H

#include <otf2/otf2.h>

#define OTF2_LIB_FUNCTIONS(X)                                                                      \
	X(Archive_Open)                                                                            \
	X(Archive_Close)                                                                           \
	X(Archive_SetFlushCallbacks)                                                               \
	X(Archive_SetSerialCollectiveCallbacks)                                                    \
	X(Archive_SetCollectiveCallbacks)                                                          \
	X(Archive_SetCreator)                                                                      \
	X(Archive_OpenEvtFiles)                                                                    \
	X(Archive_CloseEvtFiles)                                                                   \
	X(Archive_OpenDefFiles)                                                                    \
	X(Archive_CloseDefFiles)                                                                   \
	X(Archive_GetEvtWriter)                                                                    \
	X(Archive_CloseEvtWriter)                                                                  \
	X(Archive_GetDefWriter)                                                                    \
	X(Archive_CloseDefWriter)                                                                  \
	X(DefWriter_WriteClockOffset)                                                              \
	X(DefWriter_WriteMappingTable)                                                             \
	X(Archive_GetGlobalDefWriter)                                                              \
	X(EvtWriter_Enter)                                                                         \
	X(EvtWriter_Leave)                                                                         \
	X(EvtWriter_MpiSend)                                                                       \
	X(EvtWriter_MpiIsend)                                                                      \
	X(EvtWriter_MpiIsendComplete)                                                              \
	X(EvtWriter_MpiIrecvRequest)                                                               \
	X(EvtWriter_MpiRecv)                                                                       \
	X(EvtWriter_MpiIrecv)                                                                      \
	X(EvtWriter_MpiRequestCancelled)                                                           \
	X(EvtWriter_MpiCollectiveBegin)                                                            \
	X(EvtWriter_MpiCollectiveEnd)                                                              \
	X(EvtWriter_NonBlockingCollectiveRequest)                                                  \
	X(EvtWriter_NonBlockingCollectiveComplete)                                                 \
	X(EvtWriter_Metric)                                                                        \
	X(EvtWriter_RmaPut)                                                                        \
	X(EvtWriter_RmaGet)                                                                        \
	X(EvtWriter_RmaOpCompleteBlocking)                                                         \
	X(EvtWriter_GetNumberOfEvents)                                                             \
	X(AttributeList_New)                                                                       \
	X(IdMap_CreateFromUint32Array)                                                             \
	X(IdMap_Free)                                                                              \
	X(AttributeList_Delete)                                                                    \
	X(AttributeList_AddAttribute)                                                              \
	X(GlobalDefWriter_WriteClockProperties)                                                    \
	X(GlobalDefWriter_WriteString)                                                             \
	X(GlobalDefWriter_WriteParadigm)                                                           \
	X(GlobalDefWriter_WriteParadigmProperty)                                                   \
	X(GlobalDefWriter_WriteAttribute)                                                          \
	X(GlobalDefWriter_WriteSystemTreeNode)                                                     \
	X(GlobalDefWriter_WriteSystemTreeNodeDomain)                                               \
	X(GlobalDefWriter_WriteLocationGroup)                                                      \
	X(GlobalDefWriter_WriteLocation)                                                           \
	X(GlobalDefWriter_WriteRegion)                                                             \
	X(GlobalDefWriter_WriteGroup)                                                              \
	X(GlobalDefWriter_WriteComm)                                                               \
	X(GlobalDefWriter_WriteRmaWin)                                                             \
	X(GlobalDefWriter_WriteMetricMember)                                                       \
	X(GlobalDefWriter_WriteMetricClass)                                                        \
	X(Error_GetDescription)                                                                    \
	X(Error_RegisterCallback)

/* otf2_lib.Archive_Open() is OTF2_Archive_Open(). */
struct otf2_lib {
#define OTF2_LIB_MEMBER(name) __typeof__(OTF2_##name) *name;
	OTF2_LIB_FUNCTIONS(OTF2_LIB_MEMBER)
};
extern struct otf2_lib otf2_lib;

/* 0; -ENOENT: the library is not there, or lacks a function. */
int otf2_lib_load(void);

#endif
