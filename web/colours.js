// SPDX-License-Identifier: MIT
// colours.js - the colours of slices: one for each name, light enough for dark text on them in both themes

const SLICE_COLOURS = ["#7fb3e6", "#f2b26b", "#8fd0a0", "#e89a9a", "#b9a3e3", "#d6c06a", "#7fd0d0", "#e6a3cf", "#a9c76f",
	"#c9ab8c", "#9fb4c9", "#e0b0a0"];
const SLICE_TEXT = "#10151c";

// The same name has the same colour in every report.
function colourOf(text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return SLICE_COLOURS[((hash ^ hash >>> 15) >>> 0) % SLICE_COLOURS.length];
}

// Colours of the page's style, for canvases.
function styleColour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
