"""A room and the fronts (reverse proxies and caches) before it, each with the configuration of deploy/ and ports of the test."""
import json, os, pathlib, shutil, signal, socket, subprocess, time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def reaches(at, seconds=15):
    """Waits until something accepts connections on a port."""
    end = time.time() + seconds
    while time.time() < end:
        with socket.socket() as link:
            if link.connect_ex(("127.0.0.1", at)) == 0: return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {at}")


def priority(process):
    """Gives rooms and fronts the normal priority, if it may be set. So if the test itself runs with a lower one (`nice`), its players,
    which need much more CPU time than real players would, do not delay them."""
    try: os.setpriority(os.PRIO_PROCESS, process.pid, 0)
    except OSError: pass
    return process


class Room:
    """A worker with one publisher, which reconnects after each restart of the worker."""
    id = "88231"

    def __init__(self, tandem, work, secret=None):
        self.tandem, self.work, self.starts = tandem, work, 0
        self.http, self.rtmp, self.directory = port(), port(), f"{work}/room{'-signed' if secret else ''}"
        os.makedirs(self.directory)
        self.log = open(f"{self.directory}.log", "ab")
        self.pipeline = {
            "room": {"roomId": self.id}, "ingest": {"rtmp": {"listen": f"127.0.0.1:{self.rtmp}"}},
            "sources": [{"uid": "1001", "streamKey": "a"}],
            "canvas": {"width": 320, "height": 180, "fps": 10},
            "scenes": [{"sceneId": "solo", "layout": "solo", "uids": ["1001"]}], "program": {"scene": "solo"},
            "renditions": [{"name": "180p", "width": 320, "height": 180, "video": {"bitrate": 150000, "preset": "ultrafast"}}],
            "outputs": [{"type": "hls", "path": f"{self.directory}/out", "preset": "lowLatency",
                         "windowSeconds": 60, "http": {"listen": f"127.0.0.1:{self.http}"}},
                        {"type": "webrtc", "udp": f"127.0.0.1:{port()}"}],
            "subtitles": [{"name": "ko", "language": "ko"}]}
        if secret:
            path = pathlib.Path(self.directory, "secret")
            path.write_text(secret)
            path.chmod(0o600)
            self.pipeline["outputs"][0]["http"]["signedUrls"] = {"secretFile": str(path)}
        self.start()
        publish = ("while :; do ffmpeg -nostdin -v quiet -re -f lavfi -i testsrc=s=320x180:r=10 -f lavfi -i sine -c:v libx264 "
                   f"-preset ultrafast -g 20 -b:v 150k -c:a aac -f flv rtmp://127.0.0.1:{self.rtmp}/live/a; sleep 0.2; done")
        self.publisher = priority(subprocess.Popen(["/bin/sh", "-c", publish], start_new_session=True))

    @property
    def url(self): return f"http://127.0.0.1:{self.http}/"
    @property
    def route(self): return f"{self.id} 127.0.0.1:{self.http}"

    def start(self, http=None):
        if http:
            self.http = http
            self.pipeline["outputs"][0]["http"]["listen"] = f"127.0.0.1:{http}"
        pathlib.Path(self.directory, "room.json").write_text(json.dumps(self.pipeline))
        self.starts += 1
        self.worker = priority(subprocess.Popen(
            [self.tandem, "run", f"{self.directory}/room.json"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log))

    def kill(self):
        self.worker.kill()
        self.worker.wait()

    def drain(self):
        self.worker.terminate()
        if (code := self.worker.wait(30)) != 143: raise SystemExit(f"the drained worker ended with {code}")

    def close(self):
        os.killpg(self.publisher.pid, signal.SIGKILL)
        self.publisher.wait()
        self.kill()


class Front:
    """A front: `url` is the room's URL through it, `processes` are the front's processes."""
    def __init__(self, name, work, room):
        self.name, self.work, self.room, self.processes = name, f"{work}/{name}", room, []
        os.makedirs(self.work, mode=0o755)
        self.at = port()
        self.url = f"https://127.0.0.1:{self.at}/{room.id}/"
        self.usesHAProxy = name != "nginx"
        self.nginx = self.haproxy = None
        if self.usesHAProxy: self.startHAProxy()
        if "varnish" in name: self.startVarnish()
        if "nginx" in name: self.startNGINX()
        reaches(self.at)
        time.sleep(1)

    def run(self, *words):
        log = open(f"{self.work}/{os.path.basename(words[0])}.log", "ab")
        self.processes.append(priority(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.work)))
        return self.processes[-1]

    def configure(self, source, name, *changes):
        """Returns a configuration of deploy/ with ports and paths of the test."""
        text = (ROOT / "deploy" / source).read_text()
        for before, after in changes:
            if before not in text: raise SystemExit(f"deploy/{source} has no {before}")
            text = text.replace(before, str(after))
        pathlib.Path(self.work, name).write_text(text)
        return f"{self.work}/{name}"

    def certificate(self):
        os.makedirs(f"{self.work}/tls", exist_ok=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{self.work}/rooms.key",
             "-out", f"{self.work}/rooms.pem"], check=True, stderr=subprocess.DEVNULL)
        both = pathlib.Path(f"{self.work}/rooms.pem").read_text() + pathlib.Path(f"{self.work}/rooms.key").read_text()
        pathlib.Path(f"{self.work}/tls/rooms.pem").write_text(both)

    def startHAProxy(self):
        self.certificate()
        self.caches, self.cached = port(), port()
        first = self.at if self.name in ("haproxy", "varnish") else port()
        changes = [
            ("maxconn 20000", "maxconn 4000"), ("/run/haproxy/admin.sock", f"{self.work}/admin.sock"),
            ("/etc/haproxy/pause.lua", ROOT / "deploy/haproxy/pause.lua"), ("bind :80\n", f"bind 127.0.0.1:{port()}\n"),
            ("bind :443 ssl", f"bind 127.0.0.1:{first} ssl"), ("/etc/haproxy/certs/", f"{self.work}/tls/"),
            ("127.0.0.1:8081", f"127.0.0.1:{self.caches}"), ("127.0.0.1:6081", f"127.0.0.1:{self.cached}"),
            ("/etc/haproxy/rooms.map", f"{self.work}/rooms.map"), ("abns@tandem-rooms", f"abns@tandem-rooms-{self.at}")]
        if os.getuid(): changes.append(("    user haproxy\n    group haproxy\n", ""))
        if self.name == "varnish": changes.append(("default_backend hold", "default_backend cache"))
        path = self.configure("haproxy/rooms.cfg", "haproxy.cfg", *changes)
        if self.name == "varnish":
            # Keep only the viewers' frontend.
            text = pathlib.Path(path).read_text()
            head, tail = text.split("frontend caches")
            pathlib.Path(path).write_text(head + "frontend caches" + tail.replace("default_backend cache", "default_backend hold", 1))
        pathlib.Path(self.work, "rooms.map").write_text("")
        pathlib.Path(self.work, "routes").write_text(self.room.route + "\n")
        self.haproxy = self.run("haproxy", "-W", "-db", "-f", path)
        reaches(first)
        self.run(str(ROOT / "deploy/haproxy/routes"), f"{self.work}/routes", f"{self.work}/admin.sock", f"{self.work}/rooms.map")

    def startVarnish(self):
        path = self.configure("varnish/rooms.vcl", "rooms.vcl", ('"8081"', f'"{self.caches}"'))
        self.run("varnishd", "-F", "-j", "none", "-n", f"{self.work}/varnish", "-f", path, "-a", f"127.0.0.1:{self.cached}",
                 "-s", "malloc,256m")
        reaches(self.cached)

    def startNGINX(self):
        self.certificate()
        changes = [
            ("/var/cache/nginx/rooms", f"{self.work}/cache"), ("/etc/nginx/tls/", f"{self.work}/"),
            ("/etc/nginx/tandem-rooms.map", f"{self.work}/nginx.map"), ("listen 443", f"listen 127.0.0.1:{self.at}")]
        if self.usesHAProxy: changes.append(('"~^/[^/?]+(?<rest>/[^?]*)"', '"~^(?<rest>/[^?]*)"'))
        path = self.configure("nginx/front.conf", "front.conf", *changes)
        pathlib.Path(self.work, "nginx.map").write_text(
            f"default 127.0.0.1:{self.caches};\n" if self.usesHAProxy else self.room.route + ";\n")
        temporary = " ".join(f"{kind}_temp_path {self.work}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        pathlib.Path(self.work, "nginx.conf").write_text(
            f"worker_processes 2; daemon off; pid {self.work}/nginx.pid; error_log stderr error;\n"
            f"events {{ worker_connections 4000; }}\nhttp {{ {temporary} include {path}; }}\n")
        self.nginx = self.run(shutil.which("nginx") or "/usr/sbin/nginx", "-c", f"{self.work}/nginx.conf", "-p", self.work)

    def reload(self):
        if self.haproxy: self.haproxy.send_signal(signal.SIGUSR2)
        if self.nginx: self.nginx.send_signal(signal.SIGHUP)

    def routed(self):
        """Replaces the file of routes after the room has moved, as the orchestrator does."""
        pathlib.Path(self.work, "routes.new").write_text(self.room.route + "\n")
        os.replace(f"{self.work}/routes.new", f"{self.work}/routes")

    def close(self):
        for process in reversed(self.processes): process.terminate()
        for process in self.processes:
            try: process.wait(5)
            except subprocess.TimeoutExpired: process.kill()
