// SPDX-License-Identifier: MIT
// fleet.js - the page of rtl fleet: heat maps of the ranks, timelines of a few, and the tables

const TITLES = { overview: "The job", ranks: "Ranks", kernels: "Kernels", "slow-ranks": "Slow ranks", "slow-hosts": "Slow hosts", imbalance: "Imbalance",
	collectives: "Last to collectives", outliers: "Slow seconds" };
const RATIO_FULL = 0.5; // the colour is full at half as much again as the median

class FleetPage {
	constructor(data) {
		this.data = data;
		this.order = "rank";
		document.title = `rtl fleet: ${visible(data.set)}, job ${visible(data.job)}`;
		byId("file").append(nameElement(data.set), ", job ", nameElement(data.job));
		byId("theme").addEventListener("click", () => this.switchTheme());
		this.badge();
		this.most = data.busy.reduce((most, row) => row.reduce((m, v) => Math.max(m, v), most), 1) / 1000;
		this.busy = this.busyMap();
		this.kernels = this.kernelMap();
		byId("result").append(this.cards(), ...this.problems(), ...this.maps(), ...this.timelines(), ...data.tables.map(table => this.table(table)));
	}

	labelOf(line) {
		return `${line.rank < 0 ? "no rank" : "rank " + line.rank}${line.host ? ` (${visible(line.host)})` : ""}`;
	}

	noteOf({ state, pid }) {
		return state === "unfinished" ? `not finished${pid === undefined ? "" : `: process ${pid} still runs, or was killed`}` : state === "damaged" ? "can't be read" : null;
	}

	count(state) {
		return this.data.ranks.filter(line => line.state === state).length;
	}

	badge() {
		const out = this.count("unfinished") + this.count("damaged"), part = this.count("incomplete");
		fill(byId("badge"), { class: out || part ? "bad" : "good" }, [out ? `without ${formatCount(out)} of ${formatCount(this.data.nr_ranks)} ranks`
			: part ? `${formatCount(part)} ${part === 1 ? "rank is" : "ranks are"} incomplete` : "all ranks are complete"]);
	}

	cards() {
		const job = this.data.tables[0].rows[0] || {}, out = this.count("unfinished"), bad = this.count("damaged"), part = this.count("incomplete");
		const card = (title, big, text, mark) => h("div", { class: `card ${mark || ""}` }, h("h2", {}, title), h("p", { class: "big" }, big), h("p", {}, text));
		return h("div", { class: "cards" },
			card("Ranks", formatCount(job.ranks || 0), `on ${formatCount(job.hosts || 0)} ${job.hosts === 1 ? "host" : "hosts"}, with ${formatCount(job.gpus || 0)} GPUs`),
			card("Time", formatTime(job.span_ns || 0), "from the first event to the last"),
			card("Dispatches", formatScaled(job.dispatches || 0, ""), `${formatTime(job.kernel_ns || 0)} of kernels`),
			card("Copies", formatScaled(job.copies || 0, ""), formatBytes(job.bytes || 0)),
			part ? card("Incomplete", formatCount(part), "something of their trace is missing", "bad") : null,
			out ? card("Not finished", formatCount(out), "not in the data set yet", "bad") : null,
			bad ? card("Damaged", formatCount(bad), "left out", "bad") : null);
	}

	problems() {
		const lines = this.data.ranks.filter(line => line.state === "unfinished").map(line => `${this.labelOf(line)}: ${this.noteOf(line)}; rtl status ${visible(this.data.set)} says more`);
		const texts = [...lines, ...this.data.problems.map(visible)];
		return texts.length ? [h("section", {}, h("h2", {}, "What is left out"), h("ul", { id: "ranks-out" }, texts.slice(0, 50).map(text => h("li", {}, text)),
			texts.length > 50 ? h("li", {}, `and ${formatCount(texts.length - 50)} more`) : null))] : [];
	}

	// ---- heat maps ----

	share(row, column) {
		return (this.data.busy[row][column] || 0) / 1000;
	}

	ratio(row, column) {
		const kernel = this.data.kernels[column], mean = kernel.mean_ns[row];
		return mean === null || !kernel.median_ns ? NaN : mean / kernel.median_ns;
	}

	// What a rank took beyond the medians, in all its calls, without kernels in which it waits.
	extra(row) {
		return this.data.kernels.reduce((sum, k) => sum + (k.collective || k.mean_ns[row] === null ? 0 : (k.mean_ns[row] - k.median_ns) * k.calls[row]), 0);
	}

	lines() {
		const lines = this.data.ranks.map((line, row) => ({ label: this.labelOf(line), row, note: this.noteOf(line), rank: line.rank }));
		const keys = { rank: () => 0, slow: line => line.note ? Infinity : -this.extra(line.row), busy: line => line.note ? Infinity : this.data.busy[line.row].reduce((sum, v) => sum + v, 0) };
		const of = new Map(lines.map(line => [line, keys[this.order](line)]));
		return lines.sort((a, b) => of.get(a) === of.get(b) ? a.row - b.row : of.get(a) - of.get(b));
	}

	busyMap() {
		const { bin_ns, nr_bins } = this.data;
		return new HeatMap({
			id: "busy", caption: "Busy GPUs of each rank over time", lines: this.lines(), columns: nr_bins, colours: ["heat"], onPick: line => this.pick(line),
			value: (row, column) => this.share(row, column) / this.most, ticks: Array.from({ length: Math.ceil(nr_bins / 16) }, (_, i) => [16 * i, formatTime(16 * i * bin_ns)]),
			describe: (row, column) => `${formatShare(this.share(row, column))} busy from ${formatTime(column * bin_ns)} to ${formatTime((column + 1) * bin_ns)}`,
		});
	}

	kernelMap() {
		const { kernels } = this.data;
		return new HeatMap({
			id: "kernel-map", caption: "Means of kernels on each rank beside their medians", lines: this.lines(), columns: kernels.length, colours: ["slow", "fast"], onPick: line => this.pick(line),
			value: (row, column) => (this.ratio(row, column) - 1) / RATIO_FULL, ticks: kernels.map((kernel, i) => [i, shortName(kernel.name)]),
			describe: (row, column) => this.describeKernel(row, kernels[column]),
		});
	}

	describeKernel(row, kernel) {
		const mean = kernel.mean_ns[row], name = visible(kernel.name);
		return mean === null ? `does not run ${name}`
			: `${formatTime(mean)}, ${kernel.median_ns ? formatCount(mean / kernel.median_ns) : "\u2013"} times the median of ${formatTime(kernel.median_ns)}, in ${formatCount(kernel.calls[row])} calls of ${name}`;
	}

	maps() {
		const order = h("select", { id: "order", onchange: () => this.setOrder(order.value) }, [["rank", "rank"], ["slow", "slowest first"], ["busy", "least busy first"]].map(([value, text]) => h("option", { value }, text)));
		this.legends = [legend(["idle", `busy ${formatShare(this.most)}`], ["heat"]), legend(["half as long as the median", "half as long again"], ["slow", "fast"])];
		const left = this.data.nr_ranks - this.data.ranks.length;
		return [
			h("section", {}, h("h2", {}, "Ranks over time"), h("div", { class: "toolbar" }, h("label", { for: "order" }, "Ranks by"), order, this.legends[0].element), this.busy.element,
				h("p", { class: "hint" }, `Each cell is the share of ${formatTime(this.data.bin_ns)} in which a GPU of the rank was busy with kernels or copies, by the clock of its host. `,
					left > 0 ? `${formatCount(left)} more ranks are not shown. ` : "", "Striped: ranks without an answer.")),
			h("section", {}, h("h2", {}, "Ranks and kernels"), h("div", { class: "toolbar" }, this.legends[1].element), this.kernels.element,
				h("p", { class: "hint" }, `The ${formatCount(this.data.kernels.length)} kernels that take most time: the mean on each rank beside the median of all ranks. In kernels of collectives the ranks wait for the last one, which takes least time in them.`)),
		];
	}

	setOrder(order) {
		this.order = order;
		byId("order").value = order;
		for (const map of [this.busy, this.kernels])
			map.setLines(this.lines());
	}

	// ---- timelines ----

	timelines() {
		const { picked, lanes } = this.data;
		if (!lanes.length)
			return [];
		const labelOf = rank => this.labelOf(this.data.ranks.find(line => line.rank === rank && !this.noteOf(line)) || { rank });
		this.lanes = new Lanes({ data: this.data, labelOf });
		return [h("section", { id: "timelines" }, h("h2", {}, `Timelines of ${picked.length === 1 ? "a rank" : formatCount(picked.length) + " ranks"}`), this.lanes.element,
			h("p", { class: "hint" }, "Bars of several short operations are as strong as these fill them. Other ranks: rtl fleet -f html --ranks LIST."))];
	}

	pick(line) {
		const one = this.lanes && this.lanes.ranks.find(other => other.rank === line.rank);
		if (one) {
			one.canvas.scrollIntoView({ block: "center" });
			one.canvas.focus();
		} else {
			announce(`${line.label} has no timeline in this page`);
		}
	}

	// ---- tables ----

	table({ name, about, nr, columns, rows }) {
		const kinds = columns.map(({ key, title, kind, hint }) => ({ key, title, hint, kind, value: row => row[key] ?? (kind === "text" || kind === "name" ? "" : null) }));
		const shown = new DataTable({ id: "table-" + name, caption: TITLES[name], columns: kinds, rows, sort: null, sums: [], empty: "None." });
		return h("section", {}, h("details", { open: rows.length > 0 && rows.length <= 20 }, h("summary", {}, h("h2", {}, `${TITLES[name]} (${formatCount(nr)})`)),
			h("p", { class: "hint" }, about, nr > rows.length ? `; the first ${formatCount(rows.length)} of ${formatCount(nr)} rows` : ""), shown.element));
	}

	switchTheme() {
		const isDark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
		document.documentElement.dataset.theme = isDark ? "light" : "dark";
		for (const one of [this.busy, this.kernels, this.lanes, ...this.legends])
			if (one)
				one.draw();
	}
}

const fleetPage = new FleetPage(JSON.parse(byId("data").textContent));
window.rtlFleet = fleetPage; // for scripts in the console
document.body.dataset.loaded = "1";
