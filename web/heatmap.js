// SPDX-License-Identifier: MIT
// heatmap.js - a map of cells, a line for each rank, in a canvas that can be walked through by keys

const HEAT_LEFT = 150, HEAT_TOP = 22, HEAT_LOW = 11; // px: labels of lines and columns, the lowest line that has one

// "#aabbcc" as [r, g, b].
function rgbOf(colour) {
	const number = parseInt(colour.slice(1), 16);
	return [number >> 16, number >> 8 & 255, number & 255];
}

function mixed(from, to, share) {
	return from.map((v, i) => Math.round(v + (to[i] - v) * share));
}

class HeatMap {
	// lines: [{ label, row, note }]: row: number of the line in the data; note: what is instead of values. columns: their number. value(row, column):
	// 0..1 of the colour, below 0 of the other one; NaN: none. columnLabel(column), describe(row, column): texts. ticks: [[column, text]].
	constructor({ id, caption, lines, columns, value, describe, ticks, colours, onPick }) {
		Object.assign(this, { id, caption, lines, columns, value, describe, ticks, colours, onPick });
		this.cell = null;
		this.canvas = h("canvas", { id, "aria-hidden": "true" });
		this.element = h("div", { class: "heat", id: id + "-box", tabindex: 0, role: "application", "aria-label": `${caption}. The arrow keys move from cell to cell, Enter shows the rank's timeline.`,
			onkeydown: event => this.key(event) }, this.canvas);
		this.canvas.addEventListener("mousemove", event => this.point(event));
		this.canvas.addEventListener("mouseleave", () => this.hide());
		this.canvas.addEventListener("click", event => this.pick(this.cellAt(event)));
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	setLines(lines) {
		this.lines = lines;
		this.cell = null;
		this.draw();
	}

	measure() {
		this.width = Math.max(200, this.element.clientWidth);
		this.high = Math.max(1, Math.min(18, Math.floor(540 / Math.max(1, this.lines.length))));
		this.wide = (this.width - HEAT_LEFT) / Math.max(1, this.columns);
		this.height = HEAT_TOP + this.high * this.lines.length;
	}

	// The cells as pixels of a picture, which the canvas stretches.
	picture() {
		const back = rgbOf(styleColour("panel")), none = rgbOf(styleColour("band")), mark = rgbOf(styleColour("idle"));
		const up = rgbOf(styleColour(this.colours[0])), down = rgbOf(styleColour(this.colours[1] || this.colours[0]));
		const image = new ImageData(Math.max(1, this.columns), Math.max(1, this.lines.length));
		this.lines.forEach((line, y) => {
			for (let x = 0; x < this.columns; x++) {
				const value = line.note ? NaN : this.value(line.row, x), at = 4 * (y * image.width + x);
				const rgb = line.note ? (x + y) % 2 ? none : mixed(none, mark, 0.6) : Number.isNaN(value) ? none : mixed(back, value < 0 ? down : up, Math.min(1, Math.abs(value)));
				image.data.set([...rgb, 255], at);
			}
		});
		const canvas = document.createElement("canvas");
		canvas.width = image.width;
		canvas.height = image.height;
		canvas.getContext("2d").putImageData(image, 0, 0);
		return canvas;
	}

	draw() {
		this.measure();
		const ratio = this.height * devicePixelRatio > 16000 ? 1 : devicePixelRatio, context = this.canvas.getContext("2d");
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.setProperty("height", this.height + "px");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = styleColour("panel");
		context.fillRect(0, 0, this.width, this.height);
		context.imageSmoothingEnabled = false;
		context.drawImage(this.picture(), HEAT_LEFT, HEAT_TOP, this.width - HEAT_LEFT, this.high * this.lines.length);
		context.font = "11px system-ui, sans-serif";
		context.fillStyle = styleColour("muted");
		context.textBaseline = "middle";
		const step = Math.ceil((HEAT_LOW + 1) / this.high);
		for (let y = 0; y < this.lines.length; y += step)
			context.fillText(this.lines[y].label, 4, HEAT_TOP + (y + 0.5) * this.high + (this.high < HEAT_LOW ? 5 : 0), HEAT_LEFT - 8);
		let free = 0;
		for (const [column, text] of this.ticks) {
			const x = HEAT_LEFT + column * this.wide, wide = context.measureText(text).width;
			if (x < free || x + wide > this.width)
				continue;
			context.fillText(text, x, HEAT_TOP / 2);
			free = x + wide + 8;
		}
		if (this.cell) {
			context.strokeStyle = styleColour("text");
			context.lineWidth = 1.5;
			context.strokeRect(HEAT_LEFT + this.cell.x * this.wide - 1, HEAT_TOP + this.cell.y * this.high - 1, this.wide + 2, this.high + 2);
		}
	}

	cellAt(event) {
		const x = Math.floor((event.offsetX - HEAT_LEFT) / this.wide), y = Math.floor((event.offsetY - HEAT_TOP) / this.high);
		return x >= 0 && x < this.columns && y >= 0 && y < this.lines.length ? { x, y } : null;
	}

	text(cell) {
		const line = this.lines[cell.y];
		return `${line.label}: ${line.note || this.describe(line.row, cell.x)}`;
	}

	point(event) {
		const cell = this.cellAt(event), tip = byId("tip");
		if (!cell)
			return this.hide();
		tip.textContent = this.text(cell);
		tip.hidden = false;
		tip.style.setProperty("left", Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px");
		tip.style.setProperty("top", Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px");
		return undefined;
	}

	hide() {
		byId("tip").hidden = true;
	}

	key(event) {
		const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }, move = moves[event.key];
		if (event.ctrlKey || event.altKey || event.metaKey || !this.columns || !this.lines.length || !(move || event.key === "Enter" && this.cell))
			return;
		event.preventDefault();
		if (!move) {
			this.pick(this.cell);
			return;
		}
		const within = (v, nr) => Math.max(0, Math.min(nr - 1, v));
		this.cell = this.cell ? { x: within(this.cell.x + move[0], this.columns), y: within(this.cell.y + move[1], this.lines.length) } : { x: 0, y: 0 };
		const top = HEAT_TOP + this.cell.y * this.high;
		if (top < this.element.scrollTop || top + this.high > this.element.scrollTop + this.element.clientHeight)
			this.element.scrollTop = top - this.element.clientHeight / 2;
		this.draw();
		announce(this.text(this.cell));
	}

	pick(cell) {
		if (cell && this.onPick)
			this.onPick(this.lines[cell.y]);
	}
}

// The colours of a map from one end to the other.
function legend(texts, colours) {
	const canvas = h("canvas", { width: 120, height: 1, "aria-hidden": "true" });
	const draw = () => {
		const context = canvas.getContext("2d"), back = rgbOf(styleColour("panel")), up = rgbOf(styleColour(colours[0])), down = colours[1] && rgbOf(styleColour(colours[1]));
		for (let x = 0; x < 120; x++) {
			const value = down ? x / 60 - 1 : x / 120;
			context.fillStyle = `rgb(${mixed(back, value < 0 ? down : up, Math.abs(value)).join()})`;
			context.fillRect(x, 0, 1, 1);
		}
	};
	draw();
	return { element: h("span", { class: "legend" }, texts[0], canvas, texts[1]), draw };
}
