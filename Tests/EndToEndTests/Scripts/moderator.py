"""A moderation service: moderator.py SECRET

Prints the port it listens on, then a line for each still: its number, uid, age and the size of the JPEG file. Answers the first two
stills with nothing, and every later one with the command to cover the source. A wrong signature (Standard Webhooks) or a file that
is no JPEG ends the program."""
import base64, hashlib, hmac, http.server, json, os, sys

secret, count = base64.b64decode(sys.argv[1].removeprefix("whsec_")), 0

def say(*words): os.write(1, (" ".join(map(str, words)) + "\n").encode())

class Moderator(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["content-length"]))
        signed = f'{self.headers["webhook-id"]}.{self.headers["webhook-timestamp"]}.'.encode() + body
        expected = "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
        still = json.loads(body)
        image = base64.b64decode(still["data_base64"])
        if self.headers["webhook-signature"] != expected or image[:2] != b"\xff\xd8" or image[-2:] != b"\xff\xd9":
            say("wrong")
            os._exit(1)
        say("still", int(still["sequence"]), still["uid"], still["agems"], len(image), still.get("programtimems", "-"))
        count += 1
        answer = json.dumps({"action": "cover", "reason": "a test"}).encode() if count > 2 else b""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Moderator)
server.daemon_threads = True
say(server.server_port)
server.serve_forever()
