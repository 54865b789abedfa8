/* SPDX-License-Identifier: MIT */
/* embed_cpp.cpp - a C++ program that gets its calls and kernels by callbacks, without a trace
 *
 *	embed_cpp [launches]
 */
#include <rtl/rtl.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

extern "C" long embed_work(int launches);

struct figures {
	std::map<std::string, long> begun, ended, kernels;
	long copies = 0, failed = 0, words = 0;
	unsigned long long gpu_ns = 0, launch = 0;
	long of_launches = 0;
};

static void check(rtl_status_t status, const char *what)
{
	if (status >= RTL_OK)
		return;
	std::fprintf(stderr, "%s: %s\n", what, rtl_status_text(status));
	std::exit(1);
}

/* On this program's only thread: no lock is needed. */
static void on_call(const rtl_call_t *call, void *user)
{
	figures *f = static_cast<figures *>(user);

	if (call->phase == RTL_CALL_BEGIN) {
		f->begun[call->name]++;
		return;
	}
	f->ended[call->name]++;
	f->words += call->nr_words;
	f->failed += call->status != 0;
}

/* One at a time; the figures are read after the flush. */
static void on_operation(const rtl_operation_t *op, void *user)
{
	figures *f = static_cast<figures *>(user);

	if (op->kind == RTL_KERNEL)
		f->kernels[op->name]++;
	else
		f->copies++;
	f->gpu_ns += op->end_ns - op->begin_ns;
	f->of_launches += op->correlation != 0;
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? (int)std::strtol(argv[1], nullptr, 10) : 10;
	static figures calls, operations;
	rtl_session_t session;

	check(rtl_session_open(nullptr, &session), "open");
	check(rtl_session_on_calls(session, on_call, &calls), "calls");
	check(rtl_session_on_operations(session, on_operation, &operations), "operations");
	if (embed_work(launches) != 0)
		return 2;
	check(rtl_session_stop(session), "stop");
	if (embed_work(7) != 0)
		return 2;
	check(rtl_session_start(session), "start");
	if (embed_work(1) != 0)
		return 2;
	check(rtl_session_close(session), "close");
	for (const auto &row : calls.ended)
		std::printf("call %s: %ld begun, %ld ended\n", row.first.c_str(),
			    calls.begun[row.first], row.second);
	for (const auto &row : operations.kernels)
		std::printf("kernel %s: %ld\n", row.first.c_str(), row.second);
	std::printf("copies: %ld; failed calls: %ld; with words: %s; with times: %s; joined: %ld\n",
		    operations.copies, calls.failed, calls.words ? "yes" : "no",
		    operations.gpu_ns ? "yes" : "no", operations.of_launches);
	return 0;
}
