/* SPDX-License-Identifier: MIT */
/* argument.c - texts of arguments wherever they are: in the stack of the thread, of another one, of
 * a coroutine, in constants, in the heap, at the end of what is mapped, nowhere; before a fork and
 * after it. Built for each ABI. Exits with 1 if something was not as it should be.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"

#define PAGE ((size_t)4096)
#define LONG 3000

static int nr_wrong;
static const char *expected;
static char seen[2 * PAGE];

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	(void)version;
	(void)runtime_version;
	(void)priority;
	(void)id;
	return NULL;
}

static int on_argument(rocprofiler_callback_tracing_kind_t kind,
		       rocprofiler_tracing_operation_t operation, uint32_t number,
		       const void *value, int32_t indirections, const char *type, const char *name,
		       const char *text, int32_t dereferences, void *arg)
{
	(void)kind;
	(void)operation;
	(void)number;
	(void)value;
	(void)indirections;
	(void)type;
	(void)name;
	(void)dereferences;
	(void)arg;
	snprintf(seen, sizeof(seen), "%s", text);
	return 0;
}

/* What an argument that points there is shown as: `text`, or the address if that is NULL. */
static void shows(const char *at, const char *text)
{
	rocprofiler_callback_tracing_marker_api_data_t call = { .size = sizeof(call) };
	const rocprofiler_callback_tracing_record_t record = {
		.kind = ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
		.operation = ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA,
		.payload = &call,
	};
	char address[32];

	snprintf(address, sizeof(address), "0x%lx", (unsigned long)(uintptr_t)at);
	expected = text ? text : address;
	call.args.roctxMarkA.message = at;
	IS(rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 1, NULL),
	   ROCPROFILER_STATUS_SUCCESS);
	TEXT(seen, expected);
}

static void show_stack(void)
{
	char local[] = "in the stack", large[LONG + 1];

	memset(large, 'x', LONG);
	large[LONG] = '\0';
	shows(local, "in the stack");
	shows(local + sizeof(local) - 1, "");
	shows(large, large);
}

/* Below the end of a page behind which nothing is; the page is not the program's any more, then. */
static void show_mapped(void)
{
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = pages + PAGE;

	if (pages == MAP_FAILED)
		exit(2);
	munmap(end, PAGE);
	memcpy(end - 6, "inside", 6);
	shows(end - 6, "inside");
	memset(pages, 'y', PAGE - 1);
	end[-1] = '\0';
	shows(pages, pages);
	shows(end, NULL);
	mprotect(pages, PAGE, PROT_NONE);
	shows(pages, NULL);
	munmap(pages, PAGE);
	shows(pages, NULL);
}

static void show_all(void)
{
	static const char constant[] = "a constant";
	static char variable[] = "a variable";
	char *heap = strdup("in the heap");

	shows(constant, constant);
	shows(variable, variable);
	shows(heap, heap);
	free(heap);
	show_stack();
	show_mapped();
	shows((const char *)1, NULL);
	shows((const char *)UINTPTR_MAX, NULL);
}

static void *in_thread(void *others)
{
	shows(others, "of another thread");
	show_all();
	return NULL;
}

/* Its stack is memory of the program's, and the thread's own stack is that of another function. */
static void show_coroutine(void)
{
	static char stack[256 << 10] __attribute__((aligned(64)));
	static ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, show_all, 0);
	swapcontext(&here, &there);
}

static int show_in_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		char *own = strdup("the child's own");

		nr_wrong = 0;
		show_all();
		shows(own, "the child's own");
		_exit(nr_wrong != 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	char of_main[] = "of another thread";
	pthread_t thread;

	IS(rocprofiler_force_configure(rocprofiler_configure), ROCPROFILER_STATUS_SUCCESS);
	show_all();
	pthread_create(&thread, NULL, in_thread, of_main);
	pthread_join(thread, NULL);
	show_coroutine();
	IS(show_in_child(), 0);
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
