// SPDX-License-Identifier: MIT
// roofline.js - kernels by the work that they do for each byte of memory, where counters tell
//
// Work is floating-point operations (CDNA 2 and later count them), else operations of lanes, else vector instructions: an instruction
// roofline. Bytes are FETCH_SIZE + WRITE_SIZE. The roof of work is computed of the GPU's units and clock; that of memory is the value in
// the field, at first that of a data sheet (rtl knows some products), else the highest rate of a kernel in the trace.

const LANES = 64; // of a wave, in counters of instructions

// The number of operations that counters of a kernel stand for; null: they are not there.
function operationsOfCounters(values) {
	let sum = 0, isKnown = false;
	for (const [name, value] of values) {
		const valu = /^SQ_INSTS_VALU_(ADD|MUL|TRANS|FMA)_F(16|32|64)$/.exec(name);
		if (valu)
			sum += value * LANES * (valu[1] === "FMA" ? 2 : 1);
		else if (/^SQ_INSTS_VALU_MFMA_MOPS_(F16|BF16|F32|F64|XF32|F8|F6F4)$/.test(name))
			sum += value * 512;
		else if (name === "TOTAL_32_OPS" || name === "TOTAL_64_OPS" || name === "TOTAL_16_OPS") // metrics, of rtl trace --pmc roofline
			sum += value;
		else
			continue;
		isKnown = true;
	}
	return isKnown ? sum : null;
}

function bytesOfCounters(values) {
	const get = (a, b) => values.get(a) ?? values.get(b);
	const fetch = get("FETCH_SIZE", "FetchSize"), write = get("WRITE_SIZE", "WriteSize");
	return fetch === undefined || write === undefined ? null : (fetch + write) * 1024;
}

// { unit, points: [{ name, work, bytes, seconds }] }; null: the trace lacks the counters.
function rooflineOf(trace) {
	const kernels = new Map();
	for (const [kernel, counter, count, total, , , ns] of trace.values) {
		if (!kernels.has(kernel))
			kernels.set(kernel, { values: new Map(), seconds: 0 });
		const of = kernels.get(kernel);
		// means of a dispatch: passes may have counted different numbers of them
		of.values.set(trace.names[counter], total / count);
		of.seconds = ns / count / 1e9;
	}
	const works = [
		{ unit: "floating-point operations", short: "FLOP", perCycle: 2 * LANES, of: operationsOfCounters },
		{ unit: "operations of lanes", short: "op", perCycle: LANES, of: values => values.get("SQ_THREAD_CYCLES_VALU") ?? null },
		{ unit: "vector instructions", short: "inst", perCycle: 1, of: values => values.get("SQ_INSTS_VALU") ?? null },
	];
	// the first that is more than 0: a GPU without a counter has zeros
	const work = works.find(w => [...kernels.values()].some(({ values }) => w.of(values)));
	const points = [];
	for (const [name, { values, seconds }] of kernels) {
		const nr = work && work.of(values), bytes = bytesOfCounters(values);
		if (nr && bytes && seconds > 0)
			points.push({ name, work: nr, bytes, seconds });
	}
	return points.length ? { ...work, points } : null;
}

// Whether counters of a roofline are there, and no kernel has work and bytes.
function isRooflineEmpty(trace) {
	return trace.values.some(([, counter]) => ["SQ_THREAD_CYCLES_VALU", "SQ_INSTS_VALU", "TOTAL_32_OPS"].includes(trace.names[counter]));
}

function peakOf(agent, perCycle) {
	// each cycle a compute unit begins one vector instruction of 64 lanes, which may be a multiply and an add
	return agent && agent.cus && agent.mhz ? agent.cus * agent.mhz * 1e6 * perCycle : null;
}

class Roofline {
	constructor(trace, element) {
		this.trace = trace;
		this.element = element;
		this.data = rooflineOf(trace);
		if (this.data)
			this.build();
		else
			this.explain();
	}

	explain() {
		this.element.append(h("p", { class: "empty" }, isRooflineEmpty(this.trace) ?
			"The counters for a roofline are in the trace, but no kernel has both work and bytes: the GPU, or the virtual one, counted 0." :
			"The trace does not have the counters for a roofline."),
			h("p", {}, "Count them with ", h("code", {}, "rtl trace --pmc roofline -- PROGRAM"),
				", or with ", h("code", {}, "--pmc FETCH_SIZE,WRITE_SIZE,SQ_INSTS_VALU"), " for an instruction roofline."));
	}

	build() {
		const { points, unit } = this.data;
		const agent = this.trace.agents[0], sheet = (this.trace.peaks || []).find(p => agent && p.gpu === agent.name && p.dram_gbs > 0);
		this.peak = peakOf(agent, this.data.perCycle);
		const rate = Math.max(...points.map(p => p.bytes / p.seconds)) / 1e9;
		this.field = h("input", { type: "number", id: "bandwidth", min: "0.001", step: "any", value: sheet ? sheet.dram_gbs : Number(rate.toPrecision(3)), oninput: () => this.draw() });
		this.figure = h("figure");
		this.element.append(
			h("p", {}, `Each point is a kernel: ${unit} per byte of memory (across), and per second (up). Below the slope memory limits it, below the flat part the compute units.`),
			h("p", {}, h("label", { for: "bandwidth" }, "Bandwidth of memory (GB/s) "), this.field,
				sheet ? ` At first that of the data sheet of ${sheet.dram_of}.` : " The trace does not know it: at first it is the highest rate of a kernel here."),
			h("p", {}, this.peak ? `Peak: ${formatScaled(this.peak, this.data.short + "/s")}, from ${this.trace.agents[0].cus} compute units at ${this.trace.agents[0].mhz} MHz.`
				: "The peak of the GPU is not known."), this.figure,
			new DataTable({ id: "roofline-table", caption: "Kernels of the roofline", sort: "rate", rows: points, columns: [
				{ key: "intensity", title: `${this.data.short}/byte`, kind: "number", value: p => p.work / p.bytes },
				{ key: "rate", title: `G${this.data.short}/s`, kind: "number", value: p => p.work / p.seconds / 1e9 },
				{ key: "bytes", title: "Memory rate", kind: "rate", value: p => p.bytes / p.seconds },
				{ key: "time", title: "Mean time", kind: "time", value: p => p.seconds * 1e9 },
				{ key: "name", title: "Kernel", kind: "name", value: p => this.trace.names[p.name] },
			] }).element);
		this.draw();
	}

	draw() {
		const { points, short } = this.data, bandwidth = Number(this.field.value) * 1e9;
		if (!(bandwidth > 0))
			return;
		const width = 720, height = 380, left = 80, bottom = 44;
		const intensities = points.map(p => p.work / p.bytes), rates = points.map(p => p.work / p.seconds);
		const ridge = this.peak ? this.peak / bandwidth : Math.max(...intensities);
		const x0 = Math.log10(Math.min(...intensities, ridge)) - 0.7, x1 = Math.log10(Math.max(...intensities, ridge)) + 0.7;
		const y0 = Math.log10(Math.min(...rates)) - 0.7, y1 = Math.log10(Math.max(...rates, this.peak || 0)) + 0.4;
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
		const top = this.peak || bandwidth * 10 ** x1;
		const path = [[10 ** Math.max(x0, y0 - Math.log10(bandwidth)), bandwidth * 10 ** Math.max(x0, y0 - Math.log10(bandwidth))], [top / bandwidth, top], [10 ** x1, top]];
		picture.append(svg("polyline", { class: "roof", points: path.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
		for (const point of points)
			picture.append(svg("circle", { class: "point", r: 6, cx: x(point.work / point.bytes), cy: y(point.work / point.seconds), tabindex: 0 },
				svg("title", {}, `${visible(this.trace.names[point.name])}\n${formatCount(point.work / point.bytes)} ${short} per byte, ` +
					formatScaled(point.work / point.seconds, short + "/s"))),
			svg("text", { x: x(point.work / point.bytes) + 9, y: y(point.work / point.seconds) + 4 }, shortName(this.trace.names[point.name]).slice(0, 40)));
		this.figure.replaceChildren(picture);
	}
}
