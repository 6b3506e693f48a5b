"""Three rooms by the documented contract alone: orchestrator.py TANDEM DIRECTORY"""
import json, subprocess, sys, urllib.request

tandem, directory = sys.argv[1:3]

def pipeline(name):
    return {"room": {"roomId": name}, "ingest": {"rtmp": {"listen": "127.0.0.1:0"}},
            "sources": [{"uid": "1", "streamKey": "one"}, {"uid": "2", "streamKey": "two"}],
            "canvas": {"width": 320, "height": 180},
            "scenes": [{"sceneId": "solo", "layout": "solo", "uids": ["1"]},
                       {"sceneId": "pk", "layout": "sideBySide", "uids": ["1", "2"]}],
            "renditions": [{"name": "180p", "width": 320, "height": 180, "video": {"bitrate": 300000}}],
            "outputs": [{"type": "hls", "path": f"{directory}/{name}"}]}

def start(name):
    room = subprocess.Popen([tandem, "run", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    room.stdin.write(json.dumps(pipeline(name)))
    room.stdin.close()
    return room, wait(room, "room.ready")

def wait(room, kind):
    for line in room.stdout:
        if (event := json.loads(line))["type"] == kind: return event
    sys.exit(f"the room ended before {kind}")

def call(ready, method, path, body=None):
    data, kind = json.dumps(body or {}).encode(), {"Content-Type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(ready["control"] + path, data, kind, method=method), timeout=10)

rooms = {name: start(name) for name in ("room1", "room2", "room3")}
publishers = [subprocess.Popen([tandem, "publish", f"pattern:{key}", f"{ready['rtmp']}/live/{key}", "--size", "320x180"])
              for room, ready in rooms.values() for key in ("one", "two")]
for room, ready in rooms.values():
    wait(room, "segment.published")
    call(ready, "PUT", "/v1/program", {"scene": "pk"})
    wait(room, "segment.published")
    call(ready, "POST", "/v1/room:end")
    print(f"{wait(room, 'room.closed')['roomId']}: exit {room.wait(timeout=20)}")
for publisher in publishers: publisher.terminate()
