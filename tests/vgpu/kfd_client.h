/* SPDX-License-Identifier: MIT */
/* kfd_client.h - requests of the kernel driver by a program without a runtime, of GPU 0 */
#ifndef VGPU_TESTS_KFD_CLIENT_H
#define VGPU_TESTS_KFD_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "../../vgpu/driver/kfd_abi.h"

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #cond,       \
				errno);                                                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define KFD(number, type) _IOC(_IOC_READ | _IOC_WRITE, KFD_TYPE, number, sizeof(type))

static int kfd, render;
static uint32_t gpu_id;

/* 0, or the error. */
static inline int request(int fd, unsigned long number, void *arg)
{
	return ioctl(fd, number, arg) == -1 ? errno : 0;
}

static inline void open_gpu(void)
{
	struct kfd_aperture apertures[16];
	struct kfd_apertures_new a = { .apertures_ptr = (uintptr_t)apertures, .num_of_nodes = 16 };
	struct kfd_acquire_vm vm = { 0 };

	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	CHECK(kfd >= 0);
	render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	CHECK(render >= 0);
	CHECK(!request(kfd, KFD(KFD_GET_PROCESS_APERTURES_NEW, a), &a));
	CHECK(a.num_of_nodes >= 1);
	gpu_id = apertures[0].gpu_id;
	vm.drm_fd = (uint32_t)render;
	vm.gpu_id = gpu_id;
	CHECK(!request(kfd, KFD(KFD_ACQUIRE_VM, vm), &vm));
}

static inline uint64_t available(void)
{
	struct kfd_available_memory m = { .gpu_id = gpu_id };

	CHECK(!request(kfd, KFD(KFD_AVAILABLE_MEMORY, m), &m));
	return m.available;
}

#endif
