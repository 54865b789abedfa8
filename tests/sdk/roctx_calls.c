/* SPDX-License-Identifier: MIT */
/* roctx_calls.c - a program that is linked with librocprofiler-sdk-roctx: each of its functions;
 * prints what they return */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rocprofiler-sdk-roctx/roctx.h>

int main(void)
{
	roctx_thread_id_t tid = 0;
	roctx_range_id_t id;
	char text[] = "outer";
	int result;

	roctxMark("m");
	printf("push %d\n", roctxRangePush(text));
	memset(text, 'x', strlen(text)); /* the range has its text still */
	printf("push %d\n", roctxRangePush(NULL));
	printf("pop %d\n", roctxRangePop());
	printf("pop %d\n", roctxRangePop());
	printf("pop %d\n", roctxRangePop());
	id = roctxRangeStart("s");
	roctxRangeStop(id);
	printf("start %llu\n", (unsigned long long)id);
	result = roctxGetThreadId(&tid);
	printf("thread %d %d %d\n", result, tid == (roctx_thread_id_t)gettid(),
	       roctxGetThreadId(NULL));
	printf("name %d\n", roctxNameOsThread("worker"));
	printf("name %d\n",
	       roctxNameHsaAgent("agent", (const struct hsa_agent_s *)(const void *)&tid));
	printf("name %d\n", roctxNameHipDevice("device", 3));
	printf("name %d\n", roctxNameHipStream("stream", NULL));
	printf("pause %d\n", roctxProfilerPause(0));
	roctxMark("paused");
	printf("resume %d\n", roctxProfilerResume(0));
	roctxMark("again");
	return 0;
}
