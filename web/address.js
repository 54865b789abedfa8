// SPDX-License-Identifier: MIT
// address.js - the view in the page's address, so that it can be shared: #tab=timeline&t=1000,2000&select=kernels:17
//
// All of it is of the fragment, which no server gets, and which works with file:, too. Who opens the address of the same file sees the
// same view. What is wrong in it is left out.

const WRITE_MS = 200; // between a change and the address

class Address {
	constructor(page) {
		this.page = page;
		this.timer = 0;
		this.isReading = false;
		window.addEventListener("hashchange", () => {
			if (location.hash.slice(1) !== this.text())
				this.read();
		});
	}

	changed() {
		if (!this.timer && !this.isReading)
			this.timer = setTimeout(() => {
				this.timer = 0;
				this.write();
			}, WRITE_MS);
	}

	write() {
		const text = this.text();
		if (this.isReading || text === location.hash.slice(1))
			return;
		history.replaceState(null, "", "#" + text);
	}

	// The fragment of what is shown; "" at first.
	text() {
		const page = this.page, timeline = page.timeline, values = new URLSearchParams(), table = page.tables[page.current];
		if (page.current !== "overview")
			values.set("tab", page.current);
		if (page.current === "timeline")
			this.timelineText(timeline, values);
		if (table) {
			if (table.sort !== "total" || !table.downwards)
				values.set("sort", `${table.sort},${table.downwards ? "down" : "up"}`);
			if (table.filter)
				values.set("filter", table.filter);
			if (page.picked[page.current])
				values.set("pick", page.picked[page.current].name);
		}
		return values.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
	}

	timelineText(timeline, values) {
		const { selected, measured, layout } = timeline, closed = layout.groups().map((name, i) => layout.closed.has(name) ? i : -1).filter(i => i >= 0);
		if (!timeline.isWhole())
			values.set("t", `${Math.round(timeline.begin)},${Math.round(timeline.end)}`);
		if (timeline.scroll)
			values.set("y", Math.round(timeline.scroll));
		if (byId("search").value)
			values.set("find", byId("search").value);
		if (layout.byStream)
			values.set("by", "stream");
		if (closed.length)
			values.set("closed", closed.join());
		if (selected)
			values.set("select", `${selected.lane.kind}:${selected.id}`);
		if (measured)
			values.set("span", `${Math.round(measured.begin)},${Math.round(measured.end)}`);
	}

	// Shows what the address has.
	async read() {
		const values = new URLSearchParams(location.hash.slice(1)), page = this.page;
		if (!location.hash.includes("=") && location.hash.length > 1) // the page's own links to its parts
			return;
		this.isReading = true;
		try {
			const tab = TABS.includes(values.get("tab")) ? values.get("tab") : "overview";
			page.open(tab);
			await page.loaded;
			if (tab === "timeline")
				this.readTimeline(page.timeline, values);
			else if (page.tables[tab])
				await this.readTable(page.tables[tab], tab, values);
		} finally {
			this.isReading = false;
		}
	}

	readTimeline(timeline, values) {
		const { layout, trace } = timeline, groups = layout.groups(), numbers = key => (values.get(key) || "").split(",").filter(Boolean).map(Number);
		const [begin, end] = numbers("t"), [from, to] = numbers("span"), select = /^(\w+):(\d+)$/.exec(values.get("select") || "");
		layout.closed = new Set(numbers("closed").map(i => groups[i]).filter(Boolean));
		timeline.setByStream(values.get("by") === "stream");
		byId("by-stream").value = values.get("by") === "stream" ? "stream" : "queue";
		byId("search").value = values.get("find") || "";
		timeline.setSearch(byId("search").value);
		timeline.measured = null;
		timeline.select(select ? trace.find([select[1]], "id", Number(select[2])) : null);
		if (timeline.selected)
			timeline.selected = timeline.shown(timeline.selected);
		if (begin < end)
			timeline.show(begin, end);
		else
			timeline.fitAll();
		if (from < to)
			timeline.measure(from, to);
		timeline.drawNow(); // scrolling needs the heights
		timeline.scrollTo(Number(values.get("y")) || 0);
	}

	async readTable(table, tab, values) {
		const [key, direction] = (values.get("sort") || "total,down").split(","), page = this.page;
		if (table.columns.some(column => column.key === key)) {
			table.sort = key;
			table.downwards = direction !== "up";
		}
		if (table.input)
			table.input.value = values.get("filter") || "";
		table.setFilter(values.get("filter") || "");
		const sum = values.has("pick") && page.trace.tables[tab] ? page.trace.tables[tab].find(s => s.name === Number(values.get("pick"))) : null;
		if (sum)
			await page.pick(tab, sum);
	}
}
