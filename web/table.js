// SPDX-License-Identifier: MIT
// table.js - a table that can be sorted and filtered
//
// Columns: { key, title, hint, kind, value(row), draw(row) }. draw: the cell's content, where it is more than the value. Kinds: name, text, count, time, bytes, rate, share, number. A cell of a
// number shows it with its unit; its title and data-value have it exactly. On a narrow screen the names are the first column, which
// stays in sight while the others are scrolled.

const PAGE_ROWS = 100;
const NARROW = matchMedia("(max-width: 700px)"); // as in page.css

const FORMATTERS = {
	count: formatCount, time: formatTime, bytes: formatBytes, rate: formatRate, share: formatShare, number: formatCount,
};

function cellTitle(kind, value) {
	switch (kind) {
	case "time":
		return exactTime(value);
	case "bytes":
		return formatCount(value) + " bytes";
	case "rate":
		return formatCount(Math.round(value)) + " bytes per second";
	default:
		return undefined;
	}
}

class DataTable {
	// `onPick(row)` makes the names buttons. `sums`: keys of columns that the last line adds up.
	constructor({ id, caption, columns, rows, sort, sums, onPick, onChange, empty }) {
		Object.assign(this, { id, caption, columns, rows, onPick, onChange, empty, sums: sums || [] });
		this.given = columns;
		this.sort = sort;
		this.downwards = true;
		this.filter = "";
		this.limit = PAGE_ROWS;
		this.element = h("div", { class: "data-table" });
		this.build();
	}

	build() {
		if (!this.rows.length) {
			this.element.replaceChildren(h("p", { class: "empty" }, this.empty));
			return;
		}
		this.input = h("input", {
			type: "search", id: `${this.id}-filter`, autocomplete: "off", spellcheck: "false", placeholder: "part of a name",
			oninput: () => this.setFilter(this.input.value),
		});
		this.status = h("span", { class: "status", role: "status" });
		this.head = h("tr");
		this.body = h("tbody");
		this.foot = h("tfoot");
		this.more = h("button", { type: "button", onclick: () => this.showAll() });
		this.element.replaceChildren(
			h("div", { class: "toolbar" }, h("label", { for: this.input.id }, "Filter "), this.input, this.status),
			h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": this.caption },
				h("table", { id: this.id }, h("caption", { class: "unseen" }, this.caption), h("thead", {}, this.head), this.body, this.foot)),
			this.more);
		this.arrange();
		NARROW.addEventListener("change", () => this.arrange());
	}

	arrange() {
		const isName = column => column.kind === "name";
		this.columns = NARROW.matches ? [...this.given.filter(isName), ...this.given.filter(c => !isName(c))] : this.given;
		this.head.replaceChildren(...this.columns.map(column => this.header(column)));
		this.update();
	}

	header(column) {
		const button = h("button", { type: "button", title: column.hint, onclick: () => this.sortBy(column.key) },
			column.title, h("span", { class: "arrow", "aria-hidden": "true" }));
		return h("th", { scope: "col", class: column.kind, "data-key": column.key }, button);
	}

	sortBy(key) {
		const isName = ["name", "text"].includes(this.columns.find(c => c.key === key).kind);
		this.downwards = this.sort === key ? !this.downwards : !isName;
		this.sort = key;
		this.update();
	}

	setFilter(text) {
		this.filter = text;
		this.limit = PAGE_ROWS;
		this.update();
	}

	showAll() {
		this.limit = Infinity;
		this.update();
	}

	chosen() {
		const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
		const texts = this.columns.filter(c => c.kind === "name" || c.kind === "text");
		const rows = this.rows.filter(row => {
			const text = texts.map(c => c.value(row)).join(" ").toLowerCase();
			return words.every(word => text.includes(word));
		});
		const column = this.columns.find(c => c.key === this.sort);
		if (!column) // as they were given
			return rows;
		const sign = this.downwards ? -1 : 1;
		const order = (a, b) => typeof a === "string" ? a.localeCompare(b) : a - b;
		// values that are not known come last, whatever the direction
		const known = v => v !== undefined && v !== null && v === v;
		return rows.sort((a, b) => {
			const x = column.value(a), y = column.value(b);
			return known(x) && known(y) ? sign * order(x, y) : known(y) - known(x);
		});
	}

	update() {
		if (!this.rows.length)
			return;
		const rows = this.chosen();
		for (const th of this.head.children) {
			const isSorted = th.dataset.key === this.sort;
			th.setAttribute("aria-sort", isSorted ? (this.downwards ? "descending" : "ascending") : "none");
			th.querySelector(".arrow").textContent = isSorted ? (this.downwards ? " \u25be" : " \u25b4") : "";
		}
		this.body.replaceChildren(...rows.slice(0, this.limit).map(row => this.line(row)));
		this.foot.replaceChildren(...(this.sums.length ? [this.sumLine(rows)] : []));
		this.status.textContent = rows.length === this.rows.length ? `${formatCount(rows.length)} rows`
			: `${formatCount(rows.length)} of ${formatCount(this.rows.length)} rows`;
		this.more.hidden = rows.length <= this.limit;
		this.more.textContent = `Show all ${formatCount(rows.length)} rows`;
		if (this.onChange)
			this.onChange();
	}

	line(row) {
		return h("tr", {}, this.columns.map(column => this.cell(column, column.value(row), row)));
	}

	cell(column, value, row) {
		if (column.draw && row)
			return h("td", { class: column.kind, "data-value": value }, column.draw(row));
		if (column.kind === "name") {
			const name = nameElement(value);
			return h("th", { scope: "row", class: "name" },
				this.onPick ? h("button", { type: "button", class: "link", title: visible(value), onclick: () => this.onPick(row) }, name) : name);
		}
		if (column.kind === "text")
			return h("td", { class: column.style || "text" }, nameElement(value));
		if (value === undefined || value === null || value !== value)
			return h("td", { class: column.kind }, "\u2013");
		const cell = h("td", { class: column.kind, title: cellTitle(column.kind, value), "data-value": value }, FORMATTERS[column.kind](value));
		if (column.kind === "share")
			cell.style.setProperty("--share", value);
		return cell;
	}

	sumLine(rows) {
		return h("tr", {}, this.columns.map(column => {
			if (column.kind === "name")
				return h("th", { scope: "row" }, rows.length === this.rows.length ? "All" : "Filtered");
			if (!this.sums.includes(column.key))
				return h("td");
			const known = rows.map(row => column.value(row)).filter(value => value !== undefined && value !== null);
			return this.cell(column, known.length || !rows.length ? known.reduce((sum, value) => sum + (value || 0), 0) : null, null);
		}));
	}
}
