// SPDX-License-Identifier: MIT
// decode.js - reads the blocks that src/export/report/page_block.c and page_lane.c write

// The bytes of a block's element, which is removed: BASE64 of a zlib stream.
async function readBlock(id) {
	const element = byId(id);
	const packed = fromBase64(element.textContent);
	element.remove();
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

// Numbers of 7 bits in a byte, the low ones first.
class Varints {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	// Up to 2^53.
	next() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127;
		for (let shift = 7; shift < 28; shift += 7) {
			byte = bytes[this.at++];
			value |= (byte & 127) << shift;
			if (byte < 128)
				return value;
		}
		for (let scale = 2 ** 28; ; scale *= 128) {
			byte = bytes[this.at++];
			value += (byte & 127) * scale;
			if (byte < 128)
				return value;
		}
	}

	// Most numbers have one byte or two: they are read here, without a call for each.
	column(count, array) {
		const bytes = this.bytes;
		for (let i = 0; i < count; i++) {
			const low = bytes[this.at], high = bytes[this.at + 1];
			if (low < 128) {
				array[i] = low;
				this.at++;
			} else if (high < 128) {
				array[i] = low & 127 | high << 7;
				this.at += 2;
			} else
				array[i] = this.next();
		}
		return array;
	}

	// Differences with their sign in bit 0, added up.
	deltas(count, array) {
		const bytes = this.bytes;
		let value = 0;
		for (let i = 0; i < count; i++) {
			const low = bytes[this.at], high = bytes[this.at + 1];
			if (low < 128) {
				value += low >>> 1 ^ -(low & 1);
				this.at++;
			} else if (high < 128) {
				const code = low & 127 | high << 7;
				value += code >>> 1 ^ -(code & 1);
				this.at += 2;
			} else {
				const code = this.next();
				value += code % 2 ? -(code + 1) / 2 : code / 2;
			}
			array[i] = value;
		}
		return array;
	}
}

// The columns of a block of slices: PAGE_COLUMNS in page_internal.h.
function decodeSlices(bytes, count, hasValues) {
	const from = new Varints(bytes);
	const data = {
		begin: from.deltas(count, new Float64Array(count)),
		duration: from.column(count, new Float64Array(count)),
		name: from.column(count, new Uint32Array(count)),
		flags: from.column(count, new Uint32Array(count)),
		id: from.deltas(count, new Float64Array(count)),
		call: from.deltas(count, new Float64Array(count)),
		marker: from.deltas(count, new Float64Array(count)),
		extra: from.deltas(count, new Int32Array(count)),
		text: from.column(count, new Uint32Array(count)),
		bytes: from.column(count, new Float64Array(count)),
	};
	if (hasValues)
		data.value = new Float64Array(bytes.slice(from.at, from.at + 8 * count).buffer);
	return data;
}

// The groups of the next row in the block of levels; `first` is the number of a group's first slice in its row.
function decodeGroups(from) {
	const count = from.next();
	const groups = {
		count,
		first: new Uint32Array(count + 1),
		begin: new Float64Array(count),
		end: new Float64Array(count),
		busy: new Float64Array(count),
		name: new Uint32Array(count),
	};
	let begin = 0;
	for (let i = 0; i < count; i++) {
		groups.first[i + 1] = groups.first[i] + from.next();
		begin += from.next();
		groups.begin[i] = begin;
		groups.end[i] = begin + from.next();
		groups.busy[i] = from.next();
		groups.name[i] = from.next();
	}
	return groups;
}

async function decodeMain() {
	return JSON.parse(new TextDecoder().decode(await readBlock("main")));
}

// The arguments of the calls of a block, in the order of its slices.
async function decodeTexts(number) {
	return new TextDecoder().decode(await readBlock("t" + number)).split("\0");
}
