// SPDX-License-Identifier: MIT
// quantiles.js - the durations of one name, sorted: exact medians, histograms

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

// Durations of all names of a table at once: Map from name to sorted durations.
function allDurations(trace, table) {
	const kinds = LANES_OF[table], bad = table === "calls" || table === "ranges" ? FLAG.inverted : UNTIMED;
	const counts = new Map(trace.tables[table].map(sum => [sum.name, { values: new Float64Array(sum.count), used: 0 }]));
	for (const row of trace.rows()) {
		if (!kinds.includes(row.lane.kind))
			continue;
		for (const { data, count } of row.blocks)
			for (let at = 0; at < count; at++)
				if (!(data.flags[at] & bad)) {
					const of = counts.get(data.name[at]);
					if (!of) // lanes of kernels have copies that HIP makes with kernels, too
						continue;
					of.values[of.used++] = data.duration[at];
				}
	}
	for (const [name, of] of counts)
		counts.set(name, of.values.subarray(0, of.used).sort());
	return counts;
}

// The smallest value that at least `share` of the values do not exceed, as rtl summary has it.
function quantile(sorted, share) {
	if (!sorted.length)
		return NaN;
	return sorted[Math.max(0, Math.min(sorted.length, Math.ceil(share * sorted.length)) - 1)];
}
