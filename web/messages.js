// SPDX-License-Identifier: MIT
// messages.js - messages of MPI: from the begin of the call that sends one to the end of the call in which it is received
//
// A script of its own, which is in pages with messages alone: it uses nothing of the others.

const FEW_MESSAGES = 60; // so many in sight have their arrows without being asked for

window.rtlMessages = class {
	// When all calls are decoded. `from`: numbers, in columns as in page_messages.c.
	constructor(trace, from) {
		const count = trace.nr_messages, calls = new Map();
		const [sends, receives] = [0, 0].map(() => from.deltas(count, new Float64Array(count)));
		const [sizes, tags] = [0, 0].map(() => from.column(count, new Float64Array(count)));
		for (const id of [...sends, ...receives])
			calls.set(id, null);
		for (const row of trace.rows())
			for (const { data, count: nr, first } of row.lane.kind === "calls" ? row.blocks : [])
				for (let at = 0; at < nr; at++)
					if (calls.has(data.id[at]))
						calls.set(data.id[at], { row, index: first + at, id: data.id[at], begin: data.begin[at], end: data.begin[at] + data.duration[at], sent: [], received: [] });
		this.calls = calls;
		this.all = [];
		for (let i = 0; i < count; i++) {
			const send = calls.get(sends[i]), receive = calls.get(receives[i]);
			if (!send || !receive)
				continue;
			const message = { from: send, to: receive, at: receive.end, bytes: sizes[i], tag: tags[i] };
			send.sent.push(message);
			receive.received.push(message);
			this.all.push(message);
		}
		this.all.sort((a, b) => a.from.begin - b.from.begin);
	}

	// What a call has sent, and what it has received.
	of(slice) {
		return slice.lane.kind === "calls" && this.calls.get(slice.id) || { sent: [], received: [] };
	}

	// Those that are under way between two times; none if they are more than a few.
	inSight(begin, end) {
		const found = [];
		for (const message of this.all) {
			if (message.from.begin > end)
				break;
			if (message.at < begin)
				continue;
			if (found.length === FEW_MESSAGES)
				return [];
			found.push(message);
		}
		return found;
	}
};
