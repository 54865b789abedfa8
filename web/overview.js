// SPDX-License-Identifier: MIT
// overview.js - what the trace is, how busy the GPUs were, what took longest, what is missing

const TOP_ROWS = 8;

class Overview {
	// `open(table, sum)` shows a row of a table, `longest(table, sum)` and `failed()` a place in the timeline.
	constructor(trace, element, { open, longest, failed }) {
		Object.assign(this, { trace, open, longest, failed });
		element.append(this.cards(), ...this.findings(), this.gpus(), this.tops(), this.losses(), this.processes());
	}

	card(title, text, more, mark) {
		return h("div", { class: "card " + (mark || "") }, h("h2", {}, title), h("p", { class: "big" }, text), h("p", {}, more));
	}

	cards() {
		const trace = this.trace, sum = table => trace.tables[table].reduce((n, s) => n + s.calls, 0);
		const gpuTime = trace.gpus.reduce((ns, g) => ns + g.busy_ns, 0), whole = (trace.wall_ns - trace.startup_ns) * trace.gpus.length;
		return h("div", { class: "cards" },
			this.card("Wall time", formatTime(trace.wall_ns), trace.part ? `from the first record to the last: ${trace.part}` :
				trace.startup_ns ? `${formatTime(trace.startup_ns)} start-up, until ${trace.startup_until}` : "of the program"),
			this.card("GPU busy", whole ? formatShare(gpuTime / whole) : "\u2013", `${formatTime(gpuTime)} on ${trace.gpus.length} GPU${trace.gpus.length === 1 ? "" : "s"}`),
			this.card("Operations", formatCount(sum("kernels") + sum("copies")), `${formatCount(sum("kernels"))} kernels, ${formatCount(sum("copies"))} copies and fills`),
			this.card("Calls", formatCount(sum("calls")), [this.failures(), `; ${formatCount(sum("ranges"))} ranges and markers`]),
			this.card("Verdict", trace.complete ? "Complete" : "Incomplete", trace.complete ? "nothing was lost" : trace.verdict, trace.complete ? "good" : "bad"));
	}

	failures() {
		const nr = this.trace.tables.calls.reduce((n, s) => n + s.errors, 0), text = `${formatCount(nr)} failed`;
		return nr ? h("button", { type: "button", class: "link", title: "shows the first in the timeline", onclick: () => this.failed() }, text) : text;
	}

	// What is wrong with the program, as rtl summary says it: "Tiny launches: 1,040 kernels ...".
	findings() {
		const texts = this.trace.findings || [];
		if (!texts.length)
			return [];
		return [h("section", { id: "findings" }, h("h2", {}, "Findings"), h("ol", {}, texts.map(({ text }) => {
			const colon = text.indexOf(": ");
			return h("li", {}, colon > 0 && colon < 40 ? [h("strong", {}, visible(text.slice(0, colon + 1))), visible(text.slice(colon + 1))] : visible(text));
		})))];
	}

	gpus() {
		const trace = this.trace;
		if (!trace.gpus.length)
			return h("p", { class: "empty" }, "No operation of a GPU was recorded.");
		return h("section", {}, h("h2", {}, "GPUs"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "GPUs" }, h("table", { id: "gpus" },
			h("thead", {}, h("tr", {}, ["GPU", "Busy", "Busy after start-up", "Kernels", "Kernel time", "Copies", "Copy time", "Busy over time"]
				.map((t, i) => h("th", { scope: "col", class: i > 0 && i < 7 ? "count" : "" }, t)))),
			h("tbody", {}, trace.gpus.map(g => this.gpuLine(g))))),
		h("p", { class: "hint" }, "Busy: time with at least one kernel or copy; several at once count once."));
	}

	gpuLine(g) {
		const agent = this.trace.agents.find(a => a.gpu === g.gpu), time = ns => h("td", { class: "time", title: exactTime(ns), "data-value": ns }, formatTime(ns));
		return h("tr", {},
			h("th", { scope: "row" }, `GPU ${g.gpu}`, agent ? h("small", {}, " ", nameElement(`${agent.product} (${agent.name})`)) : ""),
			time(g.busy_ns), h("td", { class: "share" }, this.trace.wall_ns ? formatShare(g.busy_ns / (this.trace.wall_ns - this.trace.startup_ns)) : "\u2013"),
			h("td", { class: "count" }, formatCount(g.kernels)), time(g.kernel_ns), h("td", { class: "count" }, formatCount(g.copies)), time(g.copy_ns),
			h("td", {}, this.curve(g)));
	}

	// Its height is the busiest part of any GPU, which is written beside it.
	curve(g) {
		const most = Math.min(1, Math.max(...this.trace.gpus.map(gpu => Math.max(...gpu.bins))) / this.trace.bin_ns) || 1;
		const bins = g.bins, height = 28, picture = svg("svg", { viewBox: `0 0 ${bins.length} ${height}`, class: "curve", preserveAspectRatio: "none", role: "img",
			"aria-label": `GPU ${g.gpu}: busy over time` });
		const points = bins.map((ns, i) => `L${i} ${(height - height * Math.min(1, ns / this.trace.bin_ns / most)).toFixed(1)}h1`);
		picture.append(svg("path", { class: "area", d: `M0 ${height}${points.join("")}L${bins.length} ${height}Z` }));
		return h("div", { class: "with-scale" }, picture, h("small", { title: "what the full height stands for" }, formatShare(most)));
	}

	tops() {
		const titles = { kernels: "Longest kernels", calls: "Longest calls", copies: "Copies and fills", ranges: "Longest ranges" };
		return h("div", { class: "tops" }, Object.entries(titles).map(([table, title]) => this.top(table, title)));
	}

	top(table, title) {
		const sums = this.trace.tables[table]; // the longest first
		if (!sums.length)
			return h("section", {}, h("h2", {}, title), h("p", { class: "empty" }, "None in the trace."));
		return h("section", {}, h("h2", {}, title),
			h("ol", { class: "top" }, sums.slice(0, TOP_ROWS).map(sum => {
				const bar = h("span", { class: "bar", "aria-hidden": "true" });
				bar.style.width = (sums[0].total_ns ? 100 * sum.total_ns / sums[0].total_ns : 0) + "%";
				return h("li", {}, bar, h("button", { type: "button", class: "link", title: visible(this.trace.names[sum.name]), onclick: () => this.open(table, sum) },
					nameElement(this.trace.names[sum.name])),
				h("span", { class: "figures", title: exactTime(sum.total_ns) }, `${formatTime(sum.total_ns)} \u00b7 ${formatCount(sum.calls)}\u00d7` +
					(table === "ranges" || sum.share === null ? "" : ` \u00b7 ${formatShare(sum.share)}`),
				sum.max_ns !== null ? [" \u00b7 ", h("button", { type: "button", class: "link", title: `shows the longest in the timeline: ${exactTime(sum.max_ns)}`,
					"aria-label": `Longest: ${formatTime(sum.max_ns)}, in the timeline`, onclick: () => this.longest(table, sum) }, `max ${formatTime(sum.max_ns)}`)] : null));
			})),
			sums.length > TOP_ROWS ? h("button", { type: "button", onclick: () => this.open(table, null) }, `All ${formatCount(sums.length)}`) : null);
	}

	losses() {
		const rows = this.trace.losses;
		return h("section", { id: "losses" }, h("h2", {}, "Losses and notes"), rows.length ? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Losses and notes" }, h("table", {},
			h("thead", {}, h("tr", {}, ["Class", "Count", "Reason", "Process", "What"].map(t => h("th", { scope: "col" }, t)))),
			h("tbody", {}, rows.map(row => h("tr", {}, h("td", { class: "loss-" + row.class }, row.class), h("td", { class: "count" }, formatCount(row.count)),
				h("td", {}, nameElement(row.reason)), h("td", {}, row.pid || "\u2013"), h("td", {}, nameElement(row.text)))))))
			: h("p", {}, "Nothing is missing, and there is nothing to note."));
	}

	processes() {
		const trace = this.trace;
		if (!trace.processes.length)
			return h("p", {}, "The file does not describe its processes.");
		const when = trace.realtime_ns ? new Date((trace.t0 + trace.realtime_ns) / 1e6).toISOString().replace("T", " ").replace("Z", " UTC") : "not known";
		return h("section", {}, h("h2", {}, "Processes"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Processes" }, h("table", {},
			h("thead", {}, h("tr", {}, ["Process", "Rank", "Host", "Mode", "End", "Command"].map(t => h("th", { scope: "col" }, t)))),
			h("tbody", {}, trace.processes.map(p => h("tr", {}, h("th", { scope: "row" }, p.pid), h("td", {}, p.rank === null || p.rank < 0 ? "\u2013" : p.rank),
				h("td", {}, nameElement(p.host || "")), h("td", {}, nameElement(p.mode || "")), h("td", {}, nameElement(p.state || "")),
				h("td", {}, h("code", {}, nameElement(p.command || "")))))))),
		h("p", { class: "hint" }, `First event: ${when}. File: `, nameElement(trace.source), `. Written by rtl ${trace.version}.`));
	}
}
