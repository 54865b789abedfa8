// SPDX-License-Identifier: MIT
// layout.js - which rows the timeline has, and at which height

const AXIS_HEIGHT = 30, GROUP_HEIGHT = 24, ROW_HEIGHT = 17, COUNTER_HEIGHT = 36, LANE_GAP = 5;

// Items from top to bottom: { type: "group" | "lane", y, height, ... }. y is from the top of all of them.
class Layout {
	constructor(trace) {
		this.trace = trace;
		this.byStream = false;
		this.closed = new Set(); // names of groups whose lanes are not shown
		this.update();
	}

	// Names of the groups, from top to bottom.
	groups() {
		return this.items.filter(item => item.type === "group").map(item => item.name);
	}

	// Processes come first, then GPUs, as arrows go from calls to operations.
	lanes() {
		if (!this.byStream)
			return this.trace.queueLanes;
		const rest = this.trace.queueLanes.filter(lane => lane.kind !== "kernels" && lane.kind !== "copies");
		return [...rest, ...this.trace.lanesByStream()];
	}

	update() {
		const groups = new Map();
		for (const lane of this.lanes()) {
			if (!groups.has(lane.group))
				groups.set(lane.group, []);
			// the ranges of a thread are above its calls
			const lanes = groups.get(lane.group), before = lanes[lanes.length - 1];
			if (lane.kind === "ranges" && before && before.name.replace("calls", "ranges") === lane.name)
				lanes.splice(-1, 0, lane);
			else
				lanes.push(lane);
		}
		this.items = [];
		let y = 0;
		for (const [name, lanes] of groups) {
			const isClosed = this.closed.has(name);
			this.items.push({ type: "group", name, y, height: GROUP_HEIGHT, isClosed });
			y += GROUP_HEIGHT;
			for (const lane of isClosed ? [] : lanes) {
				const rowHeight = lane.kind === "counter" ? COUNTER_HEIGHT : ROW_HEIGHT;
				const height = lane.rows.length * rowHeight + LANE_GAP;
				this.items.push({ type: "lane", lane, y, height, rowHeight });
				y += height;
			}
		}
		this.height = y + 8;
	}

	itemAt(y) {
		return this.items.find(item => y >= item.y && y < item.y + item.height) || null;
	}

	rowAt(y) {
		const item = this.itemAt(y);
		if (!item || item.type !== "lane")
			return null;
		return item.lane.rows[Math.floor((y - item.y) / item.rowHeight)] || null;
	}

	// Where a row is: { y, height }, or null if its group is closed.
	positionOf(row) {
		const item = this.items.find(i => i.type === "lane" && i.lane === row.lane);
		return item ? { y: item.y + item.lane.rows.indexOf(row) * item.rowHeight, height: item.rowHeight } : null;
	}

	toggle(name) {
		if (!this.closed.delete(name))
			this.closed.add(name);
		this.update();
	}
}
