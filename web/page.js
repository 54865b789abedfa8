// SPDX-License-Identifier: MIT
// page.js - starts the page: tabs, tables, theme, keys of the whole page

const STATUS_MS = 100; // between two texts of how much is loaded
const TABS = ["overview", "timeline", "kernels", "calls", "copies", "ranges", "imbalance", "counters", "roofline"];

class Page {
	constructor(trace) {
		this.trace = trace;
		this.tables = {};
		this.built = new Set();
		this.picked = {}; // the sum of which a table's panel is
		this.marks = new Marks(trace);
		this.open("overview");
		this.details = new Details(trace);
		this.timeline = new Timeline(trace, this.details, this.marks);
		this.details.timeline = this.timeline;
		this.address = new Address(this);
		this.timeline.onChange = () => this.changed();
		this.listen();
	}

	// ---- tabs ----

	open(name, hasFocus) {
		this.current = name;
		for (const tab of TABS) {
			const button = byId("tab-" + tab);
			button.setAttribute("aria-selected", tab === name);
			button.tabIndex = tab === name ? 0 : -1;
			byId(tab).hidden = tab !== name;
		}
		if (hasFocus)
			byId("tab-" + name).focus();
		this.build(name);
		if (this.timeline)
			this.timeline.redraw();
		document.body.dataset.tab = name;
		this.changed();
	}

	changed() {
		if (this.address)
			this.address.changed();
	}

	// Shows a slice in the timeline, whatever is shown now. Then the keys are the timeline's.
	show(slice) {
		this.open("timeline");
		this.timeline.drawNow(); // what is in sight depends on its size
		if (slice)
			this.timeline.select(slice, true);
		byId("canvas").focus();
	}

	showSpan(begin, end) {
		this.open("timeline");
		this.timeline.fit(begin, end);
		byId("canvas").focus();
	}

	async showLongest(table, sum) {
		await this.loaded;
		this.show(sliceOf(this.trace, table, sum.name));
	}

	async showFailed(sum) {
		await this.loaded;
		const found = this.marks.failures().find(({ row, index }) => !sum || row.slice(index).name === sum.name);
		this.show(found && found.row.slice(found.index));
	}

	// Its matches are those of the name; `low` and `high`: the first of these durations is selected.
	showName(table, sum, low, high) {
		const name = this.trace.names[sum.name], slice = low === undefined ? null : sliceOf(this.trace, table, sum.name, low, high);
		this.open("timeline");
		byId("search").value = name;
		this.timeline.selected = null;
		this.timeline.setSearch(name);
		if (slice)
			this.show(slice);
		else
			this.timeline.findNext(1);
		byId("canvas").focus();
	}

	// Makes the contents of a tab when it is first shown.
	build(name) {
		if (this.built.has(name))
			return;
		this.built.add(name);
		const element = byId(name);
		if (name === "overview")
			new Overview(this.trace, element, { open: (table, sum) => this.openRow(table, sum), longest: (table, sum) => this.showLongest(table, sum),
				failed: () => this.showFailed() });
		else if (name === "roofline")
			new Roofline(this.trace, element);
		else if (name === "counters")
			element.append(this.counters().element);
		else if (name === "imbalance")
			element.append(...this.imbalance());
		else if (name !== "timeline")
			this.buildTable(name, element);
	}

	openRow(table, sum) {
		this.open(table, true);
		if (sum)
			this.pick(table, sum);
	}

	// ---- tables ----

	buildTable(table, element) {
		const trace = this.trace, sums = trace.tables[table];
		const link = (text, title, onclick) => h("button", { type: "button", class: "link", title, onclick }, text);
		const columns = [
			{ key: "share", title: "Share", hint: "of the total time of this table", kind: "share", value: s => s.share },
			{ key: "total", title: "Total", hint: "sum of all durations", kind: "time", value: s => s.total_ns },
			{ key: "count", title: table === "kernels" ? "Dispatches" : table === "calls" ? "Calls" : "Count", hint: "all, also those without valid times", kind: "count", value: s => s.calls },
			{ key: "mean", title: "Mean", kind: "time", value: s => s.mean_ns },
			{ key: "min", title: "Shortest", kind: "time", value: s => s.min_ns },
			{ key: "median", title: "Median", hint: "half of them are not longer", kind: "time", value: s => s.median_ns },
			{ key: "p99", title: "99 %", hint: "99 % of them are not longer", kind: "time", value: s => s.p99_ns },
			{ key: "max", title: "Longest", hint: "leads to it in the timeline", kind: "time", value: s => s.max_ns,
				draw: s => s.max_ns === null ? "\u2013" : link(formatTime(s.max_ns), `${exactTime(s.max_ns)}; shows it in the timeline`, () => this.showLongest(table, s)) },
		];
		if (table === "copies")
			columns.push({ key: "bytes", title: "Bytes", kind: "bytes", value: s => s.bytes },
				{ key: "rate", title: "Rate", hint: "bytes by total time", kind: "rate", value: s => s.bytes_per_s });
		if (table === "calls")
			columns.push({ key: "errors", title: "Failed", hint: "calls that returned an error; leads to the first in the timeline", kind: "count", value: s => s.errors,
				draw: s => s.errors ? link(formatCount(s.errors), "shows the first in the timeline", () => this.showFailed(s)) : "0" });
		if (table === "ranges") {
			const work = new Map(trace.tables.work.map(sum => [sum.name, sum]));
			columns.splice(1, 0, { key: "gpu", title: "GPU time", hint: "of kernels and copies launched in it, and in ranges within it", kind: "time", value: s => work.get(s.name)?.gpu_ns ?? 0 },
				{ key: "ops", title: "Operations", hint: "kernels and copies launched in it, and in ranges within it", kind: "count", value: s => work.get(s.name)?.ops ?? 0 });
		}
		if (table === "kernels" || table === "copies")
			columns.push({ key: "gpus", title: "GPU", kind: "text", value: s => s.gpus || "" });
		if (sums.some(s => s.untimed))
			columns.push({ key: "untimed", title: "No time", hint: "without valid times: they are not in the times", kind: "count", value: s => s.untimed });
		columns.push({ key: "name", title: table === "calls" ? "Function" : table === "ranges" ? "Message" : "Name", kind: "name", value: s => trace.names[s.name] });
		if (table === "ranges") // nested ranges are in the time of those around them
			columns.splice(columns.findIndex(c => c.key === "share"), 1);
		this.tables[table] = new DataTable({ id: table + "-table", caption: table[0].toUpperCase() + table.slice(1), columns, rows: sums, sort: "total",
			sums: ["share", "total", "count", "bytes", "errors", "untimed"], onPick: sum => this.pick(table, sum), onChange: () => this.changed(), empty: `There are no ${table} in the trace.` });
		element.append(h("div", { class: "picked", id: table + "-picked" }), this.tables[table].element);
	}

	async pick(table, sum) {
		const element = byId(table + "-picked");
		if (!this.trace.isLoaded)
			element.replaceChildren(h("p", {}, "Loading \u2026"));
		await this.loaded;
		this.picked[table] = sum;
		element.replaceChildren(histogramPanel(this.trace.names[sum.name], sum, durationsOf(this.trace, table, sum.name),
			(low, high) => this.showName(table, sum, low, high), () => this.showLongest(table, sum),
			table === "ranges" ? workPanel(this.trace, workOfRanges(this.trace, sum.name)) : null));
		element.scrollIntoView({ block: "nearest" });
		this.changed();
	}

	counters() {
		const trace = this.trace;
		return this.tables.counters = new DataTable({ id: "counters-table", caption: "Counters", sort: "total", rows: trace.tables.counters, sums: [], onChange: () => this.changed(),
			empty: "No counters were recorded. rtl trace --pmc counts.", columns: [
				{ key: "counter", title: "Counter", kind: "text", value: v => v.counter },
				{ key: "count", title: "Dispatches", kind: "count", value: v => v.dispatches },
				{ key: "total", title: "Sum", kind: "number", value: v => v.total },
				{ key: "mean", title: "Mean", kind: "number", value: v => v.mean },
				{ key: "min", title: "Smallest", kind: "number", value: v => v.min },
				{ key: "max", title: "Largest", kind: "number", value: v => v.max },
				{ key: "unit", title: "Unit", kind: "text", value: v => v.unit },
				{ key: "name", title: "Kernel", kind: "name", value: v => trace.names[v.kernel] },
			] });
	}

	// Kernels and ranges whose time differs between ranks and GPUs.
	imbalance() {
		const trace = this.trace, { imbalance } = trace.tables;
		const when = r => r.from_ns === null ? "" : h("button", { type: "button", class: "link", title: `${formatTime(r.from_ns)} to ${formatTime(r.to_ns)}; shows it in the timeline`,
			onclick: () => this.showSpan(r.from_ns, r.to_ns) }, formatTime(r.from_ns));
		const table = this.tables.imbalance = new DataTable({ id: "imbalance-table", caption: "Imbalance", rows: imbalance, sums: [], onChange: () => this.changed(),
			empty: "No kernel or range is on several ranks or GPUs.", columns: [
				{ key: "lost", title: "Lost", hint: "calls times how much longer their median is than the others'", kind: "time", value: r => r.rank === null ? null : r.lost_ns },
				{ key: "rank", title: "Rank", hint: "that is slow, or its GPU", kind: "text", value: r => r.rank || "" },
				{ key: "ratio", title: "Of others", hint: "its median divided by the others'", kind: "number", value: r => r.of_others, draw: r => r.of_others === null ? "" : r.of_others.toFixed(2) },
				{ key: "from", title: "From", hint: "begin of the part in which it is slow", kind: "time", value: r => r.from_ns, draw: when },
				{ key: "to", title: "To", kind: "time", value: r => r.to_ns },
				{ key: "count", title: "Calls", hint: "of the slow rank in that part; of all where none is slow", kind: "count", value: r => r.calls },
				{ key: "total", title: "Total", hint: "of all ranks and GPUs", kind: "time", value: r => r.total_ns },
				{ key: "max", title: "Max/mean", hint: "total of the slowest one divided by the mean", kind: "number", value: r => r.max_of_mean,
					draw: r => r.max_of_mean === null ? "" : r.max_of_mean.toFixed(2) },
				{ key: "slowest", title: "Slowest", hint: "rank or GPU with the largest total", kind: "text", value: r => r.slowest },
				{ key: "name", title: "Name", kind: "name", value: r => trace.names[r.name] },
				{ key: "verdict", title: "Verdict", kind: "text", value: r => r.verdict },
			] });
		return [...trace.imbalance_notes.map(note => h("p", { class: "hint" }, visible(note))), table.element];
	}

	// ---- keys, buttons ----

	listen() {
		const tabs = byId("tabs");
		for (const tab of TABS)
			byId("tab-" + tab).addEventListener("click", () => this.open(tab));
		tabs.addEventListener("keydown", event => {
			const at = TABS.indexOf(this.current);
			const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
			if (to === undefined)
				return;
			event.preventDefault();
			this.open(TABS[(to + TABS.length) % TABS.length], true);
		});
		byId("theme").addEventListener("click", () => this.switchTheme());
		byId("help-button").addEventListener("click", () => byId("help").showModal());
		byId("help-close").addEventListener("click", () => byId("help").close());
		document.addEventListener("keydown", event => this.onKey(event));
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themeChanged());
		const search = byId("search");
		search.addEventListener("input", () => {
			this.timeline.setSearch(search.value);
			this.changed();
		});
		search.addEventListener("keydown", event => {
			if (event.key === "Enter")
				this.timeline.findNext(event.shiftKey ? -1 : 1);
			else if (event.key === "Escape") {
				search.value = "";
				this.timeline.setSearch("");
				byId("canvas").focus();
			}
		});
		const actions = { "find-next": () => this.timeline.findNext(1), "find-previous": () => this.timeline.findNext(-1),
			"failed": () => this.timeline.nextFailed(1), "idle": () => this.timeline.nextGap(1), "zoom-in": () => this.timeline.zoom(0.5), "zoom-out": () => this.timeline.zoom(2), "zoom-all": () => this.timeline.fitAll() };
		for (const [id, action] of Object.entries(actions))
			byId(id).addEventListener("click", action);
		byId("by-stream").addEventListener("change", async event => {
			await this.loaded;
			this.timeline.setByStream(event.target.value === "stream");
		});
		window.addEventListener("beforeprint", () => TABS.forEach(tab => this.build(tab)));
	}

	onKey(event) {
		const isMove = /^(Arrow|Page|Home|End)/.test(event.key), { tagName } = event.target;
		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || tagName === "INPUT" || byId("help").open)
			return;
		if (event.key === "?") {
			byId("help").showModal();
			return;
		}
		// the timeline's keys work wherever the focus is, but for those that move within the list, the tabs or the text that has it
		if (this.current === "timeline" && !(isMove && (tagName === "SELECT" || event.target.closest("#tabs, #details"))))
			this.timeline.onKey(event);
		else if (event.key === "/" && this.current !== "timeline") {
			const input = byId(this.current).querySelector("input[type=search]");
			if (input) {
				event.preventDefault();
				input.focus();
			}
		}
	}

	switchTheme() {
		const isDark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
		document.documentElement.dataset.theme = isDark ? "light" : "dark";
		this.themeChanged();
	}

	themeChanged() {
		this.timeline.picture.readTheme();
		this.timeline.redraw();
	}
}

async function start() {
	const status = byId("loading");
	try {
		const trace = new Trace(await decodeMain(), await readBlock("levels"));
		const file = trace.source.split("/").pop();
		document.title = `${visible(file)} \u2013 rtl report`;
		byId("file").replaceChildren(nameElement(file, { title: visible(trace.source) }));
		byId("badge").textContent = trace.complete ? "complete" : "incomplete";
		byId("badge").className = trace.complete ? "good" : "bad";
		byId("badge").title = visible(trace.verdict);
		const page = new Page(trace);
		window.rtlReport = { trace, page }; // for scripts in the console
		let shown = -Infinity;
		trace.onBlock = (loaded, all) => {
			page.timeline.redraw();
			if (performance.now() - shown < STATUS_MS)
				return;
			shown = performance.now();
			status.textContent = `loading ${Math.round(100 * loaded / all)} %`;
		};
		page.loaded = trace.load();
		const isShown = page.address.read();
		await page.loaded;
		page.timeline.countMarks();
		page.timeline.setSearch(byId("search").value);
		if (page.timeline.selected)
			page.details.show(page.timeline.selected);
		await isShown;
		status.textContent = "";
		document.body.dataset.loaded = "yes";
	} catch (error) {
		status.textContent = `This page can't be shown: ${error}. It needs a browser of 2023 or later, and the whole file.`;
		throw error;
	}
}

start();
