// SPDX-License-Identifier: MIT
// marks.js - what the timeline marks: calls that failed, and times in which a GPU did nothing
//
// Both are known when all slices are decoded; there are none before.

const GAPS_MAX = 500; // of a GPU: its longest
const GAP_SHARE = 1e-5; // of the trace: shorter ones are not looked for

class Marks {
	constructor(trace) {
		this.trace = trace;
		this.gaps = new Map();
		this.failed = null;
	}

	// { index, begin, end }: the failed calls of a row, in time; null: none.
	failuresOf(row) {
		if (row.lane.kind !== "calls" || !this.trace.isLoaded)
			return null;
		if (row.failures === undefined) {
			const index = [];
			for (const { data, count, first } of row.blocks)
				for (let at = 0; at < count; at++)
					if (data.extra[at])
						index.push(first + at);
			const slices = index.map(i => row.slice(i));
			row.failures = index.length ? { index, begin: slices.map(s => s.begin), end: slices.map(s => s.end) } : null;
		}
		return row.failures;
	}

	// All failed calls as { row, index, begin }, in time.
	failures() {
		if (!this.failed && this.trace.isLoaded) {
			this.failed = [];
			for (const row of this.trace.rows()) {
				const of = this.failuresOf(row);
				if (of)
					of.index.forEach((index, i) => this.failed.push({ row, index, begin: of.begin[i] }));
			}
			this.failed.sort((a, b) => a.begin - b.begin);
		}
		return this.failed || [];
	}

	// { begin, end }: between the operations of a group of lanes, the longest ones in time.
	gapsOf(group) {
		if (!this.trace.isLoaded)
			return [];
		if (!this.gaps.has(group))
			this.gaps.set(group, this.findGaps(group));
		return this.gaps.get(group);
	}

	findGaps(group) {
		const least = Math.max(1, this.trace.span * GAP_SHARE);
		let busy = [];
		for (const row of this.trace.rows())
			if (row.lane.group === group && ["kernels", "copies"].includes(row.lane.kind))
				busy = joined(busy, spansOf(row, least));
		const gaps = busy.slice(1).map((span, i) => ({ group, begin: busy[i].end, end: span.begin })).filter(gap => gap.end - gap.begin >= least);
		gaps.sort((a, b) => b.end - b.begin - (a.end - a.begin));
		return gaps.slice(0, GAPS_MAX).sort((a, b) => a.begin - b.begin);
	}

	// Of all groups, the longest first.
	allGaps() {
		const groups = [...new Set(this.trace.queueLanes.map(lane => lane.group))];
		return groups.flatMap(group => this.gapsOf(group)).sort((a, b) => b.end - b.begin - (a.end - a.begin) || a.begin - b.begin);
	}
}

// The times in which a row has slices; what is nearer than `least` is one.
function spansOf(row, least) {
	const spans = [];
	let last = null;
	for (const { data, count } of row.blocks)
		for (let at = 0; at < count; at++) {
			if (data.flags[at] & UNTIMED)
				continue;
			const begin = data.begin[at], end = begin + data.duration[at];
			if (last && begin - last.end < least)
				last.end = Math.max(last.end, end);
			else
				spans.push(last = { begin, end });
		}
	return spans;
}

// Two lists of spans in time as one.
function joined(a, b) {
	const out = [];
	for (let i = 0, k = 0; i < a.length || k < b.length;) {
		const next = k >= b.length || i < a.length && a[i].begin <= b[k].begin ? a[i++] : b[k++], last = out[out.length - 1];
		if (last && next.begin <= last.end)
			last.end = Math.max(last.end, next.end);
		else
			out.push({ ...next });
	}
	return out;
}
