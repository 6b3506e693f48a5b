"""Requests to a room's control API at a rate: control_load.py PORT SECONDS RATE. Prints one JSON object.

Mostly GET requests: of each 400 requests, 39 set a volume and one puts another scene on air.
"""
import json
import select
import socket
import sys
import time

port, seconds, rate = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
QUESTIONS = ["/v1/room", "/v1/sources", "/v1/scenes", "/v1/stats", "/v1/events?after=0&limit=4", "/livez"]


def request(number):
    if number % 400 == 399:
        scene = "solo" if number % 800 == 399 else "pk"
        return "PUT", "/v1/program", json.dumps({"sceneId": scene})
    if number % 10 == 9:
        return "PUT", "/v1/sources/1001", json.dumps({"volume": 80 + number % 20})
    return "GET", QUESTIONS[number % len(QUESTIONS)], ""


class Connection:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent, self.bytes = [], b""

    def send(self, number):
        method, path, body = request(number)
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        self.sent.append(time.monotonic())
        self.socket.sendall(head.encode())

    def receive(self):
        chunk = self.socket.recv(1 << 18)
        if not chunk:
            raise ConnectionError("the room closed the connection")
        self.bytes += chunk
        while (end := self.bytes.find(b"\r\n\r\n")) >= 0:
            head = self.bytes[:end].lower()
            at = head.index(b"content-length:") + 15
            whole = end + 4 + int(head[at : (head + b"\r").index(b"\r", at)])
            if len(self.bytes) < whole:
                return
            statuses[int(head[9:12])] = statuses.get(int(head[9:12]), 0) + 1
            latencies.append(time.monotonic() - self.sent.pop(0))
            self.bytes = self.bytes[whole:]


statuses, latencies = {}, []
connections = [Connection() for _ in range(8)]
begin = time.monotonic()
number = 0
while (now := time.monotonic()) < begin + seconds:
    while number < (now - begin) * rate:
        connections[number % len(connections)].send(number)
        number += 1
    for ready in select.select([each.socket for each in connections], [], [], 0.002)[0]:
        next(each for each in connections if each.socket is ready).receive()
end = time.monotonic() + 5
while any(each.sent for each in connections) and time.monotonic() < end:
    for ready in select.select([each.socket for each in connections], [], [], 0.1)[0]:
        next(each for each in connections if each.socket is ready).receive()
latencies.sort()
print(
    json.dumps(
        {
            "sent": number,
            "answered": len(latencies),
            "statuses": {str(status): count for status, count in sorted(statuses.items())},
            "p50Ms": round(1000 * latencies[len(latencies) // 2], 2),
            "p99Ms": round(1000 * latencies[len(latencies) * 99 // 100], 2),
        }
    )
)
