#!/bin/bash
# benchmarks/overload.sh CONTROL: compares two programs on an overloaded machine. CONTROL is the program to compare with, such as
# a build of an older commit. Runs the same room with both at the same time, each pinned to its own core, with two publishers, for
# OVERLOAD_SECONDS (60). Compares what viewers get (frozen time, late playlists, lost segments) and what operators get (alarms,
# steps, states). Needs two cores and no other load. OVERLOAD_HEIGHTS=720,480,360 sets the renditions, OVERLOAD_PRESET the encoder
# preset. The new program must freeze for at most a quarter of the control's time, list segments at most 3.6 s apart, lose no
# segment, set at most two alarms and change its state at most twice per minute. TANDEM is the new program
# (.build/release/tandem). Writes benchmarks/work/overload.json.
set -euo pipefail
control=$(readlink -f "${1:?the program to compare with}")
cd "$(dirname "$0")/.."
tandem=$(readlink -f "${TANDEM:-.build/release/tandem}") work=$PWD/benchmarks/work/overload
mkdir -p "$work"
# The whole frame moves, so that a frozen frame can be detected.
[ -s "$work/clip.flv" ] || ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=1280x720:r=30,scroll=horizontal=0.003,noise=alls=6:allf=t" \
    -f lavfi -i "sine=f=440:r=48000" -t 10 -c:v libx264 -preset veryfast -bf 0 -g 30 -b:v 2048k -maxrate 2048k -bufsize 2048k \
    -pix_fmt yuv420p -c:a aac -b:a 65536 "$work/clip.flv"
python3 - "$tandem" "$control" "$work" <<'PYTHON'
import datetime, json, os, re, shutil, signal, subprocess, sys, threading, time

tandem, control, work = sys.argv[1:4]
seconds = float(os.environ.get("OVERLOAD_SECONDS", "60"))
heights = [int(h) for h in os.environ.get("OVERLOAD_HEIGHTS", "720,480,360").split(",")]
cores = sorted(os.sched_getaffinity(0))
if len(cores) < 2: sys.exit("needs two cores")

def room(name):
    output = {"path": f"{work}/{name}", "windowSeconds": 3600, "http": {"listen": "127.0.0.1:0"}}
    if "OVERLOAD_PRESET" in os.environ: output["preset"] = os.environ["OVERLOAD_PRESET"]
    return {"room": {"roomId": name}, "ingest": {"rtmp": {"listen": "127.0.0.1:0"}},
            "sources": [{"uid": uid, "streamKey": f"key-of-{uid}"} for uid in "ab"],
            "canvas": {"width": 1280, "height": 720},
            "scenes": [{"sceneId": "s", "layout": "sideBySide", "uids": ["a", "b"]}],
            "renditions": [{"name": f"{h}p", "width": h * 16 // 9 // 2 * 2, "height": h} for h in heights],
            "outputs": [output]}

def frozen(playlist):
    """Returns for how many seconds the video is frozen; the same frame for at least a quarter of a second counts as frozen."""
    said = subprocess.run(["ffmpeg", "-nostdin", "-hide_banner", "-i", playlist, "-an", "-vf", "freezedetect=n=0.003:d=0.25",
                           "-f", "null", "-"], capture_output=True, text=True).stderr
    total = sum(float(value) for value in re.findall(r"freeze_duration: ([\d.]+)", said))
    starts = re.findall(r"freeze_start: ([\d.]+)", said)
    if len(starts) > len(re.findall(r"freeze_end: ", said)):
        h, m, s = re.findall(r"time=(\d+):(\d+):([\d.]+)", said)[-1]
        total += int(h) * 3600 + int(m) * 60 + float(s) - float(starts[-1])
    return round(total, 2)

def stamp(event): return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()

def run(name, program, core, results):
    shutil.rmtree(f"{work}/{name}", ignore_errors=True)
    worker = subprocess.Popen(["taskset", "-c", str(core), program, "run", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=open(f"{work}/{name}.log", "w"), text=True)
    publishers, events = [], []
    try:
        worker.stdin.write(json.dumps(room(name))); worker.stdin.close()
        ready = json.loads(worker.stdout.readline())
        follow = threading.Thread(target=lambda: events.extend(json.loads(line) for line in worker.stdout), daemon=True)
        follow.start()
        for uid in "ab":
            publishers.append(subprocess.Popen(
                ["ffmpeg", "-nostdin", "-v", "quiet", "-re", "-stream_loop", "-1", "-i", f"{work}/clip.flv", "-c", "copy", "-f",
                 "flv", f"{ready['rtmp']}/live/key-of-{uid}"]))
        time.sleep(seconds)
    finally:
        for publisher in publishers: publisher.kill()
        for _ in range(3):  # The second signal ends the time in which viewers of the ended room are still served.
            worker.send_signal(signal.SIGINT)
            try: worker.wait(20); break
            except subprocess.TimeoutExpired: pass
        else: worker.kill()
    follow.join(10)
    def all(kind): return [event for event in events if event["type"] == kind]
    times = sorted(stamp(event) for event in all("segment.published"))
    steps = all("encoder.overload_step")
    results[name] = {
        "frozenSeconds": frozen(f"{work}/{name}/{heights[0]}p.m3u8"),
        "longestBetweenSegments": round(max((b - a for a, b in zip(times, times[1:])), default=float("inf")), 2),
        "segments": len(times), "lost": len(all("segment.lost")), "alarms": len(all("alarm.set")), "steps": len(steps),
        "holds": sum(1 for step in steps if step.get("step") == "hold" and step.get("taken")),
        "states": len(all("room.state")), "exit": worker.returncode}

results = {}
threads = [threading.Thread(target=run, args=(name, program, core, results))
           for name, program, core in (("new", tandem, cores[0]), ("control", control, cores[1]))]
for thread in threads: thread.start()
for thread in threads: thread.join()
if len(results) < 2: sys.exit("a room did not run; see the logs in " + work)
new, old = results["new"], results["control"]
for name in results: print(f"{name:8}", json.dumps(results[name]))
# Two changes per minute, without those at the start and the end.
judged = {
    "overloaded": new["steps"] > 0 and old["steps"] > 0,
    "frozen at most a quarter": new["frozenSeconds"] <= old["frozenSeconds"] / 4,
    "segments on time": new["longestBetweenSegments"] <= 3.6, "none lost": new["lost"] == 0,
    "alarms": new["alarms"] <= 2, "states": new["states"] <= 4 + 2 * seconds / 60}
for what, holds in judged.items(): print(f"{'holds ' if holds else 'MISSED'} {what}")
with open("benchmarks/work/overload.json", "w") as file:
    json.dump({"results": results, "judged": judged, "seconds": seconds, "load": os.getloadavg()[0]}, file, indent=1)
sys.exit(0 if all(judged.values()) else 1)
PYTHON
