#!/usr/bin/env python3
"""Returns the room of a stream key to an nginx-rtmp edge: where.py DIRECTORY [HOST:PORT]

DIRECTORY contains a file for each stream key, named by the SHA-256 of APP/KEY in hexadecimal (as for `tandem edge`) or by the key itself,
with `host:port` of its room's RTMP listener. The orchestrator replaces the files by renaming. An optional second word, after a space, is
the name of the worker. Host names are resolved at each request. Responds to on_publish with a redirect to the room, or with 404 if there
is no such key; and to on_update with 200 if address and worker are still those to which the publisher was sent, otherwise with 404,
which makes nginx close the connection: nginx does not reconnect to a room that was restarted at the same address."""
import hashlib, http.server, os, re, socket, sys, urllib.parse

directory = sys.argv[1]
host, port = (sys.argv[2:] or ["127.0.0.1:8099"])[0].rsplit(":", 1)
sent = {}  # nginx client id -> the address and the worker that it was sent to

def place(app, key):
    """The current address of the room as ip:port, and its worker's name, which may be empty; None if there is no such room."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", key): return None
    path = os.path.join(directory, hashlib.sha256(f"{app}/{key}".encode()).hexdigest())
    try:
        with open(path if os.path.exists(path) else os.path.join(directory, key)) as file: at, _, worker = file.read(256).strip().partition(" ")
        name, number = at.rsplit(":", 1)
        found = socket.getaddrinfo(name, int(number), socket.AF_INET, socket.SOCK_STREAM)
    except (OSError, ValueError): return None
    return "%s:%d" % found[0][4], worker

class Where(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = {}
        # The first value of each name is nginx's own; later ones come from the query after the publisher's stream key.
        for word, value in urllib.parse.parse_qsl(url.query): query.setdefault(word, value)
        key, client = query.get("name", ""), query.get("clientid", "")
        now = place(query.get("app", "live"), key)
        if url.path == "/publish" and now:
            if len(sent) > 10_000: sent.clear()
            sent[client] = now
            self.send_response(302)
            self.send_header("Location", f"rtmp://{now[0]}/live/{key}")
        elif url.path == "/update" and now and sent.setdefault(client, now) == now: self.send_response(200)
        else: self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

http.server.ThreadingHTTPServer((host, int(port)), Where).serve_forever()
