// SPDX-License-Identifier: MIT
// format.js - numbers with units, and names as they can be shown safely

// Three digits and more for larger numbers: 1.23, 12.3, 123. Whole numbers of `isWhole` units stay whole.
function digits(value, isWhole) {
	const size = Math.abs(value);
	return value.toFixed(size >= 100 || isWhole && Number.isInteger(value) || value === 0 ? 0 : size >= 10 ? 1 : 2);
}

// ns as text: "1.23 ms". Exact values are in titles: see exactTime().
function formatTime(ns) {
	const size = Math.abs(ns);
	if (size < 1e3)
		return digits(ns, true) + " ns";
	if (size < 1e6)
		return digits(ns / 1e3) + " \u00b5s";
	if (size < 1e9)
		return digits(ns / 1e6) + " ms";
	if (size < 60e9)
		return digits(ns / 1e9) + " s";
	const minutes = Math.floor(ns / 60e9);
	return `${minutes} min ${digits((ns - minutes * 60e9) / 1e9)} s`;
}

function formatCount(n) {
	if (n !== 0 && Math.abs(n) < 1)
		return String(Number(n.toPrecision(3)));
	return n.toLocaleString("en", { maximumFractionDigits: Math.abs(n) < 100 ? 2 : 0 });
}

function exactTime(ns) {
	return formatCount(ns) + " ns";
}

const BYTE_UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

function formatBytes(bytes) {
	let unit = 0;
	while (Math.abs(bytes) >= 1024 && unit < BYTE_UNITS.length - 1) {
		bytes /= 1024;
		unit++;
	}
	return `${digits(bytes, true)} ${BYTE_UNITS[unit]}`;
}

// Large numbers of something: "1.23 T" and a unit.
function formatScaled(value, unit) {
	const prefixes = ["", "k", "M", "G", "T", "P", "E"];
	let at = 0;
	while (Math.abs(value) >= 1000 && at < prefixes.length - 1) {
		value /= 1000;
		at++;
	}
	return `${digits(value, true)} ${prefixes[at]}${unit}`;
}

function formatRate(bytesPerSecond) {
	return formatScaled(bytesPerSecond, "B/s");
}

function formatShare(share) {
	const percent = 100 * share;
	return percent.toFixed(percent < 1 || (percent > 99 && percent < 100) ? 2 : 1) + " %";
}

// Characters that are invisible, or that change the order of others.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

// A name of the trace with such characters written out: a name can't imitate another, or disturb what is around it.
function visible(name) {
	return name.replace(HIDDEN, c => `\u27e8U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

// A kernel's name without result and parameters, and without template arguments where `isShort`, for narrow spaces. Names are
// whole everywhere else.
function shortName(name, isShort = true) {
	let depth = 0, out = "", result = "";
	const text = name.replace(/\(anonymous namespace\)/g, "{anonymous}");
	for (const c of text) {
		if (c === "(" && depth === 0)
			break;
		if (c === "<")
			depth++;
		if (depth === 0 || !isShort)
			out += c;
		if (c === " " && depth === 0)
			result = out;
		if (c === ">" && depth > 0)
			depth--;
	}
	const last = text.includes("(") ? out.slice(result.length).trim() : out.trim();
	return visible(last || name);
}
