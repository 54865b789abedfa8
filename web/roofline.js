// SPDX-License-Identifier: MIT
// roofline.js - kernels by the work that they do for each byte of memory, where counters tell
//
// The points and the roofs are those of rtl summary --metrics roofline. A field changes the bandwidth of memory: it is at first that of
// the table, else the highest rate of a kernel in the trace.

// What counts as work, by the metric of the table.
const WORKS = [
	{ metric: "fp32", unit: "operations of 32 bits", short: "op" },
	{ metric: "fp64", unit: "operations of 64 bits", short: "op" },
	{ metric: "ops", unit: "operations of lanes", short: "op" },
	{ metric: "insts", unit: "vector instructions", short: "inst" },
];

// For each kind of GPU, and of work that its kernels do: { gpu, unit, short, points: [{ name, intensity, rate, bytes }], peak, bandwidth }.
// rate, bytes and peak are a second, bandwidth is GB/s; null: not known.
function rooflinesOf(trace) {
	const kernels = new Map();
	for (const row of trace.tables.roofline) {
		const key = `${row.kernel} ${row.gpu}`;
		if (!kernels.has(key))
			kernels.set(key, { name: row.kernel, gpu: row.gpu, of: {} });
		kernels.get(key).of[row.metric] = row;
	}
	const found = [];
	for (const gpu of new Set([...kernels.values()].map(k => k.gpu)))
		for (const { metric, unit, short } of WORKS) {
			const own = [...kernels.values()].filter(k => k.gpu === gpu && k.of.dram && k.of.dram.value > 0 && k.of[metric] && k.of[metric].value > 0);
			if (!own.length)
				continue;
			const { dram, [metric]: rate, [`${metric}_intensity`]: ridge } = own[0].of;
			// the peak of a rate is the lower one of both roofs, where both are known
			const peak = dram.peak === null ? rate.peak : ridge.peak === null ? null : ridge.peak * dram.peak;
			found.push({ gpu, unit, short, peak: peak && peak * 1e9, bandwidth: dram.peak,
				points: own.map(k => ({ name: k.name, intensity: k.of[`${metric}_intensity`].value, rate: k.of[metric].value * 1e9, bytes: k.of.dram.value * 1e9 })) });
		}
	return found;
}

class Roofline {
	constructor(trace, element) {
		this.trace = trace;
		this.element = element;
		this.all = rooflinesOf(trace);
		if (this.all.length)
			this.build(this.all[0]);
		else
			this.explain();
	}

	explain() {
		this.element.append(h("p", { class: "empty" }, this.trace.tables.roofline.some(row => WORKS.some(w => w.metric === row.metric)) ?
			"The counters for a roofline are in the trace, but no kernel has both work and bytes: the GPU, or the virtual one, counted 0." :
			"The trace does not have the counters for a roofline."),
			h("p", {}, "Count them with ", h("code", {}, "rtl trace --pmc roofline -- PROGRAM"),
				", or with ", h("code", {}, "--pmc FETCH_SIZE,WRITE_SIZE,SQ_INSTS_VALU"), " for an instruction roofline."));
	}

	build(data) {
		const { points, unit, short, bandwidth, peak } = this.data = data, rate = Math.max(...points.map(p => p.bytes)) / 1e9;
		this.field = h("input", { type: "number", id: "bandwidth", min: "0.001", step: "any", value: bandwidth ?? Number(rate.toPrecision(3)), oninput: () => this.draw() });
		this.figure = h("figure");
		this.element.replaceChildren(
			h("p", {}, `Each point is a kernel: ${unit} per byte of memory (across), and per second (up). Below the slope memory limits it, below the flat part the compute units.`),
			...this.choice(),
			h("p", {}, h("label", { for: "bandwidth" }, "Bandwidth of memory (GB/s) "), this.field,
				bandwidth === null ? " The trace does not know it: at first it is the highest rate of a kernel here." : ""),
			h("p", {}, peak ? `Peak: ${formatScaled(peak, short + "/s")}.` : "The peak of the GPU is not known.", ...this.trace.roofline_notes.map(note => ` ${visible(note)}.`)), this.figure,
			new DataTable({ id: "roofline-table", caption: "Kernels of the roofline", sort: "rate", rows: points, columns: [
				{ key: "intensity", title: `${short}/byte`, kind: "number", value: p => p.intensity },
				{ key: "rate", title: `G${short}/s`, kind: "number", value: p => p.rate / 1e9 },
				{ key: "bytes", title: "Memory rate", kind: "rate", value: p => p.bytes },
				{ key: "name", title: "Kernel", kind: "name", value: p => this.trace.names[p.name] },
			] }).element);
		this.draw();
	}

	// Of several kinds of work and of GPUs.
	choice() {
		if (this.all.length < 2)
			return [];
		return [h("p", {}, h("label", { for: "work" }, "Work "), h("select", { id: "work", onchange: event => {
			this.build(this.all[event.target.value]);
			byId("work").focus();
		} }, this.all.map((one, i) => h("option", { value: i, selected: one === this.data }, `${one.unit}, ${one.gpu}`))))];
	}

	draw() {
		const { points, short, peak } = this.data, bandwidth = Number(this.field.value) * 1e9;
		if (!(bandwidth > 0))
			return;
		const width = 720, height = 380, left = 80, bottom = 44;
		const intensities = points.map(p => p.intensity), rates = points.map(p => p.rate);
		const ridge = peak ? peak / bandwidth : Math.max(...intensities);
		const x0 = Math.log10(Math.min(...intensities, ridge)) - 0.7, x1 = Math.log10(Math.max(...intensities, ridge)) + 0.7;
		const y0 = Math.log10(Math.min(...rates)) - 0.7, y1 = Math.log10(Math.max(...rates, peak || 0)) + 0.4;
		const x = v => left + (width - left - 12) * (Math.log10(v) - x0) / (x1 - x0);
		const y = v => height - bottom - (height - bottom - 12) * (Math.log10(v) - y0) / (y1 - y0);
		const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Roofline of ${points.length} kernels; the table below has the values` });
		for (let e = Math.ceil(x0); e <= x1; e++)
			picture.append(svg("line", { class: "grid", x1: x(10 ** e), x2: x(10 ** e), y1: 12, y2: height - bottom }),
				svg("text", { x: x(10 ** e), y: height - bottom + 16, "text-anchor": "middle" }, formatCount(Number((10 ** e).toPrecision(3)))));
		for (let e = Math.ceil(y0); e <= y1; e++)
			picture.append(svg("line", { class: "grid", x1: left, x2: width - 12, y1: y(10 ** e), y2: y(10 ** e) }),
				svg("text", { x: left - 6, y: y(10 ** e) + 4, "text-anchor": "end" }, formatScaled(10 ** e, "")));
		picture.append(svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, `${short} per byte`),
			svg("text", { x: 14, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${height / 2})` }, `${short} per second`));
		const top = peak || bandwidth * 10 ** x1;
		const path = [[10 ** Math.max(x0, y0 - Math.log10(bandwidth)), bandwidth * 10 ** Math.max(x0, y0 - Math.log10(bandwidth))], [top / bandwidth, top], [10 ** x1, top]];
		picture.append(svg("polyline", { class: "roof", points: path.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
		for (const point of points)
			picture.append(svg("circle", { class: "point", r: 6, cx: x(point.intensity), cy: y(point.rate), tabindex: 0 },
				svg("title", {}, `${visible(this.trace.names[point.name])}\n${formatCount(point.intensity)} ${short} per byte, ` +
					formatScaled(point.rate, short + "/s"))),
			svg("text", { x: x(point.intensity) + 9, y: y(point.rate) + 4 }, shortName(this.trace.names[point.name]).slice(0, 40)));
		this.figure.replaceChildren(picture);
	}
}
