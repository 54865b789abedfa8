# SPDX-License-Identifier: MIT
"""pictures.py - screenshots of pages against golden ones, as an eye compares them

A golden picture is the screenshot at a quarter of its size: small, and without the shapes of letters. A pixel of the one is
looked for within 2 pixels around in the other, since versions of a browser draw text a little differently. Their difference,
in the mean of a block of 5 x 5, is what may not be large: a letter more or less is not, a missing bar or another colour is. What is
thin changes no mean: of the pixels in a tile of 8 x 8 few may differ by more than text drawn otherwise does. Seen: at most 5 with other
hinting of fonts (subpixel positions of letters off), 9 with an arrow that is missing.
The browser itself reads the files and compares: nothing but Python's standard library is needed.
"""
import base64
import json
import os

FONT = "DejaVu Sans"
SCALE = 4
SPARE = 4  # blocks of 640 that may differ: a word that goes to the next line
SCRIPT = """(async (seen, golden) => {
	const SCALE = %d, NEAR = 2, BLOCK = 5, MOST = 28, TILE = 8, FAR = 24, MANY = 7;
	const read = async text => {
		const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))], { type: "image/png" }));
		const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
		context.drawImage(image, 0, 0);
		return context.getImageData(0, 0, image.width, image.height);
	};
	const shrink = image => {
		const small = new ImageData(image.width / SCALE, image.height / SCALE);
		for (let y = 0; y < small.height; y++)
			for (let x = 0; x < small.width; x++)
				for (let c = 0; c < 4; c++) {
					let sum = 0;
					for (let i = 0; i < SCALE * SCALE; i++)
						sum += image.data[4 * ((y * SCALE + (i / SCALE | 0)) * image.width + x * SCALE + i %% SCALE) + c];
					small.data[4 * (y * small.width + x) + c] = Math.round(sum / (SCALE * SCALE));
				}
		return small;
	};
	const write = async image => {
		const canvas = new OffscreenCanvas(image.width, image.height);
		canvas.getContext("2d").putImageData(image, 0, 0);
		const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
		return btoa(String.fromCharCode(...bytes));
	};
	// how far a pixel is from the nearest colour around the same pixel of the other picture: 0 to 255
	const away = (a, b, x, y) => {
		let least = 255;
		for (let v = Math.max(0, y - NEAR); v <= Math.min(b.height - 1, y + NEAR); v++)
			for (let u = Math.max(0, x - NEAR); u <= Math.min(b.width - 1, x + NEAR); u++) {
				let most = 0;
				for (let c = 0; c < 3; c++)
					most = Math.max(most, Math.abs(a.data[4 * (y * a.width + x) + c] - b.data[4 * (v * b.width + u) + c]));
				least = Math.min(least, most);
			}
		return least;
	};
	const small = shrink(await read(seen)), result = { small: await write(small), differs: [], thin: [], worst: 0 };
	if (!golden)
		return result;
	const other = await read(golden);
	if (other.width !== small.width || other.height !== small.height)
		return { ...result, size: [other.width, other.height] };
	const marked = new ImageData(small.data.slice(), small.width), far = new Uint8Array(small.width * small.height);
	for (let y = 0; y < small.height; y++)
		for (let x = 0; x < small.width; x++)
			far[y * small.width + x] = Math.max(away(small, other, x, y), away(other, small, x, y));
	// The pixels of a square, at the right and at the bottom edge of less
	const square = (left, top, size) => {
		const all = [];
		for (let y = top; y < Math.min(top + size, small.height); y++)
			for (let x = left; x < Math.min(left + size, small.width); x++)
				all.push(y * small.width + x);
		return all;
	};
	const mark = all => all.forEach(at => marked.data[4 * at] ^= 128);
	for (let top = 0; top < small.height; top += BLOCK)
		for (let left = 0; left < small.width; left += BLOCK) {
			const all = square(left, top, BLOCK), mean = all.reduce((sum, at) => sum + far[at], 0) / (BLOCK * BLOCK);
			result.worst = Math.max(result.worst, mean);
			if (mean <= MOST)
				continue;
			result.differs.push([left * SCALE, top * SCALE, Math.round(mean)]);
			mark(all);
		}
	for (let top = 0; top < small.height; top += TILE)
		for (let left = 0; left < small.width; left += TILE) {
			const all = square(left, top, TILE).filter(at => far[at] > FAR);
			if (all.length <= MANY)
				continue;
			result.thin.push([left * SCALE, top * SCALE, all.length]);
			mark(all);
		}
	result.marked = await write(marked);
	return result;
})""" % SCALE


def same_font(page):
    """All text in one font; False: it is not there. Fonts of machines differ, and with them all widths."""
    return page.evaluate(f"""(() => {{
        const sheet = new CSSStyleSheet();
        sheet.replaceSync('* {{ font-family: "{FONT}" !important; transition: none !important; caret-color: transparent !important; }}');
        document.adoptedStyleSheets = [sheet];
        return document.fonts.check('12px "{FONT}"') && (() => {{
            const c = new OffscreenCanvas(1, 1).getContext('2d'), width = font => (c.font = font, c.measureText('mmmiiiWWW').width);
            return width('40px "{FONT}"') !== width('40px monospace') && width('40px "{FONT}", monospace') === width('40px "{FONT}", serif');
        }})();
    }})()""")


def compare(page, looking, path, seen_as):
    """What differs between the page and the golden picture, as text; "": nothing. `looking` is a page of its own.
    RTL_UPDATE=1 writes the golden picture."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    seen = page.call("Page.captureScreenshot", format="png")["data"]
    golden = None
    if os.path.exists(path) and not os.environ.get("RTL_UPDATE"):
        with open(path, "rb") as file:
            golden = base64.b64encode(file.read()).decode()
    result = looking.evaluate(f"{SCRIPT}({json.dumps(seen)}, {json.dumps(golden)})")
    if os.environ.get("RTL_UPDATE"):
        write(path, result["small"])
        return ""
    if golden is None:
        return f"{path}: there is no golden picture; RTL_UPDATE=1 writes it"
    if "size" in result:
        return f"{path}: has another size: {result['size']}"
    if len(result["differs"]) <= SPARE and not result["thin"]:
        return ""
    write(seen_as + ".png", seen)
    write(seen_as + "-marked.png", result["marked"])
    positions = ", ".join(f"{x},{y} by {mean}" for x, y, mean in result["differs"][:8])
    tiles = ", ".join(f"{x},{y}: {nr}" for x, y, nr in result["thin"][:8])
    return (f"{path}: {len(result['differs'])} blocks of {5 * SCALE} pixels differ, at {positions or 'none'}; tiles of {8 * SCALE} pixels "
            f"with many that differ: {tiles or 'none'}; what was seen is {seen_as}.png, "
            f"and marked {seen_as}-marked.png; RTL_UPDATE=1 writes the golden picture anew")


def write(path, text):
    with open(path, "wb") as file:
        file.write(base64.b64decode(text))
