/* SPDX-License-Identifier: MIT */
/* children.cpp - a parent that has used a runtime, and forked children that use HIP themselves,
 * without an exec
 *
 *	children hsa [n=10] [children=2]   the parent calls hsa_init() and hsa_shut_down() first
 *	children range [n=10] [...]        the parent opens a roctx range first, if the process has
 *					   roctx
 *	children query [n=10] [...]        the parent calls a function of HIP that needs no GPU
 *					   first
 *	children deep [n=10]               hsa; the child does the same, and its child uses HIP
 *	children clone [n=10]              the parent launches n kernels, clones a child that exits
 *					   at once, launches n + 1
 *	children environment               prints the environment within and after hsa_init(), and
 *					   that of a child process
 *
 *	children work [n=10]               no child: launches n kernels
 *
 * cleared=HOW: the environment is cleaned before anything else: "pop" removes the two variables by
 * which a tool is loaded, "set" makes one of them empty, "clear" removes all but the virtual GPU's,
 * "overwrite" writes over them, as programs that set the title of their process do. A last line
 * says that the environment stayed as it was left. remove=FILE: the parent deletes that file before
 * it forks. largest=BYTES: no file that the child writes may be larger. Each child launches n
 * kernels; child i launches n + i. Prints a line for each.
 */
#include "hip_common.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <hsa/hsa.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

__global__ void child_work(int *p)
{
	p[threadIdx.x] += 1;
}

static int work(long n)
{
	int *p, first = 0;

	HIP(hipMalloc(reinterpret_cast<void **>(&p), 64 * sizeof(*p)));
	HIP(hipMemset(p, 0, 64 * sizeof(*p)));
	for (long i = 0; i < n; i++)
		child_work<<<1, 64>>>(p);
	HIP(hipGetLastError());
	HIP(hipMemcpy(&first, p, sizeof(first), hipMemcpyDeviceToHost));
	HIP(hipFree(p));
	int (*push)(const char *) =
		reinterpret_cast<int (*)(const char *)>(dlsym(RTLD_DEFAULT, "roctxRangePushA"));
	if (push)
		push("child");
	printf("child: %ld launches\n", n);
	fflush(stdout);
	return 0;
}

/* The virtual GPU's memory is in files, which are larger. */
static void limit_files(rlim_t bytes)
{
	const struct rlimit limit = { bytes, bytes };

	if (open("/dev/kfd", O_RDWR | O_CLOEXEC) < 0 ||
	    open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &limit) != 0) {
		fprintf(stderr, "no limit of the size of files\n");
		exit(1);
	}
}

static void use_hsa()
{
	if (hsa_init() != HSA_STATUS_SUCCESS || hsa_shut_down() != HSA_STATUS_SUCCESS) {
		fprintf(stderr, "hsa_init() or hsa_shut_down() failed\n");
		exit(1);
	}
}

static void open_range()
{
	int (*push)(const char *) =
		reinterpret_cast<int (*)(const char *)>(dlsym(RTLD_DEFAULT, "roctxRangePushA"));

	if (push)
		push("parent");
}

/* Returns in the parent, when the child has ended. */
template <typename F> static int in_child(F f)
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(f());
	waitpid(pid, &status, 0);
	return status;
}

static int print_environment()
{
	for (char **var = environ; *var; var++)
		puts(*var);
	return 0;
}

/* Without fork(): no handler of pthread_atfork() runs, but the child's exit handlers do. */
static int clone_and_exit()
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	if (pid == 0)
		exit(7);
	waitpid(pid, &status, 0);
	return status;
}

/* Variables of the virtual GPU: the test needs its log. HIP 5.2 can't start without any
 * variable. */
static bool is_kept(const char *var)
{
	return !strncmp(var, "VGPU_", 5);
}

static void clean_environment(const char *how)
{
	if (!strcmp(how, "overwrite")) {
		for (char **var = environ; *var; var++)
			if (!is_kept(*var))
				memset(*var, 'x', strlen(*var));
	} else if (!strcmp(how, "clear")) {
		char **to = environ;

		for (char **var = environ; *var; var++)
			if (is_kept(*var))
				*to++ = *var;
		*to = nullptr;
	} else if (!strcmp(how, "pop") || !strcmp(how, "set")) {
		unsetenv("LD_PRELOAD");
		unsetenv("HSA_TOOLS_LIB");
		if (!strcmp(how, "set"))
			setenv("HSA_TOOLS_LIB", "", 1);
	}
}

static unsigned long sum_of_environment()
{
	unsigned long sum = 0;

	for (char **var = environ; var && *var; var++)
		for (const char *at = *var; *at; at++)
			sum = sum * 31 + static_cast<unsigned char>(*at);
	return sum;
}

static int run(int argc, char **argv);

int main(int argc, char **argv)
{
	const char *cleared = arg_text(argc, argv, "cleared", "");
	unsigned long before;
	int status;

	clean_environment(cleared);
	before = sum_of_environment();
	status = run(argc, argv);
	if (*cleared)
		printf("environment %s\n",
		       sum_of_environment() == before ? "unchanged" : "changed");
	return status;
}

static int run(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long n = arg_num(argc, argv, "n", 10), children = arg_num(argc, argv, "children", 2),
	     largest = arg_num(argc, argv, "largest", 0);

	if (!strcmp(how, "environment")) {
		hsa_init();
		print_environment();
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			execlp("env", "env", static_cast<char *>(nullptr));
			_exit(127);
		}
		waitpid(pid, nullptr, 0);
		hsa_shut_down();
		return print_environment();
	}
	unlink(arg_text(argc, argv, "remove", ""));
	if (!strcmp(how, "hsa") || !strcmp(how, "deep"))
		use_hsa();
	else if (!strcmp(how, "range"))
		open_range();
	else if (!strcmp(how, "query"))
		(void)hipGetErrorString(hipSuccess);
	if (!strcmp(how, "work"))
		return work(n);
	if (!strcmp(how, "deep")) {
		printf("status %d\n", in_child([n] {
			       use_hsa();
			       return in_child([n] { return work(n); });
		       }));
		return 0;
	}
	if (!strcmp(how, "clone")) {
		work(n);
		printf("status %d\n", clone_and_exit());
		return work(n + 1);
	}
	for (long i = 0; i < children; i++)
		printf("status %d\n", in_child([=] {
			       if (largest)
				       limit_files(static_cast<rlim_t>(largest));
			       return work(n + i);
		       }));
	return 0;
}
