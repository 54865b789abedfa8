// SPDX-License-Identifier: MIT
// trace.js - the trace in memory: lanes, rows, blocks, and how slices are found
//
// A slice is named by its row and its number in the row. Times are ns since the trace's first event.

// Of slices: enum rec_flags of the record format, and QUERY_F_PLACED.
const FLAG = { hadSignal: 1, inverted: 2, noTime: 4, unfinished: 8, graph: 16, internal: 32, shared: 64, placed: 65536 };
const UNTIMED = FLAG.inverted | FLAG.noTime | FLAG.unfinished | FLAG.placed;
const MARKER_KINDS = ["mark", "push range", "start range"];

// The first index in [low, high) for which is(index), which stays true behind it; or high.
function firstIndex(low, high, is) {
	while (low < high) {
		const middle = (low + high) >> 1;
		if (is(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

class Row {
	constructor(lane, blocks, groups) {
		this.lane = lane;
		this.groups = groups;
		this.blocks = [];
		this.count = 0;
		for (const [number, count, begin, end, hasTexts] of blocks) {
			this.blocks.push({ number, count, begin, end, hasTexts, first: this.count, data: null, texts: null });
			this.count += count;
		}
	}

	blockOf(index) {
		const blocks = this.blocks;
		return blocks[firstIndex(0, blocks.length, i => blocks[i].first + blocks[i].count > index)];
	}

	// The largest value of a group of a counter's row; 0 while it is not decoded.
	peak(group) {
		this.peaks ??= new Float64Array(this.groups.count).fill(-1);
		if (this.peaks[group] < 0) {
			let most = 0;
			for (let index = this.groups.first[group]; index < this.groups.first[group + 1]; index++) {
				const block = this.blockOf(index);
				if (!block.data)
					return 0;
				most = Math.max(most, block.data.value[index - block.first]);
			}
			this.peaks[group] = most;
		}
		return this.peaks[group];
	}

	// A slice as an object; null while its block is not decoded.
	slice(index) {
		const block = this.blockOf(index);
		if (!block || !block.data)
			return null;
		const at = index - block.first, data = block.data;
		return {
			row: this, index, lane: this.lane,
			begin: data.begin[at], duration: data.duration[at], end: data.begin[at] + data.duration[at],
			name: data.name[at], flags: data.flags[at], id: data.id[at], call: data.call[at],
			marker: data.marker[at], extra: data.extra[at], text: data.text[at], bytes: data.bytes[at],
			value: data.value ? data.value[at] : undefined,
		};
	}

	// The number of the last slice that begins at `time` or before it, -1: none, or it is not decoded.
	lastBefore(time) {
		const blocks = this.blocks;
		const at = firstIndex(0, blocks.length, i => blocks[i].begin > time) - 1;
		if (at < 0 || !blocks[at].data)
			return -1;
		const begin = blocks[at].data.begin;
		return blocks[at].first + firstIndex(0, begin.length, i => begin[i] > time) - 1;
	}
}

class Trace {
	constructor(main, levels) {
		Object.assign(this, main);
		const from = new Varints(levels);
		for (const lane of this.lanes)
			lane.rows = lane.rows.map(blocks => new Row(lane, blocks, decodeGroups(from)));
		this.queueLanes = this.lanes;
		this.streamLanes = null;
		this.messages = null; // of MPI
		this.isLoaded = false;
		this.onBlock = () => {};
	}

	// All rows that have blocks of their own, not those by stream.
	*rows() {
		for (const lane of this.queueLanes)
			yield* lane.rows;
	}

	// Decodes all blocks, what `wanted` asks for first. The page can be used meanwhile.
	async load() {
		const waiting = [];
		for (const row of this.rows())
			for (const block of row.blocks)
				waiting.push({ row, block });
		waiting.sort((a, b) => a.block.begin - b.block.begin);
		let loaded = 0;
		for (const { row, block } of waiting) {
			block.data = decodeSlices(await readBlock("b" + block.number), block.count, row.lane.kind === "counter");
			this.onBlock(++loaded, waiting.length);
		}
		if (this.nr_messages)
			this.messages = new window.rtlMessages(this, new Varints(await readBlock("messages")));
		this.isLoaded = true;
	}

	async argumentsOf(slice) {
		const block = slice.row.blockOf(slice.index);
		if (!block.hasTexts)
			return "";
		if (!block.texts)
			block.texts = decodeTexts(block.number);
		return (await block.texts)[slice.index - block.first];
	}

	// The first slice of lanes of those kinds for which the column has the value; null: none.
	find(kinds, column, value) {
		for (const slice of this.findAll(kinds, column, value, 1))
			return slice;
		return null;
	}

	findAll(kinds, column, value, most) {
		const found = [];
		for (const row of this.rows()) {
			if (!kinds.includes(row.lane.kind))
				continue;
			for (const block of row.blocks) {
				const values = block.data ? block.data[column] : [];
				for (let at = values.indexOf(value); at >= 0; at = values.indexOf(value, at + 1)) {
					found.push(row.slice(block.first + at));
					if (found.length >= most)
						return found;
				}
			}
		}
		return found;
	}

	callOf(slice) {
		return slice.call && slice.lane.kind !== "counter" ? this.find(["calls"], "id", slice.call) : null;
	}

	operationsOf(call, most = 1000) {
		return call.id ? this.findAll(["kernels", "copies", "runtime"], "call", call.id, most) : [];
	}

	// What messages a call has sent and received.
	messagesOf(slice) {
		return this.messages ? this.messages.of(slice) : { sent: [], received: [] };
	}

	// The kernel of a rank of a collective, or its call of MPI.
	sliceOfRank(rank) {
		return rank.id < 0 ? this.find(["calls"], "id", -rank.id) : this.find(["kernels"], "id", rank.id);
	}

	// The collective that a kernel or a call is of, or that a slice of the lane of collectives shows: { slice, number, type, cause, ranks }, with
	// { id, wait, name } of each rank, the last one to come first; null: none.
	async collectiveOf(slice) {
		const isWhole = slice.lane.kind === "collectives", isCall = slice.lane.kind === "calls" && this.names[slice.name].startsWith("MPI_");
		if (!isWhole && !isCall && slice.lane.kind !== "kernels")
			return null;
		const found = [];
		for (const row of this.rows())
			if (row.lane.kind === "collectives" && (!isWhole || row === slice.row))
				this.each(row, slice.begin, slice.end, (data, at, block) => found.push(row.slice(block.first + at)));
		for (const one of isWhole ? [slice] : found) {
			const [head, ...lines] = (await this.argumentsOf(one)).split("\n").map(line => line.split("\t"));
			const ranks = lines.map(([id, wait, name]) => ({ id: Number(id), wait: Number(wait), name }));
			if (isWhole || ranks.some(rank => rank.id === (isCall ? -slice.id : slice.id)))
				return { slice: one, number: Number(head[0]), type: head[1], cause: head[2], ranks };
		}
		return null;
	}

	// Visits slices of a row that are, in part, between two times: visit(data, at, block) for each.
	each(row, begin, end, visit) {
		for (const block of row.blocks) {
			if (!block.data || block.end < begin || block.begin > end)
				continue;
			const data = block.data;
			let at = firstIndex(0, block.count, i => data.begin[i] >= begin);
			if (at > 0 && data.begin[at - 1] + data.duration[at - 1] > begin)
				at--;
			for (; at < block.count && data.begin[at] <= end; at++)
				visit(data, at, block);
		}
	}

	// The same operations by stream instead of by queue; made when first asked for.
	lanesByStream() {
		if (this.streamLanes)
			return this.streamLanes;
		const of = new Map();
		for (const row of this.rows()) {
			if (row.lane.kind !== "kernels" && row.lane.kind !== "copies")
				continue;
			for (const block of row.blocks)
				for (let at = 0; at < block.count; at++) {
					const key = `${row.lane.group}\0${row.lane.pid}\0${block.data.extra[at]}`;
					if (!of.has(key))
						of.set(key, { lane: row.lane, stream: block.data.extra[at], slices: [] });
					of.get(key).slices.push({ data: block.data, at });
				}
		}
		this.streamLanes = [...of.values()].map(({ lane, stream, slices }) => this.laneOf(lane, stream, slices));
		this.streamLanes.sort((a, b) => a.group < b.group ? -1 : a.group > b.group ? 1 : a.name < b.name ? -1 : 1);
		return this.streamLanes;
	}

	laneOf(like, stream, slices) {
		const name = (stream ? this.names[stream] : "no known stream") +
			(this.processes.length > 1 && like.pid ? ` (process ${like.pid})` : "");
		const lane = { kind: "kernels", group: like.group, name, pid: like.pid, count: slices.length, crowded: 0, rows: [] };
		const rows = [];
		slices.sort((a, b) => a.data.begin[a.at] - b.data.begin[b.at]);
		for (const slice of slices) {
			const begin = slice.data.begin[slice.at];
			let row = rows.find(r => r.end <= begin);
			if (!row)
				rows.push(row = { end: 0, slices: [] });
			row.end = begin + Math.max(1, slice.data.duration[slice.at]);
			row.slices.push(slice);
		}
		lane.rows = rows.map(row => rowOf(lane, row.slices, this.span));
		return lane;
	}
}

// A row made in the page: one decoded block.
function rowOf(lane, slices, span) {
	const data = {};
	for (const [column, like] of Object.entries(slices[0].data)) {
		data[column] = new like.constructor(slices.length);
		for (let i = 0; i < slices.length; i++)
			data[column][i] = slices[i].data[column][slices[i].at];
	}
	const last = slices.length - 1;
	const row = new Row(lane, [[-1, slices.length, data.begin[0], data.begin[last] + data.duration[last], 0]], groupsOf(data, span));
	row.blocks[0].data = data;
	return row;
}

// As add_to_groups() in page_lane.c.
function groupsOf(data, span) {
	const groups = { count: 0, first: [0], begin: [], end: [], busy: [], name: [] };
	let longest = 0;
	for (let i = 0; i < data.begin.length; i++) {
		const begin = data.begin[i], duration = data.duration[i];
		let g = groups.count - 1;
		if (g < 0 || i - groups.first[g] === 64 || begin - groups.end[g] > span / 4096) {
			g = groups.count++;
			groups.first[g] = i;
			groups.begin[g] = begin;
			groups.end[g] = begin;
			groups.busy[g] = 0;
			longest = -1;
		}
		groups.end[g] = Math.max(groups.end[g], begin + duration);
		groups.busy[g] += duration;
		if (duration > longest) {
			longest = duration;
			groups.name[g] = data.name[i];
		}
	}
	groups.first[groups.count] = data.begin.length;
	return groups;
}
