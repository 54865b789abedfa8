#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""draw_pictures.py - makes the pictures of the documents: pages of `rtl report` and `rtl fleet`, in headless Chromium

Usage: tools/draw_pictures.py [BUILD]		build/dev by default; writes docs/pictures/*.png

Each picture is of a program of the examples on the virtual GPU, as README.md and docs/tutorial.md run it; that of `rtl fleet` of a made job.
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE, "tests"))

from support import browser  # pylint: disable=wrong-import-position

def traced(rtl, folder, name, program, kernel_ns):
    """The database and the page of a program, which sees no path of this machine."""
    link = os.path.join(folder, os.path.basename(program[0]))
    if not os.path.lexists(link):
        os.symlink(program[0], link)
    for argv in ([rtl, "trace", "-q", "--virtual-gpu", "-o", name + ".db", "--", "./" + os.path.basename(link), *program[1:]],
                 [rtl, "report", "-q", name + ".db"]):
        subprocess.run(argv, check=True, cwd=folder, env={**os.environ, "VGPU_KERNEL_NS": str(kernel_ns)}, stdout=subprocess.DEVNULL)
    return os.path.join(folder, name + ".db"), os.path.join(folder, name + ".html")


def draw(pages, picture, traced_as, name, first, last, height, selected=None):
    """The timeline from the first-th to the last-th range of that name; the n-th dispatch in it is selected."""
    database, page = traced_as
    with contextlib.closing(sqlite3.connect(database)) as db:
        ids = [row[0] for row in db.execute("select marker_id from rtl_marker where message = ? order by begin_ns", (name,))]
        dispatches = [row[0] for row in db.execute(
            "select D.op_id from rtl_dispatch D, rtl_marker M where M.marker_id = ? and D.begin_ns >= M.begin_ns and not D.flags & 32 "
            "order by D.begin_ns", (ids[first - 1],))]
    shown = pages.open(page, 1240, height)
    shown.wait("document.body && document.body.dataset.loaded")
    shown.evaluate("rtlReport.page.open('timeline')")
    shown.evaluate(f"""(() => {{
        const find = id => rtlReport.trace.find(["ranges"], "id", id);
        rtlReport.page.timeline.fit(find({ids[first - 1]}).begin, find({ids[last - 1]}).end);
    }})()""")
    if selected:
        shown.evaluate(f"rtlReport.page.timeline.select(rtlReport.trace.find(['kernels'], 'id', {dispatches[selected]}))")
    shown.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shown.screenshot(picture)


def draw_fleet(pages, picture, rtl, build, folder):
    """The heat maps of the made job of docs/fleet.md."""
    subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "tests/support/job.py"), "run1"], check=True, cwd=folder,
                   env={**os.environ, "RTL_BUILD": build, "RTL_SOURCE": SOURCE})
    subprocess.run([rtl, "fleet", "-q", "-f", "html", "--engine", "sqlite", "-o", "run1.html", "run1"], check=True, cwd=folder)
    shown = pages.open(os.path.join(folder, "run1.html"), 1240, 560)
    shown.wait("document.body && document.body.dataset.loaded")
    shown.evaluate("document.querySelector('main').scrollTop = document.getElementById('busy-box').closest('section').offsetTop - 60")
    shown.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shown.screenshot(picture)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "build/dev")
    rtl = os.path.join(build, "bin/rtl")
    out = os.path.join(SOURCE, "docs/pictures")
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser.Browser(folder) as pages:
        def picture(name, program, kernel_ns, *what):
            program[0] = os.path.join(build, "examples", program[0])
            draw(pages, os.path.join(out, name + ".png"), traced(rtl, folder, name, program, kernel_ns), *what)

        draw_fleet(pages, os.path.join(out, "fleet.png"), rtl, build, folder)
        picture("timeline", ["network"], 2000000, "step", 20, 21, 560, 1)
        picture("tutorial-before", ["frames"], 4000000, "frame", 20, 23, 400)
        picture("tutorial-after", ["frames", "48", "mended"], 4000000, "frame", 20, 27, 420)


main()
