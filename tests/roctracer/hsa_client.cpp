/* SPDX-License-Identifier: MIT */
/* hsa_client.cpp - a client that traces HSA's calls and copies below a HIP program
 *
 *	hsa_client [stop]
 *
 * Prints a line for each thing that is not as it should be, counts, and what the calls looked like.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_hip.h"
#include "roctracer/roctracer_hsa.h"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		if (int err_ = (call)) {                                                           \
			printf("%s: %d %s\n", #call, err_, roctracer_error_string());              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct Call {
	uint32_t op;
	bool is_over;
};

static std::mutex mutex;
static std::map<uint64_t, Call> calls; /* by id */
static std::vector<activity_record_t> records;
static std::string queue_create;
static std::map<std::string, int> events;
static std::vector<std::string> kernels;
static int nr_wrong, nr_hip;

__global__ void hk_scale(float *data, int by)
{
	data[threadIdx.x] *= (float)by;
}

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	nr_wrong++;
}

static void on_call(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	const hsa_api_data_t *d = static_cast<const hsa_api_data_t *>(data);
	std::lock_guard<std::mutex> guard(mutex);

	if (domain != ACTIVITY_DOMAIN_HSA_API || arg != &calls || !d->correlation_id)
		wrong("domain, argument or id of a callback");
	if (d->phase == ACTIVITY_API_PHASE_ENTER) {
		if (*d->phase_data)
			wrong("phase data at the begin");
		*d->phase_data = 0x1234 + cid;
		if (!calls.insert({ d->correlation_id, { cid, false } }).second)
			wrong("two calls of one id");
		return;
	}
	if (*d->phase_data != 0x1234 + cid)
		wrong("phase data at the end");
	if (!calls.count(d->correlation_id) || calls[d->correlation_id].op != cid)
		wrong("exit without enter");
	calls[d->correlation_id].is_over = true;
	if (cid == HSA_API_ID_hsa_queue_create && queue_create.empty()) {
		std::ostringstream text;

		text << hsa_api_data_pair_t(cid, *d);
		queue_create = text.str();
		if (!*d->args.hsa_queue_create.queue)
			wrong("hsa_queue_create gave nothing at its end");
	}
}

static void on_hip(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	(void)domain;
	(void)cid;
	(void)data;
	(void)arg;
	nr_hip++;
}

/* Callbacks of HSA events: a kernel's name is demangled. */
static void on_event(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	const hsa_evt_data_t *d = static_cast<const hsa_evt_data_t *>(data);
	std::lock_guard<std::mutex> guard(mutex);

	if (domain != ACTIVITY_DOMAIN_HSA_EVT || arg != &calls)
		wrong("domain or argument of an event");
	events[roctracer_op_string(domain, cid, 0)]++;
	if (cid == HSA_EVT_ID_SUBMIT && d->submit.kernel_name)
		kernels.push_back(d->submit.kernel_name);
}

static void on_records(const char *begin, const char *end, void *arg)
{
	const activity_record_t *r = reinterpret_cast<const activity_record_t *>(begin);

	(void)arg;
	records.insert(records.end(), r, reinterpret_cast<const activity_record_t *>(end));
}

int main(int argc, char **argv)
{
	bool stop = argc > 1 && !strcmp(argv[1], "stop");
	const size_t size = 1 << 20;
	std::vector<char> host(size, 1);
	roctracer_properties_t props{};
	std::map<std::string, int> counts;
	int nr_copies = 0, nr_linked = 0, nr_calls = 0;
	void *data = nullptr;

	props.buffer_size = 0x1000;
	props.buffer_callback_fun = on_records;
	CHECK(roctracer_open_pool(&props));
	CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_API, on_call, &calls));
	CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_API));
	CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_OPS));
	CHECK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, HIP_API_ID_hipMemcpy, on_hip,
					   nullptr));
	CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT, on_event, &calls));
	if (stop)
		roctracer_stop();
	if (hipMalloc(&data, size) || hipMemcpy(data, host.data(), size, hipMemcpyHostToDevice) ||
	    hipMemcpy(host.data(), data, size, hipMemcpyDeviceToHost))
		wrong("HIP");
	hk_scale<<<1, 64>>>(static_cast<float *>(data), 2);
	if (hipDeviceSynchronize() || hipFree(data))
		wrong("HIP");
	CHECK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT));
	CHECK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_API));
	CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HSA_API));
	if (hipDeviceSynchronize())
		wrong("hipDeviceSynchronize");
	/* a copy ends for the program a moment before its record is written */
	for (int i = 0; i < 200 && !stop; i++) {
		const timespec ms = { 0, 5000000 };

		CHECK(roctracer_flush_activity());
		nr_copies = 0;
		for (const activity_record_t &r : records)
			nr_copies += r.domain == ACTIVITY_DOMAIN_HSA_OPS;
		if (nr_copies >= 2)
			break;
		nanosleep(&ms, nullptr);
	}
	/* a copy that ends after the disabling has no record */
	CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HSA_OPS));
	if (hipMalloc(&data, size) || hipMemcpy(data, host.data(), size, hipMemcpyHostToDevice) ||
	    hipFree(data))
		wrong("HIP");
	CHECK(roctracer_close_pool());
	nr_copies = 0;
	for (const activity_record_t &r : records) {
		if (r.end_ns < r.begin_ns || !r.begin_ns || !r.correlation_id)
			wrong("times or id of a record");
		if (r.domain == ACTIVITY_DOMAIN_HSA_OPS) {
			nr_copies++;
			printf("copy op %u bytes %zu\n", r.op, r.bytes);
			continue;
		}
		nr_calls++;
		counts[roctracer_op_string(r.domain, r.op, r.kind)]++;
		if (r.domain != ACTIVITY_DOMAIN_HSA_API || !calls.count(r.correlation_id) ||
		    calls[r.correlation_id].op != r.op)
			wrong("a record without its callback");
		else
			nr_linked++;
	}
	for (const auto &c : calls) {
		if (!c.second.is_over)
			counts["(open)"]++;
	}
	printf("all linked %d\n", nr_linked == nr_calls && nr_calls > 0);
	printf("hip callbacks %d copies %d open %d\n", nr_hip, nr_copies, counts["(open)"]);
	printf("as many records as ended calls %d\n",
	       nr_calls + counts["(open)"] == (int)calls.size());
	printf("queues %d signals %d allocations %d\n", counts["hsa_queue_create"] > 0,
	       counts["hsa_signal_create"] + counts["hsa_amd_signal_create"] > 0,
	       counts["hsa_amd_memory_pool_allocate"] > 0);
	for (const std::string &k : kernels)
		printf("packet of %s\n", k.c_str());
	printf("events %d %d %d %d %d\n", events["ALLOCATE"] > 0, events["DEVICE"] > 0,
	       events["MEMCOPY"], events["KSYMBOL"] > 0, events["CODEOBJ"] > 0);
	printf("%s\nwrong %d\n", queue_create.c_str(), nr_wrong);
	return nr_wrong != 0;
}
