#!/usr/bin/env python3
"""Starts a Tandem worker for each room, restarts it until the room is over, and answers with the room's addresses.

    orchestrator.py --token-file token                                         rooms are processes of this machine
    orchestrator.py --token-file token --engine systemd --host 203.0.113.7     rooms are units tandem-ROOM (as root)
    orchestrator.py --token-file token --engine kubernetes --image registry.example/tandem:1 --namespace rooms
    curl -H "Authorization: Bearer $(cat token)" -d '{"roomId": "88231", "uids": ["1001", "2002"]}' http://127.0.0.1:8090/rooms

POST   /rooms     {"roomId"?, "uids" or "sources", "template"?}: starts a room, issues stream keys, waits until it is ready and
                  answers with its addresses. The same request again answers the same room.
GET    /rooms     All rooms: state, exit code, restarts. /rooms/ID: also addresses, keys, the worker's state and alarms.
DELETE /rooms/ID  Ends the room and answers when it is over.

A template is a pipeline file, DIR/NAME.json. In its strings "$1" to "$9" are the request's uids, and $room is the room's id."""
import argparse, base64, contextlib, dataclasses, fcntl, hashlib, hmac, http.server, json, os, pathlib, re, secrets, shutil, subprocess, sys
import threading, time, urllib.error, urllib.parse, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
FATAL = {64: "a flag is wrong", 65: "correct the template", 66: "a file is missing", 73: "a directory cannot be created",
         78: "this machine cannot run it", 126: "the program cannot be executed", 127: "the program is missing: see --tandem"}
CRASHES, WINDOW = 5, 600  # Maximum number of restarts after crashes within WINDOW seconds; a room that crashes more often has failed.
LOOK, READY, END = 2, 30, 90  # Seconds between two checks of the rooms; seconds that POST and DELETE wait before they answer 202.

class Failure(Exception):
    """An error reply: its HTTP status, what is wrong, and what to do."""
    def __init__(self, status, text): super().__init__(text); self.status = status

@dataclasses.dataclass
class Room:
    """The state of a room, read from its engine: processes, systemd or Kubernetes. The orchestrator stores nothing else about it."""
    id: str
    pipeline: dict
    token: str             # Bearer token of the worker's control API.
    log: str = ""          # File or command that shows the worker's log lines.
    running: bool = False  # A worker runs, or the engine is about to start one by itself.
    ready: bool = False    # That worker has sent the event room.ready.
    ending: bool = False   # A client has sent DELETE for the room.
    exits: list = dataclasses.field(default_factory=list)  # (time, exit code) of ended workers; the code is None if it is not known.
    at: dict = dataclasses.field(default_factory=dict)     # "rtmp", "viewer", "control": host:port of the last worker that was ready.
    verdict: tuple = ()    # ("ended" or "failed", reason) if the engine decides it; otherwise empty.
    def keys(self): return [(source["uid"], source["streamKey"]) for source in self.pipeline["sources"] if "streamKey" in source]
    def app(self): return self.pipeline["ingest"]["rtmp"].get("app", "live")
    def files(self):  # Of --edge-keys; if the app is the room's own, also one for all other keys of it, such as signed ones.
        keys = [key for _, key in self.keys()] + [""] * (self.app() == self.id)
        return [hashlib.sha256(f"{self.app()}/{key}".encode()).hexdigest() for key in keys]
    def outlook(self):
        """Decides by the exit codes of its workers: ("ended" or "failed", reason), or ("start", time of the next start)."""
        if self.verdict or not self.exits: return self.verdict or ("start", 0)
        last, code = self.exits[-1]
        if code in (0, 143): return ("start", last) if code else ("ended", "exit 0")
        if code in FATAL: return "failed", f"exit {code}: {FATAL[code]}; read {self.log}"
        if code in (74, 75): return "start", last + min(300, 2 ** min(9, [c for _, c in self.exits].count(code)))
        crashes = sum(at > last - WINDOW and c not in (74, 75, 143) for at, c in self.exits)
        if crashes > CRASHES: return "failed", f"{crashes} crashes in {WINDOW // 60} minutes, the last by exit {code}; read {self.log}"
        return "start", last + (0 if crashes == 1 else 2 ** (crashes - 1))
    def state(self):
        if self.running: return "ending" if self.ending else "running" if self.ready else "starting"
        return {"start": "restarting" if self.exits else "starting"}.get(self.outlook()[0], self.outlook()[0])
    def is_over(self): return self.state() in ("ended", "failed")
    def is_closed(self): return self.is_over() or bool(self.exits) and self.exits[-1][1] == 75 and not self.ready

def say(text): print(time.strftime("%FT%TZ", time.gmtime()), text, file=sys.stderr, flush=True)
def read(path):
    with contextlib.suppress(OSError), open(path, errors="replace") as file: return file.read()
    return ""

def write(path, text, mode=0o644):  # Replaces the file atomically.
    if os.path.exists(path) and read(path) == text: return
    new = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text); file.flush(); os.fsync(file.fileno())
    os.rename(new, path)

def run(*command, input=None):
    """Runs a command and returns its output; raises a Failure that names the command if it fails."""
    try: done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error: raise Failure(503, f"{command[0]} cannot be run: {error}")
    if done.returncode == 0: return done.stdout
    raise Failure(422 if done.returncode == 65 else 503, f"{' '.join(command[:4])}: {(done.stderr.strip() or done.stdout.strip())[-800:]}")

def call(room, method, path):
    """Sends a request to a room's worker and returns status and JSON; (0, {}) if the worker does not answer."""
    request = urllib.request.Request(f"http://{room.at['control']}{path}", b"{}" if method == "POST" else None, method=method,
                                     headers={"Authorization": f"Bearer {room.token}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=2) as reply: return reply.status, json.load(reply)
    except urllib.error.HTTPError as error: return error.code, {}
    except (OSError, ValueError): return 0, {}

def listeners(pipeline):
    """Returns the listeners that a room must have: their keys for --set, and the objects that contain `listen`."""
    found = {"rtmp": ("ingest.rtmp", pipeline.setdefault("ingest", {}).setdefault("rtmp", {})), "control": ("control", pipeline["control"])}
    for i, output in enumerate(pipeline.get("outputs", [])):
        if (output.get("type", "hls"), output.get("segmentFormat", "fmp4")) == ("hls", "fmp4"):
            found.setdefault("viewer", (f"outputs[{i}].http", output.setdefault("http", {})))
    return found

def prepare(pipeline, token_file, addresses):
    """Adds what a template omits: the control API's token, and listen addresses."""
    pipeline["control"] = {"tokenFile": token_file, "openReads": True} | pipeline.get("control", {})
    for name, (_, listener) in listeners(pipeline).items(): listener.setdefault("listen", addresses[name])

class Process:
    """Rooms are processes in sessions of their own, which outlive the orchestrator. A room is a directory below --state: room.json (its
    pipeline; the room exists as soon as this file does), token, end (exists after DELETE), and exits: a line `TIME CODE` for each ended worker.
    Worker N writes events.N and log.N. The worker, and the shell that writes its exit code, hold the directory's lock, so no room runs twice."""
    pace, ids = 0.2, r"[A-Za-z0-9][A-Za-z0-9_-]{0,45}"  # Seconds between two checks while a request waits; pattern of room ids.
    WORKER = 'trap : INT TERM; n=$1; shift; "$@" > events.$n 2> log.$n < /dev/null; code=$?; echo "$(date +%s) $code" >> exits'
    def __init__(self, options):
        self.options, self.children, self.known = options, [], {}; os.makedirs(options.state, exist_ok=True)
        if not any(self.hold(".lock") or time.sleep(0.1) for _ in range(50)):
            sys.exit(f"another orchestrator uses {options.state}: stop it, or give another --state")
    def path(self, *names): return os.path.join(self.options.state, *names)
    def hold(self, *names):  # Takes a lock and returns its descriptor; None if another process holds it.
        lock = os.open(self.path(*names), os.O_RDWR | os.O_CREAT, 0o600)
        try: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB); return lock
        except BlockingIOError: os.close(lock)
    def names(self): return [id for id in os.listdir(self.options.state) if os.path.exists(self.path(id, "room.json"))]
    def rooms(self):
        rooms = {}
        for id in self.names():
            rooms[id] = room = Room(id, json.loads(read(self.path(id, "room.json"))), read(self.path(id, "token")))
            room.running, room.ending = self.is_alive(id), os.path.exists(self.path(id, "end"))
            lines = re.findall(r"^(\d+) (\w+)$", read(self.path(id, "exits")), re.M)  # Read after is_alive, so that no exit is missed.
            if not room.running and os.path.exists(self.path(id, f"events.{len(lines) + 1}")):  # The worker's exit was not written, as after a reboot.
                lines.append((str(int(time.time())), "lost"))
                with open(self.path(id, "exits"), "a") as file: file.write(" ".join(lines[-1]) + "\n")
            room.exits = [(int(at), int(code) if code.isdigit() else None) for at, code in lines]
            now = len(lines) + 1
            room.log = self.path(id, f"log.{max(1, now if room.running else now - 1)}")
            room.ready = room.running and bool(self.said(id, now))
            room.at = next(filter(None, (self.said(id, number) for number in range(now, max(0, now - 7), -1))), {})
        return rooms
    def is_alive(self, id):
        self.children = [child for child in self.children if child.poll() is None]
        if (lock := self.hold(id, "lock")) is not None: os.close(lock)
        return lock is None
    def said(self, id, number):
        """Returns the addresses in the event room.ready of worker `number`; {} if the worker has not sent it."""
        for line in [] if (id, number) in self.known else read(self.path(id, f"events.{number}")).splitlines():
            if line.startswith('{"type":"room.ready"') and line.endswith("}"):
                at = {name: urllib.parse.urlsplit(json.loads(line)[name] or "") for name in ("rtmp", "viewer", "control")}
                self.known[id, number] = {name: f"{url.hostname if name == 'control' else self.options.host}:{url.port}"
                                          for name, url in at.items() if url.port}
        return self.known.get((id, number), {})
    def prepare(self, id, pipeline):
        at = "127.0.0.1:0" if self.options.host in ("127.0.0.1", "localhost") else "0.0.0.0:0"
        prepare(pipeline, os.path.abspath(self.path(id, "token")), {"rtmp": at, "viewer": at, "control": "127.0.0.1:0"})
    def record(self, id, pipeline):
        os.makedirs(self.path(id), exist_ok=True)
        write(self.path(id, "token"), secrets.token_hex(16), 0o600)
        write(self.path(id, "room.json"), json.dumps(pipeline, indent=2), 0o600)
    def start(self, room):
        """Starts the next worker on the ports of the last one, so that clients find it again, unless those ports were in use (exit code 69)."""
        number, command = len(room.exits) + 1, [self.options.tandem, "run", "--ended-ok", "room.json"]
        for name, (key, listener) in listeners(room.pipeline).items():
            if name in room.at and listener["listen"].endswith(":0") and room.exits[-1][1] != 69:
                command += ["--set", f"{key}.listen={listener['listen'][:-2]}:{room.at[name].rsplit(':', 1)[1]}"]
        for name in ("events", "log"): pathlib.Path(self.path(room.id, f"{name}.{number - 7}")).unlink(missing_ok=True)
        self.launch(room, number, command)
    def launch(self, room, number, command):
        if (lock := self.hold(room.id, "lock")) is None: return
        try: self.children.append(subprocess.Popen(
            ["/bin/sh", "-c", self.WORKER, f"tandem-{room.id}", str(number), *command], cwd=self.path(room.id), pass_fds=(lock,),
            start_new_session=True, umask=0o022, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        finally: os.close(lock)
    def wish_end(self, room): write(self.path(room.id, "end"), "")
    def end(self, room):
        """Ends a running room. A second room:end would cut off its last viewers, so the room's state is checked first."""
        status, said = call(room, "GET", "/v1/room")
        if status == 200 and said.get("state") not in ("ending", "draining", "closed"): call(room, "POST", "/v1/room:end")

class Systemd(Process):
    """Rooms are systemd units tandem-ROOM with the same directories as for Process. The units have a watchdog and no privileges."""
    UNITS, UNIT = "/run/systemd/system", os.path.join(HERE, "room.service")
    def rooms(self):
        said = run("systemctl", "show", "-p", "Id,ActiveState", *(f"tandem-{id}.service" for id in self.names())) if self.names() else ""
        self.states = dict(re.findall(r"^Id=tandem-(.+)\.service\nActiveState=(.+)$", said, re.M))
        return super().rooms()
    def is_alive(self, id): return self.states.get(id, "inactive") not in ("inactive", "failed")
    def launch(self, room, number, command):
        text = read(self.UNIT).format(id=room.id, number=number, directory=os.path.abspath(self.path(room.id)), command=" ".join(command))
        write(f"{self.UNITS}/tandem-{room.id}.service", text)
        for words in (["daemon-reload"], ["start", "--no-block", f"tandem-{room.id}.service"]): run("systemctl", *words)

class Kubernetes:
    """Rooms are Jobs as `tandem manifest --for k8s` prints them; Kubernetes restarts workers. The Secret tandem-ROOM-record is created
    first. From then on the room exists, and its Job is applied until it exists too. The Secret's label tandem-end is set by DELETE."""
    pace, ids, OWNER = 1, r"[a-z0-9]([a-z0-9-]{0,44}[a-z0-9])?", "app.kubernetes.io/managed-by"
    def __init__(self, options): self.options = options
    def kubectl(self, *words, input=None): return run("kubectl", "-n", self.options.namespace, *words, input=input)
    def rooms(self):
        rooms, owned = {}, {}
        for item in json.loads(self.kubectl("get", "secrets,jobs,pods", "-l", f"{self.OWNER}=tandem-orchestrator", "-o", "json"))["items"]:
            if "deletionTimestamp" in item["metadata"]: continue
            owned.setdefault(item["metadata"]["labels"]["app.kubernetes.io/instance"], {}).setdefault(item["kind"], []).append(item)
        for id, items in owned.items():
            if (record := next((one for one in items.get("Secret", []) if "room.json" in one["data"]), None)) is None: continue
            data = {name: base64.b64decode(value).decode() for name, value in record["data"].items()}
            rooms[id] = room = Room(id, json.loads(data["room.json"]), data["token"], f"kubectl logs job/tandem-{id}")
            job = next(iter(items.get("Job", [])), None)
            done = {one["type"] for one in (job or {}).get("status", {}).get("conditions", []) if one["status"] == "True"}
            room.ending, room.running = "tandem-end" in record["metadata"]["labels"], job is not None and not done & {"Complete", "Failed"}
            if "Complete" in done: room.exits = [(0, 0)]
            if "Failed" in done: room.verdict = "failed", f"Kubernetes has given up the Job: see kubectl describe job tandem-{id}"
            pods = items.get("Pod", []) if room.running else []
            pod = max(pods, key=lambda pod: pod["metadata"]["creationTimestamp"], default={"status": {}})["status"]
            for one in pod.get("containerStatuses", []):
                room.ready = bool(one.get("started", one["ready"]))
                room.exits = [(0, one.get("lastState", {}).get("terminated", {}).get("exitCode"))] * one["restartCount"]
            hosts = {"rtmp": pod.get("hostIP"), "control": pod.get("podIP"), "viewer": f"tandem-{id}.{self.options.namespace}.svc"}
            room.at = {name: f"{hosts[name]}:{listener['listen'].rsplit(':', 1)[1]}"
                       for name, (_, listener) in listeners(room.pipeline).items() if hosts[name]}
        return rooms
    def prepare(self, id, pipeline):
        taken = {int(room.pipeline["ingest"]["rtmp"]["listen"].rsplit(":", 1)[1]) for room in self.rooms().values()}
        low, high = map(int, self.options.ports.split("-"))
        if not (port := min({*range(low, high + 1)} - taken, default=0)): raise Failure(503, "all ports are taken: give a larger range of --ports")
        prepare(pipeline, "token", {"rtmp": f"0.0.0.0:{port}", "viewer": "0.0.0.0:8080", "control": "0.0.0.0:8081"})
    def record(self, id, pipeline):
        labels = {self.OWNER: "tandem-orchestrator", "app.kubernetes.io/instance": id}
        self.kubectl("create", "-f", "-", input=json.dumps({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"tandem-{id}-record", "labels": labels},
            "stringData": {"room.json": json.dumps(pipeline), "token": secrets.token_hex(16)}}))
    def start(self, room):
        more = ["--with-secret", "--image", self.options.image] + (["--storage", self.options.storage] if self.options.storage else [])
        text = run(self.options.tandem, "manifest", "-", "--for", "k8s", *more, input=json.dumps(room.pipeline))
        text = re.sub(r"^( +)app.kubernetes.io/name: tandem$", rf"\g<0>\n\1{self.OWNER}: tandem-orchestrator", text, flags=re.M)
        text = re.sub(r"^ +ttlSecondsAfterFinished: .*\n", "", text, flags=re.M)  # Keep ended Jobs: a deleted Job could not tell that its room is over.
        keys = {f"sources-{i}-streamkey": source.get("streamKey") for i, source in enumerate(room.pipeline["sources"])}
        for k, v in (keys | {"control-tokenfile": room.token}).items(): text = text.replace(f"  {k}: REPLACE-ME\n", f"  {k}: {json.dumps(v)}\n")
        if "REPLACE-ME\n" in text: raise Failure(422, f"the template names secrets that the orchestrator does not know: remove them from the template")
        self.kubectl("apply", "-f", "-", input=text)
    def wish_end(self, room): self.kubectl("label", "--overwrite", "secret", f"tandem-{room.id}-record", "tandem-end=yes")
    def end(self, room):
        tell = lambda word: self.kubectl(
            "exec", f"job/tandem-{room.id}", "--", "tandem", "ctl", word, "--token-file", "/run/secrets/tandem/control-tokenfile",
            "--address", f"http://127.0.0.1:{room.at['control'].rsplit(':', 1)[1]}")
        with contextlib.suppress(Failure):  # A room that has ended and only serves its last viewers refuses `state`.
            if json.loads(tell("state"))["state"] not in ("ending", "draining", "closed"): tell("end")

class Orchestrator:
    def __init__(self, options, engine):
        self.options, self.engine, self.turn, self.hurry, self.rooms, self.told = options, engine, threading.RLock(), 0, None, {}
    def loop(self):
        while True:
            try: self.reconcile()
            except Exception as error: say(f"cannot read the state of the rooms, trying again: {error!r}")
            since = time.monotonic()
            while (now := time.monotonic()) < since + (self.engine.pace if now < self.hurry else LOOK): time.sleep(0.1)
    def reconcile(self):
        """Brings the actual state to the wanted one: starts workers, ends rooms, writes the files of the edge, the viewers' proxy and Prometheus."""
        with self.turn:
            rooms = self.engine.rooms()
            for room in rooms.values():
                try:
                    what, why = room.outlook()
                    if room.running and room.ready and room.ending: self.engine.end(room)
                    elif not room.running and what == "start" and why <= time.time(): self.engine.start(room)
                except Exception as error: say(f"room {room.id}: {error!r}")
                told = f"{room.state()}, " + (why if room.is_over() else f"worker {len(room.exits) + 1}, exit codes {[c for _, c in room.exits[-6:]]}")
                if self.told.get(room.id) != told: self.told[room.id] = told; say(f"room {room.id}: {told}")
            self.rooms = rooms; self.publish(sorted(rooms.values(), key=lambda room: room.id))
    def publish(self, rooms):
        there, options = [room for room in rooms if room.at and not room.is_closed()], self.options
        if options.edge_keys:  # The word after the address identifies the worker: see `tandem edge --help`.
            taking = [room for room in there if "rtmp" in room.at and not room.ending]
            files = {name: f"{room.at['rtmp']} {room.id}-{len(room.exits) + 1}\n" for room in taking for name in room.files()}
            for name, text in files.items(): write(os.path.join(options.edge_keys, name), text)
            for name in {name for room in rooms for name in room.files()} - files.keys():
                pathlib.Path(options.edge_keys, name).unlink(missing_ok=True)
        if options.routes: write(options.routes, "".join(f"{room.id} {room.at['viewer']}\n" for room in there if "viewer" in room.at))
        targets = [{"targets": [room.at["control"]], "labels": {"room_id": room.id}} for room in there if "control" in room.at]
        if options.targets: write(options.targets, json.dumps(targets, indent=1))
    def pipeline(self, id, body):
        """Makes a room's pipeline: its template with the request's uids, and a key for each publisher."""
        sources = body["sources"] if "sources" in body else [{"uid": uid} for uid in body["uids"]] if type(body.get("uids")) is list else None
        if set(body) - {"roomId", "uids", "sources", "template"} or type(sources) is not list or not all(
                type(one) is dict and type(one.get("uid")) in (str, int) and set(one) <= {"uid", "name", "volume", "expected", "streamKey"}
                and re.fullmatch(r"[A-Za-z0-9_-]{8,128}", str(one.get("streamKey", "is-issued"))) for one in sources):
            raise Failure(422, 'send {"roomId": …, "uids": […] or "sources": [{"uid": …, "name": …, "volume": …, "expected": …, "streamKey": '
                               '8 to 128 letters, digits, - or _}], "template": …}; everything else is in the template')
        name = body.get("template", "pk")
        text = read(os.path.join(self.options.templates, f"{name}.json")) if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(name)) else ""
        if not text: raise Failure(422, f"there is no template {name}: put a pipeline file at {self.options.templates}/{name}.json")
        places = len(set(re.findall(r'"\$([1-9])"', text)))
        if places != len(sources): raise Failure(422, f"template {name} is for {places} uids, {len(sources)} were sent: use another template")
        text = text.replace("$room", id)
        for i, source in enumerate(sources): text = text.replace(f'"${i + 1}"', json.dumps(str(source["uid"])))
        pipeline = json.loads(text)
        for source in pipeline["sources"]:
            asked = next((one for one in sources if str(one["uid"]) == source["uid"]), {})
            source.update(asked, uid=source["uid"])
            if source.get("type", "rtmp") == "rtmp": source.setdefault("streamKey", secrets.token_hex(16))
        return pipeline
    def create(self, body):
        if type(body) is not dict: raise Failure(422, "the body must be a JSON object")
        id = body.get("roomId", secrets.token_hex(6))
        if not re.fullmatch(self.engine.ids, str(id)): raise Failure(422, f"roomId must match {self.engine.ids}")
        pipeline = self.pipeline(id, body)
        with self.turn:
            rooms = self.engine.rooms()
            if (room := rooms.get(id)) is None:
                used = {key for room in rooms.values() if not room.is_over() for _, key in room.keys()}
                if used & {source.get("streamKey") for source in pipeline["sources"]}: raise Failure(409, "another room has that streamKey")
                self.engine.prepare(id, pipeline)
                run(self.options.tandem, "validate", "-", input=json.dumps(pipeline))
                self.engine.record(id, pipeline)
            elif room.is_over(): raise Failure(409, f"room {id} is over: choose another roomId")
            elif [source["uid"] for source in room.pipeline["sources"]] != [source["uid"] for source in pipeline["sources"]]:
                raise Failure(409, f"room {id} has other uids: choose another roomId, or DELETE /rooms/{id}")
        room = self.wait(id, lambda room: room.ready or room.is_over(), READY)
        if room is None: return 202, {"roomId": id, "state": "starting"}
        if room.is_over(): raise Failure(502, f"room {id} did not start: {room.outlook()[1]}")
        return 201 if room.ready else 202, self.view(room)
    def delete(self, id):
        with self.turn:
            if not (room := self.find(id, self.engine.rooms())).is_over(): self.engine.wish_end(room)
        room = self.wait(id, Room.is_closed, END) or room
        return 200 if room.is_closed() else 202, self.view(room)
    def find(self, id, rooms):
        if id not in rooms: raise Failure(404, f"there is no room {id}: GET /rooms lists all")
        return rooms[id]
    def wait(self, id, condition, seconds):  # Returns the room as soon as the condition holds, or after `seconds` as it is then.
        before, limit = self.rooms, time.monotonic() + seconds
        while time.monotonic() < limit and (self.rooms is before or id not in self.rooms or not condition(self.rooms[id])):
            self.hurry = time.monotonic() + 1; time.sleep(0.05)
        return self.rooms.get(id)
    def view(self, room, whole=True):
        said = {"roomId": room.id, "state": room.state(), "exitCode": room.exits[-1][1] if room.exits else None,
                "restarts": max(0, len(room.exits) - room.is_over())}
        if room.is_over() or not whole: return said | ({"reason": room.outlook()[1]} if room.is_over() else {})
        url = f"rtmp://{room.at.get('rtmp')}/{room.app()}"
        if room.ready and "control" in room.at:
            said["worker"] = call(room, "GET", "/v1/room")[1].get("state")
            said["alarms"] = call(room, "GET", "/v1/alarms?state=set")[1].get("alarms")
        return said | {"publish": [{"uid": uid, "url": url, "key": key} for uid, key in room.keys() if "rtmp" in room.at],
                       "watch": f"http://{room.at['viewer']}/index.m3u8" if "viewer" in room.at else None, "log": room.log,
                       "control": f"http://{room.at['control']}" if "control" in room.at else None, "controlToken": room.token}

class API(http.server.BaseHTTPRequestHandler):
    protocol_version, timeout, orchestrator, token = "HTTP/1.1", 30, None, ""
    def log_message(self, *_): pass
    def do_GET(self):
        try: status, said = self.route(self.orchestrator, self.path.partition("?")[0])
        except Failure as failure: status, said = failure.status, {"status": failure.status, "detail": str(failure)}
        except Exception as error: status, said = 500, {"status": 500, "detail": f"error in the orchestrator: {error!r}"}
        text = (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(text)))): self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)
    do_POST = do_DELETE = do_GET
    def route(self, it, path):
        if (size := int(self.headers.get("Content-Length") or 0)) > 1 << 20: raise Failure(413, "the request is larger than 1 MiB: send a smaller one")
        data, room = self.rfile.read(size), path.removeprefix("/rooms/")
        if self.token and not hmac.compare_digest(self.headers.get("Authorization", "").encode(), f"Bearer {self.token}".encode()):
            raise Failure(401, "send Authorization: Bearer with the token of --token-file")
        match self.command, path == "/rooms", path.startswith("/rooms/"):
            case "POST", True, _:
                try: return it.create(json.loads(data))
                except json.JSONDecodeError as error: raise Failure(400, f"the body is not JSON: {error}")
            case "GET", True, _: return 200, {"rooms": [it.view(room, whole=False) for _, room in sorted(it.rooms.items())]}
            case "GET", _, True: return 200, it.view(it.find(room, it.rooms))
            case "DELETE", _, True: return it.delete(room)
        raise Failure(404, "no such path: use POST /rooms, GET /rooms, GET /rooms/ID or DELETE /rooms/ID")

def main():
    engines = {"process": Process, "systemd": Systemd, "kubernetes": Kubernetes}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=engines, default="process", help="what starts the workers (default: process)")
    for name, default, text in (
            ("listen", "127.0.0.1:8090", "where this API listens (127.0.0.1:8090); elsewhere than on loopback only with --token-file"),
            ("token-file", None, "file that holds the API's bearer token"), ("tandem", "tandem", "the worker's program (tandem)"),
            ("state", "rooms", "directory of the rooms, for --engine process and systemd (./rooms)"),
            ("templates", os.path.join(HERE, "templates"), "directory of the templates"),
            ("host", "127.0.0.1", "this machine's address for publishers and viewers (127.0.0.1: rooms listen on loopback)"),
            ("ports", "20000-29999", "ports for publishers, of kubernetes (20000-29999)"),
            ("edge-keys", None, "directory for `tandem edge` and deploy/edge/where.py: a file for each stream key"),
            ("routes", None, "file for the viewers' proxy: a line `ROOM HOST:PORT` for each room, as an HAProxy map has them"),
            ("targets", None, "file for Prometheus' file_sd: the control address of each room, with the label room_id"),
            ("image", "localhost/tandem:latest", "container image, for --engine kubernetes"), ("namespace", "default", "Kubernetes namespace (default)"),
            ("storage", None, "volume claim that all machines can mount, for --engine kubernetes: the next worker continues the same playlists")):
        parser.add_argument(f"--{name}", default=default, metavar=name.rsplit("-")[-1].upper(), help=text)
    options = parser.parse_args()
    options.tandem = os.path.abspath(shutil.which(options.tandem) or parser.error(f"there is no program {options.tandem}: --tandem PATH"))
    host, port = options.listen.rsplit(":", 1)
    API.token = read(options.token_file).strip() if options.token_file else ""
    if options.token_file and not API.token: parser.error(f"{options.token_file} contains no token: openssl rand -hex 16 > {options.token_file}")
    if not API.token and host not in ("127.0.0.1", "localhost"): parser.error(f"{options.listen} is open to others: give --token-file")
    if options.edge_keys: os.makedirs(options.edge_keys, exist_ok=True)
    API.orchestrator = Orchestrator(options, engines[options.engine](options))
    try: server = http.server.ThreadingHTTPServer((host, int(port)), API)
    except OSError as error: sys.exit(f"--listen {options.listen} cannot be bound ({error.strerror}): give another address")
    threading.Thread(target=API.orchestrator.loop, daemon=True).start()
    while API.orchestrator.rooms is None: time.sleep(0.05)  # Requests wait until the state of the existing rooms has been read.
    say(f"http://{host}:{server.server_address[1]} is ready, engine {options.engine}")
    server.serve_forever()

if __name__ == "__main__": main()
