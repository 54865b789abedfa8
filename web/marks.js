// SPDX-License-Identifier: MIT
// marks.js - what the timeline marks: calls that failed, and times in which a GPU did nothing
//
// Failed calls are known when all slices are decoded; there are none before. Idle times are those of rtl summary --by gap.

class Marks {
	constructor(trace) {
		this.trace = trace;
		this.gaps = new Map(trace.gpus.map(({ group, gaps }) => [group, gaps.map(([begin, end]) => ({ group, begin, end }))]));
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

	// { group, begin, end } of a GPU's lanes, the longest ones in time.
	gapsOf(group) {
		return this.gaps.get(group) || [];
	}

	// Of all GPUs, the longest first.
	allGaps() {
		return [...this.gaps.values()].flat().sort((a, b) => b.end - b.begin - (a.end - a.begin) || a.begin - b.begin);
	}
}
