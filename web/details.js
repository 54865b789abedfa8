// SPDX-License-Identifier: MIT
// details.js - what is known of the selected slice, or of a span of time

const FLAG_TEXTS = [
	[FLAG.inverted, "its end is before its begin"], [FLAG.noTime, "its times could not be read"],
	[FLAG.unfinished, "it was not finished when the process ended"], [FLAG.graph, "part of a graph"],
	[FLAG.shared, "its completion signal is shared with others"], [FLAG.placed, "its times are a position, not measured"],
];
const KIND_TEXTS = { kernels: "kernel", copies: "copy or fill", runtime: "kernel of the runtime", barriers: "barrier packet",
	calls: "call", ranges: "range", counter: "value of a counter", collectives: "collective" };

const SPAN_ROWS = 100;

class Details {
	constructor(trace) {
		this.trace = trace;
		this.element = byId("details");
		this.timeline = null; // set by the page
		this.show(null);
	}

	clear() {
		this.element.replaceChildren(h("p", { class: "hint" },
			"Click a bar for its details. Drag to move, Ctrl and wheel to zoom, Shift and drag to measure. The key ? lists all keys."));
	}

	line(title, ...content) {
		return [h("dt", {}, title), h("dd", {}, ...content)];
	}

	time(ns) {
		return h("span", { title: exactTime(ns), "data-value": ns }, formatTime(ns), " ", h("small", {}, ns >= 1000 ? exactTime(ns) : ""));
	}

	// A button that leads to another slice.
	link(slice) {
		return h("button", { type: "button", class: "link", onclick: () => this.timeline.select(slice, true) },
			nameElement(this.trace.names[slice.name]));
	}

	show(slice) {
		const trace = this.trace;
		this.slice = slice;
		if (!slice) {
			this.clear();
			return;
		}
		const isCall = slice.lane.kind === "calls", isRange = slice.lane.kind === "ranges";
		const list = h("dl", {},
			this.line("What", slice.lane.kind === "ranges" ? MARKER_KINDS[slice.extra] || "range" : KIND_TEXTS[slice.lane.kind]),
			slice.value === undefined ? [] : this.line("Value", `${visible(slice.lane.name)} = ${formatCount(slice.value)}`),
			this.line("Duration", slice.flags & (FLAG.inverted | FLAG.noTime | FLAG.placed) ? "not known" : this.time(slice.duration)),
			this.line("Begin", this.time(slice.begin), " after the first event"),
			this.line("On", `${visible(slice.lane.group)}, ${visible(slice.lane.name)}`),
			slice.bytes ? this.line("Size", `${formatBytes(slice.bytes)} (${formatCount(slice.bytes)} bytes)` +
				(slice.duration ? `, ${formatRate(slice.bytes * 1e9 / slice.duration)}` : "")) : [],
			slice.text ? this.line(slice.lane.kind === "copies" ? "Between" : "Launch", visible(trace.names[slice.text])) : [],
			!isCall && !isRange && slice.extra ? this.line("Stream", visible(trace.names[slice.extra])) : [],
			isCall ? this.line("Status", slice.extra ? h("strong", { class: "bad" }, `failed: error ${slice.extra}`) : "0, success or none") : [],
			FLAG_TEXTS.filter(([bit]) => slice.flags & bit && slice.lane.kind !== "counter").map(([, text]) => this.line("Note", text)),
			this.line("Id", String(slice.id)));
		this.addRelated(slice, list);
		this.element.replaceChildren(h("h2", {}, nameElement(trace.names[slice.name])), list);
		this.addArguments(slice, list);
		this.addRanks(slice, list);
		announce(`${KIND_TEXTS[slice.lane.kind]} ${visible(trace.names[slice.name])}, ${formatTime(slice.duration)}`);
	}

	addRelated(slice, list) {
		const trace = this.trace;
		if (slice.lane.kind === "calls") {
			const operations = trace.operationsOf(slice, 101), { sent, received } = trace.messagesOf(slice);
			this.addMessages(list, "Sends", sent, m => m.to, m => m.to.begin < m.from.end ? m.to.begin - m.from.begin : 0);
			this.addMessages(list, "Receives", received, m => m.from, m => m.from.begin - m.to.begin);
			if (operations.length)
				list.append(...this.line(`Operations (${operations.length > 100 ? "more than 100" : operations.length})`,
					h("ul", {}, operations.slice(0, 20).map(o => h("li", {}, this.link(o), ` ${formatTime(o.duration)}, `,
						`${formatTime(o.begin - slice.begin)} after the call`)))));
		} else {
			const call = trace.callOf(slice);
			if (call)
				list.append(...this.line("Caused by", this.link(call), ` ${formatTime(slice.begin - call.begin)} before`));
			else if (slice.call)
				list.append(...this.line("Caused by", trace.isLoaded ? `call ${slice.call}, which is not in the trace` : "loading"));
		}
		const range = slice.marker ? trace.find(["ranges"], "id", slice.marker) : null;
		if (range)
			list.append(...this.line("In range", this.link(range)));
	}

	// Messages of MPI, with their other ends; `waitOf`: how long this end waited until the other one was called.
	addMessages(list, title, messages, endOf, waitOf) {
		if (messages.length)
			list.append(...this.line(`${title} (${formatCount(messages.length)})`, h("ul", {}, messages.slice(0, 20).map(m => {
				const other = endOf(m).row.slice(endOf(m).index), wait = waitOf(m);
				return h("li", {}, this.link(other), ` ${visible(other.lane.group)}, ${formatBytes(m.bytes)}, tag ${m.tag}, `,
					`${formatTime(m.at - m.from.begin)} under way`, wait > 0 ? `, waited ${formatTime(wait)} for it` : "");
			}))));
	}

	async addArguments(slice, list) {
		if (slice.lane.kind !== "calls")
			return;
		const text = await this.trace.argumentsOf(slice);
		if (this.slice !== slice)
			return;
		if (text)
			list.append(...this.line("Arguments", h("code", {}, nameElement(text))));
		else if (this.trace.args_left_out)
			list.append(...this.line("Arguments", "are in the database alone: the trace has too many calls for a page"));
	}

	// Who came last to a collective, and how long the others waited.
	async addRanks(slice, list) {
		const one = await this.trace.collectiveOf(slice);
		if (!one || this.slice !== slice)
			return;
		const isPart = slice.lane.kind !== "collectives", last = one.ranks[0];
		list.append(...this.line("Collective", isPart ? this.link(one.slice) : "", ` number ${formatCount(one.number)}, ${one.type}`));
		if (!last) {
			list.append(...this.line("Ranks", "are in the database alone: the trace has too many collectives for a page"));
			return;
		}
		list.append(...this.line("Last to come", visible(last.name), one.cause ? ` (${one.cause})` : ""));
		list.append(...this.line(`Waits (${formatCount(one.ranks.length - 1)})`, h("ul", {}, one.ranks.slice(1, 21).map(rank => {
			const part = this.trace.sliceOfRank(rank);
			return h("li", {}, visible(rank.name), ` ${formatTime(rank.wait)} `, part ? this.link(part) : "");
		}))));
	}

	// What happened within a span of time: operations and calls by name, with the parts of them that are in it.
	showSpan(span) {
		if (!span) {
			this.show(this.slice);
			return;
		}
		const sums = new Map(), trace = this.trace;
		for (const row of trace.rows()) {
			const kind = row.lane.kind;
			if (kind === "counter" || kind === "barriers" || kind === "collectives")
				continue;
			trace.each(row, span.begin, span.end, (data, at) => {
				const inside = Math.min(span.end, data.begin[at] + data.duration[at]) - Math.max(span.begin, data.begin[at]);
				const key = kind + data.name[at], sum = sums.get(key) || { kind, name: data.name[at], count: 0, time: 0 };
				sum.count++;
				sum.time += Math.max(0, inside);
				sums.set(key, sum);
			});
		}
		const rows = [...sums.values()].sort((a, b) => b.time - a.time).slice(0, SPAN_ROWS);
		this.element.replaceChildren(
			h("h2", {}, `${span.what}: ${formatTime(span.end - span.begin)}`, " ", h("small", {}, exactTime(Math.round(span.end - span.begin)))),
			h("p", {}, `From ${formatTime(span.begin)} to ${formatTime(span.end)} after the first event. Times are the parts within it.` +
				(sums.size > SPAN_ROWS ? ` The longest ${SPAN_ROWS} of ${formatCount(sums.size)} names.` : "")),
			h("table", { class: "compact" },
				h("thead", {}, h("tr", {}, ["Name", "What", "Count", "Time"].map(t => h("th", { scope: "col" }, t)))),
				h("tbody", {}, rows.map(sum => h("tr", {}, h("th", { scope: "row" }, nameElement(trace.names[sum.name])),
					h("td", {}, KIND_TEXTS[sum.kind]), h("td", { class: "count" }, formatCount(sum.count)),
					h("td", { class: "time", title: exactTime(Math.round(sum.time)) }, formatTime(sum.time)))))));
	}
}
