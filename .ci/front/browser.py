"""A headless Chromium, driven by the DevTools protocol over two pipes; without a library."""
import functools, http.server, json, os, pathlib, shutil, subprocess, threading, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATH = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)


class Browser:
    def __init__(self, directory):
        far_in, self.output = os.pipe()
        self.input, far_out = os.pipe()
        os.makedirs(directory)
        # The protocol uses descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$0" "$@" 3<&{far_in} 4>&{far_out}', PATH, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--mute-audio",
             "--ignore-certificate-errors", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
             "--disable-backgrounding-occluded-windows", "--autoplay-policy=no-user-gesture-required",
             f"--user-data-dir={directory}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(far_in, far_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(far_in), os.close(far_out)
        self.last, self.rest = 0, b""
        os.makedirs(f"{directory}-pages")
        for source in (ROOT / "Tests/EndToEndTests/Scripts/player.html", ROOT / ".build/players/hls.mjs"):
            if source.exists(): shutil.copy(source, f"{directory}-pages")
        class Pages(http.server.SimpleHTTPRequestHandler):
            extensions_map = {"": "application/octet-stream", ".html": "text/html", ".mjs": "text/javascript"}
            def log_message(self, *_): pass
        self.hasHLSJS = os.path.exists(f"{directory}-pages/hls.mjs")
        self.pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=f"{directory}-pages"))
        threading.Thread(target=self.pages.serve_forever, daemon=True).start()

    def call(self, method, parameters={}, session=None):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                piece = os.read(self.input, 1 << 20)
                if not piece: raise OSError("the browser has ended")
                self.rest += piece
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.last:
                if "error" in answer: raise OSError(f"{method}: {answer['error']}")
                return answer["result"]

    def watch(self, url, player):
        """Plays a URL in a new tab, by the player "native" or "hls.js". Returns the tab, for `report`."""
        target = self.call("Target.createTarget", {"url": "about:blank", "newWindow": True})["targetId"]
        tab = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime"): self.call(f"{domain}.enable", {}, tab)
        probe = (ROOT / "Tests/EndToEndTests/Scripts/probe.js").read_text()
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": probe}, tab)
        wish = urllib.parse.quote(json.dumps({"url": url, "player": player, "config": {}}), safe="")
        self.call("Page.navigate", {"url": f"http://127.0.0.1:{self.pages.server_address[1]}/player.html#{wish}"}, tab)
        return tab

    def report(self, tab):
        value = self.call("Runtime.evaluate", {"expression": "probe.report()", "returnByValue": True}, tab)
        return json.loads(value["result"]["value"])

    def close(self):
        self.process.kill()
        self.process.wait()
        self.pages.shutdown()
