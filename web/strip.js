// SPDX-License-Identifier: MIT
// strip.js - one line of pixels, drawn as high as a row of the timeline
//
// What is a few pixels wide is set in memory, and a row is then one picture for the canvas instead of a rectangle for each.

class Strip {
	constructor() {
		this.canvas = document.createElement("canvas");
		this.canvas.height = 1;
		this.context = this.canvas.getContext("2d", { willReadFrequently: true });
		this.colours = new Map();
		this.resize(1);
	}

	resize(width) {
		this.width = this.canvas.width = width;
		this.image = this.context.createImageData(width, 1);
		this.pixels = new Uint32Array(this.image.data.buffer);
		this.isEmpty = true;
	}

	// "#aabbcc" as the bytes of a pixel, 0xccbbaa.
	bytesOf(colour) {
		let bytes = this.colours.get(colour);
		if (bytes === undefined) {
			this.context.fillStyle = colour;
			const rgb = parseInt(this.context.fillStyle.slice(1), 16);
			bytes = rgb >>> 16 | rgb & 0xff00 | (rgb & 0xff) << 16;
			this.colours.set(colour, bytes);
		}
		return bytes;
	}

	// Whole pixels from x on; strength is that of the colour, up to 1.
	fill(x, width, colour, strength) {
		const pixel = (this.bytesOf(colour) | Math.round(255 * strength) << 24) >>> 0;
		this.pixels.fill(pixel, Math.max(0, x), Math.max(0, x + width));
		this.isEmpty = false;
	}

	// Draws what was filled since the last time.
	draw(context, top, height) {
		if (this.isEmpty)
			return;
		this.context.putImageData(this.image, 0, 0);
		context.imageSmoothingEnabled = false;
		context.drawImage(this.canvas, 0, top, this.width, height);
		this.pixels.fill(0);
		this.isEmpty = true;
	}
}
