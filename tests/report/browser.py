"""A headless Chromium, spoken to over two pipes (the DevTools protocol); needs nothing but Python."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            raise SystemExit(77)
        self.folder = tempfile.mkdtemp()
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()

        def wire():
            # the browser reads from 3 and writes to 4; first out of the way of those numbers
            a, b = os.dup(to_browser), os.dup(from_browser)
            while a < 5 or b < 5:
                a, b = os.dup(a), os.dup(b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
             "--hide-scrollbars", "--user-data-dir=" + self.folder, "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.number, self.events = b"", 0, []

    def close(self):
        try:
            self.ask("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.pending:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                return None
            piece = os.read(self.read, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has gone")
            self.pending += piece
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, session=None, seconds=120, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.write, text):]
        while True:
            answer = self.receive(seconds)
            if answer is None:
                raise RuntimeError(f"{method}: no answer in {seconds} s")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)


class Page:
    """A file, opened; what it logged and what it asked the network for."""

    def __init__(self, browser, path, width=1280, height=900, dark=False):
        self.browser = browser
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        browser.events.clear()
        self.url = "file://" + os.path.abspath(path)
        self.ask("Page.navigate", url=self.url)
        end = time.monotonic() + 60
        while not self.run("document.readyState === 'complete' && (Boolean(window.gessReport) || !document.getElementById('data'))"):
            if time.monotonic() > end:
                raise RuntimeError("the page is not ready after a minute: " + "; ".join(self.complaints()))
            time.sleep(0.05)
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def ask(self, method, **parameters):
        return self.browser.ask(method, session=self.session, **parameters)

    def run(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def _mine(self):
        return [e for e in self.browser.events if e.get("sessionId") == self.session]

    def complaints(self):
        """Errors and warnings of the console, and exceptions that nobody caught."""
        out = []
        for e in self._mine():
            p = e["params"]
            if e["method"] == "Runtime.exceptionThrown":
                out.append(json.dumps(p["exceptionDetails"])[:400])
            if e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                out.append(json.dumps(p["args"])[:400])
            if e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                out.append(json.dumps(p["entry"])[:400])
            if e["method"] == "Page.javascriptDialogOpening":
                out.append("a dialog: " + p["message"])
        return out

    def requests(self):
        """What was asked for beside the file itself and data within it."""
        urls = [e["params"]["request"]["url"] for e in self._mine() if e["method"] == "Network.requestWillBeSent"]
        return [u for u in urls if u.split("#")[0] != self.url and not u.startswith("data:")]

    def screenshot(self, path, full=True):
        parameters = {"format": "png"}
        if full:
            size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
            parameters |= {"captureBeyondViewport": True,
                           "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.ask("Page.captureScreenshot", **parameters)["data"]))

    def close(self):
        self.browser.ask("Target.closeTarget", targetId=self.target)
