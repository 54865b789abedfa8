/* SPDX-License-Identifier: MIT */
/* filtered.cpp - a program that forbids itself system calls while it uses the GPU
 *
 *	filtered tsync=0 action=kill|errno allow=NUMBER,NUMBER,...
 *
 * After its first launch it installs a seccomp filter: every system call that is neither needed by
 * HIP, the virtual GPU and exit() nor in allow= ends the process, or fails with EPERM. tsync=1: for
 * all threads. Then it launches, on several streams and after a pause, and copies. stdout: "right",
 * if the GPU's memory has what it must.
 */
#include "hip_common.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <vector>

__global__ void add_one(int *p)
{
	atomicAdd(p, 1);
}

/* made by an untraced program after its first launch (strace -f) */
static const unsigned needed[] = {
	SYS_futex,
	SYS_sched_yield,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_clock_nanosleep,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_write,
	SYS_exit,
	SYS_exit_group,
	SYS_sched_getaffinity,
	SYS_clone3,
	SYS_rseq,
	SYS_set_robust_list,
	SYS_restart_syscall,
	SYS_close,
	/* the thunk, of a GPU's memory */
	SYS_ioctl,
	SYS_mbind,
	SYS_get_mempolicy,
	/* seen with HIP 7.2.4 alone */
	SYS_prlimit64,
	/* the virtual GPU: whether a descriptor is a device's, memory, and its files in /sys at the
	 * end */
	SYS_newfstatat,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_openat,
	SYS_flock,
	SYS_unlinkat,
};

static void install(bool all_threads, unsigned action, const char *allow)
{
	std::vector<sock_filter> code = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0) };
	std::vector<unsigned> numbers(needed, needed + sizeof(needed) / sizeof(needed[0]));
	sock_fprog program;

	for (char *at; *allow; allow = *at ? at + 1 : at)
		numbers.push_back(strtoul(allow, &at, 10));
	for (unsigned number : numbers) {
		code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
		code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	code.push_back(BPF_STMT(BPF_RET | BPF_K, action));
	program = { (unsigned short)code.size(), code.data() };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program) != 0) {
		printf("no filter\n");
		exit(0);
	}
}

int main(int argc, char **argv)
{
	bool errors = !strcmp(arg_text(argc, argv, "action", "kill"), "errno");
	hipStream_t streams[3];
	int *p, host[2] = { 0, 0 };

	for (hipStream_t &s : streams)
		HIP(hipStreamCreate(&s));
	HIP(hipMalloc(&p, sizeof(host)));
	HIP(hipMemset(p, 0, sizeof(host)));
	for (hipStream_t s : streams) {
		add_one<<<1, 1, 0, s>>>(p);
		HIP(hipMemcpyAsync(&host[1], p + 1, sizeof(int), hipMemcpyDeviceToHost, s));
		HIP(hipStreamSynchronize(s));
	}
	printf("installed\n");
	fflush(stdout);
	install(arg_num(argc, argv, "tsync", 0),
		errors ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS,
		arg_text(argc, argv, "allow", ""));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 300; i++)
			add_one<<<1, 1, 0, streams[i % 3]>>>(p);
		HIP(hipDeviceSynchronize());
		HIP(hipMemcpyAsync(host, p, sizeof(host), hipMemcpyDeviceToHost, streams[0]));
		HIP(hipStreamSynchronize(streams[0]));
		/* longer than the interval of the harvester's upkeep */
		usleep(1100000);
	}
	printf("%s\n", host[0] == 903 ? "right" : "wrong");
	return 0;
}
