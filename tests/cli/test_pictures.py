#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages of rtl report and rtl diff as pictures, light and dark, against golden ones; RTL_UPDATE=1 writes those anew."""
import subprocess

from support import browser, pictures, spool
from support.cli import *

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")
PARTS = ("_Z9rms_normPfPKfi", "void mylib::detail::gemm<float, 128, 64>(float*, float const*, float const*, int)", "_Z7softmaxPfPKfi",
         "void mylib::detail::gemm<float, 32, 32>(float*, float const*, float const*, int)", "_Z8gelu_addPfPKfS1_i")
SHARES = (40, 310, 90, 190, 60)


def training(steps=24, slow=1):
    """Two GPUs, which train: steps with layers, their launches, copies in and out, a call that fails, a gap."""
    s = spool.sample(0, 4242)
    s.clock(1_790_000_000_000_000_000)
    launch = s.op(1, "hipLaunchKernel",
                  "function_address:p:kernel,numBlocks:d:grid,dimBlocks:d:block,kernel:s:name,sharedMemBytes:z:shared,stream:h:stream")
    copy = s.op(2, "hipMemcpyAsync", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
    malloc = s.op(3, "hipMalloc", "ptr:p,size:z,*ptr:p")
    wait = s.op(4, "hipStreamSynchronize", "stream:h:stream")
    names = [s.string(name) for name in PARTS]
    kernels = [[s.kernel(name, gpu + 1) for name in PARTS] for gpu in range(2)]
    at = s.start + 400_000
    s.api(malloc, at - 200_000, at - 150_000, (0x7000, 1 << 50, 0), status=2)
    for step in range(steps):
        outer, begin = s.marker(at, f"step {step}"), at
        own = s.api(copy, at + 2_000, at + 12_000, (0x1, 0x2, 1 << 22, 1, 0x55AA))
        s.copy(at + 10_000, at + 130_000, 1 << 22, correlation=own, marker=outer)
        free = [at + 140_000, at + 150_000]
        at += 20_000
        for layer in range(3):
            inner = s.marker(at, ("embed", "attention", "mlp")[layer], level=1, parent=outer)
            for part, share in enumerate(SHARES):
                for gpu in range(2):
                    ns = int(share * 1000 * (slow if part == 1 else 1)) + 700 * ((step * 7 + layer * 3 + part) % 5)
                    own = s.api(launch, at, at + 6_000, (0x4000, 4 | 1 << 32, 1, 256 | 1 << 32, 1, names[part], 0, (0x55AA, 0x66BB)[gpu]))
                    free[gpu] = max(free[gpu], at + 9_000)
                    s.dispatch(kernels[gpu][part], gpu, free[gpu], free[gpu] + ns, inner, correlation=own)
                    free[gpu] += ns + 2_000
                    at += 8_000
            s.marker_end(at, inner)
        s.api(wait, at, max(free), (0x55AA,))
        at = max(free) + (40_000 if step != 11 else 4_000_000)
        s.marker_end(at - 10_000, outer)
        assert at > begin
    s.loss("buffer_full", 17)
    return s


class Pictures(Case):
    @classmethod
    def setUpClass(cls):
        if not browser.find():
            raise unittest.SkipTest("chromium is not installed")
        cls.shared = tempfile.mkdtemp(prefix="rtl-pictures-")
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        for name, slow in (("training", 1), ("slower", 1.2)):
            training(slow=slow).write(os.path.join(cls.shared, name + ".rtl"))
            for argv in (["recover", "-q", name + ".rtl", "-o", name + ".db"], ["report", "-q", name + ".db"]):
                subprocess.run([RTL_BIN, *argv], cwd=cls.shared, env=environment(), check=True, timeout=60)
        with open(os.path.join(cls.shared, "diff.html"), "wb") as file:
            subprocess.run([RTL_BIN, "diff", "training.db", "slower.db", "-f", "html"], cwd=cls.shared, env=environment(), stdout=file, check=True,
                           timeout=60)
        cls.browser = browser.Browser(cls.shared)
        cls.addClassCleanup(cls.browser.__exit__)
        empty = os.path.join(cls.shared, "empty.html")
        with open(empty, "w", encoding="ascii") as file:
            file.write("<!doctype html><title>pictures</title>")
        cls.looking = cls.browser.open(empty)

    def open(self, name="training", **how):
        page = self.browser.open(os.path.join(self.shared, name + ".html"), **how)
        self.addCleanup(page.call, "Page.close")
        page.wait("document.body && document.body.dataset.loaded" if name != "diff" else "document.querySelector('table')")
        if not pictures.same_font(page):
            self.skipTest(f"the font {pictures.FONT} is not installed, in which the golden pictures are (fonts-dejavu-core)")
        # versions and builds differ in it
        page.evaluate("document.querySelectorAll('p.hint').forEach(p => p.textContent.includes('Written by') && p.remove())")
        return page

    def difference(self, page, name):
        return pictures.compare(page, self.looking, os.path.join(GOLDEN, name + ".png"), self.path(name))

    def test_pages_look_as_their_golden_pictures(self):
        found = []
        for theme in ("light", "dark"):
            page = self.open(dark=theme == "dark")
            found.append(self.difference(page, "overview-" + theme))
            page.click_on("#tab-kernels")
            page.click_on("#kernels-table tbody th button")
            page.wait("document.querySelector('#kernels-picked svg')")
            page.evaluate("window.scrollTo(0, 0)")
            found.append(self.difference(page, "kernels-" + theme))
            page.click_on("#tab-timeline")
            page.evaluate("""(() => {
                const t = rtlReport.page.timeline, name = text => rtlReport.trace.names.findIndex(n => n.includes(text));
                const step = rtlReport.trace.find(["ranges"], "name", name("step 3"));
                t.fit(step.begin, step.end);
                t.select(rtlReport.trace.findAll(["kernels"], "name", name("32, 32"), 1000).find(k => k.begin > step.begin));
            })()""")
            page.mouse("mouseMoved", 2, 2)
            found.append(self.difference(page, "timeline-" + theme))
            if theme == "light" and not os.environ.get("RTL_UPDATE"):
                page.evaluate("(t => { t.arrows = []; t.redraw(); })(rtlReport.page.timeline)")
                self.assertIn("tiles of 32 pixels", self.difference(page, "timeline-light"), "an arrow that is missing is not found")
            found.append(self.difference(self.open("diff", dark=theme == "dark"), "diff-" + theme))
        self.assertEqual([text for text in found if text], [])


if __name__ == "__main__":
    unittest.main()
