/* SPDX-License-Identifier: MIT */
/* cmd_info.c - rtl info: a trace's contents, origin and verdict */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/read/info.h"
#include "cli/ui.h"
#include "export/json.h"

enum { O_FORMAT };

static const struct opt options[] = {
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = "text|json",
		       .help = "form of the output: text (default) or json" },
};

/* ---- text ---- */

static void put_count(uint64_t n, const char *one, const char *many, bool *first, bool always)
{
	char count[UI_NUMBER_SIZE];

	if (!n && !always)
		return;
	ui_putf("%s%s %s", *first ? "" : ", ", ui_count(count, n), n == 1 ? one : many);
	*first = false;
}

static void put_counts(const struct info_counts *c)
{
	bool first = true;

	put_count(c->dispatches, "dispatch", "dispatches", &first, true);
	put_count(c->copies, "copy", "copies", &first, true);
	put_count(c->markers, "marker", "markers", &first, true);
	put_count(c->apis, "API call", "API calls", &first, false);
	put_count(c->barriers, "barrier", "barriers", &first, false);
	put_count(c->internal, "kernel of the runtime itself", "kernels of the runtime itself",
		  &first, false);
	ui_put("\n");
}

static const char *date_of(char buf[64], int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;

	buf[0] = 0;
	if (gmtime_r(&seconds, &tm))
		strftime(buf, 64, "%Y-%m-%d %H:%M:%S UTC", &tm);
	return buf;
}

static void put_line(const char *label, const char *text)
{
	if (*text)
		ui_putf("  %-9s %s\n", label, text);
}

static void put_identity(const struct info_process *p)
{
	ui_putf("\nprocess %" PRIu64, p->pid);
	if (p->rank >= 0) {
		ui_putf(", rank %" PRId64, p->rank);
		if (p->world_size >= 0)
			ui_putf(" of %" PRId64, p->world_size);
	}
	if (*p->host)
		ui_putf(" on %s", p->host);
	ui_putf(": %s\n", p->state);
	put_line("command", p->command);
	put_line("program", p->exe);
	put_line("directory", p->cwd);
	put_line("job", p->job);
	put_line("raw trace", p->spool);
	ui_putf("  %-9s mode %s, rtl %s, parent %" PRIu64 "\n", "traced", *p->mode ? p->mode : "?",
		*p->version ? p->version : "?", p->ppid);
}

static void put_process(const struct info_process *p)
{
	char text[64], span[UI_NUMBER_SIZE];

	put_identity(p);
	if (p->realtime_offset_ns)
		put_line("started", date_of(text, (int64_t)p->start_ns + p->realtime_offset_ns));
	if (p->last_ns > p->first_ns)
		put_line("span", ui_time(span, p->last_ns - p->first_ns));
	if (*p->clock)
		ui_putf("  %-9s %s, %" PRIu64 " samples\n", "clock", p->clock, p->nr_clocks);
	ui_putf("  %-9s ", "holds");
	put_counts(&p->counts);
	ui_putf("  %-9s %" PRIu64 " thread%s, %" PRIu64 " kernels known", "", p->nr_threads,
		p->nr_threads == 1 ? "" : "s", p->nr_kernels);
	if (p->nr_functions)
		ui_putf(", %" PRIu64 " API function%s called", p->nr_functions,
			p->nr_functions == 1 ? "" : "s");
	ui_put("\n");
	for (size_t i = 0; i < p->nr_agents; i++) {
		const struct info_agent *a = &p->agents[i];

		if (a->gpu < 0)
			continue;
		snprintf(text, sizeof(text), "GPU %" PRId64, a->gpu);
		ui_putf("  %-9s %s %s, %" PRIu64 " CUs, %" PRIu64 " MHz, %" PRIu64 " queue%s%s%s\n",
			text, a->name, a->product, a->nr_cu, a->clock_mhz, a->nr_queues,
			a->nr_queues == 1 ? "" : "s", *a->uuid ? ", " : "", a->uuid);
	}
	for (size_t i = 0; i < p->nr_libraries; i++)
		put_line(i ? "" : "libraries", p->libraries[i]);
}

/* The time that a flight recorder has kept all of. */
static void put_window(const struct info *info, const struct info_process *p)
{
	char text[64], span[UI_NUMBER_SIZE];

	for (size_t i = 0; i < info->verdict.nr_rows; i++) {
		const struct verdict_row *row = &info->verdict.rows[i];

		if (strcmp(row->reason, load_reason_name(SPOOL_REASON_flight_recorder)) != 0 ||
		    row->pid != p->pid || p->last_ns <= row->last_ns)
			continue;
		ui_putf("  %-9s the last %s%s%s\n", "window",
			ui_time(span, p->last_ns - row->last_ns),
			p->realtime_offset_ns ? ", since " : "",
			p->realtime_offset_ns ?
				date_of(text, (int64_t)row->last_ns + p->realtime_offset_ns) :
				"");
	}
}

static void put_losses(const struct info *info)
{
	struct verdict_group group;
	char count[UI_NUMBER_SIZE];
	size_t at = 0;

	if (!info->verdict.nr_rows)
		return;
	ui_put("\nWhat is not in the trace, or not as it should be:\n");
	while (verdict_next_group(&info->verdict, &at, &group))
		ui_putf("  %-8s %12s  %s: %s%s\n", load_class_name(group.row->class),
			ui_count(count, group.count), group.row->reason, group.row->text,
			group.pids);
	if (info->verdict.nr_more)
		ui_putf("  ... and %zu more\n", info->verdict.nr_more);
}

static void put_text(const struct info *info)
{
	char size[UI_NUMBER_SIZE];

	ui_putf("%s: %s%s%s%s%s, %s\n", info->path, info->kind, *info->schema ? ", " : "",
		info->schema, *info->version ? ", rtl " : "", info->version,
		ui_bytes(size, info->size));
	ui_putf("verdict: %s\n", info->verdict.line);
	ui_put("holds:   ");
	put_counts(&info->counts);
	for (size_t i = 0; i < info->nr_warnings; i++)
		ui_putf("warning: %s\n", info->warnings[i]);
	for (size_t i = 0; i < info->nr_processes; i++) {
		put_process(&info->processes[i]);
		put_window(info, &info->processes[i]);
	}
	put_losses(info);
}

/* ---- JSON ---- */

static void json_member(struct json *j, const char *key, const char *text)
{
	json_member_text(j, key, text && *text ? text : NULL);
}

static void json_number(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_uint(j, value);
}

static void json_optional(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	if (value < 0)
		json_null(j);
	else
		json_int(j, value);
}

static void json_counts(struct json *j, const struct info_counts *c)
{
	json_key(j, "counts");
	json_object(j);
	json_number(j, "dispatches", c->dispatches);
	json_number(j, "internal_dispatches", c->internal);
	json_number(j, "copies", c->copies);
	json_number(j, "barriers", c->barriers);
	json_number(j, "api_calls", c->apis);
	json_number(j, "markers", c->markers);
	json_object_end(j);
}

static void json_agents(struct json *j, const struct info_process *p)
{
	json_key(j, "agents");
	json_array(j);
	for (size_t i = 0; i < p->nr_agents; i++) {
		const struct info_agent *a = &p->agents[i];

		json_object(j);
		json_member(j, "type", a->type);
		json_optional(j, "gpu", a->gpu);
		json_member(j, "name", a->name);
		json_member(j, "product", a->product);
		json_member(j, "uuid", a->uuid);
		json_number(j, "compute_units", a->nr_cu);
		json_number(j, "clock_mhz", a->clock_mhz);
		json_number(j, "wave_size", a->wave_size);
		json_number(j, "queues", a->nr_queues);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_process(struct json *j, const struct info_process *p)
{
	json_object(j);
	json_number(j, "pid", p->pid);
	json_number(j, "ppid", p->ppid);
	json_member(j, "host", p->host);
	json_member(j, "command", p->command);
	json_member(j, "exe", p->exe);
	json_member(j, "cwd", p->cwd);
	json_optional(j, "rank", p->rank);
	json_optional(j, "world_size", p->world_size);
	json_optional(j, "local_rank", p->local_rank);
	json_member(j, "job", p->job);
	json_member(j, "mode", p->mode);
	json_member(j, "version", p->version);
	json_member(j, "state", p->state);
	json_member(j, "clock", p->clock);
	json_member(j, "spool", p->spool);
	json_number(j, "start_ns", p->start_ns);
	json_number(j, "first_ns", p->first_ns);
	json_number(j, "last_ns", p->last_ns);
	json_member_int(j, "realtime_offset_ns", p->realtime_offset_ns);
	json_number(j, "threads", p->nr_threads);
	json_number(j, "kernels", p->nr_kernels);
	json_number(j, "api_functions", p->nr_functions);
	json_counts(j, &p->counts);
	json_agents(j, p);
	json_key(j, "libraries");
	json_array(j);
	for (size_t i = 0; i < p->nr_libraries; i++)
		json_text(j, p->libraries[i]);
	json_array_end(j);
	json_object_end(j);
}

static void put_json(const struct info *info)
{
	struct json *j = malloc(sizeof(*j));

	if (!j)
		ui_die_memory();
	json_init(j, json_write_file, ui_output_file());
	json_object(j);
	json_member(j, "path", info->path);
	json_member(j, "kind", info->kind);
	json_member(j, "schema", info->schema);
	json_member(j, "version", info->version);
	json_number(j, "bytes", info->size);
	json_key(j, "complete");
	json_bool(j, info->verdict.complete);
	json_member(j, "verdict", info->verdict.line);
	json_counts(j, &info->counts);
	json_key(j, "losses");
	json_array(j);
	for (size_t i = 0; i < info->verdict.nr_rows; i++) {
		const struct verdict_row *row = &info->verdict.rows[i];

		json_object(j);
		json_number(j, "pid", row->pid);
		json_member(j, "reason", row->reason);
		json_member(j, "class", load_class_name(row->class));
		json_number(j, "count", row->count);
		json_number(j, "first_ns", row->first_ns);
		json_number(j, "last_ns", row->last_ns);
		json_member(j, "text", row->text);
		json_object_end(j);
	}
	json_array_end(j);
	json_key(j, "warnings");
	json_array(j);
	for (size_t i = 0; i < info->nr_warnings; i++)
		json_text(j, info->warnings[i]);
	json_array_end(j);
	json_key(j, "processes");
	json_array(j);
	for (size_t i = 0; i < info->nr_processes; i++)
		json_process(j, &info->processes[i]);
	json_array_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	json_flush(j); /* an error shows in ui_flush() */
	free(j);
}

static int run_info(const struct opt_parsed *p)
{
	static struct info info;

	info.path = p->operands[0];
	info.version = "";
	info_read(&info);
	if (p->values[O_FORMAT].num)
		put_json(&info);
	else
		put_text(&info);
	return 0;
}

const struct command cmd_info = {
	.name = "info",
	.summary = "shows what a trace contains, and whether it is complete",
	.usage = "FILE|SPOOL|SPOOL_DIR",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = commands_statuses,
	.about =
		"Reads a database of rtl or RPD, a raw trace (FILE.rtl), or a directory of them, and prints the "
		"verdict, the number of records, each process with its identity, clock and GPUs, and the losses "
		"by reason with their counts. A raw trace may still be growing, or be left over from a killed process.\n"
		"\n"
		"The verdict is 'complete' or lists what is missing. Records that a mode leaves out by design are listed "
		"as skipped and do not make a trace incomplete.",
	.examples =
		"rtl info trace.db\nrtl info trace.db.spool\nrtl info --format json trace.db | jq .complete\n",
	.run = run_info,
};
