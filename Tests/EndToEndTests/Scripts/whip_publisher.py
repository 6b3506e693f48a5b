#!/usr/bin/env python3
"""Publishes a test pattern by WHIP with aiortc: 30 frames per second, a flash and a beep of 100 ms at each full second.

Prints one JSON object per line: {"event": "posted" | "answered" | "connected" | "closed" | "ended", "time": Unix time, …}.
Reads commands from standard input, one per line:
  delete  sends DELETE, closes the connection and ends
  close   closes the connection (close_notify) without DELETE and ends
  mute    stops to send video: replaceTrack(null)
  unmute  sends video again

usage: whip_publisher.py URL [--codec h264|vp8] [--size WIDTHxHEIGHT] [--port PORT]; the stream key is in WHIP_KEY
"""
import argparse, array, asyncio, fractions, json, math, os, sys, threading, time, urllib.error, urllib.request

import av
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription

# Frame time in seconds, samples of an audio packet, and the frequency of the beep, which no pattern of `tandem publish` has.
FRAME, SAMPLES, HERTZ = 1 / 30, 960, 1600


def say(event, **members):
    print(json.dumps({"event": event, "time": time.time(), **members}), flush=True)


class Clock:
    """Time in seconds since the first frame or audio packet of either track."""

    start = None

    def now(self):
        if self.start is None:
            self.start = time.monotonic()
        return time.monotonic() - self.start

    async def wait(self, at):
        await asyncio.sleep(max(0, at - self.now()))


class Pattern(MediaStreamTrack):
    kind = "video"

    def __init__(self, clock, width, height):
        super().__init__()
        self.clock, self.count, self.sent = clock, 0, 0
        self.width, self.height = width, height

    async def recv(self):
        # A sender that was paused continues at the present time.
        self.count = max(self.count, int(self.clock.now() / FRAME))
        await self.clock.wait(self.count * FRAME)
        frame = av.VideoFrame(self.width, self.height, "yuv420p")
        seconds = self.count * FRAME
        is_flash = seconds % 1 < 0.0999
        for index, plane in enumerate(frame.planes):
            rows, stride = plane.height, plane.line_size
            if index:
                plane.update(bytes([100 if index == 1 else 150]) * (rows * stride))
                continue
            # A gradient that moves by four columns per frame; the upper half is white during the flash.
            row = bytes(40 + (x + 4 * self.count) % 128 for x in range(stride))
            upper = bytes([235]) * stride if is_flash else bytes([16]) * stride
            plane.update(upper * (rows // 2) + row * (rows - rows // 2))
        frame.pts, frame.time_base = self.count * 3000, fractions.Fraction(1, 90_000)
        self.count += 1
        self.sent += 1
        return frame


class Beep(MediaStreamTrack):
    kind = "audio"

    def __init__(self, clock):
        super().__init__()
        self.clock, self.count = clock, 0
        # At -12 dBFS, stereo. A packet has a whole number of periods.
        self.beep = array.array("h", [int(8192 * math.sin(math.tau * HERTZ * (n // 2) / 48_000)) for n in range(2 * SAMPLES)])

    async def recv(self):
        await self.clock.wait(self.count * SAMPLES / 48_000)
        frame = av.AudioFrame("s16", "stereo", SAMPLES)
        is_beep = self.count % 50 < 5
        frame.planes[0].update(self.beep.tobytes() if is_beep else bytes(4 * SAMPLES))
        frame.sample_rate, frame.pts, frame.time_base = 48_000, self.count * SAMPLES, fractions.Fraction(1, 48_000)
        self.count += 1
        return frame


def request(method, url, key, body=None):
    fields = {"Authorization": "Bearer " + key}
    if body is not None:
        fields["Content-Type"] = "application/sdp"
    query = urllib.request.Request(url, body.encode() if body is not None else None, fields, method=method)
    try:
        with urllib.request.urlopen(query, timeout=10) as reply:
            return reply.status, reply.headers.get("Location"), reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, None, error.read().decode(errors="replace")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--codec", default="h264")
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--port", type=int, help="UDP port to send to, instead of the one in the answer")
    options = parser.parse_args()
    key = os.environ["WHIP_KEY"]

    clock = Clock()
    video = Pattern(clock, *(int(part) for part in options.size.split("x")))
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    over = asyncio.Event()
    # Frames are counted from the moment in which they can be sent.
    first = None

    @peer.on("connectionstatechange")
    def changed():
        nonlocal first
        if peer.connectionState == "connected":
            first = video.sent
            say("connected")
        elif peer.connectionState in ("closed", "failed"):
            say("closed", state=peer.connectionState)
            over.set()

    peer.addTransceiver(Beep(clock), direction="sendonly")
    sender = peer.addTransceiver(video, direction="sendonly")
    wanted = {"h264": "video/H264", "vp8": "video/VP8"}[options.codec]
    codecs = RTCRtpSender.getCapabilities("video").codecs
    sender.setCodecPreferences([c for c in codecs if c.mimeType in (wanted, "video/rtx")])

    await peer.setLocalDescription(await peer.createOffer())
    loop = asyncio.get_running_loop()
    say("posted")
    status, location, answer = await loop.run_in_executor(None, request, "POST", options.url, key, peer.localDescription.sdp)
    say("answered", status=status)
    if status != 201:
        say("ended", body=answer)
        return 1
    if options.port:
        lines = answer.split("\r\n")
        for index, line in enumerate(lines):
            if line.startswith("a=candidate:"):
                parts = line.split(" ")
                parts[5] = str(options.port)
                lines[index] = " ".join(parts)
        answer = "\r\n".join(lines)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    commands = asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(commands.put_nowait, line.strip())

    threading.Thread(target=read, daemon=True).start()
    while not over.is_set():
        command = asyncio.ensure_future(commands.get())
        await asyncio.wait([command, asyncio.ensure_future(over.wait())], return_when=asyncio.FIRST_COMPLETED)
        if not command.done():
            command.cancel()
            break
        command = command.result()
        if command == "mute":
            sender.sender.replaceTrack(None)
            say("muted")
        elif command == "unmute":
            sender.sender.replaceTrack(video)
            say("unmuted")
        elif command in ("delete", "close"):
            sent = video.sent - (first or 0)
            if command == "delete":
                origin = "/".join(options.url.split("/")[:3])
                status, _, _ = await loop.run_in_executor(None, request, "DELETE", origin + location, key)
                say("deleted", status=status)
            await peer.close()
            say("ended", frames=sent)
            return 0
    say("ended", frames=video.sent - (first or 0))
    return 0


if __name__ == "__main__":
    # Threads of encoders must not delay the end.
    code = asyncio.run(main())
    sys.stdout.flush()
    os._exit(code)
