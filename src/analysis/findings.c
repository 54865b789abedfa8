/* SPDX-License-Identifier: MIT */
/* findings.c - what is wrong with a program, each as a sentence with its numbers
 *
 * Fails:    out of memory and errors of the file end the search.
 */
#include "analysis/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/collective.h"
#include "analysis/critical.h"
#include "analysis/imbalance.h"
#include "analysis/occupancy.h"
#include "base/alloc.h"
#include "query/apart.h"
#include "query/figure.h"
#include "query/rows.h"
#include "query/slice.h"

/* What a finding needs of the recording, and what it is about. */
enum {
	NEEDS_CALLS = 1,   /* all calls of HIP */
	NEEDS_KERNELS = 2, /* all operations */
	NEEDS_WHOLE = 4,   /* all of the time */
	OF_COLLECTIVES = 8 /* nothing; a trace without collectives can't have it */
};

struct search {
	struct query *q;
	struct digest *d;
	struct findings *out;
	const struct finder *finder; /* whose turn it is */
	uint64_t active;	     /* the time after the start-up, of which all shares are */
	struct apart apart;
	struct collectives collectives;
	int error;
};

struct finder {
	const char *id, *query;
	unsigned int needs;
	void (*find)(struct search *f);
};

const char *findings_severity_name(enum findings_severity severity)
{
	static const char *const names[] = { "high", "medium", "low", "note" };

	return names[severity];
}

/* malloc'd; NULL: out of memory, which f->error says. */
static char *format_text(struct search *f, const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	text = n < 0 ? NULL : alloc_heap((size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, again);
	else
		f->error = -ENOMEM;
	va_end(again);
	return text;
}

__attribute__((format(printf, 3, 4))) static struct finding *
add_finding(struct search *f, enum findings_severity severity, const char *fmt, ...)
{
	struct findings *out = f->out;
	struct finding *grown = alloc_grow(out->list, out->nr, &out->max, 8, sizeof(*grown));
	char *text;
	va_list ap;

	if (!grown) {
		f->error = -ENOMEM;
		return NULL;
	}
	out->list = grown;
	va_start(ap, fmt);
	text = format_text(f, fmt, ap);
	va_end(ap);
	if (!text)
		return NULL;
	grown[out->nr] = (struct finding){
		.id = f->finder->id, .severity = severity, .text = text, .query = f->finder->query
	};
	return &grown[out->nr++];
}

static void add_number(struct finding *found, const char *key, const char *unit, double value)
{
	if (found && found->nr_numbers < FINDINGS_NUMBERS)
		found->numbers[found->nr_numbers++] = (struct finding_number){ key, unit, value };
}

static void add_symbol(struct search *f, struct finding *found, const char *label)
{
	if (!found || found->nr_symbols == FINDINGS_SYMBOLS)
		return;
	found->symbols[found->nr_symbols] = alloc_string(label);
	if (found->symbols[found->nr_symbols])
		found->nr_symbols++;
	else
		f->error = -ENOMEM;
}

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static enum findings_severity severity_of(const struct search *f, uint64_t ns)
{
	double share = share_of(ns, f->active);

	return share >= 0.5 ? FINDINGS_HIGH : share >= 0.2 ? FINDINGS_MEDIUM : FINDINGS_LOW;
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

static void find_slow_gpu(struct search *f)
{
	const struct digest *d = f->d;
	int64_t slowest = -1;
	struct finding *found;
	double worst = 1.2; /* what other differences explain */
	char time[FIGURE_SIZE];
	uint64_t more = 0;

	for (size_t l = 1; l < d->nr_gpus; l++) {
		double own = 0, elsewhere = 0;

		for (size_t i = 0; i < d->kernels.nr; i++) {
			const struct digest_sum *k = &d->kernels.sums[i];
			double mean = k->gpu == d->gpus[l].gpu ? mean_elsewhere(d, k) : 0;

			if (mean <= 0)
				continue;
			own += (double)k->ns;
			elsewhere += mean * (double)(k->calls - k->untimed);
		}
		if (elsewhere <= 0 || own / elsewhere < worst)
			continue;
		worst = own / elsewhere;
		slowest = d->gpus[l].gpu;
		more = (uint64_t)(own - elsewhere);
	}
	if (slowest < 0)
		return;
	found = add_finding(
		f, FINDINGS_MEDIUM,
		"GPU %lld is slow: the same kernels take %.2f times as long as on the other %zu "
		"GPU%s, %s more in all. Look at its clocks, power limit and temperature (rocm-smi), "
		"and at its share of the work.",
		(long long)slowest, worst, d->nr_gpus - 2, d->nr_gpus == 3 ? "" : "s",
		figure_time(time, more));
	add_number(found, "gpu", "1", (double)slowest);
	add_number(found, "times_as_long", "1", worst);
	add_number(found, "more_ns", "ns", (double)more);
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

static void find_hidden_waits(struct search *f)
{
	const struct digest *d = f->d;
	const struct digest_sum *worst = NULL;
	char time[FIGURE_SIZE], count[FIGURE_SIZE], share[FIGURE_SIZE];
	struct finding *found;
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
	found = add_finding(
		f, severity_of(f, worst->wait_ns),
		"Hidden synchronisation: %s waited for the GPU %s times, %s in all, %s of the time: "
		"the GPU worked meanwhile and had nothing left to do when it returned. %s",
		worst->name, figure_count(count, worst->nr_waits),
		figure_time(time, worst->wait_ns), figure_share(share, worst->wait_ns, f->active),
		copies ?
			"Use its Async form with pinned memory, and wait where the result is needed." :
			"Keep memory and objects for later use instead, or use hipMallocAsync and hipFreeAsync.");
	add_number(found, "waits", "1", (double)worst->nr_waits);
	add_number(found, "wait_ns", "ns", (double)worst->wait_ns);
	add_number(found, "share", "1", share_of(worst->wait_ns, f->active));
}

/* ---- kernels that are shorter than their launch ---- */

static void find_tiny_launches(struct search *f)
{
	const struct digest *d = f->d;
	const struct digest_gpu *all = &d->gpus[0];
	uint64_t calls = 0, ns = 0, used = (uint64_t)(all->until - all->first);
	char mean[FIGURE_SIZE], count[FIGURE_SIZE], launch[FIGURE_SIZE], share[FIGURE_SIZE];
	struct finding *found;
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
	/* the GPU waits for the next launch: it is idle for most of the time in which it is used at
	 * all */
	if (mean_ns > 50000 || mean_ns > 4 * (ns / calls) || share_of(all->busy_ns, used) > 0.5 ||
	    calls < all->kernels / 2)
		return;
	found = add_finding(
		f, FINDINGS_MEDIUM,
		"Tiny launches: %s kernels take %s on average, a launch takes %s of the host, and the GPU is "
		"busy for %s of the time. Join kernels, give each "
		"more work, or launch them as a graph (hipGraphLaunch).",
		figure_count(count, all->kernels), figure_time(mean, mean_ns),
		figure_time(launch, ns / calls), figure_share(share, all->busy_ns, f->active));
	add_number(found, "kernels", "1", (double)all->kernels);
	add_number(found, "kernel_mean_ns", "ns", (double)mean_ns);
	add_number(found, "launch_mean_ns", "ns", (double)(ns / calls));
	add_number(found, "busy_share", "1", share_of(all->busy_ns, f->active));
}

/* ---- streams that run one after the other ---- */

static void find_serial_streams(struct search *f)
{
	const struct digest *d = f->d;
	const struct digest_gpu *all = &d->gpus[0];
	char count[FIGURE_SIZE], share[FIGURE_SIZE];
	struct finding *found;
	uint64_t together = 0;

	for (size_t i = 1; i < d->nr_gpus; i++)
		together += d->gpus[i].kernel_ns - d->gpus[i].compute_ns;
	if (d->nr_streams < 2 || all->kernels < 20 || d->nr_order < 10 || d->nr_sampled < 20 ||
	    share_of(together, all->kernel_ns) > 0.05)
		return;
	if (share_of(d->nr_behind, d->nr_order) < 0.5 || share_of(all->kernel_ns, f->active) < 0.05)
		return;
	found = add_finding(
		f, severity_of(f, all->kernel_ns),
		"Serialised streams: kernels were launched on %llu streams, and no two of them ran at the same time "
		"(%s of their time). %s of %llu changes of the stream waited for the kernel of the other one. "
		"Look for events and the null stream between them; hipStreamNonBlocking streams do not wait for "
		"the null stream.",
		(unsigned long long)d->nr_streams, figure_share(share, together, all->kernel_ns),
		figure_count(count, d->nr_behind), (unsigned long long)d->nr_order);
	add_number(found, "streams", "1", (double)d->nr_streams);
	add_number(found, "overlap_share", "1", share_of(together, all->kernel_ns));
	add_number(found, "waiting_share", "1", share_of(d->nr_behind, d->nr_order));
}

/* ---- copies ---- */

static void find_unpinned(struct search *f)
{
	const struct digest *d = f->d;
	char bytes[FIGURE_SIZE], count[FIGURE_SIZE], time[FIGURE_SIZE];
	char rate[FIGURE_SIZE], share[FIGURE_SIZE];
	struct finding *found;

	if (d->unpinned_bytes < (1 << 20) || d->unpinned_bytes < d->pinned_bytes ||
	    share_of(d->unpinned_ns, f->active) < 0.05 || !d->unpinned_ns)
		return;
	found = add_finding(
		f, severity_of(f, d->unpinned_ns),
		"Unpinned copies: %s calls copied %s from or to pageable host memory, in %s (%s of the time), "
		"at %s/s. They go through a buffer of the runtime and block the host. Allocate the memory with "
		"hipHostMalloc, or pin it with hipHostRegister.",
		figure_count(count, d->unpinned_calls), figure_bytes(bytes, d->unpinned_bytes),
		figure_time(time, d->unpinned_ns), figure_share(share, d->unpinned_ns, f->active),
		figure_bytes(rate,
			     (uint64_t)((double)d->unpinned_bytes * 1e9 / (double)d->unpinned_ns)));
	add_number(found, "calls", "1", (double)d->unpinned_calls);
	add_number(found, "bytes", "bytes", (double)d->unpinned_bytes);
	add_number(found, "copy_ns", "ns", (double)d->unpinned_ns);
	add_number(found, "share", "1", share_of(d->unpinned_ns, f->active));
}

static void find_no_overlap(struct search *f)
{
	const struct digest_gpu *all = &f->d->gpus[0];
	uint64_t both = all->compute_ns + all->transfer_ns - all->busy_ns;
	char copies[FIGURE_SIZE], kernels[FIGURE_SIZE], share[FIGURE_SIZE];
	struct finding *found;

	if (share_of(all->transfer_ns, f->active) < 0.1 ||
	    share_of(all->compute_ns, f->active) < 0.1 ||
	    share_of(both,
		     all->transfer_ns < all->compute_ns ? all->transfer_ns : all->compute_ns) > 0.1)
		return;
	found = add_finding(
		f, severity_of(f, all->transfer_ns),
		"Copies (%s) and kernels (%s) do not overlap: %s of the copies' time has a kernel. Copy the next "
		"part on a stream of its own while a kernel works.",
		figure_time(copies, all->transfer_ns), figure_time(kernels, all->compute_ns),
		figure_share(share, both, all->transfer_ns));
	add_number(found, "copy_ns", "ns", (double)all->transfer_ns);
	add_number(found, "kernel_ns", "ns", (double)all->compute_ns);
	add_number(found, "overlap_ns", "ns", (double)both);
}

/* ---- idle GPUs, occupancy ---- */

static void find_idle(struct search *f)
{
	const struct digest *d = f->d;
	const struct digest_sum *worst = NULL;
	const char *who = d->nr_gpus > 2 ? "No GPU works for" : "The GPU is idle for";
	char idle[FIGURE_SIZE], time[FIGURE_SIZE], outside[FIGURE_SIZE], share[FIGURE_SIZE];
	struct finding *found;

	for (size_t i = 0; i < d->calls.nr; i++)
		if (!worst || d->calls.sums[i].idle_ns > worst->idle_ns)
			worst = &d->calls.sums[i];
	if (share_of(d->gpus[0].idle_ns, d->wall.work_ns) < 0.5 || !d->nr_calls || !worst)
		return;
	if (d->outside_ns > worst->idle_ns)
		found = add_finding(
			f, severity_of(f, d->gpus[0].idle_ns),
			"%s %s of the time (%s): the host is outside of calls for %s of it, most in %s "
			"otherwise (%s).",
			who, figure_share(share, d->gpus[0].idle_ns, d->wall.work_ns),
			figure_time(idle, d->gpus[0].idle_ns), figure_time(outside, d->outside_ns),
			worst->name, figure_time(time, worst->idle_ns));
	else
		found = add_finding(f, severity_of(f, d->gpus[0].idle_ns),
				    "%s %s of the time (%s): %s takes %s of it, in %llu call%s.",
				    who, figure_share(share, d->gpus[0].idle_ns, d->wall.work_ns),
				    figure_time(idle, d->gpus[0].idle_ns), worst->name,
				    figure_time(time, worst->idle_ns),
				    (unsigned long long)worst->calls, worst->calls == 1 ? "" : "s");
	add_number(found, "idle_ns", "ns", (double)d->gpus[0].idle_ns);
	add_number(found, "share", "1", share_of(d->gpus[0].idle_ns, f->active));
	add_number(found, "idle_outside_calls_ns", "ns", (double)d->outside_ns);
	add_number(found, "idle_in_call_ns", "ns", (double)worst->idle_ns);
}

static void find_occupancy(struct search *f)
{
	struct digest_sums kernels = { 0 };
	sqlite3_stmt *stmt = NULL;

	f->error = digest_join(&f->d->kernels, &kernels);
	for (size_t i = 0; !f->error && i < kernels.nr && i < 3; i++) {
		const struct digest_sum *k = &kernels.sums[i];
		char share[FIGURE_SIZE], buf[LABEL_SIZE];
		const char *label = apart_label(&f->apart, buf, k->name);
		struct finding *found;
		struct occupancy o;

		f->error = occupancy_read(f->q, &stmt, k->name, &o);
		if (f->error || !o.max_waves || o.waves * 4 > o.max_waves ||
		    share_of(k->ns, f->d->gpus[0].kernel_ns) < 0.1)
			continue;
		found = add_finding(
			f, severity_of(f, k->ns),
			"Occupancy of %s (%s of the kernels' time) is %u of %u waves for a SIMD: limited "
			"by its %s.",
			label, figure_share(share, k->ns, f->d->gpus[0].kernel_ns), o.waves,
			o.max_waves, o.limit);
		add_symbol(f, found, label);
		add_number(found, "waves", "1", o.waves);
		add_number(found, "max_waves", "1", o.max_waves);
		add_number(found, "kernel_ns", "ns", (double)k->ns);
	}
	sqlite3_finalize(stmt);
	digest_free_sums(&kernels, false);
}

/* ---- the critical path ---- */

/* The digest stays small: the path needs all operations and calls in memory. */
#define PATH_ROWS 400000
#define RANK_ROWS 2000000 /* kernels, which are read once more */
/* Parts that the finding names, and the least share of each. */
#define PATH_PARTS 4
#define PATH_SHARE 0.05

/* Appends to the text; the first error stays. */
__attribute__((format(printf, 3, 4))) static void append(struct search *f, char **text,
							 const char *fmt, ...)
{
	size_t used = *text ? strlen(*text) : 0, size;
	char *more, *grown;
	va_list ap;

	va_start(ap, fmt);
	more = format_text(f, fmt, ap);
	va_end(ap);
	if (!more)
		return;
	size = strlen(more) + 1;
	grown = alloc_resize(*text, used + size, 1);
	if (!grown) {
		f->error = -ENOMEM;
	} else {
		memcpy(grown + used, more, size);
		*text = grown;
	}
	alloc_free(more);
}

static void add_part(struct search *f, struct finding *found, const struct critical_part *part,
		     uint64_t length)
{
	static const char *const forms[] = {
		[CRITICAL_KERNEL] = "kernel ",
		[CRITICAL_COPY] = "",
		[CRITICAL_CALL] = "",
		[CRITICAL_HOST] = "the host ",
		[CRITICAL_LAUNCH] = "the way to the GPU of ",
		[CRITICAL_WAIT] = "the time before ",
	};
	char share[FIGURE_SIZE], count[FIGURE_SIZE], time[FIGURE_SIZE], buf[LABEL_SIZE];
	bool is_type = part->kind == CRITICAL_COPY || part->copy;
	const char *name = "outside of calls";
	sqlite3_stmt *stmt = NULL;

	if (part->kind != CRITICAL_HOST) {
		f->error = query_prepare(f->q, &stmt, is_type ? ROWS_TYPE_NAME : QUERY_STRING);
		if (f->error)
			return;
		name = query_look_up(stmt, part->name);
		if (!is_type && part->kind != CRITICAL_CALL) {
			name = apart_label(&f->apart, buf, name);
			add_symbol(f, found, name);
		}
	}
	append(f, &found->text, "%s %s%s %s (%s x %s)", found->nr_numbers > 1 ? "," : "",
	       forms[part->kind], name, figure_share(share, part->ns, length),
	       figure_count(count, part->count), figure_time(time, part->ns / part->count));
	add_number(found, "part_ns", "ns", (double)part->ns);
	sqlite3_finalize(stmt);
}

static void find_path(struct search *f)
{
	struct critical c = { 0 };
	char time[FIGURE_SIZE];
	struct finding *found;
	uint64_t length;

	if (f->d->nr_calls + f->d->gpus[0].kernels + f->d->gpus[0].copies > PATH_ROWS)
		return;
	f->error = rows_prepare(f->q);
	if (!f->error)
		f->error = critical_read(f->q, f->d->wall.work, &c);
	length = (uint64_t)(c.end - c.begin);
	if (!f->error && c.nr && share_of(c.parts[0].ns, length) >= PATH_SHARE) {
		found = add_finding(f, FINDINGS_NOTE, "The critical path (--critical-path) of %s:",
				    figure_time(time, length));
		add_number(found, "path_ns", "ns", (double)length);
		for (size_t i = 0; found && !f->error && i < c.nr && i < PATH_PARTS &&
				   share_of(c.parts[i].ns, length) >= PATH_SHARE;
		     i++)
			add_part(f, found, &c.parts[i], length);
		if (found && !f->error)
			append(f, &found->text, ".");
	}
	critical_fini(&c);
}

/* ---- ranks and collectives ---- */

/* Another finder may have read them. */
static bool read_collectives(struct search *f)
{
	if (slice_is_set(f->d->filter) || !collective_may_be(f->q))
		return false;
	if (!f->collectives.nr_parties)
		f->error = collective_read(f->q, NULL, NULL, NULL, &f->collectives);
	return !f->error;
}

/* The one that holds up the others for longest. */
static void find_late_rank(struct search *f)
{
	char mean[FIGURE_SIZE], last[FIGURE_SIZE], all[FIGURE_SIZE], share[FIGURE_SIZE];
	const struct collective_member *late = NULL;
	const struct collective_group *in = NULL;
	struct finding *found;

	if (!read_collectives(f))
		return;
	for (size_t i = 0; i < f->collectives.nr_groups; i++)
		for (size_t k = 0; k < f->collectives.groups[i].nr_members; k++) {
			const struct collective_member *m = &f->collectives.groups[i].members[k];

			if (m->verdict != COLLECTIVE_LATE || (late && m->late_ns <= late->late_ns))
				continue;
			late = m;
			in = &f->collectives.groups[i];
		}
	if (!late || share_of(late->late_ns, f->active) < 0.05)
		return;
	found = add_finding(
		f, severity_of(f, late->late_ns),
		"The other ranks wait for %s: it comes last to %s of %s %s, by %s on average, which is %s of the time; "
		"cause: %s.",
		f->collectives.parties[late->party].name, figure_count(last, late->nr_last),
		figure_count(all, in->nr), in->name,
		figure_time(mean, late->late_ns / late->nr_last),
		figure_share(share, late->late_ns, f->active),
		collective_causes[collective_main_cause(late)]);
	add_number(found, "late_ns", "ns", (double)late->late_ns);
	add_number(found, "share", "1", share_of(late->late_ns, f->active));
	add_number(found, "last", "1", (double)late->nr_last);
	add_number(found, "collectives", "1", (double)in->nr);
	if (!in->by_calls)
		add_symbol(f, found, in->name);
}

static void find_order(struct search *f)
{
	char number[FIGURE_SIZE], count[FIGURE_SIZE];
	const struct collective_order *o;
	struct finding *found;

	if (!read_collectives(f) || !f->collectives.nr_orders)
		return;
	o = &f->collectives.orders[0];
	found = add_finding(
		f, FINDINGS_HIGH,
		"Ranks call collectives in different orders: number %s of %s %zu is %s on %s and %s on %s; %s differ in all.",
		figure_count(number, o->number), o->by_calls ? "communicator" : "queue", o->channel,
		o->names[0], f->collectives.parties[o->parties[0]].name, o->names[1],
		f->collectives.parties[o->parties[1]].name, figure_count(count, o->count));
	add_number(found, "number", "1", (double)o->number);
	add_number(found, "count", "1", (double)o->count);
	for (int i = 0; i < 2 && !o->by_calls; i++)
		add_symbol(f, found, o->names[i]);
}

/* The slow rank by which most time is lost. */
static const struct imbalance_slow *worst_of(const struct imbalance *all,
					     const struct imbalance_name **in)
{
	const struct imbalance_slow *worst = NULL;

	for (size_t i = 0; i < all->nr_names; i++)
		for (size_t k = 0; k < all->names[i].nr_slow; k++) {
			const struct imbalance_slow *s = &all->names[i].slow[k];

			if (worst && s->lost_ns <= worst->lost_ns)
				continue;
			worst = s;
			*in = &all->names[i];
		}
	return worst;
}

static void add_slow_rank(struct search *f, const struct imbalance *all,
			  const struct imbalance_slow *slow, const struct imbalance_name *in)
{
	char calls[FIGURE_SIZE], own[FIGURE_SIZE], others[FIGURE_SIZE], lost[FIGURE_SIZE],
		share[FIGURE_SIZE], when[64] = "throughout", buf[LABEL_SIZE];
	const char *name = in->is_range ? in->name : apart_label(&f->apart, buf, in->name);
	int64_t begin = f->d->wall.begin;
	struct finding *found;

	if (slow->first || slow->last + 1 != slow->nr_blocks)
		snprintf(when, sizeof(when), "from %.3f s to %.3f s",
			 (double)(slow->begin - begin) / 1e9, (double)(slow->end - begin) / 1e9);
	found = add_finding(
		f, severity_of(f, slow->lost_ns),
		"%s is slower than the others %s: %s %s takes %s there and %s on the others, in %s calls: %s more, which is "
		"%s of the time.",
		all->parties[slow->party].name, when, in->is_range ? "range" : "kernel", name,
		figure_time(own, (uint64_t)slow->median_ns),
		figure_time(others, (uint64_t)slow->others_ns), figure_count(calls, slow->calls),
		figure_time(lost, slow->lost_ns), figure_share(share, slow->lost_ns, f->active));
	add_number(found, "lost_ns", "ns", (double)slow->lost_ns);
	add_number(found, "times_as_long", "1", slow->ratio);
	add_number(found, "calls", "1", (double)slow->calls);
	add_number(found, "from_ns", "ns", (double)(slow->begin - begin));
	add_number(found, "to_ns", "ns", (double)(slow->end - begin));
	if (!in->is_range)
		add_symbol(f, found, name);
}

/* Of two ranks or GPUs it can't be said which one is slow. */
static void find_slow_rank(struct search *f)
{
	const struct imbalance_name *in = NULL;
	const struct imbalance_slow *slow;
	struct imbalance *all;

	if (slice_is_set(f->d->filter) || (f->q->nr_processes < 3 && f->d->nr_gpus < 4) ||
	    f->d->gpus[0].kernels > RANK_ROWS)
		return;
	all = f->out->imbalance = alloc_zero(1, sizeof(*all));
	f->error = all ? imbalance_read(f->q, &f->d->kinds, all) : -ENOMEM;
	slow = f->error ? NULL : worst_of(all, &in);
	if (slow && share_of(slow->lost_ns, f->active) >= 0.05)
		add_slow_rank(f, all, slow, in);
}

/* ---- all ---- */

static const struct finder finders[] = {
	{ "slow-gpu", "--by gpu", NEEDS_KERNELS, find_slow_gpu },
	{ "hidden-synchronisation", "--by api", NEEDS_CALLS, find_hidden_waits },
	{ "unpinned-copies", "--by copy", NEEDS_CALLS, find_unpinned },
	{ "serialised-streams", "--by stream", NEEDS_CALLS | NEEDS_KERNELS, find_serial_streams },
	{ "tiny-launches", "--by kernel", NEEDS_CALLS | NEEDS_KERNELS | NEEDS_WHOLE,
	  find_tiny_launches },
	{ "copies-apart", "--by gpu", NEEDS_KERNELS | NEEDS_WHOLE, find_no_overlap },
	{ "low-occupancy", "--by kernel", 0, find_occupancy },
	{ "idle-gpu", "--by gap", NEEDS_CALLS | NEEDS_KERNELS | NEEDS_WHOLE, find_idle },
	{ "collective-order", "--by collective", NEEDS_KERNELS | NEEDS_WHOLE | OF_COLLECTIVES,
	  find_order },
	{ "late-rank", "--by collective", NEEDS_KERNELS | NEEDS_WHOLE | OF_COLLECTIVES,
	  find_late_rank },
	{ "slow-rank", "--by imbalance", NEEDS_KERNELS, find_slow_rank },
	{ "critical-path", "--by path", NEEDS_CALLS | NEEDS_KERNELS | NEEDS_WHOLE, find_path },
};

/* By the user's choice: of losses the verdict speaks. */
static const struct {
	unsigned int needs;
	const char *what, *reasons;
} lacks[] = {
	{ NEEDS_CALLS, "all calls of HIP", NULL }, /* the digest knows */
	{ NEEDS_KERNELS, "all operations", "'filtered_kernel', 'filtered_gpu', 'lite_signal'" },
	{ NEEDS_WHOLE, "all of the time", "'paused', 'flight_recorder', 'max_size'" },
};

static unsigned int find_lacks(const struct search *f)
{
	const struct slice *part = f->d->filter;
	unsigned int lacking = 0;

	for (size_t i = 0; f->q->ours && i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		char sql[256];

		if (!lacks[i].reasons)
			continue;
		snprintf(sql, sizeof(sql),
			 "SELECT EXISTS (SELECT 1 FROM rtl_loss WHERE reason IN (%s))",
			 lacks[i].reasons);
		if (query_number(f->q->db, sql, 0))
			lacking |= lacks[i].needs;
	}
	if (!f->d->has_all_calls)
		lacking |= NEEDS_CALLS;
	if (part && (part->kernels || part->gpus))
		lacking |= NEEDS_KERNELS;
	return lacking;
}

/* "Not looked for: idle-gpu, critical-path. They need all calls of HIP, which the trace does not
 * have." */
static void say_missing(struct search *f, unsigned int lacking)
{
	unsigned int needed = 0;
	char *text = NULL;

	for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]); i++) {
		if (!(finders[i].needs & lacking) ||
		    (finders[i].needs & OF_COLLECTIVES && !collective_may_be(f->q)))
			continue;
		append(f, &text, "%s%s", text ? ", " : "Not looked for: ", finders[i].id);
		needed |= finders[i].needs & lacking;
	}
	for (size_t i = 0, nr = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (needed & lacks[i].needs)
			append(f, &text, "%s%s", nr++ ? ", or " : ". They need ", lacks[i].what);
	if (text)
		append(f, &text, ", which the trace does not have.");
	f->out->missing = text;
}

int findings_read(struct query *q, struct digest *d, struct findings *out)
{
	struct search f = { .q = q, .d = d, .out = out, .active = d->wall.work_ns };
	unsigned int lacking;

	if (d->gpus[0].until <= d->gpus[0].first)
		return 0;
	lacking = find_lacks(&f);
	f.error = apart_read(&f.apart, q);
	for (size_t i = 0; !f.error && i < sizeof(finders) / sizeof(finders[0]); i++) {
		f.finder = &finders[i];
		if (!(finders[i].needs & lacking))
			finders[i].find(&f);
	}
	if (!f.error)
		say_missing(&f, lacking);
	apart_fini(&f.apart);
	collective_fini(&f.collectives);
	return f.error == -ENOMEM ? query_fail_memory(q) : f.error;
}

void findings_fini(struct findings *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		alloc_free(f->list[i].text);
		for (size_t k = 0; k < f->list[i].nr_symbols; k++)
			alloc_free(f->list[i].symbols[k]);
	}
	alloc_free(f->list);
	alloc_free(f->missing);
	if (f->imbalance)
		imbalance_fini(f->imbalance);
	alloc_free(f->imbalance);
	*f = (struct findings){ 0 };
}
