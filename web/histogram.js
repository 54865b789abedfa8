// SPDX-License-Identifier: MIT
// histogram.js - how the durations of one name are distributed
//
// Its numbers are those of the table. Its bars are counted of the slices, which the page has, and to which they lead: bins of each name would be up to 48 rows for it in the file.

const BINS = 48;

// Bins of equal width on a logarithmic axis, or on a linear one where all durations are within a factor of three.
function histogramOf(sorted) {
	const low = Math.max(1, sorted[0]), high = Math.max(low + 1, sorted[sorted.length - 1]);
	const isLinear = high / low < 3, edges = [], counts = new Array(BINS).fill(0);
	for (let i = 0; i <= BINS; i++)
		edges.push(isLinear ? low + (high - low) * i / BINS : low * (high / low) ** (i / BINS));
	for (const value of sorted) {
		const share = isLinear ? (value - low) / (high - low) : Math.log(Math.max(1, value) / low) / Math.log(high / low);
		counts[Math.min(BINS - 1, Math.max(0, Math.floor(share * BINS)))]++;
	}
	return { edges, counts, isLinear };
}

// Panel for one name: its numbers, which are those of its row in the table, and bars of its slices with their bounds and counts as tooltips. onShow(low, high) leads to a slice of such a duration in
// the timeline; without bounds to the first, onLongest() to the longest. `more`: what else is to be known.
function histogramPanel(name, sum, sorted, onShow, onLongest, more) {
	const title = h("h2", {}, "Durations of ", nameElement(name));
	if (!sorted.length)
		return h("section", { class: "histogram" }, title, h("p", {}, "None of them has valid times."), more);
	const numbers = [["Count", null, formatCount(sum.calls - sum.untimed)], ["Shortest", sum.min_ns], ["Median", sum.median_ns], ["Mean", sum.mean_ns],
		["99 %", sum.p99_ns], ["Longest", sum.max_ns]];
	return h("section", { class: "histogram", "aria-label": "Histogram of durations" }, title,
		h("dl", { class: "numbers" }, numbers.map(([what, ns, text]) => h("div", {}, h("dt", {}, what),
			h("dd", { title: ns === null ? undefined : exactTime(ns) }, text || formatTime(ns))))),
		histogramPicture(sorted, sum.median_ns, onShow),
		h("p", { class: "toolbar" }, h("button", { type: "button", onclick: () => onShow() }, "Show in the timeline"),
			h("button", { type: "button", class: "longest", onclick: onLongest }, "Show the longest")), more);
}

function histogramPicture(sorted, median, onShow) {
	const { edges, counts, isLinear } = histogramOf(sorted);
	const width = 640, height = 170, left = 48, bottom = 24, most = Math.max(...counts);
	const x = i => left + (width - left - 8) * i / BINS, y = count => height - bottom - (height - bottom - 12) * count / most;
	const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group",
		"aria-label": `Histogram: ${formatCount(sorted.length)} durations from ${formatTime(sorted[0])} to ${formatTime(sorted[sorted.length - 1])}, ` +
			`median ${formatTime(median)}` });
	for (const count of [0, most])
		picture.append(svg("line", { x1: left, x2: width - 8, y1: y(count), y2: y(count), class: "grid" }),
			svg("text", { x: left - 6, y: y(count) + 4, "text-anchor": "end" }, formatCount(count)));
	const bars = [];
	counts.forEach((count, i) => {
		if (!count)
			return;
		// the durations themselves: bounds of bars are rounded
		const low = sorted[bars.reduce((n, bar) => n + bar.count, 0)], high = sorted[bars.reduce((n, bar) => n + bar.count, count) - 1];
		const text = `${formatTime(edges[i])} to ${formatTime(edges[i + 1])}: ${formatCount(count)}`;
		const element = svg("g", { class: "bin", tabindex: bars.length ? -1 : 0, role: "button", "aria-label": `${text}; shows the first in the timeline`,
			onclick: () => onShow(low, high), onkeydown: event => onBarKey(event, bars, () => onShow(low, high)) }, svg("title", {}, text),
		svg("rect", { x: x(i), y: 4, width: x(1) - x(0), height: height - bottom - 4, class: "back" }),
		svg("rect", { x: x(i) + 0.5, y: Math.min(y(count), height - bottom - 1.5), width: x(1) - x(0) - 1,
			height: Math.max(1.5, height - bottom - y(count)), class: "bar" }));
		bars.push({ count, element });
		picture.append(element);
	});
	// bounds that look alike are shown exactly
	const marks = [0, 12, 24, 36, BINS], isAlike = new Set(marks.map(i => formatTime(edges[i]))).size < marks.length;
	const bound = isAlike ? ns => exactTime(Math.round(ns)) : formatTime;
	for (const i of marks)
		picture.append(svg("text", { x: x(i), y: height - 7, "text-anchor": i === 0 ? "start" : i === BINS ? "end" : "middle" }, bound(edges[i])));
	return h("figure", {}, picture, h("figcaption", {}, `Number of ${isLinear ? "" : "(logarithmic axis) "}durations. Each bar has its bounds as a tooltip, and leads to the first of its durations in the timeline.`));
}

// The arrows go from bar to bar: all are one stop of the Tab key.
function onBarKey(event, bars, show) {
	const at = bars.findIndex(bar => bar.element === event.currentTarget), to = bars[at + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] || 0)];
	if (event.key === "Enter" || event.key === " ")
		show();
	else if (event.key.startsWith("Arrow") && to)
		to.element.focus();
	else
		return;
	event.preventDefault();
}
