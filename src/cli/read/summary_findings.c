/* SPDX-License-Identifier: MIT */
/* summary_findings.c - what is wrong with a program, each as a sentence with its numbers
 *
 * A finding is printed where its cost is at least a twentieth of the time after the start-up (analysis/wall.h).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/summary.h"
#include "cli/ui.h"

struct findings {
	struct summary *s;
	struct digest *d;
	char **out;
	size_t nr;
	uint64_t active; /* the time after the start-up, of which all shares are */
};

__attribute__((format(printf, 2, 3))) static void add_finding(struct findings *f, const char *fmt,
							      ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	if (f->nr == SUMMARY_FINDINGS)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		ui_die_memory();
	f->out[f->nr++] = text;
}

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* ---- one GPU is slower than the others ---- */

static double mean_of(const struct digest_sum *sum)
{
	uint64_t timed = sum->calls - sum->untimed;

	return timed ? (double)sum->ns / (double)timed : 0;
}

/* The median of the other GPUs' mean for that kernel; 0: no other GPU has it. */
static double mean_elsewhere(const struct digest *d, const struct digest_sum *own)
{
	double means[64];
	size_t nr = 0;

	for (size_t i = 0; i < d->kernels.nr && nr < 64; i++) {
		const struct digest_sum *o = &d->kernels.sums[i];
		size_t at = nr;

		if (o->id != own->id || o->gpu == own->gpu || mean_of(o) <= 0)
			continue;
		for (; at && means[at - 1] > mean_of(o); at--)
			means[at] = means[at - 1];
		means[at] = mean_of(o);
		nr++;
	}
	return nr ? means[(nr - 1) / 2] : 0;
}

static void find_slow_gpu(struct findings *f)
{
	const struct digest *d = f->d;
	int64_t slowest = -1;
	double worst = 1.2; /* what other differences explain */
	char time[UI_NUMBER_SIZE];
	uint64_t more = 0;

	for (size_t l = 1; l < d->nr_lanes; l++) {
		double own = 0, elsewhere = 0;

		for (size_t i = 0; i < d->kernels.nr; i++) {
			const struct digest_sum *k = &d->kernels.sums[i];
			double mean = k->gpu == d->lanes[l].gpu ? mean_elsewhere(d, k) : 0;

			if (mean <= 0)
				continue;
			own += (double)k->ns;
			elsewhere += mean * (double)(k->calls - k->untimed);
		}
		if (elsewhere <= 0 || own / elsewhere < worst)
			continue;
		worst = own / elsewhere;
		slowest = d->lanes[l].gpu;
		more = (uint64_t)(own - elsewhere);
	}
	if (slowest >= 0)
		add_finding(
			f,
			"GPU %lld is slow: the same kernels take %.2f times as long as on the other %zu "
			"GPU%s, %s more in all. Look at its clocks, power limit and temperature (rocm-smi), "
			"and at its share of the work.",
			(long long)slowest, worst, d->nr_lanes - 2, d->nr_lanes == 3 ? "" : "s",
			ui_time(time, more));
}

/* ---- the host waits where the program does not ask for it ---- */

/* Functions that wait for the GPU beside what they are for. */
static bool waits_unasked(const char *name)
{
	static const char *const names[] = { "hipFree",
					     "hipHostFree",
					     "hipMalloc",
					     "hipFreeHost",
					     "hipMemcpy",
					     "hipMemset",
					     "hipMemcpyDtoH",
					     "hipMemcpyHtoD",
					     "hipMemcpyDtoD",
					     "hipMemcpy2D",
					     "hipMemcpy3D",
					     "hipMemcpyToSymbol",
					     "hipStreamDestroy",
					     "hipModuleUnload",
					     "hipHostUnregister",
					     "hipMemcpyWithStream",
					     "hipMemcpyFromSymbol",
					     "hipFreeArray",
					     "hipMemGetInfo",
					     "hipHostMalloc",
					     "hipModuleLoadData",
					     "hipMemset2D",
					     "hipEventCreate" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void find_hidden_waits(struct findings *f)
{
	const struct digest *d = f->d;
	const struct digest_sum *worst = NULL;
	char time[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE], share[UI_NUMBER_SIZE];
	bool copies;

	for (size_t i = 0; i < d->calls.nr; i++) {
		const struct digest_sum *c = &d->calls.sums[i];

		if (waits_unasked(c->name) && c->nr_waits >= 10 &&
		    (!worst || c->wait_ns > worst->wait_ns))
			worst = c;
	}
	if (!worst || share_of(worst->wait_ns, f->active) < 0.05)
		return;
	copies = strncmp(worst->name, "hipMem", 6) == 0 && !strstr(worst->name, "Malloc");
	add_finding(
		f,
		"Hidden synchronisation: %s waited for the GPU %s times, %s in all, %s of the time: "
		"the GPU worked meanwhile and had nothing left to do when it returned. %s",
		worst->name, ui_count(count, worst->nr_waits), ui_time(time, worst->wait_ns),
		ui_share(share, worst->wait_ns, f->active),
		copies ?
			"Use its Async form with pinned memory, and wait where the result is needed." :
			"Keep memory and objects for later use instead, or use hipMallocAsync and hipFreeAsync.");
}

/* ---- kernels that are shorter than their launch ---- */

static void find_tiny_launches(struct findings *f)
{
	const struct digest *d = f->d;
	const struct digest_lane *all = &d->lanes[0];
	uint64_t calls = 0, ns = 0, used = (uint64_t)(all->until - all->first);
	char mean[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE], launch[UI_NUMBER_SIZE],
		share[UI_NUMBER_SIZE];
	uint64_t mean_ns;

	for (size_t i = 0; i < d->calls.nr; i++) {
		const struct digest_sum *c = &d->calls.sums[i];

		if (strstr(c->name, "Launch") && !strstr(c->name, "Graph")) {
			/* the first launch of a program loads its code */
			calls += c->calls;
			ns += c->ns - c->max_ns;
		}
	}
	if (calls < 100 || all->kernels < 100)
		return;
	mean_ns = all->kernel_ns / all->kernels;
	/* the GPU waits for the next launch: it is idle for most of the time in which it is used at all */
	if (mean_ns > 50000 || mean_ns > 4 * (ns / calls) || share_of(all->busy_ns, used) > 0.5 ||
	    calls < all->kernels / 2)
		return;
	add_finding(
		f,
		"Tiny launches: %s kernels take %s on average, a launch takes %s of the host, and the GPU is "
		"busy for %s of the time. Join kernels, give each "
		"more work, or launch them as a graph (hipGraphLaunch).",
		ui_count(count, all->kernels), ui_time(mean, mean_ns), ui_time(launch, ns / calls),
		ui_share(share, all->busy_ns, f->active));
}

/* ---- streams that run one after the other ---- */

static void find_serial_streams(struct findings *f)
{
	const struct digest *d = f->d;
	const struct digest_lane *all = &d->lanes[0];
	char count[UI_NUMBER_SIZE], share[UI_NUMBER_SIZE];
	uint64_t together = 0;

	for (size_t i = 1; i < d->nr_lanes; i++)
		together += d->lanes[i].kernel_ns - d->lanes[i].compute_ns;
	if (d->nr_streams < 2 || all->kernels < 20 || d->nr_order < 10 || d->nr_sampled < 20 ||
	    share_of(together, all->kernel_ns) > 0.05)
		return;
	if (share_of(d->nr_behind, d->nr_order) < 0.5 || share_of(all->kernel_ns, f->active) < 0.05)
		return;
	add_finding(
		f,
		"Serialised streams: kernels were launched on %llu streams, and no two of them ran at the same time "
		"(%s of their time). %s of %llu changes of the stream waited for the kernel of the other one. "
		"Look for events and the null stream between them; hipStreamNonBlocking streams do not wait for "
		"the null stream.",
		(unsigned long long)d->nr_streams, ui_share(share, together, all->kernel_ns),
		ui_count(count, d->nr_behind), (unsigned long long)d->nr_order);
}

/* ---- copies ---- */

static void find_unpinned(struct findings *f)
{
	const struct digest *d = f->d;
	char bytes[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE], time[UI_NUMBER_SIZE];
	char rate[UI_NUMBER_SIZE], share[UI_NUMBER_SIZE];

	if (d->unpinned_bytes < (1 << 20) || d->unpinned_bytes < d->pinned_bytes ||
	    share_of(d->unpinned_ns, f->active) < 0.05 || !d->unpinned_ns)
		return;
	add_finding(
		f,
		"Unpinned copies: %s calls copied %s from or to pageable host memory, in %s (%s of the time), "
		"at %s/s. They go through a buffer of the runtime and block the host. Allocate the memory with "
		"hipHostMalloc, or pin it with hipHostRegister.",
		ui_count(count, d->unpinned_calls), ui_bytes(bytes, d->unpinned_bytes),
		ui_time(time, d->unpinned_ns), ui_share(share, d->unpinned_ns, f->active),
		ui_bytes(rate,
			 (uint64_t)((double)d->unpinned_bytes * 1e9 / (double)d->unpinned_ns)));
}

static void find_no_overlap(struct findings *f)
{
	const struct digest_lane *all = &f->d->lanes[0];
	uint64_t both = all->compute_ns + all->transfer_ns - all->busy_ns;
	char copies[UI_NUMBER_SIZE], kernels[UI_NUMBER_SIZE], share[UI_NUMBER_SIZE];

	if (share_of(all->transfer_ns, f->active) < 0.1 ||
	    share_of(all->compute_ns, f->active) < 0.1 ||
	    share_of(both,
		     all->transfer_ns < all->compute_ns ? all->transfer_ns : all->compute_ns) > 0.1)
		return;
	add_finding(
		f,
		"Copies (%s) and kernels (%s) do not overlap: %s of the copies' time has a kernel. Copy the next "
		"part on a stream of its own while a kernel works.",
		ui_time(copies, all->transfer_ns), ui_time(kernels, all->compute_ns),
		ui_share(share, both, all->transfer_ns));
}

/* ---- idle GPUs, failed calls, occupancy ---- */

static void find_idle(struct findings *f)
{
	const struct digest *d = f->d;
	const struct digest_sum *worst = NULL;
	const char *who = d->nr_lanes > 2 ? "No GPU works for" : "The GPU is idle for";
	char idle[UI_NUMBER_SIZE], time[UI_NUMBER_SIZE], outside[UI_NUMBER_SIZE],
		share[UI_NUMBER_SIZE];

	for (size_t i = 0; i < d->calls.nr; i++)
		if (!worst || d->calls.sums[i].idle_ns > worst->idle_ns)
			worst = &d->calls.sums[i];
	if (share_of(d->lanes[0].idle_ns, d->wall.work_ns) < 0.5 || !d->nr_calls || !worst)
		return;
	if (d->outside_ns > worst->idle_ns)
		add_finding(
			f,
			"%s %s of the time (%s): the host is outside of calls for %s of it, most in %s "
			"otherwise (%s).",
			who, ui_share(share, d->lanes[0].idle_ns, d->wall.work_ns),
			ui_time(idle, d->lanes[0].idle_ns), ui_time(outside, d->outside_ns),
			worst->name, ui_time(time, worst->idle_ns));
	else
		add_finding(f, "%s %s of the time (%s): %s takes %s of it, in %llu call%s.", who,
			    ui_share(share, d->lanes[0].idle_ns, d->wall.work_ns),
			    ui_time(idle, d->lanes[0].idle_ns), worst->name,
			    ui_time(time, worst->idle_ns), (unsigned long long)worst->calls,
			    worst->calls == 1 ? "" : "s");
}

/* Kernels among which those of a finding keep names that differ. */
#define OCCUPANCY_NAMES 32

static void find_occupancy(struct findings *f)
{
	const char *whole[OCCUPANCY_NAMES];
	struct digest_sums kernels = { 0 };
	char **names;
	size_t nr;

	if (digest_join(&f->d->kernels, &kernels))
		ui_die_memory();
	nr = kernels.nr < OCCUPANCY_NAMES ? kernels.nr : OCCUPANCY_NAMES;
	for (size_t i = 0; i < nr; i++)
		whole[i] = kernels.sums[i].name;
	names = names_make(whole, nr, NAMES_SHORT, 60);
	for (size_t i = 0; i < nr && i < 3; i++) {
		const struct digest_sum *k = &kernels.sums[i];
		struct summary_occupancy o = summary_occupancy_of(f->s, k->name);
		char share[UI_NUMBER_SIZE];

		if (!o.max_waves || o.waves * 4 > o.max_waves ||
		    share_of(k->ns, f->d->lanes[0].kernel_ns) < 0.1)
			continue;
		add_finding(
			f,
			"Occupancy of %s (%s of the kernels' time) is %u of %u waves for a SIMD: limited "
			"by its %s.",
			names[i], ui_share(share, k->ns, f->d->lanes[0].kernel_ns), o.waves,
			o.max_waves, o.limit);
	}
	names_free(names, nr);
	digest_free_sums(&kernels, false);
}

size_t summary_findings(struct summary *s, char *out[SUMMARY_FINDINGS])
{
	struct findings f = { .s = s, .d = summary_digest(s), .out = out };

	if (f.d->lanes[0].until <= f.d->lanes[0].first)
		return 0;
	f.active = f.d->wall.work_ns;
	find_slow_gpu(&f);
	find_hidden_waits(&f);
	find_unpinned(&f);
	find_serial_streams(&f);
	find_tiny_launches(&f);
	find_no_overlap(&f);
	find_occupancy(&f);
	find_idle(&f);
	if (f.nr < SUMMARY_FINDINGS) {
		f.out[f.nr] = summary_path_finding(s);
		f.nr += f.out[f.nr] != NULL;
	}
	return f.nr;
}
