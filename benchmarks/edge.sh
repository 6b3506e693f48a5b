#!/bin/bash
# benchmarks/edge.sh: measures what `tandem edge` costs. EDGE_PUBLISHERS (100) publishers of EDGE_KBITS (6000) kbit/s publish through
# an edge for EDGE_SECONDS (20) to a server that discards what it gets, all on this machine. Prints the edge's CPU seconds per GB
# (10^9 bytes) forwarded, its memory, and the longest time that a publisher was held up by a full receive window; then the same with
# --read-delay 0, for comparison. With the default delay the edge must need at most 0.3 CPU seconds per GB, lose no publisher and hold
# none up for more than 200 ms. Needs two cores and no other load. TANDEM is the program (.build/release/tandem). Writes
# benchmarks/work/edge.json.
set -euo pipefail
cd "$(dirname "$0")/.."
tandem=$(readlink -f "${TANDEM:-.build/release/tandem}") work=$PWD/benchmarks/work/edge
mkdir -p "$work"
kbits=${EDGE_KBITS:-6000}
# Small frames cost the encoder little; noise and a constant rate make them as large as those of a real encoder.
[ -s "$work/clip$kbits.flv" ] || ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=640x360:r=30,noise=alls=30:allf=t" \
    -f lavfi -i "sine=f=440:r=48000" -t 8 -c:v libx264 -preset ultrafast -bf 0 -g 60 -b:v "${kbits}k" -minrate "${kbits}k" \
    -maxrate "${kbits}k" -bufsize "$((kbits / 2))k" -nal-hrd cbr -pix_fmt yuv420p -c:a aac -b:a 128k "$work/clip$kbits.flv"
cc -O2 -o "$work/publishers" benchmarks/load/publishers.c
python3 - "$tandem" "$work" "$work/clip$kbits.flv" "${EDGE_PUBLISHERS:-100}" "${EDGE_SECONDS:-20}" <<'PYTHON'
import hashlib, json, os, select, signal, socket, struct, subprocess, sys, threading, time, urllib.request

tandem, work, clip = sys.argv[1:4]
publishers, seconds = int(sys.argv[4]), int(sys.argv[5])
LIMIT, HELD = 0.3, 200

def text(value): return b"\2" + struct.pack(">H", len(value)) + value.encode()
def number(value): return b"\0" + struct.pack(">d", value)
def status(**values):
    return b"\3" + b"".join(struct.pack(">H", len(k)) + k.encode() + text(v) for k, v in values.items()) + b"\0\0\t"
def message(stream, *values):
    body = b"".join(values)
    return bytes([3, 0, 0, 0]) + struct.pack(">I", len(body))[1:] + b"\x14" + struct.pack("<I", stream) + body

CONNECTED = message(0, text("_result"), number(1), b"\5", status(level="status", code="NetConnection.Connect.Success"))
CREATED = message(0, text("_result"), number(2), b"\5", number(1))
STARTED = message(1, text("onStatus"), number(0), b"\5", status(level="status", code="NetStream.Publish.Start"))

class Sink(threading.Thread):
    """A server that accepts every publisher and discards what it sends."""
    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
    def run(self):
        poll, peers, buffer = select.epoll(), {}, bytearray(1 << 20)
        poll.register(self.listener, select.EPOLLIN)
        while True:
            for file, _ in poll.poll():
                if file == self.listener.fileno():
                    peer, _ = self.listener.accept()
                    peers[peer.fileno()] = [peer, b""]
                    poll.register(peer, select.EPOLLIN)
                    continue
                peer, heard = peers[file]
                try: count = peer.recv_into(buffer)
                except OSError: count = 0
                if count == 0:
                    poll.unregister(file); peer.close(); del peers[file]
                elif heard is not None:
                    before, heard = heard, heard + bytes(buffer[:count])
                    if len(before) < 1537 <= len(heard): peer.sendall(b"\3" + bytes(1536) + heard[1:1537])
                    if b"publish" in heard[3073:]:
                        peer.sendall(CONNECTED + CREATED + STARTED); heard = None
                    peers[file][1] = heard

def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

def run(delay, sink):
    keys = f"{work}/keys"
    os.makedirs(keys, exist_ok=True)
    with open(f"{keys}/{hashlib.sha256(b'live/').hexdigest()}", "w") as file: file.write(f"127.0.0.1:{sink.port}\n")
    edge = subprocess.Popen(
        [tandem, "edge", "--keys", keys, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--drain", "0",
         "--waiting-per-address", "1000"] + ([] if delay is None else ["--read-delay", str(delay)]),
        stdout=subprocess.PIPE, stderr=open(f"{work}/edge.log", "w"), text=True)
    try:
        ready = json.loads(edge.stdout.readline())
        def forwarded():
            lines = urllib.request.urlopen(ready["metrics"] + "/metrics").read().decode().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("tandem_edge_bytes_total "))
        load = subprocess.Popen(
            [f"{work}/publishers", ready["rtmp"].rsplit(":", 1)[1], clip, "key", f"publishers={publishers}", "addresses=100",
             f"seconds={seconds}"], stdout=subprocess.PIPE, text=True)
        first = json.loads(load.stdout.readline())
        if first["onAir"] < publishers: sys.exit(f"only {first['onAir']} of {publishers} publishers are on air: see {work}/edge.log")
        # After the receive windows have grown.
        time.sleep(2)
        used, bytes_, began = cpu(edge.pid), forwarded(), time.monotonic()
        time.sleep(max(1, seconds - 4))
        used, bytes_, took = cpu(edge.pid) - used, forwarded() - bytes_, time.monotonic() - began
        memory = next(int(line.split()[1]) for line in open(f"/proc/{edge.pid}/status") if line.startswith("VmHWM:"))
        last = json.loads(load.stdout.readline())
        load.wait(10)
    finally:
        edge.send_signal(signal.SIGTERM)
        edge.wait(10)
    return {"readDelayMs": 100 if delay is None else delay, "cpuSecondsPerGB": round(used / (bytes_ / 1e9), 3),
            "coreShare": round(used / took, 4), "megabitPerSecond": round(bytes_ * 8 / 1e6 / took, 1), "memoryMB": round(memory / 1024, 1),
            "onAirAfterSeconds": first["afterSeconds"], "onAir": last["onAir"], "latestMs": last["latestMs"],
            "windowLimitedMs": last["windowLimitedMs"]}

sink = Sink()
sink.start()
results = [run(None, sink), run(0, sink)]
for result in results: print(json.dumps(result))
usual = results[0]
judged = {f"at most {LIMIT} CPU seconds per GB": usual["cpuSecondsPerGB"] <= LIMIT, "no publisher lost": usual["onAir"] == publishers,
          f"no publisher held up for more than {HELD} ms": usual["windowLimitedMs"] <= HELD}
for what, holds in judged.items(): print(f"{'holds ' if holds else 'MISSED'} {what}")
with open(f"{work}.json", "w") as file:
    json.dump({"publishers": publishers, "results": results, "judged": judged, "load": os.getloadavg()[0]}, file, indent=1)
sys.exit(0 if all(judged.values()) else 1)
PYTHON
