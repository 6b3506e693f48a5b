"""Real players of a room: ffmpeg, mpv, Chromium's own player and hls.js, as far as they are installed."""
import dataclasses, os, re, shutil, subprocess, threading, time
import browser

POSITION = """mp.add_periodic_timer(0.1, function()
  io.write("POSITION ", tostring(mp.get_property_number("time-pos")), "\\n") io.flush()
end)
"""


@dataclasses.dataclass
class Outcome:
    text: str
    fault: str = ""


class Native:
    """An ffmpeg or mpv process, with the time of each change of its playback position."""
    def __init__(self, name, url, work):
        self.name, self.steps = name, []
        if name == "ffmpeg":
            words = ["ffmpeg", "-nostdin", "-v", "warning", "-re", "-tls_verify", "0", "-i", url, "-map", "0:v:0", "-map", "0:a:0",
                     "-progress", "pipe:1", "-stats_period", "0.2", "-f", "null", "-"]
        else:
            with open(f"{work}/position.lua", "w") as file: file.write(POSITION)
            words = ["mpv", "--no-config", "--vo=null", "--ao=null", "--no-input-terminal", "--msg-level=all=warn",
                     "--tls-verify=no", f"--script={work}/position.lua", url]
        self.log = open(f"{work}/{name}.log", "wb")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            # The room has ten frames per second.
            if match := re.match(r"frame=\s*(\d+)|POSITION ([\d.]+)", line):
                position = int(match[1]) / 10 if match[1] else float(match[2])
                if not self.steps or self.steps[-1][1] != position: self.steps.append((time.time(), position))

    def standstill(self, since):
        times = [at for at, _ in self.steps if at >= since] + [time.time()]
        return max((b - a for a, b in zip([since] + times, times)), default=99)

    def isGone(self): return self.process.poll() is not None
    def close(self):
        self.process.kill()
        self.process.wait()


class Tab:
    def __init__(self, engine, name, url):
        self.engine, self.name, self.tab = engine, name, engine.watch(url + "index.m3u8", name)
        self.failed, self.errors = None, 0

    def report(self): return self.engine.report(self.tab)
    def mark(self): self.engine.call("Runtime.evaluate", {"expression": "probe.mark(); 0"}, self.tab)


class Real:
    def __init__(self, url, work):
        os.makedirs(work)
        self.native = [Native(name, url + "index.m3u8", work) for name in ("ffmpeg", "mpv") if shutil.which(name)]
        self.engine = browser.Browser(f"{work}/browser") if browser.PATH else None
        names = ["native", "hls.js"] if self.engine and self.engine.hasHLSJS else ["native"] if self.engine else []
        self.tabs = [Tab(self.engine, name, url) for name in names]
        self.stalls = {}
        self.isFirst = True

    def note(self, since):
        """Returns the longest stall of each player since a restart, by the player's name."""
        stood = {one.name: one.standstill(since) for one in self.native}
        for tab in self.tabs:
            # A browser's first report includes its start, so it is ignored.
            if not self.isFirst: stood[tab.name] = tab.report()["longestStandstill"] / 1000
            tab.mark()
        self.isFirst = False
        return stood

    def keep(self, stood):
        for name, seconds in stood.items(): self.stalls.setdefault(name, []).append(seconds)

    def finish(self):
        outcomes = []
        for one in self.native:
            values = self.stalls.get(one.name, [])
            text = f"{one.name}: {one.steps[-1][1] if one.steps else 0:.0f} s played, standstill {' '.join(f'{v:.2f}' for v in values)} s"
            fault = f"{one.name} ended" if one.isGone() else ""
            outcomes.append(Outcome(text, fault))
            one.close()
        for tab in self.tabs:
            values, report = self.stalls.get(tab.name, []), tab.report()
            fatal = [error for error in report["errors"] if error.get("fatal")]
            text = (f"{tab.name} in Chromium: {report['time']:.0f} s played, standstill {' '.join(f'{v:.2f}' for v in values)} s, "
                    f"{len(report['errors'])} errors {[error.get('details') for error in report['errors']][:6]}")
            fault = f"{tab.name}: {fatal[:1]}" if fatal else ""
            if report["time"] < 20: fault = fault or f"{tab.name} played only {report['time']:.0f} s"
            outcomes.append(Outcome(text, fault))
        if self.engine: self.engine.close()
        return outcomes


def start(url, work): return Real(url, work)
