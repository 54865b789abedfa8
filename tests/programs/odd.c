/* SPDX-License-Identifier: MIT */
/* odd.c - small programs that do what a tool in the process may disturb: odd MODE prints what it
 * sees, and ends as its mode does
 *
 * Without a mode the modes are listed. OWN_MALLOC, OWN_DLSYM, OWN_STRINGS: the program has
 * functions of the C library of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char **args;

#ifdef OWN_MALLOC
/* never frees */
static char heap[1 << 24];
static _Atomic size_t used;

void *malloc(size_t size)
{
	size_t at = __atomic_fetch_add(&used, (size + 31) / 16 * 16, __ATOMIC_RELAXED);

	if (at + size + 16 > sizeof(heap))
		return NULL;
	*(size_t *)(heap + at) = size;
	return heap + at + 16;
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void *realloc(void *p, size_t size)
{
	char *to = malloc(size);
	size_t old = p ? ((size_t *)p)[-2] : 0;

	for (size_t i = 0; to && i < old && i < size; i++)
		to[i] = ((char *)p)[i];
	return to;
}
#endif

#ifdef OWN_DLSYM
void *dlsym(void *handle, const char *name)
{
	static void *(*next)(void *, const char *);

	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return next(handle, name);
}
#endif

#ifdef OWN_STRINGS
/* not to be called before the look-ups that come before all constructors are done, as in a
 * sanitizer's run-time */
static int is_ready;

static void check(const char *what)
{
	if (!is_ready) {
		if (write(1, what, 6) < 0 || write(1, " is called too early\n", 21) < 0)
			_exit(98);
		_exit(99);
	}
}

int strcmp(const char *a, const char *b)
{
	check("strcmp");
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	check("strncm");
	for (; n && *a && *a == *b; n--) {
		a++;
		b++;
	}
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

/* the loader looks names up for this one, in front of every constructor */
static void *(*early_dlsym)(void);

static void *look_up(void)
{
	static const char *const names[] = { "malloc",	  "memcpy", "__errno_location",
					     "nanosleep", "hypot",  "_exit",
					     "mmap" };
	void *found = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		found = dlsym(RTLD_NEXT, names[i]);
	return found;
}

static void early(void)
{
	early_dlsym = look_up;
	early_dlsym();
	is_ready = 1;
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = early;
#endif

static void *symbol_at_start;

__attribute__((constructor)) static void construct(void)
{
	symbol_at_start = dlsym(RTLD_DEFAULT, "hipInit");
}

/* ---- modes ---- */

static int plain(void)
{
	puts(symbol_at_start ? "HIP" : "no HIP");
	return 7;
}

static int closes_all(void)
{
	char path[] = "/tmp/oddXXXXXX";
	int fd;

	for (int i = 3; i < 1024; i++)
		close(i);
	fd = mkstemp(path);
	unlink(path);
	printf("%d\n", fd);
	return 0;
}

static int files(void)
{
	int nr = 0;

	for (int i = 0; i < 4096; i++)
		nr += fcntl(i, F_GETFD) >= 0;
	printf("%d open, next %d, umask %o\n", nr, dup(0), (unsigned int)umask(0));
	return 0;
}

static int no_folder(void)
{
	char path[] = "/tmp/oddXXXXXX", now[4096];

	if (!mkdtemp(path) || chdir(path) || rmdir(path))
		return 1;
	puts(getcwd(now, sizeof(now)) ? "there" : strerror(errno));
	return 0;
}

static int signals(void)
{
	struct sigaction old;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < 65; i++)
		if (sigaction(i, NULL, &old) == 0)
			printf("%d%s%d ", i,
			       old.sa_handler == SIG_DFL ? "d" :
			       old.sa_handler == SIG_IGN ? "i" :
							   "h",
			       sigismember(&mask, i));
	puts("");
	return 0;
}

static volatile sig_atomic_t nr_signals;

static void count(int signo)
{
	(void)signo;
	nr_signals++;
}

static int storm(void)
{
	struct itimerval every = { { 0, 200 }, { 0, 200 } }, none = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = count };
	volatile size_t work = 0;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (nr_signals < 50) {
		free(malloc(100));
		work += dlsym(RTLD_DEFAULT, "malloc") != NULL;
	}
	setitimer(ITIMER_REAL, &none, NULL);
	puts(work ? "50 signals" : "none");
	return 0;
}

static sigjmp_buf back;

static void jump(int signo)
{
	siglongjmp(back, signo);
}

static int other_stack(void)
{
	static char stack[65536];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = jump, .sa_flags = SA_ONSTACK };
	int signo;

	sigaltstack(&alt, NULL);
	sigaction(SIGSEGV, &act, NULL);
	signo = sigsetjmp(back, 1);
	if (!signo)
		*(volatile int *)8 = 1;
	printf("signal %d\n", signo);
	return 0;
}

static int limits(void)
{
	struct rlimit l;

	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit(i, &l) == 0)
			printf("%d:%lld/%lld ", i, (long long)l.rlim_cur, (long long)l.rlim_max);
	l.rlim_cur = l.rlim_max = 0;
	setrlimit(RLIMIT_FSIZE, &l);
	setrlimit(RLIMIT_CORE, &l);
	puts("");
	return 0;
}

static int self(void)
{
	char name[16], line[256];
	FILE *f = fopen("/proc/self/status", "r");

	prctl(PR_GET_NAME, name);
	printf("%s %d %s\n", name, prctl(PR_GET_DUMPABLE), program_invocation_short_name);
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Threads:", 8) || !strncmp(line, "Seccomp:", 8) ||
		    !strncmp(line, "NoNewPrivs:", 11))
			fputs(line, stdout);
	prctl(PR_SET_DUMPABLE, 0);
	return 3;
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int cloned(void *arg)
{
	(void)arg;
	return 5;
}

static int children(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	char *child[] = { args[0], (char *)"plain", NULL };
	pid_t pid;

	fflush(stdout);
	pid = vfork();
	if (!pid) {
		execv("/proc/self/exe", child);
		_exit(1);
	}
	printf("vfork %d\n", wait_for(pid));
	fflush(stdout);
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child, environ))
		return 1;
	printf("spawn %d\n", wait_for(pid));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(4);
	printf("fork %d\n", wait_for(pid));
	pid = clone(cloned, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	printf("clone %d\n", wait_for(pid));
	printf("popen %d\n", system("exit 9"));
	int more = waitpid(-1, NULL, WNOHANG);

	printf("more %d %s\n", more, strerror(errno));
	return 0;
}

static pthread_key_t key;

static void at_end(void *text)
{
	printf("key %s\n", (const char *)text);
}

static void *run(void *arg)
{
	pthread_setspecific(key, arg);
	return arg;
}

static void *stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void said(void)
{
	puts("atexit");
}

static int threads(void)
{
	pthread_t t;

	pthread_key_create(&key, at_end);
	atexit(said);
	pthread_create(&t, NULL, run, (void *)"one");
	pthread_join(t, NULL);
	pthread_create(&t, NULL, stay, NULL);
	pthread_cancel(t);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, stay, NULL);
	return 11;
}

static int main_leaves(void)
{
	pthread_t t;

	pthread_key_create(&key, at_end);
	pthread_create(&t, NULL, run, (void *)"two");
	pthread_join(t, NULL);
	pthread_exit(NULL);
}

#ifndef STATIC
static int looks_up(void)
{
	void *libm = dlopen("libm.so.6", RTLD_NOW);
	const char *names[] = { "no_such_name", "hip_no_such", "hipInit", "ncclSend",
				"hsa_init",	"_none",       "cos" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *found = dlsym(RTLD_DEFAULT, names[i]);
		const char *why = dlerror();

		printf("%s %d %s\n", names[i], found != NULL, why ? why : "-");
		found = dlsym(RTLD_NEXT, names[i]);
		why = dlerror();
		printf("next %d %s\n", found != NULL, why ? why : "-");
		found = libm ? dlsym(libm, names[i]) : NULL;
		why = dlerror();
		printf("of libm %d %s\n", found != NULL, why ? why : "-");
		found = dlsym(dlopen(NULL, RTLD_LAZY), names[i]);
		why = dlerror();
		printf("of all %d %s\n", found != NULL, why ? why : "-");
	}
	errno = 0;
	dlsym(RTLD_DEFAULT, "malloc");
	printf("errno %d\n", errno);
	return 0;
}

static int namespaces(void)
{
	void *lib = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
	void *deep = dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND);

	printf("%d %d %d\n", lib && dlsym(lib, "cos"), lib ? dlclose(lib) : -1,
	       deep ? dlclose(deep) : -1);
	return 0;
}
#else
/* what is linked so has no loader: the C library warns at each link */
static int looks_up(void)
{
	puts("no loader");
	return 0;
}

static int namespaces(void)
{
	return looks_up();
}
#endif

static int aborts(void)
{
	puts("abort");
	fflush(stdout);
	abort();
}

static int killed(void)
{
	return kill(getpid(), SIGKILL);
}

static int alarmed(void)
{
	raise(SIGALRM);
	return 0;
}

static int faults(void)
{
	*(volatile int *)16 = 1;
	return 0;
}

static int quick(void)
{
	fputs("lost", stdout);
	_exit(13);
}

static int broken_pipe(void)
{
	int p[2];

	if (pipe(p))
		return 1;
	close(p[0]);
	return (int)write(p[1], "x", 1);
}

static int empty_environment(void)
{
	char *child[] = { args[0], (char *)"plain", NULL }, *none[] = { NULL };

	fflush(stdout);
	execve("/proc/self/exe", child, none);
	return 1;
}

static int no_arguments(void)
{
	char *child[] = { (char *)"", (char *)"plain", NULL };

	execv("/proc/self/exe", child);
	return 1;
}

static int new_session(void)
{
	pid_t pid = fork();

	if (pid)
		return wait_for(pid) / 256;
	printf("%d\n", setsid() == getpid());
	return 2;
}

static int deep(void)
{
	volatile char stack[6 << 20];

	for (size_t i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 1;
	return stack[4096] + 1;
}

static int closed_output(void)
{
	close(0);
	close(1);
	close(2);
	printf("%d\n", open("/dev/null", O_RDWR));
	return open("/dev/null", O_RDWR);
}

static void expired(union sigval value)
{
	nr_signals = value.sival_int;
}

static int timer(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD,
			       .sigev_notify_function = expired,
			       .sigev_value.sival_int = 3 };
	struct itimerspec soon = { { 0, 0 }, { 0, 1 } };
	timer_t t;

	if (timer_create(CLOCK_MONOTONIC, &ev, &t) || timer_settime(t, 0, &soon, NULL))
		return 1;
	while (!nr_signals)
		sched_yield();
	printf("%d\n", (int)nr_signals);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "plain", plain },
	{ "closes_all", closes_all },
	{ "files", files },
	{ "no_folder", no_folder },
	{ "signals", signals },
	{ "storm", storm },
	{ "other_stack", other_stack },
	{ "limits", limits },
	{ "self", self },
	{ "children", children },
	{ "threads", threads },
	{ "main_leaves", main_leaves },
	{ "looks_up", looks_up },
	{ "namespaces", namespaces },
	{ "aborts", aborts },
	{ "killed", killed },
	{ "alarmed", alarmed },
	{ "faults", faults },
	{ "quick", quick },
	{ "broken_pipe", broken_pipe },
	{ "empty_environment", empty_environment },
	{ "no_arguments", no_arguments },
	{ "new_session", new_session },
	{ "deep", deep },
	{ "closed_output", closed_output },
	{ "timer", timer },
};

int main(int argc, char **argv)
{
	args = argv;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc < 2)
			puts(modes[i].name);
		else if (!strcmp(argv[1], modes[i].name))
			return modes[i].run();
	return argc < 2 ? 0 : 100;
}
