"""A browser, driven over WebDriver with nothing but Python's own library."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One chromium with a profile of its own; gone at the end of the `with`."""

    def __init__(self):
        # The test's thread blocks signals, and what it starts inherits that: SIGTERM would end nobody.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        self.profile = tempfile.mkdtemp(prefix="ridepulse-browser-")
        self.base = None
        # It takes one free port in IPv4 and wants the same in IPv6, which another may have.
        for _ in range(5):
            if port := self.start():
                self.base = f"http://127.0.0.1:{port}"
                return
            self.driver.kill()
            self.driver.wait()
        self.end()
        raise SystemExit("chromedriver did not start")

    def start(self):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "HOME": self.profile})
        for line in self.driver.stdout:
            if "successfully on port " in line:
                return line.rsplit("on port ", 1)[1].strip().rstrip(".")
        return None

    def __enter__(self):
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--force-color-profile=srgb", "--lang=en-GB",
                     "--no-first-run", f"--user-data-dir={self.profile}/chromium"]
        try:
            answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": {"args": arguments},
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        except BaseException:
            self.end()
            raise
        self.session = f"/session/{answer['sessionId']}"
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", self.session)
        except Exception:  # It ends with its driver all the same.
            pass
        self.end()

    def end(self):
        self.driver.kill()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=240) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()[:800]}") from None

    def go(self, url):
        self.call("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", self.session + "/execute/sync",
                         {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def cdp(self, command, **parameters):
        return self.call("POST", self.session + "/goog/cdp/execute",
                         {"cmd": command, "params": parameters})

    def size(self, width, height=900):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)

    def scheme(self, word):
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": word}])

    def keys(self, text):
        """Presses keys as a person would, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": actions}]})

    def until(self, what, script, *arguments, limit=240):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"never: {what}; the page says: {self.text('body')[:3000]}")

    def log(self, kind):
        return self.call("POST", self.session + "/se/log", {"type": kind})

    def screenshot(self, path, width, height, x=0, y=0):
        """The page's upper part, or another one, in so many pixels."""
        data = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                        clip={"x": x, "y": y, "width": width, "height": height, "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))


BACKSPACE = "\ue003"
ENTER = "\ue007"
ESCAPE = "\ue00c"
HOME = "\ue011"
TAB = "\ue004"
