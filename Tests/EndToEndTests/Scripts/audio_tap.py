"""Reads the program's audio over a WebSocket (RFC 6455): audio_tap.py HOST PORT SECONDS

Prints the program time of the first sample in milliseconds, and the number of samples that differ in sign from the one before, of the
last second."""
import array, base64, os, socket, struct, sys

host, port, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connection = socket.create_connection((host, port), timeout=20)
connection.sendall((f"GET /v1/audio HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    "Sec-WebSocket-Version: 13\r\n"
                    f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n").encode())
inbox = connection.makefile("rb")
status = inbox.readline()
assert status.startswith(b"HTTP/1.1 101 "), status
time = None
while line := inbox.readline().strip():
    if line.lower().startswith(b"tandem-program-time-ms: "):
        time = int(line.split()[1])

audio = b""
while len(audio) < seconds * 32_000:
    opcode, count = inbox.read(2)
    assert opcode == 0x82 and count < 128, (opcode, count)
    if count == 126: count, = struct.unpack(">H", inbox.read(2))
    elif count == 127: count, = struct.unpack(">Q", inbox.read(8))
    assert count % 2 == 0
    audio += inbox.read(count)
samples = array.array("h", audio[(seconds - 1) * 32_000:seconds * 32_000])
print(time, sum((a < 0) != (b < 0) for a, b in zip(samples, samples[1:])))
