# SPDX-License-Identifier: MIT
"""page.py - rows of bench.py about the page of `rtl report` in headless Chromium: opening and scrolling

The trace has a million kernels and as many calls, whose times are not regular: they hardly compress. Floors are of the
same browser: a file of the same size without a script, and a page that draws nothing.
"""
import glob
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))

from support import browser  # pylint: disable=wrong-import-position

OPEN_BUDGET = 2.0  # s
FRAMES = 57  # of 60 in a second: the browser itself misses some on a busy machine
TASK_MS = 50  # of the main thread: longer ones are felt

# What is counted from the beginning of the page on, before any script of it runs.
WATCH = """
window.watched = { tasks: 0, blocks: 0, bytes: 0 };
new PerformanceObserver(list => window.watched.tasks += list.getEntries().length).observe({ type: "longtask", buffered: true });
const arrayBuffer = Response.prototype.arrayBuffer;
Response.prototype.arrayBuffer = async function () { // what the page reads a decoded block with
	const data = await arrayBuffer.call(this);
	window.watched.blocks++;
	window.watched.bytes += data.byteLength;
	return data;
};
(function look() {
	const w = window.watched;
	if (window.rtlReport && !w.shown)
		requestAnimationFrame(() => setTimeout(() => w.shown = { ms: performance.now(), blocks: w.blocks, bytes: w.bytes }));
	if (document.body && document.body.dataset.loaded)
		w.loaded = performance.now();
	else
		requestAnimationFrame(look);
})();
"""

# Moves the picture in each frame for some seconds, as a wheel does.
SCROLL = """(async (seconds, move) => {
	const frame = () => new Promise(requestAnimationFrame);
	await frame();
	await frame();
	const begin = performance.now();
	let nr = 0, last = begin, longest = 0;
	while (performance.now() - begin < 1000 * seconds) {
		move(nr);
		await frame();
		const now = performance.now();
		longest = Math.max(longest, now - last);
		last = now;
		nr++;
	}
	return { frames: 1000 * nr / (last - begin), longest };
})"""


def cpu_seconds(page):
    return {m["name"]: m["value"] for m in page.call("Performance.getMetrics")["metrics"]}["TaskDuration"]


def scroll(page, seconds, move):
    """Frames in a second, the longest frame in ms, and ms of processor time of the main thread for a frame."""
    before = cpu_seconds(page)
    result = page.evaluate(f"{SCROLL}({seconds}, {move})")
    return result["frames"], result["longest"], 1e3 * (cpu_seconds(page) - before) / (result["frames"] * seconds)


def opened(pages, path, condition):
    page = pages.open(path, script=WATCH, domains=("Performance",))
    page.wait(f"window.watched && {condition}")
    return page


def write_report(bench, nr):
    spool, out = os.path.join(bench.dir, "page"), os.path.join(bench.dir, "page.html")
    env = {k: v for k, v in bench.tool("standard").items() if k != "HSA_TOOLS_LIB"}
    env["RTL_SPOOL_DIR"] = spool
    bench.run([bench.path("bench/make_spool"), f"dispatches={nr}", "calls=1", "noise=4000"], env)
    bench.run([bench.path("bin/rtl"), "report", "-q", "-o", out, *glob.glob(os.path.join(spool, "*.rtl"))])
    plain = os.path.join(bench.dir, "plain.html")
    with open(out, encoding="utf-8") as file, open(plain, "w", encoding="utf-8") as copy:
        copy.write(re.sub(r"<script>.*</script>", "", file.read(), flags=re.S))
    return out, plain


def report(bench):
    if not browser.find():
        bench.notes.append("page: not run: chromium is not installed (apt-get install chromium)")
        return
    nr, seconds = (20000, 0.5) if bench.quick else (1000000, 4)
    out, plain = write_report(bench, nr)
    label = f"report of {nr / 1e6:g} M kernels and calls"
    floors, shown, loaded = [], [], []
    with browser.Browser(bench.dir) as pages:
        for _ in range(bench.rounds):
            page = opened(pages, plain, "document.readyState === 'complete'")
            floors.append(page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive") / 1e3)
            page.call("Page.close")
            page = opened(pages, out, "watched.shown && watched.loaded")
            watched = page.evaluate("window.watched")
            shown.append(watched["shown"]["ms"] / 1e3)
            loaded.append(watched["loaded"] / 1e3)
            if len(shown) < bench.rounds:
                page.call("Page.close")
        seen = watched["shown"]
        bench.keep("page", {"shown": shown, "loaded": loaded, "floor": floors, "bytes": os.path.getsize(out)})
        name, value = "read without scripts", statistics.median(shown)
        bench.add(f"{label}, opened", value, "s", statistics.median(floors), name, [(f"<= {OPEN_BUDGET:g} s", value <= OPEN_BUDGET)],
                  low=min(shown), note=f"{os.path.getsize(out) / 1e6:.1f} MB; {seen['blocks']} of {watched['blocks']} blocks and "
                  f"{seen['bytes'] / 1e3:.0f} of {watched['bytes'] / 1e3:.0f} kB decoded before it")  # fmt: skip
        value = statistics.median(loaded)
        bench.add(f"{label}, all of it decoded", value, "s", statistics.median(floors), name, low=min(loaded),
                  note=f"{watched['tasks']} tasks over {TASK_MS} ms; main thread {cpu_seconds(page):.2f} s of processor")
        page.click_on("#tab-timeline")
        floor, _, floor_ms = scroll(page, seconds, "() => {}")
        for what, zoom in (("the whole trace", 1), ("a 40th", 1 / 40), ("a 4000th", 1 / 4000)):
            page.evaluate(f"(rtlReport.page.timeline.fitAll(), rtlReport.page.timeline.zoom({zoom}))")
            frames, longest, ms = scroll(page, seconds, "nr => rtlReport.page.timeline.pan(nr % 120 < 60 ? 0.01 : -0.01)")
            bench.keep(f"page, {what}", {"frames": frames, "longest_ms": longest, "cpu_ms": ms, "floor_cpu_ms": floor_ms})
            bench.add(f"{label}, scrolling {what}", frames, "frames/s", floor, "nothing is drawn", [(f">= {FRAMES}/s", frames >= FRAMES)],
                      note=f"main thread {ms:.1f} ms of processor for each, {floor_ms:.1f} ms if nothing is drawn; longest {longest:.0f} ms")
        if page.errors:
            bench.failures.append(f"page: {page.errors}")
