"""Plays FLV over a WebSocket (RFC 6455): websocket.py HOST PORT PATH FILE MILLISECONDS

Writes the content of binary frames to FILE until video timestamps have advanced by MILLISECONDS, then sends a ping, closes and
prints the number of frames. Anything that a server must not do ends the program with an exception."""
import base64, hashlib, os, socket, struct, sys

host, port, path, file, milliseconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
connection = socket.create_connection((host, port), timeout=20)
key = base64.b64encode(os.urandom(16)).decode()
connection.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
inbox = connection.makefile("rb")
status = inbox.readline()
assert status.startswith(b"HTTP/1.1 101 "), status
fields = {}
while line := inbox.readline().strip():
    name, value = line.decode().split(":", 1)
    fields[name.lower()] = value.strip()
expected = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
assert fields["sec-websocket-accept"] == base64.b64encode(expected).decode(), fields
assert fields["upgrade"].lower() == "websocket" and fields["connection"].lower() == "upgrade", fields

def receive():
    first, count = inbox.read(2)
    assert first & 0xF0 == 0x80 and count < 128, (first, count)
    if count == 126: count, = struct.unpack(">H", inbox.read(2))
    elif count == 127: count, = struct.unpack(">Q", inbox.read(8))
    payload = inbox.read(count)
    assert len(payload) == count, "cut off"
    return first & 15, payload

def send(opcode, payload):
    mask = os.urandom(4)
    connection.sendall(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask
                       + bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload)))

frames, first = 0, None
with open(file, "wb") as flv:
    while True:
        opcode, payload = receive()
        assert opcode == 2, (opcode, payload)
        flv.write(payload)
        frames += 1
        if frames == 1:
            assert payload[:4] == b"FLV\x01", payload
            continue
        # A whole tag: type, size, time, and its size once more behind it.
        assert len(payload) == 15 + int.from_bytes(payload[1:4], "big"), payload[:16]
        # A picture, old style (FLV 10.1 §E.4.3) or new (Enhanced RTMP), and not what it is decoded with.
        isPicture = payload[11] & 15 in (1, 3) if payload[11] & 0x80 else payload[12] == 1
        if payload[0] == 9 and isPicture:
            time = int.from_bytes(payload[7:8] + payload[4:7], "big")
            first = time if first is None else first
            if time - first >= milliseconds: break

send(9, b"still there?")
while (frame := receive())[0] == 2: pass
assert frame == (10, b"still there?"), frame
send(8, struct.pack(">H", 1000))
while (frame := receive())[0] == 2: pass
assert frame == (8, struct.pack(">H", 1000)), frame
assert inbox.read() == b"", "closed"
print(frames)
