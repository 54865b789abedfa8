// SPDX-License-Identifier: MIT
// named.js - the slices of one name: their durations, for the bars of a histogram, and the way to one of them

const LANES_OF = { kernels: ["kernels"], copies: ["copies", "kernels"], calls: ["calls"], ranges: ["ranges"], runtime: ["runtime"] };

// Sorted durations of a name in a table ("kernels", "calls", ...), in ns. Those without valid times are left out.
function durationsOf(trace, table, name) {
	const kinds = LANES_OF[table], bad = table === "calls" || table === "ranges" ? FLAG.inverted : UNTIMED;
	const found = [];
	for (const row of trace.rows()) {
		if (!kinds.includes(row.lane.kind))
			continue;
		for (const { data } of row.blocks)
			for (let at = data.name.indexOf(name); at >= 0; at = data.name.indexOf(name, at + 1))
				if (!(data.flags[at] & bad))
					found.push(data.duration[at]);
	}
	return Float64Array.from(found).sort();
}

// The longest slice of a name, or the first whose duration is in [low, high]; null: none.
function sliceOf(trace, table, name, low = 0, high = Infinity) {
	const isAny = high !== Infinity, bad = table === "calls" || table === "ranges" ? FLAG.inverted : UNTIMED;
	let best = null;
	for (const row of trace.rows()) {
		if (!LANES_OF[table].includes(row.lane.kind))
			continue;
		for (const { data, first } of row.blocks)
			for (let at = data.name.indexOf(name); at >= 0; at = data.name.indexOf(name, at + 1)) {
				const ns = data.duration[at];
				if (!(data.flags[at] & bad) && ns >= low && ns <= high &&
				    (!best || (isAny ? data.begin[at] < best.begin : ns > best.ns)))
					best = { row, index: first + at, begin: data.begin[at], ns };
			}
	}
	return best ? best.row.slice(best.index) : null;
}
