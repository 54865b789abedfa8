// SPDX-License-Identifier: MIT
// ranges.js - what was launched in ranges of one name, which the user picks, by the name of the operation
//
// The sums of all ranges are in a table of the trace.

const START_RANGE = 2; // MARKER_KINDS: it belongs to no thread

// Of push ranges: id -> { name, parent }, the parent being the range around it on its thread.
function rangeTree(trace) {
	const tree = new Map();
	for (const lane of trace.queueLanes) {
		if (lane.kind !== "ranges")
			continue;
		const all = [];
		for (const row of lane.rows)
			for (const { data, count } of row.blocks)
				for (let at = 0; at < count; at++)
					if (data.extra[at] !== START_RANGE)
						all.push({ id: data.id[at], name: data.name[at], begin: data.begin[at], end: data.begin[at] + data.duration[at], parent: null });
		all.sort((a, b) => a.begin - b.begin || b.end - a.end);
		const open = [];
		for (const range of all) {
			while (open.length && open[open.length - 1].end <= range.begin)
				open.pop();
			range.parent = open[open.length - 1] || null;
			open.push(range);
			tree.set(range.id, range);
		}
	}
	return tree;
}

// What was launched in the ranges of a name: Map from the name of an operation to { count, ns }.
function workOfRanges(trace, name) {
	const tree = rangeTree(trace), work = new Map(), starts = startRanges(trace, name), begins = starts.length ? callBegins(trace) : null;
	for (const row of trace.rows()) {
		if (row.lane.kind !== "kernels" && row.lane.kind !== "copies")
			continue;
		for (const { data, count } of row.blocks)
			for (let at = 0; at < count; at++) {
				let range = tree.get(data.marker[at]);
				while (range && range.name !== name)
					range = range.parent;
				const launched = starts.length ? begins.get(data.call[at]) ?? data.begin[at] : 0;
				if (!range && !starts.some(start => start.pid === row.lane.pid && start.begin <= launched && launched <= start.end))
					continue;
				const sum = work.get(data.name[at]) || { count: 0, ns: 0 };
				sum.count++;
				sum.ns += data.flags[at] & UNTIMED ? 0 : data.duration[at];
				work.set(data.name[at], sum);
			}
	}
	return work;
}

function startRanges(trace, name) {
	const found = [];
	for (const row of trace.rows())
		for (const { data, count } of row.lane.kind === "ranges" ? row.blocks : [])
			for (let at = 0; at < count; at++)
				if (data.extra[at] === START_RANGE && data.name[at] === name)
					found.push({ pid: row.lane.pid, begin: data.begin[at], end: data.begin[at] + data.duration[at] });
	return found;
}

function callBegins(trace) {
	const begins = new Map();
	for (const row of trace.rows())
		for (const { data, count } of row.lane.kind === "calls" ? row.blocks : [])
			for (let at = 0; at < count; at++)
				begins.set(data.id[at], data.begin[at]);
	return begins;
}

// What was launched in the ranges of a name, the longest first.
const WORK_ROWS = 12;

function workPanel(trace, work) {
	if (!work.size)
		return h("p", {}, "No kernel or copy was launched in them.");
	const rows = [...work].sort((a, b) => b[1].ns - a[1].ns);
	return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Operations in these ranges" }, h("table", { class: "compact" },
		h("thead", {}, h("tr", {}, ["Operation", "Count", "GPU time"].map((text, i) => h("th", { scope: "col", class: i ? "count" : "" }, text)))),
		h("tbody", {}, rows.slice(0, WORK_ROWS).map(([name, sum]) => h("tr", {}, h("th", { scope: "row" }, nameElement(trace.names[name])),
			h("td", { class: "count" }, formatCount(sum.count)), h("td", { class: "time", title: exactTime(sum.ns), "data-value": sum.ns }, formatTime(sum.ns)))))),
	rows.length > WORK_ROWS ? h("p", { class: "hint" }, `The longest ${WORK_ROWS} of ${formatCount(rows.length)} names.`) : null);
}
