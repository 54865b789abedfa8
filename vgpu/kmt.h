/* SPDX-License-Identifier: MIT */
/* kmt.h - what the files of exported functions share */
#ifndef VGPU_KMT_H
#define VGPU_KMT_H

#include <stdbool.h>

#include <hsakmt.h>

/* The exported functions are the only visible ones (exports.map has the names). */
#define KMT_API __attribute__((visibility("default")))

/* Nodes: 0 is the CPU, the GPUs follow. */
bool kmt_topology_is_gpu(HSAuint32 node);

/* In a child process after fork(): there is no engine, nothing waits, nothing is served. */
bool kmt_misc_inert(void);

/* Around fork(). */
void kmt_memory_lock(void);
void kmt_memory_unlock(void);

#endif
