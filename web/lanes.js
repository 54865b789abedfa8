// SPDX-License-Identifier: MIT
// lanes.js - timelines of a few ranks under each other, on one axis of time
//
// A lane has pieces of five numbers: name, begin, span, calls, sum of their times. A piece of several calls is as strong as they fill it.

const LANE_LEFT = 150, LANE_HIGH = 18, PIECE = 5;

class Lanes {
	constructor({ data, labelOf }) {
		this.names = data.names;
		this.ranks = data.picked.map(rank => ({ rank, label: labelOf(rank), lanes: data.lanes.filter(lane => lane.rank === rank) })).filter(one => one.lanes.length);
		this.low = Infinity;
		this.high = -Infinity;
		for (const { pieces } of data.lanes)
			for (let i = 0; i < pieces.length; i += PIECE) {
				this.low = Math.min(this.low, pieces[i + 1]);
				this.high = Math.max(this.high, pieces[i + 1] + pieces[i + 2]);
			}
		this.view = [this.low, this.high];
		this.title = h("span", { class: "status", role: "status" });
		const button = (text, label, onclick) => h("button", { type: "button", "aria-label": label, onclick }, text);
		this.element = h("div", { class: "lanes" }, h("div", { class: "toolbar" }, button("+", "Zoom in", () => this.zoom(0.5)), button("\u2212", "Zoom out", () => this.zoom(2)),
			button("\u25c0", "Earlier", () => this.move(-0.5)), button("\u25b6", "Later", () => this.move(0.5)), button("Whole time", "Whole time", () => this.show(this.low, this.high)), this.title),
			this.ranks.map(one => this.canvasOf(one)).flat());
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	canvasOf(one) {
		one.canvas = h("canvas", { tabindex: 0, role: "application", "aria-label": `Timeline of ${one.label}. w and s zoom, a and d move.`, onkeydown: event => this.key(event) });
		one.canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
		one.canvas.addEventListener("mousemove", event => this.point(one, event));
		one.canvas.addEventListener("mouseleave", () => { byId("tip").hidden = true; });
		one.canvas.addEventListener("pointerdown", event => { this.drag = { x: event.clientX, view: this.view }; one.canvas.setPointerCapture(event.pointerId); });
		one.canvas.addEventListener("pointerup", () => { this.drag = null; });
		return [h("h3", {}, one.label), one.canvas];
	}

	show(low, high) {
		const most = this.high - this.low, span = Math.max(10, Math.min(most, high - low)), begin = Math.max(this.low, Math.min(this.high - span, low));
		this.view = [begin, begin + span];
		this.draw();
	}

	zoom(factor, share = 0.5) {
		const [low, high] = this.view, at = low + (high - low) * share;
		this.show(at - (at - low) * factor, at + (high - at) * factor);
	}

	move(share) {
		const by = share * (this.view[1] - this.view[0]);
		this.show(this.view[0] + by, this.view[1] + by);
	}

	key(event) {
		const actions = { w: () => this.zoom(0.5), "+": () => this.zoom(0.5), s: () => this.zoom(2), "-": () => this.zoom(2), a: () => this.move(-0.25), ArrowLeft: () => this.move(-0.25),
			d: () => this.move(0.25), ArrowRight: () => this.move(0.25), 0: () => this.show(this.low, this.high) };
		if (event.ctrlKey || event.altKey || event.metaKey || !actions[event.key])
			return;
		event.preventDefault();
		actions[event.key]();
		announce(this.title.textContent);
	}

	wheel(event) {
		if (!event.ctrlKey)
			return;
		event.preventDefault();
		this.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, (event.offsetX - LANE_LEFT) / (this.width - LANE_LEFT)));
	}

	x(time) {
		return LANE_LEFT + (time - this.view[0]) / (this.view[1] - this.view[0]) * (this.width - LANE_LEFT);
	}

	draw() {
		this.width = Math.max(200, this.element.clientWidth - 2);
		this.title.textContent = `${formatTime(this.view[0])} to ${formatTime(this.view[1])} of the job`;
		for (const one of this.ranks)
			this.drawRank(one);
	}

	drawRank(one) {
		const height = one.lanes.length * LANE_HIGH + 2, context = one.canvas.getContext("2d");
		one.canvas.width = Math.round(this.width * devicePixelRatio);
		one.canvas.height = Math.round(height * devicePixelRatio);
		one.canvas.style.setProperty("height", height + "px");
		context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
		context.fillStyle = styleColour("canvas");
		context.fillRect(0, 0, this.width, height);
		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "middle";
		one.lanes.forEach((lane, nr) => this.drawLane(context, lane, 2 + nr * LANE_HIGH));
	}

	drawLane(context, { what, gpu, queue, pieces }, top) {
		context.globalAlpha = 1;
		context.fillStyle = styleColour("muted");
		context.fillText(what === "range" ? `ranges ${queue || ""}` : `GPU ${gpu < 0 ? "?" : gpu} ${what === "copy" ? "copies" : "queue"} ${queue}`, 4, top + LANE_HIGH / 2, LANE_LEFT - 8);
		for (let i = 0; i < pieces.length; i += PIECE) {
			const begin = pieces[i + 1], end = begin + pieces[i + 2];
			if (end < this.view[0] || begin > this.view[1])
				continue;
			const x = Math.max(LANE_LEFT, this.x(begin)), wide = Math.max(1, Math.min(this.width, this.x(end)) - x), name = this.names[pieces[i]];
			context.globalAlpha = pieces[i + 3] > 1 ? Math.max(0.25, Math.min(1, pieces[i + 4] / Math.max(1, pieces[i + 2]))) : 1;
			context.fillStyle = colourOf(name);
			context.fillRect(x, top, wide, LANE_HIGH - 2);
			if (wide > 40 && pieces[i + 3] === 1) {
				context.fillStyle = SLICE_TEXT;
				context.save();
				context.beginPath();
				context.rect(x, top, wide, LANE_HIGH - 2);
				context.clip();
				context.fillText(shortName(name), x + 3, top + LANE_HIGH / 2 - 1);
				context.restore();
			}
		}
	}

	// The piece at a place of a rank's canvas, the last drawn first.
	pieceAt(one, x, y) {
		const lane = one.lanes[Math.floor((y - 2) / LANE_HIGH)], time = this.view[0] + (x - LANE_LEFT) / (this.width - LANE_LEFT) * (this.view[1] - this.view[0]);
		const slack = (this.view[1] - this.view[0]) / (this.width - LANE_LEFT);
		for (let i = lane && x >= LANE_LEFT ? lane.pieces.length - PIECE : -1; i >= 0; i -= PIECE)
			if (lane.pieces[i + 1] <= time && time <= lane.pieces[i + 1] + Math.max(slack, lane.pieces[i + 2]))
				return { name: this.names[lane.pieces[i]], begin: lane.pieces[i + 1], span: lane.pieces[i + 2], calls: lane.pieces[i + 3], sum: lane.pieces[i + 4] };
		return null;
	}

	point(one, event) {
		const tip = byId("tip");
		if (this.drag) {
			const by = (this.drag.x - event.clientX) / (this.width - LANE_LEFT) * (this.drag.view[1] - this.drag.view[0]);
			this.show(this.drag.view[0] + by, this.drag.view[1] + by);
			return;
		}
		const piece = this.pieceAt(one, event.offsetX, event.offsetY);
		tip.hidden = !piece;
		if (!piece)
			return;
		tip.textContent = `${visible(piece.name)}\n${piece.calls === 1 ? exactTime(piece.span) : `and others: ${formatCount(piece.calls)} in ${formatTime(piece.span)}, ${formatTime(piece.sum)} in sum`}, from ${formatTime(piece.begin)}`;
		tip.style.setProperty("left", Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px");
		tip.style.setProperty("top", Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px");
	}
}
