// SPDX-License-Identifier: MIT
// dom.js - makes elements; texts of the trace become text nodes, never markup

// h("td", { class: "number", title: "exact" }, "text", element, ...); a property that begins with "on" is a listener.
function h(tag, properties, ...children) {
	return fill(document.createElement(tag), properties, children);
}

function svg(tag, properties, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
	for (const [name, value] of Object.entries(properties || {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else
			element.setAttribute(name, value === true ? "" : String(value));
	}
	for (const child of children.flat())
		if (child !== null && child !== undefined)
			element.append(child instanceof Node ? child : document.createTextNode(String(child)));
	return element;
}

function byId(id) {
	return document.getElementById(id);
}

// A name of the trace as an element: whole, from left to right whatever its letters are.
function nameElement(name, properties) {
	return h("bdi", { dir: "ltr", class: "name", ...properties }, visible(name));
}

// Notifies screen readers.
function announce(text) {
	byId("live").textContent = text;
}
