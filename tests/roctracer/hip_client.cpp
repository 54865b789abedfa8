/* SPDX-License-Identifier: MIT */
/* hip_client.cpp - a client that traces its own HIP calls and operations
 *
 *	hip_client launches=N threads=N buffer=BYTES what=all|ops|api|callbacks sleep=US stop=0|1
 *	devices=N
 *
 * Prints its calls and what was reported to it, a line each, and at the end a summary; the test
 * compares.
 */
#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_hip.h"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		if (int err_ = (call)) {                                                           \
			printf("%s: %d %s\n", #call, err_, roctracer_error_string());              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

__global__ void hc_scale(float *data, float by)
{
	data[threadIdx.x] *= by;
}

struct Seen {
	uint32_t op, phase;
	uint64_t correlation;
};

static std::mutex seen_mutex;
static std::vector<Seen> seen;
static std::vector<activity_record_t> records;
static std::vector<std::string> kernels;
static std::atomic<int> nr_batches, nr_wrong;
static std::atomic<bool> in_callback;
static int sleep_us, devices;
static int argument;
static std::thread::id delivery;

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	nr_wrong++;
}

static void on_call(uint32_t domain, uint32_t cid, const void *data, void *arg)
{
	const hip_api_data_t *d = static_cast<const hip_api_data_t *>(data);

	if (domain != ACTIVITY_DOMAIN_HIP_API || arg != &argument)
		wrong("domain or argument of a callback");
	if (cid == HIP_API_ID_hipMalloc && d->args.hipMalloc.size != 4096)
		wrong("size of hipMalloc");
	if (cid == HIP_API_ID_hipMalloc && d->phase == ACTIVITY_API_PHASE_EXIT &&
	    !*d->args.hipMalloc.ptr)
		wrong("hipMalloc gave nothing at its end");
	if (cid == HIP_API_ID_hipMemcpy && d->args.hipMemcpy.sizeBytes != 4096)
		wrong("size of hipMemcpy");
	std::lock_guard<std::mutex> guard(seen_mutex);
	seen.push_back({ cid, d->phase, d->correlation_id });
}

static void on_records(const char *begin, const char *end, void *arg)
{
	const activity_record_t *r = reinterpret_cast<const activity_record_t *>(begin);
	const activity_record_t *last = reinterpret_cast<const activity_record_t *>(end);

	if (arg != &argument || begin == end || (end - begin) % sizeof(*r))
		wrong("range of records");
	if (in_callback.exchange(true))
		wrong("two deliveries at once");
	if (nr_batches++ && delivery != std::this_thread::get_id())
		wrong("delivery on two threads");
	delivery = std::this_thread::get_id();
	while (r < last) {
		records.push_back(*r);
		kernels.push_back(r->domain == ACTIVITY_DOMAIN_HIP_OPS && r->op == 0 &&
						  r->kernel_name ?
					  r->kernel_name :
					  "");
		CHECK(roctracer_next_record(r, &r));
	}
	if (sleep_us)
		usleep(sleep_us);
	in_callback = false;
}

static void work(int launches, bool with_ids)
{
	std::vector<float> host(1024, 1.0f);
	float *data = nullptr;
	hipStream_t stream;
	static std::atomic<int> nr_workers;
	int device = devices ? nr_workers++ % devices : 0;

	/* Device 0 as well: with HIP 5.2.3, also untraced, a thread that leaves it out while others
	 * begin on another device sometimes can't launch (error 98), or launches there. */
	if (devices && hipSetDevice(device))
		wrong("hipSetDevice");
	if (hipStreamCreate(&stream) || hipMalloc(&data, 4096) ||
	    hipMemcpy(data, host.data(), 4096, hipMemcpyHostToDevice))
		wrong("set-up");
	if (with_ids) {
		CHECK(roctracer_activity_push_external_correlation_id(31));
		CHECK(roctracer_activity_push_external_correlation_id(32));
	}
	for (int i = 0; i < launches; i++) {
		hc_scale<<<1, 64, 0, stream>>>(data, 2.0f);
		if (devices && hipGetLastError())
			wrong("launch");
		if (i % 1000 == 999 && hipStreamSynchronize(stream))
			wrong("hipStreamSynchronize");
	}
	if (with_ids) {
		activity_correlation_id_t id = 0;

		CHECK(roctracer_activity_pop_external_correlation_id(&id));
		if (id != 32)
			wrong("popped id");
	}
	if (hipStreamSynchronize(stream) || hipDeviceSynchronize() ||
	    hipMemcpy(host.data(), data, 4096, hipMemcpyDeviceToHost) || hipFree(data) ||
	    hipStreamDestroy(stream))
		wrong("tear-down");
	if (with_ids)
		CHECK(roctracer_activity_pop_external_correlation_id(nullptr));
}

/* Callback and argument N belong together, whatever is registered meanwhile. */
static int own[8];
static std::atomic<unsigned long> nr_seen;

template <int N> static void on_toggled(uint32_t domain, uint32_t, const void *data, void *arg)
{
	const hip_api_data_t *d = static_cast<const hip_api_data_t *>(data);

	if (domain != ACTIVITY_DOMAIN_HIP_API || arg != &own[N] || !d->correlation_id)
		wrong("callback and argument");
	nr_seen++;
}

static const activity_rtapi_callback_t toggled[8] = {
	on_toggled<0>, on_toggled<1>, on_toggled<2>, on_toggled<3>,
	on_toggled<4>, on_toggled<5>, on_toggled<6>, on_toggled<7>,
};

/* 8 threads register and remove while 8 call HIP. */
static void toggle(int nr_threads, int launches)
{
	std::vector<std::thread> workers, changers;
	std::atomic<bool> over{ false };

	for (int i = 0; i < 8; i++)
		changers.emplace_back([i, &over] {
			while (!over) {
				CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API,
								       toggled[i], &own[i]));
				CHECK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_API,
								    HIP_API_ID_hipMemcpy));
				CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
				CHECK(roctracer_flush_activity());
				CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
				if (i % 2)
					CHECK(roctracer_disable_domain_callback(
						ACTIVITY_DOMAIN_HIP_API));
			}
		});
	for (int i = 0; i < nr_threads; i++)
		workers.emplace_back(work, launches, false);
	for (std::thread &t : workers)
		t.join();
	over = true;
	for (std::thread &t : changers)
		t.join();
	printf("callbacks seen %d\n", nr_seen > 0);
}

static void summary()
{
	std::map<std::string, int> counts;
	std::map<uint64_t, uint32_t> call_of;
	std::set<uint64_t> api_ids;

	for (const Seen &s : seen)
		counts[std::string("callback ") + (s.phase ? "exit " : "enter ") +
		       roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, s.op, 0)]++;
	for (const Seen &s : seen) {
		if (!s.correlation)
			wrong("callback without an id");
		if (s.phase == ACTIVITY_API_PHASE_ENTER)
			call_of[s.correlation] = s.op;
		else if (call_of[s.correlation] != s.op)
			wrong("exit without enter");
	}
	for (size_t i = 0; i < records.size(); i++) {
		const activity_record_t &r = records[i];

		if (r.domain == ACTIVITY_DOMAIN_EXT_API) {
			counts["ext " + std::to_string(r.external_id)]++;
			if (i + 1 == records.size() ||
			    records[i + 1].correlation_id != r.correlation_id ||
			    records[i + 1].domain != ACTIVITY_DOMAIN_HIP_API)
				wrong("external id without its call");
			continue;
		}
		if (r.end_ns < r.begin_ns || !r.begin_ns)
			wrong("times of a record");
		counts[std::string(r.domain == ACTIVITY_DOMAIN_HIP_API ? "api " : "op ") +
		       roctracer_op_string(r.domain, r.op, r.kind)]++;
		if (r.domain == ACTIVITY_DOMAIN_HIP_API) {
			printf("call %llu %llu %s\n", (unsigned long long)r.begin_ns,
			       (unsigned long long)r.end_ns,
			       roctracer_op_string(r.domain, r.op, r.kind));
			if (!api_ids.insert(r.correlation_id).second)
				wrong("two calls of one id");
			if (call_of.count(r.correlation_id) && call_of[r.correlation_id] != r.op)
				wrong("call and callback differ");
			if (r.process_id != (uint32_t)getpid() || !r.thread_id || r.kind)
				wrong("process or thread of a record");
		}
	}
	for (size_t i = 0; i < records.size(); i++) {
		const activity_record_t &r = records[i];
		const char *call;

		if (r.domain != ACTIVITY_DOMAIN_HIP_OPS)
			continue;
		if (!r.correlation_id)
			wrong("operation without a call");
		if (r.op == HIP_OP_ID_DISPATCH) {
			printf("dispatch %llu %llu\n", (unsigned long long)r.begin_ns,
			       (unsigned long long)r.end_ns);
			counts["kernel " + kernels[i]]++;
			counts["device " + std::to_string(r.device_id)]++;
		}
		/* HIP writes small copies to the device itself: there is no operation of the
		 * GPU's */
		if (r.op == HIP_OP_ID_COPY && r.kind == 0x11f3)
			printf("copy %llu %llu\n", (unsigned long long)r.begin_ns,
			       (unsigned long long)r.end_ns);
		if (!call_of.count(r.correlation_id))
			continue;
		call = roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, call_of[r.correlation_id], 0);
		counts[std::string("caused ") +
		       roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, r.op, r.kind) + " " + call]++;
	}
	for (const auto &c : counts)
		printf("count %d %s\n", c.second, c.first.c_str());
	printf("batches %d\nwrong %d\n", nr_batches > 1 ? 2 : nr_batches.load(), nr_wrong.load());
}

int main(int argc, char **argv)
{
	std::map<std::string, std::string> o = { { "launches", "10" }, { "threads", "1" },
						 { "buffer", "4096" }, { "what", "all" },
						 { "toggle", "0" },    { "sleep", "0" },
						 { "stop", "0" },      { "devices", "0" } };
	roctracer_properties_t props{};
	std::vector<std::thread> threads;
	std::string what;

	for (int i = 1; i < argc; i++) {
		const char *is = strchr(argv[i], '=');

		if (is)
			o[std::string(argv[i], is - argv[i])] = is + 1;
	}
	what = o["what"];
	devices = (int)strtol(o["devices"].c_str(), nullptr, 10);
	sleep_us = (int)strtol(o["sleep"].c_str(), nullptr, 10);
	props.buffer_size = strtoull(o["buffer"].c_str(), nullptr, 0);
	props.buffer_callback_fun = on_records;
	props.buffer_callback_arg = &argument;
	CHECK(roctracer_open_pool(&props));
	if (what == "all" || what == "callbacks")
		CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, on_call,
						       &argument));
	if (what == "all" || what == "api")
		CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
	if (what == "all" || what == "ops")
		CHECK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS));
	if (o["toggle"] == "1")
		toggle(8, 300);
	if (o["stop"] == "1") {
		roctracer_stop();
		work(3, false);
		roctracer_start();
	}
	for (int i = 0; i < strtol(o["threads"].c_str(), nullptr, 10); i++)
		threads.emplace_back(work, (int)strtol(o["launches"].c_str(), nullptr, 10),
				     o["threads"] == "1");
	for (std::thread &t : threads)
		t.join();
	CHECK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HIP_API));
	CHECK(roctracer_flush_activity());
	CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HIP_API));
	CHECK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS));
	work(2, false);
	CHECK(roctracer_close_pool());
	summary();
	return nr_wrong != 0;
}
