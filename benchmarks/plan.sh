#!/bin/bash
# benchmarks/plan.sh [CALIBRATION]: checks the estimates of `tandem plan`. Runs six pipelines with three clips each in real time
# and compares the CPU time per second with the plan: the 95th percentile must be between 60 % and 100 % of the plan. Takes three
# minutes on a machine without other load (PLAN_SECONDS=6 seconds of each room are measured); without CALIBRATION the machine is
# calibrated first, which takes one more minute. PLAN_CLIPS=DIR uses the first three clips there instead of generated ones.
# PLAN_ONLY=solo,pk runs only these pipelines. TANDEM is the program (.build/release/tandem). Writes benchmarks/work/plan.json.
set -euo pipefail
cd "$(dirname "$0")/.."
tandem=$(readlink -f "${TANDEM:-.build/release/tandem}") work=benchmarks/work/plan
mkdir -p $work
calibration=${1:-$work/calibration.json}
[ -f "$calibration" ] || "$tandem" plan --calibrate --calibration "$calibration"

# Three clips of ten seconds at 720p30, 2 Mbit/s, a key frame every second.
# Noise on the test pattern, which alone is easier to encode than camera video.
encode() { # NAME INPUT…
    local name=$1
    shift
    [ -s "$work/$name.flv" ] || ffmpeg -nostdin -v error -y "$@" -t 10 -map 0:v -map 1:a \
        -vf "scale=1280:720:force_original_aspect_ratio=increase,crop=1280:720,fps=30,format=yuv420p" -c:v libx264 \
        -preset veryfast -bf 0 -g 30 -b:v 2048k -maxrate 2048k -bufsize 2048k -c:a aac -b:a 65536 -ar 48000 "$work/$name.flv"
}
kind=clip
tone=(-f lavfi -i "sine=f=440:r=48000")
if [ -n "${PLAN_CLIPS:-}" ]; then
    number=0
    kind=own
    for clip in $(find "$PLAN_CLIPS" -maxdepth 1 \( -name '*.mp4' -o -name '*.avi' -o -name '*.mkv' \) | sort | head -3); do
        number=$((number + 1))
        encode "own$number" -stream_loop -1 -i "$clip" "${tone[@]}"
    done
else
    encode clip1 -f lavfi -i "testsrc2=s=1280x720:r=30,noise=alls=6:allf=t" "${tone[@]}"
    encode clip2 -f lavfi -i "life=s=160x90:r=30:mold=10:ratio=0.3:life_color=#c8e0a0:death_color=#405030:mold_color=#806040" "${tone[@]}"
    encode clip3 -f lavfi -i "mandelbrot=s=1280x720:r=30:start_scale=0.3:end_scale=0.05:end_pts=200" "${tone[@]}"
fi
python3 - "$tandem" "$work" "$calibration" $kind <<'PYTHON'
import json, os, signal, subprocess, sys, threading, time

tandem, work, calibration, kind = sys.argv[1:5]
seconds = int(os.environ.get("PLAN_SECONDS", "6"))
tick = os.sysconf("SC_CLK_TCK")

def pipeline(uids, scene, renditions, canvas=(1280, 720), preset=None):
    output = {"path": f"{work}/out", "http": {"listen": "127.0.0.1:0", "lingerSeconds": 0}}
    if preset: output["preset"] = preset
    room = {"room": {"roomId": "plan"}, "ingest": {"rtmp": {"listen": "127.0.0.1:0"}},
            "sources": [{"uid": uid, "streamKey": f"key-of-{uid}", "expected": {"videoBitrate": 2048000}} for uid in uids],
            "canvas": {"width": canvas[0], "height": canvas[1]}, "scenes": [dict(scene, sceneId="s")], "outputs": [output]}
    if renditions: room["renditions"] = [{"name": f"{h}p", "width": w, "height": h} for w, h in renditions]
    return room

halves = {"panes": [{"uid": "a", "width": 360, "height": 640, "y": 240}, {"uid": "b", "x": 360, "width": 360, "height": 640, "y": 240}]}
pipelines = {
    "solo": pipeline("a", {"layout": "solo", "uids": ["a"]}, None),
    "pk": pipeline("ab", {"layout": "sideBySide", "uids": ["a", "b"]}, None),
    "pk-fast": pipeline("ab", {"layout": "sideBySide", "uids": ["a", "b"]}, None, preset="tandem-fast"),
    "portrait": pipeline("ab", halves, [(720, 1280), (360, 640)], canvas=(720, 1280)),
    "guests": pipeline("abcd", {"layout": "grid", "uids": list("abcd")}, [(1280, 720)]),
    "small": pipeline("a", {"layout": "solo", "uids": ["a"]}, [(640, 360)], canvas=(640, 360), preset="superfast"),
}
only = os.environ.get("PLAN_ONLY")
chosen = {k: v for k, v in pipelines.items() if not only or k in only.split(",")}

def cpu(pid):
    with open(f"/proc/{pid}/stat") as file: fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / tick

def run(room, clip):
    subprocess.run(["rm", "-rf", f"{work}/out"], check=True)
    worker = subprocess.Popen([tandem, "run", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    publishers = []
    try:
        worker.stdin.write(json.dumps(room)); worker.stdin.close()
        ready = json.loads(worker.stdout.readline())
        live, overloaded = threading.Event(), threading.Event()
        def follow():
            for line in worker.stdout:
                if '"program.started"' in line: live.set()
                if '"encoder.overload_step"' in line: overloaded.set()
        threading.Thread(target=follow, daemon=True).start()
        for source in room["sources"]:
            publishers.append(subprocess.Popen(
                ["ffmpeg", "-nostdin", "-v", "quiet", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy", "-f", "flv",
                 f"{ready['rtmp']}/live/{source['streamKey']}"]))
        if not live.wait(15): sys.exit("the room was not live within 15 s: check that ffmpeg can publish to it")
        time.sleep(2)
        shares, before, then = [], cpu(worker.pid), time.monotonic()
        for _ in range(seconds):
            time.sleep(1)
            now, at = cpu(worker.pid), time.monotonic()
            shares.append((now - before) / (at - then)); before, then = now, at
        with open(f"/proc/{worker.pid}/status") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
        shares.sort()
        # Linear interpolation between the two nearest values, as in spreadsheets.
        place = 0.95 * (len(shares) - 1)
        low = int(place)
        high = min(low + 1, len(shares) - 1)
        return shares[low] + (shares[high] - shares[low]) * (place - low), sum(shares) / len(shares), peak, overloaded.is_set()
    finally:
        for publisher in publishers: publisher.kill()
        worker.send_signal(signal.SIGINT)
        try: worker.wait(10)
        except subprocess.TimeoutExpired: worker.kill()

rows, bad = [], 0
print(f"{'pipeline':10} {'clip':6} {'plan':>6} {'p95':>6} {'mean':>6}  p95/plan   MiB: plan  peak")
for name, room in chosen.items():
    planned = json.loads(subprocess.run([tandem, "plan", "-", "--json", "--calibration", calibration], input=json.dumps(room),
                                        text=True, capture_output=True, check=True).stdout)
    plan, memory = planned["cpuMillicores"] / 1000, planned["memoryBytes"] / 2**20
    for clip in sorted(f for f in os.listdir(work) if f.startswith(kind) and f.endswith(".flv"))[:3]:
        p95, mean, peak, overloaded = run(room, f"{work}/{clip}")
        good = 0.6 * plan <= p95 <= plan and peak <= memory and not overloaded
        bad += not good
        rows.append({"pipeline": name, "clip": clip, "planCores": plan, "p95Cores": round(p95, 3), "meanCores": round(mean, 3),
                     "planMiB": round(memory), "peakMiB": round(peak), "holds": good})
        print(f"{name:10} {clip[:-4]:6} {plan:6.2f} {p95:6.2f} {mean:6.2f}  {p95 / plan:8.2f}  {memory:9.0f} {peak:5.0f}"
              f"{'' if good else '   OVERLOADED: others had the machine' if overloaded else '   MISSED'}", flush=True)
with open("benchmarks/work/plan.json", "w") as file: json.dump({"rows": rows, "load": os.getloadavg()[0]}, file, indent=1)
print(f"{len(rows) - bad} of {len(rows)} estimates hold; load {os.getloadavg()[0]:.2f}")
sys.exit(1 if bad else 0)
PYTHON
