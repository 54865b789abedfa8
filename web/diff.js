// SPDX-License-Identifier: MIT
// diff.js - the page of rtl diff: what changed, tables with intervals, the values of a name on both sides

const KINDS = { run: "Whole runs", kernel: "Kernels", call: "Calls", copy: "Copies", range: "Ranges", collective: "Collectives" };
// The most important first: the order of the rows when they are sorted by it.
const VERDICTS = ["slower", "faster", "more often", "less often", "only in A", "only in B", "noise", "equal", "too few"];

// A value of a row: a number of operations, or a time.
function formatMeasure(item, value) {
	return value === null ? "\u2013" : item.measure === "count" ? formatCount(value) : formatTime(value);
}

function formatChange(share) {
	return (share > 0 ? "+" : share < 0 ? "\u2212" : "") + Math.abs(100 * share).toFixed(1) + " %";
}

class DiffPage {
	constructor(data) {
		this.data = data;
		this.picked = {};
		document.title = "rtl diff: " + data.sides.map(side => visible(side.files[0])).join(" and ");
		byId("theme").addEventListener("click", () => this.switchTheme());
		this.badge();
		byId("result").append(this.sides(), this.cards(), ...this.conditions(), ...Object.keys(KINDS).map(kind => this.section(kind)).flat(), this.notes());
	}

	count(verdict) {
		return this.data.items.filter(item => item.verdict === verdict).length;
	}

	badge() {
		const inState = state => this.data.conditions.filter(condition => condition.state === state).length;
		const failed = inState("failed"), undecided = inState("undecided"), slower = this.count("slower"), isBad = failed || undecided || slower;
		fill(byId("badge"), { class: isBad ? "bad" : "good" }, [
			failed ? `${formatCount(failed)} of ${formatCount(this.data.conditions.length)} conditions fail`
				: undecided ? `${formatCount(undecided)} of ${formatCount(this.data.conditions.length)} conditions undecided`
				: slower ? `${formatCount(slower)} slower` : "nothing is slower"]);
	}

	sides() {
		return h("dl", { class: "sides" }, this.data.sides.map((side, i) => [
			h("dt", {}, `${"AB"[i]}, ${formatCount(side.files.length)} ${side.files.length === 1 ? "run" : "runs"}`),
			h("dd", {}, side.files.slice(0, 8).map((file, n) => [n ? ", " : "", nameElement(file)]).flat(),
				side.files.length > 8 ? `, and ${formatCount(side.files.length - 8)} more` : ""),
		]).flat());
	}

	cards() {
		const only = this.count("only in A") + this.count("only in B"), few = this.count("too few"), often = this.count("more often") + this.count("less often");
		const card = (title, nr, text, mark) =>
			h("div", { class: `card ${nr && mark || ""}` }, h("h2", {}, title), h("p", { class: "big" }, formatCount(nr)), h("p", {}, text));
		return h("div", { class: "cards" },
			card("Slower", this.count("slower"), "beyond noise", "bad"),
			card("Faster", this.count("faster"), "beyond noise", "good"),
			often ? card("More or less often", often, "in a run") : null,
			card("No difference", this.count("noise") + this.count("equal"), "that can be distinguished from noise"),
			only ? card("On one side only", only, "nothing to compare them with") : null,
			few ? card("Too few values", few, "no difference could be found") : null);
	}

	conditions() {
		if (!this.data.conditions.length)
			return [];
		return [h("section", {}, h("h2", {}, "Conditions of --fail-if"), h("ul", { id: "conditions" }, this.data.conditions.map(condition =>
			h("li", { class: condition.state === "passed" ? "good" : "bad" }, h("code", {}, visible(condition.text)), this.outcome(condition)))))];
	}

	outcome(condition) {
		switch (condition.state) {
		case "failed":
			return [" fails for ", condition.failed.map((name, i) => [i ? ", " : "", nameElement(name)])].flat(2);
		case "undecided":
			return ` can't be decided: ${formatCount(this.data.runs_needed)} runs on each side, which have what it names, suffice`;
		case "unmatched":
			return " matches nothing";
		default:
			return " does not hold: passed";
		}
	}

	// `limit`: the largest change that the axis of the intervals has.
	columns(limit) {
		const interval = { key: "change", title: "Change", hint: "from A to B; the line is the 95 % interval", kind: "change",
			value: item => item.change, draw: item => this.interval(item, limit) };
		return [
			interval,
			{ key: "verdict", title: "Verdict", kind: "verdict", value: item => VERDICTS.length - VERDICTS.indexOf(item.verdict),
				draw: item => h("span", { class: `verdict ${item.verdict.replace(/ /g, "-")}` }, item.verdict) },
			{ key: "measure", title: "Measure", hint: "of a name: the median duration, their total in a run, their number in a run; of collectives also the skew, the transfer, all waits in a run, and by how much a rank was late", kind: "text", style: "measure", value: item => item.measure },
			{ key: "a", title: "A", hint: "median on side A", kind: "time", value: item => item.a_median, draw: item => formatMeasure(item, item.a_median) },
			{ key: "b", title: "B", hint: "median on side B", kind: "time", value: item => item.b_median, draw: item => formatMeasure(item, item.b_median) },
			{ key: "name", title: "Name", kind: "name", value: item => item.name },
			{ key: "effect", title: "Effect", hint: "share of pairs in which the one of B is longer; 50 % is none", kind: "share", value: item => item.effect },
			{ key: "p", title: "p", hint: "chance of at least such a difference without a cause", kind: "number", value: item => item.p },
			{ key: "values", title: "Values", hint: "that were compared, on A and on B", kind: "text", style: "values", value: item => item.values.map(v => formatCount(v.nr)).join(" / ") },
			{ key: "total", title: "Total of B", hint: "sum of the durations on side B", kind: "time", value: item => item.totals[1] || undefined },
		];
	}

	// The change as a number, and its interval on an axis around a line for no change.
	interval(item, limit) {
		if (item.change === null)
			return h("span", {}, "\u2013");
		const low = item.change_low, high = item.change_high, x = share => 40 * (1 + Math.max(-1, Math.min(1, share / limit)));
		const text = formatChange(item.change) + (low === null ? "" : `, 95 %: ${formatChange(low)} to ${formatChange(high)}`);
		return h("span", { class: "interval", title: text }, h("span", { class: "figure" }, formatChange(item.change)),
			svg("svg", { viewBox: "-2 0 84 12", width: 84, height: 12, "aria-hidden": "true", class: item.verdict },
				svg("line", { class: "zero", x1: 40, x2: 40, y1: 0, y2: 12 }),
				low === null ? null : svg("line", { class: "span", x1: x(low), x2: Math.max(x(high), x(low) + 1), y1: 6, y2: 6 }),
				svg("circle", { cx: x(item.change), cy: 6, r: 2.5 })));
	}

	section(kind) {
		const rows = this.data.items.filter(item => item.what === kind);
		if (!rows.length)
			return [];
		const limit = rows.reduce((most, item) => Math.max(most, ...[item.change, item.change_low, item.change_high].map(share => Math.min(1, Math.abs(share ?? 0)))), 0.01);
		const table = new DataTable({ id: kind, caption: KINDS[kind], columns: this.columns(limit), rows, sort: "verdict", sums: [], onPick: item => this.pick(kind, item), empty: "" });
		return [h("section", { class: "kind" }, h("h2", {}, KINDS[kind]),
			h("div", { class: "picked", id: `${kind}-picked` }), table.element)];
	}

	// The values of both sides on one axis.
	pick(kind, item) {
		const values = item.values.map(side => side.sample), all = values.flat();
		const least = Math.min(...all), most = Math.max(...all), x = v => 30 + 800 * (most > least ? (v - least) / (most - least) : 0.5);
		const dots = values.map((side, i) => [
			svg("text", { x: 4, y: 26 + 36 * i }, "AB"[i]),
			...side.map((v, n) => svg("circle", { class: `dot side-${"ab"[i]}`, cx: x(v), cy: 22 + 36 * i + 6 * ((n * 7) % 3 - 1), r: 3 })),
			side.length ? svg("line", { class: "median", x1: x(i ? item.b_median : item.a_median), x2: x(i ? item.b_median : item.a_median), y1: 8 + 36 * i, y2: 36 + 36 * i }) : null,
		]);
		const isDuration = this.data.pooled && ["median", "skew", "transfer"].includes(item.measure), what = isDuration ? "durations" : "values of runs";
		const parts = item.values.map((side, i) => side.nr > side.sample.length ? `${formatCount(side.sample.length)} of ${formatCount(side.nr)} of ${"AB"[i]}` : null).filter(Boolean);
		byId(`${kind}-picked`).replaceChildren(h("section", {}, h("h2", {}, nameElement(item.name)),
			h("figure", {}, svg("svg", { viewBox: "0 0 860 96", role: "img", "aria-label": `The ${what} of A and B, from ${formatMeasure(item, least)} to ${formatMeasure(item, most)}` },
				...dots.flat(), svg("line", { class: "grid", x1: 30, x2: 830, y1: 78, y2: 78 }),
				svg("text", { x: 30, y: 92 }, formatMeasure(item, least)), svg("text", { x: 830, y: 92, "text-anchor": "end" }, formatMeasure(item, most))),
			h("figcaption", {}, `Each dot is ${isDuration ? "a duration" : "the value of a run"}; the lines are the medians of the sides.`, parts.length ? ` Shown are ${parts.join(" and ")}, evenly chosen.` : ""))));
		announce(`${item.name}: ${item.verdict}`);
		byId(`${kind}-picked`).scrollIntoView({ block: "nearest" });
	}

	notes() {
		return h("p", { class: "hint" }, "The test is that of Mann and Whitney with Holm's correction: the chance that anything is called slower or faster without a cause is below 5 % for the whole page. ",
			this.data.pooled ? "A side of one run does not show how much runs differ among each other: give several. " : "The values of runs are compared. ",
			"Intervals are bootstraps of the change of the median.");
	}

	switchTheme() {
		const isDark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
		document.documentElement.dataset.theme = isDark ? "light" : "dark";
	}
}

new DiffPage(JSON.parse(byId("data").textContent));
