"""An HTTP store that accepts PUT and DELETE: origin.py DIRECTORY AWAY_FILE TOKEN

Prints the port it listens on, and for every playlist "playlist NAME NUMBER", with the number after its last segment. Also prints
"missing" if a playlist names a file that is not stored, and "backwards" if that number decreases. While AWAY_FILE exists, it closes
each connection without an answer. Requests without `Authorization: Bearer TOKEN` get 401. Below /rooms/ it is an S3 service that
accepts any request with an AWS Signature Version 4, since it does not know the secret; objects and request heads are in rooms/."""
import http.server, os, re, sys

place, away, token = sys.argv[1:4]
newest = {}

# One write a line: print's own two let lines of two threads run into one another.
def say(*words): os.write(1, (" ".join(map(str, words)) + "\n").encode())

def look(name, text):
    gap, count = False, 0
    for line in text.splitlines():
        if line.startswith("#EXT-X-GAP"): gap = True
        for uri in re.findall('#EXT-X-MAP:URI="(.*?)"', line):
            if not os.path.exists(f"{place}/{uri}"): say("missing", name, uri)
        if line and not line.startswith("#"):
            count += 1
            if not gap and not os.path.exists(f"{place}/{line}"): say("missing", name, line)
            gap = False
    first = re.search("MEDIA-SEQUENCE:([0-9]+)", text)
    if first:
        end = int(first[1]) + count
        if end < newest.get(name, 0): say("backwards", name, end)
        newest[name] = end
        say("playlist", name, end)

class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()
    def is_bucket(self): return self.path.startswith("/rooms/")
    def keep(self, body):
        os.makedirs(f"{place}/rooms", exist_ok=True)
        name = os.path.basename(self.path.split("?")[0])
        with open(f"{place}/rooms/{name}", "wb") as file: file.write(body)
        with open(f"{place}/rooms/heads.txt", "a") as file: file.write(f"{self.requestline}\n{self.headers}")
        self.answer(200)
    def refuses(self):
        if os.path.exists(away):
            self.close_connection = True
            return True
        held = self.headers["authorization"] or ""
        if not (held.startswith("AWS4-HMAC-SHA256 ") if self.is_bucket() else held == "Bearer " + token):
            self.answer(401)
            return True
        return False
    def do_PUT(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.refuses(): return
        if self.is_bucket(): return self.keep(body)
        name = os.path.basename(self.path)
        if name.endswith(".m3u8"): look(name, body.decode())
        with open(f"{place}/.{name}", "wb") as file: file.write(body)
        os.rename(f"{place}/.{name}", f"{place}/{name}")
        self.answer(201)
    def do_DELETE(self):
        if self.refuses(): return
        name = f"{place}/{os.path.basename(self.path)}"
        if os.path.exists(name): os.unlink(name)
        self.answer(204)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
server.daemon_threads = True
say(server.server_port)
server.serve_forever()
