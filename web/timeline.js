// SPDX-License-Identifier: MIT
// timeline.js - the timeline: what is shown, the mouse, the keys, search

const MIN_SPAN = 20; // ns: zooming in ends here

function isFailed(slice) {
	return slice.lane.kind === "calls" && slice.extra !== 0;
}

class Timeline {
	constructor(trace, details, marks) {
		Object.assign(this, { trace, details, marks });
		this.onChange = () => {};
		this.gap = null; // that was shown last
		this.canvas = byId("canvas");
		this.picture = new Picture(this.canvas);
		this.layout = new Layout(trace);
		this.scroll = 0;
		this.selected = this.hover = this.measured = this.matches = null;
		this.arrows = [];
		this.forms = [];
		this.colours = [];
		this.isDirty = false;
		this.fitAll();
		this.listen();
	}

	// ---- what is shown ----

	fitAll() {
		const margin = Math.max(10, this.trace.span * 0.01);
		this.begin = -margin;
		this.end = this.trace.span + margin;
		this.redraw();
	}

	isWhole() {
		const margin = Math.max(10, this.trace.span * 0.01);
		return this.begin === -margin && this.end === this.trace.span + margin;
	}

	fit(begin, end) {
		const margin = Math.max(MIN_SPAN / 2, (end - begin) * 0.15);
		this.show(begin - margin, end + margin);
	}

	show(begin, end) {
		const least = -0.1 * this.trace.span - 1000, most = 1.1 * this.trace.span + 1000;
		const span = Math.min(Math.max(end - begin, MIN_SPAN), most - least);
		begin += (end - begin - span) / 2;
		begin = Math.min(Math.max(begin, least), most - span);
		this.begin = begin;
		this.end = begin + span;
		this.redraw();
	}

	// factor < 1 zooms in; `at` stays where it is.
	zoom(factor, at = (this.begin + this.end) / 2) {
		const span = Math.max(MIN_SPAN, (this.end - this.begin) * factor);
		const share = (at - this.begin) / (this.end - this.begin);
		this.show(at - share * span, at - share * span + span);
	}

	pan(share) {
		const by = share * (this.end - this.begin);
		this.show(this.begin + by, this.end + by);
	}

	scrollTo(y) {
		const most = Math.max(0, this.layout.height - (this.canvas.clientHeight - AXIS_HEIGHT));
		this.scroll = Math.min(Math.max(0, y), most);
		this.redraw();
	}

	// Scrolls so that a row is in sight.
	reveal(row) {
		if (this.layout.closed.delete(row.lane.group))
			this.layout.update();
		const where = this.layout.positionOf(row), height = this.canvas.clientHeight - AXIS_HEIGHT;
		if (where && (where.y < this.scroll || where.y + where.height > this.scroll + height))
			this.scrollTo(where.y - height / 2);
	}

	labelWidth() {
		return this.canvas.clientWidth < 700 ? 110 : 230;
	}

	redraw() {
		if (this.isDirty || byId("timeline").hidden)
			return;
		this.isDirty = true;
		requestAnimationFrame(() => {
			this.isDirty = false;
			this.drawNow();
		});
	}

	drawNow() {
		if (!this.canvas.clientWidth)
			return;
		this.picture.resize();
		this.picture.draw({
			begin: this.begin, end: this.end, scroll: this.scroll, labelWidth: this.labelWidth(), layout: this.layout,
			matches: this.matches, selected: this.selected, hover: this.hover, measured: this.measured, arrows: this.arrows,
			faint: this.trace.messages ? this.trace.messages.inSight(this.begin, this.end) : [],
			forms: name => this.formsOf(name), colour: name => this.colourOf(name), marks: this.marks,
		});
		this.onChange();
	}

	// A name for narrow spaces, the longest first: "a::f<int>", "a::f", "f".
	formsOf(name) {
		if (!this.forms[name]) {
			const text = this.trace.names[name], short = shortName(text);
			this.forms[name] = [shortName(text, false), short, short.slice(short.lastIndexOf("::") + 1).replace(/^:/, "")];
		}
		return this.forms[name];
	}

	colourOf(name) {
		return this.colours[name] ??= colourOf(this.trace.names[name]);
	}

	// ---- finding what is under the pointer ----

	timeAt(x) {
		const left = this.labelWidth();
		return this.begin + (x - left) / (this.canvas.clientWidth - left) * (this.end - this.begin);
	}

	rowAt(y) {
		return y < AXIS_HEIGHT ? null : this.layout.rowAt(y - AXIS_HEIGHT + this.scroll);
	}

	// The slice at a point of the canvas, or one within three pixels; null: none.
	sliceAt(x, y) {
		const row = x < this.labelWidth() ? null : this.rowAt(y);
		if (!row)
			return null;
		const time = this.timeAt(x), near = 3 * (this.end - this.begin) / this.canvas.clientWidth;
		let best = null, distance = near;
		const index = row.lastBefore(time);
		for (const i of [index, index + 1, index - 1]) {
			const slice = i >= 0 && i < row.count ? row.slice(i) : null;
			if (!slice)
				continue;
			const away = Math.max(0, slice.begin - time, time - slice.end);
			if (away < distance || (!best && away === 0)) {
				best = slice;
				distance = away;
			}
		}
		return best;
	}

	// ---- selection ----

	select(slice, isRevealed) {
		this.selected = slice;
		this.arrows = [];
		if (slice) {
			const call = this.trace.callOf(slice);
			if (call && slice.lane.kind !== "calls")
				this.arrows.push({ from: call, to: this.shown(slice) });
			if (slice.lane.kind === "calls")
				for (const operation of this.trace.operationsOf(slice, 100))
					this.arrows.push({ from: slice, to: this.shown(operation) });
			const { sent, received } = this.trace.messagesOf(slice);
			this.arrows.push(...sent.slice(0, 100), ...received.slice(0, 100));
			this.joinRanks(slice);
			if (isRevealed) {
				if (slice.end < this.begin || slice.begin > this.end || slice.duration < (this.end - this.begin) / 2000)
					this.fit(slice.begin - slice.duration * 3, slice.end + slice.duration * 3);
				this.selected = this.shown(slice);
				this.reveal(this.selected.row);
			}
		}
		this.details.show(slice);
		this.redraw();
	}

	// From the kernel or the call of the rank that came last to those that waited for it.
	async joinRanks(slice) {
		const arrows = this.arrows, one = await this.trace.collectiveOf(slice);
		if (!one || arrows !== this.arrows)
			return;
		const [last, ...others] = one.ranks.slice(0, 101).map(rank => this.trace.sliceOfRank(rank));
		for (const kernel of last ? others.filter(Boolean) : [])
			this.arrows.push({ from: this.shown(last), to: this.shown(kernel), at: last.begin });
		this.redraw();
	}

	// A slice of a queue as the slice of its stream, where lanes are streams.
	shown(slice) {
		if (this.layout.positionOf(slice.row) || !["kernels", "copies"].includes(slice.lane.kind))
			return slice;
		for (const lane of this.layout.lanes())
			for (const row of lane.group === slice.lane.group ? lane.rows : [])
				for (const block of row.blocks) {
					const at = block.data ? block.data.id.indexOf(slice.id) : -1;
					if (at >= 0)
						return row.slice(block.first + at);
				}
		return slice;
	}

	// The neighbour of the selected slice in its row; without one the first slice in sight.
	step(by) {
		const selected = this.selected;
		if (!selected) {
			for (const item of this.layout.items)
				for (const row of item.type === "lane" ? item.lane.rows : []) {
					const slice = row.slice(Math.max(0, row.lastBefore(Math.max(0, this.begin))));
					if (slice) {
						this.select(slice, true);
						return;
					}
				}
			return;
		}
		const slice = selected.row.slice(Math.min(Math.max(0, selected.index + by), selected.row.count - 1));
		if (slice)
			this.select(slice, true);
	}

	// ---- marks ----

	countMarks() {
		const failed = this.marks.failures().length, gaps = this.marks.allGaps();
		byId("failed").hidden = !failed;
		byId("failed").lastChild.textContent = ` ${formatCount(failed)} failed call${failed === 1 ? "" : "s"}`;
		byId("idle").hidden = !gaps.length;
		this.redraw();
	}

	// The next of a sorted list behind what is selected or measured, or before it (by = -1); round at its ends.
	nextOf(list, begin, by) {
		const at = firstIndex(0, list.length, i => by > 0 ? list[i].begin > begin : list[i].begin >= begin);
		return list[(by > 0 ? at : at - 1 + list.length) % list.length];
	}

	nextFailed(by) {
		const list = this.marks.failures(), from = this.selected && this.selected.lane.kind === "calls" && this.selected.extra ? this.selected.begin : this.begin;
		if (!list.length) {
			announce("No failed call");
			return;
		}
		const next = this.nextOf(list, from, by);
		this.select(next.row.slice(next.index), true);
	}

	// The longest comes first.
	nextGap(by) {
		const list = this.marks.allGaps(), at = list.indexOf(this.gap);
		if (list.length)
			this.showGap(list[at < 0 ? 0 : (at + by + list.length) % list.length]);
		else
			announce("No idle time of a GPU");
	}

	// What was going on while a GPU did nothing is in the details.
	showGap(gap) {
		if (gap.end < this.begin || gap.begin > this.end || gap.end - gap.begin < (this.end - this.begin) / 200)
			this.fit(gap.begin - (gap.end - gap.begin), gap.end + (gap.end - gap.begin));
		const item = this.layout.items.find(i => i.type === "group" && i.name === gap.group);
		if (item && (item.y < this.scroll || item.y + item.height > this.scroll + this.canvas.clientHeight - AXIS_HEIGHT))
			this.scrollTo(item.y - 60);
		this.gap = gap;
		this.measure(gap.begin, gap.end, `${visible(gap.group)}: idle`);
		announce(`${visible(gap.group)}: idle for ${formatTime(gap.end - gap.begin)}`);
	}

	// The idle time under a point of a GPU's line; null: none.
	gapAt(x, y) {
		const item = y < AXIS_HEIGHT || x < this.labelWidth() ? null : this.layout.itemAt(y - AXIS_HEIGHT + this.scroll);
		if (!item || item.type !== "group")
			return null;
		const time = this.timeAt(x), list = this.marks.gapsOf(item.name);
		const gap = list[firstIndex(0, list.length, i => list[i].end > time)];
		return gap && gap.begin <= time && (gap.end - gap.begin) * this.picture.perNs >= GAP_PIXELS ? gap : null;
	}

	setByStream(isByStream) {
		this.layout.byStream = isByStream;
		this.layout.update();
		this.select(null);
		this.scrollTo(this.scroll);
	}

	// ---- search ----

	setSearch(text) {
		const words = text.toLowerCase().split(/\s+/).filter(Boolean);
		this.matches = words.length ? Uint8Array.from(this.trace.names, name => {
			const lower = name.toLowerCase();
			return words.every(word => lower.includes(word)) ? 1 : 0;
		}) : null;
		let count = 0;
		if (this.matches)
			for (const row of this.trace.rows())
				if (row.lane.kind !== "counter")
					for (const { data } of row.blocks)
						if (data)
							for (const name of data.name)
								count += this.matches[name];
		byId("found").textContent = this.matches ? `${formatCount(count)} found` : "";
		this.redraw();
	}

	// Selects the next (by = 1) or previous (-1) slice, in time, whose name matches.
	findNext(by) {
		if (!this.matches)
			return;
		const order = (a, b) => a.begin - b.begin || a.lane - b.lane || a.index - b.index;
		const rows = [...this.trace.rows()].filter(row => row.lane.kind !== "counter");
		const from = this.selected ? { begin: this.selected.begin, lane: rows.indexOf(this.selected.row), index: this.selected.index }
			: { begin: by > 0 ? -Infinity : Infinity, lane: -1, index: -1 };
		let best = null;
		rows.forEach((row, lane) => {
			for (const block of row.blocks)
				for (let at = 0; block.data && at < block.count; at++) {
					if (!this.matches[block.data.name[at]])
						continue;
					const here = { begin: block.data.begin[at], lane, index: block.first + at, row };
					if (by * order(here, from) > 0 && (!best || by * order(here, best) < 0))
						best = here;
				}
		});
		if (best)
			this.select(best.row.slice(best.index), true);
		else
			announce(by > 0 ? "No further match" : "No earlier match");
	}

	// ---- measuring ----

	measure(begin, end, what = "Measured") {
		this.measured = begin === null ? null : { begin: Math.min(begin, end), end: Math.max(begin, end), what };
		this.details.showSpan(this.measured);
		this.redraw();
	}

	// ---- mouse and keys ----

	listen() {
		const canvas = this.canvas;
		new ResizeObserver(() => this.redraw()).observe(canvas);
		canvas.addEventListener("wheel", event => this.onWheel(event), { passive: false });
		canvas.addEventListener("pointerdown", event => this.onDown(event));
		canvas.addEventListener("pointermove", event => this.onMove(event));
		canvas.addEventListener("pointerup", event => this.onUp(event));
		canvas.addEventListener("pointercancel", () => this.drag = null);
		canvas.addEventListener("pointerleave", () => this.setHover(null));
		canvas.addEventListener("dblclick", event => {
			const slice = this.sliceAt(event.offsetX, event.offsetY);
			if (slice)
				this.fit(slice.begin, slice.end);
		});
	}

	onWheel(event) {
		event.preventDefault();
		if (event.ctrlKey || event.metaKey)
			this.zoom(Math.exp(event.deltaY * 0.002), this.timeAt(event.offsetX));
		else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.pan((event.deltaX || event.deltaY) / this.canvas.clientWidth);
		else
			this.scrollTo(this.scroll + event.deltaY);
	}

	onDown(event) {
		if (event.button !== 0)
			return;
		const isMeasure = event.shiftKey || event.offsetY < AXIS_HEIGHT;
		this.drag = { x: event.offsetX, y: event.offsetY, begin: this.begin, end: this.end, scroll: this.scroll, isMeasure, isMoved: false };
		this.canvas.setPointerCapture(event.pointerId);
	}

	onMove(event) {
		const drag = this.drag;
		if (!drag) {
			this.setHover(this.sliceAt(event.offsetX, event.offsetY), event);
			return;
		}
		const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
		if (!drag.isMoved && Math.abs(dx) + Math.abs(dy) < 4)
			return;
		drag.isMoved = true;
		if (drag.isMeasure) {
			this.measure(this.timeAt(drag.x), this.timeAt(event.offsetX));
			return;
		}
		const by = -dx / (this.canvas.clientWidth - this.labelWidth()) * (drag.end - drag.begin);
		this.show(drag.begin + by, drag.end + by);
		this.scrollTo(drag.scroll - dy);
	}

	onUp(event) {
		const drag = this.drag;
		this.drag = null;
		if (!drag || drag.isMoved)
			return;
		if (event.offsetY >= AXIS_HEIGHT) {
			const item = this.layout.itemAt(event.offsetY - AXIS_HEIGHT + this.scroll);
			const gap = this.gapAt(event.offsetX, event.offsetY);
			if (gap) {
				this.showGap(gap);
				return;
			}
			if (item && item.type === "group") {
				this.layout.toggle(item.name);
				this.scrollTo(this.scroll);
				return;
			}
		}
		this.select(this.sliceAt(event.offsetX, event.offsetY));
	}

	// The tooltip shows whole names, of slices and of lanes.
	setHover(slice, event) {
		const tip = byId("tip");
		this.hover = slice;
		let text = "";
		if (slice) {
			text = `${visible(this.trace.names[slice.name])}\n` +
				(slice.value === undefined ? formatTime(slice.duration) + (isFailed(slice) ? `\nfailed: error ${slice.extra}` : "") : `${visible(slice.lane.name)}: ${formatCount(slice.value)}`);
		} else if (event) {
			const item = event.offsetY < AXIS_HEIGHT ? null : this.layout.itemAt(event.offsetY - AXIS_HEIGHT + this.scroll);
			const gap = this.gapAt(event.offsetX, event.offsetY);
			if (gap)
				text = `${visible(item.name)}\nidle for ${formatTime(gap.end - gap.begin)}`;
			else if (item && item.type === "group")
				text = visible(item.name);
			else if (item && event.offsetX < this.labelWidth())
				text = visible(item.lane.name) + `\n${formatCount(item.lane.count)} ${item.lane.kind === "counter" ? "values" : item.lane.kind}` +
					(item.lane.crowded ? `\n${formatCount(item.lane.crowded)} overlap others in the last row` : "");
		}
		tip.hidden = !text;
		tip.textContent = text;
		if (text) {
			const box = this.canvas.getBoundingClientRect();
			tip.style.left = Math.max(0, Math.min(box.left + event.offsetX + 14, innerWidth - tip.offsetWidth - 8)) + "px";
			tip.style.top = Math.max(0, Math.min(box.top + event.offsetY + 18, innerHeight - tip.offsetHeight - 8)) + "px";
		}
		this.redraw();
	}

	onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const action = this.keys()[event.key];
		if (!action)
			return;
		action();
		event.preventDefault();
		event.stopPropagation();
	}

	keys() {
		return {
			w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
			a: () => this.pan(-0.15), d: () => this.pan(0.15), ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15),
			ArrowUp: () => this.scrollTo(this.scroll - 60), ArrowDown: () => this.scrollTo(this.scroll + 60),
			PageUp: () => this.scrollTo(this.scroll - this.canvas.clientHeight), PageDown: () => this.scrollTo(this.scroll + this.canvas.clientHeight),
			Home: () => this.pan(-1e9), End: () => this.pan(1e9),
			f: () => this.selected ? this.fit(this.selected.begin, this.selected.end) : this.fitAll(),
			0: () => this.fitAll(),
			m: () => this.selected && this.measure(this.selected.begin, this.selected.end),
			"[": () => this.step(-1), "]": () => this.step(1), ",": () => this.step(-1), ".": () => this.step(1),
			n: () => this.findNext(1), N: () => this.findNext(-1), p: () => this.findNext(-1),
			e: () => this.nextFailed(1), E: () => this.nextFailed(-1), g: () => this.nextGap(1), G: () => this.nextGap(-1),
			"/": () => byId("search").focus(),
			Escape: () => {
				this.measure(null);
				this.select(null);
			},
		};
	}
}
