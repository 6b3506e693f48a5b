"""Runs a live room and Prometheus, and evaluates all queries of the dashboards and rules; see .ci/metrics-test.

usage: metrics.py PROGRAM [--seconds N] [--keep DIRECTORY]
"""
import argparse, http.server, json, os, re, shutil, socket, ssl, subprocess, sys, tempfile, threading, time, urllib.parse, urllib.request

# Queries that may return no data for this room, and why. The room has no problem except an RTMP output without a server.
EMPTY = {
    "room:tandem_unwell:cause{frames}": "no frame is late or lost, unless this machine is overloaded",
    "room:tandem_unwell:cause{segments}": "segments are published",
    "room:tandem_unwell:cause{slow}": "no segment is late, unless this machine is overloaded",
    "room:tandem_unwell:cause{overload}": "the machine is fast enough, usually",
    "room:tandem_unwell:cause{throttled}": "there is no CPU limit, usually",
    "room:tandem_unwell:cause{viewers}": "no request gets 5xx",
    "room:tandem_unwell:cause{disk}": "there is space, usually",
    "room:tandem_unwell:cause{alarm}": "no alarm is at alert_3, usually",
    "annotation Worker starts": "no worker is restarted",
    "annotation Workers start": "no worker is restarted",
}
# Metrics that this room does not have: they exist only for sources whose publisher used WebRTC.
ABSENT = {"tandem_source_jitter_seconds", "tandem_source_key_frame_requests_total", "tandem_source_round_trip_seconds",
          "tandem_source_rtp_packets_total"}
# Values for the dashboards' variables. The dashboards have no default prices, so the textboxes for prices get a value here.
VARIABLES = {"instance": ".*", "room": ".*", "datasource": "prometheus"}
ROOM = "metrics"

options = argparse.ArgumentParser()
options.add_argument("program")
options.add_argument("--seconds", type=float, default=45, help="seconds for which the room is scraped before the queries")
options.add_argument("--keep", help="directory for the files of the room and of Prometheus, which is kept")
options = options.parse_args()
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
work = options.keep or tempfile.mkdtemp(prefix="tandem-metrics-")
os.makedirs(work, exist_ok=True)
started, failures = [], []


def fail(text):
    failures.append(text)
    print(f"FAILED: {text}", flush=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(*arguments, name):
    log = open(f"{work}/{name}.log", "wb")
    started.append(subprocess.Popen(arguments, stdout=open(f"{work}/{name}.out", "wb"), stderr=log))
    return started[-1]


def wait(what, seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value: return value
        time.sleep(0.2)
    raise SystemExit(f"{what}: not within {seconds} s; see {work}")


class Receiver(http.server.BaseHTTPRequestHandler):
    """An HTTP server that acts as a store and a webhook: it accepts everything and keeps nothing."""

    protocol_version = "HTTP/1.1"

    def accept(self):
        left = int(self.headers.get("content-length") or 0)
        while left > 0: left -= len(self.rfile.read(min(left, 65536)) or b"\0" * left)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    do_PUT = do_POST = do_DELETE = accept

    def log_message(self, *_): pass


class Viewer(threading.Thread):
    """Plays the room's rendition as a low-latency player does; with `flv`, over HTTP-FLV until that ends."""

    def __init__(self, address, flv=False):
        super().__init__(daemon=True)
        self.address, self.flv, self.bytes, self.error = address, flv, 0, None
        self.context = ssl._create_unverified_context()

    def get(self, path):
        with urllib.request.urlopen(f"{self.address}/{path}", timeout=20, context=self.context) as reply:
            data = reply.read()
        self.bytes += len(data)
        return data.decode(errors="replace")

    def run(self):
        try:
            if self.flv:
                with urllib.request.urlopen(f"{self.address}/live/180p.flv", timeout=20, context=self.context) as reply:
                    while data := reply.read(4096): self.bytes += len(data)
            self.get("index.m3u8")
            query, last = "", None
            while True:
                text = self.get(f"180p.m3u8{query}")
                parts = re.findall(r'EXT-X-PART:.*?URI="([^"]+)"', text)
                if parts and parts[-1] != last: self.get(parts[-1])
                last = parts[-1] if parts else last
                first = int(re.search(r"EXT-X-MEDIA-SEQUENCE:(\d+)", text)[1])
                segments = len(re.findall(r"^#EXTINF", text, re.M))
                tail = text.rsplit("#EXTINF", 1)[-1]
                query = f"?_HLS_msn={first + segments}&_HLS_part={tail.count('#EXT-X-PART:')}"
                if "ENDLIST" in text: return
        except Exception as error: self.error = error


def room_file(receiver, rtmp):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost",
         "-keyout", f"{work}/room.key", "-out", f"{work}/room.crt"], check=True, capture_output=True)
    room = {
        "room": {"roomId": ROOM},
        "ingest": {"rtmp": {"listen": "127.0.0.1:0"}},
        "sources": [{"uid": "1001", "streamKey": "first_key"}, {"uid": "2002", "streamKey": "second_key"}],
        "canvas": {"width": 320, "height": 180},
        "scenes": [{"sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"]}],
        "renditions": [{"name": "180p", "width": 320, "height": 180, "video": {"bitrate": 300000, "preset": "ultrafast"}}],
        "outputs": [
            {"type": "hls", "path": f"{work}/out", "http": {
                "listen": "127.0.0.1:0", "flv": True, "lingerSeconds": 0,
                "tls": {"certificate": f"{work}/room.crt", "key": f"{work}/room.key"}}},
            {"type": "rtmp", "outputId": "away", "url": f"rtmp://127.0.0.1:{rtmp}/live/key"},
            {"type": "http", "outputId": "store", "url": f"http://127.0.0.1:{receiver}/store/"},
            {"type": "webrtc", "udp": "127.0.0.1:0"},
        ],
        "moderation": {"stills": {"intervalSeconds": 1, "webhook": {"url": f"http://127.0.0.1:{receiver}/stills"}}},
        "control": {"listen": "127.0.0.1:0", "events": [{"type": "webhook", "url": f"http://127.0.0.1:{receiver}/hook"}]},
    }
    with open(f"{work}/room.json", "w") as file: json.dump(room, file, indent=1)


def event(name):
    with open(f"{work}/room.out") as file:
        for line in file:
            if f'"{name}"' in line and line.endswith("\n"): return line
    return None


def configuration(control):
    """Writes the configuration: deploy/prometheus/prometheus.yml with the targets of this test and an interval of one second."""
    place = f"{work}/prometheus"
    os.makedirs(f"{place}/targets", exist_ok=True)
    for name in ("rules.yml", "alerts.yml"): shutil.copy(f"{root}/deploy/prometheus/{name}", place)
    text = open(f"{root}/deploy/prometheus/prometheus.yml").read()
    text = text.replace("/etc/prometheus/tandem/", f"{place}/targets/").replace("interval: 15s", "interval: 1s")
    with open(f"{place}/prometheus.yml", "w") as file: file.write(text)
    targets = [{"targets": [control], "labels": {"room_id": ROOM}}, {"targets": [f"127.0.0.1:{free_port()}"], "labels": {"room_id": "lost"}}]
    with open(f"{place}/targets/rooms.json", "w") as file: json.dump(targets, file)
    subprocess.run(["promtool", "check", "config", f"{place}/prometheus.yml"], check=True, stdout=subprocess.DEVNULL)
    return place


class Prometheus:
    def __init__(self, place):
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        start("prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data",
              f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn", name="prometheus")

    def ask(self, path, **query):
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/{path}?{urllib.parse.urlencode(query, doseq=True)}", timeout=30) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            # Prometheus is still starting.
            if error.code == 503: return None
            raise ValueError(json.load(error).get("error")) from error
        except OSError: return None

    def query(self, text): return (self.ask("query", query=text) or {}).get("result", [])

    def query_range(self, text):
        now = time.time()
        return (self.ask("query_range", query=text, start=now - 60, end=now, step=5) or {}).get("result", [])


def check(prometheus, place, text, is_range=False):
    """Runs a query. An error is a failure, and so is an empty result unless EMPTY names the query."""
    try: result = prometheus.query_range(text) if is_range else prometheus.query(text)
    except ValueError as error: return fail(f"{place}: {error}: {text}")
    if not result and place not in EMPTY: fail(f"{place}: no data: {text}")
    return None


def dashboard(prometheus, name):
    with open(f"{root}/deploy/grafana/{name}") as file: board = json.load(file)
    values = dict(VARIABLES)
    for variable in board["templating"]["list"]:
        if variable["type"] == "textbox": values[variable["name"]] = "0.01"
    names = "|".join(values)

    def filled(text): return re.sub(rf"\$(?:({names})\b|\{{({names})\}})", lambda match: values[match[1] or match[2]], text)

    count = 0
    for panel in board["panels"]:
        for target in panel["targets"]:
            count += 1
            check(prometheus, f"{name}, {panel['title']}", filled(target["expr"]), panel["type"] == "timeseries")
    for note in board["annotations"]["list"]:
        check(prometheus, f"annotation {note['name']}", filled(note["expr"]))
    for variable in board["templating"]["list"]:
        query = variable.get("query")
        if variable["type"] != "query": continue
        found = re.fullmatch(r"label_values\((.*), (\w+)\)", filled(query["query"]))
        labels = prometheus.ask(f"label/{found[2]}/values", **{"match[]": found[1]})
        if not labels: fail(f"{name}, variable {variable['name']}: no values: {query['query']}")
    print(f"{name}: {count} queries of {len(board['panels'])} panels")


def rules(prometheus):
    count = 0
    for group in prometheus.ask("rules")["groups"]:
        for rule in group["rules"]:
            count += 1
            if rule["health"] != "ok": fail(f"rule {rule['name']}: {rule['health']}: {rule.get('lastError')}")
            if rule["type"] == "alerting":
                EMPTY[f"alert {rule['name']}"] = "most alerts do not fire"
                check(prometheus, f"alert {rule['name']}", rule["query"])
            else:
                labels = rule.get("labels") or {}
                place = rule["name"] + (f"{{{labels['cause']}}}" if "cause" in labels else "")
                check(prometheus, place, rule["name"] + "{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}")
    firing = {alert["labels"]["alertname"] for alert in prometheus.ask("alerts")["alerts"]}
    if "TandemRoomDown" not in firing: fail(f"no alert for the target that does not respond: {sorted(firing)}")
    print(f"{count} rules; alerts: {', '.join(sorted(firing))}")


def metrics(prometheus, control):
    """Checks that all metrics of the reference except ABSENT are exported, are valid, and have the room's label."""
    with urllib.request.urlopen(f"{control}/metrics", timeout=5) as reply: text = reply.read()
    lint = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    if lint.returncode: fail(f"promtool check metrics: {(lint.stderr + lint.stdout).decode()[:2000]}")
    with open(f"{root}/Sources/tandem/Documentation.docc/ReferenceMetrics.md") as file:
        known = re.findall(r"^\| `((?:tandem|process)_\w+)` \| (\w+)", file.read(), re.M)
    for name, kind in known:
        series = prometheus.query(name + ("_count" if kind == "histogram" else ""))
        if not series and name not in ABSENT: fail(f"metric {name}: no samples")
        if any(one["metric"].get("room_id") != ROOM for one in series): fail(f"metric {name}: without the label room_id: {series[0]}")
    duration = prometheus.query(f'max_over_time(scrape_duration_seconds{{room_id="{ROOM}"}}[1m])')[0]["value"][1]
    samples = prometheus.query(f'scrape_samples_scraped{{room_id="{ROOM}"}}')[0]["value"][1]
    print(f"{len(known)} metrics, {samples} samples, {len(text)} bytes, longest scrape {float(duration) * 1000:.1f} ms")


def main():
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    room_file(receiver.server_address[1], free_port())
    room = start(options.program, "run", f"{work}/room.json", name="room")
    ready = json.loads(wait("room.ready", 20, lambda: event("room.ready")))
    data = ready.get("data", ready)
    for key, name in (("first_key", "1"), ("second_key", "2")):
        start(options.program, "publish", f"pattern:{name}", "--size", "320x180", f"{data['rtmp']}/live/{key}", name=f"publisher{name}")
    start(options.program, "publish", "pattern:x", "--size", "320x180", f"{data['rtmp']}/live/wrong", name="refused")
    wait("broadcast.active", 30, lambda: event("broadcast.active"))
    prometheus = Prometheus(configuration(data["control"].removeprefix("http://")))
    viewers = [Viewer(data["viewer"]), Viewer(data["viewer"]), Viewer(data["viewer"], flv=True)]
    for viewer in viewers: viewer.start()
    wait("Prometheus", 30, lambda: prometheus.ask("query", query="up"))
    time.sleep(options.seconds)
    for viewer in viewers:
        if viewer.error or not viewer.bytes: fail(f"a viewer: {viewer.bytes} bytes, {viewer.error}")
    for name in ("tandem.json", "fleet.json"): dashboard(prometheus, name)
    rules(prometheus)
    metrics(prometheus, data["control"])
    urllib.request.urlopen(urllib.request.Request(f"{data['control']}/v1/room:end", method="POST"), timeout=10).read()
    try: code = room.wait(60)
    except subprocess.TimeoutExpired: code = "none"
    # The RTMP output never reached a server, which does not change the exit code.
    if code != 0: fail(f"the room ended with {code}")


try: main()
finally:
    for one in started:
        if one.poll() is None: one.terminate()
    for one in started: one.wait()
    if not options.keep: shutil.rmtree(work, ignore_errors=True)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
