// SPDX-License-Identifier: MIT
// picture.js - draws the timeline on its canvas
//
// A row costs a number of steps that depends on its pixels, not on its slices: where a group of slices (page_lane.c) is at
// most GROUP_PIXELS wide, the group is drawn instead of them, and what is narrower than a pixel is added up pixel by
// pixel: the more of it is busy, the stronger its colour. All that is narrow is one picture for each row (strip.js).

const GROUP_PIXELS = 3;
const GAP_HEIGHT = 6;
const LETTER_WIDTH = 5.6; // of a letter, in the mean
const GAP_PIXELS = 3; // idle times from this width on are marked
const STRIP_PIXELS = 4; // slices up to this width have no gap behind them

class Picture {
	constructor(canvas) {
		this.canvas = canvas;
		this.context = canvas.getContext("2d", { alpha: false });
		this.strip = new Strip();
		this.readTheme();
	}

	readTheme() {
		this.theme = {};
		for (const name of ["canvas", "text", "muted", "line", "group", "accent", "band", "match", "counter", "bad", "idle"])
			this.theme[name] = styleColour(name);
		this.hatch = this.hatchOf(this.theme.idle);
	}

	// Lines from lower left to upper right.
	hatchOf(colour) {
		const tile = document.createElement("canvas"), c = tile.getContext("2d");
		tile.width = tile.height = 6;
		c.strokeStyle = colour;
		c.lineWidth = 1.5;
		for (const x of [-6, 0, 6]) {
			c.moveTo(x - 1, 7);
			c.lineTo(x + 7, -1);
		}
		c.stroke();
		return this.context.createPattern(tile, "repeat");
	}

	// Adapts the canvas to its element. Returns whether its size changed.
	resize() {
		const ratio = window.devicePixelRatio || 1, canvas = this.canvas;
		const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
		this.width = canvas.clientWidth;
		this.height = canvas.clientHeight;
		this.ratio = ratio;
		if (canvas.width === width && canvas.height === height)
			return false;
		canvas.width = width;
		canvas.height = height;
		return true;
	}

	// view: { begin, end, scroll, labelWidth, layout, trace, matches, selected, measured, arrows, hover }
	draw(view) {
		const c = this.context;
		this.view = view;
		this.perNs = (this.width - view.labelWidth) / (view.end - view.begin);
		if (this.strip.width !== this.width)
			this.strip.resize(this.width);
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		c.fillStyle = this.theme.canvas;
		c.fillRect(0, 0, this.width, this.height);
		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "middle";
		c.save();
		c.beginPath();
		c.rect(0, AXIS_HEIGHT, this.width, this.height - AXIS_HEIGHT);
		c.clip();
		for (const item of view.layout.items) {
			const y = item.y - view.scroll + AXIS_HEIGHT;
			if (y + item.height < AXIS_HEIGHT || y > this.height)
				continue;
			if (item.type === "group")
				this.drawGroupLine(item, y);
			else
				this.drawLane(item, y);
		}
		this.drawMeasured();
		this.drawArrows(this.view.faint, this.theme.muted, 0.75);
		this.drawArrows(this.view.arrows, this.theme.accent, 1.5);
		this.drawSelected();
		c.restore();
		this.drawAxis();
	}

	x(time) {
		return this.view.labelWidth + (time - this.view.begin) * this.perNs;
	}

	// Text that ends in "..." where it is wider than the space; the whole text is in the tooltip and the details.
	fitText(text, x, y, width) {
		const most = Math.floor(width / LETTER_WIDTH);
		if (most < 2)
			return;
		this.context.fillText(text.length > most ? text.slice(0, most - 1) + "\u2026" : text, x, y, width);
	}

	drawGroupLine(item, y) {
		const c = this.context;
		c.fillStyle = this.theme.group;
		c.fillRect(0, y, this.width, item.height - 2);
		c.fillStyle = this.theme.text;
		c.font = "600 12px system-ui, sans-serif";
		const text = (item.isClosed ? "\u25b8 " : "\u25be ") + visible(item.name);
		this.fitText(text, 8, y + item.height / 2 - 1, this.width - 16);
		const end = 8 + c.measureText(text).width;
		c.font = "11px system-ui, sans-serif";
		this.drawGaps(item, y, end);
	}

	// Where a GPU is idle, its line is hatched; with the time where there is space for it.
	drawGaps(item, y, textEnd) {
		const c = this.context, { begin, end, labelWidth } = this.view, gaps = this.view.marks.gapsOf(item.name);
		const bottom = y + item.height - 3;
		for (let i = firstIndex(0, gaps.length, k => gaps[k].end > begin); i < gaps.length && gaps[i].begin < end; i++) {
			const x0 = Math.max(this.x(gaps[i].begin), labelWidth), x1 = Math.min(this.x(gaps[i].end), this.width);
			if (x1 - x0 < GAP_PIXELS)
				continue;
			c.fillStyle = this.hatch;
			c.fillRect(x0, bottom - GAP_HEIGHT, x1 - x0, GAP_HEIGHT);
			const text = `idle ${formatTime(gaps[i].end - gaps[i].begin)}`;
			if (x0 > textEnd && x1 - x0 > c.measureText(text).width + 4) {
				c.fillStyle = this.theme.text;
				c.textAlign = "center";
				c.fillText(text, (x0 + x1) / 2, y + 7);
				c.textAlign = "left";
			}
		}
	}

	// A triangle at the begin of each failed call, a line below it: not by colour alone, and however many other calls share its pixel.
	drawFailures(row, top, height) {
		const of = this.view.marks.failuresOf(row), { begin, end, labelWidth } = this.view, c = this.context;
		if (!of)
			return;
		const nr = of.begin.length;
		for (let i = firstIndex(0, nr, k => of.end[k] >= begin); i < nr && of.begin[i] <= end;) {
			const x0 = this.x(of.begin[i]), left = Math.max(x0, labelWidth), right = Math.max(left + 1, Math.min(this.x(of.end[i]), this.width));
			c.fillStyle = this.theme.bad;
			c.fillRect(left, top + height - 4, right - left, 3);
			c.strokeStyle = this.theme.canvas;
			c.lineWidth = 1;
			c.beginPath();
			c.moveTo(x0 - 5, top);
			c.lineTo(x0 + 5, top);
			c.lineTo(x0, top + 8);
			c.closePath();
			c.fill();
			c.stroke();
			i = firstIndex(i + 1, nr, k => this.x(of.begin[k]) >= x0 + 2);
		}
	}

	drawLane(item, y) {
		const c = this.context, left = this.view.labelWidth;
		c.fillStyle = this.theme.muted;
		c.textAlign = "left";
		this.fitText(visible(item.lane.name), 8, y + ROW_HEIGHT / 2, left - 14);
		if (item.lane.kind === "counter")
			this.fitText("up to " + formatCount(item.lane.max), 8, y + ROW_HEIGHT * 1.4, left - 14);
		c.save();
		c.beginPath();
		c.rect(left, y, this.width - left, item.height);
		c.clip();
		item.lane.rows.forEach((row, i) => {
			const top = y + i * item.rowHeight;
			if (top + item.rowHeight >= AXIS_HEIGHT && top <= this.height)
				this.drawRow(row, top, item.rowHeight);
		});
		c.restore();
		c.fillStyle = this.theme.line;
		c.fillRect(0, y + item.height - 3, this.width, 1);
	}

	drawRow(row, top, height) {
		const { begin, end } = this.view, groups = row.groups;
		const isCounter = row.lane.kind === "counter";
		this.pixel = { at: -1, busy: 0, best: 0, name: 0, value: 0 };
		this.wide = [];
		const first = firstIndex(0, groups.count, i => groups.end[i] >= begin);
		for (let g = first; g < groups.count && groups.begin[g] <= end; g++) {
			const x0 = this.x(groups.begin[g]), x1 = this.x(groups.end[g]);
			const isSmall = x1 - x0 <= GROUP_PIXELS && groups.count > 1;
			if (isSmall || !this.drawSlices(row, groups.first[g], groups.first[g + 1], top, height))
				this.addSmall(row, x0, x1, groups.busy[g], groups.name[g], isCounter ? row.peak(g) : 0, top, height);
		}
		this.flushPixel(row, top, height);
		this.strip.draw(this.context, top + 1, height - 2);
		for (const { x0, x1, name } of this.wide)
			this.drawWide(x0, x1, name, top, height);
		this.drawFailures(row, top, height);
	}

	// Draws slices from one number to another. False: they are not decoded yet.
	drawSlices(row, from, to, top, height) {
		const { begin, end } = this.view;
		let block = row.blockOf(from);
		for (let index = from; index < to; index++) {
			if (index >= block.first + block.count)
				block = row.blockOf(index);
			const data = block.data;
			if (!data)
				return false;
			const at = index - block.first, time = data.begin[at], duration = data.duration[at];
			if (time > end)
				break;
			if (time + duration < begin)
				continue;
			const x0 = this.x(time), x1 = this.x(time + duration), value = data.value ? data.value[at] : 0;
			if (x1 - x0 < 1.5) {
				this.addSmall(row, x0, x1, duration, data.name[at], value, top, height);
				continue;
			}
			this.flushPixel(row, top, height);
			if (row.lane.kind === "counter")
				this.drawValue(row, x0, x1 - x0, value, top, height);
			else if (x1 - x0 <= STRIP_PIXELS)
				this.fillStrip(Math.round(x0), Math.round(x1) - Math.round(x0), data.name[at], 1);
			else
				this.wide.push({ x0, x1, name: data.name[at] });
		}
		return true;
	}

	// Something narrow: several of them share a pixel.
	addSmall(row, x0, x1, busy, name, value, top, height) {
		const pixel = this.pixel, at = Math.floor(x0);
		if (at !== pixel.at) {
			this.flushPixel(row, top, height);
			pixel.at = at;
			pixel.busy = pixel.value = 0;
			pixel.best = -1;
			pixel.width = 1;
		}
		pixel.busy += busy;
		pixel.width = Math.max(pixel.width, Math.ceil(x1 - at));
		pixel.value = Math.max(pixel.value, value);
		// a name that is searched for is not hidden by others
		const weight = busy + (this.view.matches && this.view.matches[name] ? 1e18 : 0);
		if (weight > pixel.best) {
			pixel.best = weight;
			pixel.name = name;
		}
	}

	flushPixel(row, top, height) {
		const pixel = this.pixel;
		if (pixel.at < 0)
			return;
		if (row.lane.kind === "counter")
			this.drawValue(row, pixel.at, pixel.width, pixel.value, top, height);
		else
			this.fillStrip(pixel.at, pixel.width, pixel.name, 0.5 + 0.5 * Math.min(1, pixel.busy * this.perNs / pixel.width));
		pixel.at = -1;
	}

	sliceColour(name) {
		const matches = this.view.matches;
		return matches && !matches[name] ? this.theme.band : this.view.colour(name);
	}

	fillStrip(x, width, name, strength) {
		this.strip.fill(x, width, this.sliceColour(name), strength);
	}

	drawWide(x0, x1, name, top, height) {
		const c = this.context, left = Math.max(x0, this.view.labelWidth - 1), right = Math.min(x1, this.width + 1);
		// a gap of a pixel, so that neighbours are told apart
		const width = Math.max(1, right - left - 1);
		c.fillStyle = this.sliceColour(name);
		c.fillRect(left, top + 1, width, height - 2);
		if (width > 24) {
			// kernels that differ only in template arguments differ here, too, where there is space for them
			const forms = this.view.forms(name), text = forms.find(form => form.length * LETTER_WIDTH <= width - 7) || forms[2];
			c.fillStyle = SLICE_TEXT;
			this.fitText(text, Math.max(left, this.view.labelWidth) + 4, top + height / 2, width - 7);
		}
	}

	// A counter's value as a column.
	drawValue(row, x, width, value, top, height) {
		const part = row.lane.max > 0 ? Math.max(1, (height - 4) * value / row.lane.max) : 1;
		this.context.fillStyle = this.theme.counter;
		this.context.fillRect(x, top + height - 2 - part, Math.max(1, width), part);
	}

	// ---- on top of the rows ----

	frame(slice, colour, width) {
		const where = this.view.layout.positionOf(slice.row);
		if (!where)
			return;
		const y = where.y - this.view.scroll + AXIS_HEIGHT;
		const x0 = Math.max(this.x(slice.begin), this.view.labelWidth - 4), x1 = Math.min(this.x(slice.end), this.width + 4);
		if (x1 < this.view.labelWidth || x0 > this.width)
			return;
		const c = this.context;
		c.strokeStyle = colour;
		c.lineWidth = width;
		c.strokeRect(x0 - 0.5, y + 0.5, Math.max(2, x1 - x0), where.height - 1);
	}

	drawSelected() {
		if (this.view.hover)
			this.frame(this.view.hover, this.theme.muted, 1);
		if (this.view.selected)
			this.frame(this.view.selected, this.theme.accent, 2);
	}

	drawMeasured() {
		const span = this.view.measured, c = this.context;
		if (!span)
			return;
		const x0 = Math.max(this.x(span.begin), this.view.labelWidth), x1 = Math.min(this.x(span.end), this.width);
		if (x1 < x0)
			return;
		c.globalAlpha = 0.18;
		c.fillStyle = this.theme.accent;
		c.fillRect(x0, AXIS_HEIGHT, x1 - x0, this.height);
		c.globalAlpha = 1;
		c.fillRect(x0, AXIS_HEIGHT, 1, this.height);
		c.fillRect(x1, AXIS_HEIGHT, 1, this.height);
	}

	// From a call to its operations; from the last rank of a collective to the others, at the time `at`.
	drawArrows(arrows, colour, width) {
		const c = this.context;
		c.strokeStyle = c.fillStyle = colour;
		c.lineWidth = width;
		for (const { from, to, at } of arrows) {
			const a = this.view.layout.positionOf(from.row), b = this.view.layout.positionOf(to.row);
			if (!a || !b)
				continue;
			const x0 = this.x(from.begin), y0 = a.y + a.height / 2 - this.view.scroll + AXIS_HEIGHT;
			const x1 = this.x(at ?? to.begin), y1 = b.y + b.height / 2 - this.view.scroll + AXIS_HEIGHT;
			if (Math.max(x0, x1) < this.view.labelWidth || Math.min(x0, x1) > this.width)
				continue;
			const bend = Math.max(20, Math.abs(x1 - x0) / 3);
			c.save();
			c.beginPath();
			c.rect(this.view.labelWidth, AXIS_HEIGHT, this.width, this.height);
			c.clip();
			c.beginPath();
			c.moveTo(x0, y0);
			c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 6, y1);
			c.stroke();
			c.beginPath();
			c.moveTo(x1, y1);
			c.lineTo(x1 - 7, y1 - 4);
			c.lineTo(x1 - 7, y1 + 4);
			c.fill();
			c.restore();
		}
	}

	drawAxis() {
		const c = this.context, { begin, end, labelWidth, measured } = this.view;
		c.fillStyle = this.theme.canvas;
		c.fillRect(0, 0, this.width, AXIS_HEIGHT);
		c.fillStyle = this.theme.line;
		c.fillRect(0, AXIS_HEIGHT - 1, this.width, 1);
		const step = niceStep((end - begin) / Math.max(1, (this.width - labelWidth) / 110));
		c.textAlign = "left";
		for (let time = Math.ceil(begin / step) * step; time <= end; time += step) {
			const x = this.x(time);
			c.fillStyle = this.theme.line;
			c.fillRect(x, 14, 1, AXIS_HEIGHT - 14);
			c.fillStyle = this.theme.muted;
			c.fillText(axisTime(time, step), x + 4, 13);
		}
		c.fillStyle = this.theme.canvas;
		c.fillRect(0, 0, labelWidth, AXIS_HEIGHT - 1);
		c.fillStyle = this.theme.muted;
		this.fitText(`${formatTime(end - begin)} shown`, 8, 14, labelWidth - 14);
		if (measured) {
			const text = formatTime(measured.end - measured.begin);
			const x = Math.min(Math.max((this.x(measured.begin) + this.x(measured.end)) / 2, labelWidth + 40), this.width - 40);
			const width = c.measureText(text).width + 12;
			c.fillStyle = this.theme.accent;
			c.fillRect(x - width / 2, 4, width, 18);
			c.fillStyle = this.theme.canvas;
			c.fillText(text, x - width / 2 + 6, 13);
		}
		c.fillStyle = this.theme.line;
		c.fillRect(labelWidth - 1, 0, 1, this.height);
	}
}

// 1, 2 or 5 times a power of ten, at least `least` and at least 1 ns.
function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	for (const factor of [1, 2, 5, 10])
		if (factor * power >= least)
			return factor * power;
	return 10 * power;
}

// A time on the axis, with as many decimals as steps need.
function axisTime(time, step) {
	for (const [unit, ns] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
		if (step >= ns / 1000 && Math.abs(time) >= ns || unit === "\u00b5s" && step >= 1e3)
			return `${(time / ns).toFixed(Math.max(0, Math.ceil(-Math.log10(step / ns) - 1e-9)))} ${unit}`;
	return `${formatCount(time)} ns`;
}
