# SPDX-License-Identifier: MIT
"""browser.py - drives headless Chromium by the DevTools protocol over a pipe

	with Browser(profile_dir) as browser:
		page = browser.open("/tmp/report.html")
		page.evaluate("document.title")
Nothing but Python's standard library is needed. Every page keeps what it requested and what went wrong in it.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--force-color-profile=srgb")
LIMIT = 120  # seconds for one answer: it only ends a browser that hangs


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def axe(folder):
    """The script of axe-core, which finds what is not accessible. RTL_AXE names its file; else npm fetches it. None: neither."""
    path = os.environ.get("RTL_AXE")
    if not path:
        npm = shutil.which("npm")
        p = npm and subprocess.run([npm, "pack", "--silent", "axe-core@4.10.2"], cwd=folder, capture_output=True, timeout=90, check=False)
        packed = os.path.join(folder, "axe-core-4.10.2.tgz")
        if not p or p.returncode or not os.path.exists(packed):
            return None
        shutil.unpack_archive(packed, folder)
        path = os.path.join(folder, "package/axe.min.js")
    with open(path, encoding="utf-8") as file:
        return file.read() + "\n;1"


class Browser:
    def __init__(self, folder, *flags):
        profile = os.path.join(folder, "chromium-profile")
        shutil.rmtree(profile, ignore_errors=True)
        os.makedirs(profile)
        from_us, self.out = os.pipe()
        self.inp, to_us = os.pipe()
        # the browser has the pipe's ends as 3 and 4
        script = f'exec 3<&{from_us} 4>&{to_us} && exec "$0" "$@"'
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", script, find(), *FLAGS, *flags, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(from_us, to_us), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        os.close(from_us)
        os.close(to_us)
        self.rest = b""
        self.number = 0
        self.pages = {}
        self.profile = profile

    def __enter__(self):
        return self

    def __exit__(self, *error):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        """The next message; those that are events go to their page."""
        until = time.monotonic() + LIMIT
        while b"\0" not in self.rest:
            if not select.select([self.inp], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError("chromium does not answer")
            data = os.read(self.inp, 1 << 20)
            if not data:
                raise RuntimeError("chromium ended")
            self.rest += data
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        page = self.pages.get(message.get("sessionId"))
        if page and "method" in message:
            page.take(message["method"], message["params"])
        return message

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path, width=1280, height=800, dark=False, script=None, domains=()):
        """A page; `script` runs before those of the page. Its times are processor times, where Performance is a domain."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(domain + ".enable")
        for domain in domains:
            page.call(domain + ".enable", **({"timeDomain": "threadTicks"} if domain == "Performance" else {}))
        if script:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        page.look(width, height, dark)
        page.call("Page.navigate", url="file://" + os.path.abspath(path))
        return page


KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Home": 36, "End": 35}


class Page:
    def __init__(self, browser, session):
        self.browser = browser
        self.session = session
        self.requests = []  # URLs but the page's own
        self.errors = []  # messages of the console and exceptions

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def take(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])

    def look(self, width, height, dark=False, media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def evaluate(self, script):
        """The value of an expression; of a promise, what it resolves to."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait(self, condition):
        until = time.monotonic() + LIMIT
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > until:
                raise RuntimeError(f"this does not become true: {condition}; errors: {self.errors}")
            time.sleep(0.02)

    def key(self, key, modifiers=0):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = KEYS.get(key, ord(key[0].upper()))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, modifiers=modifiers, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y, **params):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **params)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, x0, y0, x1, y1, modifiers=0):
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1, modifiers=modifiers)
        for step in range(1, 5):
            self.mouse("mouseMoved", x0 + (x1 - x0) * step / 4, y0 + (y1 - y0) * step / 4, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1, modifiers=modifiers)

    def violations(self):
        """What axe finds, after its script was evaluated."""
        return self.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
                             "`${v.id}: ${v.nodes.map(n => n.target + ' ' + n.failureSummary).join('; ')}`))")

    def click_on(self, selector):
        x, y = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
                             "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        self.click(x, y)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
