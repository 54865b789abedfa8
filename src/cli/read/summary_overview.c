/* SPDX-License-Identifier: MIT */
/* summary_overview.c - a trace on one screen: time, GPUs, what the host did, the longest of
 * everything, findings
 *
 * Lines are not longer than the terminal is wide; without one, names are whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ranges.h"
#include "cli/read/summary.h"
#include "cli/ui.h"
#include "export/json.h"

enum { TOP = 5 };

struct overview {
	struct summary *s;
	struct digest *d;
	size_t width; /* 0: no limit */
	size_t top;
};

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* Text in lines that are not longer than the terminal is wide. */
static void put_wrapped(const struct overview *o, const char *text, const char *indent)
{
	size_t width = o->width ? o->width : 100, used = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (used && used + 1 + n > width) {
			ui_putf("\n%s", indent);
			used = strlen(indent);
		} else if (used) {
			ui_put(" ");
			used++;
		}
		ui_putf("%.*s", (int)n, text);
		used += n;
		text += n + (text[n] == ' ');
	}
	ui_put("\n");
}

static void put_title(const char *title)
{
	bool colour = ui_colour(STDOUT_FILENO);

	ui_put_raw(colour ? "\n\033[1m" : "\n");
	ui_putf("%s", title);
	ui_put_raw(colour ? "\033[0m\n" : "\n");
}

/* ---- the head ---- */

static void put_head(const struct overview *o)
{
	const struct digest *d = o->d;
	char wall[UI_NUMBER_SIZE], work[UI_NUMBER_SIZE], until[WALL_UNTIL], text[512];
	const char *name = d->q->nr_processes ? d->q->processes[0].name : "";
	size_t size = strlen(name);

	/* "./app (pid 1)" */
	while (size && name[size] != '(')
		size--;
	snprintf(text, sizeof(text), "%s: %.*s, %zu process%s, %s%s%s", d->q->path,
		 (int)(size ? size - 1 : 0), name, d->q->nr_processes,
		 d->q->nr_processes == 1 ? "" : "es", ui_time(wall, d->wall.ns),
		 d->filter->nr_spans ? " in ranges" :
		 d->wall.part	     ? " from the first record to the last: " :
				       "",
		 d->filter->nr_spans || !d->wall.part ? "" : d->wall.part);
	if (!d->q->nr_processes)
		snprintf(text, sizeof(text), "%s: %s", d->q->path, ui_time(wall, d->wall.ns));
	put_wrapped(o, text, "  ");
	if (!d->wall.startup_ns)
		return;
	snprintf(text, sizeof(text),
		 "Start-up: %s until %s; the shares of time below are of the %s after it",
		 ui_time(wall, d->wall.startup_ns), wall_until(&d->wall, until),
		 ui_time(work, d->wall.work_ns));
	put_wrapped(o, text, "  ");
}

static void put_gpus(const struct overview *o)
{
	const struct digest *d = o->d;
	size_t nr = d->nr_gpus - 1;

	put_title("GPU    BUSY  BUSY TIME    KERNELS    COPIES   OVERLAP  LAST USE");
	for (size_t i = 1; i < d->nr_gpus && i <= (o->top > 16 ? o->top : 16); i++) {
		const struct digest_gpu *l = &d->gpus[i];
		uint64_t both = l->compute_ns + l->transfer_ns - l->busy_ns;
		char busy[UI_NUMBER_SIZE], kernels[UI_NUMBER_SIZE], copies[UI_NUMBER_SIZE];
		char last[UI_NUMBER_SIZE], overlap[UI_NUMBER_SIZE], share[UI_NUMBER_SIZE];

		ui_putf("%3lld  %6s %10s %10s %9s %9s %9s\n", (long long)l->gpu,
			ui_share(share, l->busy_ns, d->wall.work_ns), ui_time(busy, l->busy_ns),
			ui_time(kernels, l->compute_ns), ui_time(copies, l->transfer_ns),
			ui_time(overlap, both),
			ui_time(last, l->until > d->wall.begin ?
					      (uint64_t)(l->until - d->wall.begin) :
					      0));
	}
	if (nr > 16 && nr > o->top)
		ui_putf("  ... and %zu more (--by gpu)\n", nr - 16);
}

/* What the host did while no GPU worked. */
static void put_idle(const struct overview *o)
{
	struct digest *d = o->d;
	struct digest_gpu *all = &d->gpus[0];
	char idle[UI_NUMBER_SIZE], longest[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE], text[600];
	char share[UI_NUMBER_SIZE];
	uint64_t most = 0;
	size_t used, nr = 0;

	if (!all->nr_gaps) {
		put_wrapped(o, d->nr_gpus > 2 ? "A GPU works all the time" : "Never idle", "  ");
		return;
	}
	for (size_t i = 0; i < all->nr_kept; i++)
		if ((uint64_t)(all->gaps[i].end - all->gaps[i].begin) > most)
			most = (uint64_t)(all->gaps[i].end - all->gaps[i].begin);
	used = (size_t)snprintf(text, sizeof(text),
				"%s %s of the time, %s in %s gap%s, the longest %s",
				d->nr_gpus > 2 ? "No GPU works for" : "Idle",
				ui_share(share, all->idle_ns, d->wall.work_ns),
				ui_time(idle, all->idle_ns), ui_count(count, all->nr_gaps),
				all->nr_gaps == 1 ? "" : "s", ui_time(longest, most));
	if (d->nr_calls) {
		static const char in[] = "; the host was meanwhile in ";
		bool said_outside = false;
		bool *said = calloc(d->calls.nr + 1, sizeof(*said));

		if (!said)
			ui_die_memory();
		while (nr < 4 && used + 120 < sizeof(text)) {
			const struct digest_sum *best = NULL;
			size_t at = 0;

			for (size_t i = 0; i < d->calls.nr; i++)
				if (!said[i] &&
				    (!best || d->calls.sums[i].idle_ns > best->idle_ns)) {
					best = &d->calls.sums[i];
					at = i;
				}
			if (!said_outside && (!best || d->outside_ns >= best->idle_ns)) {
				said_outside = true;
				if (share_of(d->outside_ns, all->idle_ns) < 0.01)
					continue;
				used += (size_t)snprintf(text + used, sizeof(text) - used,
							 "%sits own code%s %.0f%%", nr ? ", " : in,
							 d->has_all_calls ?
								 "" :
								 " or calls that were left out",
							 100 * share_of(d->outside_ns,
									all->idle_ns));
			} else if (best && share_of(best->idle_ns, all->idle_ns) >= 0.01) {
				said[at] = true;
				used += (size_t)snprintf(text + used, sizeof(text) - used,
							 "%s%.60s %.0f%%", nr ? ", " : in,
							 best->name,
							 100 * share_of(best->idle_ns,
									all->idle_ns));
			} else {
				break;
			}
			nr++;
		}
		free(said);
	}
	put_wrapped(o, text, "  ");
}

static void put_launches(const struct overview *o)
{
	const struct digest *d = o->d;
	char launch[UI_NUMBER_SIZE], queue[UI_NUMBER_SIZE], text[300];

	if (!d->nr_sampled)
		return;
	snprintf(
		text, sizeof(text),
		"A kernel begins %s after its launch was called (median), %s%s after that returned; %.0f%% "
		"were launched while the GPU worked",
		ui_time(launch, d->launch_ns > 0 ? (uint64_t)d->launch_ns : 0),
		d->queue_ns < 0 ? "-" : "",
		ui_time(queue, (uint64_t)(d->queue_ns < 0 ? -d->queue_ns : d->queue_ns)),
		100 * share_of(d->queue_full, d->nr_sampled));
	put_wrapped(o, text, "  ");
}

/* ---- the tables ---- */

struct line {
	const struct digest_sum *sum;
	uint64_t of_ns;
};

static void put_lines(const struct overview *o, const char *title, const struct line *lines,
		      size_t nr, size_t all, bool symbols)
{
	const char **names = calloc(nr + 1, sizeof(*names));
	size_t width = o->width > 60 ? o->width - 42 : o->width ? 20 : 0;
	char **texts = NULL, title_line[80];

	if (!names)
		ui_die_memory();
	snprintf(title_line, sizeof(title_line), " SHARE       TOTAL      CALLS        MEAN  %s",
		 title);
	put_title(title_line);
	for (size_t i = 0; i < nr; i++)
		names[i] = lines[i].sum->name;
	if (symbols)
		texts = names_make(names, nr, o->s->style.names, width);
	for (size_t i = 0; i < nr; i++) {
		const struct digest_sum *sum = lines[i].sum;
		char total[UI_NUMBER_SIZE], calls[UI_NUMBER_SIZE], mean[UI_NUMBER_SIZE] = "-";
		char share[UI_NUMBER_SIZE];
		size_t size = strlen(texts ? texts[i] : sum->name) + 16;
		char *shown = malloc(size);

		if (!shown)
			ui_die_memory();
		if (sum->calls > sum->untimed)
			ui_time(mean, digest_mean(sum));
		ui_putf("%6s  %10s  %9s  %10s  %s\n", ui_share(share, sum->ns, lines[i].of_ns),
			ui_time(total, sum->ns), ui_count(calls, sum->calls), mean,
			grid_cut(shown, size, texts ? texts[i] : sum->name, width ? width : size));
		free(shown);
	}
	if (all > nr)
		ui_putf("        ... and %zu more\n", all - nr);
	names_free(texts, texts ? nr : 0);
	free(names);
}

static void put_kernels(const struct overview *o)
{
	struct digest_sums joined = { 0 };
	struct line lines[32];
	size_t nr = 0;

	if (digest_join(&o->d->kernels, &joined))
		ui_die_memory();
	for (; nr < joined.nr && nr < o->top; nr++)
		lines[nr] = (struct line){ &joined.sums[nr], o->d->gpus[0].kernel_ns };
	if (nr)
		put_lines(o, "KERNEL", lines, nr, joined.nr, true);
	digest_free_sums(&joined, false);
}

static void put_copies(const struct overview *o)
{
	const struct digest_sums *c = &o->d->copies;

	if (c->nr)
		put_title(" SHARE       TOTAL      CALLS       BYTES           RATE  COPY");
	for (size_t i = 0; i < c->nr && i < o->top; i++) {
		const struct digest_sum *sum = &c->sums[i];
		char total[UI_NUMBER_SIZE], calls[UI_NUMBER_SIZE], bytes[UI_NUMBER_SIZE];
		char rate[UI_NUMBER_SIZE + 4] = "-", speed[UI_NUMBER_SIZE], share[UI_NUMBER_SIZE];

		if (sum->bytes && sum->ns) {
			ui_bytes(speed, (uint64_t)((double)sum->bytes * 1e9 / (double)sum->ns));
			snprintf(rate, sizeof(rate), "%s/s", speed);
		}
		ui_putf("%6s  %10s  %9s  %10s  %13s  %s\n",
			ui_share(share, sum->ns, o->d->copies_ns), ui_time(total, sum->ns),
			ui_count(calls, sum->calls), sum->bytes ? ui_bytes(bytes, sum->bytes) : "-",
			rate, sum->name);
	}
}

static void put_calls(const struct overview *o)
{
	const struct digest_sums *c = &o->d->calls;
	struct line lines[32];
	uint64_t all_ns = 0;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		all_ns += c->sums[i].ns;
	for (; nr < c->nr && nr < o->top; nr++)
		lines[nr] = (struct line){ &c->sums[nr], all_ns };
	if (nr)
		put_lines(o, "CALL", lines, nr, c->nr, false);
}

static void put_ranges(const struct overview *o)
{
	struct ranges r = { 0 };

	db_check(o->d->q, ranges_read(&r, o->d));
	if (r.nr) {
		put_title("GPU TIME         OWN      CALLS   HOST TIME  RANGE");
		for (size_t i = 0; i < r.nr && i < o->top; i++) {
			const struct ranges_node *n = &r.nodes[r.order[i]];
			char ns[UI_NUMBER_SIZE], own[UI_NUMBER_SIZE], host[UI_NUMBER_SIZE];
			char calls[UI_NUMBER_SIZE], name[512];
			int indent = n->depth > 10 ? 20 : 2 * n->depth;

			ui_putf("%10s  %10s  %7s  %10s  %*s%s\n", ui_time(ns, n->all.ns),
				ui_time(own, n->all.own_ns), ui_count(calls, n->all.calls),
				ui_time(host, n->all.host_ns), indent, "",
				grid_cut(name, sizeof(name), n->name,
					 o->width > 80 ? o->width - 45 - (size_t)indent :
					 o->width      ? 35 - (size_t)indent :
							 500));
		}
		if (r.nr > o->top)
			ui_putf("            ... and %zu more (--by range)\n", r.nr - o->top);
	}
	ranges_fini(&r);
}

static void put_errors(const struct overview *o)
{
	const struct digest *d = o->d;
	char buf[32], count[UI_NUMBER_SIZE], *text;

	if (!d->nr_errors)
		return;
	text = ui_format("Failed calls: %s:", ui_count(count, d->nr_failed));
	for (size_t i = 0; i < d->nr_errors && i < 4; i++) {
		char *more = ui_format("%s%s %s of %s (%llu)", text, i ? "," : "",
				       tables_error_name(&d->errors[i], buf), d->errors[i].function,
				       (unsigned long long)d->errors[i].count);

		free(text);
		text = more;
	}
	put_wrapped(o, text, "  ");
	if (d->nr_errors > 4)
		ui_put("  ... (--by error)\n");
	free(text);
}

/* ---- traces without GPU work ---- */

static bool has_gpu(struct digest *d)
{
	return d->q->ours &&
	       query_number(d->q->db, "SELECT count(*) FROM rtl_agent WHERE type = 'GPU'", 0) > 0;
}

static uint64_t skipped(struct digest *d)
{
	return d->q->ours ? (uint64_t)query_number(
				    d->q->db,
				    "SELECT sum(count) FROM rtl_loss WHERE class = 'skipped'", 0) :
			    0;
}

static bool has_loss(struct digest *d, const char *reasons)
{
	char *sql =
		ui_format("SELECT EXISTS (SELECT 1 FROM rtl_loss WHERE reason IN (%s))", reasons);
	bool found = d->q->ours && query_number(d->q->db, sql, 0);

	free(sql);
	return found;
}

/* Whether the runtime was on the virtual GPU. */
static bool was_virtual(struct digest *d)
{
	return d->q->ours &&
	       query_number(d->q->db,
			    "SELECT EXISTS (SELECT 1 FROM rtl_info WHERE key = 'library' AND "
			    "value LIKE '%/vgpu/lib%')",
			    0);
}

/* Whether calls of HIP were recorded in each process, had there been any. */
static bool is_mode_hip(struct digest *d)
{
	return d->q->ours &&
	       !query_number(d->q->db,
			     "SELECT EXISTS (SELECT 1 FROM rtl_process WHERE mode IS NOT 'hip')",
			     1);
}

/* A call of a runtime of the GPU that failed; NULL: none. */
static const struct digest_error *runtime_error(const struct digest *d)
{
	for (size_t i = 0; i < d->nr_errors; i++)
		if (*d->errors[i].status_type)
			return &d->errors[i];
	return NULL;
}

/* Why there is no operation, and what to do. */
static char *empty_text(struct digest *d)
{
	const struct digest_error *error = runtime_error(d);
	char buf[32], options[SLICE_OPTIONS_SIZE], *text;

	if (slice_is_set(d->filter))
		text = ui_format("No GPU operation is in this part of the trace (%s).",
				 slice_options(d->filter, options));
	else if (error && (!has_gpu(d) || d->nr_failed))
		text = ui_format("No GPU operation was recorded: %s of %s. %s",
				 tables_error_name(error, buf), error->function,
				 has_gpu(d) || was_virtual(d) ?
					 "The program's calls failed; --by error lists them." :
					 "The runtime found no GPU: 'rtl doctor' says why; 'rtl "
					 "trace --virtual-gpu' runs without one.");
	else if (has_loss(d, "'no_tables', 'librtl_missing', 'forked', 'spool_denied'"))
		text = ui_format(
			"No GPU operation was recorded: librtl did not see what the program "
			"did on the GPU; rtl info names the loss.");
	else if (has_loss(d, "'killed'") && !skipped(d))
		text = ui_format("No GPU operation was recorded: the program was killed before it "
				 "launched anything. Its own messages may say why.");
	else if (!has_gpu(d) && was_virtual(d))
		text = ui_format("No GPU operation was recorded: the runtime was not initialised.");
	else if (!has_gpu(d))
		text = ui_format(
			"No GPU operation was recorded: the runtime found no GPU, or was not "
			"initialised. 'rtl doctor' says why; 'rtl trace --virtual-gpu' runs "
			"without one.");
	else if (skipped(d))
		text = ui_format(
			"No GPU operation was recorded: the options of rtl trace left them out; rtl "
			"info counts them.");
	else if (!d->nr_calls && is_mode_hip(d))
		text = ui_format(
			"No GPU operation was recorded, and no calls: the program initialised "
			"the runtime and launched nothing.");
	else if (!d->nr_calls)
		text = ui_format(
			"No GPU operation was recorded: the program initialised the runtime and "
			"launched nothing. Its mode records no calls; rtl trace --mode hip does.");
	else
		text = ui_format(
			"No GPU operation was recorded: the program launched nothing in its %llu "
			"call%s. Look at its arguments and its output.",
			(unsigned long long)d->nr_calls, d->nr_calls == 1 ? "" : "s");
	return text;
}

static void explain_empty(const struct overview *o)
{
	char *text = empty_text(o->d);

	put_wrapped(o, text, "  ");
	free(text);
}

void summary_overview_say_empty(const char *path)
{
	static const struct slice all;
	struct query *q = db_open(path);
	struct digest *d = calloc(1, sizeof(*d));
	char *text;

	if (!d)
		ui_die_memory();
	db_check(q, digest_read(d, q, &all));
	text = empty_text(d);
	ui_say("%s", text);
	free(text);
	digest_fini(d);
	free(d);
	query_close(q);
}

/* ---- all ---- */

static void put_verdict(const struct overview *o)
{
	const struct verdict *v = &o->d->q->verdict;
	char *text = ui_format("The trace is %s", v->line);

	put_wrapped(o, text, "  ");
	free(text);
	for (size_t i = 0; i < v->nr_rows && i < 4; i++) {
		if (v->rows[i].class != LOAD_LOSS)
			continue;
		text = ui_format("  %llu %s: %s", (unsigned long long)v->rows[i].count,
				 v->rows[i].reason, v->rows[i].text);
		put_wrapped(o, text, "    ");
		free(text);
	}
}

static void put_findings(const struct overview *o)
{
	const struct findings *found = summary_findings(o->s);

	if (found->nr || found->missing)
		put_title("FINDINGS");
	for (size_t i = 0; i < found->nr; i++) {
		char *own = summary_findings_text(&found->list[i]);
		char *text = ui_format("%zu. %s", i + 1, own);

		put_wrapped(o, text, "   ");
		free(text);
		free(own);
	}
	if (found->missing)
		put_wrapped(o, found->missing, "   ");
}

static void put_sums_json(struct json *j, const char *key, const struct digest_sums *sums,
			  bool calls)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < sums->nr; i++) {
		const struct digest_sum *sum = &sums->sums[i];

		json_object(j);
		json_key(j, "name");
		json_text(j, sum->name ? sum->name : "");
		json_key(j, "calls");
		json_uint(j, sum->calls);
		json_key(j, "total_ns");
		json_uint(j, sum->ns);
		json_key(j, calls ? "idle_ns" : "bytes");
		if (calls || sum->bytes)
			json_uint(j, calls ? sum->idle_ns : sum->bytes);
		else
			json_null(j);
		if (calls) {
			json_key(j, "errors");
			json_uint(j, sum->errors);
		}
		json_object_end(j);
	}
	json_array_end(j);
}

static void number_json(struct json *j, const char *key, uint64_t number)
{
	json_key(j, key);
	json_uint(j, number);
}

static void put_finding_json(struct json *j, const struct finding *f)
{
	json_object(j);
	json_member_text(j, "id", f->id);
	json_member_text(j, "severity", findings_severity_name(f->severity));
	json_member_text(j, "text", f->text);
	json_member_text(j, "query", f->query);
	json_key(j, "numbers");
	json_array(j);
	for (size_t i = 0; i < f->nr_numbers; i++) {
		json_object(j);
		json_member_text(j, "key", f->numbers[i].key);
		json_member_text(j, "unit", f->numbers[i].unit);
		json_key(j, "value");
		json_double(j, f->numbers[i].value);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void print_json(const struct overview *o)
{
	const struct findings *found = summary_findings(o->s);
	struct json *j = malloc(sizeof(*j));
	char until[WALL_UNTIL];
	struct digest_sums joined = { 0 };
	const struct digest *d = o->d;

	if (!j)
		ui_die_memory();
	json_init(j, json_write_file, stdout);
	json_object(j);
	number_json(j, "wall_ns", d->wall.ns);
	number_json(j, "startup_ns", d->wall.startup_ns);
	if (d->wall.startup_ns)
		json_member_text(j, "startup_until", wall_until(&d->wall, until));
	number_json(j, "idle_ns", d->gpus[0].idle_ns);
	number_json(j, "idle_outside_calls_ns", d->nr_calls ? d->outside_ns : d->gpus[0].idle_ns);
	number_json(j, "failed_calls", d->nr_failed);
	json_key(j, "gpus");
	json_array(j);
	for (size_t i = 1; i < d->nr_gpus; i++) {
		const struct digest_gpu *l = &d->gpus[i];

		json_object(j);
		number_json(j, "gpu", (uint64_t)l->gpu);
		number_json(j, "busy_ns", l->busy_ns);
		number_json(j, "idle_ns", l->idle_ns);
		number_json(j, "gaps", l->nr_gaps);
		number_json(j, "kernel_busy_ns", l->compute_ns);
		number_json(j, "copy_busy_ns", l->transfer_ns);
		number_json(j, "overlap_ns", l->compute_ns + l->transfer_ns - l->busy_ns);
		number_json(j, "kernels", l->kernels);
		number_json(j, "copies", l->copies);
		json_object_end(j);
	}
	json_array_end(j);
	if (digest_join(&d->kernels, &joined))
		ui_die_memory();
	put_sums_json(j, "kernels", &joined, false);
	digest_free_sums(&joined, false);
	put_sums_json(j, "copies", &d->copies, false);
	put_sums_json(j, "calls", &d->calls, true);
	json_key(j, "findings");
	json_array(j);
	for (size_t i = 0; i < found->nr; i++)
		put_finding_json(j, &found->list[i]);
	json_array_end(j);
	json_key(j, "findings_missing");
	json_text(j, found->missing);
	json_key(j, "verdict");
	json_text(j, d->q->verdict.line);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	json_flush(j);
	free(j);
}

void summary_overview_print(struct summary *s)
{
	struct overview o = { .s = s, .d = summary_digest(s), .width = s->style.width };

	o.top = s->rows && s->rows != UINT64_MAX ? s->rows : TOP;
	if (o.top > 32)
		o.top = 32;
	if (s->style.format == GRID_JSON) {
		print_json(&o);
		return;
	}
	put_head(&o);
	if (o.d->gpus[0].kernels + o.d->gpus[0].copies) {
		put_gpus(&o);
		put_idle(&o);
		put_launches(&o);
		put_kernels(&o);
		put_copies(&o);
	} else {
		explain_empty(&o);
	}
	put_calls(&o);
	put_ranges(&o);
	put_findings(&o);
	ui_put("\n");
	put_errors(&o);
	put_verdict(&o);
	ui_flush();
}
