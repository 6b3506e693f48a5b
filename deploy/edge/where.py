#!/usr/bin/env python3
"""Tells an nginx-rtmp edge where the room of a stream key is: where.py DIRECTORY [HOST:PORT]

DIRECTORY holds a file for each stream key, named as the key, with `host:port` of its room's RTMP listener in it; whoever starts
rooms renames it into place. A word behind it, after a space, names the worker: another one there is another room to send to, because nginx
does not come back by itself to a room that was started again where it was. A host name is looked up anew at each request.
Answers on_publish by a redirect to the room, and on_update by 200 as long as the room is where the publisher was sent to,
otherwise by 404, which makes nginx close the connection."""
import http.server, os, re, socket, sys, urllib.parse

directory = sys.argv[1]
host, port = (sys.argv[2:] or ["127.0.0.1:8099"])[0].rsplit(":", 1)
sent = {}  # connection of nginx -> the address and the worker it was sent to

def place(key):
    """Where the room is now, as ip:port, and its worker's name, which may be empty; None: there is none."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", key): return None
    try:
        with open(os.path.join(directory, key)) as file: at, _, worker = file.read(256).strip().partition(" ")
        name, number = at.rsplit(":", 1)
        found = socket.getaddrinfo(name, int(number), socket.AF_INET, socket.SOCK_STREAM)
    except (OSError, ValueError): return None
    return "%s:%d" % found[0][4], worker

class Where(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = {}
        # The first of a name is nginx's own; behind it comes what the publisher has written after its key.
        for word, value in urllib.parse.parse_qsl(url.query): query.setdefault(word, value)
        key, client = query.get("name", ""), query.get("clientid", "")
        now = place(key)
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
